"""Intervals of λ: their ends as arguments, and points moved onto them."""

from __future__ import annotations

import numpy as np

from ensctl.arguments import Array, as_scalar
from ensctl.errors import InvalidInputError


def as_interval(
    low: float,
    high: float,
    names: tuple[str, str] = ("low", "high"),
    *,
    above: float | None = None,
) -> tuple[float, float]:
    """Check the ends of an interval: finite, low < high, and ``above`` < low if given."""
    start, end = as_scalar(low, names[0], above=above), as_scalar(high, names[1])
    if not start < end:
        raise InvalidInputError(
            f"{names[1]} must be above {names[0]} = {start:g}, got {end:g}; exchange or widen them"
        )
    return start, end


def onto_interval(points: Array, ends: tuple[float, float]) -> Array:
    """Move points of [−1, 1] to [low, high]; −1 and 1 become exactly low and high."""
    low, high = ends
    moved = (0.5 * low + 0.5 * high) + (0.5 * high - 0.5 * low) * points
    return np.where(points == 1.0, high, np.where(points == -1.0, low, moved))
