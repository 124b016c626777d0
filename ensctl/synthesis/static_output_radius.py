"""Spectral radius of the aggregate feedback loop, and the gain that makes it smallest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.synthesis.static_output_window import Interval, Loop

Array = NDArray[Any]

_BISECTIONS = 200
_BISECTED = 1e-14
_GRID = 241
_REFINEMENTS = 80
_GOLDEN = 0.5 * (5**0.5 - 1)


@dataclass(frozen=True, eq=False)
class LoopRadius:
    """The moved modes, and the largest |λ| of those that no gain moves."""

    loop: Loop
    fixed: float


def loop_radius(radius: LoopRadius, kappa: float) -> float:
    """ρ at the effective gain κ.

    Real λ, weights of one sign: the extreme poles from the secular equation, right to rounding,
    O(N).  Otherwise eigenvalues of the balanced diag(λ) − κ s σ sᵀ, s = √|w|, in float64.
    """
    if radius.loop.lam.size == 0:
        return radius.fixed
    if radius.loop.one_signed:
        return max(radius.fixed, *map(abs, _extreme_poles(radius.loop, kappa)))
    return max(radius.fixed, float(np.max(np.abs(_poles(radius.loop, kappa)))))


def least_radius(radius: LoopRadius, windows: tuple[Interval, ...]) -> tuple[float, float, bool]:
    """κ of the smallest ρ, that ρ, and whether it is proved to be the smallest of all.

    One sign: the largest pole falls and the smallest falls with κ, so ρ is least where they are
    opposite.  Otherwise a search over each window, or over a logarithmic grid when there is none.
    """
    loop = radius.loop
    if loop.lam.size == 0:
        return 0.0, radius.fixed, True
    scale = 1.0 / float(np.sum(np.abs(_weights(loop))))
    if loop.one_signed:
        kappa = _balanced_gain(loop, scale * (1.0 + float(np.max(np.abs(loop.lam)))))
        return kappa, loop_radius(radius, kappa), True
    steps = scale * np.logspace(-4, 6, _GRID)
    grid = np.sort(np.concatenate([-steps, [0.0], steps]))
    for low, high in windows:
        grid = np.sort(np.append(grid, np.linspace(low, high, _GRID)))
    values = np.array([loop_radius(radius, k) for k in grid])
    best = int(np.argmin(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    kappa = _golden(radius, float(low), float(high))
    found = loop_radius(radius, kappa)
    if found > values[best]:
        kappa, found = float(grid[best]), float(values[best])
    return kappa, found, False


def _weights(loop: Loop) -> Array:
    weights = np.array([complex(float(re), float(im)) for re, im in loop.weights])
    return weights if np.any(weights.imag) else weights.real.copy()


def _poles(loop: Loop, kappa: float) -> Array:
    weights = _weights(loop)
    size = np.sqrt(np.abs(weights))
    phase = weights / np.abs(weights)
    return np.linalg.eigvals(np.diag(loop.lam) - kappa * np.outer(size, phase * size))


def _extreme_poles(loop: Loop, kappa: float) -> tuple[float, float]:
    """Smallest and largest root of 1 + κ Σ w_i/(z − λ_i), which interlace with λ."""
    lam, weights = loop.lam, kappa * _weights(loop)
    if weights[0] < 0:
        low, high = _extreme_of_falling(-lam[::-1], -weights[::-1])
        return -high, -low
    return _extreme_of_falling(lam, weights)


def _extreme_of_falling(lam: Array, weights: Array) -> tuple[float, float]:
    """The same for ascending λ and weights ≥ 0: each root is at or below its λ."""
    reach = float(lam[0] - np.sum(weights))
    smallest = _root(lam, weights, reach, float(lam[0]))
    if lam.size == 1:
        return smallest, smallest
    return smallest, _root(lam, weights, float(lam[-2]), float(lam[-1]))


def _root(lam: Array, weights: Array, low: float, high: float) -> float:
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        falls = 1.0 + float(np.sum(weights / (middle - lam))) > 0
        low, high = (middle, high) if falls else (low, middle)
    return 0.5 * (low + high)


def _balanced_gain(loop: Loop, step: float) -> float:
    """κ at which the largest and the smallest pole are opposite, by bisection of their sum."""
    sign = 1.0 if loop.weights[0][0] > 0 else -1.0

    def surplus(kappa: float) -> float:
        return sum(_extreme_poles(loop, sign * kappa))

    low, high = -step, step
    while surplus(low) < 0:
        low *= 2.0
    while surplus(high) > 0:
        high *= 2.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if high - low <= _BISECTED * step:
            break
        low, high = (middle, high) if surplus(middle) > 0 else (low, middle)
    return sign * 0.5 * (low + high)


def _golden(radius: LoopRadius, low: float, high: float) -> float:
    for _ in range(_REFINEMENTS):
        width = _GOLDEN * (high - low)
        left, right = high - width, low + width
        if loop_radius(radius, left) <= loop_radius(radius, right):
            high = right
        else:
            low = left
    return 0.5 * (low + high)
