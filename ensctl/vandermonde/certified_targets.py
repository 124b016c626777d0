"""Right-hand sides d = target − Λ^H x0 as balls, and numbers split into high and low parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError
from ensctl.vandermonde.balls import (
    Ball,
    Undecided,
    ball,
    balls,
    is_certain,
    nearest,
    refine,
    rounded_up,
)

Array = NDArray[Any]

# A magnitude in this range of exponents leaves room for a low part and for sums in float64.
_LOWEST, _HIGHEST = -900, 960


@dataclass(frozen=True, eq=False)
class SplitVector:
    """Numbers (high + low) · 2^exponents of any magnitude.

    Attributes
    ----------
    high, low : (N,) float64 or complex128
        The number rounded to float64, and the rest rounded to float64.
    exponents : (N,) int64
        Zero except for numbers near or beyond the ends of the float64 range.
    relative_error_bound : (N,) float64
        Of high + low, for each entry.
    """

    high: Array
    low: Array
    exponents: Array
    relative_error_bound: Array


def certified_displacement(
    lam: Array, horizon: int | float, target: Array, x0: Array, *, bits: int | None = None
) -> SplitVector:
    """d = target − Λ^H x0 with every entry right to twice the float64 precision.

    Parameters
    ----------
    lam : (N,) float64 or complex128
        Nodes, taken as exact.
    horizon : int or math.inf
        H; math.inf means that every |λ| < 1 and leaves the target alone.
    target, x0 : (N,) float64, complex128, or Fractions in an object array
        Taken as exact.
    bits : int, optional
        First working precision.

    Returns
    -------
    SplitVector

    Raises
    ------
    PrecisionError
        An entry is zero without being provably so in 131,072 bits.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.vandermonde.certified_targets import certified_displacement
    >>> d = certified_displacement(np.array([3.0]), 40, np.array([1.0]), np.array([1.0]))
    >>> int(d.high[0]) + int(d.low[0]) == 1 - 3**40
    True
    """
    columns = [exact_column(target, len(lam))]

    def attempt() -> SplitVector:
        (items,) = displacements(lam, horizon, columns, x0)
        if not all(is_certain(item, 110) for item in items):
            raise Undecided
        return _split_vector(items)

    return refine(attempt, "target − Λ^H x0", bits)


def exact_columns(targets: Array, size: int) -> list[Array]:
    """The columns of a (size,) or (size, k) array of exact numbers."""
    array = np.asarray(targets)
    columns = array[:, None] if array.ndim == 1 else array
    if columns.ndim != 2 or columns.shape[0] != size:
        raise InvalidInputError(
            f"a target must have {size} entries (one per λ), got shape {array.shape}"
        )
    if array.dtype != object and not np.all(np.isfinite(array)):
        raise InvalidInputError("a target must be finite; remove or replace the other entries")
    return list(columns.T)


def exact_column(values: Array, size: int) -> Array:
    """One vector of exact numbers; a scalar is broadcast."""
    array = np.asarray(values)
    columns = exact_columns(np.full(size, array[()]) if array.ndim == 0 else array, size)
    if len(columns) != 1:
        raise InvalidInputError(f"one target vector is required, got {len(columns)} columns")
    return columns[0]


def displacements(
    lam: Array, horizon: int | float, columns: list[Array], x0: Array | None
) -> list[list[Ball]]:
    """target − Λ^H x0 for every column, at the current precision."""
    targets = [balls(column) for column in columns]
    if x0 is None or horizon == math.inf:
        return targets
    start = exact_column(x0, len(lam))
    free = [
        node**horizon * ball(value) if value != 0 else ball(0)
        for node, value in zip(balls(lam), start, strict=True)
    ]
    return [[d - x for d, x in zip(column, free, strict=True)] for column in targets]


def binary_exponent(item: Ball) -> int:
    """An e with |x| ≤ 2^e, tight to a factor of four; 0 for zero."""
    upper = item.abs_upper()
    if not upper.is_finite():
        raise Undecided
    if upper == 0:
        return 0
    man, exp = upper.man_exp()
    return int(exp) + int(man).bit_length()


def comfortable_shift(exponent: int) -> int:
    """Power of two to take out of a number below 2^exponent: 0 where float64 suits it."""
    return 0 if _LOWEST <= exponent <= _HIGHEST else exponent


def split(item: Ball, shift: int) -> tuple[float | complex, float | complex, Ball]:
    """x·2^-shift as high + low, and the ball of what is left over."""
    scaled_item = item * ball(2) ** (-shift) if shift else item
    high = nearest(scaled_item)
    rest = scaled_item - ball(high)
    low = nearest(rest)
    return high, low, rest - ball(low)


def _split_vector(items: list[Ball]) -> SplitVector:
    shifts = [comfortable_shift(binary_exponent(item)) for item in items]
    parts = [split(item, shift) for item, shift in zip(items, shifts, strict=True)]
    bounds = []
    for item, shift, (_, _, rest) in zip(items, shifts, parts, strict=True):
        size = item.abs_lower() * ball(2) ** (-shift)
        bounds.append(rounded_up(rest.abs_upper() / size) if size > 0 else 0.0)
    return SplitVector(
        high=np.array([high for high, _, _ in parts]),
        low=np.array([low for _, low, _ in parts]),
        exponents=np.array(shifts, dtype=np.int64),
        relative_error_bound=np.array(bounds),
    )
