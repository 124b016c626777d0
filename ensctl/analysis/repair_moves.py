"""Moving members a little: the smallest largest |Δλ| that reaches a target conditioning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_criteria import log_score, pieces
from ensctl.analysis.node_descent import descend
from ensctl.analysis.node_symmetry import closed

Array = NDArray[Any]

_ITERATIONS = 60
_BISECTIONS = 12
_STARTS = 2
# Moves below e^-14 of the limit are not told apart.
_RANGE = 14.0


def smallest_move(
    lam: Array, size: Array, horizon: int, log_target: float, limit: float, seed: int
) -> tuple[Array, float, float]:
    """λ moved by at most δ each, with δ as small as found for the target, or ``limit``.

    Returns
    -------
    (lam, delta, log_cond)
        δ within 1 % of the smallest that the descent finds.
    """
    rng = np.random.default_rng(seed)
    best, score = _best_within(lam, size, horizon, limit, rng)
    if score > log_target:
        return best, float(np.max(np.abs(best - lam))), score
    low, high = math.log(limit) - _RANGE, math.log(limit)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        moved, value = _best_within(lam, size, horizon, math.exp(middle), rng)
        if value <= log_target:
            best, score, high = moved, value, middle
        else:
            low = middle
        if high - low < 0.01:
            break
    return best, float(np.max(np.abs(best - lam))), score


@dataclass(frozen=True, eq=False)
class Box:
    """How far each member may move: at most δ, and at most half its way to the unit circle.

    Members of a set that is closed under conjugation move as pairs; real ones of it stay real.
    """

    lam: Array
    reach: Array
    first: Array
    sign: Array
    in_plane: Array

    @classmethod
    def of(cls, lam: Array, delta: float) -> Box:
        """The box of size δ around λ."""
        size = np.abs(lam)
        # A stable member stays stable, with half of its margin left.
        reach = np.minimum(delta, np.where(size < 1, 0.5 * (1.0 - size), delta))
        first, sign = np.arange(lam.size), np.ones(lam.size)
        in_plane = np.full(lam.size, np.iscomplexobj(lam))
        if np.iscomplexobj(lam) and closed(lam, "conjugate") and np.unique(lam).size == lam.size:
            for i in np.flatnonzero(lam.imag < 0):
                first[i] = int(np.flatnonzero(lam == np.conj(lam[i]))[0])
                sign[i] = -1.0
            in_plane = lam.imag != 0
        return cls(lam, reach, first, sign, in_plane)

    def moved(self, x: Array) -> tuple[Array, Array, Array]:
        """λ_i + δ_i sin x_i (times e^{iφ_i} in the plane) with derivatives by x and φ."""
        count = self.lam.size
        angle = x[:count][self.first]
        if not np.iscomplexobj(self.lam):
            return self.lam + self.reach * np.sin(angle), self.reach * np.cos(angle), np.zeros(0)
        phase = np.where(self.in_plane, x[count:][self.first], 0.0)
        turn = np.exp(1j * self.sign * phase)
        step = self.reach * np.sin(angle) * turn
        around = np.where(self.in_plane, 1j * self.sign * step, 0.0)
        return self.lam + step, self.reach * np.cos(angle) * turn, around

    def gradient(self, slope: Array, along: Array, around: Array) -> Array:
        """Derivatives by the parameters, those of a pair added up."""
        parts = [(slope * along).real] + ([(slope * around).real] if around.size else [])
        return np.concatenate(
            [np.bincount(self.first, weights=part, minlength=self.lam.size) for part in parts]
        )


def _best_within(
    lam: Array, size: Array, horizon: int, delta: float, rng: np.random.Generator
) -> tuple[Array, float]:
    """The best set in the box of size δ that a few descents find."""
    box = Box.of(lam, delta)
    order = np.argsort(np.lexsort((lam.imag, lam.real)))
    spread = math.pi / 2 * 0.99 * (2 * (order + 0.5) / lam.size - 1.0)
    best, score = lam, log_score("condition", lam, size, horizon)
    for number in range(_STARTS):
        start = spread if number == 0 else 0.5 * rng.standard_normal(lam.size)
        if np.iscomplexobj(lam):
            start = np.concatenate([start, rng.uniform(0, 2 * np.pi, lam.size)])
        x, _ = descend(
            lambda x: _objective(box, size, horizon, x),
            start,
            iterations=_ITERATIONS,
            tolerance=1e-4,
        )
        moved = box.moved(x)[0]
        value = log_score("condition", moved, size, horizon)
        if value < score:
            best, score = moved, value
    return best, score


def _objective(box: Box, size: Array, horizon: int, x: Array) -> tuple[float, Array]:
    moved, along, around = box.moved(x)
    nothing = np.zeros(x.size)
    if np.unique(moved).size < moved.size:
        return math.inf, nothing
    try:
        with np.errstate(all="ignore"):
            found = pieces("condition", moved, size, horizon)
    except np.linalg.LinAlgError:
        return math.inf, nothing
    active = int(np.argmax(found.values))
    gradient = box.gradient(found.by_node[active], along, around)
    value = float(found.values[active])
    return (value, gradient) if np.all(np.isfinite(gradient)) else (math.inf, nothing)
