"""Displacements and residuals against rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ensctl.errors import InvalidInputError
from ensctl.vandermonde.certified_residual import certified_residual
from ensctl.vandermonde.certified_targets import SplitVector, certified_displacement


def exactly(vector: SplitVector, at: int) -> Fraction:
    parts = Fraction(float(vector.high[at])) + Fraction(float(vector.low[at]))
    return parts * Fraction(2) ** int(vector.exponents[at])


@pytest.mark.parametrize("horizon", [1, 7, 200])
def test_displacement_is_right_to_its_bound(horizon: int) -> None:
    rng = np.random.default_rng(horizon)
    lam = np.concatenate([rng.uniform(-1.2, 1.2, 20), [0.0, 1.0, -1.0, 1e30]])
    target, x0 = rng.standard_normal(24), rng.standard_normal(24)
    found = certified_displacement(lam, horizon, target, x0)
    for i in range(24):
        node, start = Fraction(float(lam[i])), Fraction(float(x0[i]))
        true = Fraction(float(target[i])) - node**horizon * start
        assert abs(exactly(found, i) - true) <= abs(true) * Fraction(found.relative_error_bound[i])
    assert found.relative_error_bound.max() < 2.0**-104
    assert (found.exponents[:-1] == 0).all()
    assert (found.exponents[-1] > 1000) == (horizon == 200)


def test_cancellation_leaves_all_digits() -> None:
    # 0.1 is not 1/10: the difference of order 1e-18 is what remains.
    found = certified_displacement(np.array([0.1]), 2, np.array([0.01]), np.ones(1))
    true = Fraction(0.01) - Fraction(0.1) ** 2
    assert abs(exactly(found, 0) / true - 1) < Fraction(1, 2**104)
    assert float(true) != 0.01 - 0.1**2


def test_displacement_that_is_exactly_zero_or_needs_no_start() -> None:
    lam = np.array([0.5, 1.0, 0.25])
    found = certified_displacement(lam, 10, lam**10, np.ones(3))
    assert not found.high.any()
    assert not found.relative_error_bound.any()
    target = np.array([1.0, 2.0, 3.0])
    endless = certified_displacement(np.array([0.5, -0.5, 0.25]), math.inf, target, np.ones(3))
    assert endless.high.tolist() == target.tolist()


def test_complex_displacement() -> None:
    found = certified_displacement(np.array([1j]), 3, np.array([2.0]), np.array([1.0 + 1j]))
    assert found.high.tolist() == [2.0 + 1j * (1.0 + 1j)]


@pytest.mark.parametrize("horizon", [1, 2, 5, 16, 37])
def test_residual_of_any_input(horizon: int) -> None:
    rng = np.random.default_rng(horizon)
    lam, gains = rng.uniform(-1.5, 1.5, 4), rng.standard_normal((4, 2))
    inputs, low = rng.standard_normal((horizon, 2)), 1e-20 * rng.standard_normal((horizon, 2))
    target, x0 = rng.standard_normal(4), rng.standard_normal(4)
    found = certified_residual(lam, gains, inputs, target, x0=x0, low=low)
    for i in range(4):
        state = Fraction(float(x0[i]))
        for t in range(horizon):
            state *= Fraction(float(lam[i]))
            for c in range(2):
                u = Fraction(float(inputs[t, c])) + Fraction(float(low[t, c]))
                state += Fraction(float(gains[i, c])) * u
        true = abs(state - Fraction(float(target[i])))
        assert true <= Fraction(float(found[i])) <= true * Fraction(1 + 1e-6)


def test_residual_of_exact_and_of_overflowing_inputs() -> None:
    lam = np.array([0.5, 2.0])
    third = np.array([Fraction(1, 3), Fraction(1, 3)], dtype=object)
    goal = np.array([Fraction(1, 2), Fraction(1)], dtype=object)
    assert certified_residual(lam, np.ones(2), third, goal) == pytest.approx([0.0, 0.0], abs=1e-70)
    beyond = certified_residual(lam, np.ones(2), np.ones(5000), np.ones(2))
    assert beyond == pytest.approx([1.0, math.inf])


def test_wrong_calls() -> None:
    lam, b = np.array([0.5, 0.25]), np.ones((2, 2))
    with pytest.raises(InvalidInputError, match=r"inputs must be \(H, 2\)"):
        certified_residual(lam, b, np.ones(3), np.ones(2))
    with pytest.raises(InvalidInputError, match="2 entries"):
        certified_displacement(lam, 3, np.ones(2), np.ones(3))
