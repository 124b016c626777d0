"""Ball arithmetic at growing precision: exact conversions and the loop that doubles the bits.

A ball (python-flint arb or acb) is a midpoint with a rigorous radius (F. Johansson, "Arb: efficient
arbitrary-precision midpoint-radius interval arithmetic", IEEE Trans. Computers 66 (2017)
1281–1292).  float64 and complex128 numbers are exact balls.  The working precision is global to
python-flint, hence to the process: certified computations do not run in several threads at once.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError, PrecisionError

Array = NDArray[Any]
Ball = Any
Result = TypeVar("Result")

DEFAULT_BITS = 128
"""Working precision that is tried first."""

MAX_BITS = 2**17
"""Precision beyond which no attempt is made (39,000 decimal digits)."""

HALF_ULP = 2.0**-53
"""Relative error of rounding to float64."""


class Undecided(ArithmeticError):
    """A ball is too wide for the decision or the accuracy that is needed; more bits will help."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set the working precision of python-flint inside a block and restore it afterwards."""
    from flint import ctx

    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def refine(attempt: Callable[[], Result], quantity: str, bits: int | None = None) -> Result:
    """Call ``attempt`` with doubled precision until it no longer raises :class:`Undecided`.

    Parameters
    ----------
    attempt : callable
        Computes in balls at the current precision.
    quantity : str
        What is computed, for the error.
    bits : int, optional
        First precision; 128 by default.

    Raises
    ------
    PrecisionError
        ``MAX_BITS`` do not suffice.
    """
    working = DEFAULT_BITS if bits is None else min(max(int(bits), 64), MAX_BITS)
    while working <= MAX_BITS:
        try:
            with precision(working):
                return attempt()
        except Undecided:
            working *= 2
    digits = MAX_BITS * math.log10(2.0)
    raise PrecisionError(
        f"{quantity} is not certain with {digits:.0f} decimal digits; "
        "move the λ further apart, or leave out what may be exactly zero",
        digits=digits,
    )


def current_bits() -> int:
    """The working precision."""
    from flint import ctx

    return int(ctx.prec)


def ball(value: Any) -> Ball:
    """A float, complex, int or numpy scalar as an exact ball; a Fraction as a ball around it."""
    from flint import acb, arb, fmpq

    if isinstance(value, float | np.floating) and math.isfinite(value):
        return arb(float(value))
    if isinstance(value, int | np.integer):
        return arb(int(value))
    if isinstance(value, complex | np.complexfloating) and cmath.isfinite(value):
        return acb(float(value.real), float(value.imag))
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    raise InvalidInputError(f"a finite number or a Fraction is required, got {value!r}")


def balls(values: Array | Sequence[Any]) -> list[Ball]:
    """The entries of a 1-D array as balls: arb where the dtype is real, acb where it is complex."""
    return [ball(value) for value in np.asarray(values)]


def conjugates(items: list[Ball]) -> list[Ball]:
    """Complex conjugates; real balls are returned as they are."""
    return [conjugate(item) for item in items]


def conjugate(item: Ball) -> Ball:
    """Complex conjugate of one ball."""
    return item.conjugate() if hasattr(item, "conjugate") else item


def squared_moduli(items: list[Ball]) -> list[Ball]:
    """|x|² as real balls; the items are all arb or all acb."""
    from flint import acb

    if items and isinstance(items[0], acb):
        parts = [(item.real, item.imag) for item in items]
        return [re * re + im * im for re, im in parts]
    return [item * item for item in items]


def is_certain(item: Ball, bits: float) -> bool:
    """Whether a ball is exact or its relative radius is certainly below 2^-bits."""
    return bool(item.is_exact() or item.rel_accuracy_bits() >= bits + 1)


def relative_radius(item: Ball) -> float:
    """Upper bound of radius/|x| as float64; inf when the ball contains zero."""
    from flint import acb

    if item.is_exact():
        return 0.0
    radius = item.complex_rad().abs_upper() if isinstance(item, acb) else item.rad()
    smallest = item.abs_lower()
    return rounded_up(radius / smallest) if smallest > 0 else math.inf


def rounded_up(item: Ball) -> float:
    """A float64 that is certainly at least the real ball (inf beyond the range)."""
    value = float(item.upper())
    return float(np.nextafter(np.nextafter(value, np.inf), np.inf))


def scaled(item: Ball) -> tuple[float, int]:
    """Midpoint of a real ball as mantissa · 2^exponent, to nearest, 0.5 ≤ |mantissa| < 1."""
    man, exp = item.mid().man_exp()
    integer = int(man)
    if integer == 0:
        return 0.0, 0
    length = integer.bit_length()
    mantissa, carry = math.frexp(integer / (1 << length))
    return mantissa, int(exp) + length + carry


def midpoint(item: Ball) -> Fraction:
    """Midpoint of a real ball, exactly."""
    man, exp = item.mid().man_exp()
    power = int(exp)
    return Fraction(int(man) << power) if power >= 0 else Fraction(int(man), 1 << -power)


def nearest(item: Ball) -> float | complex:
    """Midpoint as float or complex, to float64 rounding; 0 where it underflows."""
    from flint import acb

    if isinstance(item, acb):
        return complex(float(item.real.mid()), float(item.imag.mid()))
    return float(item.mid())
