"""The result of a search for the shortest horizon, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ensctl.convex.infeasibility import InfeasibilityCertificate
from ensctl.convex.optimality import OptimalityCertificate
from ensctl.display import Summarised
from ensctl.errors import EnsctlError, InfeasibleError, NotReachableError, PrecisionError
from ensctl.formatting import horizon_text, listed
from ensctl.serialization import versioned
from ensctl.status import Status
from ensctl.synthesis.horizon_outcomes import PROVED_IMPOSSIBLE
from ensctl.synthesis.plan import SteeringPlan

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class MinTime(Summarised):
    """Result of :func:`min_time`: the plan at the smallest horizon and the proof below it.

    Attributes
    ----------
    plan : SteeringPlan
        The best plan at the smallest feasible H; without one, the outcome at the largest H tried.
    proof : SteeringPlan or None
        The outcome at H − 1, with its certificate; None when H = 1 or when no H is feasible.
    status : Status
        ``OPTIMAL`` when a plan was found.
    message : str
        What was found, and what was proved.
    undecided : tuple of int
        Horizons below H (all of them, when there is no H) with neither a plan nor a proof.
    max_horizon : int
        Largest horizon allowed.
    scanned : int
        Number of horizons solved.
    method : str
        "scan" or "bisection".
    nesting : str
        Why bisection is allowed; '' for a scan.
    """

    plan: SteeringPlan
    proof: SteeringPlan | None
    status: Status
    message: str
    undecided: tuple[int, ...]
    max_horizon: int
    scanned: int
    method: str
    nesting: str

    @property
    def success(self) -> bool:
        """Whether there is a certified plan."""
        return self.status.success

    @property
    def proved(self) -> bool:
        """Whether every shorter horizon is proved impossible."""
        return self.success and not self.undecided

    @property
    def horizon(self) -> int:
        """The smallest feasible number of steps found.

        Raises
        ------
        InfeasibleError, NotReachableError, PrecisionError, SolverError
            There is none.
        """
        if not self.success:
            raise self.error()
        return self.plan.horizon

    @property
    def inputs(self) -> Array:
        """u_0 … u_{H−1} of the plan; raises when there is none."""
        if not self.success:
            raise self.error()
        return self.plan.inputs

    @property
    def energy(self) -> float:
        """Σ |u|² of the plan."""
        return self.plan.energy

    @property
    def fuel(self) -> float:
        """Σ |u| of the plan."""
        return self.plan.fuel

    @property
    def peak(self) -> float:
        """max |u| of the plan."""
        return self.plan.peak

    @property
    def terminal_error(self) -> float:
        """max_i |x_{i,H} − target_i| of the plan, simulated in float64."""
        return self.plan.terminal_error

    @property
    def certificate(self) -> OptimalityCertificate | InfeasibilityCertificate | None:
        """Of the plan; ``proof.certificate`` is that of H − 1."""
        return self.plan.certificate

    def states(self) -> Array:
        """x_0 … x_H of the plan, (N, H+1)."""
        return self.plan.states()

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the plan.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure is made when it is not given.

        Returns
        -------
        object
            What was drawn.
        """
        return self.plan.plot(ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "min_time",
            {
                "status": self.status,
                "success": self.success,
                "message": self.message,
                "horizon": self.plan.horizon if self.success else None,
                "proved": self.proved,
                "undecided": self.undecided,
                "max_horizon": self.max_horizon,
                "scanned": self.scanned,
                "method": self.method,
                "nesting": self.nesting,
                "plan": self.plan.to_dict(),
                "proof": None if self.proof is None else self.proof.to_dict(),
            },
        )

    def error(self) -> EnsctlError:
        """The error that this outcome raises when ``throw`` is True."""
        if self.status is Status.NOT_REACHABLE:
            return NotReachableError(self.message, self.plan.members)
        if self.status is Status.INFEASIBLE:
            return InfeasibleError(self.message, self.plan.certificate)
        if self.status is Status.PRECISION_LIMITED:
            return PrecisionError(self.message)
        return self.plan.error()

    def __str__(self) -> str:
        how = f"{self.method}: {self.scanned} horizons solved"
        lines = [self.message, f"{how}; {self.nesting}" if self.nesting else how]
        if self.success:
            lines.append(str(self.plan))
        return "\n".join(lines)


def shortest_horizon(
    plan: SteeringPlan, found: dict[int, SteeringPlan], longest: int, nesting: str
) -> MinTime:
    """The result when ``plan.horizon`` is the smallest feasible horizon."""
    steps = plan.horizon
    proof = found[steps - 1] if steps > 1 else None
    undecided = _undecided(found, steps, nesting)
    if not plan.success:
        message = f"shortest horizon {horizon_text(steps)}, but without a plan: {plan.message}"
    elif undecided:
        message = (
            f"{horizon_text(steps)} will do, but float64 could not decide "
            f"{listed(undecided)}: a shorter horizon is not excluded"
        )
    elif proof is None:
        message = "shortest horizon: 1 step"
    else:
        word = {Status.INFEASIBLE: "infeasible", Status.NOT_REACHABLE: "not reachable"}
        message = (
            f"shortest horizon: {horizon_text(steps)}; {horizon_text(steps - 1)} "
            f"{'is' if steps == 2 else 'are'} {word[proof.status]}, proved"
        )
    return MinTime(
        plan=plan,
        proof=proof,
        status=plan.status,
        message=message,
        undecided=undecided,
        max_horizon=longest,
        scanned=len(found),
        method="bisection" if nesting else "scan",
        nesting=nesting,
    )


def no_horizon(found: dict[int, SteeringPlan], longest: int, nesting: str) -> MinTime:
    """The result when no horizon up to ``longest`` gave a plan."""
    undecided = _undecided(found, longest + 1, nesting)
    last = found[longest]
    text = f"no horizon up to {horizon_text(longest)} is feasible"
    if undecided:
        status = Status.PRECISION_LIMITED
        message = (
            f"no plan up to {horizon_text(longest)}: {longest - len(undecided)} horizons are "
            f"proved impossible, float64 could not decide {listed(undecided)}; take a tolerance"
        )
    elif last.status is Status.NOT_REACHABLE and _all_not_reachable(found):
        status, message = Status.NOT_REACHABLE, f"{text}: {last.message}"
    else:
        status = Status.INFEASIBLE
        last = max(
            (plan for plan in found.values() if plan.status is status), key=lambda p: p.horizon
        )
        message = (
            f"{text}, proved{' at the longest by nesting' if nesting else ' one by one'}: "
            f"{last.message}; widen the limits or raise max_horizon"
        )
    return MinTime(
        plan=last,
        proof=None,
        status=status,
        message=message,
        undecided=undecided,
        max_horizon=longest,
        scanned=len(found),
        method="bisection" if nesting else "scan",
        nesting=nesting,
    )


def _all_not_reachable(found: dict[int, SteeringPlan]) -> bool:
    return all(plan.status is Status.NOT_REACHABLE for plan in found.values())


def _undecided(found: dict[int, SteeringPlan], below: int, nesting: str) -> tuple[int, ...]:
    """Horizons without a proof; nesting carries a proof to all shorter ones."""
    proved = {steps for steps, plan in found.items() if plan.status in PROVED_IMPOSSIBLE}
    if nesting:
        first = max((steps for steps in proved if steps < below), default=0) + 1
        return tuple(range(first, below))
    return tuple(steps for steps in range(1, below) if steps not in proved)
