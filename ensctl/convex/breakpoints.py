"""Exact line search for piecewise quadratic functions, by sorting their breakpoints.

Along η + t p the dual of a box-constrained least-norm problem has the derivative

    ψ'(t) = ψ'(0) + Σ_k q_k [clip(g_k + t q_k) − clip(g_k)] + t Σ_j w_j p_j²,

continuous, increasing and piecewise linear.  Its zero is found exactly; an Armijo rule would stall.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def exact_step(
    derivative: float, position: Array, slope: Array, lower: Array, upper: Array, curvature: float
) -> float:
    """The t > 0 with ψ'(t) = 0, or inf where ψ' stays negative.

    Parameters
    ----------
    derivative : float
        ψ'(0) < 0.
    position, slope : (n,)
        g and q: entry k moves as g_k + t q_k.
    lower, upper : (n,)
        Limits; ±inf allowed.
    curvature : float
        Σ w_j p_j² ≥ 0, the part of ψ'' that does not depend on t.

    Returns
    -------
    float

    Notes
    -----
    O(n log n).
    """
    moving = slope != 0.0
    q = slope[moving]
    with np.errstate(over="ignore"):
        first = (lower[moving] - position[moving]) / q
        last = (upper[moving] - position[moving]) / q
    # An entry is free, and adds q² to ψ'', while t lies between its two breakpoints.
    enters, leaves = np.minimum(first, last), np.maximum(first, last)
    weight = q * q
    start = float(weight[(enters <= 0.0) & (leaves > 0.0)].sum()) + curvature
    times = np.concatenate([enters, leaves])
    jumps = np.concatenate([weight, -weight])
    ahead = (times > 0.0) & np.isfinite(times)
    order = np.argsort(times[ahead])
    times = np.concatenate([[0.0], times[ahead][order]])
    slopes = start + np.concatenate([[0.0], np.cumsum(jumps[ahead][order])])
    values = derivative + np.concatenate([[0.0], np.cumsum(slopes[:-1] * np.diff(times))])
    crossed = int(np.searchsorted(values, 0.0))
    here = max(crossed - 1, 0)
    # Slopes that cancel to rounding noise after the last breakpoint are zero.
    if crossed == values.size and slopes[here] <= 1e-14 * float(slopes.max()):
        return math.inf
    return float(times[here] - values[here] / slopes[here])
