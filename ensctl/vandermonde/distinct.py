"""Equal nodes and zero gains, decided exactly, so that kernels see distinct nodes only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class DistinctNodes:
    """What remains of (λ, b) after merging equal nodes and dropping zero gains.

    Attributes
    ----------
    lam, b : (n,)
        Distinct nodes; a single member keeps its gain, n equal ones become ‖b_group‖.
    position : (N,) int
        Index into ``lam`` of each original node, −1 where b_i = 0.
    multiplicity : (n,) int
        Number of original nodes with a non-zero gain in each.
    """

    lam: Array
    b: Array
    position: Array
    multiplicity: Array


def merge_equal(lam: Array, b: Array) -> DistinctNodes:
    """Merge equal nodes by a rotation of their rows; drop rows that are zero.

    Rows b_i v of equal λ form the rank-one block b_group v, which a unitary rotation turns into
    one row ‖b_group‖ v and zeros: the singular values do not change.  Equality is ==.
    O(N log N).
    """
    alive = np.flatnonzero(b != 0)
    # Adding 0.0 makes −0.0 and +0.0 the same bit pattern and equal in sorting.
    values, first, position, multiplicity = np.unique(
        lam[alive] + 0.0, return_index=True, return_inverse=True, return_counts=True
    )
    # np.unique sorts; the order of first appearance keeps member order recognisable.
    rank_of = np.empty(values.size, dtype=int)
    appearance = np.argsort(first)
    rank_of[appearance] = np.arange(values.size)
    position = rank_of[position.ravel()]
    multiplicity = multiplicity[appearance]
    gain = b[alive][first[appearance]].copy()
    merged = multiplicity > 1
    if np.any(merged):
        by_group = np.argsort(position, kind="stable")
        starts = np.concatenate([[0], np.cumsum(multiplicity)[:-1]])
        size = np.abs(b[alive][by_group])
        largest = np.maximum.reduceat(size, starts)
        squares = np.add.reduceat((size / np.repeat(largest, multiplicity)) ** 2, starts)
        gain[merged] = (largest * np.sqrt(squares))[merged]
    full = np.full(lam.size, -1)
    full[alive] = position
    return DistinctNodes(values[appearance], gain, full, multiplicity)
