"""One steering task asked at several horizons: what is fixed, what is checked, what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_vector
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.status import Status
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.plan import SteeringPlan
from ensctl.synthesis.problem import steer_problem
from ensctl.synthesis.terminal import Rms, Terminal, TerminalCost, as_terminal

Array = NDArray[Any]

PROVED_IMPOSSIBLE = (Status.INFEASIBLE, Status.NOT_REACHABLE)


@dataclass(frozen=True, eq=False)
class HorizonTask:
    """A steering task without its horizon; made by :func:`horizon_task`."""

    ensemble: Ensemble
    target: Array
    x0: Array
    limits: Limits
    terminal: Terminal
    tol: ArrayLike | Rms | None
    real_inputs: bool | None

    def plan(self, horizon: int, objective: str = "energy") -> SteeringPlan:
        """The outcome at one horizon.  Whether there is an input does not depend on the objective.

        Energy is the quickest to decide.
        """
        problem = steer_problem(
            self.ensemble,
            horizon,
            objective=objective,
            limits=self.limits,
            tol=self.tol,
            real_inputs=self.real_inputs,
        )
        return problem.solve(self.target, self.x0, throw=False)


def horizon_task(
    ens: Ensemble,
    target: ArrayLike,
    x0: ArrayLike,
    limits: Limits,
    tol: ArrayLike | Rms | None,
    real_inputs: bool | None,
) -> HorizonTask:
    """Check what does not depend on the horizon.

    Raises
    ------
    InvalidInputError
        Wrong lengths, limits per step, or a terminal cost in place of a tolerance.
    """
    if not isinstance(limits, Limits):
        raise InvalidInputError(f"limits must be ec.Limits(u_max=…), got {type(limits).__name__}")
    if not limits.constant_in_time:
        raise InvalidInputError(
            f"limits must have scalar u_max and u_min where the horizon varies, got {limits!r}; "
            f"give one limit for all steps"
        )
    if isinstance(tol, TerminalCost):
        raise InvalidInputError(
            "tol must be None, a tolerance or ec.Rms: a terminal cost makes every horizon feasible"
        )
    return HorizonTask(
        ensemble=ens,
        target=as_vector(target, "target", size=ens.size),
        x0=as_vector(x0, "x0", size=ens.size),
        limits=limits,
        terminal=as_terminal(tol, ens.size),
        tol=tol,
        real_inputs=real_inputs,
    )
