"""What accuracy costs: the least cost at each terminal tolerance, from one compiled task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_vector, read_only
from ensctl.display import Plotted, Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.formatting import horizon_text
from ensctl.progress import Progress, progress_of
from ensctl.serialization import versioned
from ensctl.status import Status
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.plan import SteeringPlan
from ensctl.synthesis.problem import SteeringProblem, steer_problem
from ensctl.synthesis.steering_rows import all_rows
from ensctl.synthesis.terminal import Rms, as_terminal

Array = NDArray[Any]

_POINTS = 13
# The finest default tolerance: so far above the float floor, and above this share of max|d|.
_ABOVE_FLOOR = 100.0
_FINEST_SHARE = 1e-9
_ALL = 1.0 + 1e-9
_KINDS = ("member", "rms")


@dataclass(frozen=True, eq=False)
class Tradeoff(Plotted, Summarised):
    """Result of :func:`tradeoff`: tolerances from coarse to fine, and what each costs.

    Attributes
    ----------
    tolerances : (k,) float64
        Descending.
    costs : (k,) float64
        Least cost at each; inf where the tolerance is proved impossible, and where it could not be
        decided (``statuses`` tells which).
    plans : tuple of SteeringPlan
        Each with its certificate.
    kind : str
        "member" (each |x_{i,H} − target_i| within the tolerance) or "rms".
    objective : str
        "energy", "fuel" or "peak".
    """

    tolerances: Array
    costs: Array
    plans: tuple[SteeringPlan, ...]
    kind: str
    objective: str

    _plot_function: ClassVar[str] = "tradeoff_curve"

    @property
    def statuses(self) -> tuple[Status, ...]:
        """How each point ended."""
        return tuple(plan.status for plan in self.plans)

    @property
    def finest(self) -> float:
        """Smallest tolerance with a certified plan; inf when there is none."""
        solved = [t for t, s in zip(self.tolerances, self.statuses, strict=True) if s.success]
        return float(min(solved, default=np.inf))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "tradeoff",
            {
                "kind_of_tolerance": self.kind,
                "objective": self.objective,
                "horizon": self.plans[0].horizon,
                "tolerances": self.tolerances,
                "costs": self.costs,
                "statuses": self.statuses,
                "terminal_errors": [plan.terminal_error for plan in self.plans],
            },
        )

    def __str__(self) -> str:
        unit = "for each member" if self.kind == "member" else "RMS"
        lines = [f"least {self.objective} in {horizon_text(self.plans[0].horizon)} by tolerance"]
        shown = np.unique(np.linspace(0, self.tolerances.size - 1, 9).round().astype(int))
        for k in shown:
            status = self.statuses[k]
            cost = f"{self.costs[k]:.6g}" if status.success else status.name.lower()
            lines.append(f"  {self.tolerances[k]:9.3g} {unit}: {cost}")
        if shown.size < self.tolerances.size:
            lines.append(f"  {shown.size} of {self.tolerances.size} points shown")
        return "\n".join(lines)


def tradeoff(
    ens: Ensemble,
    target: ArrayLike,
    horizon: int,
    tolerances: ArrayLike | None = None,
    *,
    x0: ArrayLike = 0.0,
    objective: str = "energy",
    limits: Limits | None = None,
    kind: str = "member",
    real_inputs: bool | None = None,
    progress: Progress | bool | None = None,
) -> Tradeoff:
    """Least cost of steering against the terminal error that is allowed.

    For each tolerance τ: minimise the objective subject to the limits and |x_{i,H} − target_i| ≤ τ
    for every member, or √(Σ|x_{i,H} − target_i|²/N) ≤ τ.

    Parameters
    ----------
    ens : Ensemble
        The population.
    target : (N,) array_like
        State to reach.
    horizon : int
        Number of steps H ≥ 1.
    tolerances : (k,) array_like, optional
        > 0, in the unit of the states; sorted from coarse to fine.  By default 13 in geometric
        steps from max|d|, d = target − Λ^H x0, to 100 times the float floor of the exact plan (at
        least 1e-9 max|d|; 1e-6 max|d| when there is no exact plan).
    x0 : scalar or (N,) array_like
        Initial state.
    objective : {"energy", "fuel", "peak"}
        What is minimised.
    limits : Limits, optional
        As in :func:`steer`.
    kind : {"member", "rms"}
        What the tolerance bounds.
    real_inputs : bool, optional
        As in :func:`steer`.
    progress : callable or bool, optional
        ``progress(done, total)`` after each point, or True for a bar on a terminal.

    Returns
    -------
    Tradeoff
        Costs do not fall as the tolerance shrinks; every point carries its certificate.

    Raises
    ------
    InvalidInputError
        An argument is out of range.

    Notes
    -----
    The program is compiled once and re-solved with a new radius; a point that this does not bring
    to a certified end (the radius is many orders from the one it was scaled for) is compiled anew,
    and serves the finer points after it.

    Examples
    --------
    >>> import ensctl as ec
    >>> curve = ec.tradeoff(ec.Ensemble([0.3, 0.6, 0.9]), [1, 0, 0.5], 6, [0.5, 0.1, 0.01])
    >>> curve.costs.round(4)
    array([ 0.2421, 15.9889, 25.2033])
    """
    if kind not in _KINDS:
        raise InvalidInputError(f"kind must be 'member' or 'rms', got {kind!r}")
    task = steer_problem(ens, horizon, objective=objective, limits=limits, real_inputs=real_inputs)
    goal = as_vector(target, "target", size=ens.size)
    start = as_vector(x0, "x0", size=ens.size)
    chosen = _given(tolerances) if tolerances is not None else _default(task, goal, start)

    plans: list[SteeringPlan] = []
    with progress_of(progress, chosen.size, "tolerances") as report:
        for plan in _sweep(task, goal, start, chosen, kind):
            plans.append(plan)
            report(len(plans))
    costs = [getattr(plan, objective) if plan.success else np.inf for plan in plans]
    return Tradeoff(
        tolerances=read_only(chosen),
        costs=read_only(np.array(costs, dtype=float)),
        plans=tuple(plans),
        kind=kind,
        objective=objective,
    )


def _sweep(
    task: SteeringProblem, target: Array, x0: Array, tolerances: Array, kind: str
) -> Iterator[SteeringPlan]:
    current: SteeringProblem | None = None
    for value in tolerances.tolist():
        terminal = as_terminal(Rms(value) if kind == "rms" else value, task.ensemble.size)
        if current is not None:
            # The copy shares what has been compiled: only the radius differs.
            plan = replace(current, terminal=terminal).solve(target, x0, throw=False)
            if plan.status in (Status.OPTIMAL, Status.INFEASIBLE, Status.NOT_REACHABLE):
                yield plan
                continue
        current = replace(task, terminal=terminal, _prepared={})
        yield current.solve(target, x0, throw=False)


def _given(tolerances: ArrayLike) -> Array:
    values = as_vector(tolerances, "tolerances", real=True)
    if np.any(values <= 0):
        raise InvalidInputError(f"tolerances must be > 0, got {values.min():g}; leave it out")
    return np.array(np.sort(values)[::-1])


def _default(task: SteeringProblem, target: Array, x0: Array) -> Array:
    rows = all_rows(task.ensemble, target, task.horizon, x0, real_inputs=task.real_inputs)
    size = float(np.abs(rows.displacement).max())
    if size == 0.0:
        raise InvalidInputError(
            "target must differ from where x0 drifts by itself: every tolerance costs nothing; "
            "choose another target, or give tolerances"
        )
    exact = task.solve(target, x0, throw=False)
    finest = max(_ABOVE_FLOOR * exact.float_floor, _FINEST_SHARE * size)
    if not exact.success or finest > 0.1 * size:
        finest = 1e-6 * size
    # Just above max|d|, so that doing nothing is allowed whatever rounding says.
    return np.geomspace(_ALL * size, finest, _POINTS)
