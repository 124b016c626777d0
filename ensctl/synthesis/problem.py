"""A steering task compiled once and solved for many targets and initial states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_horizon
from ensctl.convex.domains import Box, Discs, Domain, box, discs
from ensctl.convex.infeasibility import InfeasibilityCertificate, infeasibility_certificate
from ensctl.convex.lq import LQ, lq
from ensctl.convex.newton_box import newton_box
from ensctl.convex.optimality import OptimalityCertificate
from ensctl.convex.problem import Objective, Problem
from ensctl.convex.regions import Quadratic, Zero
from ensctl.convex.rows import Rows
from ensctl.convex.soft_box import soft_system
from ensctl.convex.stacking import unstack
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError, NotReachableError, PrecisionError
from ensctl.status import Status
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.outcome import infeasible_message, optimal_message
from ensctl.synthesis.plan import SteeringPlan, float_floor, no_advice, simulate
from ensctl.synthesis.solving import (
    Answer,
    Prepared,
    by_newton,
    by_program,
    by_soft_newton,
)
from ensctl.synthesis.special_plans import idle_plan, refused_plan, shaped
from ensctl.synthesis.steering_rows import SteeringRows, all_rows, steering_rows
from ensctl.synthesis.suggestions import next_horizon, smallest_peak
from ensctl.synthesis.terminal import (
    Exact,
    PerMember,
    Rms,
    Terminal,
    TerminalCost,
    as_terminal,
)
from ensctl.synthesis.terminal_system import TerminalSystem, terminal_system
from ensctl.synthesis.trajectory_rows import limit_rows
from ensctl.threads import blas_threads_for

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SteeringProblem:
    """A task without its target: made by :func:`steer_problem`.

    Attributes
    ----------
    ensemble : Ensemble
        The population.
    horizon : int
        Number of steps H.
    objective : Objective
        Energy, fuel or peak.
    limits : Limits
        What the input respects.
    terminal : Exact, PerMember, Rms or TerminalCost
        How closely the target is met.
    real_inputs : bool or None
        As in :func:`steer`.
    solver : str or None
        The only solver to use; None chooses.
    """

    ensemble: Ensemble
    horizon: int
    objective: Objective
    limits: Limits
    terminal: Terminal
    real_inputs: bool | None
    solver: str | None
    _prepared: dict[Any, Prepared] = field(default_factory=dict, repr=False)

    def solve(self, target: ArrayLike, x0: ArrayLike = 0.0, *, throw: bool = True) -> SteeringPlan:
        """Solve for one target and initial state; the structure is compiled on first use.

        Parameters
        ----------
        target : (N,) array_like
            State to reach.
        x0 : scalar or (N,) array_like
            Initial state.
        throw : bool
            Raise when there is no plan; otherwise return a plan whose status says so.

        Returns
        -------
        SteeringPlan

        Raises
        ------
        NotReachableError, InfeasibleError, PrecisionError, SolverError
            With ``throw``: no input, no input within the limits, not decidable in float64, or
            every able solver stopped.
        """
        plan = self._solve(target, x0)
        if throw and not plan.success:
            advice = plan.advice
            raise (replace(plan, message=f"{plan.message}; {advice}") if advice else plan).error()
        return plan

    def __getstate__(self) -> dict[str, Any]:
        # Compiled programs stay behind; they are made again on first use.
        return {**self.__dict__, "_prepared": {}}

    def _solve(self, target: ArrayLike, x0: ArrayLike) -> SteeringPlan:
        make = steering_rows if isinstance(self.terminal, Exact) else all_rows
        rows: SteeringRows | None = None
        try:
            rows = make(self.ensemble, target, self.horizon, x0, real_inputs=self.real_inputs)
            system = terminal_system(rows, self.terminal, self._scale)
            prepared = self._structure(rows, system) if system.rows.count else None
        except NotReachableError as error:
            return refused_plan(self, target, x0, rows, Status.NOT_REACHABLE, error, error.members)
        except PrecisionError as error:
            return refused_plan(self, target, x0, rows, Status.PRECISION_LIMITED, error, ())
        domain = self._domain(rows.real)
        if prepared is None:
            return idle_plan(self, rows, domain)
        extra = limit_rows(self.ensemble, rows.x0, self.horizon, self.limits, real=rows.real)
        extra = (*system.others, *extra)
        with blas_threads_for(system.rows.count):
            answer = self._answer(rows, system, prepared, domain, extra)
        return self._plan(rows, system, prepared, domain, extra, answer)

    @property
    def _scale(self) -> float:
        """The optimiser minimises ½‖u‖², and Σ|u| or max|u| as they are."""
        return 0.5 if self.objective is Objective.ENERGY else 1.0

    def _structure(self, rows: SteeringRows, system: TerminalSystem) -> Prepared:
        key = (rows.real, rows.lam.tobytes(), rows.gains.tobytes())
        if key not in self._prepared:
            soft = None
            if isinstance(self.terminal, TerminalCost) and self._newton_applies(rows.real, ()):
                region = system.rows.region
                if isinstance(region, Quadratic):
                    soft = soft_system(system.rows.matrix, region.softness)
            self._prepared[key] = Prepared(lq(system.rows.matrix), soft)
        return self._prepared[key]

    def _domain(self, real: bool) -> Domain:
        lower, upper = self.limits.input_range(self.horizon, self.ensemble.channels)
        if real:
            return box(lower, upper, lower.size)
        if self.limits.u_min is not None:
            raise InvalidInputError(
                "u_min needs real inputs, and these data have complex ones; limit the modulus by "
                "u_max alone, or ask for real_inputs=True"
            )
        return discs(upper, upper.size)

    def _newton_applies(self, real: bool, extra: tuple[Rows, ...]) -> bool:
        return (
            real
            and self.objective is Objective.ENERGY
            and self.limits.inputs_only
            and not extra
            and self.solver is None
        )

    def _answer(
        self,
        rows: SteeringRows,
        system: TerminalSystem,
        prepared: Prepared,
        domain: Domain,
        extra: tuple[Rows, ...],
    ) -> Answer:
        lq_system, region = prepared.system, system.rows.region
        problem = Problem(
            self.objective,
            lq_system,
            lq_system.coordinates(system.rows.target),
            domain,
            region,
            extra,
        )
        if isinstance(domain, Box) and self._newton_applies(rows.real, extra):
            if isinstance(region, Zero):
                return by_newton(problem, domain, prepared)
            if prepared.soft is not None:
                return by_soft_newton(problem, domain, system, prepared.soft)
        return by_program(problem, prepared, self.solver)

    def _plan(
        self,
        rows: SteeringRows,
        system: TerminalSystem,
        prepared: Prepared,
        domain: Domain,
        extra: tuple[Rows, ...],
        answer: Answer,
    ) -> SteeringPlan:
        status, inputs = answer.status, None
        certificate: OptimalityCertificate | InfeasibilityCertificate | None = answer.optimality
        members: tuple[int, ...] = ()
        advise: Callable[[], str] = no_advice
        error, floor = np.inf, np.inf
        if status is Status.INFEASIBLE and answer.eta is not None:
            proof = infeasibility_certificate(
                system.rows,
                prepared.system,
                answer.eta,
                domain,
                limits=extra,
                multipliers=answer.multipliers,
            )
            certificate = proof
            if not proof.verified:
                status, certificate = Status.PRECISION_LIMITED, None
            else:
                members = _blamed(system, certificate.eta, rows.ensemble.size)
                advise = self._advice(rows, prepared.system, system.rows, domain, extra)
        if answer.inputs is not None and status is Status.OPTIMAL:
            within = answer.inputs if isinstance(domain, Box) else _within(answer.inputs, domain)
            inputs = shaped(within, rows.real, self.ensemble.channels)
            error = float(
                np.abs(simulate(rows.ensemble, inputs, rows.x0)[:, -1] - rows.target).max()
            )
            floor = float_floor(rows.ensemble, inputs, rows.x0)
            if self.terminal_missed(inputs, error, floor, rows):
                status, inputs = Status.PRECISION_LIMITED, None
        if status is Status.OPTIMAL:
            message = optimal_message(self.objective, self.terminal, error, floor)
        elif status is Status.INFEASIBLE:
            message = infeasible_message(self.ensemble, self.horizon, self.limits, members)
        elif status is Status.PRECISION_LIMITED:
            message = (
                "not decided in float64: the limits are too close to what is feasible, or the "
                "tolerance is below rounding; move them apart"
            )
        else:
            message = status.sentence
        return SteeringPlan(
            ensemble=self.ensemble,
            target=rows.target,
            x0=rows.x0,
            horizon=self.horizon,
            objective=self.objective.value,
            limits=self.limits,
            status=status,
            message=message,
            certificate=certificate,
            members=members,
            terminal_error=error,
            float_floor=floor,
            solver=answer.solver,
            _inputs=inputs,
            _advise=advise,
        )

    def _advice(
        self,
        rows: SteeringRows,
        system: LQ,
        terminal: Rows,
        domain: Domain,
        extra: tuple[Rows, ...],
    ) -> Callable[[], str]:
        """Smallest u_max at this horizon; next horizon at this u_max, where a step is cheap."""

        def feasible(horizon: int) -> bool:
            return replace(self, horizon=horizon, _prepared={})._has_input(rows)

        def advise() -> str:
            found = [smallest_peak(self.limits, system, terminal, domain, extra)]
            if self._newton_applies(rows.real, extra) and self.limits.constant_in_time:
                nested = self.limits.allow_rest and not (rows.x0.any() and rows.target.any())
                found.append(next_horizon(self.horizon, feasible, nested=nested))
            return "; ".join(part for part in found if part)

        return advise

    def terminal_missed(
        self, inputs: Array, error: float, floor: float, rows: SteeringRows
    ) -> bool:
        """Whether a simulation contradicts the tolerance that the optimiser claims to meet."""
        slack = 10.0 * floor
        if isinstance(self.terminal, Exact):
            return error > 1e3 * floor
        miss = np.abs(simulate(rows.ensemble, inputs, rows.x0)[:, -1] - rows.target)
        if isinstance(self.terminal, Rms):
            limit = self.terminal.radius * (1.0 + 1e-6)
            return float(np.sqrt(np.mean(miss**2))) > limit + min(slack, 0.01 * limit)
        if isinstance(self.terminal, PerMember):
            radius = self.terminal.radius * (1.0 + 1e-6)
            return bool(np.any(miss > radius + np.minimum(slack, 0.01 * radius)))
        return False

    def _has_input(self, task: SteeringRows) -> bool:
        """Whether Newton's method finds an input for the same task at this horizon."""
        try:
            rows = steering_rows(
                self.ensemble, task.target, self.horizon, task.x0, real_inputs=self.real_inputs
            )
            equations = terminal_system(rows, self.terminal, self._scale).rows
            system = lq(equations.matrix)
        except (NotReachableError, PrecisionError):
            return False
        domain = self._domain(rows.real)
        if not isinstance(domain, Box):
            return False
        found = newton_box(system.basis, system.coordinates(equations.target), domain)
        return found.status.success


