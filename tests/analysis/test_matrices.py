"""Reachability, controllability and observability matrices: shapes, accuracy, errors."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.analysis.matrices import ctrb, obsv, reachability_matrix
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, PrecisionError


def _sample(channels: int = 2, outputs: int = 3) -> Ensemble:
    rng = np.random.default_rng(5)
    gains, weights = rng.normal(size=(4, channels)), rng.normal(size=(outputs, 4))
    return Ensemble(rng.uniform(-1, 1, 4), gains, weights)


def test_columns_are_in_the_order_of_time() -> None:
    ens = _sample()
    inputs = np.random.default_rng(6).normal(size=(2, 7))
    state = np.zeros(4)
    for u in inputs.T:
        state = ens.lam * state + ens.gains @ u
    reached = reachability_matrix(ens, 7) @ inputs.T.ravel()
    np.testing.assert_allclose(reached, state, rtol=1e-13)


@pytest.mark.parametrize("horizon", [1, 3, 4, 9, 50])
def test_shapes_and_reversal(horizon: int) -> None:
    ens = _sample()
    forward = ctrb(ens, horizon=horizon).reshape(4, horizon, 2)
    backward = reachability_matrix(ens, horizon).reshape(4, horizon, 2)
    np.testing.assert_array_equal(forward, backward[:, ::-1])
    assert obsv(ens, horizon=horizon).shape == (3 * horizon, 4)


def test_same_as_python_control() -> None:
    control = pytest.importorskip("control")
    ens = _sample()
    state = np.diag(ens.lam)
    expected = control.ctrb(state, ens.gains)
    np.testing.assert_allclose(ctrb(ens), expected, rtol=1e-14)
    np.testing.assert_allclose(ctrb(state, ens.gains), expected, rtol=1e-14)
    expected = control.obsv(state, ens.output_weights)
    np.testing.assert_allclose(obsv(ens), expected, rtol=1e-14)
    np.testing.assert_allclose(obsv(state, ens.output_weights), expected, rtol=1e-14)


def test_python_control_examples() -> None:
    # control/tests/matlab_test.py and statefbk_test.py, testCtrbSISO, testObsvSISO.
    state = [[1.0, 2.0], [3.0, 4.0]]
    np.testing.assert_array_equal(ctrb(state, [[5.0], [7.0]]), [[5.0, 19.0], [7.0, 43.0]])
    np.testing.assert_array_equal(ctrb(state, [5.0, 7.0]), [[5.0, 19.0], [7.0, 43.0]])
    np.testing.assert_array_equal(obsv(state, [[5.0, 7.0]]), [[5.0, 7.0], [26.0, 38.0]])
    entry = [[5.0, 6.0], [7.0, 8.0]]
    expected = [[5.0, 6.0, 19.0, 22.0], [7.0, 8.0, 43.0, 50.0]]
    np.testing.assert_array_equal(ctrb(state, entry), expected)


def test_matlab_page_on_ctrb() -> None:
    # A = [1 δ; 0 1], B = [1; δ]: controllable for δ ≠ 0 although its rank fails for small δ.
    delta = 1e-9
    matrix = ctrb([[1.0, delta], [0.0, 1.0]], [1.0, delta])
    np.testing.assert_array_equal(matrix, [[1.0, 1.0 + delta**2], [delta, delta]])
    assert np.linalg.matrix_rank(matrix) == 1


def test_identical_double_integrators_move_together() -> None:
    # n double integrators with one shared force: rank 2 for any n.
    block = np.array([[1.0, 1.0], [0.0, 1.0]])
    state = np.kron(np.eye(5), block)
    assert np.linalg.matrix_rank(ctrb(state, np.tile([0.5, 1.0], 5))) == 2


def test_complex_stays_complex_and_the_horizon_is_not_clamped() -> None:
    matrix = ctrb(np.diag([0.5j, 0.2]), [1.0, 1j], horizon=6)
    assert matrix.shape == (2, 6) and matrix.dtype == complex
    np.testing.assert_allclose(matrix[0], 0.5j ** np.arange(6), rtol=1e-15)
    assert reachability_matrix(Ensemble([0.5, 0.2]), 100).shape == (2, 100)
    assert reachability_matrix(Ensemble([0.5, 0.2]), 100).dtype == float


@pytest.mark.parametrize("steps", [1, 2, 10, 1000, 4097])
def test_powers_are_accurate_however_long_the_horizon(steps: int) -> None:
    rng = np.random.default_rng(8)
    lam = np.exp(2j * np.pi * rng.uniform(size=6)) * (1 - 10.0 ** -rng.uniform(3, 9, 6))
    matrix = reachability_matrix(Ensemble(lam, rng.normal(size=6)), steps)
    with mpmath.workdps(60):
        for i in range(6):
            b = complex(matrix[i, -1])
            true = mpmath.mpc(complex(lam[i])) ** (steps - 1) * mpmath.mpc(b)
            assert abs(mpmath.mpc(complex(matrix[i, 0])) - true) <= 2e-15 * abs(true)


@given(st.integers(1, 40), st.integers(-7, 7), st.integers(-5, 5))
def test_real_entries_against_rational_numbers(steps: int, numerator: int, gain: int) -> None:
    lam, b = numerator / 8 + 1 / 3, gain / 4
    matrix = reachability_matrix(Ensemble([lam], [b]), steps)
    for k in range(steps):
        true = Fraction(lam) ** k * Fraction(b)
        error = Fraction(float(matrix[0, steps - 1 - k])) - true
        assert abs(error) <= 2e-15 * abs(true)


def test_entries_in_range_survive_powers_that_are_not() -> None:
    matrix = reachability_matrix(Ensemble([1e200, 0.0], [1e-200, 1.0]), 3)
    np.testing.assert_allclose(matrix, [[1e200, 1.0, 1e-200], [0.0, 0.0, 1.0]], rtol=1e-15)


def test_overflow_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(PrecisionError, match=r"horizon 1100.*use ensctl\.conditioning"):
        reachability_matrix(Ensemble([2.0, 0.5]), 1100)
    with pytest.raises(PrecisionError, match="controllability matrix has entries beyond"):
        ctrb(Ensemble([2.0j]), horizon=1100)
    with pytest.raises(PrecisionError, match="observability matrix has entries beyond"):
        obsv(1e200 * np.eye(2), [1.0, 1.0], horizon=3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ctrb([[1, 2], [3, 4]], [1, 2, 3]), "B must have as many rows as A, 2"),
        (lambda: ctrb([[1, 2], [3, 4]]), "B must be given together with a matrix A"),
        (lambda: ctrb([0.2, 0.5], [1, 1]), "A must be a square matrix, got shape .2,.; for a set"),
        (lambda: ctrb(_sample(), [1, 1]), "B must be left out with an Ensemble"),
        (lambda: obsv([[1, 2], [3, 4]], [1, 2, 3]), "C must have as many columns as A, 2"),
        (lambda: obsv([[1, 2], [3, 4]]), "C must be given together with a matrix A"),
        (lambda: obsv(_sample(), [1, 1]), "C must be left out with an Ensemble"),
        (lambda: ctrb([[np.nan]], [1]), "A must be finite, got nan at index 0, 0"),
        (lambda: reachability_matrix(_sample(), 0), "horizon must be an integer ≥ 1, got 0"),
        (
            lambda: ctrb(_sample(), horizon=1.5),  # type: ignore[arg-type]
            "horizon must be an integer ≥ 1, got 1.5",
        ),
    ],
)
def test_wrong_arguments_are_named(call: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()  # type: ignore[operator]


def test_results_are_read_only() -> None:
    for matrix in (reachability_matrix(_sample(), 3), ctrb(_sample()), obsv(_sample())):
        assert not matrix.flags.writeable
