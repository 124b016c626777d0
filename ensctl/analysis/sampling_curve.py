"""Conditioning against the sampling time: how fast to sample members with continuous rates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.analysis.steering_map import singular_values_of_map, steering_map
from ensctl.arguments import as_horizon, as_vector, read_only
from ensctl.display import Plotted
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.shapes import as_gains
from ensctl.errors import InvalidInputError
from ensctl.formatting import horizon_text, power_text
from ensctl.serialization import versioned

Array = NDArray[Any]

_POINTS = 41


@dataclass(frozen=True, eq=False)
class SamplingCurve(Plotted):
    """Result of :func:`sampling_curve`.

    Attributes
    ----------
    rates : (N,) float64 or complex128
        Continuous rates, 1/time.
    horizon : int
        Number of steps H.
    dts : (k,) float64
        Sampling times, ascending.
    log10_cond : (k,) float64
        log10 κ₂ at each; inf where members become equal.
    log10_worst_energy : (k,) float64
        log10 of the energy Σ|u|² of the worst unit target.
    relative_error_bound : float
        Holds for every σ behind the curve.
    """

    rates: Array
    horizon: int
    dts: Array
    log10_cond: Array
    log10_worst_energy: Array
    relative_error_bound: float

    _plot_function: ClassVar[str] = "sampling_curve"

    @property
    def best_dt(self) -> float:
        """The sampling time of the curve with the smallest κ₂."""
        return float(self.dts[int(np.argmin(self.log10_cond))])

    def within(self, target_condition: float) -> Array:
        """Sampling times of the curve with κ₂ at most ``target_condition``."""
        return np.asarray(self.dts[self.log10_cond <= math.log10(target_condition)])

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1; non-finite numbers as strings."""
        return versioned(
            "sampling_curve",
            {
                "rates": self.rates,
                "horizon": self.horizon,
                "dts": self.dts,
                "log10_cond": self.log10_cond,
                "log10_worst_energy": self.log10_worst_energy,
                "relative_error_bound": self.relative_error_bound,
                "best_dt": self.best_dt,
            },
        )

    def __str__(self) -> str:
        best = int(np.argmin(self.log10_cond))
        return (
            f"κ₂ is smallest, {power_text(float(self.log10_cond[best]))}, at dt = "
            f"{self.best_dt:.4g}\n"
            f"horizon        {horizon_text(self.horizon)}\n"
            f"sampling times {self.dts[0]:.4g} … {self.dts[-1]:.4g} ({self.dts.size})\n"
            f"κ₂ at the ends {power_text(float(self.log10_cond[0]))}, "
            f"{power_text(float(self.log10_cond[-1]))}"
        )


def sampling_curve(
    rates: ArrayLike,
    gains: ArrayLike = 1.0,
    dts: ArrayLike | None = None,
    horizon: int | None = None,
) -> SamplingCurve:
    """κ₂ of members dx_i/dt = a_i x_i + g_i u against the sampling time.

    λ_i = e^{a_i dt}, b_i = g_i (λ_i − 1)/a_i, and κ₂ of [b_i λ_i^j], j < H, for every dt.

    Parameters
    ----------
    rates : (N,) array_like
        Continuous rates a, 1/time, real or complex.
    gains : scalar, (N,) or (N, m) array_like
        Continuous gains g.
    dts : (k,) array_like, optional
        Sampling times, > 0; by default 41 from a fiftieth of the fastest time constant to five
        times the slowest.
    horizon : int, optional
        Number of steps H ≥ 1; by default the number of members.  It is the same for every dt.

    Returns
    -------
    SamplingCurve

    Raises
    ------
    InvalidInputError
        A sampling time is not positive, λ overflows, or an argument is not finite.

    Notes
    -----
    Each σ to about 1e-14 relative.  Sampling too fast brings all λ to 1, too slow all stable ones
    to 0; complex rates meet where their angles differ by a full turn.  One factorisation a dt.

    Examples
    --------
    >>> import ensctl as ec
    >>> curve = ec.sampling_curve([-0.2, -1.0, -3.0], dts=[0.01, 0.5, 20.0])
    >>> curve.best_dt
    0.5
    """
    a = as_vector(rates, "rates")
    g = as_gains(gains, a.size, "gains")
    steps = int(as_horizon(a.size if horizon is None else horizon))
    times = np.sort(as_vector(_default_dts(a) if dts is None else dts, "dts", real=True))
    if times[0] <= 0:
        raise InvalidInputError(f"dts must be > 0, got {times[0]:g}")
    cond, energy, bound = [], [], 0.0
    for dt in times.tolist():
        steering = steering_map(Ensemble.from_continuous(a, g, dt), steps)
        sigma = singular_values_of_map(steering)
        reachable = steering.verdict.reachable
        cond.append(sigma.log10_cond if reachable else math.inf)
        energy.append(-2.0 * float(sigma.log10[a.size - 1]) if reachable else math.inf)
        bound = max(bound, sigma.relative_error_bound)
    return SamplingCurve(
        read_only(a),
        steps,
        read_only(times),
        read_only(np.array(cond)),
        read_only(np.array(energy)),
        bound,
    )


def _default_dts(rates: Array) -> Array:
    speed = np.abs(rates[rates != 0])
    fastest, slowest = (float(speed.max()), float(speed.min())) if speed.size else (1.0, 1.0)
    longest = 5.0 / slowest
    growth = float(np.max(rates.real))
    if growth > 0:
        # e^{a dt} of growing members stays small enough for powers of it.
        longest = min(longest, 5.0 / growth)
    return np.geomspace(min(0.02 / fastest, 0.5 * longest), longest, _POINTS)
