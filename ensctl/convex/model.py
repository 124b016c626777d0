"""A cvxpy program put together from its parts, LQ-preconditioned, scaled and DPP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.modelling import modelling
from ensctl.convex.pieces import CONIC, domain_part, input_cost, region_part, row_scales, rows_part
from ensctl.convex.problem import Objective, Problem
from ensctl.convex.regions import Ball, Quadratic, Within, WithinDiscs, Zero
from ensctl.convex.rows import Rows
from ensctl.convex.solvers import Ability
from ensctl.errors import InvalidInputError

Array = NDArray[Any]
Expression = Any


@dataclass(frozen=True, eq=False)
class Model:
    """A compiled program and the way in and out of it.

    Attributes
    ----------
    program : cvxpy.Problem
        In v = u/s.
    inputs : cvxpy.Variable
        v.
    ability : Ability
        What a solver must be able to solve.
    assign : callable
        (problem, s): sets every parameter.
    multipliers : callable
        (s) ↦ (η, (y_1, …)) of the problem in u, read after a solve.
    """

    program: Any
    inputs: Any
    ability: Ability
    assign: Callable[[Problem, float], None]
    multipliers: Callable[[float], tuple[Array, tuple[Array, ...]]]


@dataclass(frozen=True, eq=False)
class _Terminal:
    constraints: list[Any]
    cost: Expression
    assign: Callable[[Problem, float], None]
    eta: Callable[[], Array]


def build_model(problem: Problem, scale: float, *, elastic: bool = False) -> Model:
    """Compile a problem.

    Parameters
    ----------
    problem : Problem
        Its objective, matrices, kinds of regions and pattern of finite limits are built in; its
        c, t, limits and radii become parameters.
    scale : float
        s of a typical solve.
    elastic : bool
        Minimise Σ|violation of the target and of the rows| instead of the objective.  This always
        has a solution, and when its minimum is positive its multipliers prove infeasibility.

    Returns
    -------
    Model

    Raises
    ------
    InvalidInputError
        The program is not DPP.
    """
    cp = modelling()

    size, count = problem.system.basis.shape
    inputs = cp.Variable(size)
    slacks: list[Any] = []

    def relaxed(expression: Expression, rows: int) -> Expression:
        if not elastic:
            return expression
        slacks.append(cp.Variable(rows))
        return expression - slacks[-1]

    terminal = _terminal_part(problem, inputs, scale, lambda rows: relaxed(rows, count))
    domain = domain_part(problem.domain, inputs)
    scales = [row_scales(rows) for rows in problem.limits]
    parts = [
        rows_part(rows, relaxed(_divided(rows, norms) @ inputs, rows.count), norms)
        for rows, norms in zip(problem.limits, scales, strict=True)
    ]
    cost = input_cost(problem, inputs) + terminal.cost
    if elastic:
        cost = sum(cp.norm1(slack) for slack in slacks)
    constraints = [*terminal.constraints, *domain.constraints]
    for part in parts:
        constraints += part.constraints
    quadratic = problem.objective is Objective.ENERGY and not elastic

    def assign(new: Problem, new_scale: float) -> None:
        terminal.assign(new, new_scale)
        domain.assign(new.domain, new_scale)
        for part, rows in zip(parts, new.limits, strict=True):
            part.assign(rows.target, rows.region, new_scale)

    def multipliers(new_scale: float) -> tuple[Array, tuple[Array, ...]]:
        factor = new_scale if quadratic else 1.0
        limits = tuple(
            factor * part.multiplier() / norms for part, norms in zip(parts, scales, strict=True)
        )
        return factor * terminal.eta(), limits

    program = checked_dpp(cp.Problem(cp.Minimize(cost), constraints))
    return Model(program, inputs, _ability(problem, elastic), assign, multipliers)


def checked_dpp(program: Any) -> Any:
    """The cvxpy program itself, refused unless it is DPP.

    Raises
    ------
    InvalidInputError
        Parameters enter in a way that would force a compilation at every solve.
    """
    if not program.is_dcp(dpp=True):
        raise InvalidInputError(
            "program must be DPP (parameters enter linearly), it is not; rewrite products of "
            "parameters as new parameters"
        )
    return program


def _ability(problem: Problem, elastic: bool) -> Ability:
    regions = [problem.terminal, *(rows.region for rows in problem.limits)]
    if isinstance(problem.domain, CONIC) or any(isinstance(region, CONIC) for region in regions):
        return Ability.SOCP
    quadratic = problem.objective is Objective.ENERGY or isinstance(problem.terminal, Quadratic)
    return Ability.QP if quadratic and not elastic else Ability.LP


def _divided(rows: Rows, norms: Array) -> Any:
    """M with its rows divided."""
    if isinstance(rows.matrix, np.ndarray):
        return rows.matrix / norms[:, None]
    from scipy import sparse

    return sparse.diags_array(1.0 / norms) @ rows.matrix


def _terminal_part(
    problem: Problem, inputs: Expression, scale: float, relaxed: Callable[[Expression], Expression]
) -> _Terminal:
    """Qᵀv − c/s = L^{-1} e/s with e in the terminal region.

    e = s ŵ ε with ŵ the radii over s (√ρ for a cost), so that ε is of order one; rows of
    L^{-1} ŵ that are larger than 1 are divided by their norm, so that no coefficient is large
    whatever the condition number of L is.
    """
    basis, terminal = problem.system.basis, problem.terminal
    count = basis.shape[1]
    if isinstance(terminal, Zero):
        rows = Rows(basis.T, problem.coordinates, terminal)
        part = rows_part(rows, relaxed(basis.T @ inputs), np.ones(count))
        return _Terminal(
            part.constraints,
            0.0,
            lambda new, s: part.assign(new.coordinates, new.terminal, s),
            part.multiplier,
        )
    cp = modelling()

    weights = _error_weights(problem, scale)
    spread = problem.system.inverse * weights
    divisor = np.maximum(1.0, np.linalg.norm(spread, axis=1))
    error = cp.Variable(count)
    expression = (basis / divisor).T @ inputs - (spread / divisor[:, None]) @ error
    equation = rows_part(Rows(basis.T, problem.coordinates, Zero()), relaxed(expression), divisor)
    if isinstance(terminal, Quadratic):
        root = cp.Parameter(nonneg=True)
        # f(u) = s f(v) for fuel and peak, s² f(v) for energy; the cost is s² times that of ε.
        linear = problem.objective is not Objective.ENERGY

        def assign_cost(new: Problem, s: float) -> None:
            equation.assign(new.coordinates, Zero(), s)
            root.value = np.sqrt(s) if linear else 1.0

        return _Terminal(
            equation.constraints,
            0.5 * cp.sum_squares(root * error),
            assign_cost,
            lambda: equation.multiplier() / divisor,
        )
    inside, assign_region = region_part(terminal, error, np.where(weights > 0.0, weights, 1.0))

    def assign(new: Problem, s: float) -> None:
        equation.assign(new.coordinates, Zero(), s)
        assign_region(new.terminal, s)

    return _Terminal(
        [*equation.constraints, *inside],
        0.0,
        assign,
        lambda: equation.multiplier() / divisor,
    )


def _error_weights(problem: Problem, scale: float) -> Array:
    """ŵ, (N,): 0 for rows that have to be met exactly."""
    terminal, count = problem.terminal, problem.coordinates.size
    if isinstance(terminal, Quadratic):
        return np.full(count, np.sqrt(terminal.softness))
    if isinstance(terminal, Within | WithinDiscs | Ball):
        return np.resize(terminal.radius, count) / scale
    raise InvalidInputError(
        f"terminal must be an equality, a tolerance or a cost, got {type(terminal).__name__}"
    )
