"""How exactly chosen nodes have to be made: what errors of λ do to the criterion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_criteria import Criterion, pieces
from ensctl.arguments import read_only

Array = NDArray[Any]

# Corners of the box of errors that are tried.
CORNERS = 32
# The criterion may get this much worse.
ALLOWED = 0.1
_SIZES = (1e-6, 1e-4, 1e-2)


@dataclass(frozen=True, eq=False)
class NodeTolerance:
    """What errors of λ do to a design; all errors are absolute, of the largest size at once.

    Attributes
    ----------
    allowed : float
        Largest error of every λ for which the criterion stays within 10 % (relative; log det:
        within 0.1) at all 32 random corners of the box.
    sizes : tuple of float
        Errors of λ that were tried.
    worst : tuple of float
        Factor by which the criterion got worse at the worst corner, for each size (log det: by how
        much); inf where members can coincide.
    slopes : (N,) float64
        |∂ ln criterion/∂λ_i| at the design: how much each member matters.
    """

    allowed: float
    sizes: tuple[float, ...]
    worst: tuple[float, ...]
    slopes: Array


def node_tolerance(
    criterion: Criterion, lam: Array, b: Array, horizon: int | float, rng: np.random.Generator
) -> NodeTolerance:
    """Try errors of equal size and random sign (random phase for complex λ)."""
    start = pieces(criterion, lam, b, horizon)
    if start.values.size == 0:
        return NodeTolerance(math.inf, _SIZES, (1.0,) * len(_SIZES), read_only(np.zeros(lam.size)))
    active = int(np.argmax(start.values))
    level = float(start.values[active])
    shape = (CORNERS, lam.size)
    if np.iscomplexobj(lam):
        corners = np.exp(2j * np.pi * rng.uniform(size=shape))
    else:
        corners = rng.choice([-1.0, 1.0], size=shape)

    def loss(size: float) -> float:
        return max(_value(criterion, lam + size * corner, b, horizon) for corner in corners) - level

    limit = math.log1p(ALLOWED) if criterion != "log_determinant" else ALLOWED
    low, high = -16.0, 2.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if loss(10.0**middle) <= limit else (low, middle)
    losses = [max(0.0, loss(size)) for size in _SIZES]
    factors = losses if criterion == "log_determinant" else [_exp(x) for x in losses]
    return NodeTolerance(
        10.0**low, _SIZES, tuple(factors), read_only(np.abs(start.by_node[active]))
    )


def _value(criterion: Criterion, lam: Array, b: Array, horizon: int | float) -> float:
    if horizon == math.inf and np.any(np.abs(lam) >= 1):
        return math.inf
    if np.unique(lam).size < lam.size:
        return math.inf
    try:
        with np.errstate(all="ignore"):
            value = float(np.max(pieces(criterion, lam, b, horizon).values))
    except np.linalg.LinAlgError:
        return math.inf
    return value if math.isfinite(value) else math.inf


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf
