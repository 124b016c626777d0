"""The practical verdict: what a target costs, and what rounding and model errors leave of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.ensemble.ensemble import Ensemble
from ensctl.formatting import pow10

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
_LOG10_EPS = math.log10(_EPS)


@dataclass(frozen=True)
class InputSensitivity:
    """What an input sequence of any magnitude does besides reaching its target.

    Attributes
    ----------
    log10_energy : float
        log10 of Σ|u|².
    log10_float_floor : float
        log10 of ε max_i (Σ_k |u_k||b_i||λ_i|^{H−1−k} + |λ_i|^H |x_{0,i}|): the terminal error that
        float64 inputs and a float64 simulation cannot get below.
    log10_lam_tolerance : float
        log10 of the common error of λ that moves the end state by 1 % of max|d|.
    """

    log10_energy: float
    log10_float_floor: float
    log10_lam_tolerance: float


@dataclass(frozen=True)
class PracticalVerdict:
    """Result of :func:`practicality`: can this target be reached with real inputs?

    Attributes
    ----------
    practical : bool
        The terminal error that rounding leaves is within the tolerance, and the actuator range
        (where one is given) suffices.
    tolerance : float
        Terminal error that is accepted, as a share of max|d|.
    target_size : float
        max|d| of the displacement asked for.
    log10_energy : float
        log10 of the minimum energy Σ|u|².
    log10_peak : float
        log10 of max|u| of the minimum-energy input.
    log10_error : float
        log10 of the terminal error that rounding of the inputs leaves.
    log10_lam_tolerance : float
        log10 of the error of λ that moves the end state by ``tolerance`` · max|d|.
    sentence : str
        The verdict with its numbers.
    """

    practical: bool
    tolerance: float
    target_size: float
    log10_energy: float
    log10_peak: float
    log10_error: float
    log10_lam_tolerance: float
    sentence: str

    @property
    def float_floor(self) -> float:
        """Terminal error that rounding leaves, as float64 (inf when it overflows)."""
        return pow10(self.log10_error)

    @property
    def lam_tolerance(self) -> float:
        """Error of λ that moves the end state by the tolerance, as float64."""
        return pow10(self.log10_lam_tolerance)


def input_sensitivity(
    ens: Ensemble,
    coefficients: Array,
    exponent: int,
    *,
    target_size: float,
    x0: Array | None = None,
    share: float = 0.01,
) -> InputSensitivity:
    """Energy, float64 floor and λ-tolerance of an input u = coefficients · 2^exponent.

    Parameters
    ----------
    ens : Ensemble
        The population.
    coefficients : (H, m)
        Row j multiplies λ^j (time runs backwards: u_{H−1−j} = coefficients[j] · 2^exponent).
    exponent : int
        Common binary exponent, so that inputs of any magnitude fit.
    target_size : float
        max|d|, the size of the displacement that is asked for.
    x0 : (N,), optional
        Initial state; zero when it is not given.
    share : float
        Fraction of max|d| that the λ-tolerance allows as terminal error.

    Returns
    -------
    InputSensitivity

    Notes
    -----
    The λ-tolerance adds the rounding error of the derivative to its size, so where float64 cannot
    resolve the derivative the tolerance returned is too small, never too large.  O(N H m).
    """
    horizon = coefficients.shape[0]
    steps = np.arange(horizon)
    scale = exponent * math.log10(2.0)
    energy = float(np.linalg.norm(coefficients) ** 2)
    drive = ens.gains @ coefficients.T
    effort = np.abs(ens.gains) @ np.abs(coefficients).T
    # Powers of |λ| > 1 are measured against |λ|^{H−1}, so that none overflows.
    unstable = np.abs(ens.lam) > 1.0
    powers = np.power(
        ens.lam[:, None], steps[None, :] - np.where(unstable, horizon - 1, 0)[:, None]
    )
    slopes = steps[1:] * powers[:, :-1]
    floor = (np.abs(powers) * effort).sum(axis=1)
    derivative = np.abs((slopes * drive[:, 1:]).sum(axis=1))
    rounding = horizon * _EPS * (np.abs(slopes) * np.abs(drive[:, 1:])).sum(axis=1)
    with np.errstate(divide="ignore"):
        taken_out = scale + (horizon - 1) * np.log10(np.where(unstable, np.abs(ens.lam), 1.0))
        log_floor = np.log10(floor) + taken_out
        log_slope = np.log10(derivative + rounding) + taken_out
        if x0 is not None:
            log_x0 = np.log10(np.abs(x0))
            log_floor = _log10_add(log_floor, _log10_power(ens.lam, horizon) + log_x0)
            free = math.log10(horizon) + _log10_power(ens.lam, horizon - 1) + log_x0
            log_slope = _log10_add(log_slope, free)
        log_energy = float(np.log10(energy) + 2 * scale)
        allowed = float(np.log10(share * target_size))
    return InputSensitivity(
        log10_energy=log_energy,
        log10_float_floor=_LOG10_EPS + float(log_floor.max()),
        log10_lam_tolerance=allowed - float(log_slope.max()),
    )


def _log10_power(lam: Array, exponent: int) -> Array:
    """log10 |λ|^exponent with 0^0 = 1."""
    if exponent == 0:
        return np.zeros(lam.size)
    return np.asarray(exponent * np.log10(np.abs(lam)))


def _log10_add(a: Array, b: Array) -> Array:
    return np.asarray(np.logaddexp(a * math.log(10.0), b * math.log(10.0)) / math.log(10.0))
