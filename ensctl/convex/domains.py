"""Where each input may lie: boxes for real inputs, discs for stacked complex ones.

A domain is separable, so that the nearest point, the support function and the minimum of a
Lagrangian over it are closed forms.  Solvers clip to it last: it is violated by exactly zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import read_only
from ensctl.convex.stacking import moduli
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Box:
    """l ≤ u ≤ h for real inputs; ±inf where there is no limit.

    Attributes
    ----------
    lower, upper : (n,) float64
    """

    lower: Array
    upper: Array

    @property
    def size(self) -> int:
        """Number of real entries n."""
        return int(self.lower.size)

    @property
    def bounded(self) -> Array:
        """Which of the 2n sides (lower, then upper) are finite."""
        return np.isfinite(np.concatenate([self.lower, self.upper]))

    def nearest(self, inputs: Array) -> Array:
        """Clip to the box."""
        return np.minimum(np.maximum(inputs, self.lower), self.upper)

    def support(self, gradient: Array) -> float:
        """max gᵀu over the box: Σ max(l g, h g), inf where a missing limit lets it grow."""
        extreme = np.where(gradient > 0, self.upper, self.lower)
        moving = gradient != 0.0
        return float(gradient[moving] @ extreme[moving])

    def contains(self, inputs: Array) -> bool:
        """True when no limit is exceeded, not even by one ulp."""
        return bool(np.all((inputs >= self.lower) & (inputs <= self.upper)))

    def scaled(self, factor: float) -> Box:
        """The box of u/factor, factor > 0."""
        with np.errstate(over="ignore"):
            return Box(self.lower / factor, self.upper / factor)


@dataclass(frozen=True, eq=False)
class Discs:
    """|u_k| ≤ ū_k for stacked complex inputs; inf where there is no limit.

    Attributes
    ----------
    radius : (n/2,) float64
    """

    radius: Array

    @property
    def size(self) -> int:
        """Number of real entries n, two per complex input."""
        return 2 * int(self.radius.size)

    @property
    def bounded(self) -> Array:
        """Which of the n/2 discs are finite."""
        return np.isfinite(self.radius)

    def nearest(self, inputs: Array) -> Array:
        """Scale every complex input that is too large down to its disc."""
        size, half = moduli(inputs), self.radius.size
        # Off the axes a modulus is rounded, by up to two ulp in vectorised arithmetic.
        rounded = (inputs[:half] != 0.0) & (inputs[half:] != 0.0)
        outside = size > np.where(rounded, self.radius * (1.0 - 3.0 * _EPS), self.radius)
        if not outside.any():
            return inputs
        factor = np.ones(half)
        np.divide(self.radius * (1.0 - 5.0 * _EPS), size, out=factor, where=outside)
        on_axis = outside & ~rounded
        np.divide(self.radius, size, out=factor, where=on_axis)
        found = inputs * np.tile(factor, 2)
        limit = np.tile(self.radius, 2)
        found = np.where(np.tile(on_axis, 2), np.clip(found, -limit, limit), found)
        # Only subnormal limits leave no room.
        return np.where(np.tile(self._outside(found), 2), 0.0, found)

    def _outside(self, inputs: Array) -> Array:
        """Which moduli exceed their limits, in exact numbers."""
        size, half = moduli(inputs), self.radius.size
        outside = size > self.radius * (1.0 + 4.0 * _EPS)
        doubtful = ~outside & (size > self.radius * (1.0 - 2.0 * _EPS)) & np.isfinite(self.radius)
        for k in np.flatnonzero(doubtful & (size > 0.0)).tolist():
            square = Fraction(float(inputs[k])) ** 2 + Fraction(float(inputs[k + half])) ** 2
            outside[k] = square > Fraction(float(self.radius[k])) ** 2
        return np.asarray(outside | np.isnan(size))

    def support(self, gradient: Array) -> float:
        """max gᵀu over the discs: Σ ū_k |g_k|."""
        size = moduli(gradient)
        moving = size != 0.0
        return float(size[moving] @ self.radius[moving])

    def contains(self, inputs: Array) -> bool:
        """True when no modulus exceeds its limit, in exact numbers."""
        return not self._outside(inputs).any()

    def scaled(self, factor: float) -> Discs:
        """The discs of u/factor, factor > 0."""
        with np.errstate(over="ignore"):
            return Discs(self.radius / factor)


Domain = Box | Discs


def box(lower: ArrayLike, upper: ArrayLike, size: int) -> Box:
    """Check and broadcast limits l ≤ u ≤ h to ``size`` entries.

    Raises
    ------
    InvalidInputError
        NaN, a wrong number of entries, or a lower limit above its upper limit.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import box
    >>> box(-1.0, [0.5, np.inf], 2).nearest(np.array([3.0, 3.0]))
    array([0.5, 3. ])
    """
    low, high = _entries(lower, "lower", size), _entries(upper, "upper", size)
    crossed = np.flatnonzero(low > high)
    if crossed.size:
        k = int(crossed[0])
        raise InvalidInputError(
            f"lower must be ≤ upper, got {low[k]} > {high[k]} at entry {k}; swap or widen them"
        )
    if np.any(low == np.inf) or np.any(high == -np.inf):
        raise InvalidInputError("lower must be < inf and upper > -inf: no input lies beyond them")
    return Box(read_only(low), read_only(high))


def discs(radius: ArrayLike, size: int) -> Discs:
    """Check and broadcast modulus limits |u_k| ≤ ū_k to ``size`` complex inputs.

    Raises
    ------
    InvalidInputError
        NaN, negative, or a wrong number of entries.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import discs
    >>> discs(1.0, 1).nearest(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    limits = _entries(radius, "radius", size)
    if np.any(limits < 0):
        raise InvalidInputError(f"radius must be ≥ 0, got {limits.min()}; give a modulus limit")
    return Discs(read_only(limits))


def _entries(value: ArrayLike, name: str, size: int) -> Array:
    try:
        entries = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} must be real numbers or ±inf, got {value!r}") from None
    if entries.ndim == 0:
        entries = np.full(size, entries[()])
    if entries.shape != (size,):
        raise InvalidInputError(f"{name} must have {size} entries, got shape {entries.shape}")
    if np.isnan(entries).any():
        raise InvalidInputError(f"{name} must be numbers or ±inf, got NaN; replace it")
    return entries
