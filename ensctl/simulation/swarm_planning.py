"""From robots and points to a plan: equations, Newton method, proof, simulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_horizon, as_scalar, read_only
from ensctl.convex.domains import Box
from ensctl.convex.newton_box import newton_box
from ensctl.convex.optimality import optimality_certificate
from ensctl.convex.problem import Objective, Problem
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.formatting import horizon_text, listed
from ensctl.simulation.swarm import Swarm
from ensctl.simulation.swarm_certificate import speed_certificate
from ensctl.simulation.swarm_phases import moments
from ensctl.simulation.swarm_plan import TOLERATED_SHARE, SwarmEnd, SwarmPlan
from ensctl.simulation.swarm_rates import HorizonRule, horizon_rule, locked_robots
from ensctl.simulation.swarm_speed import RmsMultiple
from ensctl.simulation.swarm_system import SwarmSystem, swarm_system
from ensctl.simulation.swarm_targets import as_plane, nearest_assignment, shape_height
from ensctl.status import Status

Array = NDArray[Any]

_OPTIMALITY = 1e-9
# Speeds carry a relative error of about κ ε: beyond this, too few digits to call them optimal.
_WORST_CONDITION = 1e10
# The equations and the work space of the Newton method together.
_MOST_BYTES = 8 * 2**30


def plan_swarm(
    swarm: Swarm,
    points: ArrayLike,
    horizon: int | None,
    v_max: float | RmsMultiple | None,
    *,
    assign: bool,
) -> SwarmPlan:
    """The plan of :meth:`Swarm.steer_to`, whatever its status."""
    rule = horizon_rule(swarm.turn_rates)
    goal = as_plane(points, "points", swarm.size)
    steps = rule.steps if horizon is None else int(as_horizon(horizon))
    limit = v_max if v_max is None or isinstance(v_max, RmsMultiple) else _speed(v_max)

    refused = _refused(swarm, goal, steps, rule)
    if refused is not None:
        return refused
    _require_memory(swarm, steps, rule)
    order = nearest_assignment(swarm.positions, goal) if assign else np.arange(swarm.size)
    task = _Task(swarm, read_only(goal[order]), read_only(order), steps, rule)

    try:
        equations = swarm_system(swarm.turn_rates, swarm.headings, steps)
    except PrecisionError:
        return task.plan(Status.PRECISION_LIMITED, _indistinct(swarm, steps, rule))
    if equations.condition > _WORST_CONDITION:
        plan = task.plan(Status.PRECISION_LIMITED, _indistinct(swarm, steps, rule))
        return replace(plan, condition=equations.condition)
    return _solved(task, equations, limit)


@dataclass(frozen=True, eq=False)
class _Task:
    swarm: Swarm
    points: Array
    assignment: Array
    horizon: int
    rule: HorizonRule

    def plan(self, status: Status, message: str) -> SwarmPlan:
        """A plan without inputs."""
        return SwarmPlan(
            swarm=self.swarm,
            points=self.points,
            assignment=self.assignment,
            horizon=self.horizon,
            rule=self.rule,
            v_max=None,
            status=status,
            message=message,
            condition=np.inf,
            minimum_energy=np.inf,
            certificate=None,
            robots=(),
            _end=None,
            _inputs=None,
        )


def _solved(task: _Task, equations: SwarmSystem, limit: float | RmsMultiple | None) -> SwarmPlan:
    system = equations.system
    coordinates = system.coordinates(equations.right_side(task.points - task.swarm.positions))
    least = float(coordinates @ coordinates)
    if isinstance(limit, RmsMultiple):
        limit = limit.factor * float(np.sqrt(least / task.horizon))
    bound = np.full(task.horizon, np.inf if limit is None else limit)
    box = Box(-bound, bound)
    problem = Problem(Objective.ENERGY, system, coordinates, box)

    found = newton_box(system.basis, coordinates, box)
    plan = replace(
        task.plan(found.status, found.status.sentence),
        v_max=limit,
        condition=equations.condition,
        minimum_energy=least,
    )
    if found.status is Status.INFEASIBLE and limit is not None:
        return _proved(plan, limit, equations.weights(system.multipliers(found.multipliers)))
    if found.status is not Status.OPTIMAL:
        return plan
    certificate = optimality_certificate(
        problem, found.inputs, found.multipliers, tolerance=_OPTIMALITY
    )
    if not certificate.verified:
        return replace(plan, status=Status.INACCURATE, message=Status.INACCURATE.sentence)
    end = _simulated(task, found.inputs)
    return replace(
        plan,
        certificate=certificate,
        message=_success(task, end, equations),
        _end=end,
        _inputs=read_only(found.inputs),
    )


def _proved(plan: SwarmPlan, v_max: float, weights: Array) -> SwarmPlan:
    certificate, needed = speed_certificate(plan.swarm, plan.points, plan.horizon, v_max, weights)
    if not certificate.verified:
        limited = Status.PRECISION_LIMITED
        return replace(plan, status=limited, message=limited.sentence)
    message = (
        f"infeasible, proved: |v| ≤ {v_max:.6g} does not bring {plan.swarm.size} robots to these "
        f"points in {horizon_text(plan.horizon)}; v_max must exceed {needed:.6g}, or take more "
        f"steps"
    )
    return replace(plan, certificate=certificate, message=message)


def _simulated(task: _Task, speeds: Array) -> SwarmEnd:
    """Where the speeds lead, and how that moves with the turn rates."""
    swarm = task.swarm
    weighted = np.stack([speeds, np.arange(task.horizon) * speeds])
    moved, slopes = moments(swarm.turn_rates, weighted)
    final = swarm.positions + np.exp(1j * swarm.headings) * moved
    allowed = TOLERATED_SHARE * shape_height(task.points)
    return SwarmEnd(
        _rms(final - task.points),
        _quotient(allowed, _rms(swarm.turn_rates * slopes)),
        _quotient(allowed, _rms(slopes)),
    )


def _success(task: _Task, end: SwarmEnd, equations: SwarmSystem) -> str:
    text = (
        f"optimal, certified: one speed signal brings {task.swarm.size} robots to their points in "
        f"{horizon_text(task.horizon)}, rms error {end.rms_error:.2g}"
    )
    if task.horizon < task.rule.steps:
        text += f"; {horizon_text(task.rule.steps)} or more would be well conditioned"
    return text


def _refused(swarm: Swarm, goal: Array, steps: int, rule: HorizonRule) -> SwarmPlan | None:
    """Tasks that no speed solves for all points."""
    task = _Task(swarm, read_only(goal), np.arange(swarm.size), steps, rule)
    locked = locked_robots(swarm.turn_rates)
    if locked:
        message = (
            f"robots {listed(locked)} cannot be placed freely: one with turn rate 0 moves along "
            f"its heading only, and those that share |ω| move as copies or mirror images; give "
            f"every robot a turn rate of its own"
        )
        return replace(task.plan(Status.NOT_REACHABLE, message), robots=locked)
    if steps < rule.least:
        message = (
            f"{horizon_text(steps)} are too few for {swarm.size} robots, {steps // 2} at most: "
            f"take at least {rule.least} steps (2 for each robot), better {rule.steps} for "
            f"these turn rates"
        )
        return replace(task.plan(Status.NOT_REACHABLE, message), robots=tuple(range(swarm.size)))
    return None


def _indistinct(swarm: Swarm, steps: int, rule: HorizonRule) -> str:
    first, second = rule.closest
    if first == second:
        who = f"robot {first} turns so slowly or so near half a turn that it resembles its mirror"
    else:
        who = f"robots {first} and {second} turn so nearly alike"
    return (
        f"float64 cannot tell the robots apart in {horizon_text(steps)}: {who} "
        f"(gap {rule.gap:.2g} rad per step) that {rule.steps:.4g} steps are needed; take as many, "
        f"or spread the turn rates"
    )


def _require_memory(swarm: Swarm, steps: int, rule: HorizonRule) -> None:
    rows = 2 * swarm.size
    size = 8 * (3 * steps * rows + 4 * rows * rows)
    if size > _MOST_BYTES:
        first, second = rule.closest
        raise InvalidInputError(
            f"horizon must be such that {rows} equations fit in {_MOST_BYTES / 2**30:.0f} GiB, "
            f"got {steps:.4g} steps, which take {size / 2**30:.3g} GiB; the rule asks for "
            f"{rule.steps:.4g} because robots {first} and {second} are {rule.gap:.2g} rad per step "
            f"apart (mirror images included): spread the turn rates or give fewer steps"
        )


def _speed(v_max: float) -> float:
    return as_scalar(v_max, "v_max", above=0.0)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.abs(values) ** 2)))


def _quotient(allowed: float, slope: float) -> float:
    return allowed / slope if slope > 0.0 else np.inf
