"""Optimal depths of a whole grid by break-even costs and one sorted search per threshold.

At fixed α the optimal depth falls as the drafting cost c grows.  Depth K gives way to K + 1 below

    c_K = s C_0 / (E_K − K s),    s = E_{K+1} − E_K,

and drafting pays at all below c_off = max_{K ≥ 1} (C_off E_K − C_0)/K.  Both fall out of a search
of the sorted costs.  Next to a threshold the float64 quotients E_K/(C_0 + K c) may be ordered
differently: there the search is given a band and the cells inside it are scanned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.drafting.convention import Convention

Array = NDArray[Any]

# Cells scanned at once: 64 depths of them stay within a cache.
_CHUNK = 8192


def length_table(alphas: Array, max_depth: int, convention: Convention) -> Array:
    """E[L] of depths 0 … max_depth for every α, (max_depth + 1, n_a); depth 0 yields one unit.

    The same sums of powers, in the same order, as ``IID.expected_lengths``.
    """
    totals = np.cumsum(alphas ** np.arange(max_depth + 1.0)[:, None], axis=0)
    if convention is Convention.WITH_BONUS:
        lengths = totals
    elif convention is Convention.COMMITTED:
        lengths = np.vstack([totals[:1], totals[:-1]])
    else:
        lengths = totals - 1.0
    # Without drafts the verifier's own unit is counted, whatever is counted of a draft.
    lengths[0] = 1.0
    return lengths


def scan(lengths: Array, costs: Array, fixed: float, off: float) -> Array:
    """The first depth with the largest float64 E_K/(C_0 + K c), cell by cell.

    ``lengths`` is (max_depth + 1, cells), ``costs`` is (cells,).
    """
    depths = np.arange(lengths.shape[0], dtype=np.float64)[:, None]
    cycles = fixed + depths * costs
    cycles[0] = off
    return np.argmax(lengths / cycles, axis=0)


def search(lengths: Array, costs: Array, fixed: float, off: float) -> Array:
    """The depths of the grid, (n_a, n_c), equal to :func:`scan` of every cell.

    ``costs`` must be sorted.
    """
    max_depth = lengths.shape[0] - 1
    above, below = _thresholds(lengths, fixed, off)
    first = np.searchsorted(costs, below, side="left")
    last = np.searchsorted(costs, above, side="right")
    # Row k: how many of the costs allow a depth beyond k; falling, since marginal gains fall.
    reach = np.minimum.accumulate(first, axis=0)
    runs = np.empty((max_depth + 1, lengths.shape[1]), dtype=np.intp)
    runs[0] = costs.size - reach[0]
    np.subtract(reach[:-1], reach[1:], out=runs[1:-1])
    runs[-1] = reach[-1]
    # Cheap drafts first: the deepest run comes first.
    order = np.broadcast_to(np.arange(max_depth, -1, -1), runs.T.shape)
    depths = np.repeat(order.ravel(), runs[::-1].T.ravel()).reshape(-1, costs.size)
    _decide_close_cells(depths, first, last, lengths, costs, fixed, off)
    return depths


def _thresholds(lengths: Array, fixed: float, off: float) -> tuple[Array, Array]:
    """Upper and lower ends of the bands around c_off, c_1, …, c_{max_depth−1}, (max_depth, n_a).

    Sums, products and the quotient err by at most (2 max_depth + 8) units of rounding together.
    """
    max_depth = lengths.shape[0] - 1
    slack = (2 * max_depth + 8) * np.finfo(np.float64).eps
    depths = np.arange(1, max_depth + 1, dtype=np.float64)[:, None]
    above, below = np.empty((2, max_depth, lengths.shape[1]))
    for end, sign in ((above, 1.0), (below, -1.0)):
        np.max((off * (1.0 + sign * slack) * lengths[1:] - fixed) / depths, axis=0, out=end[0])
        gains = (lengths[2:] - lengths[1:-1]) + (sign * slack) * lengths[2:]
        room = lengths[1:-1] - depths[:-1] * gains
        # Where no cost is too high, deeper is always better.
        end[1:] = np.inf
        np.divide(gains * fixed, room, out=end[1:], where=room > 0.0)
    return above, below


def _decide_close_cells(
    depths: Array,
    first: Array,
    last: Array,
    lengths: Array,
    costs: Array,
    fixed: float,
    off: float,
) -> None:
    """Scan, in place, the cells between the ends of a band."""
    wide = last > first
    if not wide.any():
        return
    step, column = np.nonzero(wide)
    starts, sizes = first[step, column], (last - first)[step, column]
    offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    cells = np.unique(np.repeat(column * costs.size + starts, sizes) + offsets)
    flat = depths.reshape(-1)
    for begin in range(0, cells.size, _CHUNK):
        part = cells[begin : begin + _CHUNK]
        columns, rows = np.divmod(part, costs.size)
        flat[part] = scan(lengths[:, columns], costs[rows], fixed, off)
