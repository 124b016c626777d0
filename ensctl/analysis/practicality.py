"""The practical verdict: what a target costs, and what rounding and model errors leave of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.analysis.energies import worst_unit_target
from ensctl.analysis.minimum_input import MinimumInput, minimum_input
from ensctl.analysis.steering_map import SteeringMap, rows_of_displacement, steering_map
from ensctl.arguments import as_horizon, as_scalar, as_vector
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError
from ensctl.formatting import listed, pow10, power_text

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
_LOG10_EPS = math.log10(_EPS)


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


def practicality(
    ens: Ensemble,
    horizon: int | None = None,
    *,
    target: ArrayLike | None = None,
    x0: ArrayLike = 0.0,
    tolerance: float = 0.01,
    u_max: float | None = None,
    resolution: float | None = None,
    real_inputs: bool | None = None,
) -> PracticalVerdict:
    """Whether a target (or every unit target) can be reached with inputs of finite precision.

    The minimum-energy input u for the displacement d = target − Λ^H x_0 leaves the terminal error
    ε max_i (Σ_k |u_k||b_i||λ_i|^{H−1−k} + |λ_i|^H |x_{0,i}|) when inputs and states are float64, or
    ½ δu max_i Σ_k |b_i||λ_i|^{H−1−k} when inputs come in steps of δu.  The verdict is practical
    when that error is at most ``tolerance`` · max|d| and the actuator range suffices.

    Parameters
    ----------
    ens : Ensemble
        The population.
    horizon : int, optional
        Number of steps H ≥ 1; by default the number of members.
    target : (N,) array_like, optional
        State to reach; by default the unit displacement that costs most.
    x0 : (N,) array_like or scalar
        Initial state.
    tolerance : float
        Accepted terminal error as a share of max|d|, in (0, 1).
    u_max : float, optional
        Actuator range |u| ≤ u_max, > 0.
    resolution : float, optional
        Actuator step δu > 0; by default inputs are float64 numbers.
    real_inputs : bool, optional
        True asks for real inputs on a complex set.

    Returns
    -------
    PracticalVerdict
        With infinite energy and practical = False when the ensemble is not reachable.

    Raises
    ------
    InvalidInputError
        An argument is out of range.
    PrecisionError
        The minimum-energy input could not be made certain.

    Notes
    -----
    With ``u_max`` the verdict is negative when √(E/(H m)) > u_max (no input of this energy has a
    smaller peak) and when the minimum-energy input itself exceeds it; a bounded-input design may
    still succeed in the second case, and the sentence says so.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.practicality(ec.Ensemble([0.2, 0.5, 0.8])).practical
    True
    >>> print(ec.practicality(ec.Ensemble([0.3, 0.1 + 0.2])).sentence)
    impractical: rounding to float64 alone leaves a terminal error of 3.394 where 0.007071 is...
    """
    require_ensemble(ens)
    steps = int(as_horizon(ens.size if horizon is None else horizon))
    share = as_scalar(tolerance, "tolerance", above=0.0, below=1.0)
    limit = None if u_max is None else as_scalar(u_max, "u_max", above=0.0)
    step = None if resolution is None else as_scalar(resolution, "resolution", above=0.0)
    start = as_vector(x0, "x0", size=ens.size)
    steering = steering_map(ens, steps, real_inputs)
    if target is None and np.any(start):
        raise InvalidInputError("target must be given when x0 is not zero; name the state to reach")
    if not steering.verdict.reachable:
        return _not_reachable(share, steering.verdict.reasons)
    displacement = _displacement(ens, steering, target, start)
    return judge(ens, steering, displacement, start, share, limit, step)


def judge(
    ens: Ensemble,
    steering: SteeringMap,
    displacement: Array,
    x0: Array,
    tolerance: float,
    u_max: float | None = None,
    resolution: float | None = None,
) -> PracticalVerdict:
    """The practical verdict of one displacement, in the rows of a reachable map."""
    steps = int(steering.horizon)
    size = _largest_entry(steering, displacement)
    if size == 0:
        return _nothing_to_do(tolerance)
    solution = minimum_input(steering, displacement)
    effects = input_effects(ens, solution, x0=x0, resolution=resolution)
    allowed = math.log10(tolerance * size)
    accurate = effects.log10_error <= allowed
    mean = 0.5 * (solution.log10_energy - math.log10(steps * steering.channels))
    limit = math.inf if u_max is None else math.log10(u_max)
    within = solution.log10_peak <= limit
    return PracticalVerdict(
        practical=accurate and within,
        tolerance=tolerance,
        target_size=size,
        log10_energy=solution.log10_energy,
        log10_peak=solution.log10_peak,
        log10_error=effects.log10_error,
        log10_lam_tolerance=allowed - effects.log10_slope,
        sentence=_sentence(accurate, within, mean > limit, solution, effects, allowed, resolution),
    )


def _displacement(
    ens: Ensemble, steering: SteeringMap, target: ArrayLike | None, x0: Array
) -> Array:
    """d = target − Λ^H x_0 in the rows of the map, or the worst unit displacement."""
    if target is None:
        return np.asarray(worst_unit_target(steering))
    difference = as_vector(target, "target", size=ens.size)
    if np.any(x0):
        free = np.power(ens.lam, int(steering.horizon)) * x0
        if not np.all(np.isfinite(free)):
            raise InvalidInputError(
                "x0 must stay finite over the horizon, but |λ|^H |x0| overflows"
            )
        difference = difference - free
    rows = rows_of_displacement(steering, difference)
    if steering.verdict.real_inputs:
        _require_conjugate(steering, rows)
    return rows


def _require_conjugate(steering: SteeringMap, rows: Array) -> None:
    """Real inputs keep states real, or conjugate where members are; so must the target be."""
    wrong = []
    for i in range(rows.size):
        mates = (steering.lam == np.conj(steering.lam[i])) & np.all(
            steering.gains == np.conj(steering.gains[i]), axis=1
        )
        if not np.any(np.conj(rows[mates]) == rows[i]):
            wrong.append(int(steering.members[i]))
    if wrong:
        raise InvalidInputError(
            f"target must be real for real members and conjugate for conjugate ones under real "
            f"inputs, members {listed(sorted(set(wrong)))} ask for something else"
        )


def _largest_entry(steering: SteeringMap, displacement: Array) -> float:
    """max|d_i| over members; a member with two rows x/√2, x̄/√2 counts with its modulus |x|."""
    copies = np.bincount(steering.members)[steering.members]
    return float(np.max(np.abs(displacement) * np.sqrt(copies)))


def _nothing_to_do(tolerance: float) -> PracticalVerdict:
    return PracticalVerdict(
        practical=True,
        tolerance=tolerance,
        target_size=0.0,
        log10_energy=-math.inf,
        log10_peak=-math.inf,
        log10_error=-math.inf,
        log10_lam_tolerance=math.inf,
        sentence="practical: the free motion ends in the target, no input is needed",
    )


def _not_reachable(tolerance: float, reasons: tuple[str, ...]) -> PracticalVerdict:
    return PracticalVerdict(
        practical=False,
        tolerance=tolerance,
        target_size=1.0,
        log10_energy=math.inf,
        log10_peak=math.inf,
        log10_error=math.inf,
        log10_lam_tolerance=-math.inf,
        sentence=f"impractical: not every target has an input; {reasons[0]}",
    )


def _sentence(
    accurate: bool,
    within: bool,
    hopeless: bool,
    solution: MinimumInput,
    effects: InputEffects,
    allowed: float,
    resolution: float | None,
) -> str:
    cause = "rounding to float64" if resolution is None else f"input steps of {resolution:.3g}"
    error, limit = power_text(effects.log10_error), power_text(allowed)
    cost = f"energy {power_text(solution.log10_energy)}, peak {power_text(solution.log10_peak)}"
    if not accurate:
        return (
            f"impractical: {cause} alone leaves a terminal error of {error} where {limit} is "
            f"accepted ({cost})"
        )
    if not within and hopeless:
        return f"impractical: no input of this energy stays within the actuator range ({cost})"
    if not within:
        return (
            f"impractical with the minimum-energy input, whose peak exceeds the actuator range "
            f"({cost}); a bounded-input design may still succeed"
        )
    return f"practical: {cause} leaves a terminal error of {error}, {limit} is accepted ({cost})"


@dataclass(frozen=True)
class InputEffects:
    """What an input of any magnitude does besides reaching its target.

    Attributes
    ----------
    log10_error : float
        log10 of the terminal error that rounding (inputs, and a float64 simulation) leaves.
    log10_slope : float
        log10 of max_i |∂x_{i,H}/∂λ_i|, rounding included.
    """

    log10_error: float
    log10_slope: float


def input_effects(
    ens: Ensemble,
    solution: MinimumInput,
    *,
    x0: Array,
    resolution: float | None = None,
) -> InputEffects:
    """Terminal error from rounding, and sensitivity of the end state to λ.

    Error: ε max_i (Σ_k |u_k||b_i||λ_i|^{H−1−k} + |λ_i|^H |x_{0,i}|), or with inputs in steps of δu
    the larger of that and ½ δu max_i Σ_k |b_i||λ_i|^{H−1−k}.
    Slope: max_i (|Σ_k (H−1−k) λ_i^{H−2−k} b_i u_k| + |H λ_i^{H−1} x_{0,i}|).

    Parameters
    ----------
    ens : Ensemble
        The population.
    solution : MinimumInput
        The input.
    x0 : (N,)
        Initial state.
    resolution : float, optional
        Input step δu.

    Returns
    -------
    InputEffects

    Notes
    -----
    The rounding error of the slope is added to it, so where float64 cannot resolve the slope the
    λ-tolerance derived from it is too small, never too large.  O(N H m).
    """
    coefficients = solution.coefficients
    horizon = coefficients.shape[0]
    steps = np.arange(horizon)
    drive = ens.gains @ coefficients.T
    effort = np.abs(ens.gains) @ np.abs(coefficients).T
    # Powers of |λ| > 1 are measured against |λ|^{H−1}, so that none overflows.
    unstable = np.abs(ens.lam) > 1.0
    base = np.where(unstable, 1.0 / np.where(unstable, ens.lam, 1.0), ens.lam)
    powers = np.power(
        base[:, None], np.where(unstable[:, None], horizon - 1 - steps[None, :], steps[None, :])
    )
    slopes = steps[1:] * powers[:, :-1]
    floor = (np.abs(powers) * effort).sum(axis=1)
    derivative = np.abs((slopes * drive[:, 1:]).sum(axis=1))
    rounding = horizon * _EPS * (np.abs(slopes) * np.abs(drive[:, 1:])).sum(axis=1)
    with np.errstate(divide="ignore", over="ignore"):
        log_reach = np.log10(np.abs(powers).sum(axis=1))
        log_reach = log_reach + np.log10(np.abs(ens.gains).sum(axis=1))
        growth = (horizon - 1) * np.log10(np.where(unstable, np.abs(ens.lam), 1.0))
        scale = growth + solution.exponent * math.log10(2.0)
        log_x0 = np.log10(np.abs(x0))
        error = _LOG10_EPS + _log10_add(
            np.log10(floor) + scale, _log10_power(ens.lam, horizon) + log_x0
        )
        if resolution is not None:
            error = np.maximum(error, math.log10(0.5 * resolution) + log_reach + growth)
        free = math.log10(horizon) + _log10_power(ens.lam, horizon - 1) + log_x0
        slope = _log10_add(np.log10(derivative + rounding) + scale, free)
    return InputEffects(float(error.max()), float(slope.max()))


def _log10_power(lam: Array, exponent: int) -> Array:
    """log10 |λ|^exponent with 0^0 = 1."""
    if exponent == 0:
        return np.zeros(lam.size)
    return np.asarray(exponent * np.log10(np.abs(lam)))


def _log10_add(a: Array, b: Array) -> Array:
    return np.asarray(np.logaddexp(a * math.log(10.0), b * math.log(10.0)) / math.log(10.0))
