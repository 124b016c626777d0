"""Where an error over t ∈ [−1, 1] peaks: local maxima of |e| on a grid, then golden sections."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
ErrorOf = Callable[[Array], Array]

_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
# Golden sections that narrow a bracket to 1e-9 of itself: at a smooth peak that is far below
# rounding, at a kink it is the error that remains.
_SECTIONS = 44


def peaks(error: ErrorOf, grid: Array, *, sections: int = _SECTIONS) -> tuple[Array, Array]:
    """Local maxima of |e|, ends included.

    Parameters
    ----------
    error : callable
        e at an array of t.
    grid : (n,) array
        Increasing, from −1 to 1, finer than the peaks.
    sections : int
        Golden sections of each bracket.

    Returns
    -------
    t : (m,) array
        Increasing.
    values : (m,) array
        e(t).
    """
    on_grid = error(grid)
    size = np.abs(on_grid)
    inner = np.flatnonzero((size[1:-1] >= size[:-2]) & (size[1:-1] >= size[2:])) + 1
    t, values = refined(error, grid, on_grid, inner, sections)
    ends = [k for k in (0, grid.size - 1) if size[k] >= size[1 if k == 0 else -2]]
    t = np.concatenate([t, grid[ends]])
    values = np.concatenate([values, on_grid[ends]])
    order = np.argsort(t, kind="stable")
    return t[order], values[order]


def refined(
    error: ErrorOf, grid: Array, on_grid: Array, inner: Array, sections: int
) -> tuple[Array, Array]:
    """Maxima of |e| within one step of the grid points ``inner``."""
    best, values = grid[inner].copy(), on_grid[inner].copy()
    if inner.size == 0 or sections == 0:
        return best, values
    low, high = grid[inner - 1].copy(), grid[inner + 1].copy()
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = error(left), error(right)
    for _ in range(sections):
        for place, value in ((left, at_left), (right, at_right)):
            better = np.abs(value) > np.abs(values)
            best[better], values[better] = place[better], value[better]
        keep_low = np.abs(at_left) >= np.abs(at_right)
        low, high = np.where(keep_low, low, left), np.where(keep_low, right, high)
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        # Both are evaluated: one call on arrays costs what half a call would.
        at_left, at_right = np.split(error(np.concatenate([left, right])), 2)
    return best, values


def runs(signs: Array) -> list[tuple[int, int]]:
    """Half-open ranges of equal sign."""
    cuts = np.flatnonzero(signs[1:] != signs[:-1]) + 1
    edges = [0, *cuts.tolist(), signs.size]
    return list(pairwise(edges))
