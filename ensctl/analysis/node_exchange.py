"""Exchange: replace one member at a time by the sample that helps most, until none helps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_criteria import Criterion, pieces

Array = NDArray[Any]
# λ and |b| of a set of points (fixed ones included), as the criterion sees them.
Realise = Callable[[Array], tuple[Array, Array]]

_MOST_SWEEPS = 12
# Above this log κ ordinary SVDs of many sets at once have no digits left.
_PLAIN_LIMIT = math.log(1e11)
# Squares of larger entries are not numbers.
_LARGEST = 1e150
# Elements of a stack of matrices that is handed to one batched SVD.
_STACK = 2_000_000


def exchange(
    criterion: Criterion,
    realise: Realise,
    samples: Array,
    chosen: Array,
    horizon: int | float,
    *,
    evaluations: int,
) -> tuple[Array, float]:
    """Improve indices ``chosen`` into ``samples`` by single exchanges.

    Returns
    -------
    (indices, log score)
        A set that no single exchange improves, or the best when the evaluations are used up.
    """
    best = np.array(chosen)
    score = _single(criterion, realise(samples[best]), horizon)
    used = 0
    for _ in range(_MOST_SWEEPS):
        improved = False
        for place in range(best.size):
            others = np.setdiff1d(np.arange(samples.size), best)
            if others.size == 0 or used >= evaluations:
                return best, score
            trials = np.repeat(best[None, :], others.size, axis=0)
            trials[:, place] = others
            scores = _many(criterion, realise, samples, trials, horizon, score)
            used += others.size
            winner = int(np.argmin(scores))
            if scores[winner] < score - 1e-12 * max(1.0, abs(score)):
                confirmed = _single(criterion, realise(samples[trials[winner]]), horizon)
                if confirmed < score:
                    best, score, improved = trials[winner], confirmed, True
        if not improved:
            break
    return best, score


def _many(
    criterion: Criterion,
    realise: Realise,
    samples: Array,
    trials: Array,
    horizon: int | float,
    score: float,
) -> Array:
    batched = criterion in ("condition", "worst_energy", "mean_energy", "log_determinant")
    if not batched or horizon == math.inf or abs(score) > _PLAIN_LIMIT:
        sets = [realise(samples[trial]) for trial in trials]
        return np.array([_single(criterion, one, horizon) for one in sets])
    steps = int(horizon)
    found: list[Array] = []
    at_once = max(1, _STACK // (trials.shape[1] * steps))
    for start in range(0, len(trials), at_once):
        sets = [realise(samples[trial]) for trial in trials[start : start + at_once]]
        with np.errstate(all="ignore"):
            stack = np.stack(
                [b[:, None] * np.vander(lam, steps, increasing=True) for lam, b in sets]
            )
        if not np.all(np.abs(stack) < _LARGEST):
            # LAPACK may not return from entries that are not finite; single sets are checked.
            found.append(np.array([_single(criterion, one, horizon) for one in sets]))
            continue
        sigma = np.log(np.maximum(np.linalg.svd(stack, compute_uv=False), 1e-300))
        found.append(_of_sigma(criterion, sigma))
    return np.concatenate(found)


def _of_sigma(criterion: Criterion, log_sigma: Array) -> Array:
    if criterion == "condition":
        return np.asarray(log_sigma[:, 0] - log_sigma[:, -1])
    if criterion == "worst_energy":
        return np.asarray(-2.0 * log_sigma[:, -1])
    if criterion == "log_determinant":
        return np.asarray(-2.0 * log_sigma.sum(axis=1))
    share = np.exp(-2.0 * (log_sigma - log_sigma[:, -1:])).mean(axis=1)
    return np.asarray(np.log(share) - 2.0 * log_sigma[:, -1])


def _single(criterion: Criterion, placed: tuple[Array, Array], horizon: int | float) -> float:
    lam, b = placed
    if np.unique(lam + 0.0).size < lam.size:
        return math.inf
    try:
        with np.errstate(all="ignore"):
            value = float(np.max(pieces(criterion, lam, b, horizon).values, initial=-math.inf))
    except np.linalg.LinAlgError:
        return math.inf
    return value if math.isfinite(value) else math.inf
