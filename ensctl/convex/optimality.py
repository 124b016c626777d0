"""Optimality, checked by weak duality from the data and whatever a solver returned.

For any multipliers η, y_j the Lagrangian minimum

    D = cᵀη + floor(L^{-T}η) + Σ_j [y_jᵀt_j + floor_j(y_j)] + min_u [f(u) − qᵀu],
    q = Qη + Σ_j M_jᵀ y_j,  u in its domain,

is a lower bound of the optimum.  With f a norm and no limits it says ‖u‖_p ≥ ηᵀd/‖Rᵀη‖_q.  A
feasible u with f(u) = D is optimal, whoever found it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.lagrangian import least
from ensctl.convex.magnitude import in_units, unit_of
from ensctl.convex.problem import Objective, Problem
from ensctl.convex.regions import Ball, Region, Within, WithinDiscs, Zero

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Residual of Qᵀu = c, relative to max(‖c‖, ‖u‖), up to which a target counts as met exactly.
MET = 1e-11


@dataclass(frozen=True)
class OptimalityCertificate:
    """How far a solution is from satisfying the optimality conditions.

    Attributes
    ----------
    primal_residual : float
        Largest violation of a row, relative to the size of its terms (to the radius where the
        row has a tolerance); inf when u leaves its domain, which is checked without tolerance.
    dual_residual : float
        By how much u misses the minimum of the Lagrangian over its domain, relative like the
        gap; or by how much the multipliers had to be shrunk to be dual feasible, if that is more.
    gap : float
        (f(u) − D)/max(|f(u)|, |D|).
    complementarity : float
        Σ |multiplier · slack| over the target and the rows, relative like the gap.
    value : float
        f(u) plus the terminal cost.
    lower_bound : float
        D: no u that meets the limits costs less.
    tolerance : float
        What the four numbers are compared with.
    equality_residual : float
        ‖Qᵀu − c‖ / max(‖c‖, ‖u‖) where the target has to be met exactly, 0 elsewhere.  It is part
        of ``primal_residual`` and has to be at rounding level, 1e-11, whatever the tolerance is.
    """

    primal_residual: float
    dual_residual: float
    gap: float
    complementarity: float
    value: float
    lower_bound: float
    tolerance: float
    equality_residual: float = 0.0

    @property
    def worst(self) -> float:
        """The largest of the four numbers."""
        return max(
            self.primal_residual, self.dual_residual, abs(self.gap), abs(self.complementarity)
        )

    @property
    def verified(self) -> bool:
        """True when all four are at most ``tolerance`` and the target is met to rounding."""
        return self.worst <= self.tolerance and self.equality_residual <= MET

    def from_units(self, objective: Objective, unit: float) -> OptimalityCertificate:
        """The certificate about u from one about u/unit; costs beyond float64 are inf or 0."""
        second = unit if objective is Objective.ENERGY else 1.0
        return replace(
            self,
            value=self.value * unit * second,
            lower_bound=self.lower_bound * unit * second,
        )


@dataclass(frozen=True, eq=False)
class DualBound:
    """A lower bound of the optimum and the parts it was made from."""

    value: float
    shrink: float
    eta: Array
    multipliers: tuple[Array, ...]
    gradient: Array


def dual_bound(problem: Problem, eta: Array, multipliers: tuple[Array, ...] = ()) -> DualBound:
    """The lower bound D, for multipliers of any origin.

    Parameters
    ----------
    problem : Problem
    eta : (N,) float64
        Multipliers of Qᵀu = c.
    multipliers : tuple of arrays
        One per block of ``problem.limits``.  The sign is that of yᵀ(M u − t): y ≤ 0 for
        inequalities; components of the wrong sign are dropped.

    Returns
    -------
    DualBound
        ``value`` is −inf where the multipliers prove nothing.

    Examples
    --------
    The fuel for u_0 + 2 u_1 = 1 is at least 1/2, by any multiplier of the right sign:

    >>> import numpy as np
    >>> from ensctl.convex import Objective, Problem, box, dual_bound, lq
    >>> system, free = lq(np.array([[1.0, 2.0]])), box(-np.inf, np.inf, 2)
    >>> problem = Problem(Objective.FUEL, system, system.coordinates(np.array([1.0])), free)
    >>> round(dual_bound(problem, 100.0 * problem.coordinates).value, 6)
    0.5
    """
    blocks = problem.limits
    allowed = tuple(rows.region.admissible(y) for rows, y in zip(blocks, multipliers, strict=True))
    gradient = problem.system.basis @ eta
    for rows, y in zip(blocks, allowed, strict=True):
        gradient = gradient + rows.pulled(y)
    shrink = least(problem.objective, problem.domain, gradient).shrink
    if shrink < 1.0:
        shrink *= 1.0 - 4.0 * _EPS
        eta, gradient = shrink * eta, shrink * gradient
        allowed = tuple(shrink * y for y in allowed)
    value = float(problem.coordinates @ eta)
    value += problem.terminal.floor(problem.system.multipliers(eta))
    for rows, y in zip(blocks, allowed, strict=True):
        value += float(rows.target @ y) + rows.region.floor(y)
    value += least(problem.objective, problem.domain, gradient).value
    return DualBound(value, shrink, eta, allowed, gradient)


def optimality_certificate(
    problem: Problem,
    inputs: Array,
    eta: Array,
    multipliers: tuple[Array, ...] = (),
    *,
    tolerance: float = 1e-6,
) -> OptimalityCertificate:
    """Check u against multipliers η (of Qᵀu = c) and y_j (of the limits).

    Parameters
    ----------
    problem : Problem
    inputs : (n,) float64
        u.
    eta, multipliers
        As in :func:`dual_bound`.
    tolerance : float
        For ``verified``.

    Returns
    -------
    OptimalityCertificate

    Notes
    -----
    One product with Q and with every M_j.  Rounding errors of these products, about n ε relative,
    are not added to the bound: the numbers are meant for tolerances ≥ 1e-12.

    Source: Boyd and Vandenberghe, Convex Optimization, §5.2.2 and §5.5.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import Objective, Problem, box, lq, newton_box, optimality_certificate
    >>> system, limits = lq(np.array([[1.0, 2.0]])), box(-0.4, 0.4, 2)
    >>> problem = Problem(Objective.ENERGY, system, system.coordinates(np.array([1.0])), limits)
    >>> found = newton_box(system.basis, problem.coordinates, limits)
    >>> optimality_certificate(problem, found.inputs, found.multipliers).verified
    True
    >>> optimality_certificate(problem, found.inputs, 0.9 * found.multipliers).verified
    False
    """
    unit = unit_of(problem)
    if unit != 1.0:
        factor = unit if problem.objective is Objective.ENERGY else 1.0
        found = optimality_certificate(
            in_units(problem, unit),
            inputs / unit,
            eta / factor,
            tuple(y / factor for y in multipliers),
            tolerance=tolerance,
        )
        return found.from_units(problem.objective, unit)
    bound = dual_bound(problem, eta, multipliers)
    cost, terminal = problem.input_cost(inputs), problem.terminal_cost(inputs)
    value = cost + terminal
    scale = max(abs(value), abs(bound.value)) or 1.0
    miss = problem.system.basis.T @ inputs - problem.coordinates
    floor = problem.terminal.floor(problem.system.multipliers(bound.eta))
    minimum = least(problem.objective, problem.domain, bound.gradient).value
    miss_of_minimum = abs(cost - float(bound.gradient @ inputs) - minimum) / scale
    slack = abs(float(bound.eta @ miss) + terminal - floor)
    for rows, y in zip(problem.limits, bound.multipliers, strict=True):
        slack += abs(float(y @ rows.error(inputs)) - rows.region.floor(y))
    return OptimalityCertificate(
        primal_residual(problem, inputs),
        max(1.0 - bound.shrink, miss_of_minimum),
        (value - bound.value) / scale if math.isfinite(bound.value) else math.inf,
        slack / scale,
        value,
        bound.value,
        tolerance,
        equality_residual(problem, inputs),
    )


def primal_residual(problem: Problem, inputs: Array) -> float:
    """Largest relative violation of a row by u; inf when u leaves its domain.

    A row without tolerance is measured against |t_i| + ‖M_i‖ ‖u‖, a row with one against its
    radius, after allowing for rounding errors of the former.  Qᵀu = c is measured as a whole,
    against max(‖c‖, ‖u‖).
    """
    if not problem.domain.contains(inputs):
        return math.inf
    size = float(np.linalg.norm(inputs))
    worst = equality_residual(problem, inputs)
    if not isinstance(problem.terminal, Zero):
        norms = np.linalg.norm(problem.system.factor, axis=1)
        terms = norms * (size + float(np.linalg.norm(problem.coordinates)))
        worst = _relative_excess(problem.terminal, problem.terminal_error(inputs), terms)
    for rows in problem.limits:
        terms = np.abs(rows.target) + rows.norms * size
        worst = max(worst, _relative_excess(rows.region, rows.error(inputs), terms))
    return worst


def equality_residual(problem: Problem, inputs: Array) -> float:
    """‖Qᵀu − c‖ / max(‖c‖, ‖u‖) for targets that have to be met exactly, otherwise 0."""
    if not isinstance(problem.terminal, Zero):
        return 0.0
    miss = problem.system.basis.T @ inputs - problem.coordinates
    size = max(float(np.linalg.norm(problem.coordinates)), float(np.linalg.norm(inputs)))
    return float(np.linalg.norm(miss)) / (size or 1.0)


def _relative_excess(region: Region, error: Array, terms: Array) -> float:
    radius: Array = np.zeros(error.shape)
    if isinstance(region, Within | WithinDiscs | Ball):
        radius = np.resize(region.radius, error.shape)
    excess = region.excess(error)
    allowance = 64.0 * _EPS * terms
    excess = np.where(radius > 0.0, np.maximum(excess - allowance, 0.0), excess)
    scale = np.where(radius > 0.0, radius, terms)
    return float(np.max(excess / np.where(scale > 0.0, scale, 1.0), initial=0.0))