def steer_problem(
    ens: Ensemble,
    horizon: int,
    *,
    objective: str = "energy",
    limits: Limits | None = None,
    tol: ArrayLike | Rms | TerminalCost | None = None,
    real_inputs: bool | None = None,
    solver: str | None = None,
) -> SteeringProblem:
    """Prepare a steering task for many targets; ``solve(target, x0)`` re-solves fast.

    Parameters
    ----------
    ens, horizon, objective, limits, tol, real_inputs, solver
        As in :func:`steer`.

    Returns
    -------
    SteeringProblem

    Raises
    ------
    InvalidInputError
        An argument is out of range.

    Examples
    --------
    >>> import ensctl as ec
    >>> task = ec.steer_problem(ec.Ensemble([0.3, 0.6, 0.9]), 6, limits=ec.Limits(u_max=4.0))
    >>> [round(task.solve(target).peak, 6) for target in ([1, 0, 0.5], [0, 1, 0])]
    [3.143622, 3.612289]
    """
    require_ensemble(ens)
    if limits is not None and not isinstance(limits, Limits):
        raise InvalidInputError(f"limits must be ec.Limits(u_max=…), got {type(limits).__name__}")
    return SteeringProblem(
        ensemble=ens,
        horizon=int(as_horizon(horizon)),
        objective=_objective(objective),
        limits=Limits() if limits is None else limits,
        terminal=as_terminal(tol, ens.size),
        real_inputs=real_inputs,
        solver=solver,
    )


def _objective(name: str) -> Objective:
    try:
        return Objective(name)
    except ValueError:
        known = ", ".join(repr(choice.value) for choice in Objective)
        raise InvalidInputError(f"objective must be one of {known}, got {name!r}") from None


def _within(stacked: Array, domain: Discs) -> Array:
    """Stacked complex inputs whose np.abs respects the limit too, an ulp lower where it must."""
    over = np.abs(unstack(stacked)) > domain.radius
    return np.asarray(np.where(np.tile(over, 2), stacked * (1.0 - 2.0**-52), stacked))


def _blamed(system: TerminalSystem, eta: Array, size: int) -> tuple[int, ...]:
    """Members that carry most of the proof: the largest |η_i d_i|, at most three."""
    share = np.zeros(size)
    weight = np.abs(eta * system.rows.target)
    for member, value in zip(system.members.tolist(), weight.tolist(), strict=True):
        if member >= 0:
            share[member] += value
    if not np.any(share):
        return ()
    order = np.argsort(-share)[:3]
    return tuple(int(k) for k in order if share[k] > 0.05 * share.max())
