"""Jumps and poles of a target: found by bisection where neighbouring values differ most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError
from ensctl.synthesis.continuum_task import ContinuumTask

Array = NDArray[Any]

_POINTS = 4001
_SUSPECTS = 6
_BISECTIONS = 60
_LEAST_SHARE = 1e-3
_POLE = 1e6
# A value of its own at the jump (as sign has at 0) hides half of it from its neighbours.
_BESIDE = 4e-15


@dataclass(frozen=True)
class Jump:
    """Values on both sides of a λ that stay apart.

    Attributes
    ----------
    lam : complex
        Where.
    size : float
        |difference|; a continuous state misses one side by at least half of it.
    """

    lam: complex
    size: float


def largest_jump(task: ContinuumTask) -> Jump | None:
    """The largest jump of the target, or None where it looks continuous.

    Raises
    ------
    InvalidInputError
        The target grows without bound near some λ.
    """
    t = np.linspace(-1.0, 1.0, _POINTS) * (1.0 - 1e-16)
    values = task.target(task.region.at(t))
    middle_value = values.mean()
    spread = float(np.abs(values - middle_value).max())
    if spread == 0.0 or task.target.chebyshev is not None:
        return None
    typical = float(np.median(np.abs(values - np.median(values)))) + 1e-300
    steps = np.abs(np.diff(values))
    best: Jump | None = None
    for k in np.argsort(steps)[::-1][:_SUSPECTS]:
        low, high, at_low, at_high = t[k], t[k + 1], values[k], values[k + 1]
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            value = task.target(task.region.at(np.array([middle])))[0]
            if abs(value - at_low) >= abs(at_high - value):
                high, at_high = middle, value
            else:
                low, at_low = middle, value
            # Sizes over the mean: a target may vary by far less than its size.
            largest = max(abs(at_low - middle_value), abs(at_high - middle_value))
            if largest > _POLE * max(typical, spread * 1e-3) and largest > 1e3 * spread:
                raise _unbounded(task, middle)
        lam = complex(task.region.at(np.array([0.5 * (low + high)]))[0])
        beside = task.target(task.region.at(np.array([low - _BESIDE, high + _BESIDE])))
        size = float(max(abs(at_high - at_low), abs(beside[1] - beside[0])))
        if (
            size > _LEAST_SHARE * spread
            and size > 0.05 * steps[k]
            and (best is None or size > best.size)
        ):
            best = Jump(lam if lam.imag else lam.real, size)
    return best


def _unbounded(task: ContinuumTask, t: float) -> InvalidInputError:
    lam = task.region.at(np.array([t]))[0]
    return InvalidInputError(
        f"target must be bounded on {task.region.text}, got values that grow like a pole near "
        f"λ = {lam:.8g}; no horizon reaches any tolerance there: keep that λ out"
    )
