"""From a checked task to a plan: best error first, then what was wished for, then the bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.errors import InfeasibleError, PrecisionError
from ensctl.formatting import horizon_text
from ensctl.synthesis.continuum_bounds import SupBound, sup_bound
from ensctl.synthesis.continuum_certificate import alternation_certificate
from ensctl.synthesis.continuum_energy import least_energy
from ensctl.synthesis.continuum_errors import error_function, float_floor
from ensctl.synthesis.continuum_jumps import Jump, largest_jump
from ensctl.synthesis.continuum_peaks import peaks
from ensctl.synthesis.continuum_plan import ContinuumPlan
from ensctl.synthesis.continuum_region import Interval
from ensctl.synthesis.continuum_rounding import rounded_powers
from ensctl.synthesis.continuum_task import ContinuumTask, vanishes
from ensctl.synthesis.remez import BestUniform, best_uniform, default_grid

Array = NDArray[Any]

# So much below the tolerance the solver aims, for the bound to stay within it.
_MARGIN = 3e-6
_TRIES = 5
# From this share of the error on, rounding is worth smaller inputs.
_FLOOR_SHOWS = 0.02
_NEAR_LEAST = 10.0 * float(np.finfo(float).eps)
_GIVEN_UP = (1.01, 1.2, 2.0, *(10.0**k for k in range(1, 13)))
_LEAST = "the least possible"
_LEAST_IN_FLOAT64 = "the least found that float64 can carry"


@dataclass(frozen=True)
class Wish:
    """What is to be made least, and within what.

    Attributes
    ----------
    objective : str
        "error", "energy" or "peak".
    tolerance, u_max : float or None
    derivative_bound : (int, float) or None
    max_horizon : int
    """

    objective: str
    tolerance: float | None
    u_max: float | None
    derivative_bound: tuple[int, float] | None
    max_horizon: int


@dataclass(frozen=True, eq=False)
class Found:
    """Coefficients of powers of λ, and a lower bound of the objective."""

    powers: Array
    lower_bound: float


def solve_continuum(task: ContinuumTask, wish: Wish) -> ContinuumPlan:
    """The plan, or the error that says why there is none."""
    jump = largest_jump(task)
    needs_program = wish.u_max is not None or wish.objective == "peak" or vanishes(task)
    if needs_program or not task.is_real:
        from ensctl.synthesis.continuum_limited import limited_plan

        return limited_plan(task, wish, jump)
    best = best_error(task)
    if wish.tolerance is not None and best.lower_bound > wish.tolerance:
        raise too_short(task, best, wish, jump)
    if wish.objective == "error":
        return _most_accurate(task, wish, best, jump)
    return _cheapest(task, wish, best, jump)


def best_error(task: ContinuumTask) -> BestUniform:
    """The best uniform approximation of a real task on an interval."""
    region = task.region
    return best_uniform(
        lambda t: task.wanted(region.at(t)), lambda t: task.gains(region.at(t)), task.horizon - 1
    )


def finished(task: ContinuumTask, wish: Wish, found: Found, note: str) -> ContinuumPlan:
    """Measure, bound and describe inputs."""
    powers = np.array(found.powers)
    t, values = peaks(error_function(task, powers), _grid(task))
    sup_error = float(np.abs(values).max())
    bound, floor = bounded(task, wish, powers, sup_error)
    high = np.abs(values) >= 0.99 * sup_error
    message = _message(task, wish, sup_error, powers) + note
    return ContinuumPlan(
        region=task.region,
        horizon=task.horizon,
        objective=wish.objective,
        tolerance=wish.tolerance,
        u_max=wish.u_max,
        inputs=read_only(powers[::-1].copy()),
        sup_error=sup_error,
        sup_error_bound=bound.value + floor,
        bound_method=bound.method,
        rigorous=bound.rigorous,
        float_floor=floor,
        lower_bound=found.lower_bound,
        peaks=read_only(task.region.at(t[high])),
        message=message,
        _task=task,
    )


def bounded(
    task: ContinuumTask, wish: Wish, powers: Array, sup_error: float
) -> tuple[SupBound, float]:
    """The bound of the exact recursion, and the float64 floor."""
    return sup_bound(task, powers, sup_error, wish.derivative_bound), float_floor(task, powers)


def _most_accurate(
    task: ContinuumTask, wish: Wish, best: BestUniform, jump: Jump | None
) -> ContinuumPlan:
    region = task.region
    if not isinstance(region, Interval):
        raise TypeError("arcs are not real")
    powers = rounded_powers(best.coefficients, region)
    plan = finished(task, wish, Found(powers, best.lower_bound), _jump_note(jump))
    reached = float(np.abs(task.wanted(region.at(best.points))).max())
    # Any input that gets there has a floor of ε times where it gets.
    if plan.float_floor > max(_FLOOR_SHOWS * plan.sup_error, _NEAR_LEAST * reached):
        plan = _steadier(task, wish, best, plan)
    if wish.tolerance is not None and plan.sup_error > wish.tolerance:
        raise _spoilt(plan, wish.tolerance)
    return plan


def _steadier(
    task: ContinuumTask, wish: Wish, best: BestUniform, plan: ContinuumPlan
) -> ContinuumPlan:
    """Smaller inputs that give up a little of the best error, where rounding costs more."""
    note = f"; exact inputs would reach {best.error:.6g}"
    misses = 0
    # From the cheapest inputs on: as the error falls, rounding rises, and then both do.
    for factor in sorted(_GIVEN_UP, reverse=True):
        if factor * best.error >= plan.sup_error_bound:
            continue
        found = least_energy(task, factor * best.error)
        other = finished(task, wish, Found(found.powers, best.lower_bound), note)
        if other.sup_error_bound < plan.sup_error_bound:
            plan = replace(other, message=other.message.replace(_LEAST, _LEAST_IN_FLOAT64))
            misses = 0
        else:
            misses += 1
        if misses == 2:
            break
    return plan


def _cheapest(
    task: ContinuumTask, wish: Wish, best: BestUniform, jump: Jump | None
) -> ContinuumPlan:
    tolerance = wish.tolerance or 0.0
    aim = tolerance * (1.0 - _MARGIN)
    plan: ContinuumPlan | None = None
    for _ in range(_TRIES):
        if aim <= best.error * (1.0 + 1e-9):
            break
        found = least_energy(task, aim)
        plan = finished(task, wish, Found(found.powers, found.lower_bound), _jump_note(jump))
        excess = plan.sup_error_bound - tolerance
        if excess <= 0.0:
            return plan
        aim -= 1.1 * excess
    nearest = _most_accurate(task, _without_tolerance(wish), best, jump)
    if plan is None or plan.sup_error > tolerance * (1.0 + 1e-9):
        if nearest.sup_error_bound <= tolerance:
            return finished(task, wish, Found(nearest.inputs[::-1], 0.0), _jump_note(jump))
        raise _spoilt(plan or nearest, tolerance)
    return plan


def too_short(
    task: ContinuumTask, best: BestUniform, wish: Wish, jump: Jump | None
) -> InfeasibleError:
    """Which tolerance cannot be reached at this horizon, and which horizon would do."""
    from ensctl.synthesis.continuum_horizon import first_horizon

    tolerance = wish.tolerance or 0.0
    where = f"tolerance {tolerance:g} is below the best error {best.error:.6g} in " + horizon_text(
        task.horizon
    )
    if jump is not None and tolerance < 0.5 * jump.size:
        certificate = alternation_certificate(task, best.points, None)
        return InfeasibleError(f"infeasible, proved: {where}; {_jump_text(jump)}", certificate)
    found, last = first_horizon(task, tolerance, wish.max_horizon)
    if found is not None:
        advice = f"the smallest horizon that does it is {found}"
    else:
        advice = (
            f"no horizon up to {last.horizon} does it (there the best error is {last.error:.4g})"
        )
    certificate = alternation_certificate(task, best.points, found)
    return InfeasibleError(f"infeasible, proved: {where}; {advice}", certificate)


def _jump_text(jump: Jump) -> str:
    return (
        f"the target jumps by {jump.size:.4g} at λ = {jump.lam:.8g}, so no horizon reaches a "
        f"tolerance below {0.5 * jump.size:.4g}"
    )


def _jump_note(jump: Jump | None) -> str:
    return "" if jump is None else "; " + _jump_text(jump)


def _spoilt(plan: ContinuumPlan, tolerance: float) -> PrecisionError:
    return PrecisionError(
        f"inputs for tolerance {tolerance:g} exist but are as large as {plan.peak:.2g}: in float64 "
        f"the error is {plan.sup_error:.3g} and rounding may leave {plan.float_floor:.2g}; take a "
        "longer horizon or a larger tolerance"
    )


def _without_tolerance(wish: Wish) -> Wish:
    return Wish("error", None, wish.u_max, wish.derivative_bound, wish.max_horizon)


def _grid(task: ContinuumTask) -> Array:
    grid = default_grid(min(task.horizon, 400))
    return grid if task.region.is_real else task.region.chebyshev(grid.size)


def _message(task: ContinuumTask, wish: Wish, sup_error: float, powers: Array) -> str:
    where = f"every λ of {task.region.text}"
    if wish.objective == "error":
        limit = "" if wish.u_max is None else f" with |u| ≤ {wish.u_max:g}"
        return f"{where} ends within {sup_error:.6g} of its target, {_LEAST}{limit}"
    cost = float(np.sum(np.abs(powers) ** 2)) if wish.objective == "energy" else None
    value = cost if cost is not None else float(np.abs(powers).max())
    return (
        f"{where} ends within {wish.tolerance:g} of its target at least {wish.objective} "
        f"{value:.6g}"
    )
