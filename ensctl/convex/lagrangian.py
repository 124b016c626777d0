"""Minimum of f(u) − qᵀu over a domain, in closed form: the only hard part of a dual bound.

Each function returns a :class:`Least`: the minimum and a u that attains it.  Where the minimum is
−inf because a norm of q exceeds 1 by a hair, ``shrink`` < 1 says by which factor q has to be
multiplied to make it finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box, Discs, Domain
from ensctl.convex.problem import Objective
from ensctl.convex.stacking import moduli

Array = NDArray[Any]


@dataclass(frozen=True)
class Least:
    """min f(u) − qᵀu.

    Attributes
    ----------
    value : float
        The minimum, possibly −inf.
    shrink : float
        1, or the largest factor ≤ 1 for which shrink · q has a finite minimum.
    """

    value: float
    shrink: float = 1.0


def least(objective: Objective, domain: Domain, gradient: Array) -> Least:
    """min f(u) − qᵀu over u in the domain, for q = ``gradient``."""
    return _LEAST[objective, type(domain)](domain, gradient)


def _energy(domain: Domain, gradient: Array) -> Least:
    nearest = domain.nearest(gradient)
    return Least(0.5 * float(nearest @ nearest) - float(gradient @ nearest))


def _fuel_box(domain: Box, gradient: Array) -> Least:
    # |u| − q u is convex and piecewise linear: its minimum is at 0 (if allowed) or at an end.
    falling = (np.abs(gradient) > 1.0) & np.isinf(
        np.where(gradient > 0, domain.upper, domain.lower)
    )
    if falling.any():
        return Least(-math.inf, 1.0 / float(np.abs(gradient[falling]).max()))
    near = domain.nearest(np.zeros(domain.size))
    far = np.where(gradient > 0, domain.upper, domain.lower)
    far = np.where(np.isfinite(far), far, near)
    return Least(
        float(np.minimum(np.abs(near) - gradient * near, np.abs(far) - gradient * far).sum())
    )


def _fuel_discs(domain: Discs, gradient: Array) -> Least:
    slope = 1.0 - moduli(gradient)
    falling = (slope < 0.0) & np.isinf(domain.radius)
    if falling.any():
        return Least(-math.inf, 1.0 / (1.0 - float(slope[falling].min())))
    reach = np.where(slope < 0.0, domain.radius, 0.0)
    return Least(float(np.minimum(slope, 0.0) @ reach))


def _peak_box(domain: Box, gradient: Array) -> Least:
    # With |u| ≤ t the best entry is sign(q) min(t, reach), reach = h where q > 0 and −l where
    # q < 0; a negative reach only makes t larger from the start.
    reach = np.where(gradient > 0, domain.upper, -domain.lower)
    smallest = float(np.abs(domain.nearest(np.zeros(domain.size))).max())
    return _peak(np.abs(gradient), reach, smallest)


def _peak_discs(domain: Discs, gradient: Array) -> Least:
    return _peak(moduli(gradient), domain.radius, 0.0)


def _peak(sizes: Array, reach: Array, smallest: float) -> Least:
    """min over t ≥ smallest of t − Σ sizes · min(reach, t): convex, piecewise linear."""
    forever = float(sizes[np.isinf(reach)].sum())
    if forever > 1.0:
        return Least(-math.inf, 1.0 / forever)
    order = np.argsort(reach)
    # Slope beyond reach[order[j]] is 1 minus the sizes of the entries that still grow.
    growing = forever + np.concatenate(
        [np.cumsum((sizes[order] * np.isfinite(reach[order]))[::-1])[::-1], [0.0]]
    )
    turning = int(np.argmax(growing <= 1.0))
    best = smallest if turning == 0 else max(smallest, float(reach[order][turning - 1]))
    return Least(best - float(sizes @ np.minimum(reach, best)))


_LEAST: dict[tuple[Objective, type], Callable[[Any, Array], Least]] = {
    (Objective.ENERGY, Box): _energy,
    (Objective.ENERGY, Discs): _energy,
    (Objective.FUEL, Box): _fuel_box,
    (Objective.FUEL, Discs): _fuel_discs,
    (Objective.PEAK, Box): _peak_box,
    (Objective.PEAK, Discs): _peak_discs,
}
