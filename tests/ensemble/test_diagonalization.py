"""Modes of real systems: what is copied, what is computed and how well, what is defective."""

from __future__ import annotations

from typing import Any

import control
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.ensemble.diagonalization import diagonalize
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError

_FLOAT = st.floats(-10, 10, allow_subnormal=True)


def _system(A: Any, dt: Any = 1.0) -> control.StateSpace:
    n = len(A)
    return control.ss(np.array(A, dtype=float), np.ones((n, 1)), np.ones((1, n)), 0, dt)


@settings(max_examples=60)
@given(st.lists(st.tuples(*[st.builds(complex, _FLOAT, _FLOAT)] * 3), min_size=1, max_size=4))
def test_round_trip_of_neighbouring_conjugates_is_exact(
    members: list[tuple[complex, complex, complex]],
) -> None:
    # A pair with real λ has no place in a diagonal form of its own: it comes back as real members.
    kept = [[v if k else v + 20j for k, v in enumerate(member)] for member in members]
    pairs = [values for lam, b, c in kept for values in ((lam, b, c), _conjugate(lam, b, c))]
    ens = Ensemble(*map(list, zip(*pairs, strict=True)))
    assert Ensemble.from_ss(ens.to_ss()) == ens


def _conjugate(*values: complex) -> tuple[complex, ...]:
    return tuple(complex(value).conjugate() for value in values)


def test_several_channels_and_outputs() -> None:
    ens = Ensemble(
        [0.2, 0.3 + 0.4j, 0.3 - 0.4j],
        [[1, 2], [3, 4j], [3, -4j]],
        [[1, 2, 2], [3, 4j, -4j]],
        [[1, 2], [3, 4]],
        dt=0.5,
    )
    assert Ensemble.from_ss(ens.to_ss()) == ens


def test_single_complex_member_comes_back_with_its_conjugate() -> None:
    back = Ensemble.from_ss(Ensemble([0.3 + 0.4j], 1 + 1j, 1.0).to_ss())
    assert back.lam.tolist() == [0.3 + 0.4j, 0.3 - 0.4j]
    assert back.b.tolist() == [1 + 1j, 1 - 1j]
    # Its outputs are Re x and Im x.
    assert back.c.tolist() == [[0.5, 0.5], [-0.5j, 0.5j]]


@pytest.mark.parametrize("n", [2, 3, 6, 12])
def test_computed_modes_diagonalise_within_their_bound(n: int) -> None:
    rng = np.random.default_rng(n)
    A, B, C = rng.normal(size=(n, n)), rng.normal(size=(n, 2)), rng.normal(size=(3, n))
    modes = diagonalize(control.ss(A, B, C, np.zeros((3, 2)), 0.5))
    ens, V = modes.ensemble, modes.transform
    assert np.allclose(V @ np.diag(ens.lam), A @ V, atol=1e-13)
    assert np.allclose(V @ ens.gains, B, atol=1e-13)
    assert np.allclose(ens.output_weights, C @ V, atol=1e-13)
    assert ens.is_conjugate_closed
    assert modes.condition == pytest.approx(np.linalg.cond(V))
    assert modes.lam_error_bound < 1e-11
    assert ens.dt == 0.5
    # Exact conjugates in b and c too, so that the way back is real and has as many states.
    assert (ens.to_ss().nstates, ens.to_ss().noutputs) == (n, 3)


@pytest.mark.parametrize("separation", [1e-2, 1e-4, 1e-6])
def test_error_bound_holds_near_a_defect(separation: float) -> None:
    eigenvalues = np.array([0.5, 0.5 + separation])
    V = np.array([[1.0, 1.0], [0.0, separation]])
    modes = diagonalize(_system(V @ np.diag(eigenvalues) @ np.linalg.inv(V)))
    error = np.abs(np.sort(modes.ensemble.lam.real) - eigenvalues).max()
    assert error <= modes.lam_error_bound
    assert modes.condition == pytest.approx(2.0 / separation, rel=1e-2)


def test_diagonal_and_block_systems_are_copied() -> None:
    A = [[0.5, 0, 0], [0, 0.3, -0.4], [0, 0.4, 0.3]]
    modes = diagonalize(_system(A))
    assert (modes.condition, modes.lam_error_bound) == (1.0, 0.0)
    assert modes.ensemble.lam.tolist() == [0.5, 0.3 + 0.4j, 0.3 - 0.4j]
    V = modes.transform
    assert np.allclose(V * modes.ensemble.lam, np.array(A) @ V, rtol=0, atol=1e-16)


@pytest.mark.parametrize(
    "A",
    [
        [[0.3, -0.4], [0.5, 0.3]],
        [[0.3, -0.4], [0.4, 0.2]],
        [[0.3, -0.4, 0.0], [0.4, 0.3, -0.4], [0.0, 0.4, 0.3]],
        [[0.3, 0.4], [0.0, 0.2]],
        [[0.3, -0.4, 0.1], [0.4, 0.3, 0.0], [0.0, 0.0, 0.9]],
    ],
)
def test_nearly_blocks_are_computed(A: list[list[float]]) -> None:
    modes = diagonalize(_system(A))
    assert modes.lam_error_bound > 0
    assert np.allclose(np.sort_complex(modes.ensemble.lam), np.sort_complex(np.linalg.eigvals(A)))


@pytest.mark.parametrize("coupling", [1e-3, 1e-9, 1e-12])
def test_weakly_coupled_defect_is_refused_though_its_eigenvectors_look_independent(
    coupling: float,
) -> None:
    # The system is reachable; two equal λ would say that it is not.
    with pytest.raises(InvalidInputError, match=r"(coupled by|got) \d.*defective"):
        diagonalize(_system([[1.0, coupling], [0.0, 1.0]]))


@pytest.mark.parametrize("n", [2, 3, 8, 20])
def test_repeated_eigenvalues_with_all_their_eigenvectors_are_accepted(n: int) -> None:
    V = np.random.default_rng(n).normal(size=(n, n))
    eigenvalues = np.where(np.arange(n) < n // 2, 0.3, 0.7)
    modes = diagonalize(_system(V @ np.diag(eigenvalues) @ np.linalg.inv(V)))
    assert np.abs(np.sort(modes.ensemble.lam.real) - eigenvalues).max() < 1e-12
    mean = diagonalize(_system(np.full((n, n), 1.0 / n)))
    error = np.abs(np.sort(mean.ensemble.lam.real) - np.r_[np.zeros(n - 1), 1.0]).max()
    assert error <= mean.lam_error_bound
    assert mean.condition == pytest.approx(1.0, abs=1e-12)
