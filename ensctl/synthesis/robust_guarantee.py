"""An upper bound of the terminal error over whole intervals of λ and b, not over samples.

The end of a member is a polynomial in its own λ, x_H(λ) − target = Σ_j a_j λ^j with
a_j = B u_{H−1−j}, a_H = x_0, and affine in b.  On a piece |λ − z| ≤ r it is at most
Σ_n |c_n| r^n with the Taylor coefficients c_n at z; those beyond the first few are bounded by
Cauchy's estimate M(ρ) (r/ρ)^n, M(ρ) = Σ_j |a_j| (|z| + ρ)^j.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.synthesis.robust_scenarios import Intervals

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
_PIECES = 16
_TERMS = 16
# ρ = 8 r leaves 8^−16 < 1e-14 of M(ρ) behind 16 terms.
_WIDER = 8.0


def guaranteed_error(intervals: Intervals, inputs: Array, target: Array, x0: Array) -> float:
    """An upper bound of max_i |x_{i,H} − target_i| over all λ and b in the intervals.

    Parameters
    ----------
    intervals : Intervals
        What is known of λ and b.
    inputs : (H,) or (m, H)
        u_0 … u_{H−1}.
    target, x0 : (N,)
        The two ends.

    Returns
    -------
    float
        Rounding of the bound itself is included (γ-type bounds); that of a simulation is not.

    Notes
    -----
    Real intervals are cut into 16 pieces; discs are bounded in one.  O(16 · 16 · N H).
    """
    nominal = intervals.nominal
    by_power = np.atleast_2d(inputs)[:, ::-1]
    drive = nominal.gains @ by_power
    coefficients = np.column_stack([drive, x0]).astype(np.result_type(drive, x0, target))
    coefficients[:, 0] -= target
    pieces = 1 if intervals.complex_members.any() else _PIECES
    places = (2.0 * np.arange(pieces) + 1.0) / pieces - 1.0
    worst = 0.0
    for place in places.tolist():
        centre = nominal.lam + intervals.lam_radius * place
        radius = intervals.lam_radius / pieces * (1.0 + 4.0 * _EPS) + 2.0 * _EPS * np.abs(centre)
        bound = _largest(coefficients, centre, radius)
        for channel in range(nominal.channels):
            spread = intervals.b_radius[:, channel]
            if np.any(spread):
                powers = np.broadcast_to(by_power[channel], (nominal.size, by_power.shape[1]))
                bound = bound + spread * _largest(powers, centre, radius)
        worst = max(worst, float(bound.max()))
    return worst


def _largest(coefficients: Array, centre: Array, radius: Array) -> Array:
    """Upper bounds of |Σ_j a_ij λ^j| over |λ − z_i| ≤ r_i, (N,)."""
    count = coefficients.shape[1]
    terms = min(count, _TERMS)
    work = coefficients.astype(np.result_type(coefficients, centre), copy=True)
    total, factor = np.zeros(centre.size), np.ones(centre.size)
    for n in range(terms):
        # Synthetic division by (λ − z): the remainder is c_n.
        for j in range(count - 2, n - 1, -1):
            work[:, j] += centre * work[:, j + 1]
        total += np.abs(work[:, n]) * factor
        factor = factor * radius
    size = np.abs(coefficients)
    rounding = 4.0 * _EPS * (count + terms) * _majorant(size, np.abs(centre) + radius)
    if count == terms:
        return total + rounding
    tail = _majorant(size, np.abs(centre) + _WIDER * radius) * _WIDER**-terms
    return np.asarray(total + rounding + tail / (1.0 - 1.0 / _WIDER))


def _majorant(size: Array, at: Array) -> Array:
    """Σ_j |a_j| t^j by Horner's rule."""
    value = np.zeros(at.size)
    for j in range(size.shape[1] - 1, -1, -1):
        value = value * at + size[:, j]
    return value
