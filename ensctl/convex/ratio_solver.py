"""Solve linear-fractional programs over mixes: compiled once per shape, checked every time."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.modelling import modelling
from ensctl.convex.ratio_polish import polished_cone, polished_vertex
from ensctl.convex.ratio_program import (
    RatioProgram,
    RatioSolution,
    RowConflict,
    certified,
    conflict,
)
from ensctl.convex.solvers import Ability, able_backends
from ensctl.errors import SolverError

Array = NDArray[Any]

# A mix whose proof is no better than this is not returned.
GAP = 1e-7


@dataclass(frozen=True, eq=False)
class _Compiled:
    problem: Any
    y: Any
    rewards: Any
    cycles: Any
    rows: Any
    limits: Any
    cone: Any
    reward_part: Any
    row_part: Any


def solve_ratio(program: RatioProgram) -> RatioSolution | RowConflict:
    """Best mix, or the proof that the rows contradict each other.

    Parameters
    ----------
    program : RatioProgram
        The data; a linear program where κ = 0.

    Returns
    -------
    RatioSolution or RowConflict

    Raises
    ------
    SolverError
        Neither a mix within 1e-7 of its bound nor a conflict was found.

    Notes
    -----
    Rows are scaled to unit size and cycles to mean one first.  Linear programs go to a simplex
    solver, whose vertex is then solved again as linear equations; cones to an interior point,
    followed by Newton steps on the optimality conditions of the arms in use.
    """
    scaled, unit, sizes = _scaled(program)
    found = _solve(scaled)
    if found is None:
        proof = _conflict(scaled)
        if proof is None:
            raise SolverError("no solver decided whether the constraints of the mix can be met")
        again = conflict(program, proof.row_prices / sizes)
        return proof if again is None else again
    y, mu, pi = found
    if scaled.kappa:
        y, pi = polished_cone(scaled, y, mu, pi)
    else:
        y = polished_vertex(scaled, y)
    solution = certified(program, y / unit, mu, pi / sizes)
    gap = solution.upper_bound - solution.value
    if gap > GAP * max(1e-300, abs(solution.value)) or solution.violation > GAP:
        raise SolverError(
            f"the best mix found is {gap:.2g} below its bound and violates a row by "
            f"{solution.violation:.2g}; rescale the constraints"
        )
    return solution


def _scaled(program: RatioProgram) -> tuple[RatioProgram, float, Array]:
    """Cycles of mean one and rows of largest entry one; y in the scaled program is y·unit."""
    unit = float(program.cycles.mean())
    # With y = y'/unit: A y ≤ b becomes A y' ≤ b·unit.
    limits = program.limits * unit
    sizes = np.maximum(np.abs(program.rows).max(axis=1, initial=0.0), np.abs(limits))
    sizes[sizes == 0] = 1.0
    scaled = RatioProgram(
        program.rewards,
        program.cycles / unit,
        program.rows / sizes[:, None],
        limits / sizes,
        program.factor,
        program.kappa,
    )
    return scaled, unit, sizes


def _solve(program: RatioProgram) -> tuple[Array, Array, Array] | None:
    """(y, μ, π), or None where the solver calls the rows infeasible."""
    compiled = _compile(
        program.rewards.shape[0],
        program.cycles.size,
        program.limits.size,
        program.factor.shape[0] if program.kappa else 0,
        False,
    )
    _assign(compiled, program)
    ability = Ability.SOCP if program.kappa else Ability.LP
    words = []
    for backend in able_backends(ability):
        word = _run(compiled.problem, backend)
        if word in ("optimal", "optimal_inaccurate") and compiled.y.value is not None:
            pi = compiled.row_part.dual_value if compiled.row_part is not None else np.zeros(0)
            mu = np.ones(1) if compiled.reward_part is None else compiled.reward_part.dual_value
            return compiled.y.value, np.asarray(mu), pi
        if word in ("infeasible", "infeasible_inaccurate"):
            return None
        words.append(f"{backend.name}: {word}")
    raise SolverError("every solver stopped on the mix: " + "; ".join(words))


def _conflict(program: RatioProgram) -> RowConflict | None:
    """Multipliers of the elastic program: least total violation of the rows."""
    compiled = _compile(1, program.cycles.size, program.limits.size, 0, True)
    _assign(compiled, program)
    for backend in able_backends(Ability.LP):
        if _run(compiled.problem, backend) == "optimal":
            proof = conflict(program, np.asarray(compiled.row_part.dual_value))
            if proof is not None:
                return proof
    return None


def _run(problem: Any, backend: Any) -> str:
    cvxpy = modelling()
    try:
        with warnings.catch_warnings():
            # Inaccuracy is measured afterwards, against the data.
            warnings.simplefilter("ignore")
            problem.solve(solver=backend.cvxpy_name, **backend.settings(None, None))
    except cvxpy.error.SolverError as error:
        return f"failed ({error})"
    return str(problem.status)


def _assign(compiled: _Compiled, program: RatioProgram) -> None:
    compiled.cycles.value = program.cycles
    if compiled.rewards is not None:
        compiled.rewards.value = program.rewards
    if compiled.rows is not None:
        compiled.rows.value = program.rows
        compiled.limits.value = program.limits
    if compiled.cone is not None:
        compiled.cone.value = program.kappa * program.factor


@lru_cache(maxsize=64)
def _compile(rewards: int, arms: int, rows: int, cone: int, elastic: bool) -> _Compiled:
    """A DPP program of this shape; numbers come in as parameters."""
    cvxpy = modelling()
    y = cvxpy.Variable(arms, nonneg=True)
    cycles = cvxpy.Parameter(arms)
    constraints = [cycles @ y == 1]
    row_part = matrix = limits = factor = None
    if rows:
        matrix, limits = cvxpy.Parameter((rows, arms)), cvxpy.Parameter(rows)
        slack = cvxpy.Variable(rows, nonneg=True) if elastic else 0
        row_part = matrix @ y - slack <= limits
        constraints.append(row_part)
    if elastic:
        problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(slack)), constraints)
        return _Compiled(problem, y, None, cycles, matrix, limits, None, None, row_part)
    reward = cvxpy.Parameter((rewards, arms))
    if rewards == 1:
        # Without the variable for the worst case interior points reach two digits more.
        value = reward[0] @ y
        reward_part = None
    else:
        value = cvxpy.Variable()
        reward_part = value <= reward @ y
        constraints.append(reward_part)
    if cone:
        factor = cvxpy.Parameter((cone, arms))
        value = value - cvxpy.norm(factor @ y, 2)
    problem = cvxpy.Problem(cvxpy.Maximize(value), constraints)
    return _Compiled(problem, y, reward, cycles, matrix, limits, factor, reward_part, row_part)
