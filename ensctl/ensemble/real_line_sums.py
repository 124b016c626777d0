"""Sums of powers for a large population with real λ: short Chebyshev series on graded cells.

A polynomial Σ a_k λ^k of any degree is, on a cell whose distance to the largest |λ| is of the
order of its width, a Chebyshev series of about twenty terms.  The sum itself is computed at a few
hundred nodes with accurate powers; members only evaluate short series.  Moments are the adjoint.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.ensemble.graded_cells import GradedCells, chebyshev_rows, graded_cells
from ensctl.ensemble.power_sums import EPS, Coefficients, Evaluated, Moments, powers_up_to
from ensctl.ensemble.power_tables import PowerTables, accurate_power_tables, power_tables

Array = NDArray[Any]

# Members handled at once: their rows of Chebyshev polynomials stay in cache, and sums over a
# million members are not longer than they have to be.
_CHUNK = 4096
_SUM_CHUNK = 2048
# Nodes whose tables of powers are held at once.
_NODE_CHUNK = 1024
_ROUNDINGS_OF_A_POWER = 3.0


def real_line_values(lam: Array, gains: Array, coefs: Coefficients) -> Evaluated:
    """Σ_c B_ic Σ_k a_kcs λ_i^k for real λ.

    Parameters
    ----------
    lam : (N,) float64
        Members; meant for |λ| up to about 1.
    gains : (N, m) or (1, m)
        Gains, one row for all where there is only one.
    coefs : Coefficients
        Coefficients a_kcs.

    Returns
    -------
    Evaluated

    Notes
    -----
    O(n_nodes H + 20 N) for one column, in matrix products for many.
    """
    kept = coefs.cut(float(np.abs(lam).max()))
    steps = len(kept.columns)

    def size_at(points: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            sizes = power_tables(points, steps).values(kept.envelope[:, None])[0]
        return np.where(np.isnan(sizes), np.inf, sizes)

    cells, members = graded_cells(lam, steps, size_at)
    nodes = cells.nodes(members)
    at_nodes, summands = _values_at(nodes, kept.columns)
    dtype = np.result_type(kept.columns, gains, float)
    out = np.empty((lam.size, kept.shape[1]), dtype=dtype)
    bound = 0.0
    starts = cells.node_starts
    for g in range(len(cells.groups)):
        held = cells.members(g)
        local_gains = gains if len(gains) == 1 else gains[cells.groups.index(held)]
        sums = at_nodes[:, starts[g] : starts[g + 1]]
        error = (summands + _ROUNDINGS_OF_A_POWER) * EPS * float(cells.size[g])
        if cells.direct[g]:
            out[cells.groups.index(held)] = kept.combined(sums, local_gains)
        else:
            series, growth = _series(cells, g, nodes[starts[g] : starts[g + 1]], sums)
            error = growth * error + float(cells.truncation[g]) + _rounding_of_series(series)
            _evaluate(cells, g, members, series, (kept, gains), out)
        tail = 2.0**-59 * float(cells.size.max())
        bound = max(bound, (error + tail) * kept.gain(local_gains))
    return Evaluated(out, bound)


def real_line_moments(lam: Array, weights: Array, steps: int) -> Moments:
    """Σ_i w_iq λ_i^k for k < steps, real λ.

    Parameters
    ----------
    lam : (N,) float64
        Members; meant for |λ| up to about 1.
    weights : (N, Q)
        Weights.
    steps : int
        Number of moments.

    Returns
    -------
    Moments
    """
    nodes, at_nodes, error = real_line_nodes(lam, weights, steps)
    moments = np.zeros((steps, weights.shape[1]), dtype=np.result_type(weights, float))
    summands = 0
    fitting = PowerTables.fitting_members(steps, weights.shape[1], _NODE_CHUNK)
    for first in range(0, nodes.size, fitting):
        chunk = slice(first, first + fitting)
        tables = accurate_power_tables(nodes[chunk], steps)
        moments += tables.moments(at_nodes[chunk], steps)
        summands += nodes[chunk].size
    radius = max(1.0, float(np.abs(lam).max())) ** (steps - 1)
    total = np.abs(at_nodes).sum(axis=0)
    return Moments(moments, error + (summands + _ROUNDINGS_OF_A_POWER) * EPS * radius * total)


def real_line_nodes(lam: Array, weights: Array, steps: int) -> tuple[Array, Array, Array]:
    """A few hundred points and weights with the same moments of λ^k, k < steps.

    Parameters
    ----------
    lam : (N,) float64
        Members.
    weights : (N, Q)
        Weights.
    steps : int
        Number of moments that are kept.

    Returns
    -------
    nodes : (n,) float64
        Points between the smallest and the largest λ; members that have few neighbours stay.
    at_nodes : (n, Q)
        Their weights; Σ|at_nodes| ≈ Σ|weights| where many members of one sign share a cell.
    error_bound : (Q,)
        Bound on Σ_i w_iq λ_i^k − Σ_n at_nodes_nq nodes_n^k, for every k.

    Notes
    -----
    The adjoint of interpolation ("anterpolation"): moments of T_j in each cell, spread over its
    Chebyshev nodes.  O(20 N Q) operations.
    """

    def size_at(points: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.maximum(1.0, np.power(points, float(steps - 1)))

    cells, members = graded_cells(lam, _memory_of(lam, steps), size_at)
    nodes = cells.nodes(members)
    at_nodes = np.zeros((nodes.size, weights.shape[1]), dtype=np.result_type(weights, float))
    error = np.zeros(weights.shape[1])
    starts = cells.node_starts
    for g in range(len(cells.groups)):
        held, place = cells.members(g), slice(int(starts[g]), int(starts[g + 1]))
        if cells.direct[g]:
            at_nodes[place] = weights[cells.groups.index(held)]
            continue
        count = int(cells.count[g])
        moments = np.zeros((count, weights.shape[1]), dtype=at_nodes.dtype)
        total = np.zeros(weights.shape[1])
        for first in range(held.start, held.stop, _SUM_CHUNK):
            chunk = slice(first, min(first + _SUM_CHUNK, held.stop))
            held_weights = weights[cells.groups.index(chunk)]
            moments += chebyshev_rows(cells.local(g, members[chunk]), count) @ held_weights
            total += np.abs(held_weights).sum(axis=0)
        basis = chebyshev_rows(cells.local(g, nodes[place]), count)
        at_nodes[place] = np.linalg.solve(basis, moments)
        summands = min(_SUM_CHUNK, held.stop - held.start) + (held.stop - held.start) / _SUM_CHUNK
        growth = _lebesgue(count) * summands + count * (3.0 * count + 8.0)
        rounding = EPS * growth * float(cells.size[g])
        error += total * (float(cells.truncation[g]) + rounding)
    return nodes, at_nodes, error


def _memory_of(lam: Array, steps: int) -> int:
    """How many powers of the largest |λ| stay above 2^-60."""
    powers = powers_up_to(float(np.abs(lam).max()), steps)
    return max(1, int(np.count_nonzero(powers > 2.0**-60)))


def _values_at(nodes: Array, columns: Array) -> tuple[Array, int]:
    """Σ_k a_kq z^k at nodes z as (Q, n), and the length of the sums."""
    parts, summands = [], 0
    fitting = PowerTables.fitting_members(len(columns), columns.shape[1], _NODE_CHUNK)
    for first in range(0, nodes.size, fitting):
        tables = accurate_power_tables(nodes[first : first + fitting], len(columns))
        parts.append(tables.values(columns))
        summands = tables.summands
    return np.concatenate(parts, axis=1), summands


def _series(cells: GradedCells, g: int, nodes: Array, sums: Array) -> tuple[Array, float]:
    """Coefficients (Q, n) of the Chebyshev series through the nodes, and the Lebesgue constant."""
    # The nodes are rounded: solving at the points they really are makes that harmless.
    count = nodes.size
    basis = chebyshev_rows(cells.local(g, nodes), count)
    return np.linalg.solve(basis.T, sums.T).T, _lebesgue(count) + 8.0 * count * EPS


def _lebesgue(count: int) -> float:
    """Lebesgue constant of ``count`` Chebyshev nodes, from above."""
    return 2.0 / math.pi * math.log(count) + 1.0


def _rounding_of_series(series: Array) -> float:
    orders = np.arange(series.shape[1], dtype=float)
    return 4.0 * EPS * float((np.abs(series) @ (orders**2 + orders + 1.0)).max())


def _evaluate(
    cells: GradedCells,
    g: int,
    members: Array,
    series: Array,
    how: tuple[Coefficients, Array],
    out: Array,
) -> None:
    coefs, gains = how
    held, count = cells.members(g), series.shape[1]
    rows = np.empty((count, _CHUNK))
    for first in range(held.start, held.stop, _CHUNK):
        chunk = slice(first, min(first + _CHUNK, held.stop))
        part = rows[:, : chunk.stop - chunk.start]
        chebyshev_rows(cells.local(g, members[chunk]), count, part)
        place = cells.groups.index(chunk)
        out[place] = coefs.combined(series @ part, gains if len(gains) == 1 else gains[place])
