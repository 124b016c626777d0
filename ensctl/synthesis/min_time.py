"""The shortest horizon at which a target can be met, with the proof that one step less is too few.

Feasibility is not monotone in the horizon when both ends move, so every horizon is tried in turn;
where nesting is proved (:mod:`ensctl.synthesis.horizon_nesting`), doubling and bisection do.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from numpy.typing import ArrayLike

from ensctl.arguments import as_horizon
from ensctl.ensemble.ensemble import Ensemble
from ensctl.progress import Progress, progress_of
from ensctl.synthesis.horizon_nesting import nesting_reason
from ensctl.synthesis.horizon_outcomes import PROVED_IMPOSSIBLE, horizon_task
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.min_time_result import MinTime, no_horizon, shortest_horizon
from ensctl.synthesis.plan import SteeringPlan
from ensctl.synthesis.terminal import Rms

Attempt = Callable[[int], SteeringPlan]


def min_time(
    ens: Ensemble,
    target: ArrayLike,
    *,
    x0: ArrayLike = 0.0,
    limits: Limits,
    max_horizon: int = 200,
    objective: str = "energy",
    tol: ArrayLike | Rms | None = None,
    real_inputs: bool | None = None,
    throw: bool = True,
    progress: Progress | bool | None = None,
) -> MinTime:
    """The smallest number of steps in which a target can be met within limits.

    Find the smallest H with an input u_0 … u_{H−1} within the limits and x_H = target (or within
    ``tol``); return the best plan at H and the proof that there is none at H − 1.

    Parameters
    ----------
    ens : Ensemble
        The population.
    target : (N,) array_like
        State to reach.
    x0 : scalar or (N,) array_like
        Initial state.
    limits : Limits
        u_max and u_min scalar, the same at every step.
    max_horizon : int
        Largest H that is tried, ≥ 1.
    objective : {"energy", "fuel", "peak"}
        What the plan at the smallest H minimises.
    tol : scalar, (N,) or Rms, optional
        As in :func:`steer`.
    real_inputs : bool, optional
        As in :func:`steer`.
    throw : bool
        Raise when no horizon up to ``max_horizon`` is feasible; otherwise return a result whose
        status and message say so.
    progress : callable or bool, optional
        ``progress(done, total)`` after each horizon, or True for a bar on a terminal.

    Returns
    -------
    MinTime
        ``plan``, ``horizon``, ``proof`` (the outcome at H − 1), and what stayed ``undecided``:
        horizons below H for which float64 gave neither a plan nor a proof.

    Raises
    ------
    InvalidInputError
        An argument is out of range; limits per step.
    InfeasibleError, NotReachableError
        With ``throw``: every horizon up to ``max_horizon`` is proved impossible.
    PrecisionError
        With ``throw``: none is feasible, and some could not be decided.
    SolverError
        With ``throw``: the smallest horizon was found, but its plan could not be finished.

    Notes
    -----
    Theorem (nesting).  Let u = 0 be allowed, limits be the same at every step, and slew be free.  A
    plan for H gives one for H + 1 (a) by u = 0 put first, if x0 is zero (or every member with
    x0_i ≠ 0 has λ_i = 1 and only inputs are limited), and D = 0 where outputs are limited; (b) by
    u = 0 put last, if the target is zero (or λ_i = 1 where it is not), and it is met exactly or,
    with a tolerance, all |λ| ≤ 1 and outputs are free.  Then H is found by doubling and bisection
    in O(log H) solves.  Otherwise feasible horizons can have gaps and all H are tried from 1.

    Where a horizon stays undecided inside a bisection, the rest of the interval is scanned.  A
    horizon costs about 1–10 ms with input limits and an exact target (Newton's method), 10–200 ms
    with other limits or a tolerance (a program is compiled for each).

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.Ensemble([0.3, 0.6, 0.9])
    >>> quickest = ec.min_time(ens, [1, 0, 0.5], limits=ec.Limits(u_max=2.5))
    >>> quickest.horizon, quickest.proof.status.name, quickest.method
    (6, 'INFEASIBLE', 'bisection')

    Between two moving ends only one horizon may do:

    >>> trap = ec.min_time(ec.Ensemble([0.9]), [7.29], x0=10.0, limits=ec.Limits(u_max=0.05))
    >>> trap.horizon, trap.method
    (3, 'scan')
    """
    task = horizon_task(ens, target, x0, limits, tol, real_inputs)
    longest = int(as_horizon(max_horizon, "max_horizon"))
    reason = nesting_reason(ens, task.target, task.x0, task.terminal, limits)
    total = 2 * math.ceil(math.log2(longest)) + 1 if reason else longest
    found: dict[int, SteeringPlan] = {}

    with progress_of(progress, total, "shortest horizon") as report:

        def attempt(horizon: int) -> SteeringPlan:
            if horizon not in found:
                found[horizon] = task.plan(horizon)
                report(min(len(found), total))
            return found[horizon]

        shortest = _bisect(attempt, longest) if reason else _first(attempt, range(1, longest + 1))
        report(total)

    if shortest is None:
        result = no_horizon(found, longest, reason)
    else:
        plan = found[shortest] if objective == "energy" else task.plan(shortest, objective)
        result = shortest_horizon(plan, found, longest, reason)
    if throw and not result.success:
        raise result.error()
    return result


def _first(attempt: Attempt, horizons: range) -> int | None:
    return next((horizon for horizon in horizons if attempt(horizon).success), None)


def _bisect(attempt: Attempt, longest: int) -> int | None:
    """Smallest feasible horizon of a nested family: low is proved impossible, high is feasible."""
    low, high = 0, 1
    while not attempt(high).success:
        if attempt(high).status in PROVED_IMPOSSIBLE:
            low = high
        if high == longest:
            return _first(attempt, range(low + 1, longest + 1))
        high = min(2 * high, longest)
    while high - low > 1:
        middle = (low + high) // 2
        outcome = attempt(middle)
        if outcome.success:
            high = middle
        elif outcome.status in PROVED_IMPOSSIBLE:
            low = middle
        else:
            return _first(attempt, range(low + 1, high + 1))
    return high
