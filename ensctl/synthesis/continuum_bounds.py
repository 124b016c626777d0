"""How large the error can be between the points where it was looked at.

Four ways, the first that applies: the error is a polynomial (or differs from one by a proved
remainder), and a polynomial of degree d that is at most s in size at the M + 1 points cos(πj/M) is
nowhere larger than s/cos(πd/2M) (Ehlich, Zeller, Math. Z. 86 (1964) 41–44); a bound of a
derivative of the target; or, without either, peaks on a fine grid: an estimate, and called one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebder
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError
from ensctl.synthesis.chebyshev_basis import clenshaw
from ensctl.synthesis.continuum_errors import error_function, powers_as_chebyshev
from ensctl.synthesis.continuum_peaks import peaks
from ensctl.synthesis.continuum_region import Interval
from ensctl.synthesis.continuum_series import Series, series_of
from ensctl.synthesis.continuum_task import ContinuumTask

Array = NDArray[Any]

_UNIT = 2.0**-53
# Points for each degree, and never more in all: a factor of 1 + 1.3e-6 at best.
_POINTS_PER_DEGREE = 1000
_MOST_POINTS = 400_000
_CHUNK = 4_000_000
_CELLS = 1_000_000
_ESTIMATE = 1.001
# Remainders of series this far below the error do not show.
_FINE = 1e-8


@dataclass(frozen=True)
class SupBound:
    """A bound of max|e|.

    Attributes
    ----------
    value : float
    method : str
        "polynomial", "analytic", "derivative" or "sampled".
    rigorous : bool
        False for "sampled".
    """

    value: float
    method: str
    rigorous: bool


def sup_bound(
    task: ContinuumTask,
    powers: Array,
    sup_error: float,
    derivative_bound: tuple[int, float] | None,
) -> SupBound:
    """A bound of |target(λ) − x_H(λ)| over the region, for the exact recursion.

    Parameters
    ----------
    task : ContinuumTask
        What is asked.
    powers : (H,) array
        Coefficients of λ^k as they will be sent.
    sup_error : float
        The largest error seen, which decides how fine the proof has to be.
    derivative_bound : (int, float), optional
        Order k and a bound of the k-th derivative of the target by λ (by the angle on an arc).

    Returns
    -------
    SupBound
    """
    region = task.region
    if isinstance(region, Interval) and not np.iscomplexobj(powers):
        model = _model(task, powers, region, sup_error)
        if model is not None:
            return model.bound(derivative_bound)
    return SupBound(_ESTIMATE * _seen(task, powers, sup_error), "sampled", False)


@dataclass(frozen=True, eq=False)
class _Model:
    """e = f − (b p + λ^H x_0): f as a series or as a function, the rest always as series."""

    task: ContinuumTask
    region: Interval
    target: Series | None
    gain: Series
    inputs: Series
    start: Series
    drift: Series

    @property
    def degree(self) -> int:
        """Of b p + λ^H x_0."""
        drift = self.drift.degree + self.start.degree if self.start.bound > 0 else 0
        return max(self.gain.degree + self.inputs.degree, drift)

    def bound(self, derivative: tuple[int, float] | None) -> SupBound:
        if self.target is not None:
            values, doubt = self.on_grid(*_grid(max(self.degree, self.target.degree)))
            exact = self.task.target.chebyshev is not None
            method = "polynomial" if exact and self.gain_is_exact() else "analytic"
            return SupBound(values + doubt + self.target.remainder, method, True)
        if derivative is None:
            seen = _ESTIMATE * _seen_by(self, _dense_grid(self.degree))
            return SupBound(seen, "sampled", False)
        return SupBound(_by_derivative(self, *derivative), "derivative", True)

    def gain_is_exact(self) -> bool:
        """Whether b and x_0 are polynomials too."""
        return self.task.gain.chebyshev is not None and self.task.start.chebyshev is not None

    def on_grid(self, count: int, factor: float) -> tuple[float, float]:
        """max|e| by the values at cos(πj/M), and what rounding and remainders add."""
        table = _cosines(count)
        largest = 0.0
        series = self.target
        width = max(self.degree, 0 if series is None else series.degree) + 1
        step = max(1, _CHUNK // width)
        for first in range(0, count + 1, step):
            j = np.arange(first, min(count + 1, first + step))
            moved = _at(self.gain, table, j, count) * _at(self.inputs, table, j, count)
            if self.start.bound > 0:
                moved = moved + _at(self.start, table, j, count) * _at(self.drift, table, j, count)
            wanted = 0.0 if series is None else _at(series, table, j, count)
            largest = max(largest, float(np.abs(wanted - moved).max()))
        return largest * factor, self.doubt() * factor

    def doubt(self) -> float:
        """Rounding of the sums of cosines, and the remainders of b, p and x_0."""
        terms = [self.target] if self.target is not None else []
        total = sum(_rounding(s) for s in terms)
        pairs = [(self.gain, self.inputs)]
        pairs += [(self.start, self.drift)] if self.start.bound > 0 else []
        for one, other in pairs:
            total += (_rounding(one) + one.remainder) * other.bound
            total += (_rounding(other) + other.remainder) * one.bound
            total += 4.0 * _UNIT * one.bound * other.bound
        return total

    def moved(self, t: Array) -> Array:
        """b p + λ^H x_0 at t."""
        out = clenshaw(self.gain.coefficients, t) * clenshaw(self.inputs.coefficients, t)
        if self.start.bound > 0:
            out = out + clenshaw(self.start.coefficients, t) * clenshaw(self.drift.coefficients, t)
        return np.asarray(out)


def _model(task: ContinuumTask, powers: Array, region: Interval, sup_error: float) -> _Model | None:
    size = float(np.abs(task.target(region.at(np.linspace(-1.0, 1.0, 65)))).max())
    accuracy = max(_FINE * sup_error, 1e-18 * size)
    gain = series_of(task.gain, region, 1e-3 * accuracy)
    start = series_of(task.start, region, 1e-3 * accuracy)
    if gain is None or start is None:
        return None
    cheb = powers_as_chebyshev(powers, region)
    inputs = Series(cheb, _UNIT * float(np.abs(cheb).sum()))
    monomial = np.zeros(task.horizon + 1)
    monomial[-1] = 1.0
    drift_cheb = powers_as_chebyshev(monomial, region) if start.bound > 0 else np.zeros(1)
    drift = Series(drift_cheb, _UNIT * float(np.abs(drift_cheb).sum()))
    target = series_of(task.target, region, accuracy)
    return _Model(task, region, target, gain, inputs, start, drift)


def _grid(degree: int) -> tuple[int, float]:
    """M and 1/cos(πd/2M)."""
    count = min(_POINTS_PER_DEGREE * max(degree, 1), _MOST_POINTS)
    count = max(count, 4 * degree)
    return count, (1 + 1e-14) / math.cos(math.pi * degree / (2 * count))


def _at(series: Series, table: Array, j: Array, count: int) -> Array:
    """Σ c_k cos(kπj/M), every cosine from one table."""
    out = np.zeros(j.size)
    for k, c in enumerate(series.coefficients):
        if c != 0.0:
            out += c * table[(k * j) % (2 * count)]
    return out


def _cosines(count: int) -> Array:
    """cos(πj/M), j < 2M, right to 2 ulp of 1: from angles ≤ π/4, whose rounding is small."""
    j = np.arange(2 * count)
    j = np.minimum(j, 2 * count - j)
    beyond = 2 * j > count
    k = np.where(beyond, count - j, j)
    cosines = np.cos(math.pi * k / count)
    sines = np.sin(math.pi * (count - 2 * k) / (2 * count))
    out = np.where(4 * k <= count, cosines, sines)
    return np.where(beyond, -out, out)


def _rounding(series: Series) -> float:
    """Σ c_k cos(·) in float64: n + 3 roundings, and 2 ulp of every cosine."""
    size = float(np.abs(series.coefficients).sum())
    return (series.degree + 7.0) * _UNIT * size * (1 + 1e-10)


def _dense_grid(degree: int) -> Array:
    count = max(20_001, 200 * (degree + 1) + 1)
    grid = -np.cos(math.pi * np.arange(count) / (count - 1))
    grid[count // 2] = 0.0
    return grid


def _seen_by(model: _Model, grid: Array) -> float:
    task = model.task

    def error(t: Array) -> Array:
        return np.asarray(task.target(task.region.at(t)) - model.moved(t))

    return float(np.abs(peaks(error, grid)[1]).max())


def _seen(task: ContinuumTask, powers: Array, sup_error: float) -> float:
    """Largest error on a finer grid than the one the input was found with."""
    count = max(20_001, 200 * task.horizon + 1)
    error = error_function(task, powers)
    return max(sup_error, float(np.abs(peaks(error, task.region.chebyshev(count))[1]).max()))


def _by_derivative(model: _Model, order: int, bound: float) -> float:
    """Pieces on which the target is close to a polynomial of degree order − 1."""
    task, region = model.task, model.region
    doubt = model.doubt() + 4 * _UNIT * model.inputs.bound * model.gain.bound
    if order == 1:
        cell = 2.0 * region.half / _CELLS
        slope = _slope(model) / region.half
        t = (2.0 * np.arange(_CELLS) + 1.0) / _CELLS - 1.0
        size = largest = 0.0
        for part in np.array_split(t, 16):
            lam = region.at(part)
            wanted = task.target(lam)
            # Far from 0, λ on float64 is not where t said: the inputs are taken where it is.
            size = max(size, float(np.abs(wanted - model.moved(region.parameter(lam))).max()))
            largest = max(largest, float(np.abs(wanted).max()))
            _require_slope(wanted, lam, bound, largest)
        reach = 0.5 * cell * (1.0 + 1e-9) + 4.0 * _UNIT * region.radius
        return size + reach * (bound + slope) + doubt + 4.0 * _UNIT * largest
    return _by_interpolation(model, order, bound) + doubt


def _require_slope(wanted: Array, lam: Array, bound: float, largest: float) -> None:
    """Refuse a bound that neighbouring values of the target contradict."""
    doubt = 16.0 * _UNIT * (largest + bound * float(np.abs(lam).max()))
    excess = np.abs(np.diff(wanted)) - bound * np.diff(lam) - doubt
    worst = int(np.argmax(excess))
    if excess[worst] > 0.0:
        slope = abs(wanted[worst + 1] - wanted[worst]) / (lam[worst + 1] - lam[worst])
        raise InvalidInputError(
            f"derivative_bound must be at least |target'|, got {bound:g} but a slope of "
            f"{slope:.4g} near λ = {lam[worst]:.8g}; raise it"
        )


def _slope(model: _Model) -> float:
    """A bound of |d(b p + λ^H x_0)/dt|."""
    pairs = [(model.gain, model.inputs)]
    pairs += [(model.start, model.drift)] if model.start.bound > 0 else []
    total = 0.0
    for one, other in pairs:
        for first, second in ((one, other), (other, one)):
            derivative = chebder(first.coefficients)
            count, factor = _grid(max(1, derivative.size))
            count = min(count, 20_000)
            t = np.cos(math.pi * np.arange(count + 1) / count)
            factor = 1.01 / math.cos(
                math.pi * derivative.size / (2 * max(count, derivative.size * 2))
            )
            total += factor * float(np.abs(clenshaw(derivative, t)).max()) * second.bound
    return total


def _by_interpolation(model: _Model, order: int, bound: float) -> float:
    """On pieces of length h: f within 2 (h/4)^k D/k! of its interpolant in k Chebyshev points."""
    task, region = model.task, model.region
    length = 2.0 * region.half
    pieces, enough = 1, 1e-4 * _scale(model)
    while pieces < 4096 and _piece_error(length / pieces, order, bound) > enough:
        pieces *= 2
    degree = max(order - 1, model.degree)
    count = 40 * degree
    factor = 1.0 / math.cos(math.pi * degree / (2 * count))
    nodes = np.cos(math.pi * (2 * np.arange(order) + 1) / (2 * order))
    inside = np.cos(math.pi * np.arange(count + 1) / count)
    from numpy.polynomial.chebyshev import chebvander

    to_inside = chebvander(inside, order - 1) @ np.linalg.inv(chebvander(nodes, order - 1))
    largest = steepest = 0.0
    for k in range(pieces):
        middle, half = (2.0 * k + 1.0) / pieces - 1.0, 1.0 / pieces
        values = task.target(region.at(middle + half * nodes))
        steepest = max(steepest, float(np.abs(np.diff(values) / np.diff(half * nodes)).max()))
        f = to_inside @ values
        largest = max(largest, float(np.abs(f - model.moved(middle + half * inside)).max()))
    # λ on float64 lies this far, in t, from where a node was meant.
    off = 2.0 * _UNIT * (1.0 + region.radius / region.half)
    lebesgue = 2.0 / math.pi * math.log(order) + 1.0
    size = float(np.abs(task.target(region.at(nodes))).max())
    return (
        largest * factor
        + _piece_error(length / pieces, order, bound)
        + lebesgue * (16.0 * order * _UNIT * size + 2.0 * off * steepest)
    )


def _piece_error(length: float, order: int, bound: float) -> float:
    return 2.0 * (length / 4.0) ** order * bound / math.factorial(order)


def _scale(model: _Model) -> float:
    return max(_seen_by(model, _dense_grid(8)), 1e-16)
