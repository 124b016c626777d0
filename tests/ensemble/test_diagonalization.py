"""Ensembles from real systems: round trips, exact conjugates, error bounds, refusals."""

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
@given(
    st.lists(st.tuples(_FLOAT, _FLOAT, _FLOAT), min_size=1, max_size=5),
    st.sampled_from([0.1, 1.0, 30.0]),
)
def test_real_round_trip_is_exact(members: list[tuple[float, float, float]], dt: float) -> None:
    lam, b, c = map(list, zip(*members, strict=True))
    ens = Ensemble(lam, b, c, 2.5, dt=dt)
    assert Ensemble.from_ss(ens.to_ss()) == ens


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


def test_real_eigenvalues_give_a_real_ensemble() -> None:
    ens = Ensemble.from_ss(_system([[0.5, 1.0], [0.0, 0.2]]))
    assert ens.is_real
    assert sorted(ens.lam.tolist()) == [0.2, 0.5]


def test_diagonal_and_block_systems_are_copied() -> None:
    modes = diagonalize(_system([[0.5, 0, 0], [0, 0.3, -0.4], [0, 0.4, 0.3]]))
    assert (modes.condition, modes.lam_error_bound) == (1.0, 0.0)
    assert modes.ensemble.lam.tolist() == [0.5, 0.3 + 0.4j, 0.3 - 0.4j]
    V = modes.transform
    assert np.array_equal(
        V @ np.diag(modes.ensemble.lam) @ np.linalg.inv(V).round(15),
        [[0.5, 0, 0], [0, 0.3, -0.4], [0, 0.4, 0.3]],
    )
    repeated = diagonalize(_system([[0.5, 0], [0, 0.5]]))
    assert repeated.ensemble.lam.tolist() == [0.5, 0.5]


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


def test_unknown_period_is_one() -> None:
    assert Ensemble.from_ss(_system([[0.5]], True)).dt == 1.0


@pytest.mark.parametrize(
    ("sys", "message"),
    [
        (lambda: _system([[0.5, 1.0], [0.0, 0.5]]), r"condition number ≤ 1e\+08, got .*defective"),
        (lambda: _system([[1.0, 1e-9], [1e-300, 1.0]]), r"condition number ≤ 1e\+08, got "),
        (lambda: _system([[0.5]], 0), "discrete-time, got continuous time .* sample_system"),
        (lambda: _system([[0.5]], None), "sys must be discrete-time, got no dt"),
        (
            lambda: control.tf([1], [1, 2], 1.0),
            "must be a control.StateSpace, got TransferFunction",
        ),
        (lambda: [[0.5]], "sys must be a control.StateSpace, got list"),
        (
            lambda: control.ss([], [], [], [[1.0]], 1.0),
            "must have states, inputs and outputs, got 0",
        ),
    ],
)
def test_refusals(sys: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Ensemble.from_ss(sys())


def test_refusal_names_the_number_and_the_limit_can_be_moved() -> None:
    sys = _system([[0.5, 1.0], [0.0, 0.5 + 1e-6]])
    with pytest.raises(InvalidInputError, match=r"condition number ≤ 1e\+05, got 2e\+06: A is"):
        diagonalize(sys, max_condition=1e5)
    assert diagonalize(sys, max_condition=1e7).condition == pytest.approx(2e6, rel=1e-3)
    with pytest.raises(InvalidInputError, match="max_condition must be ≥ 1.0"):
        diagonalize(sys, max_condition=0.5)
