"""Moving members a little: the smallest largest |Δλ| that reaches a target conditioning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_criteria import log_score, pieces
from ensctl.analysis.node_descent import descend

Array = NDArray[Any]

_ITERATIONS = 80
_BISECTIONS = 12
_STARTS = 3


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
    low, high = math.log(limit) - 30.0, math.log(limit)
    for _ in range(_BISECTIONS + 8):
        middle = 0.5 * (low + high)
        moved, value = _best_within(lam, size, horizon, math.exp(middle), rng)
        if value <= log_target:
            best, score, high = moved, value, middle
        else:
            low = middle
        if high - low < 0.01:
            break
    return best, float(np.max(np.abs(best - lam))), score


def _best_within(
    lam: Array, size: Array, horizon: int, delta: float, rng: np.random.Generator
) -> tuple[Array, float]:
    """The best set with |Δλ_i| ≤ δ that a few descents find."""
    in_plane = np.iscomplexobj(lam)
    order = np.argsort(np.argsort(lam.real + 1e-9 * lam.imag))
    spread = math.pi / 2 * 0.99 * (2 * (order + 0.5) / lam.size - 1.0)
    best, score = lam, log_score("condition", lam, size, horizon)
    for number in range(_STARTS):
        first = spread if number == 0 else 0.5 * rng.standard_normal(lam.size)
        start = first
        if in_plane:
            start = np.concatenate([first, rng.uniform(0, 2 * np.pi, lam.size)])
        x, _ = descend(
            lambda x: _objective(lam, size, horizon, delta, x),
            start,
            iterations=_ITERATIONS,
            tolerance=1e-4,
        )
        moved = _moved(lam, delta, x)[0]
        value = log_score("condition", moved, size, horizon)
        if value < score:
            best, score = moved, value
    return best, score


def _moved(lam: Array, delta: float, x: Array) -> tuple[Array, Array, Array]:
    """λ + δ sin x (times a phase in the plane), with derivatives by x and by the phase."""
    reach = x[: lam.size]
    if not np.iscomplexobj(lam):
        return lam + delta * np.sin(reach), delta * np.cos(reach), np.zeros(0)
    turn = np.exp(1j * x[lam.size :])
    step = delta * np.sin(reach) * turn
    return lam + step, delta * np.cos(reach) * turn, 1j * step


def _objective(
    lam: Array, size: Array, horizon: int, delta: float, x: Array
) -> tuple[float, Array]:
    moved, along, around = _moved(lam, delta, x)
    if np.unique(moved).size < moved.size:
        return math.inf, np.zeros(x.size)
    try:
        with np.errstate(all="ignore"):
            found = pieces("condition", moved, size, horizon)
    except np.linalg.LinAlgError:
        return math.inf, np.zeros(x.size)
    active = int(np.argmax(found.values))
    slope = found.by_node[active]
    gradient = (slope * along).real
    if around.size:
        gradient = np.concatenate([gradient, (slope * around).real])
    value = float(found.values[active])
    return (value, gradient) if np.all(np.isfinite(gradient)) else (math.inf, gradient)
