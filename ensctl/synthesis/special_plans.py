"""Plans that need no solver: nothing can move, or there is nothing to find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import read_only
from ensctl.convex.domains import Domain
from ensctl.convex.stacking import unstack
from ensctl.errors import InvalidInputError
from ensctl.status import Status
from ensctl.synthesis.plan import SteeringPlan, float_floor, no_advice, simulate
from ensctl.synthesis.steering_rows import SteeringRows

if TYPE_CHECKING:
    from ensctl.synthesis.problem import SteeringProblem

Array = NDArray[Any]


def idle_plan(problem: SteeringProblem, rows: SteeringRows, domain: Domain) -> SteeringPlan:
    """No member can be moved, and where they drift is close enough: the smallest input."""
    if not problem.limits.inputs_only:
        raise InvalidInputError(
            "b must be non-zero for some member when slew, states or outputs are limited; "
            "no input changes anything here"
        )
    inputs = shaped(domain.nearest(np.zeros(domain.size)), rows.real, problem.ensemble.channels)
    final = simulate(rows.ensemble, inputs, rows.x0)[:, -1]
    error = float(np.abs(final - rows.target).max())
    return SteeringPlan(
        ensemble=problem.ensemble,
        target=rows.target,
        x0=rows.x0,
        horizon=problem.horizon,
        objective=problem.objective.value,
        limits=problem.limits,
        status=Status.OPTIMAL,
        message="optimal: the free motion meets the target, no input changes it",
        certificate=None,
        members=(),
        terminal_error=error,
        float_floor=float_floor(rows.ensemble, inputs, rows.x0),
        solver="none",
        _inputs=inputs,
        _advise=no_advice,
    )


def refused_plan(
    problem: SteeringProblem,
    target: ArrayLike,
    x0: ArrayLike,
    rows: SteeringRows | None,
    status: Status,
    error: Exception,
    members: tuple[int, ...],
) -> SteeringPlan:
    """A plan without inputs: the status and the reason instead."""
    size = problem.ensemble.size
    return SteeringPlan(
        ensemble=problem.ensemble,
        target=np.asarray(target) if rows is None else rows.target,
        x0=np.broadcast_to(np.asarray(x0), size) if rows is None else rows.x0,
        horizon=problem.horizon,
        objective=problem.objective.value,
        limits=problem.limits,
        status=status,
        message=_prefixed(status, error),
        certificate=None,
        members=members,
        terminal_error=np.inf,
        float_floor=np.inf,
        solver="none",
        _inputs=None,
        _advise=no_advice,
    )


def shaped(inputs: Array, real: bool, channels: int) -> Array:
    """The optimiser's variables as inputs: (H,) for one channel, (m, H) for several."""
    values = inputs if real else unstack(inputs)
    return read_only(values.copy() if channels == 1 else values.reshape(-1, channels).T.copy())


def _prefixed(status: Status, error: Exception) -> str:
    """The verdict first."""
    if status is Status.NOT_REACHABLE:
        return f"not reachable: {error}"
    return (
        f"not decided in float64: {error}; take a tolerance (tol=), or min_energy for the exact "
        f"target without limits"
    )
