"""Balls: exact conversions, honest radii, and a precision that is always restored."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.vandermonde.balls import (
    MAX_BITS,
    Undecided,
    ball,
    balls,
    current_bits,
    is_certain,
    midpoint,
    nearest,
    precision,
    refine,
    relative_radius,
    rounded_up,
    scaled,
    squared_moduli,
)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_an_exact_ball(value: float) -> None:
    with precision(64):
        item = ball(value)
        assert item.is_exact()
        assert midpoint(item) == Fraction(value)
        assert nearest(item) == value
        mantissa, exponent = scaled(item)
    assert Fraction(mantissa) * Fraction(2) ** exponent == Fraction(value)


def test_scaled_rounds_to_nearest_beyond_the_float_range() -> None:
    with precision(300):
        mantissa, exponent = scaled(ball(3) ** 5000)
    exact = 3**5000
    assert 0.5 <= mantissa < 1.0
    error = abs(Fraction(mantissa) * 2**exponent / exact - 1)
    assert error <= Fraction(1, 2**53)


def test_a_mantissa_that_rounds_up_to_one_is_normalised() -> None:
    with precision(200):
        assert scaled(ball(1) - ball(2) ** -100) == (0.5, 1)


def test_fractions_and_complex_numbers() -> None:
    with precision(100):
        third = ball(Fraction(1, 3))
        assert relative_radius(third) <= 2.0**-98
        assert third.contains(arb(1) / 3)
        assert ball(1 + 2j) == acb(1, 2)
        assert [float(x) for x in squared_moduli(balls(np.array([3 + 4j, 1j])))] == [25.0, 1.0]


@pytest.mark.parametrize("value", [math.nan, math.inf, complex(0, math.inf), "1", None])
def test_what_is_not_a_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidInputError, match="finite number"):
        ball(value)


def test_radii_are_bounds() -> None:
    with precision(80):
        root = ball(2).sqrt()
        assert is_certain(root, 70)
        assert not is_certain(root, 100)
        assert not is_certain(root - root, 1)
        assert relative_radius(root - root) == math.inf
        assert arb(rounded_up(root)) >= root


def test_precision_is_restored_when_something_fails() -> None:
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), precision(777):
        raise ZeroDivisionError
    assert ctx.prec == before


def test_refine_doubles_until_decided_and_stops_at_the_cap() -> None:
    seen: list[int] = []

    def attempt(enough: int) -> int:
        seen.append(current_bits())
        if current_bits() < enough:
            raise Undecided
        return current_bits()

    before = ctx.prec
    assert refine(lambda: attempt(1000), "it") == 1024
    assert seen == [128, 256, 512, 1024]
    assert refine(lambda: attempt(200), "it", 300) == 300
    with pytest.raises(PrecisionError, match="it is not certain with 39457 decimal digits") as info:
        refine(lambda: attempt(MAX_BITS + 1), "it")
    assert info.value.digits == pytest.approx(39456.6, abs=0.1)
    assert ctx.prec == before
