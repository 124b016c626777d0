"""Every horizon up to a limit, each with its verdict: plan, proof, or undecided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from ensctl.arguments import as_horizon
from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.formatting import horizon_text, listed
from ensctl.progress import Progress, progress_of
from ensctl.serialization import versioned
from ensctl.status import Status
from ensctl.synthesis.horizon_outcomes import PROVED_IMPOSSIBLE, horizon_task
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.plan import SteeringPlan
from ensctl.synthesis.terminal import Rms


@dataclass(frozen=True, eq=False)
class FeasibleHorizons(Summarised):
    """Result of :func:`feasible_horizons`.

    Attributes
    ----------
    plans : tuple of SteeringPlan
        The outcome at H = 1, 2, …, each with its certificate.
    """

    plans: tuple[SteeringPlan, ...]

    @property
    def max_horizon(self) -> int:
        """Largest horizon tried."""
        return len(self.plans)

    @property
    def statuses(self) -> tuple[Status, ...]:
        """Verdict at H = 1, 2, …"""
        return tuple(plan.status for plan in self.plans)

    @property
    def feasible(self) -> tuple[int, ...]:
        """Horizons with a plan."""
        return self._where(lambda status: status.success)

    @property
    def impossible(self) -> tuple[int, ...]:
        """Horizons proved to have none."""
        return self._where(lambda status: status in PROVED_IMPOSSIBLE)

    @property
    def undecided(self) -> tuple[int, ...]:
        """Horizons with neither a plan nor a proof."""
        return self._where(lambda status: not status.success and status not in PROVED_IMPOSSIBLE)

    def at(self, horizon: int) -> SteeringPlan:
        """The outcome at one horizon.

        Parameters
        ----------
        horizon : int
            1 … max_horizon.

        Returns
        -------
        SteeringPlan

        Raises
        ------
        InvalidInputError
            Beyond what was tried.
        """
        steps = int(as_horizon(horizon))
        if steps > self.max_horizon:
            raise InvalidInputError(f"horizon must be ≤ {self.max_horizon}, got {steps}")
        return self.plans[steps - 1]

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "feasible_horizons",
            {
                "max_horizon": self.max_horizon,
                "statuses": self.statuses,
                "feasible": self.feasible,
                "undecided": self.undecided,
            },
        )

    def __str__(self) -> str:
        if not self.feasible:
            lines = [f"no horizon up to {horizon_text(self.max_horizon)} has a plan"]
        else:
            lines = [f"feasible: {_ranges(self.feasible)} of 1 … {self.max_horizon} steps"]
        lines.append(f"proved impossible: {_ranges(self.impossible) or 'none'}")
        if self.undecided:
            lines.append(f"undecided in float64: {_ranges(self.undecided)}")
        return "\n".join(lines)

    def _where(self, holds: Callable[[Status], bool]) -> tuple[int, ...]:
        return tuple(plan.horizon for plan in self.plans if holds(plan.status))


def feasible_horizons(
    ens: Ensemble,
    target: ArrayLike,
    *,
    x0: ArrayLike = 0.0,
    limits: Limits,
    max_horizon: int,
    tol: ArrayLike | Rms | None = None,
    real_inputs: bool | None = None,
    progress: Progress | bool | None = None,
) -> FeasibleHorizons:
    """Decide every horizon from 1 to ``max_horizon``: a certified plan, or a proof of none.

    Parameters
    ----------
    ens, target, x0, limits, tol, real_inputs, progress
        As in :func:`min_time`.
    max_horizon : int
        Largest H, ≥ 1.

    Returns
    -------
    FeasibleHorizons
        Plans of least energy where there are some.

    Raises
    ------
    InvalidInputError
        An argument is out of range.

    Notes
    -----
    No monotonicity is assumed: with both ends moving, feasible horizons can have gaps.

    Examples
    --------
    >>> import ensctl as ec
    >>> found = ec.feasible_horizons(
    ...     ec.Ensemble([-0.9]), [-9.0], x0=10.0, limits=ec.Limits(u_max=0.1), max_horizon=20
    ... )
    >>> print(found)
    feasible: 1 of 1 … 20 steps
    proved impossible: 2–20
    """
    task = horizon_task(ens, target, x0, limits, tol, real_inputs)
    longest = int(as_horizon(max_horizon, "max_horizon"))
    plans: list[SteeringPlan] = []
    with progress_of(progress, longest, "horizons") as report:
        for steps in range(1, longest + 1):
            plans.append(task.plan(steps))
            report(steps)
    return FeasibleHorizons(tuple(plans))


def _ranges(numbers: tuple[int, ...]) -> str:
    """1–3, 5 and 7–9."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return listed([str(a) if a == b else f"{a}–{b}" for a, b in runs])
