"""How many Chebyshev terms the powers λ^k, k < H, need on an interval."""

from __future__ import annotations

import math

import numpy as np

# λ^k below this is not seen by a sum of float64.
_FORGOTTEN = math.log(1e-17)
_TILTS = np.geomspace(1e-4, 20.0, 400)


def chebyshev_count(interval: tuple[float, float], horizon: int, tol: float) -> int:
    """Smallest r that is proved to leave Σ_{j≥r}|c_kj| ≤ tol · max(1, |λ|^k) for all k < horizon.

    λ^k = Σ_j c_kj T_j(s) on the interval.  With λ = mid + half·s, the |c_kj| are m^k times the
    distribution of |S_k|, where m = |mid| + half = max|λ| and S_k is a walk of k steps that are
    ±1 with probability v/2 each, v = half/m, and 0 otherwise.  Chernoff's bound gives
    Σ_{j≥r}|c_kj| ≤ 2 exp(k (log m + v(cosh t − 1)) − t r) for every t > 0.

    Parameters
    ----------
    interval : (float, float)
        lo ≤ hi.
    horizon : int
        H ≥ 1.
    tol : float
        0 < tol < 1.

    Returns
    -------
    int
        1 … H.  About √(2H log(2/tol)) on [−1, 1], and log(2/tol)/arccosh(1 − log m / v),
        whatever H, where m < 1.

    Examples
    --------
    >>> from ensctl.ensemble.chebyshev_count import chebyshev_count
    >>> chebyshev_count((-1.0, 1.0), 10_000, 1e-16), chebyshev_count((0.1, 0.9), 10_000, 1e-16)
    (867, 56)
    """
    lo, hi = interval
    half, largest = (hi - lo) / 2, max(abs(lo), abs(hi))
    if half == 0.0:
        return 1
    decay = min(0.0, math.log(largest))
    growth = decay + (half / largest) * (np.cosh(_TILTS) - 1.0)
    needed = (horizon * np.maximum(growth, 0.0) + math.log(2.0 / tol)) / _TILTS
    return max(1, min(horizon, math.ceil(needed.min())))


def remembered(largest: float, horizon: int) -> int:
    """H_eff = min(H, log(1e-17)/log max|λ|): the inputs that a float64 sum still sees."""
    if largest == 0.0:
        return 1
    if largest >= 1.0:
        return horizon
    return max(1, min(horizon, math.ceil(_FORGOTTEN / math.log(largest))))
