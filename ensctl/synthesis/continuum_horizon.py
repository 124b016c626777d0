"""The smallest horizon whose best error is within a tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from ensctl.arguments import as_count, as_scalar
from ensctl.errors import InfeasibleError, InvalidInputError
from ensctl.synthesis.continuum_functions import as_function
from ensctl.synthesis.continuum_jumps import largest_jump
from ensctl.synthesis.continuum_region import as_region
from ensctl.synthesis.continuum_task import ContinuumTask, check_task

Function = Callable[[Any], Any] | ArrayLike | str


@dataclass(frozen=True)
class HorizonError:
    """A horizon and the best error it allows.

    Attributes
    ----------
    horizon : int
    error : float
        Least sup error of any inputs in so many steps.
    """

    horizon: int
    error: float


def smallest_horizon(
    target: Function,
    interval: tuple[float, float],
    tolerance: float,
    *,
    gain: Function = 1.0,
    x0: Function = 0.0,
    max_horizon: int = 120,
) -> HorizonError:
    """The smallest H in which one input brings every λ of an interval within a tolerance.

    The best error with H inputs is that of the best approximation of (target − λ^H x_0) by b·p,
    deg p < H.

    Parameters
    ----------
    target, gain, x0 : callable, array_like, str or float
        As in :func:`continuum`; real.
    interval : (float, float)
        low < high.
    tolerance : float
        > 0.
    max_horizon : int
        Where the search ends.

    Returns
    -------
    HorizonError
        ``horizon`` and the best ``error`` there.

    Raises
    ------
    InvalidInputError
        An argument is out of range.
    NotReachableError
        The gain vanishes at a λ whose target is elsewhere.
    InfeasibleError
        No horizon up to ``max_horizon`` does it; the message says how near the last one comes.

    Notes
    -----
    From 0 the best error falls with H and the search bisects; with an initial state it need not,
    and every H is tried.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.smallest_horizon("sin(6*x)", (0.1, 0.9), 1e-2).horizon
    6
    """
    region = as_region(interval)
    if not region.is_real:
        raise InvalidInputError("interval must be a pair (low, high) here, got an Arc")
    goal = as_scalar(tolerance, "tolerance", above=0.0)
    most = as_count(max_horizon, "max_horizon")
    task = ContinuumTask(
        region,
        1,
        as_function(target, "target", region),
        as_function(gain, "gain", region),
        as_function(x0, "x0", region),
    )
    check_task(task)
    if not task.is_real:
        raise InvalidInputError("target, gain and x0 must be real here; use continuum")
    found, last = first_horizon(task, goal, most)
    if found is None:
        jump = largest_jump(task)
        why = "" if jump is None else f"; the target jumps by {jump.size:.4g} at λ = {jump.lam:.8g}"
        raise InfeasibleError(
            f"no horizon up to {last.horizon} reaches tolerance {goal:g}: the best error there is "
            f"{last.error:.6g}{why}"
        )
    return last


def first_horizon(
    task: ContinuumTask, tolerance: float, most: int
) -> tuple[int | None, HorizonError]:
    """The smallest horizon within the tolerance, or None and the last one looked at."""
    from ensctl.synthesis.continuum_solution import best_error

    def error(horizon: int) -> float:
        return best_error(task.with_horizon(horizon)).error

    if task.start.constant != 0:
        value = 0.0
        for horizon in range(1, most + 1):
            value = error(horizon)
            if value <= tolerance:
                return horizon, HorizonError(horizon, value)
        return None, HorizonError(most, value)
    low, high, value = 0, 1, error(1)
    while value > tolerance and high < most:
        low, high = high, min(2 * high, most)
        value = error(high)
    if value > tolerance:
        return None, HorizonError(most, value)
    while high - low > 1:
        middle = (low + high) // 2
        at_middle = error(middle)
        if at_middle <= tolerance:
            high, value = middle, at_middle
        else:
            low = middle
    return high, HorizonError(high, value)
