"""Best uniform approximation: closed forms, alternation, functions with kinks and jumps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.synthesis.chebyshev_basis import clenshaw
from ensctl.synthesis.remez import best_uniform

_GRID = np.linspace(-1, 1, 20_001)


@pytest.mark.parametrize("n", [1, 2, 5, 10, 20])
def test_powers_are_chebyshev_polynomials(n: int) -> None:
    best = best_uniform(lambda t: t**n, np.ones_like, n - 1)
    assert best.error == pytest.approx(2.0 ** (1 - n), rel=1e-8, abs=1e-14)
    assert best.lower_bound <= best.error * (1 + 1e-12)


@given(
    a=st.floats(0.5, 8.0),
    shift=st.floats(-0.9, 0.9),
    degree=st.integers(0, 12),
    slope=st.floats(-0.8, 0.8),
)
def test_lower_bound_and_error_meet(a: float, shift: float, degree: int, slope: float) -> None:
    def wanted(t: np.ndarray) -> np.ndarray:
        return np.exp(-a * (t - shift) ** 2)

    def gain(t: np.ndarray) -> np.ndarray:
        return -1.0 - slope * t

    best = best_uniform(wanted, gain, degree)
    error = np.abs(wanted(_GRID) - gain(_GRID) * clenshaw(best.coefficients, _GRID))
    assert error.max() <= best.error * (1 + 1e-9) + 1e-14
    assert best.error - best.lower_bound <= 1e-8 * best.error + 1e-13


def test_a_jump_cannot_be_met_better_than_by_half() -> None:
    best = best_uniform(lambda t: np.where(t < 0.2, -1.0, 1.0), np.ones_like, 20)
    assert best.error == pytest.approx(1.0, rel=1e-6)


def test_a_polynomial_is_met_to_rounding() -> None:
    assert best_uniform(lambda t: 1 + t - t**3, np.ones_like, 5).error < 1e-14
