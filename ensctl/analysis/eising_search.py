"""Certified global minimum of τ(z) = σ_min[Λ − zI, B] by branch and bound.

τ(z)² is the smallest eigenvalue of diag|λ_i − z|² + B B*.  Three facts make the search short:

- τ(z) ≥ min_i |λ_i − z|, so only disks around the λ_i, of the radius of the best value, matter;
- for real λ all |λ_i − z| shrink when z moves to the real axis, so real z are enough;
- τ(z)² − |z|² is the smallest eigenvalue of a matrix affine in z, so it is concave: an affine
  function below it at the corners of a cell is below it in the cell, with an error of second order
  in the size of the cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.block_secular import smallest_eigenvalues_of_block
from ensctl.analysis.secular import smallest_eigenvalues
from ensctl.vandermonde.doubledouble import two_sum

Array = NDArray[Any]
# τ² at the points hi + lo.
_TauSquared = Callable[[Array, Array], Array]

_RELATIVE_GAP = 1e-9
# About one second of work: entries of secular sums for one channel, of m × m sums for several,
# where the small dense factorisations at each point cost as much as _FIXED_COST entries.
_MOST_ENTRIES = 20_000_000
_MOST_BLOCK_ENTRIES = 60_000_000
_FIXED_COST = 1500
# Entries handled at once, which bounds the memory.
_BATCH_ENTRIES = 500_000
_NEIGHBOURS = 16
_MOST_CANDIDATES = 500
# Up to here all pairwise distances are cheaper than loading a k-d tree.
_DENSE_SIZE = 400
# Below this τ² and its parts lose digits to underflow.
_SMALLEST_SQUARE = 1e-270
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class LowestPoint:
    """Where τ is lowest, and how low it can be anywhere.

    Attributes
    ----------
    value : float
        τ at ``point``.
    point : float or complex
        z, rounded to a double.
    lower_bound : float
        No z has a smaller τ.
    """

    value: float
    point: float | complex
    lower_bound: float


@dataclass(frozen=True)
class _Shape:
    """A cell of the search: corners, halving lattice and children, in units of half its side."""

    lattice: Array
    corners: Array
    fresh: Array
    children: Array
    centres: Array


_INTERVAL = _Shape(
    lattice=np.array([-1.0, 0.0, 1.0]),
    corners=np.array([0, 2]),
    fresh=np.array([1]),
    children=np.array([[0, 1], [1, 2]]),
    centres=np.array([-0.5, 0.5]),
)
_SQUARE = _Shape(
    lattice=np.array([x + 1j * y for x in (-1, 0, 1) for y in (-1, 0, 1)]),
    corners=np.array([0, 2, 6, 8]),
    fresh=np.array([1, 3, 4, 5, 7]),
    children=np.array([[0, 1, 3, 4], [1, 2, 4, 5], [3, 4, 6, 7], [4, 5, 7, 8]]),
    centres=np.array([x + 1j * y for x in (-0.5, 0.5) for y in (-0.5, 0.5)]),
)


def lowest_point(lam: Array, gains: Array) -> LowestPoint:
    """Minimise σ_min[Λ − zI, B] over all complex z.

    Parameters
    ----------
    lam : (N,)
        Eigenvalues of magnitude at most about 1.
    gains : (N, m)
        Gain rows, none zero.

    Returns
    -------
    LowestPoint
        value and lower_bound agree to 1e-9 relative unless the work limit (about a second) was
        reached first; the lower bound holds in any case.  It is 0 where τ < 1e-135.
    """
    evaluate, margin, most_points = _evaluator(lam, gains)
    shape = _SQUARE if np.iscomplexobj(lam) else _INTERVAL
    near = _nearest(lam)
    hi, lo = _candidates(lam, gains, near)
    values = evaluate(hi, lo)
    spent = values.size
    best = int(np.argmin(values))
    low, point = float(values[best]), hi[best] + lo[best]
    if low < _SMALLEST_SQUARE:
        return LowestPoint(float(np.sqrt(low)), point.item(), 0.0)
    centres = lam[_worth_searching(lam, gains, near, low)]
    unexplored = np.inf
    if centres.size * shape.corners.size > 2 * most_points:
        # Not even a first look at every disk is affordable.
        centres, unexplored = centres[: 2 * most_points // shape.corners.size], 0.0
    cells = _cells_around(centres, np.sqrt(low) + margin, shape, evaluate)
    spent += cells.corners.size
    while cells.half.size:
        goal = low * (1.0 - 2.0 * _RELATIVE_GAP)
        bounds = cells.bounds(shape)
        worth = np.flatnonzero(bounds < goal)
        if spent >= most_points and worth.size:
            unexplored = min(unexplored, float(bounds[worth].min()))
            break
        count = max(1, _BATCH_ENTRIES // (lam.size * shape.fresh.size))
        chosen = worth[np.argsort(bounds[worth])[:count]]
        rest = cells.pick(np.setdiff1d(worth, chosen))
        halves, hi, lo, values = _halve(cells.pick(chosen), shape, evaluate)
        spent += values.size
        if values.size and values.min() < low:
            best = int(np.argmin(values))
            low, point = float(values[best]), hi[best] + lo[best]
        cells = rest.joined(halves)
    bound = min(low * (1.0 - 2.0 * _RELATIVE_GAP), unexplored)
    bound = max(np.sqrt(max(bound, 0.0)) * (1.0 - 1e-13) - margin, 0.0)
    return LowestPoint(float(np.sqrt(low)), point.item(), float(bound))


@dataclass(frozen=True)
class _Cells:
    """Cells with centre hi + lo, half side and τ² at the corners."""

    hi: Array
    lo: Array
    half: Array
    corners: Array

    def bounds(self, shape: _Shape) -> Array:
        """Lower bound of τ² in each cell: |w|² plus an affine function, w from the centre."""
        offsets = shape.lattice[shape.corners]
        concave = self.corners - np.abs(offsets) ** 2 * self.half[:, None] ** 2
        slopes = concave @ offsets / (offsets.size * self.half)
        along = (np.conj(slopes)[:, None] * offsets[None, :]).real * self.half[:, None]
        lowest = np.min(concave - along, axis=1)
        for slope in (np.real(slopes), np.imag(slopes)):
            step = np.clip(-0.5 * slope, -self.half, self.half)
            lowest = lowest + step * (step + slope)
        return np.asarray(lowest)

    def pick(self, index: Array) -> _Cells:
        return _Cells(self.hi[index], self.lo[index], self.half[index], self.corners[index])

    def joined(self, other: _Cells) -> _Cells:
        return _Cells(
            np.concatenate([self.hi, other.hi]),
            np.concatenate([self.lo, other.lo]),
            np.concatenate([self.half, other.half]),
            np.concatenate([self.corners, other.corners]),
        )


def _cells_around(centres: Array, radius: float, shape: _Shape, evaluate: _TauSquared) -> _Cells:
    """One cell around each centre that holds the disk of this radius."""
    half = np.full(centres.size, radius * (1.0 + 1e-9))
    zero = np.zeros_like(centres)
    where_hi, where_lo = _moved(centres, zero, half, shape.lattice[shape.corners])
    corners = evaluate(where_hi.ravel(), where_lo.ravel()).reshape(where_hi.shape)
    return _Cells(centres, zero, half, corners)


def _halve(
    cells: _Cells, shape: _Shape, evaluate: _TauSquared
) -> tuple[_Cells, Array, Array, Array]:
    """Halve every side; return the children and the points evaluated on the way."""
    hi, lo = _moved(cells.hi, cells.lo, cells.half, shape.lattice[shape.fresh])
    fresh = evaluate(hi.ravel(), lo.ravel())
    lattice = np.empty((cells.half.size, shape.lattice.size))
    lattice[:, shape.corners] = cells.corners
    lattice[:, shape.fresh] = fresh.reshape(hi.shape)
    centre_hi, centre_lo = _moved(cells.hi, cells.lo, cells.half, shape.centres)
    children = _Cells(
        centre_hi.ravel(),
        centre_lo.ravel(),
        np.repeat(0.5 * cells.half, shape.centres.size),
        lattice[:, shape.children].reshape(-1, shape.corners.size),
    )
    return children, hi.ravel(), lo.ravel(), fresh


def _moved(hi: Array, lo: Array, half: Array, offsets: Array) -> tuple[Array, Array]:
    """Points hi + lo + half · offset, (k, offsets), without losing what is below an ulp of hi."""
    total, error = two_sum(hi[:, None], half[:, None] * offsets[None, :])
    return total, error + lo[:, None]


def _candidates(lam: Array, gains: Array, near: Array) -> tuple[Array, Array]:
    """The most promising λ, and z between neighbours at which the pair alone is closest to locked.

    A perturbation that locks a pair i, j of one channel costs at most |b_i b_j| gap/(b_i² + b_j²).
    """
    size = np.linalg.norm(gains, axis=1) ** 2
    first = np.repeat(np.arange(lam.size), near.shape[1])
    second = near.ravel()
    gap = lam[second] - lam[first]
    share = size[first] / (size[first] + size[second])
    cost = np.concatenate([size, share * (1.0 - share) * np.abs(gap) ** 2])
    hi = np.concatenate([lam, lam[first]])
    lo = np.concatenate([np.zeros_like(lam), share * gap])
    best = np.argsort(cost)[:_MOST_CANDIDATES]
    return hi[best], lo[best]


def _nearest(lam: Array) -> Array:
    """Indices of the nearest other λ of each λ, nearest first, (N, min(16, N − 1))."""
    count = min(_NEIGHBOURS, lam.size - 1)
    if lam.size <= _DENSE_SIZE:
        distance = np.abs(lam[:, None] - lam[None, :])
        np.fill_diagonal(distance, np.inf)
        return np.argsort(distance, axis=1)[:, :count]
    from scipy.spatial import cKDTree

    places = np.column_stack([lam.real, np.imag(lam)])
    _, index = cKDTree(places).query(places, k=count + 1)
    # Among equal λ a point need not come first in its own list.
    itself = index == np.arange(lam.size)[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(index[~itself].reshape(lam.size, count))


def _worth_searching(lam: Array, gains: Array, near: Array, low: float) -> Array:
    """Indices of λ around which τ² can be below ``low`` (one channel; all of them for several).

    In the disk of radius ρ = √low around λ_i, d_k ≥ (|λ_k − λ_i| − ρ)²; with the members beyond the
    neighbours moved to the distance of the last one, the secular function of these bounds is
    negative at ``low`` only if the smallest eigenvalue is above it.
    """
    everyone = np.arange(lam.size)
    if gains.shape[1] > 1 or near.shape[1] == 0:
        return everyone
    weights = np.abs(gains[:, 0]) ** 2
    gaps = np.maximum(np.abs(lam[near] - lam[:, None]) * (1.0 - 4.0 * _EPS) - np.sqrt(low), 0.0)
    room = gaps**2 - low
    others = weights[near]
    others[:, -1] += np.maximum(weights.sum() - weights - others.sum(axis=1), 0.0)
    others[:, -1] *= 1.0 + lam.size * _EPS
    clear = np.all(room > 0, axis=1)
    load = np.sum(others[clear] / room[clear], axis=1)
    excluded = everyone[clear][weights[clear] > (1.0 + load) * low * (1.0 + 1e-9)]
    return np.setdiff1d(everyone, excluded)


def _evaluator(lam: Array, gains: Array) -> tuple[_TauSquared, float, int]:
    """τ² at many points, the absolute error of τ it carries, and how many points are affordable."""
    size, channels = gains.shape
    weights = np.abs(gains[:, 0]) ** 2
    step = max(1, _BATCH_ENTRIES // size)

    def evaluate(hi: Array, lo: Array) -> Array:
        parts = [np.zeros(0)]
        for k in range(0, hi.size, step):
            diagonals = _distances(lam, hi[k : k + step], lo[k : k + step])
            if channels == 1:
                parts.append(smallest_eigenvalues(diagonals, weights))
            else:
                parts.append(smallest_eigenvalues_of_block(diagonals, gains))
        return np.concatenate(parts)

    if channels == 1:
        return evaluate, 0.0, _MOST_ENTRIES // size
    margin = 16.0 * _EPS * float(np.linalg.norm(gains, 2) + np.abs(lam).max())
    return evaluate, margin, _MOST_BLOCK_ENTRIES // (size * channels**2 + _FIXED_COST)


def _distances(lam: Array, hi: Array, lo: Array) -> Array:
    difference = (lam[None, :] - hi[:, None]) - lo[:, None]
    return np.asarray(difference.real**2 + np.imag(difference) ** 2)
