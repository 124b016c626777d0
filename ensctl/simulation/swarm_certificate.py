"""Proof that a speed limit is too low, checked against the motion of the robots in the plane.

For any complex weights w, z(H) = points and |v| ≤ v_max give

    Re Σ_i w̄_i d_i = Σ_t v_t g_t ≤ v_max Σ_t |g_t|,   g_t = Re Σ_i w̄_i e^{j(φ_i + ω_i t)},

so weights that break the inequality prove that there is no plan.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.infeasibility import InfeasibilityCertificate
from ensctl.simulation.swarm import Swarm
from ensctl.simulation.swarm_phases import PHASE_ERROR, phases

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)


def speed_certificate(
    swarm: Swarm, points: Array, horizon: int, v_max: float, weights: Array
) -> tuple[InfeasibilityCertificate, float]:
    """Check weights; with them comes the speed below which they prove that there is no plan.

    Parameters
    ----------
    swarm : Swarm
    points : (N,) complex128
    horizon : int
    v_max : float
    weights : (N,) complex128
        w, any scale.

    Returns
    -------
    certificate : InfeasibilityCertificate
        η = (Re w, Im w), max|η| = 1; float64 with a bound on everything that was rounded.
    speed : float
        Re Σ w̄ d/Σ_t|…| : every plan has a larger peak (not reduced by the error bound).
    """
    peak = max(float(np.abs(weights.real).max()), float(np.abs(weights.imag).max()))
    w = weights / peak
    displacement = points - swarm.positions
    cos, sin = phases(swarm.turn_rates, np.arange(horizon, dtype=float))
    turned = np.conj(w) * np.exp(1j * swarm.headings)
    gradient = turned.real @ cos - turned.imag @ sin
    gain = float((w.real @ displacement.real) + (w.imag @ displacement.imag))
    reach = float(np.abs(gradient).sum())
    # Terms of at most |w_i| √2 each: phases, headings, one product, N additions.
    size, count = float(np.abs(w).sum()), swarm.size
    per_step = (2.0 * PHASE_ERROR + (count + 8) * _EPS) * 1.5 * size
    terms = float(np.abs(w) @ (np.abs(points) + np.abs(swarm.positions)))
    error = v_max * (horizon * per_step + (horizon + 2) * _EPS * reach)
    error += (2 * count + 8) * _EPS * terms
    certificate = InfeasibilityCertificate(
        eta=np.concatenate([w.real, w.imag]),
        multipliers=(),
        margin=gain - v_max * reach,
        error_bound=error,
        arithmetic="float64",
    )
    return certificate, gain / reach if reach > 0.0 else np.inf
