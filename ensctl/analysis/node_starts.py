"""Sets of points to compare with and to start from: obvious ones, and greedy (Leja) ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_regions import (
    Annulus,
    Candidates,
    Circle,
    Disk,
    Interval,
    PlainRegion,
    Rates,
    Region,
)
from ensctl.vandermonde.infinite import one_minus_product

Array = NDArray[Any]

# Unbounded regions are looked at through windows; rates through this many time constants.
_TIME_CONSTANTS = 4.0
_GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))


def plain(region: Region) -> PlainRegion:
    """The region of the numbers that are chosen: of the rates where there are any."""
    return region.region if isinstance(region, Rates) else region


def unit_scale(region: Region) -> float:
    """How far out an unbounded interval is looked at: |λ| = 1, or a few time constants."""
    return _TIME_CONSTANTS / region.dt if isinstance(region, Rates) else 1.0


def window(interval: Interval, scale: float) -> tuple[float, float]:
    """The part of an interval within ``scale`` of 0, or of the end it has."""
    low, high = interval.low, interval.high
    if math.isfinite(low) and math.isfinite(high):
        return low, high
    if math.isfinite(low):
        return low, max(scale, low + scale)
    if math.isfinite(high):
        return min(-scale, high - scale), high
    return -scale, scale


def obvious_sets(region: Region, count: int, rng: np.random.Generator) -> dict[str, Array]:
    """What one would take without thinking: equispaced, Chebyshev and random points."""
    inside = plain(region)
    if isinstance(inside, Candidates):
        return _obvious_candidates(inside.values, count, rng)
    if isinstance(inside, Interval):
        low, high = window(inside, unit_scale(region))
        where = "" if (low, high) == (inside.low, inside.high) else f" on [{low:g}, {high:g}]"
        found = {
            f"equispaced{where}": np.linspace(low, high, count),
            f"Chebyshev{where}": _onto(_chebyshev(count), low, high),
            f"random{where}": np.sort(rng.uniform(low, high, count)),
        }
        if isinstance(region, Rates):
            first, last = math.exp(low * region.dt), math.exp(high * region.dt)
            spread = np.log(np.linspace(first, last, count)) / region.dt
            found["equispaced in λ"] = np.clip(spread, low, high)
        return found
    radius = inside.outer if isinstance(inside, Annulus) else inside.radius
    circle = _turns(count, 0.0)
    angles = np.exp(1j * np.pi * _chebyshev(count))
    if isinstance(inside, Disk):
        # Chebyshev points of the real diameter, as one would take them for real members.
        angles = _chebyshev(count).astype(complex)
    return {
        "equispaced on the circle": inside.center + radius * circle,
        "Chebyshev": inside.center + radius * angles,
        "random": _random_points(inside, count, rng),
    }


def starting_sets(region: Region, count: int, rng: np.random.Generator) -> list[Array]:
    """Further sets of a continuous region: end points denser or not at all, several scales."""
    inside = plain(region)
    if isinstance(inside, Candidates):
        return []
    if isinstance(inside, Interval):
        bounded = math.isfinite(inside.low) and math.isfinite(inside.high)
        scales = (1.0,) if bounded else (0.8, 1.25, 1.6, 2.2)
        found = []
        for scale in scales:
            low, high = window(inside, scale * unit_scale(region))
            found += [_onto(_lobatto(count), low, high), _onto(_chebyshev(count), low, high)]
        return found
    turn = _turns(count, 0.5)
    if isinstance(inside, Circle):
        return [inside.center + inside.radius * turn, _random_points(inside, count, rng)]
    radius = inside.outer if isinstance(inside, Annulus) else inside.radius
    found = [inside.center + radius * turn, inside.center + 0.85 * radius * turn]
    if isinstance(inside, Disk) and count > 1:
        ring = _turns(count - 1, 0.0)
        found.append(inside.center + radius * np.append(ring, 0.0))
        spiral = np.arange(count)
        size = np.sqrt((spiral + 0.5) / count)
        found.append(inside.center + radius * size * np.exp(1j * _GOLDEN_ANGLE * spiral))
    return found


def sampled(region: Region, size: int) -> Array:
    """About ``size`` points that cover the region; all of them for candidates."""
    inside = plain(region)
    if isinstance(inside, Candidates):
        return inside.values
    if isinstance(inside, Interval):
        low, high = window(inside, 1.5 * unit_scale(region))
        return _onto(-np.cos(np.pi * np.arange(size) / (size - 1)), low, high)
    if isinstance(inside, Circle):
        return inside.center + inside.radius * np.exp(2j * np.pi * np.arange(size) / size)
    inner = inside.inner if isinstance(inside, Annulus) else 0.0
    outer = inside.outer if isinstance(inside, Annulus) else inside.radius
    rings = max(2, round(math.sqrt(size / 4)))
    found: list[Array] = []
    for ring, radius in enumerate(np.linspace(outer, inner, rings)):
        number = max(1, round(size / rings))
        angles = 2.0 * np.pi * (np.arange(number) + 0.5 * (ring % 2)) / number
        around = np.exp(1j * angles) if radius else np.zeros(1)
        found.append(inside.center + radius * around)
    return np.unique(np.concatenate(found))


def greedy_set(lam: Array, fixed: Array, count: int, *, hyperbolic: bool) -> Array:
    """Indices of ``count`` of the samples λ, each the one farthest, in the product, from the rest.

    The product is Π|λ − λ_j| (Leja; the determinant grows most for H = N) or that of the
    pseudo-hyperbolic distances (the same for H = ∞).
    """
    score = np.zeros(lam.size)
    if hyperbolic:
        score = score - 0.5 * np.log(np.maximum(one_minus_product(lam, lam).real, 1e-300))
    chosen: list[int] = []
    for z in fixed:
        score = score + _log_distance(lam, z, hyperbolic)
    if not fixed.size and not hyperbolic:
        score = np.abs(lam)
    for _ in range(count):
        best = int(np.argmax(score))
        if not chosen and not fixed.size and not hyperbolic:
            score = np.zeros(lam.size)
        chosen.append(best)
        score = score + _log_distance(lam, lam[best], hyperbolic)
        score[best] = -np.inf
    return np.array(chosen, dtype=int)


def _log_distance(lam: Array, z: Any, hyperbolic: bool) -> Array:
    with np.errstate(divide="ignore"):
        distance = np.log(np.abs(lam - z))
        if hyperbolic:
            distance = distance - np.log(np.abs(one_minus_product(lam, z)))
    return np.asarray(distance)


def _turns(count: int, shift: float) -> Array:
    """exp(2πi (k + shift)/count), shift 0 or ½: closed under conjugation to the last bit."""
    upper = np.arange(count) + shift
    upper = upper[(upper > 0) & (2 * upper < count)]
    half = np.exp(2j * np.pi * upper / count)
    ends = ([1.0] if shift == 0 else []) + ([-1.0] if (count - 2 * shift) % 2 == 0 else [])
    return np.concatenate([half, half.conj(), np.array(ends, dtype=complex)])


def _chebyshev(count: int) -> Array:
    # The sine is odd about the middle to the last bit, −cos is not.
    return np.asarray(np.sin(np.pi * np.arange(1 - count, count, 2) / (2 * count)))


def _lobatto(count: int) -> Array:
    if count == 1:
        return np.zeros(1)
    return np.asarray(np.sin(np.pi * np.arange(1 - count, count, 2) / (2 * (count - 1))))


def _onto(unit: Array, low: float, high: float) -> Array:
    return np.asarray(np.clip(low + 0.5 * (high - low) * (unit + 1.0), low, high))


def _random_points(region: Disk | Circle | Annulus, count: int, rng: np.random.Generator) -> Array:
    turn = np.exp(2j * np.pi * rng.uniform(size=count))
    if isinstance(region, Circle):
        return region.center + region.radius * turn
    inner = region.inner if isinstance(region, Annulus) else 0.0
    outer = region.outer if isinstance(region, Annulus) else region.radius
    radius = np.sqrt(rng.uniform(inner**2, outer**2, count))
    return np.asarray(region.center + radius * turn)


def _obvious_candidates(values: Array, count: int, rng: np.random.Generator) -> dict[str, Array]:
    """Nearest candidates to equispaced and Chebyshev points, each taken once."""
    size = values.size
    order = np.lexsort((values.imag, values.real))
    along = values[order]
    if np.iscomplexobj(values):
        # No order in the plane: evenly spaced positions in the list.
        even = along[np.linspace(0, size - 1, count).round().astype(int)]
        ends = np.rint(_onto(_chebyshev(count), 0, size - 1)).astype(int)
        dense = along[_distinct(ends, size)]
    else:
        low, high = float(along[0]), float(along[-1])
        even = along[_nearest(along, np.linspace(low, high, count))]
        dense = along[_nearest(along, _onto(_chebyshev(count), low, high))]
    return {
        "equispaced": even,
        "Chebyshev": dense,
        "random": values[rng.permutation(size)[:count]],
    }


def _nearest(values: Array, wanted: Array) -> Array:
    taken: list[int] = []
    distance = np.abs(values[None, :] - wanted[:, None])
    for row in distance:
        row = row.copy()
        row[taken] = np.inf
        taken.append(int(np.argmin(row)))
    return np.array(taken, dtype=int)


def _distinct(places: Array, size: int) -> Array:
    return _nearest(np.arange(size, dtype=float), places.astype(float))
