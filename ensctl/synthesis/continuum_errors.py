"""The error of inputs over a continuum, evaluated without the cancellation of powers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.synthesis.chebyshev_basis import clenshaw, exact_floats, from_powers, nearest_floats
from ensctl.synthesis.continuum_region import Interval
from ensctl.synthesis.continuum_task import ContinuumTask

Array = NDArray[Any]


def powers_as_chebyshev(powers: Array, interval: Interval) -> Array:
    """Chebyshev coefficients of Σ a_k λ^k, converted exactly and rounded once."""
    exact = from_powers(exact_floats(powers), Fraction(interval.centre), Fraction(interval.half))
    return nearest_floats(exact)


def polynomial_function(task: ContinuumTask, powers: Array) -> Callable[[Array], Array]:
    """p at an array of t: Chebyshev coefficients on an interval, Horner on an arc."""
    region = task.region
    if isinstance(region, Interval):
        parts = [powers.real, powers.imag] if np.iscomplexobj(powers) else [powers]
        series = [powers_as_chebyshev(part, region) for part in parts]

        def on_interval(t: Array) -> Array:
            real = clenshaw(series[0], t)
            return real if len(series) == 1 else np.asarray(real + 1j * clenshaw(series[1], t))

        return on_interval

    from numpy.polynomial.polynomial import polyval

    return lambda t: np.asarray(polyval(region.at(t), powers))


def error_function(task: ContinuumTask, powers: Array) -> Callable[[Array], Array]:
    """e(t) = g − b p at an array of t."""
    p = polynomial_function(task, powers)

    def error(t: Array) -> Array:
        lam = task.region.at(t)
        return np.asarray(task.wanted(lam) - task.gains(lam) * p(t))

    return error


def float_floor(task: ContinuumTask, powers: Array) -> float:
    """ε max (Σ_k |a_k||b||λ|^k + |λ|^H |x_0|): what a recursion in float64 may add."""
    lam = task.region.at(np.linspace(-1.0, 1.0, 257))
    size = np.abs(lam)
    from numpy.polynomial.polynomial import polyval

    total = np.abs(task.gains(lam)) * polyval(size, np.abs(powers))
    total = total + size**task.horizon * np.abs(task.start(lam))
    return float(np.finfo(float).eps) * float(total.max())
