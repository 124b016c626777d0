"""Where λ may be chosen: intervals, disks, circles, annuli, candidate sets, continuous rates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_scalar, as_vector, read_only
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# Points this close (relative) to a border count as inside.
_EDGE = 1e-12


@dataclass(frozen=True)
class Interval:
    """The real interval [low, high]; an end may be infinite.

    Parameters
    ----------
    low, high : float
        Ends, low < high; −inf and inf leave the magnitude free.

    Attributes
    ----------
    low, high
        As given.

    Raises
    ------
    InvalidInputError
        The interval is empty or a single point, or an end is not a number.

    Examples
    --------
    >>> import ensctl as ec
    >>> print(ec.Interval(0.0, float("inf")))
    [0, ∞)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, _extended(getattr(self, name), name))
        if not self.low < self.high or self.low == math.inf or self.high == -math.inf:
            raise InvalidInputError(
                f"low must be below high, got [{self.low:g}, {self.high:g}]: the interval is "
                f"empty or a single point; exchange or widen its ends"
            )

    def contains(self, points: ArrayLike) -> Array:
        """Whether each point lies in the interval (borders within 1e-12 relative count).

        Parameters
        ----------
        points : (k,) array_like
            Real or complex numbers.

        Returns
        -------
        (k,) bool
        """
        values = as_array(points, "points")
        slack = _EDGE * max([1.0, *(abs(x) for x in (self.low, self.high) if math.isfinite(x))])
        real = values.real
        inside = (real >= self.low - slack) & (real <= self.high + slack)
        return np.asarray(inside & (values.imag == 0))

    def __str__(self) -> str:
        left = "(−∞" if self.low == -math.inf else f"[{self.low:g}"
        right = "∞)" if self.high == math.inf else f"{self.high:g}]"
        return f"{left}, {right}"


@dataclass(frozen=True)
class Disk:
    """The disk |λ − center| ≤ radius.

    Parameters
    ----------
    radius : float
        Radius, > 0.
    center : complex
        Centre.

    Attributes
    ----------
    radius, center
        As given.

    Raises
    ------
    InvalidInputError
        The radius is not a positive number, or the centre is not finite.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.Disk(0.9).contains([0.5j, 0.8 + 0.8j]).tolist()
    [True, False]
    """

    radius: float = 1.0
    center: complex = 0.0

    def __post_init__(self) -> None:
        _round(self, "radius")

    def contains(self, points: ArrayLike) -> Array:
        """Whether each point lies in the disk (the border within 1e-12 relative counts).

        Parameters
        ----------
        points : (k,) array_like
            Real or complex numbers.

        Returns
        -------
        (k,) bool
        """
        distance = np.abs(as_array(points, "points") - self.center)
        return np.asarray(distance <= self.radius * (1.0 + _EDGE))

    def __str__(self) -> str:
        return f"disk |λ{_shifted(self.center)}| ≤ {self.radius:g}"


@dataclass(frozen=True)
class Circle:
    """The circle |λ − center| = radius.

    Parameters
    ----------
    radius : float
        Radius, > 0.
    center : complex
        Centre.

    Attributes
    ----------
    radius, center
        As given.

    Raises
    ------
    InvalidInputError
        The radius is not a positive number, or the centre is not finite.

    Examples
    --------
    >>> import ensctl as ec
    >>> print(ec.Circle())
    circle |λ| = 1
    """

    radius: float = 1.0
    center: complex = 0.0

    def __post_init__(self) -> None:
        _round(self, "radius")

    def contains(self, points: ArrayLike) -> Array:
        """Whether each point lies on the circle, within 1e-12 of its radius.

        Parameters
        ----------
        points : (k,) array_like
            Real or complex numbers.

        Returns
        -------
        (k,) bool
        """
        distance = np.abs(as_array(points, "points") - self.center)
        return np.asarray(np.abs(distance - self.radius) <= _EDGE * self.radius)

    def __str__(self) -> str:
        return f"circle |λ{_shifted(self.center)}| = {self.radius:g}"


@dataclass(frozen=True)
class Annulus:
    """The ring inner ≤ |λ − center| ≤ outer.

    Parameters
    ----------
    inner, outer : float
        Radii, 0 ≤ inner < outer.
    center : complex
        Centre.

    Attributes
    ----------
    inner, outer, center
        As given.

    Raises
    ------
    InvalidInputError
        The radii are not in order, or the centre is not finite.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.Annulus(0.5, 0.9).contains([0.2, -0.7]).tolist()
    [False, True]
    """

    inner: float
    outer: float
    center: complex = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "inner", as_scalar(self.inner, "inner", at_least=0.0))
        _round(self, "outer")
        if not self.inner < self.outer:
            raise InvalidInputError(
                f"inner must be below outer, got {self.inner:g} and {self.outer:g}; for equal "
                f"radii take Circle"
            )

    def contains(self, points: ArrayLike) -> Array:
        """Whether each point lies in the ring (borders within 1e-12 relative count).

        Parameters
        ----------
        points : (k,) array_like
            Real or complex numbers.

        Returns
        -------
        (k,) bool
        """
        distance = np.abs(as_array(points, "points") - self.center)
        slack = _EDGE * self.outer
        return np.asarray((distance >= self.inner - slack) & (distance <= self.outer + slack))

    def __str__(self) -> str:
        return f"annulus {self.inner:g} ≤ |λ{_shifted(self.center)}| ≤ {self.outer:g}"


