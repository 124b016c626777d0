"""What certified minimum-norm solves return: energies and inputs of any magnitude, with bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError
from ensctl.vandermonde.balls import (
    HALF_ULP,
    Ball,
    Undecided,
    current_bits,
    is_certain,
    relative_radius,
    scaled,
)

Array = NDArray[Any]

_LOG10_2 = math.log10(2.0)


@dataclass(frozen=True, eq=False)
class CertifiedEnergies:
    """Energies mantissa · 2^exponent of any magnitude.

    Attributes
    ----------
    mantissa, exponent : (k,) float64, (k,) int64
        0.5 ≤ mantissa < 1, or both 0 for an energy that is exactly zero.
    relative_radius : (k,) float64
        Relative radius of each ball, before its midpoint is rounded to float64.
    bits : int
        Working precision that was enough.
    """

    mantissa: Array
    exponent: Array
    relative_radius: Array
    bits: int

    @property
    def relative_error_bound(self) -> Array:
        """Bound of the relative error of mantissa · 2^exponent, rounding included, (k,)."""
        return np.where(self.mantissa > 0, self.relative_radius + HALF_ULP, 0.0)

    @property
    def log10(self) -> Array:
        """log10 of the energies; −inf for zero."""
        with np.errstate(divide="ignore"):
            return np.log10(self.mantissa) + self.exponent * _LOG10_2

    @property
    def values(self) -> Array:
        """As float64: 0 or inf where the magnitude leaves the float64 range."""
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(self.mantissa, np.clip(self.exponent, -3000, 3000))


@dataclass(frozen=True, eq=False)
class CertifiedInputs:
    """Minimum-norm inputs u_t, t = 0..H−1 in time, as (high + low) · 2^exponent and exactly.

    Attributes
    ----------
    high, low : (H, m) float64 or complex128
        Each input rounded to float64, and the rest rounded to float64.
    exponent : int
        Zero unless the largest input is near or beyond the ends of the float64 range.
    exact_real, exact_imag : (H, m) object arrays of Fraction
        Midpoints of the balls.
    relative_error_bound, pair_error_bound, exact_error_bound : float
        Bounds of max_t |error of u_t|/max_t |u_t| for ``high`` alone, for ``high + low``, and for
        the exact midpoints.
    bits : int
        Working precision that was enough.
    """

    high: Array
    low: Array
    exponent: int
    exact_real: Array
    exact_imag: Array
    relative_error_bound: float
    pair_error_bound: float
    exact_error_bound: float
    bits: int

    @property
    def coefficients(self) -> Array:
        """``high`` with row j the factor of λ^j: time reversed, (H, m)."""
        return self.high[::-1]


def check_rtol(rtol: float) -> None:
    """Refuse a relative tolerance that is not between 0 and 1."""
    if not 0.0 < rtol < 1.0:
        raise InvalidInputError(f"rtol must be between 0 and 1, got {rtol}")


def energies_from_balls(energies: list[Ball], rtol: float) -> CertifiedEnergies:
    """Round real balls; Undecided when one is wider than ``rtol``."""
    if not all(is_certain(energy, -math.log2(rtol)) for energy in energies):
        raise Undecided
    parts = [scaled(energy) for energy in energies]
    return CertifiedEnergies(
        mantissa=np.array([mantissa for mantissa, _ in parts]),
        exponent=np.array([exponent for _, exponent in parts], dtype=np.int64),
        relative_radius=np.array([relative_radius(energy) for energy in energies]),
        bits=current_bits(),
    )
