"""Descent for functions with kinks: BFGS with a weak Wolfe search by bisection.

The largest or smallest singular value changes hands where two of them meet, and the best sets
often lie exactly there.  BFGS with a weak Wolfe search converges to such points as well (A. S.
Lewis and M. L. Overton, Nonsmooth optimization via quasi-Newton methods, Math. Program. 141 (2013)
135–163); a strong Wolfe search stops in front of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Objective = Callable[[Array], tuple[float, Array]]

_ARMIJO = 1e-4
_WOLFE = 0.5
_MOST_TRIALS = 40


def descend(
    objective: Objective, start: Array, *, iterations: int, tolerance: float
) -> tuple[Array, float]:
    """A local minimum of ``objective`` (value and gradient) from ``start``.

    Parameters
    ----------
    objective : callable
        x → (f, ∇f); f may be inf where x is not allowed.
    start : (n,) float64
        First point, with a finite f.
    iterations : int
        Most steps.
    tolerance : float
        Stops when ten steps together gain less than this.

    Returns
    -------
    (x, f)
        The best point and its value.
    """
    x = np.array(start, dtype=float)
    value, slope = objective(x)
    if x.size == 0 or not np.isfinite(value):
        return x, value
    inverse = np.eye(x.size) * _first_scale(slope)
    history = [value]
    for _ in range(iterations):
        direction = -inverse @ slope
        steepness = float(slope @ direction)
        if not steepness < 0:
            inverse = np.eye(x.size) * _first_scale(slope)
            direction = -inverse @ slope
            steepness = float(slope @ direction)
            if not steepness < 0:
                break
        found = _weak_wolfe(objective, x, value, direction, steepness)
        if found is None:
            break
        length, new_value, new_slope = found
        step, change = length * direction, new_slope - slope
        x, value, slope = x + step, new_value, new_slope
        inverse = _updated(inverse, step, change)
        history.append(value)
        if len(history) > 10 and history[-11] - value < tolerance:
            break
    return x, value


def _first_scale(slope: Array) -> float:
    size = float(np.linalg.norm(slope))
    return 0.1 / size if size > 0.1 else 1.0


def _weak_wolfe(
    objective: Objective, x: Array, value: float, direction: Array, steepness: float
) -> tuple[float, float, Array] | None:
    """A step that gains enough and flattens the slope; the best that gained if none does both."""
    low, high, length = 0.0, np.inf, 1.0
    best: tuple[float, float, Array] | None = None
    for _ in range(_MOST_TRIALS):
        new_value, new_slope = objective(x + length * direction)
        if not new_value <= value + _ARMIJO * length * steepness:
            high = length
        else:
            best = (length, new_value, new_slope)
            if float(new_slope @ direction) >= _WOLFE * steepness:
                return best
            low = length
        length = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
        if high - low <= 1e-14 * high:
            break
    return best


def _updated(inverse: Array, step: Array, change: Array) -> Array:
    curvature = float(step @ change)
    if not curvature > 1e-14 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        return inverse
    moved = inverse @ change
    scale = (1.0 + float(change @ moved) / curvature) / curvature
    cross = np.outer(step, moved) / curvature
    return np.asarray(inverse + scale * np.outer(step, step) - cross - cross.T)
