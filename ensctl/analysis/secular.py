"""Smallest eigenvalue of diag(d) + b b* for many d at once, each to full relative accuracy.

Between the two smallest d the eigenvalue μ solves the secular equation 1 + Σ b_i²/(d_i − μ) = 0.
With every number positive, rounding d and b changes μ by as little in relative terms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
_MOST_ITERATIONS = 80


def smallest_eigenvalues(diagonals: Array, weights: Array) -> Array:
    """Smallest eigenvalue of diag(d_k) + b b* for each row d_k.

    Parameters
    ----------
    diagonals : (k, n)
        Non-negative d, one problem a row.
    weights : (n,)
        |b_i|² > 0.

    Returns
    -------
    (k,) float64
        Within about 1e-14 relative.

    Notes
    -----
    The tail of the secular function is interpolated by r + s/(δ_2 − η), which matches value and
    slope, so that each step solves a quadratic (Bunch, Nielsen and Sorensen, Numer. Math. 31 (1978)
    31–48); steps that leave the bracket are replaced by bisection.  A handful of O(n) steps each.
    """
    if diagonals.shape[1] == 1:
        return np.asarray(diagonals[:, 0] + weights[0])
    nearest = np.argmin(diagonals, axis=1)
    lowest = np.take_along_axis(diagonals, nearest[:, None], axis=1)
    gaps = diagonals - lowest
    np.put_along_axis(gaps, nearest[:, None], np.inf, axis=1)
    eta = _secular_root(gaps, weights[nearest], weights, lowest[:, 0])
    return np.asarray(lowest[:, 0] + eta)


def _secular_root(gaps: Array, first: Array, weights: Array, offset: Array) -> Array:
    """Root η in (0, min gap) of 1 − first/η + Σ w_i/(gap_i − η), to 1e-16 (offset + η)."""
    second = gaps.min(axis=1)
    low, high = np.zeros(second.size), second.copy()
    guess = second * first / (first + weights[np.argmin(gaps, axis=1)] + second)
    eta = np.minimum(guess, np.nextafter(second, 0.0))
    active = np.flatnonzero((second > 0) & (eta > 0))
    eta[second == 0] = 0.0
    for _ in range(_MOST_ITERATIONS):
        if active.size == 0:
            break
        x, pole, own = eta[active], second[active], first[active]
        quotient = 1.0 / (gaps[active] - x[:, None])
        tail = quotient @ weights
        slope = (quotient * quotient) @ weights
        value = 1.0 + tail - own / x
        below = value < 0
        low[active] = np.where(below, x, low[active])
        high[active] = np.where(below, high[active], x)
        step = _next_iterate(x, pole, own, tail, slope)
        goal = 2.0 * _EPS * (offset[active] + x)
        done = (np.abs(step - x) <= goal) | (value == 0) | (high[active] - low[active] <= goal)
        inside = (step > low[active]) & (step < high[active])
        step = np.where(inside, step, 0.5 * (low[active] + high[active]))
        eta[active] = np.where(done, x, step)
        active = active[~done]
    return eta


def _next_iterate(x: Array, pole: Array, own: Array, tail: Array, slope: Array) -> Array:
    """Root of c − own/η + s/(pole − η), with c and s from value and slope of the tail at x."""
    room = pole - x
    constant = 1.0 + tail - slope * room
    middle = constant * pole + own + slope * room * room
    root = np.sqrt(np.maximum(middle * middle - 4.0 * constant * own * pole, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(
            middle > 0,
            2.0 * own * pole / (middle + root),
            (middle - root) / (2.0 * constant),
        )
