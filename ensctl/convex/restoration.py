"""From a solver's answer to one that meets the target to rounding and the domain exactly.

Solvers stop within a tolerance.  Entries they put next to a limit are set to it, the rest is
corrected by the smallest change that meets the target and the active rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box
from ensctl.convex.problem import Objective, Problem
from ensctl.convex.regions import Ball, Below, Within, Zero
from ensctl.convex.rows import Rows
from ensctl.convex.settling import settled

Array = NDArray[Any]

# How close to a limit, relative to the largest input, counts as being there.
CLOSENESS = (1e-9, 1e-7, 1e-5)


def candidates(problem: Problem, inputs: Array) -> list[Array]:
    """The answer clipped to its domain, and restored with each notion of closeness."""
    found = [problem.domain.nearest(inputs)]
    if isinstance(problem.terminal, Zero):
        found += [restored(problem, inputs, closeness) for closeness in CLOSENESS]
    if isinstance(problem.terminal, Ball):
        found += _on_the_sphere(problem, found[0], problem.terminal.radius)
    return found


def _on_the_sphere(problem: Problem, inputs: Array, radius: float) -> list[Array]:
    """α u with ‖R α u − d‖ = r, α next to 1: cheaper, or feasible, by a hair."""
    system = problem.system
    moved = system.factor @ (system.basis.T @ inputs)
    target = system.factor @ problem.coordinates
    square, half = float(moved @ moved), float(moved @ target)
    rest = half * half - square * (float(target @ target) - radius * radius)
    if square == 0.0 or rest < 0.0:
        return []
    roots = [(half + sign * np.sqrt(rest)) / square for sign in (-1.0, 1.0)]
    factor = min(roots, key=lambda root: abs(root - 1.0))
    return [problem.domain.nearest(factor * inputs)]


def settled_candidates(problem: Problem, found: list[Array]) -> Iterator[Array]:
    """Points near those found that meet Qᵀu = c to rounding, the least changed first."""
    for hold in (True, False) if problem.limits else (False,):
        for closeness in (*CLOSENESS, 0.0):
            for inputs in found:
                yield settled(problem, inputs, closeness, hold=hold)


def restored(problem: Problem, inputs: Array, closeness: float) -> Array:
    """Set entries within ``closeness`` · max|u| of a limit to it and correct the others.

    Parameters
    ----------
    problem : Problem
        With Qᵀu = c as terminal region.
    inputs : (n,) float64
        u within the tolerance of some solver.
    closeness : float

    Returns
    -------
    (n,) float64
        In the domain.  Least squares decides where the target and the active rows cannot all be
        met by the entries that are left.

    Notes
    -----
    For a basic solution of a linear program this solves for the basis: Qᵀu = c to rounding.
    O(n (N + active rows)²).
    """
    from scipy.linalg import lstsq

    near = closeness * float(problem.sizes(inputs).max())
    if near == 0.0:
        return problem.domain.nearest(inputs)
    fixed, held = _held(problem, inputs, near)
    peak = float(problem.sizes(inputs).max())
    at_peak = np.zeros(held.shape, dtype=bool)
    if problem.objective is Objective.PEAK and isinstance(problem.domain, Box):
        at_peak = (np.abs(held) >= peak - near) & ~fixed
        held = np.where(at_peak, np.copysign(peak, held), held)
    matrix, miss = _active_rows(problem, held, near)
    free = ~fixed & ~at_peak
    columns = [matrix[:, free]]
    if at_peak.any():
        # Entries at the peak move together.
        columns.append(matrix[:, at_peak] @ np.sign(held[at_peak])[:, None])
    system = np.hstack(columns)
    if not system.shape[1]:
        return problem.domain.nearest(held)
    change = lstsq(system, miss, lapack_driver="gelsy", check_finite=False)[0]
    held[free] += change[: int(free.sum())]
    if at_peak.any():
        held[at_peak] += np.sign(held[at_peak]) * change[-1]
    return problem.domain.nearest(held)


def _held(problem: Problem, inputs: Array, near: float) -> tuple[Array, Array]:
    """Which entries sit at a limit (or at zero, for fuel), and u with them exactly there."""
    domain = problem.domain
    sizes = problem.sizes(inputs)
    if isinstance(domain, Box):
        low, high = inputs <= domain.lower + near, inputs >= domain.upper - near
        held = np.where(low, domain.lower, np.where(high, domain.upper, inputs))
        fixed = low | high
    else:
        held = domain.nearest(inputs)
        fixed = np.tile(sizes >= domain.radius - near, 2)
    if problem.objective is Objective.FUEL:
        zero = sizes <= near
        zero = np.tile(zero, 2) if problem.stacked else zero
        zero &= ~fixed
        held = np.where(zero, 0.0, held)
        fixed = fixed | zero
    return fixed, held


def _active_rows(problem: Problem, inputs: Array, near: float) -> tuple[Array, Array]:
    """Rows that have to be met with equality, and by how much they are missed."""
    basis = problem.system.basis
    matrix, miss = [basis.T], [problem.coordinates - basis.T @ inputs]
    for rows in problem.limits:
        error, norms = rows.error(inputs), rows.norms
        aim = _active_aim(rows, error, near * norms)
        active = np.isfinite(aim) & (norms > 0.0)
        if active.any():
            matrix.append(rows.dense(np.flatnonzero(active)) / norms[active, None])
            miss.append((aim - error)[active] / norms[active])
    return np.vstack(matrix), np.concatenate(miss)


def _active_aim(rows: Rows, error: Array, near: Array) -> Array:
    """The value an active row should have; nan for rows that are not active."""
    region = rows.region
    if isinstance(region, Zero):
        return np.zeros(error.shape)
    if isinstance(region, Below):
        return np.where(error >= -near, 0.0, np.nan)
    if isinstance(region, Within):
        active = np.abs(error) >= region.radius - near
        return np.where(active, np.copysign(region.radius, error), np.nan)
    return np.full(error.shape, np.nan)
