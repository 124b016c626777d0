"""Where the λ of a continuum lie: an interval of the real line or an arc of a circle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_regions import Interval as NodeInterval
from ensctl.arguments import as_scalar
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


@dataclass(frozen=True)
class Interval:
    """The interval low ≤ λ ≤ high, with λ(t) = (low + high)/2 + t (high − low)/2.

    Attributes
    ----------
    low, high : float
        Ends, low < high.
    """

    low: float
    high: float

    @property
    def centre(self) -> float:
        """(low + high)/2."""
        return 0.5 * (self.low + self.high)

    @cached_property
    def half(self) -> float:
        """(high − low)/2, an ulp more where centre ± half would leave out an end."""
        centre = Fraction(self.centre)
        reach = max(centre - Fraction(self.low), Fraction(self.high) - centre)
        half = float(reach)
        return half if Fraction(half) >= reach else math.nextafter(half, math.inf)

    @property
    def radius(self) -> float:
        """Largest |λ|."""
        return max(abs(self.low), abs(self.high))

    @property
    def is_real(self) -> bool:
        """True."""
        return True

    @property
    def text(self) -> str:
        """For messages."""
        return f"[{self.low:g}, {self.high:g}]"

    def at(self, t: Array) -> Array:
        """λ at t ∈ [−1, 1]; the ends are met exactly."""
        inner = self.centre + self.half * np.asarray(t, dtype=float)
        return np.clip(inner, self.low, self.high)

    def parameter(self, lam: Array) -> Array:
        """t of λ."""
        return np.clip((np.asarray(lam, dtype=float) - self.centre) / self.half, -1.0, 1.0)

    def chebyshev(self, count: int) -> Array:
        """``count`` ≥ 2 values of t, dense at the ends as the peaks of an error are."""
        return -np.cos(math.pi * np.arange(count) / (count - 1))


@dataclass(frozen=True)
class Arc:
    """An arc of a circle: λ = radius·e^{iθ}, start ≤ θ ≤ end (radians).

    Parameters
    ----------
    start, end : float
        Angles in radians, start < end ≤ start + 2π.
    radius : float
        > 0.

    Notes
    -----
    On a whole circle polynomials reach only targets without negative frequencies: the error of
    anything else stays above a floor at every horizon.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.Arc(0.0, 1.5).radius
    1.0
    """

    start: float
    end: float
    radius: float = 1.0

    def __post_init__(self) -> None:
        start, end = as_scalar(self.start, "start"), as_scalar(self.end, "end")
        as_scalar(self.radius, "radius", above=0.0)
        if not start < end <= start + 2.0 * math.pi * (1 + 1e-15):
            raise InvalidInputError(
                f"end must lie in (start, start + 2π], got start {start:g} and end {end:g}"
            )

    @property
    def is_real(self) -> bool:
        """False: members of an arc are complex."""
        return False

    @property
    def text(self) -> str:
        """For messages."""
        circle = "" if self.radius == 1.0 else f", |λ| = {self.radius:g}"
        return f"the arc of angles [{self.start:g}, {self.end:g}]{circle}"

    def at(self, t: Array) -> Array:
        """λ at t ∈ [−1, 1]."""
        angle = 0.5 * (self.start + self.end) + 0.5 * (self.end - self.start) * np.asarray(t)
        return self.radius * np.exp(1j * angle)

    def parameter(self, lam: Array) -> Array:
        """t of λ."""
        middle = 0.5 * (self.start + self.end)
        turn = np.angle(np.asarray(lam) * np.exp(-1j * middle))
        return np.clip(2.0 * turn / (self.end - self.start), -1.0, 1.0)

    def chebyshev(self, count: int) -> Array:
        """``count`` ≥ 2 values of t: dense at the ends, evenly spread on a whole circle."""
        if self.end - self.start > 1.999 * math.pi:
            return np.linspace(-1.0, 1.0, count)
        return -np.cos(math.pi * np.arange(count) / (count - 1))


Region = Interval | Arc


def as_region(value: Any) -> Region:
    """An Arc as it is; a pair of numbers, or a region to choose λ from, as an interval."""
    if isinstance(value, Arc | Interval):
        return value
    if isinstance(value, NodeInterval):
        value = (value.low, value.high)
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or len(value) != 2:
        raise InvalidInputError(f"interval must be a pair (low, high) or an Arc, got {value!r}")
    low, high = as_scalar(value[0], "interval"), as_scalar(value[1], "interval")
    if not low < high:
        raise InvalidInputError(
            f"interval must have low < high, got ({low:g}, {high:g}); it holds no interval of λ"
        )
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        raise InvalidInputError(
            f"interval must be wider than rounding, got ({low!r}, {high!r}); use steer for one λ"
        )
    return Interval(low, high)
