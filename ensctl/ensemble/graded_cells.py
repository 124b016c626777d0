"""Cells of the real line on which every λ^k is a short Chebyshev series, and their nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.ensemble.graded_groups import GradedGroups, graded_groups

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Truncation is pushed a quarter of a rounding error below the size of the sum in the cell, or,
# where the sum is very much smaller there than at the largest |λ|, relative to the latter.
_TRUNCATION = _EPS / 4
_LOCAL_FLOOR = 1e-6
# Where the Bernstein ellipse of a cell may end: on the way to the largest |λ|, and beyond it.
_INNER_TIPS = (0.25, 0.5, 1.0)
_OUTER_TIPS = (2.0, 4.0, 8.0, 16.0)
# Below this many members per node a cell is evaluated member by member.
_WORTHWHILE = 2


@dataclass(frozen=True, eq=False)
class GradedCells:
    """Groups of members with the interval they span and how many nodes stand for them.

    Attributes
    ----------
    groups : GradedGroups
    lo, hi : (G,)
        Smallest and largest λ of each group.
    count : (G,) int
        Nodes of each group: Chebyshev nodes, or its members themselves where those are few.
    direct : (G,) bool
        Whether the nodes are the members.
    truncation : (G,)
        Bound on what the series leave out, in units of ``size_at``.
    size : (G,)
        ``size_at`` the largest |λ| of each group.
    """

    groups: GradedGroups
    lo: Array
    hi: Array
    count: Array
    direct: Array
    truncation: Array
    size: Array

    @property
    def node_starts(self) -> Array:
        """Where the nodes of each group begin, and their number."""
        return np.concatenate([[0], np.cumsum(self.count)])

    def members(self, g: int) -> slice:
        """Group g among the sorted members."""
        return slice(int(self.groups.starts[g]), int(self.groups.starts[g + 1]))

    def local(self, g: int, lam: Array) -> Array:
        """s in [−1, 1] of points of group g; λ − centre is exact to rounding of the result."""
        half = 0.5 * (self.hi[g] - self.lo[g])
        centre = self.lo[g] + half
        return (lam - centre) / half if half > 0.0 else np.zeros_like(lam)

    def nodes(self, sorted_lam: Array) -> Array:
        """All nodes, group by group."""
        parts = []
        for g in range(len(self.groups)):
            if self.direct[g]:
                parts.append(sorted_lam[self.members(g)])
                continue
            n = int(self.count[g])
            half = 0.5 * (self.hi[g] - self.lo[g])
            angles = np.pi * (np.arange(n) + 0.5) / n
            parts.append(self.lo[g] + half + half * np.cos(angles))
        return np.concatenate(parts)


def graded_cells(
    lam: Array, steps: int, size_at: Callable[[Array], Array], columns: int = 1
) -> tuple[GradedCells, Array]:
    """Choose cells for sums Σ_{k<steps} a_k λ^k.

    Parameters
    ----------
    lam : (N,) float64
        Members.
    steps : int
        Number of powers.
    size_at : callable
        Σ_k |a_k| z^k, or a bound on it, at an array of z ≥ 0.
    columns : int
        Sums that share the rows of Chebyshev polynomials; more of them make nodes dearer.

    Returns
    -------
    GradedCells, (N,) float64
        The cells, and the members in their order.

    Notes
    -----
    A sum that is at most M inside the ellipse with foci at the ends of the cell and semi-axes
    adding up to R half-widths is interpolated in n Chebyshev nodes with error ≤
    4 M R^(1−n)/(R − 1); M = size_at(largest |z| in the ellipse).  n is the smallest over several
    ellipses.

    Source: Trefethen, Approximation Theory and Approximation Practice (2013), theorem 8.2.
    """
    groups = graded_groups(lam, steps)
    sorted_lam = groups.sorted(lam)
    lo = np.minimum.reduceat(sorted_lam, groups.starts[:-1])
    hi = np.maximum.reduceat(sorted_lam, groups.starts[:-1])
    outer = np.maximum(np.abs(lo), np.abs(hi))
    radius = float(outer.max())

    inner = outer[:, None] + np.array(_INNER_TIPS) * (radius - outer[:, None])
    beyond = radius * (1.0 + np.array(_OUTER_TIPS) / steps)
    points = np.concatenate([outer, inner.ravel(), beyond])
    sizes = size_at(points)
    size = sizes[: outer.size]
    tips = np.hstack([inner, np.broadcast_to(beyond, (outer.size, beyond.size))])
    tip_sizes = np.hstack(
        [
            sizes[outer.size : outer.size + inner.size].reshape(inner.shape),
            np.broadcast_to(sizes[-beyond.size :], (outer.size, beyond.size)),
        ]
    )
    scale = np.maximum(size, _LOCAL_FLOOR * size.max())
    half = 0.5 * (hi - lo)
    count, truncation = _node_counts(half, np.abs(lo + half), tips, tip_sizes, scale)
    number = np.diff(groups.starts)
    direct = (number <= _WORTHWHILE * count) & (count > 1)
    return (
        GradedCells(
            groups,
            lo,
            hi,
            np.where(direct, number, count),
            direct,
            np.where(direct, 0.0, truncation),
            size,
        ),
        sorted_lam,
    )


def _node_counts(
    half: Array, centre: Array, tips: Array, tip_sizes: Array, scale: Array
) -> tuple[Array, Array]:
    """Nodes per cell, and the truncation bound they give."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        axis = (tips - centre[:, None]) / half[:, None]
        axis = np.where(axis > 1.0 + 1e-3, axis, np.nan)
        radius = axis + np.sqrt(axis**2 - 1.0)
        leading = 4.0 * tip_sizes / (radius - 1.0)
        needed = 1.0 + np.log(leading / (_TRUNCATION * scale[:, None])) / np.log(radius)
        needed = np.where(np.isfinite(needed), needed, np.inf).min(axis=1)
        # All members equal, or nothing to sum: one node is exact.
        flat = (half == 0.0) | (scale == 0.0)
        count = np.where(flat, 1.0, np.ceil(np.maximum(needed, 1.0)))
        bounds = leading * radius ** (1.0 - count[:, None])
        bound = np.where(np.isfinite(bounds), bounds, np.inf).min(axis=1)
    # A cell without any admissible ellipse is evaluated member by member.
    count = np.minimum(count, np.iinfo(np.int32).max).astype(np.int64)
    return count, np.where(flat, 0.0, bound)


def chebyshev_rows(s: Array, count: int, out: Array | None = None) -> Array:
    """T_0(s) … T_{count−1}(s) as rows, by the three-term recurrence."""
    rows = np.empty((count, s.size)) if out is None else out
    rows[0] = 1.0
    if count > 1:
        rows[1] = s
    twice = 2.0 * s
    for j in range(2, count):
        np.multiply(twice, rows[j - 1], out=rows[j])
        np.subtract(rows[j], rows[j - 2], out=rows[j])
    return rows
