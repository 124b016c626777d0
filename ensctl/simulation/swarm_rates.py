"""What the turn rates of a swarm allow: which robots are locked, and how many steps it takes.

One real speed v_t moves robot i by e^{jφ_i} Σ_t v_t e^{jω_i t}.  Robots with ω_i = ±ω_k (mod 2π)
see the same sum or its conjugate and cannot be told apart; nearly equal ones take as many steps as
their phases need to part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_FULL_TURN = 2.0 * math.pi


@dataclass(frozen=True)
class HorizonRule:
    """How many steps a swarm needs.

    Attributes
    ----------
    least : int
        2N: fewer inputs cannot meet 2N real equations.
    steps : int
        max(2N, ⌈2π/g⌉): from here on σ_min² ≥ H − 2π/g makes the condition number O(1).
    gap : float
        g, the smallest gap of the set {±ω_i} on the circle, rad.
    closest : tuple of int
        The robots behind that gap; one robot twice when it is near its own mirror image.
    """

    least: int
    steps: int
    gap: float
    closest: tuple[int, int]


def horizon_rule(turn_rates: Array) -> HorizonRule:
    """The number of steps from which on steering is well conditioned, for distinct {±ω_i}.

    Notes
    -----
    Source: Moitra, Super-resolution, extremal functions and the condition number of Vandermonde
    matrices, STOC 2015, Theorem 2.3 (H − 2π/g ≤ σ² ≤ H + 2π/g for exponentials).  O(N log N).
    """
    count = turn_rates.size
    angles = np.remainder(np.concatenate([turn_rates, -turn_rates]), _FULL_TURN)
    order = np.argsort(angles, kind="stable")
    gaps = np.diff(np.append(angles[order], angles[order[0]] + _FULL_TURN))
    k = int(np.argmin(gaps))
    gap = float(gaps[k])
    first, second = int(order[k]) % count, int(order[(k + 1) % (2 * count)]) % count
    # A hair below the quotient, so that a gap of exactly π/N asks for 2N steps and not one more.
    needed = math.ceil(_FULL_TURN / gap * (1.0 - 1e-12)) if gap > 0.0 else 2**62
    least = 2 * count
    return HorizonRule(least, max(least, needed), gap, (min(first, second), max(first, second)))


def locked_robots(turn_rates: Array) -> tuple[int, ...]:
    """Robots that no speed can place freely: ω = 0, or |ω| shared with another robot, exactly.

    ω_i ± ω_k = 2π m has no solution in floats but with m = 0, π being irrational.
    """
    size = np.abs(turn_rates)
    _, where, copies = np.unique(size, return_inverse=True, return_counts=True)
    return tuple(int(i) for i in np.flatnonzero((size == 0.0) | (copies[where] > 1)))
