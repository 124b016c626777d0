"""What is asked of a continuum: x_H(λ) = λ^H x_0(λ) + b(λ) p(λ) near a target for every λ."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError, NotReachableError
from ensctl.synthesis.continuum_functions import LamFunction
from ensctl.synthesis.continuum_region import Interval, Region

Array = NDArray[Any]

_LOOKS = 4001
_VANISHES = 1e-12
# Inputs are squared for the energy: half of the range is left for them.
_MOST_DECADES = 200
_LARGEST_INPUT = 140


@dataclass(frozen=True, eq=False)
class ContinuumTask:
    """A target over a region and the members there.

    Attributes
    ----------
    region : Interval or Arc
    horizon : int
        H.
    target, gain, start : LamFunction
        f, b and x_0.
    """

    region: Region
    horizon: int
    target: LamFunction
    gain: LamFunction
    start: LamFunction

    def with_horizon(self, horizon: int) -> ContinuumTask:
        """The same task in another number of steps."""
        return replace(self, horizon=horizon)

    def wanted(self, lam: Array) -> Array:
        """g(λ) = f(λ) − λ^H x_0(λ): what the inputs have to add."""
        values = self.target(lam)
        if self.start.constant == 0:
            return values
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            drift = lam**self.horizon * self.start(lam)
        if not np.all(np.isfinite(drift)):
            raise InvalidInputError(
                f"horizon must keep λ^H x0 within float64, got {self.horizon}; shorten it"
            )
        return np.asarray(values - drift)

    def gains(self, lam: Array) -> Array:
        """b(λ)."""
        return self.gain(lam)

    @property
    def is_real(self) -> bool:
        """Whether everything is real."""
        if not self.region.is_real:
            return False
        lam = self.region.at(np.linspace(-1.0, 1.0, 17))
        return not (np.iscomplexobj(self.wanted(lam)) or np.iscomplexobj(self.gains(lam)))


def vanishes(task: ContinuumTask) -> bool:
    """Whether b has a zero in the region."""
    if task.gain.constant is not None:
        return task.gain.constant == 0
    lam = task.region.at(np.concatenate([task.region.chebyshev(_LOOKS), _plain_points(task)]))
    return _zero_of_gain(task, lam, task.gains(lam)) is not None


def check_task(task: ContinuumTask) -> None:
    """Refuse functions that are not finite, and gains that vanish where the target does not.

    Raises
    ------
    InvalidInputError
        A function is not finite somewhere; the message names λ.
    NotReachableError
        b(λ) = 0 where the target differs from the drift λ^H x_0.
    """
    _require_range(task)
    lam = task.region.at(np.concatenate([task.region.chebyshev(_LOOKS), _plain_points(task)]))
    wanted, gains = task.wanted(lam), task.gains(lam)
    if task.gain.constant == 0:
        raise NotReachableError("gain is 0: no input moves any member")
    needed = math.log10(max(float(np.abs(wanted).max()), 1e-300))
    needed -= math.log10(max(float(np.abs(gains).max()), 1e-300))
    if needed > _LARGEST_INPUT:
        raise InvalidInputError(
            f"target must be below 1e{_LARGEST_INPUT} times the gain, got 1e{needed:.0f} times: "
            f"the energy would pass float64; choose another unit"
        )
    if task.gain.constant is not None:
        return
    zero = _zero_of_gain(task, lam, gains)
    if zero is None:
        return
    missed = float(np.abs(task.wanted(np.array([zero])))[0])
    size = float(np.abs(wanted).max())
    if missed > _VANISHES * size:
        raise NotReachableError(
            f"gain vanishes at λ = {zero:.8g}, where the target is {missed:.6g} away from where "
            f"the member drifts: no input brings it nearer; keep that λ out of the interval"
        )


def _require_range(task: ContinuumTask) -> None:
    """Refuse regions on which λ^H, or an input that makes up for it, passes float64."""
    decades = task.horizon * math.log10(task.region.radius)
    if abs(decades) > _MOST_DECADES:
        advice = "fewer steps, or a region nearer to 1 in size"
        raise InvalidInputError(
            f"interval must keep |λ|^H between 1e-{_MOST_DECADES} and 1e{_MOST_DECADES}, got "
            f"|λ| up to {task.region.radius:.4g} with H = {task.horizon}; take {advice}"
        )


def _plain_points(task: ContinuumTask) -> Array:
    """t of round values of λ (0 and evenly spaced ones), where functions of users break."""
    even = np.linspace(-1.0, 1.0, 2001)
    if isinstance(task.region, Interval) and task.region.low < 0 < task.region.high:
        return np.append(even, task.region.parameter(np.zeros(1)))
    return even


def _zero_of_gain(task: ContinuumTask, lam: Array, gains: Array) -> complex | None:
    order = np.argsort(task.region.parameter(lam))
    lam, gains = lam[order], gains[order]
    size = float(np.abs(gains).max())
    least = int(np.argmin(np.abs(gains)))
    if abs(gains[least]) <= _VANISHES * size:
        return complex(lam[least]) if np.iscomplexobj(lam) else float(lam[least])
    if np.iscomplexobj(gains) or not task.region.is_real:
        return None
    changes = np.flatnonzero(np.sign(gains[1:]) * np.sign(gains[:-1]) < 0)
    if changes.size == 0:
        return None
    from scipy.optimize import brentq

    k = int(changes[0])
    return float(brentq(lambda x: float(task.gains(np.array([x]))[0]), lam[k], lam[k + 1]))
