"""Where the error e = M u − t of a block of rows may lie, or what it costs.

A region E enters a dual bound only through ``floor(y)`` = min over e in E of yᵀe (plus the cost of
e, if it has one): Σ over blocks of yᵀt + floor(y) bounds yᵀM u from below for every allowed u.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.stacking import moduli

Array = NDArray[Any]


@dataclass(frozen=True)
class Zero:
    """e = 0: an equality."""

    def floor(self, multiplier: Array) -> float:
        """0 for every multiplier."""
        return 0.0

    def admissible(self, multiplier: Array) -> Array:
        """The multiplier itself."""
        return multiplier

    def excess(self, error: Array) -> Array:
        """|e|, row by row."""
        return np.abs(error)


@dataclass(frozen=True)
class Below:
    """e ≤ 0: an inequality M u ≤ t."""

    def floor(self, multiplier: Array) -> float:
        """0 when y ≤ 0, otherwise −inf."""
        return 0.0 if np.all(multiplier <= 0.0) else -math.inf

    def admissible(self, multiplier: Array) -> Array:
        """The nearest y ≤ 0."""
        return np.minimum(multiplier, 0.0)

    def excess(self, error: Array) -> Array:
        """max(e, 0), row by row."""
        return np.maximum(error, 0.0)


@dataclass(frozen=True, eq=False)
class Within:
    """|e_i| ≤ r_i, row by row.

    Attributes
    ----------
    radius : (rows,) float64
    """

    radius: Array

    def floor(self, multiplier: Array) -> float:
        """−Σ r_i |y_i|."""
        return -float(self.radius @ np.abs(multiplier))

    def admissible(self, multiplier: Array) -> Array:
        """The multiplier itself."""
        return multiplier

    def excess(self, error: Array) -> Array:
        """max(|e| − r, 0), row by row."""
        return np.maximum(np.abs(error) - self.radius, 0.0)


@dataclass(frozen=True, eq=False)
class WithinDiscs:
    """|e_i + j e_{i+rows/2}| ≤ r_i: moduli of stacked complex rows.

    Attributes
    ----------
    radius : (rows/2,) float64
    """

    radius: Array

    def floor(self, multiplier: Array) -> float:
        """−Σ r_i |y_i + j y_{i+rows/2}|."""
        return -float(self.radius @ moduli(multiplier))

    def admissible(self, multiplier: Array) -> Array:
        """The multiplier itself."""
        return multiplier

    def excess(self, error: Array) -> Array:
        """max(|e| − r, 0) of each complex row, given to both of its real rows."""
        return np.tile(np.maximum(moduli(error) - self.radius, 0.0), 2)


@dataclass(frozen=True)
class Ball:
    """‖e‖ ≤ r for the whole block (RMS tolerance τ of N rows: r = τ √N).

    Attributes
    ----------
    radius : float
    """

    radius: float

    def floor(self, multiplier: Array) -> float:
        """−r ‖y‖."""
        return -self.radius * float(np.linalg.norm(multiplier))

    def admissible(self, multiplier: Array) -> Array:
        """The multiplier itself."""
        return multiplier

    def excess(self, error: Array) -> Array:
        """max(‖e‖ − r, 0), given to every row."""
        return np.full(error.shape, max(float(np.linalg.norm(error)) - self.radius, 0.0))


@dataclass(frozen=True)
class Quadratic:
    """Any e, at the cost ‖e‖²/(2ρ).

    Attributes
    ----------
    softness : float
        ρ > 0.
    """

    softness: float

    def floor(self, multiplier: Array) -> float:
        """min yᵀe + ‖e‖²/(2ρ) = −(ρ/2) ‖y‖²."""
        return -0.5 * self.softness * float(multiplier @ multiplier)

    def admissible(self, multiplier: Array) -> Array:
        """The multiplier itself."""
        return multiplier

    def excess(self, error: Array) -> Array:
        """0: every e is allowed."""
        return np.zeros(error.shape)

    def cost(self, error: Array) -> float:
        """‖e‖²/(2ρ)."""
        return 0.5 * float(error @ error) / self.softness


Region = Zero | Below | Within | WithinDiscs | Ball | Quadratic
