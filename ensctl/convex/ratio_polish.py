"""Take the last digits: solve the equations of a vertex, or of an optimum on a cone, once more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.ratio_program import RatioProgram, certified, violation

Array = NDArray[Any]

_USED = 1e-7
_STEPS = 8


def polished_vertex(program: RatioProgram, y: Array) -> Array:
    """Solve the equations of the vertex again: the active rows, over the arms in use."""
    used = np.flatnonzero(y > 1e-9)
    worst = program.rewards @ y
    active = np.flatnonzero(program.rows @ y - program.limits > -1e-9)
    tied = np.flatnonzero(worst - worst.min() < 1e-9)
    if used.size != 1 + active.size + (tied.size - 1):
        return y
    # Unknowns: y of the arms in use.  Rewards that tie are equal to the first of them.
    equal = program.rewards[tied[1:]] - program.rewards[tied[:1]]
    matrix = np.vstack([program.cycles, program.rows[active], equal])[:, used]
    right = np.concatenate([[1.0], program.limits[active], np.zeros(tied.size - 1)])
    try:
        solved = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return y
    polished = np.zeros_like(y)
    polished[used] = solved
    if polished.min() < -1e-12 or violation(program, polished) > 1e-12:
        return y
    return polished


def polished_cone(program: RatioProgram, y: Array, mu: Array, pi: Array) -> tuple[Array, Array]:
    """Newton steps on the optimality conditions of the arms in use, kept where the gap shrinks.

    g(y) − θC − A'ᵀπ' = 0 with g = R − κFᵀF y/‖F y‖₂, C·y = 1 and A' y = b' for the active rows.
    Several tied rewards move μ as well and are left to the solver.
    """
    if program.rewards.shape[0] > 1:
        return y, pi
    before = certified(program, y, mu, pi)
    used = np.flatnonzero(y > _USED)
    active = np.flatnonzero((program.limits - program.rows @ y < _USED) & (pi > _USED))
    cycles, rows = program.cycles[used], program.rows[np.ix_(active, used)]
    factor, reward = program.factor[:, used], program.rewards[0, used]
    curvature = factor.T @ factor
    equations = np.vstack([cycles, rows])
    right = np.concatenate([[1.0], program.limits[active]])
    point, prices = y[used], np.concatenate([[before.time_price], pi[active]])
    for _ in range(_STEPS):
        norm = float(np.linalg.norm(factor @ point))
        if norm == 0:
            return y, pi
        slope = curvature @ point / norm
        hessian = program.kappa * (curvature - np.outer(slope, slope)) / norm
        system = np.block([[hessian, equations.T], [equations, np.zeros((right.size, right.size))]])
        residual = np.concatenate(
            [
                reward - program.kappa * slope - equations.T @ prices,
                right - equations @ point,
            ]
        )
        step = np.linalg.lstsq(system, residual, rcond=None)[0]
        point, prices = point + step[: used.size], prices + step[used.size :]
    full, full_pi = np.zeros_like(y), np.zeros_like(pi)
    full[used], full_pi[active] = point, prices[1:]
    if not (np.all(np.isfinite(full)) and np.all(np.isfinite(full_pi)) and full.min() > -1e-12):
        return y, pi
    if violation(program, full) > 1e-12:
        return y, pi
    after = certified(program, full, mu, full_pi)
    better = after.upper_bound - after.value < before.upper_bound - before.value
    return (full, full_pi) if better else (y, pi)
