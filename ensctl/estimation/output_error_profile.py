"""Whether Cramér–Rao intervals can be trusted, and profile-likelihood intervals where not.

The Cramér–Rao interval θ ± t·std takes the sum of squares for a parabola along the trace of best
fits.  At its ends the sum must then exceed its minimum by t²σ².  Where it does not, the interval
is replaced by all values whose best fit exceeds the minimum by no more than t²σ² (Bates and
Watts, Nonlinear Regression Analysis, 1988, ch. 6).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.estimation.output_error import Fit, fit_output_error, model_outputs

Array = NDArray[Any]

_ROUNDS = 30
# Decrease of the sum of squares, in units of σ², at which a best fit is good enough.
_ENOUGH = 1e-3
_ACCURACY = 5e-3
# A profile that has not closed this many standard errors away is open.
_FARTHEST = 30.0
# Relative decrease of the sum of squares that is another, better minimum.
_BETTER = 1e-6


class BetterMinimum(Exception):
    """A profile ran below the minimum it started from; ``fit`` is where."""

    def __init__(self, fit: Fit) -> None:
        super().__init__("a lower sum of squares was found")
        self.fit = fit


def parabola_misfit(fit: Fit, positions: range, quantile: float) -> Array:
    """|increase / (t²σ²) − 1| at the worse end of the interval of each real parameter.

    inf where the fit overflows.  O(T N) for each.
    """
    unscaled = fit.inverse_information()
    aim = quantile**2 * fit.variance
    result = np.zeros(len(positions))
    for row, k in enumerate(positions):
        step = unscaled[:, k] / math.sqrt(unscaled[k, k]) * math.sqrt(aim)
        for sign in (-1.0, 1.0):
            cost = _cost_at(fit, fit.theta + sign * step)
            result[row] = max(result[row], abs((cost - fit.cost) / aim - 1.0))
    return result


def _cost_at(fit: Fit, theta: Array) -> float:
    slots = fit.model.slots
    outputs = model_outputs(fit.model.with_modes(theta[:slots]), theta[slots:])
    if outputs is None:
        return math.inf
    with np.errstate(over="ignore"):
        return float(np.sum((fit.model.data.target - outputs) ** 2))


def profile_interval(fit: Fit, position: int, quantile: float) -> tuple[float, float]:
    """The values of one real parameter whose best fit is within t²σ² of the minimum.

    Parameters
    ----------
    fit : Fit
        The minimum.
    position : int
        Which real parameter.
    quantile : float
        t, of Student's distribution.

    Returns
    -------
    low, high : float
        Infinite where the profile does not close within 30 standard errors.

    Raises
    ------
    BetterMinimum
        A profile found a lower sum of squares than the minimum.
    """
    std = math.sqrt(fit.inverse_information()[position, position] * fit.variance)
    return (
        _end(fit, position, quantile, -std),
        _end(fit, position, quantile, std),
    )


def _end(fit: Fit, position: int, quantile: float, std: float) -> float:
    """Bracket and secant on √(increase)/σ, which is nearly linear in the distance."""
    centre = fit.theta[position]
    near, near_root, start = 0.0, 0.0, fit
    far = far_root = math.inf
    distance = quantile
    for _ in range(_ROUNDS):
        trial = _held(start, position, centre + distance * std)
        if trial is None:
            far, far_root = distance, math.inf
        else:
            increase = (trial.cost - fit.cost) / fit.variance
            if increase < -_BETTER * fit.residual.size:
                raise BetterMinimum(trial)
            root = math.sqrt(max(increase, 0.0))
            if abs(root - quantile) <= _ACCURACY * quantile:
                return float(centre + distance * std)
            if root < quantile:
                near, near_root, start = distance, root, trial
            else:
                far, far_root = distance, root
        if math.isinf(far):
            if near >= _FARTHEST:
                return math.copysign(math.inf, std)
            slope = max(near_root / near, 0.2) if near else 1.0
            distance = min(max(1.05 * quantile / slope, 1.1 * near), 2.5 * near)
        elif math.isinf(far_root):
            distance = (near + far) / 2
        else:
            share = (quantile - near_root) / (far_root - near_root)
            distance = near + (far - near) * min(max(share, 0.1), 0.9)
        if math.isfinite(far) and far - near <= _ACCURACY * far:
            break
    return float(centre + (far if math.isfinite(far) else math.inf) * std)


def _held(start: Fit, position: int, value: float) -> Fit | None:
    return fit_output_error(start.model, held=(position, value), enough=_ENOUGH * start.variance)
