"""Steering every λ of an interval or arc with one input: what it costs and what is promised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from numpy.typing import ArrayLike

from ensctl.arguments import as_count, as_horizon, as_scalar
from ensctl.errors import InvalidInputError
from ensctl.synthesis.continuum_functions import as_function
from ensctl.synthesis.continuum_plan import ContinuumPlan
from ensctl.synthesis.continuum_region import Arc, as_region
from ensctl.synthesis.continuum_solution import Wish, solve_continuum
from ensctl.synthesis.continuum_task import ContinuumTask, check_task

Function = Callable[[Any], Any] | ArrayLike | str

_OBJECTIVES = ("error", "energy", "peak")


def continuum(
    target: Function,
    interval: tuple[float, float] | Arc,
    horizon: int,
    tolerance: float | None = None,
    *,
    gain: Function = 1.0,
    x0: Function = 0.0,
    objective: str | None = None,
    u_max: float | None = None,
    derivative_bound: float | tuple[int, float] | None = None,
    max_horizon: int = 120,
) -> ContinuumPlan:
    """One input that brings x(λ) near target(λ) for every λ of an interval or arc at once.

    x_H(λ) = λ^H x_0(λ) + b(λ) Σ_k u_{H−1−k} λ^k: a polynomial of degree H − 1 times the gain.  It
    is chosen to make sup|target − x_H| least, or to keep it within a tolerance at least energy
    Σ|u|² or least peak max|u|.

    Parameters
    ----------
    target : callable, array_like, str or numpy series
        State to reach.  A callable of an array of λ; coefficients of 1, λ, λ², …; a numpy
        Polynomial or Chebyshev; or a formula in x such as "sin(6*x)", whose bound is proved.
    interval : (float, float) or Arc
        The λ: low < high, or an arc of a circle (complex inputs).
    horizon : int
        Number of steps H ≥ 1.
    tolerance : float, optional
        Largest error allowed, > 0, in the unit of the state.
    gain : callable, array_like, str or float
        b(λ), given like the target.
    x0 : callable, array_like, str or float
        Initial state x_0(λ), given like the target.
    objective : {"error", "energy", "peak"}, optional
        What is made least; by default the energy with a tolerance and the error without.
    u_max : float, optional
        Largest |u_t|, > 0.
    derivative_bound : float or (int, float), optional
        D with |target'| ≤ D, or (k, D) with |target^(k)| ≤ D, on the interval: makes the bound of
        the error of a callable a proof.
    max_horizon : int
        How far a longer horizon is looked for when this one is too short.

    Returns
    -------
    ContinuumPlan
        The inputs, the sup error with a bound, and a lower bound that says how good they are.

    Raises
    ------
    InvalidInputError
        An argument is out of range; the target is not finite or has a pole (the λ is named).
    NotReachableError
        The gain vanishes at a λ whose target is elsewhere.
    InfeasibleError
        The tolerance is below the best error at this horizon; the certificate is a measure that
        proves it, and the message names the smallest horizon that would do.
    PrecisionError
        Inputs exist, but rounding them to float64 spoils the tolerance.

    Notes
    -----
    Best approximation by Remez's exchange, least energy by an active-set method on its dual, both
    in Chebyshev coordinates where it matters; powers come last, in rational arithmetic.  Limits on
    inputs, and arcs, go to a cone solver on points that are added where the error peaks.  A tenth
    of a second to a few for H ≤ 30; longer where float64 cannot carry the best inputs.

    Examples
    --------
    >>> import ensctl as ec
    >>> plan = ec.continuum("sin(6*x)", (0.1, 0.9), 10, 1e-2)
    >>> round(plan.energy, 1), plan.sup_error_bound <= 1e-2, plan.rigorous
    (569.5, True, True)
    >>> best = ec.continuum("x**5", (-1, 1), 5)
    >>> round(best.sup_error, 12)
    0.0625
    """
    region = as_region(interval)
    steps = cast(int, as_horizon(horizon))
    wish = Wish(
        objective=_objective(objective, tolerance),
        tolerance=None if tolerance is None else as_scalar(tolerance, "tolerance", above=0.0),
        u_max=None if u_max is None else as_scalar(u_max, "u_max", above=0.0),
        derivative_bound=_derivative(derivative_bound),
        max_horizon=as_count(max_horizon, "max_horizon"),
    )
    task = ContinuumTask(
        region=region,
        horizon=steps,
        target=as_function(target, "target", region),
        gain=as_function(gain, "gain", region),
        start=as_function(x0, "x0", region),
    )
    check_task(task)
    return solve_continuum(task, wish)


def _objective(objective: str | None, tolerance: float | None) -> str:
    if objective is None:
        return "error" if tolerance is None else "energy"
    if objective not in _OBJECTIVES:
        raise InvalidInputError(f"objective must be 'error', 'energy' or 'peak', got {objective!r}")
    if objective != "error" and tolerance is None:
        raise InvalidInputError(
            f"tolerance must be given with objective {objective!r}: nothing at all costs least"
        )
    return objective


def _derivative(value: float | tuple[int, float] | None) -> tuple[int, float] | None:
    if value is None:
        return None
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise InvalidInputError(
                f"derivative_bound must be a number or a pair (order, bound), got {value!r}"
            )
        order = as_count(value[0], "derivative_bound")
        if order > 100:
            raise InvalidInputError(f"derivative_bound must be of order ≤ 100, got {order}")
        return order, as_scalar(value[1], "derivative_bound", at_least=0.0)
    return 1, as_scalar(value, "derivative_bound", at_least=0.0)
