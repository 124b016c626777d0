"""A Gaussian filter on the survival of one drafter, seen through totals at any depth.

Unknown are the increments S_1, …, S_D; an arm of depth K shows their partial sum
M_K = Σ_{j≤K} S_j with noise.  The filter keeps mean and covariance of the partial sums at the
depths that are arms: then an observation is one coordinate, and the bounds that a policy needs
are the diagonal.  This is exact, since the partial sums are a linear image of the increments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ensctl.scheduling.policies.state_json import require_number

_Picker = Callable[[Any], tuple[Any, ...]]

_DECAY = 0.6
_SHARED = 0.04
_OWN = 0.075
# Rounding in many updates can leave a variance that is all but gone this far below zero.
_ROUNDED_BELOW = -1e-6


@dataclass(frozen=True, slots=True)
class SurvivalFilter:
    """Belief about one drafter.

    Attributes
    ----------
    mean : tuple of float
        Expected M_K at each depth that is an arm.
    covariance : tuple of float
        Covariance of M: its lower triangle, row after row.
    deviation : tuple of float
        Square roots of its diagonal.
    """

    mean: tuple[float, ...]
    covariance: tuple[float, ...]
    deviation: tuple[float, ...]


def updated(
    belief: SurvivalFilter, coordinate: int, innovation: float, noise: float
) -> SurvivalFilter:
    """Belief after an innovation in one coordinate with noise variance > 0: rank one."""
    places = _triangle(len(belief.mean))
    column = places.columns[coordinate](belief.covariance)
    variance = column[coordinate] + noise
    step = innovation / variance
    scale = 1.0 / variance
    mean = tuple([m + c * step for m, c in zip(belief.mean, column, strict=True)])
    triples = zip(belief.covariance, places.rows(column), places.cells(column), strict=True)
    covariance = tuple([p - scale * a * b for p, a, b in triples])
    # Rounding can take a variance that is all but gone below zero.
    deviation = tuple([math.sqrt(p) if p > 0.0 else 0.0 for p in places.diagonal(covariance)])
    return SurvivalFilter(mean, covariance, deviation)


def require_usable(belief: SurvivalFilter) -> None:
    """Refuse a belief whose covariance has a negative eigenvalue."""
    size = len(belief.mean)
    lower = np.zeros((size, size))
    lower[np.tril_indices(size)] = belief.covariance
    scale = float(np.abs(lower).max(initial=1e-300))
    # Only the lower triangle is read.
    least = float(np.linalg.eigvalsh(lower / scale)[0])
    require_number(least, "beliefs: least eigenvalue of covariance", _ROUNDED_BELOW)


def variance_of(belief: SurvivalFilter, coordinate: int) -> float:
    """Variance of M at one depth."""
    return belief.covariance[coordinate * (coordinate + 3) // 2]


class _Triangle(NamedTuple):
    """Where entries of a packed lower triangle are, as functions that pick them."""

    columns: tuple[_Picker, ...]
    rows: _Picker
    cells: _Picker
    diagonal: _Picker


@lru_cache(maxsize=64)
def _triangle(size: int) -> _Triangle:
    def packed(i: int, j: int) -> int:
        return max(i, j) * (max(i, j) + 1) // 2 + min(i, j)

    pairs = [(i, j) for i in range(size) for j in range(i + 1)]
    return _Triangle(
        tuple(_picker([packed(i, j) for i in range(size)]) for j in range(size)),
        _picker([i for i, _ in pairs]),
        _picker([j for _, j in pairs]),
        _picker([packed(i, i) for i in range(size)]),
    )


def _picker(places: list[int]) -> _Picker:
    if len(places) > 1:
        return itemgetter(*places)
    # With one place itemgetter returns the entry and not a tuple of it.
    (only,) = places
    return lambda values: (values[only],)


@lru_cache(maxsize=256)
def prior(depths: tuple[int, ...]) -> SurvivalFilter:
    """Belief before any cycle: a geometric survival of .6 with an uncertain rate.

    Mean S_j = .6^j and covariance .04 g gᵀ + diag(r_j²), where g_j = j·.6^{j−1} is the derivative
    by the rate and r_j = .075·.6^{j/2}, half of it for j = 1.
    """
    deepest = max(depths)
    order = range(1, deepest + 1)
    slope = [j * _DECAY ** (j - 1) for j in order]
    own = [(_OWN * _DECAY ** (j / 2) * (0.5 if j == 1 else 1.0)) ** 2 for j in order]
    mean = tuple(sum(_DECAY**j for j in order[:depth]) for depth in depths)
    summed = [sum(slope[:depth]) for depth in depths]
    covariance = tuple(
        _SHARED * summed[a] * summed[b] + sum(own[: min(depths[a], depths[b])])
        for a in range(len(depths))
        for b in range(a + 1)
    )
    diagonal = _triangle(len(depths)).diagonal(covariance)
    return SurvivalFilter(mean, covariance, tuple(math.sqrt(p) for p in diagonal))
