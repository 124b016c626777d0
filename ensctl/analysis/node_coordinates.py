"""Free real parameters of nodes that stay in their region, with symmetry and gains built in.

A bounded interval is λ = m + h sin θ, a half line a ± x², a circle c + r e^{iθ}, a disk polar with
radius r sin s: borders are reached, never crossed, and every parameter may take any real value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_regions import Annulus, Circle, Disk, Interval, Rates, Region

Array = NDArray[Any]

# Starting points keep this distance from borders (relative), where sin and x² have no slope.
_OFF_BORDER = 1e-4
# d log((e^z − 1)/z)/dz from its series below this |z|.
_SERIES = 1e-3


@dataclass(frozen=True, eq=False)
class Chart:
    """Parameters of single points of a continuous region."""

    region: Interval | Disk | Circle | Annulus

    @property
    def dimension(self) -> int:
        """Real parameters for each point."""
        return 1 if isinstance(self.region, Interval | Circle) else 2

    def parameters(self, points: Array) -> Array:
        """(k, d) parameters of points (k,), moved off the borders a little."""
        region = self.region
        if isinstance(region, Interval):
            return _interval_parameters(region, points.real)[:, None]
        arm = points - region.center
        angle = np.angle(arm)[:, None]
        if isinstance(region, Circle):
            return angle
        inner, outer = _radii(region)
        return np.hstack([_arcsine(np.abs(arm), inner, outer)[:, None], angle])

    def points(self, parameters: Array) -> tuple[Array, Array]:
        """Points (k,) and their derivatives (k, d)."""
        region = self.region
        if isinstance(region, Interval):
            value, slope = _interval_points(region, parameters[:, 0])
            return value, slope[:, None]
        turn = np.exp(1j * parameters[:, -1])
        if isinstance(region, Circle):
            arm = region.radius * turn
            return region.center + arm, (1j * arm)[:, None]
        inner, outer = _radii(region)
        middle, half = 0.5 * (outer + inner), 0.5 * (outer - inner)
        radius = middle + half * np.sin(parameters[:, 0])
        along = half * np.cos(parameters[:, 0]) * turn
        return region.center + radius * turn, np.stack([along, 1j * radius * turn], axis=1)


@dataclass(frozen=True, eq=False)
class Placement:
    """Nodes and logarithms of gains at one point of the parameters, with their derivatives.

    Attributes
    ----------
    points : (N,)
        Numbers in the region: λ, or rates.
    lam : (N,)
        λ.
    log_gain : (N,)
        log|b|.
    lam_slopes : (N, n)
        ∂λ/∂x.
    gain_slopes : (N, n)
        ∂ log|b|/∂x.
    """

    points: Array
    lam: Array
    log_gain: Array
    lam_slopes: Array
    gain_slopes: Array


@dataclass(frozen=True, eq=False)
class Coordinates:
    """How a parameter vector becomes nodes: fixed ones first, then free ones, then gains.

    Attributes
    ----------
    region : Region
        Where free nodes lie.
    fixed : (F,)
        Points that stay.
    points : (n_free,)
        Where the free nodes start, in the symmetry.
    source : (n_free,) int
        Which representative each free node comes from; −1 for a constant.
    sign : (n_free,) float64
        −1 for mirror images, else 1.
    conjugate : (n_free,) bool
        Conjugate images.
    real : (n_representatives,) bool
        Representatives that stay on the real axis of a region in the plane.
    constants : (n_free,)
        Values where ``source`` is −1.
    log_gain : (N,)
        log|g| of the gains given.
    free_gains : bool
        Whether the gains are parameters (Σ|g|² is kept).
    tie : (N,) int
        Members with the same number share one gain parameter.
    """

    region: Region
    fixed: Array
    points: Array
    source: Array
    sign: Array
    conjugate: Array
    real: Array
    constants: Array
    log_gain: Array
    free_gains: bool
    tie: Array

    @property
    def _plain(self) -> Any:
        return self.region.region if isinstance(self.region, Rates) else self.region

    @cached_property
    def _first(self) -> Array:
        """The free node that each representative is, itself."""
        known, first = np.unique(self.source, return_index=True)
        return first[known >= 0]

    @cached_property
    def _sides(self) -> list[Interval]:
        """Where on the real axis the real representatives lie."""
        return [self._section(z) for z in self.points[self._first][self.real]]

    def start(self) -> Array:
        """Parameters of the free points given."""
        chosen = self.points[self._first]
        parts = []
        if not np.all(self.real):
            parts.append(Chart(self._plain).parameters(chosen[~self.real]).ravel())
        for z, side in zip(chosen[self.real], self._sides, strict=True):
            parts.append(_interval_parameters(side, np.array([z.real])))
        if self.free_gains:
            parts.append(np.zeros(int(self.tie.max()) + 1))
        return np.concatenate([*parts, np.zeros(0)])

    def placement(self, x: Array) -> Placement:
        """Nodes and gains at x, with their derivatives."""
        values, slopes = self._representatives(x)
        moved = self.source >= 0
        free = np.where(moved, values[self.source], self.constants)
        free_slopes = np.where(moved[:, None], slopes[self.source], 0.0) * self.sign[:, None]
        free = free * np.where(moved, self.sign, 1.0)
        if np.any(self.conjugate):
            free = np.where(self.conjugate, free.conj(), free)
            free_slopes = np.where(self.conjugate[:, None], free_slopes.conj(), free_slopes)
        points = np.concatenate([self.fixed, free])
        jacobian = np.concatenate([np.zeros((self.fixed.size, x.size)), free_slopes])
        log_gain, by_gain = self._gains(x)
        lam = points
        if isinstance(self.region, Rates):
            lam, growth, weight, weight_slope = hold(points, self.region.dt)
            log_gain = log_gain + weight
            by_gain = by_gain + (weight_slope[:, None] * jacobian).real
            jacobian = growth[:, None] * jacobian
        return Placement(points, lam, log_gain, jacobian, by_gain)

    def _section(self, z: complex) -> Interval:
        """The real points of the region on the side of z."""
        plain = self._plain
        center = float(np.real(plain.center))
        if isinstance(plain, Disk):
            return Interval(center - plain.radius, center + plain.radius)
        if np.real(z) >= center:
            return Interval(center + plain.inner, center + plain.outer)
        return Interval(center - plain.outer, center - plain.inner)

    def _representatives(self, x: Array) -> tuple[Array, Array]:
        """Values (k,) of all representatives and their derivatives (k, n)."""
        free = np.flatnonzero(~self.real)
        if self.real.size == 0:
            return np.zeros(1), np.zeros((1, x.size))
        chart = Chart(self._plain)
        size = free.size * chart.dimension
        z, dz = chart.points(x[:size].reshape(free.size, chart.dimension))
        # One zero behind the last, for nodes that have no representative (source −1).
        values = np.zeros(self.real.size + 1, dtype=z.dtype)
        slopes = np.zeros((self.real.size + 1, x.size), dtype=dz.dtype)
        values[free] = z
        for axis in range(chart.dimension):
            slopes[free, np.arange(free.size) * chart.dimension + axis] = dz[:, axis]
        places = zip(np.flatnonzero(self.real), self._sides, strict=True)
        for column, (k, side) in enumerate(places, start=size):
            value, slope = _interval_points(side, x[column : column + 1])
            values[k], slopes[k, column] = value[0], slope[0]
        return values, slopes

    def _gains(self, x: Array) -> tuple[Array, Array]:
        """log|g| with Σ|g|² kept, and its derivatives."""
        slopes = np.zeros((self.log_gain.size, x.size))
        if not self.free_gains:
            return self.log_gain, slopes
        ties = int(self.tie.max()) + 1
        own = x[-ties:][self.tie]
        power = np.exp(2.0 * (self.log_gain - self.log_gain.max()))
        scaled = power * np.exp(2.0 * (own - own.max()))
        level = 0.5 * math.log(power.sum() / scaled.sum()) - float(own.max())
        member = np.zeros((self.log_gain.size, ties))
        member[np.arange(self.tie.size), self.tie] = 1.0
        slopes[:, -ties:] = member - (scaled / scaled.sum()) @ member
        return self.log_gain + own + level, slopes


def hold(rates: Array, dt: float) -> tuple[Array, Array, Array, Array]:
    """λ = e^{a dt}, dλ/da, log|(λ − 1)/a| and its complex derivative by a."""
    z = rates * dt
    lam = np.exp(z)
    small = np.abs(z) < _SERIES
    safe = np.where(small, 1.0, z)
    rise = np.expm1(safe)
    ratio = np.where(small, 1.0 + z / 2.0 + z * z / 6.0 + z * z * z / 24.0, rise / safe)
    slope = np.where(small, 0.5 + z / 12.0 - z**3 / 720.0, (rise + 1.0) / rise - 1.0 / safe)
    return lam, dt * lam, np.log(dt * np.abs(ratio)), dt * slope


def _radii(region: Disk | Annulus) -> tuple[float, float]:
    # A disk is run through from −r to r, so that a node can pass through the centre.
    if isinstance(region, Disk):
        return -region.radius, region.radius
    return region.inner, region.outer


def _arcsine(values: Array, low: float, high: float) -> Array:
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    inside = np.clip((values - middle) / half, -1.0 + _OFF_BORDER, 1.0 - _OFF_BORDER)
    return np.asarray(np.arcsin(inside))


def _interval_parameters(region: Interval, values: Array) -> Array:
    low, high = region.low, region.high
    if math.isfinite(low) and math.isfinite(high):
        return _arcsine(values, low, high)
    if math.isfinite(low):
        return np.sqrt(np.maximum(values - low, _OFF_BORDER))
    if math.isfinite(high):
        return np.sqrt(np.maximum(high - values, _OFF_BORDER))
    return values


def _interval_points(region: Interval, x: Array) -> tuple[Array, Array]:
    low, high = region.low, region.high
    if math.isfinite(low) and math.isfinite(high):
        half = 0.5 * (high - low)
        return low + half + half * np.sin(x), half * np.cos(x)
    if math.isfinite(low):
        return low + x * x, 2.0 * x
    if math.isfinite(high):
        return high - x * x, -2.0 * x
    return x, np.ones_like(x)
