"""The acceptances in an ellipsoid at which a given mix does worst.

Σ_a y_aL_{K_a}(α_{d_a}) is a sum of convex increasing functions f_d(α_d), so with a multiplier ν it
falls apart into one-dimensional problems f_d'(α) + 2ν(α − α̂_d)/σ_d² = 0, solved by Newton's
method; bisection finds the ν at which Σ((α − α̂)/σ)² = κ².  By weak duality any ν gives a guarantee.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.scheduling.arms import Arms

Array = NDArray[Any]

_HALVINGS = 100
_NEWTON = 100
_SETTLED = 4e-16


def lengths_at(arms: Arms, alphas: Mapping[str, float]) -> Array:
    """Σ_{j=0..K} α^j of every arm, (n,); 1 for off."""
    alpha = np.array([alphas.get(name, 0.0) for name in arms.drafters])
    powers = alpha[:, None] ** np.arange(max(arms.depths) + 1)
    return _sums(arms, powers)


def worst_acceptance(
    arms: Arms, alphas: Mapping[str, float], std: Mapping[str, float], kappa: float, y: Array
) -> tuple[dict[str, float], float]:
    """(worst α by drafter, guaranteed Σ y_aL_a)."""
    names = [name for name in std if name in arms.drafters]
    centre = np.array([alphas[name] for name in names])
    spread = np.array([std[name] for name in names])
    # Coefficient of α^j in f_d.
    terms = np.arange(max(arms.depths) + 1)
    depths = np.array(arms.depths)
    polynomials = np.array([y * (arms.of(name)) @ (terms <= depths[:, None]) for name in names])
    if not names or kappa == 0 or not polynomials[:, 1:].any():
        return dict(alphas), float(lengths_at(arms, alphas) @ y)
    slopes = polynomials[:, 1:] * terms[1:]
    bends = slopes[:, 1:] * terms[1:-1]

    def at(nu: float) -> Array:
        """The root in [0, α̂] by Newton's method from α̂: f' is convex, so it falls to the root."""
        alpha, pull = centre.copy(), 2 * nu / spread**2
        for _ in range(_NEWTON):
            rising = (slopes * alpha[:, None] ** terms[:-1]).sum(axis=1) + pull * (alpha - centre)
            steep = (bends * alpha[:, None] ** terms[:-2]).sum(axis=1) + pull
            flat = np.where(rising > 0, 1.0, 0.0)
            step = np.divide(rising, steep, out=flat, where=steep > 0)
            lower = np.clip(alpha - step, 0.0, centre)
            if np.all(np.abs(lower - alpha) <= _SETTLED * centre):
                return lower
            alpha = lower
        return alpha

    def distance(alpha: Array) -> float:
        return float(np.linalg.norm((alpha - centre) / spread))

    if distance(at(0.0)) <= kappa:
        worst, guarantee = at(0.0), 0.0
    else:
        low, high = 0.0, 1.0
        while distance(at(high)) > kappa:
            high *= 4.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if distance(at(middle)) > kappa else (low, middle)
        worst, guarantee = at(high), high * (distance(at(high)) ** 2 - kappa**2)
    found = {**alphas, **dict(zip(names, worst.tolist(), strict=True))}
    return found, float(lengths_at(arms, found) @ y) + guarantee


def _sums(arms: Arms, powers: Array) -> Array:
    counted = np.arange(powers.shape[1]) <= np.array(arms.depths)[:, None]
    return np.asarray((powers * counted).sum(axis=1))
