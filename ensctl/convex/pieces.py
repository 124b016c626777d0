"""The parts of a cvxpy program, one builder per kind of domain, region and objective.

Programs are posed in scaled inputs v = u/s and rows divided by their norms.  Whatever changes from
one solve to the next is a cvxpy parameter that enters linearly, so the programs are DPP.  Each
part says how to set its parameters and how to read its multipliers back in the scale of u.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box, Discs, Domain
from ensctl.convex.modelling import modelling
from ensctl.convex.problem import Objective, Problem
from ensctl.convex.regions import Ball, Below, Region, Within, WithinDiscs, Zero
from ensctl.convex.rows import Rows

Array = NDArray[Any]
Expression = Any
Constraint = Any


@dataclass(frozen=True, eq=False)
class DomainPart:
    """Constraints of the domain; their multipliers are not needed."""

    constraints: list[Constraint]
    assign: Callable[[Any, float], None]


@dataclass(frozen=True, eq=False)
class RowsPart:
    """Constraints of a block of rows.

    Attributes
    ----------
    constraints : list
    assign : callable
        (target, region, s) sets the parameters.
    multiplier : callable
        Multipliers of the block for the scaled program, read after a solve.
    """

    constraints: list[Constraint]
    assign: Callable[[Array, Any, float], None]
    multiplier: Callable[[], Array]


def domain_part(domain: Domain, inputs: Expression) -> DomainPart:
    """v in the domain divided by s."""
    return _DOMAIN[type(domain)](domain, inputs)


def _box_part(domain: Box, inputs: Expression) -> DomainPart:
    cp = modelling()

    low, high = np.flatnonzero(np.isfinite(domain.lower)), np.flatnonzero(np.isfinite(domain.upper))
    # One-sided entries as -v <= -l and v <= h of one vector: a limit that is absent has no row.
    signed = cp.hstack([-inputs[low], inputs[high]])
    limit = cp.Parameter(low.size + high.size) if low.size + high.size else None

    def assign(new: Box, scale: float) -> None:
        if limit is not None:
            limit.value = np.concatenate([-new.lower[low], new.upper[high]]) / scale

    return DomainPart([] if limit is None else [signed <= limit], assign)


def _discs_part(domain: Discs, inputs: Expression) -> DomainPart:
    cp = modelling()

    finite = np.flatnonzero(np.isfinite(domain.radius))
    radius = cp.Parameter(finite.size, nonneg=True) if finite.size else None

    def assign(new: Discs, scale: float) -> None:
        if radius is not None:
            radius.value = new.radius[finite] / scale

    return DomainPart([] if radius is None else [complex_moduli(inputs)[finite] <= radius], assign)


def rows_part(rows: Rows, expression: Expression, norms: Array) -> RowsPart:
    """expression − t/(norm s) in the region divided by (norm s).

    Parameters
    ----------
    rows : Rows
        Kind of region and number of rows; numbers come with ``assign``.
    expression : cvxpy expression, (rows,)
        M v with its rows divided by ``norms``.
    norms : (rows,) float64
    """
    cp = modelling()

    target = cp.Parameter(rows.count)
    if isinstance(rows.region, Zero | Below):
        equal = isinstance(rows.region, Zero)
        constraint = expression == target if equal else expression <= target

        def assign_target(new: Array, region: Region, scale: float) -> None:
            target.value = new / (norms * scale)

        return RowsPart([constraint], assign_target, lambda: -np.ravel(constraint.dual_value))
    error = cp.Variable(rows.count)
    equation = expression - error == target
    inside, assign_region = _REGION[type(rows.region)](error, norms)

    def assign(new: Array, region: Region, scale: float) -> None:
        target.value = new / (norms * scale)
        assign_region(region, scale)

    return RowsPart([equation, *inside], assign, lambda: -np.ravel(equation.dual_value))


def row_scales(rows: Rows) -> Array:
    """What the rows of a block are divided by, (rows,): norms, equal within each cone."""
    norms = rows.norms
    if isinstance(rows.region, WithinDiscs):
        norms = np.tile(np.hypot(*np.split(norms, 2)), 2)
    elif isinstance(rows.region, Ball):
        norms = np.full(norms.shape, norms.max())
    return np.where(norms > 0.0, norms, 1.0)


RegionPart = tuple[list[Constraint], Callable[[Any, float], None]]


def region_part(region: Region, error: Expression, norms: Array) -> RegionPart:
    """error in the region divided by (norms s)."""
    return _REGION[type(region)](error, norms)


def _within_part(error: Expression, norms: Array) -> RegionPart:
    cp = modelling()

    radius = cp.Parameter(norms.size, nonneg=True)

    def assign(region: Within, scale: float) -> None:
        radius.value = region.radius / (norms * scale)

    return [error <= radius, -error <= radius], assign


def _within_discs_part(error: Expression, norms: Array) -> RegionPart:
    cp = modelling()

    half = norms.size // 2
    radius = cp.Parameter(half, nonneg=True)

    def assign(region: WithinDiscs, scale: float) -> None:
        radius.value = region.radius / (norms[:half] * scale)

    return [complex_moduli(error) <= radius], assign


def _ball_part(error: Expression, norms: Array) -> RegionPart:
    cp = modelling()

    radius = cp.Parameter(nonneg=True)

    def assign(region: Ball, scale: float) -> None:
        radius.value = region.radius / (norms[0] * scale)

    return [cp.norm(error) <= radius], assign


def complex_moduli(stacked: Expression) -> Expression:
    """|v_k| of a stacked complex expression."""
    cp = modelling()

    half = stacked.shape[0] // 2
    return cp.norm(cp.vstack([stacked[:half], stacked[half:]]), axis=0)


def input_cost(problem: Problem, inputs: Expression) -> Expression:
    """f(v)."""
    return _COST[problem.objective](inputs, problem.stacked)


def _energy_cost(inputs: Expression, stacked: bool) -> Expression:
    cp = modelling()

    return 0.5 * cp.sum_squares(inputs)


def _fuel_cost(inputs: Expression, stacked: bool) -> Expression:
    cp = modelling()

    return cp.sum(complex_moduli(inputs)) if stacked else cp.norm1(inputs)


def _peak_cost(inputs: Expression, stacked: bool) -> Expression:
    cp = modelling()

    return cp.max(complex_moduli(inputs)) if stacked else cp.norm_inf(inputs)


_DOMAIN: dict[type, Callable[[Any, Expression], DomainPart]] = {
    Box: _box_part,
    Discs: _discs_part,
}
_REGION: dict[type, Callable[[Expression, Array], RegionPart]] = {
    Within: _within_part,
    WithinDiscs: _within_discs_part,
    Ball: _ball_part,
}
_COST: dict[Objective, Callable[[Expression, bool], Expression]] = {
    Objective.ENERGY: _energy_cost,
    Objective.FUEL: _fuel_cost,
    Objective.PEAK: _peak_cost,
}
# Kinds that make a program a second-order cone program whatever the objective is.
CONIC: tuple[type, ...] = (Discs, WithinDiscs, Ball)
