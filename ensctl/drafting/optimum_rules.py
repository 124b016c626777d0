"""Two ways to the depth of largest E[L]/C: comparing all depths, and Dinkelbach's stopping rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Sums of survivals and cycle costs carry a few roundings; differences below this say nothing.
_ROUNDING = 64 * np.finfo(np.float64).eps


def best_by_comparison(lengths: Array, cycles: Array) -> int:
    """The smallest depth with the largest float64 E[L_K]/C(K)."""
    return int(np.argmax(lengths / cycles))


def best_by_stopping(lengths: Array, cycles: Array) -> int:
    """Extend while the next unit yields more than its cost is worth at the optimal throughput.

    Dinkelbach: T* = max E/C is the number at which max_K (E_K − T* C_K) = 0, and where marginal
    lengths fall and marginal costs do not, that maximum is at the first K with

        E_{K+1} − E_K ≤ T* (C(K+1) − C(K)),

    with bonus S(K+1) against T* times the marginal cost.  T is raised until it repeats.  Depth 0
    lies off the line in some conventions and cost models and is compared at the end.
    """
    if lengths.size == 1:
        return 0
    gains, prices = np.diff(lengths[1:]), np.diff(cycles[1:])
    depth, rate = 1, lengths[1] / cycles[1]
    while True:
        stop = np.flatnonzero(gains <= rate * prices)
        depth = 1 + (int(stop[0]) if stop.size else gains.size)
        raised = lengths[depth] / cycles[depth]
        if raised <= rate * (1.0 + _ROUNDING):
            break
        rate = raised
    return depth if lengths[depth] / cycles[depth] > lengths[0] / cycles[0] else 0


def stopping_is_exact(lengths: Array, cycles: Array) -> bool:
    """Whether marginal lengths do not rise and marginal costs do not fall from depth 1 on."""
    gains, prices = np.diff(lengths[1:]), np.diff(cycles[1:])
    rising = np.diff(gains) > _ROUNDING * lengths[-1]
    falling = np.diff(prices) < -_ROUNDING * cycles.max()
    return not (rising.any() or falling.any())
