"""The size of the answer, known before solving: programs are posed in v = u/s."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.problem import Problem
from ensctl.convex.regions import Ball, Quadratic, Within, WithinDiscs, Zero

Array = NDArray[Any]

# Scales closer than this factor are the same to a solver.
_DISTINCT = 3.0
_LADDER = (10.0, 100.0, 0.1, 0.01, 1e3, 1e-3, 1e4)


def natural_scale(problem: Problem) -> float:
    """s > 0, a lower bound of ‖u‖ (or close to one) for every u that meets the target.

    ‖c‖ when the target has to be met exactly; the norm of the regularised solution when there is
    a tolerance or a terminal cost, which can be smaller by any factor; more when a limit alone
    forces larger inputs.  1 when nothing forces any input.
    """
    size = _terminal_size(problem)
    size = max(size, float(np.linalg.norm(problem.domain.nearest(np.zeros(problem.domain.size)))))
    for rows in problem.limits:
        norms = rows.norms
        excess = rows.region.excess(-rows.target)
        size = max(size, float(np.max(excess / np.where(norms > 0, norms, np.inf), initial=0.0)))
    return size or 1.0


def scales_to_try(problem: Problem) -> tuple[float, ...]:
    """Scales for a problem that a solver failed at: the natural one and others.

    Where a tolerance is barely active, inputs much larger than the natural scale are as good, and
    limits may force them; what the exact target takes within the limits says how large.
    """
    natural = natural_scale(problem)
    exact = problem.system.basis @ problem.coordinates
    typical = float(np.linalg.norm(problem.domain.nearest(exact))) or natural
    found = [natural]
    others = [typical, float(np.sqrt(natural) * np.sqrt(typical))]
    for scale in (*others, *(natural * step for step in _LADDER)):
        if all(max(scale / old, old / scale) > _DISTINCT for old in found):
            found.append(scale)
    return tuple(found)


def _terminal_size(problem: Problem) -> float:
    terminal, factor = problem.terminal, problem.system.factor
    if not problem.coordinates.size:
        return 0.0
    if isinstance(terminal, Zero):
        return float(np.linalg.norm(problem.coordinates))
    target = factor @ problem.coordinates
    if isinstance(terminal, Quadratic):
        left, sigma, _ = np.linalg.svd(factor)
        return _regularised(left.T @ target, sigma, terminal.softness)
    if isinstance(terminal, Within | WithinDiscs):
        radius = np.resize(terminal.radius, target.shape)
    elif isinstance(terminal, Ball):
        radius = np.full(target.shape, terminal.radius / np.sqrt(target.size))
    else:
        return 0.0
    if np.any(radius == 0.0):
        return float(np.linalg.norm(problem.coordinates))
    left, sigma, _ = np.linalg.svd(factor / radius[:, None])
    weights = left.T @ (target / radius)
    if float(weights @ weights) <= target.size:
        return 0.0
    # ‖error‖² = N at the softness sought; bisection on its logarithm.
    low, high = np.log(1e-40 * sigma[0] ** 2), np.log(1e40 * sigma[0] ** 2)
    for _ in range(60):
        middle = 0.5 * (low + high)
        rho = np.exp(middle)
        error = weights * rho / (sigma**2 + rho)
        low, high = (low, middle) if float(error @ error) > target.size else (middle, high)
    return _regularised(weights, sigma, float(np.exp(low)))


def _regularised(weights: Array, sigma: Array, softness: float) -> float:
    """Norm of the solution of (R Rᵀ + ρ) in singular vectors."""
    return float(np.linalg.norm(weights * sigma / (sigma**2 + softness)))
