"""Chebyshev moments Σ_i w_i T_j(s_i) of weights on members with real λ, to any order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# Members handled at once: two tables of about 2√(2·count) rows stay in the second-level cache.
_CHUNK = 2048


def chebyshev_moments(
    lam: Array, weights: Array, interval: tuple[float, float], count: int
) -> Array:
    """Moments τ_j = Σ_i w_i T_j(s_i), s = (2λ − lo − hi)/(hi − lo), for j = 0 … count − 1.

    Parameters
    ----------
    lam : (N,) float64
        Points λ in the interval.
    weights : (N,) or (N, k) float64 or complex128
        One or several weights per point.
    interval : (float, float)
        lo < hi; where they are equal every s is 0.
    count : int
        Number of moments ≥ 1.

    Returns
    -------
    (count, k) float64 or complex128
        One column for each column of weights.

    Raises
    ------
    InvalidInputError
        A point is outside the interval.

    Notes
    -----
    With s = cos θ, T_{hp+q} = cos hpθ cos qθ − sin hpθ sin qθ and T_{hp−q} has the other sign:
    2√(2·count) rows of powers of e^{iθ} and two matrix products give all moments, where the
    three-term recurrence needs ``count`` rows.  sin θ comes from (hi − λ)(λ − lo), so that points
    close to an end keep their angle.  Error ≤ 4 count ε Σ|w| (a few ε Σ|w| as measured); the
    result does not depend on the order of chunks beyond that.  O(N count) operations in matrix
    products, memory independent of N.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.ensemble.chebyshev_moments import chebyshev_moments
    >>> chebyshev_moments(np.array([0.0, 1.0]), np.array([1.0, 2.0]), (-1.0, 1.0), 3)[:, 0]
    array([3., 2., 1.])
    """
    lo, hi = interval
    if lam.size and not (lo <= lam.min() and lam.max() <= hi):
        raise InvalidInputError(
            f"lam must lie in the interval [{lo:.6g}, {hi:.6g}], got λ from {lam.min():.6g} to "
            f"{lam.max():.6g}; widen the interval"
        )
    columns = weights.reshape(lam.size, -1)
    near = math.isqrt(max(count - 1, 0) // 2) + 1
    stride = 2 * near + 1
    far = -(-(count + near) // stride)
    real = _as_real(columns)
    even = np.zeros((far + 1, (near + 1) * real.shape[1]))
    odd = np.zeros_like(even)
    for first in range(0, lam.size, _CHUNK):
        chunk = slice(first, first + _CHUNK)
        turn = _unit(lam[chunk], lo, hi)
        low = _powers(turn, near)
        high = _powers(low[near] * low[near] * turn, far)
        weighted = low[:, None, :] * real[chunk].T[None]
        even += high.real @ weighted.real.reshape(-1, turn.size).T
        odd += high.imag @ weighted.imag.reshape(-1, turn.size).T
    shape = (far + 1, near + 1, real.shape[1])
    moments = _in_order(even.reshape(shape), odd.reshape(shape), count)
    return moments if not np.iscomplexobj(weights) else _as_complex(moments)


def _unit(lam: Array, lo: float, hi: float) -> Array:
    """e^{iθ} with cos θ = s."""
    width = hi - lo
    if width == 0.0:
        return np.full(lam.size, 1j)
    below, above = lam - lo, hi - lam
    return (below - above) / width + 1j * (2.0 * np.sqrt(below) * np.sqrt(above) / width)


def _powers(base: Array, top: int) -> Array:
    """base^0 … base^top as rows, by doubling."""
    rows = np.empty((top + 1, base.size), dtype=complex)
    rows[0] = 1.0
    if top:
        rows[1] = base
    done = 1
    while done < top:
        more = min(done, top - done)
        np.multiply(rows[1 : more + 1], rows[done], out=rows[done + 1 : done + more + 1])
        done += more
    return rows


def _in_order(even: Array, odd: Array, count: int) -> Array:
    """τ from Σ w cos hpθ cos qθ and Σ w sin hpθ sin qθ, each (p, q, k)."""
    far, near = even.shape[0] - 1, even.shape[1] - 1
    moments = np.empty(((far + 1) * (2 * near + 1), even.shape[2]))
    rows = moments.reshape(far + 1, 2 * near + 1, even.shape[2])
    # Row p holds the orders hp − near … hp + near.
    rows[:, near:] = even - odd
    rows[:, :near] = (even + odd)[:, :0:-1]
    return moments[near : near + count].copy()


def _as_real(columns: Array) -> Array:
    return np.hstack([columns.real, columns.imag]) if np.iscomplexobj(columns) else columns


def _as_complex(moments: Array) -> Array:
    half = moments.shape[1] // 2
    return np.asarray(moments[:, :half] + 1j * moments[:, half:])
