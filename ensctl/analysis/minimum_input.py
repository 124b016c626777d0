"""The minimum-energy input for a displacement, from float64 factors or from balls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.energies import TRUSTED
from ensctl.analysis.steering_map import SteeringMap
from ensctl.threads import blas_threads_for
from ensctl.vandermonde.certified_solve import certified_inputs
from ensctl.vandermonde.factorization import factorize
from ensctl.vandermonde.minimum_norm import minimum_norm

Array = NDArray[Any]

# Unstable sets up to this size get their inputs from balls, digit by digit (about a second).
_MOST_GRADED = 300


@dataclass(frozen=True, eq=False)
class MinimumInput:
    """Minimum-energy input of any magnitude.

    Attributes
    ----------
    coefficients : (H, m)
        u divided by 2^exponent; row j multiplies λ^j, so u_{H−1−j} = coefficients[j] · 2^exponent.
    exponent : int
        Common binary exponent.
    relative_error_bound : float
        Bound of ‖δu‖/‖u‖.
    """

    coefficients: Array
    exponent: int
    relative_error_bound: float

    @property
    def log10_energy(self) -> float:
        """log10 Σ|u|²; −inf for the zero input."""
        norm = float(np.linalg.norm(self.coefficients))
        return 2.0 * (math.log10(norm) + self.exponent * math.log10(2.0)) if norm else -math.inf

    @property
    def log10_peak(self) -> float:
        """log10 max|u|; −inf for the zero input."""
        peak = float(np.abs(self.coefficients).max())
        return math.log10(peak) + self.exponent * math.log10(2.0) if peak else -math.inf


def minimum_input(steering: SteeringMap, displacement: Array) -> MinimumInput:
    """Least Σ|u|² with R_H u = displacement, for a reachable map and a finite horizon.

    Float64 factors answer for one channel; where their own bound exceeds 1e-6, and for several
    channels, the input comes from ball arithmetic.

    Parameters
    ----------
    steering : SteeringMap
        Reachable, with an integer horizon.
    displacement : (n,)
        In the rows of the map, taken as exact.

    Returns
    -------
    MinimumInput
        Real where the data are real.
    """
    steps = int(steering.horizon)
    # Effects of u_k grow like |λ|^{H−1−k}: where that exceeds 1 small inputs need all their digits.
    graded = bool(np.any(np.abs(steering.lam) > 1.0)) and steering.lam.size <= _MOST_GRADED
    if steering.channels == 1 and not graded:
        with blas_threads_for(steering.lam.size):
            factors = factorize(steering.lam, steering.gains[:, 0], steps)
            found = minimum_norm(factors, displacement[:, None])
        bound = float(found.relative_error_bound[0])
        if bound <= TRUSTED:
            return MinimumInput(
                _in_field(steering, displacement, found.coefficients),
                int(found.exponents[0]),
                bound,
            )
    balls = certified_inputs(steering.lam, steering.gains, steps, displacement)
    return MinimumInput(
        _in_field(steering, displacement, balls.high[::-1]),
        balls.exponent,
        balls.relative_error_bound,
    )


def _in_field(steering: SteeringMap, displacement: Array, coefficients: Array) -> Array:
    data = (steering.lam, steering.gains, displacement)
    real = steering.verdict.real_inputs or not any(np.iscomplexobj(part) for part in data)
    return coefficients.real if real else coefficients
