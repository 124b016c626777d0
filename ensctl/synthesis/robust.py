"""One input for a population that is not known exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.analysis.minimum_input import MinimumInput
from ensctl.analysis.practicality import input_effects
from ensctl.arguments import as_count, as_horizon, as_scalar, as_vector, read_only
from ensctl.convex.problem import Objective
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, NotReachableError, PrecisionError
from ensctl.formatting import horizon_text, pow10
from ensctl.status import Status
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.problem import steer_problem
from ensctl.synthesis.robust_epigraph import epigraph
from ensctl.synthesis.robust_guarantee import guaranteed_error
from ensctl.synthesis.robust_program import RobustProgram, robust_program
from ensctl.synthesis.robust_radius import ZERO_ERROR, smallest_radius
from ensctl.synthesis.robust_result import RobustPlan
from ensctl.synthesis.robust_scenarios import (
    Intervals,
    Scenarios,
    as_intervals,
    as_scenarios,
    fresh_between,
)
from ensctl.synthesis.terminal import PerMember, as_terminal

Array = NDArray[Any]


def robust(
    ens: Ensemble,
    target: ArrayLike,
    horizon: int,
    *,
    x0: ArrayLike = 0.0,
    lam_radius: ArrayLike = 0.0,
    b_radius: ArrayLike = 0.0,
    scenarios: Sequence[Ensemble] | None = None,
    count: int | None = None,
    seed: int = 0,
    objective: str = "energy",
    limits: Limits | None = None,
    tol: ArrayLike | None = None,
    fresh: int | Sequence[Ensemble] = 200,
    accuracy: float = 1e-3,
    real_inputs: bool | None = None,
    throw: bool = True,
) -> RobustPlan:
    """One input that steers every population consistent with what is known of λ and b.

    Without ``tol``: minimise over u within the limits the worst terminal error

        max over scenarios s and members i of |x_{i,H}(λ_s, b_s, u) − target_i|,

    and among the inputs within ``accuracy`` of it take the one of least cost.  With ``tol``: least
    cost subject to |x_{i,H} − target_i| ≤ tol_i in every scenario.

    Parameters
    ----------
    ens : Ensemble
        The nominal population.
    target : (N,) array_like
        State to reach.
    horizon : int
        Number of steps H ≥ 1.
    x0 : scalar or (N,) array_like
        Initial state, the same in every scenario.
    lam_radius : scalar or (N,) array_like
        |δλ_i| ≤ lam_radius_i, ≥ 0.  Real λ vary in an interval; members with complex λ or b vary in
        discs.
    b_radius : scalar, (N,) or (N, m) array_like
        The same for the gains.
    scenarios : sequence of Ensemble, optional
        Populations to serve in place of radii; the nominal one is served only if it is among them.
    count : int, optional
        Places in every interval of λ (Chebyshev–Lobatto points, by default 5; on circles 12), each
        with every corner of the gains, beside the nominal population.
    seed : int
        Of the gain corners of complex members or of more than three channels, and of the fresh
        scenarios, whose random stream is another one.
    objective : {"energy", "fuel", "peak"}
        The cost.
    limits : Limits, optional
        As in :func:`steer`; state and output limits hold in every scenario.  Without ``tol`` the
        inputs must be limited: any error could otherwise be bought with large enough inputs.
    tol : scalar or (N,) array_like, optional
        Terminal tolerance.
    fresh : int or sequence of Ensemble
        Scenarios the plan is judged by but not fitted to: drawn uniformly from the intervals (or
        from the ranges that ``scenarios`` span), member by member, or given.
    accuracy : float
        Relative, of the least worst error; in (0, 1).
    real_inputs : bool, optional
        As in :func:`steer`.
    throw : bool
        Raise when there is no plan; otherwise return one whose status says so.

    Returns
    -------
    RobustPlan
        ``worst_error`` with its proved lower bound, ``fresh_error``, ``guaranteed_error`` over the
        whole intervals, ``nominal_error`` and ``lam_tolerance``.

    Raises
    ------
    InvalidInputError
        An argument is out of range; no input limit and no ``tol``.
    InfeasibleError
        With ``throw``: no input meets the tolerance, or the limits; with a proof.
    NotReachableError, PrecisionError, SolverError
        With ``throw``: members without gain drift too far; not decidable; solvers stopped.

    Notes
    -----
    A member's end state depends on its own λ_i and b_i alone, is affine in b_i and a polynomial in
    λ_i.  So one scenario may move all members to the same place of their intervals, corners are
    enough for b, and a few Chebyshev points nearly so for λ; ``guaranteed_error`` bounds what lies
    between them (Taylor coefficients on sixteenths of each interval, Cauchy's estimate beyond).

    Real inputs: the least worst error comes from one linear program, both of its bounds recomputed
    from its input and multipliers; 1e-9 of the error without inputs counts as zero.  Moduli: the
    radius is searched by re-solving one compiled program, each infeasible radius giving a proved
    lower bound.

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.Ensemble([0.3, 0.6, 0.9])
    >>> plan = ec.robust(ens, [1, 0, 0.5], 8, lam_radius=0.01, limits=ec.Limits(u_max=2.5))
    >>> round(plan.worst_error, 4), plan.fresh_error <= plan.guaranteed_error
    (0.057, True)
    """
    task = _task(ens, target, horizon, x0, limits, tol, objective, accuracy)
    known = _known(ens, lam_radius, b_radius, scenarios)
    if isinstance(known, Intervals):
        places = None if count is None else as_count(count, "count")
        fitted = known.fitted(places, as_count(seed, "seed", minimum=0))
    else:
        fitted = known
    unseen = _unseen(ens, known, fresh, as_count(seed, "seed", minimum=0))

    try:
        program = robust_program(
            ens,
            fitted,
            task.target,
            task.x0,
            task.horizon,
            objective=Objective(objective),
            limits=task.limits,
            radius=task.tol,
            real_inputs=real_inputs,
        )
        plan = _within_tolerance(task, program) if task.tol is not None else _least(task, program)
    except NotReachableError as error:
        plan = replace(task.no_plan(Status.NOT_REACHABLE), message=str(error))
    except PrecisionError as error:
        plan = replace(task.no_plan(Status.PRECISION_LIMITED), message=str(error))

    plan = replace(plan, scenarios=fitted, fresh_count=unseen.count)
    if plan.success:
        plan = _judged(plan, known, unseen)
    if throw and not plan.success:
        raise plan.error()
    return plan


@dataclass(frozen=True, eq=False)
class _Task:
    ensemble: Ensemble
    target: Array
    x0: Array
    horizon: int
    limits: Limits
    tol: Array | None
    objective: str
    accuracy: float

    def no_plan(self, status: Status) -> RobustPlan:
        return RobustPlan(
            ensemble=self.ensemble,
            scenarios=Scenarios(self.ensemble.lam[None], self.ensemble.gains[None]),
            target=self.target,
            x0=self.x0,
            horizon=self.horizon,
            objective=self.objective,
            limits=self.limits,
            tol=self.tol,
            status=status,
            message=status.sentence,
            certificate=None,
            proof=None,
            worst_error=math.inf,
            worst_error_bound=0.0,
            fresh_error=math.inf,
            fresh_count=0,
            guaranteed_error=math.inf,
            nominal_error=math.inf,
            lam_tolerance=0.0,
            _inputs=None,
        )


def _task(
    ens: Ensemble,
    target: ArrayLike,
    horizon: int,
    x0: ArrayLike,
    limits: Limits | None,
    tol: ArrayLike | None,
    objective: str,
    accuracy: float,
) -> _Task:
    # Checks horizon, limits and objective as steer does.
    problem = steer_problem(ens, int(as_horizon(horizon)), objective=objective, limits=limits)
    terminal = as_terminal(tol, ens.size)
    if tol is not None and not isinstance(terminal, PerMember):
        raise InvalidInputError(f"tol must be a scalar or ({ens.size},), got {tol!r}")
    if tol is None:
        lower, upper = problem.limits.input_range(problem.horizon, ens.channels)
        if not (np.all(np.isfinite(lower)) and np.all(np.isfinite(upper))):
            raise InvalidInputError(
                "limits must bound the inputs (u_max) when tol is not given: large inputs could "
                "otherwise buy any error; give limits=ec.Limits(u_max=…) or tol"
            )
    return _Task(
        ensemble=ens,
        target=read_only(as_vector(target, "target", size=ens.size)),
        x0=read_only(as_vector(x0, "x0", size=ens.size)),
        horizon=problem.horizon,
        limits=problem.limits,
        tol=terminal.radius if isinstance(terminal, PerMember) else None,
        objective=objective,
        accuracy=as_scalar(accuracy, "accuracy", above=0.0, below=1.0),
    )


def _known(
    ens: Ensemble,
    lam_radius: ArrayLike,
    b_radius: ArrayLike,
    scenarios: Sequence[Ensemble] | None,
) -> Intervals | Scenarios:
    intervals = as_intervals(ens, lam_radius, b_radius)
    if scenarios is None:
        return intervals
    if np.any(intervals.lam_radius) or np.any(intervals.b_radius):
        raise InvalidInputError(
            "scenarios must stand alone: leave out lam_radius and b_radius, or scenarios"
        )
    return as_scenarios(ens, scenarios)


def _unseen(
    ens: Ensemble, known: Intervals | Scenarios, fresh: int | Sequence[Ensemble], seed: int
) -> Scenarios:
    if isinstance(fresh, Sequence):
        return as_scenarios(ens, fresh)
    number = as_count(fresh, "fresh")
    if isinstance(known, Intervals):
        return known.fresh(number, seed)
    return fresh_between(known, number, seed)


def _within_tolerance(task: _Task, program: RobustProgram) -> RobustPlan:
    outcome = program.at()
    plan = task.no_plan(outcome.status)
    where = f"in {horizon_text(task.horizon)} within the tolerance in every scenario"
    if outcome.status is Status.OPTIMAL:
        return replace(
            plan,
            message=f"optimal, certified: least {task.objective} {where}",
            certificate=outcome.optimality,
            _inputs=outcome.inputs,
        )
    if outcome.status is Status.INFEASIBLE:
        least = epigraph(program)
        advice = "" if least is None else f"; one tolerance for all must be {least.worst:.4g}"
        return replace(
            plan,
            message=f"infeasible, proved: no input ends {where}{advice}",
            certificate=outcome.infeasibility,
        )
    return plan


def _least(task: _Task, program: RobustProgram) -> RobustPlan:
    idle = _idle(program)
    found = smallest_radius(program, idle, task.accuracy)
    plan = replace(task.no_plan(found.status), proof=found.proof)
    if found.outcome is None:
        if found.status is not Status.INFEASIBLE:
            return plan
        return replace(
            plan,
            message=f"infeasible, proved: no input of {horizon_text(task.horizon)} respects the "
            f"state, output and slew limits in every scenario",
            certificate=found.proof,
        )
    cost = f", least {task.objective} there" if found.outcome.optimality is not None else ""
    open_gap = found.upper > max((1.0 + task.accuracy) * found.lower, 2.0 * ZERO_ERROR * idle)
    doubt = "; float64 could not bring the two closer" if open_gap else ""
    return replace(
        plan,
        message=f"the worst error is {found.upper:.6g}{cost}; proved: none is below "
        f"{found.lower:.6g}{doubt}",
        certificate=found.outcome.optimality,
        worst_error_bound=found.lower,
        _inputs=found.outcome.inputs,
    )


def _idle(program: RobustProgram) -> float:
    """The worst error of the smallest allowed inputs."""
    rest = program.domain.nearest(np.zeros(program.domain.size))
    errors = [float(np.abs(rows.error(rest)).max()) for rows in program.terminal_blocks]
    return max(*errors, program.immovable) or 1.0


def _judged(plan: RobustPlan, known: Intervals | Scenarios, unseen: Scenarios) -> RobustPlan:
    """Simulate the inputs in every population."""
    ens, inputs, ends = plan.ensemble, plan.inputs, (plan.target, plan.x0)
    nominal = Scenarios(ens.lam[None], ens.gains[None])
    whole = guaranteed_error(known, inputs, *ends) if isinstance(known, Intervals) else math.inf
    return replace(
        plan,
        worst_error=float(plan.scenarios.errors(inputs, *ends).max()),
        fresh_error=float(unseen.errors(inputs, *ends).max()),
        guaranteed_error=whole,
        nominal_error=float(nominal.errors(inputs, *ends).max()),
        lam_tolerance=_lam_tolerance(ens, inputs, *ends),
    )


def _lam_tolerance(ens: Ensemble, inputs: Array, target: Array, x0: Array) -> float:
    """.01 max|d| / max_i |∂x_{i,H}/∂λ_i|, rounding of the slope included."""
    by_power = np.atleast_2d(inputs)[:, ::-1].T
    size = float(np.abs(target - np.power(ens.lam, by_power.shape[0]) * x0).max())
    if size == 0.0:
        return math.inf
    effects = input_effects(ens, MinimumInput(by_power, 0, 0.0), x0=x0)
    return pow10(math.log10(0.01 * size) - effects.log10_slope)
