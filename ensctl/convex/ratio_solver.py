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
# Interior points that stall on a cone mostly do not at another size of the objective.
_STRETCHES = (1.0, 0.1, 10.0)


@dataclass(frozen=True, eq=False)
class _Compiled:
    problem: Any
    y: Any
    rewards: Any
    cycles: Any
    rows: Any
    limits: Any
    cone: Any
    cone_part: Any
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
    Rows and rewards are scaled to unit size and cycles to mean one first.  Linear programs go to
    a simplex solver, whose vertex is then solved again as linear equations; cones to an interior
    point, followed by Newton steps on the optimality conditions of the arms in use, and where
    that is not enough to the linear program of mixes without any risk.
    """
    solution, words = None, ""
    for stretch in _STRETCHES if program.kappa else (1.0,):
        try:
            found = _attempt(program, stretch)
        except SolverError as error:
            words = str(error)
            continue
        if isinstance(found, RowConflict):
            return found
        if _accepted(found):
            return found
        solution = found
        break
    if program.kappa:
        certain = _without_risk(program)
        if certain is not None:
            return certain
    if solution is None:
        raise SolverError(words)
    raise SolverError(
        f"the best mix found is {solution.upper_bound - solution.value:.2g} below its bound "
        f"and violates a row by {solution.violation:.2g}; rescale the constraints"
    )


def _attempt(program: RatioProgram, stretch: float) -> RatioSolution | RowConflict:
    scaled, unit, sizes, worth = _scaled(program, stretch)
    found = _solve(scaled)
    if found is None:
        proof = _conflict(scaled)
        if proof is None:
            raise SolverError("no solver decided whether the constraints of the mix can be met")
        again = conflict(program, proof.row_prices / sizes)
        return proof if again is None else again
    y, mu, pi, z = found
    if scaled.kappa:
        y, pi = polished_cone(scaled, y, mu, pi)
    else:
        y = polished_vertex(scaled, y)
    return certified(program, y / unit, mu, worth * pi / sizes, z)


def _accepted(solution: RatioSolution) -> bool:
    gap = solution.upper_bound - solution.value
    return gap <= GAP * max(1e-300, abs(solution.value)) and solution.violation <= GAP


def _without_risk(program: RatioProgram) -> RatioSolution | None:
    """The best mix with F y = 0, where there is one: what a large κ asks for.

    A linear program: the multiplier of F y = 0, divided by κ, is the z of the bound.
    """
    risky = np.abs(program.factor).max(axis=1) > 0
    factor = program.factor[risky]
    q, r = program.limits.size, factor.shape[0]
    scaled, unit, sizes, worth = _scaled(
        RatioProgram(
            program.rewards,
            program.cycles,
            np.vstack([program.rows, factor, -factor]),
            np.concatenate([program.limits, np.zeros(2 * r)]),
            np.zeros((0, program.cycles.size)),
        )
    )
    found = _solve(scaled)
    if found is None:
        return None
    y, mu, pi, _ = found
    prices = worth * pi / sizes
    z = np.zeros(program.factor.shape[0])
    z[np.abs(program.factor).max(axis=1) > 0] = (
        prices[q : q + r] - prices[q + r :]
    ) / program.kappa
    solution = certified(program, y / unit, mu, prices[:q], z)
    return solution if _accepted(solution) else None


def _scaled(
    program: RatioProgram, stretch: float = 1.0
) -> tuple[RatioProgram, float, Array, float]:
    """Cycles of mean one, rows of largest entry one, rewards of 1/stretch; y there is y·unit."""
    unit = float(program.cycles.mean())
    # With y = y'/unit: A y ≤ b becomes A y' ≤ b·unit.
    limits = program.limits * unit
    sizes = np.maximum(np.abs(program.rows).max(axis=1, initial=0.0), np.abs(limits))
    sizes[sizes == 0] = 1.0
    spread = program.kappa * float(np.abs(program.factor).max(initial=0.0))
    worth = stretch * (max(float(np.abs(program.rewards).max()), spread) or 1.0)
    scaled = RatioProgram(
        program.rewards / worth,
        program.cycles / unit,
        program.rows / sizes[:, None],
        limits / sizes,
        # κF of size one as a whole: the cone is stated with κ = 1.
        program.factor * (program.kappa / worth),
        1.0 if spread else 0.0,
    )
    return scaled, unit, sizes, worth


def _solve(program: RatioProgram) -> tuple[Array, Array, Array, Array | None] | None:
    """(y, μ, π, z), or None where the solver calls the rows infeasible."""
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
            z = None
            if compiled.cone_part is not None:
                z = -np.asarray(compiled.cone_part.dual_value[1]).ravel()
            return compiled.y.value, np.asarray(mu), pi, z
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
        compiled.cone.value = program.factor


@lru_cache(maxsize=64)
def _compile(rewards: int, arms: int, rows: int, cone: int, elastic: bool) -> _Compiled:
    """A DPP program of this shape; numbers come in as parameters."""
    cvxpy = modelling()
    y = cvxpy.Variable(arms, nonneg=True)
    cycles = cvxpy.Parameter(arms)
    constraints = [cycles @ y == 1]
    row_part = matrix = limits = factor = cone_part = None
    if rows:
        matrix, limits = cvxpy.Parameter((rows, arms)), cvxpy.Parameter(rows)
        slack = cvxpy.Variable(rows, nonneg=True) if elastic else 0
        row_part = matrix @ y - slack <= limits
        constraints.append(row_part)
    if elastic:
        problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(slack)), constraints)
        return _Compiled(problem, y, None, cycles, matrix, limits, None, None, None, row_part)
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
        factor, norm = cvxpy.Parameter((cone, arms)), cvxpy.Variable()
        cone_part = cvxpy.SOC(norm, factor @ y)
        constraints.append(cone_part)
        value = value - norm
    problem = cvxpy.Problem(cvxpy.Maximize(value), constraints)
    return _Compiled(
        problem, y, reward, cycles, matrix, limits, factor, cone_part, reward_part, row_part
    )
