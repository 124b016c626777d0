"""Chebyshev moments of a population, whatever their number, in chunks of members."""

from __future__ import annotations

import numpy as np

from ensctl.arguments import Array
from ensctl.ensemble.angle_grid import AngleGrid

# Members handled at once: a few arrays of this length stay in the second-level cache.
CHUNK = 1 << 14


def chebyshev_angles(lam: Array, interval: tuple[float, float]) -> Array:
    """θ in [0, π] with cos θ = s = (2λ − lo − hi)/(hi − lo), right to rounding at both ends.

    Where lo = hi, every θ is π/2.
    """
    lo, hi = interval
    if lo == hi:
        return np.full(lam.shape, np.pi / 2)
    with np.errstate(divide="ignore"):
        angles: Array = np.arctan(np.sqrt((hi - lam) / (lam - lo)))
    angles *= 2.0
    return angles


def chebyshev_sums(lam: Array, weights: Array, interval: tuple[float, float], count: int) -> Array:
    """Moments Σ_i w_ki T_j(s_i), real weights (K, N) on points of the interval → (K, count).

    Error about count·ε·Σ|w|, of the kind that a rounding of λ makes; O(N) additions for every
    row of weights, whatever the count.
    """
    grid = AngleGrid(count)
    bins = grid.zeros(weights.shape[0])
    for first in range(0, lam.size, CHUNK):
        chunk = slice(first, first + CHUNK)
        index, offset = grid.locate(chebyshev_angles(lam[chunk], interval))
        grid.accumulate(bins, index, offset, list(weights[:, chunk]))
    return grid.sums(bins)