@dataclass(frozen=True, eq=False)
class Candidates:
    """An explicit set of numbers to choose from.

    Parameters
    ----------
    values : (M,) array_like
        Candidates, real or complex; repeated ones count once.

    Attributes
    ----------
    values : (M,) ndarray
        The distinct candidates in the order given.

    Raises
    ------
    InvalidInputError
        Not a finite vector with at least one entry.

    Examples
    --------
    >>> import ensctl as ec
    >>> print(ec.Candidates([0.1, 0.2, 0.2]))
    2 candidates
    """

    values: Array

    def __post_init__(self) -> None:
        given = as_vector(self.values, "values")
        _, first = np.unique(given + 0.0, return_index=True)
        object.__setattr__(self, "values", read_only(given[np.sort(first)]))

    def contains(self, points: ArrayLike) -> Array:
        """Whether each point is one of the candidates, exactly.

        Parameters
        ----------
        points : (k,) array_like
            Real or complex numbers.

        Returns
        -------
        (k,) bool
        """
        return np.isin(as_array(points, "points"), self.values)

    def __str__(self) -> str:
        count = self.values.size
        return "1 candidate" if count == 1 else f"{count} candidates"


PlainRegion = Interval | Disk | Circle | Annulus | Candidates


@dataclass(frozen=True, eq=False)
class Rates:
    """Continuous rates a from a region, sampled with a zero-order hold: λ = e^{a dt}.

    The gain of a member becomes b = g (λ − 1)/a.

    Parameters
    ----------
    region : Interval, Disk, Circle, Annulus or Candidates
        Where the rates a (1/time) may lie.
    dt : float
        Sampling time, > 0.

    Attributes
    ----------
    region, dt
        As given.

    Raises
    ------
    InvalidInputError
        ``region`` is not one of these regions, or ``dt`` is not a positive number.

    Examples
    --------
    >>> import ensctl as ec
    >>> print(ec.Rates(ec.Interval(-2.0, -0.1), dt=0.5))
    rates in [-2, -0.1] sampled every 0.5
    """

    region: PlainRegion
    dt: float = field(default=1.0)

    def __post_init__(self) -> None:
        if not isinstance(self.region, PlainRegion):
            raise InvalidInputError(
                f"region must be an Interval, Disk, Circle, Annulus or Candidates of rates, got "
                f"{type(self.region).__name__}"
            )
        object.__setattr__(self, "dt", as_scalar(self.dt, "dt", above=0.0))

    def contains(self, points: ArrayLike) -> Array:
        """Whether each rate a lies in the region of rates.

        Parameters
        ----------
        points : (k,) array_like
            Rates, real or complex.

        Returns
        -------
        (k,) bool
        """
        return self.region.contains(points)

    def __str__(self) -> str:
        return f"rates in {str(self.region).replace('λ', 'a')} sampled every {self.dt:g}"


Region = PlainRegion | Rates


def require_region(region: Any) -> Region:
    """A region as it is, a pair (low, high) as an interval; anything else is refused."""
    if isinstance(region, Region):
        return region
    if isinstance(region, tuple | list) and len(region) == 2:
        return Interval(*region)
    raise InvalidInputError(
        f"region must be a pair (low, high), Interval, Disk, Circle, Annulus, Candidates or Rates, "
        f"got {type(region).__name__}"
    )


def _extended(value: Any, name: str) -> float:
    """A real number, or an infinite end."""
    if isinstance(value, float) and math.isinf(value):
        return value
    return as_scalar(value, name)


def _round(region: Any, radius: str) -> None:
    object.__setattr__(region, radius, as_scalar(getattr(region, radius), radius, above=0.0))
    center = as_array(region.center, "center")
    if center.ndim:
        raise InvalidInputError(f"center must be one number, got shape {center.shape}")
    object.__setattr__(region, "center", center.item())


def _shifted(center: complex) -> str:
    if center == 0:
        return ""
    if center.imag == 0 and center.real < 0:
        return f" + {-center.real:g}"
    return f" − {center:g}"
