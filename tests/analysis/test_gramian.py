"""Gramians entry by entry against many digits, closed forms and the Lyapunov equation."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from ensctl.analysis.gramian import gramian
from ensctl.analysis.matrices import reachability_matrix
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, PrecisionError

_RNG = np.random.default_rng(9)
_NEAR = 1 - 10.0 ** -_RNG.uniform(1, 16, 8)
_DISK = np.sqrt(_RNG.uniform(0, 1, 8)) * np.exp(2j * np.pi * _RNG.uniform(0, 1, 8))

SETS = {
    "equispaced": Ensemble(np.linspace(0.1, 0.9, 8)),
    "close to one": Ensemble(_NEAR, _RNG.normal(size=8)),
    "close to plus and minus one": Ensemble(np.concatenate([_NEAR[:4], -_NEAR[4:]])),
    "just outside": Ensemble(1 + 10.0 ** -_RNG.uniform(6, 16, 8)),
    "disk": Ensemble(_DISK, _RNG.normal(size=8) + 1j * _RNG.normal(size=8)),
    "roots of unity": Ensemble(np.exp(2j * np.pi * np.arange(8) / 8)),
    "exact roots of unity": Ensemble([1.0, -1.0, 1j, -1j, 0.6 + 0.8j]),
    "two with product one": Ensemble([2.0, 0.5, 0.25]),
    "arc of 1e-8": Ensemble(np.exp(1e-9j * np.arange(8))),
    "three channels": Ensemble(_DISK, _RNG.normal(size=(8, 3))),
}


def _entry(ens: Ensemble, horizon: float, i: int, j: int) -> mpmath.mpc:
    """W_ij with 1200 bits, from the doubles as given."""
    lam = [mpmath.mpc(complex(z)) for z in ens.lam[[i, j]]]
    q = lam[0] * mpmath.conj(lam[1])
    weight = mpmath.fsum(
        mpmath.mpc(complex(a)) * mpmath.conj(mpmath.mpc(complex(b)))
        for a, b in zip(ens.gains[i], ens.gains[j], strict=True)
    )
    if horizon == math.inf:
        return weight / (1 - q)
    return weight * (horizon if q == 1 else (1 - q ** int(horizon)) / (1 - q))


def _fits(ens: Ensemble, horizon: float) -> bool:
    largest = float(np.abs(ens.lam).max())
    if horizon == math.inf:
        return largest < 1 - 1e-15
    return 2 * horizon * math.log10(largest) < 300


CASES = [
    (name, horizon)
    for name, ens in SETS.items()
    for horizon in (1, 2, 3, 12, 1000, 10**6, math.inf)
    if _fits(ens, horizon)
]


@pytest.mark.parametrize(("name", "horizon"), CASES)
def test_every_entry_to_thirteen_digits(name: str, horizon: float) -> None:
    ens = SETS[name]
    ours = gramian(ens, horizon)
    with mpmath.workprec(1200):
        for i in range(ens.size):
            for j in range(ens.size):
                true = _entry(ens, horizon, i, j)
                assert abs(mpmath.mpc(complex(ours[i, j])) - true) <= 1e-13 * abs(true)


def test_the_horizon_itself_where_the_product_is_one() -> None:
    ours = gramian(Ensemble([2.0, 0.5, 1.0]), 7)
    assert ours[0, 1] == 7.0 == ours[2, 2]


@pytest.mark.parametrize("name", SETS)
def test_hermitian_and_read_only(name: str) -> None:
    for kind in ("reachability", "observability"):
        matrix = gramian(SETS[name], 5, kind=kind)
        np.testing.assert_array_equal(matrix, matrix.conj().T)
        assert not matrix.flags.writeable


@pytest.mark.parametrize("name", SETS)
def test_product_of_the_reachability_matrix(name: str) -> None:
    ens = SETS[name]
    steps = reachability_matrix(ens, 6)
    scale = np.abs(steps) @ np.abs(steps).T
    assert np.all(np.abs(gramian(ens, 6) - steps @ steps.conj().T) <= 1e-14 * scale)


def test_horizon_defaults_to_the_number_of_members() -> None:
    ens = SETS["equispaced"]
    np.testing.assert_array_equal(gramian(ens), gramian(ens, 8))


@given(
    st.lists(st.floats(-1.5, 1.5), min_size=1, max_size=6),
    st.integers(1, 60),
)
def test_displacement_equation(lam: list[float], horizon: int) -> None:
    # W − ΛWΛ* = bb* − Λ^H bb* Λ*^H.
    ens = Ensemble(lam)
    matrix = gramian(ens, horizon)
    left = matrix - np.outer(ens.lam, ens.lam) * matrix
    ends = ens.lam**horizon
    scale = np.abs(matrix) * (1 + np.abs(np.outer(ens.lam, ens.lam))) + 1
    assert np.all(np.abs(left - (1 - np.outer(ends, ends))) <= 1e-13 * scale)


def test_hilbert_matrix() -> None:
    # λ_i = (3 − 2i)/(2i + 1), b_i = 2/(2i + 1): twice the infinite Gramian is the Hilbert matrix.
    # λ and b are rounded, which costs a few units in the last place here.
    i = np.arange(1, 11)
    ours = 2 * gramian(Ensemble((3 - 2 * i) / (2 * i + 1), 2 / (2 * i + 1)), math.inf)
    np.testing.assert_allclose(ours, scipy.linalg.hilbert(10), rtol=1e-14)


def test_python_control_observability_gramian() -> None:
    # python-control, control/tests/statefbk_test.py, testGramWo on discrete time.
    state = np.array([[-0.31, 0.21], [-0.68, -0.57]])
    output = np.array([[1.32, -0.55]])
    lam, vectors = np.linalg.eig(state)
    ens = Ensemble(lam, c=output @ vectors)
    inverse = np.linalg.inv(vectors)
    ours = inverse.conj().T @ gramian(ens, math.inf, kind="observability") @ inverse
    expected = [[2.06193690, -0.57482614], [-0.57482614, 0.78661650]]
    np.testing.assert_allclose(ours, expected, atol=5e-9)


def test_observability_gramian_is_the_sum_it_says() -> None:
    ens = Ensemble(_DISK, c=_RNG.normal(size=(2, 8)) + 1j * _RNG.normal(size=(2, 8)))
    state, output = np.diag(ens.lam), ens.output_weights
    powers = [np.linalg.matrix_power(state, k) for k in range(5)]
    expected = sum(a.conj().T @ output.conj().T @ output @ a for a in powers)
    np.testing.assert_allclose(gramian(ens, 5, kind="observability"), expected, rtol=1e-13)


def test_more_channels_add_up() -> None:
    gains = _RNG.normal(size=(8, 3))
    total = sum(gramian(Ensemble(_DISK, gains[:, c]), 9) for c in range(3))
    np.testing.assert_allclose(gramian(Ensemble(_DISK, gains), 9), total, rtol=1e-12, atol=1e-14)


def test_gains_of_any_magnitude() -> None:
    ours = gramian(Ensemble([2.0, 0.5], [1e-200, 1.0]), 600)
    # Σ 4^k 1e-400 would overflow or underflow in either factor alone.
    with mpmath.workdps(60):
        true = (mpmath.mpf(4) ** 600 - 1) / 3 * mpmath.mpf(1e-200) ** 2
    assert abs(ours[0, 0] / float(true) - 1) < 1e-14


def test_a_dead_unstable_member_does_not_overflow() -> None:
    np.testing.assert_array_equal(gramian(Ensemble([2.0, 0.0], [0.0, 1.0]), 5000), np.diag([0, 1]))


def test_errors_say_what_to_do() -> None:
    with pytest.raises(PrecisionError, match=r"horizon 2000.*use ensctl\.conditioning"):
        gramian(Ensemble([2.0, 0.5]), 2000)
    with pytest.raises(PrecisionError, match=r"member 1 has .* beyond 2\^490"):
        gramian(Ensemble([0.5, 1e200]), 2)
    with pytest.raises(
        InvalidInputError, match=r"horizon must be finite here: member 1 has .λ. = 1"
    ):
        gramian(Ensemble([0.5, -1.0]), math.inf)
    with pytest.raises(InvalidInputError, match="kind must be 'reachability' or 'observability'"):
        gramian(Ensemble([0.5]), 2, kind="control")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"horizon must be an integer ≥ 1 or math\.inf"):
        gramian(Ensemble([0.5]), 0)
