"""Maximum likelihood of a Markov renewal from per-cycle traces, at any and varied depth."""

from __future__ import annotations

import numpy as np

from ensctl.arguments import Array
from ensctl.drafting.acceptance_renewal import MarkovRenewal
from ensctl.drafting.fitting.model_fits import ModelFit
from ensctl.drafting.fitting.risk_sets import RiskSets
from ensctl.drafting.fitting.traces import CycleTraces
from ensctl.drafting.fitting.windows import SHORTFALL, request_blocks
from ensctl.errors import NotIdentifiableError

_INSIDE = 1e-9
_STEPS = 60


def fit_renewal_traces(sets: RiskSets, traces: CycleTraces) -> ModelFit:
    """Maximum likelihood of (u, v) over all tested units of all cycles.

    First units pass with v after a rejection and w = u² + (1−u)v after a full accept, later units
    with u; a request starts as after a rejection.  Covariance H⁻¹ (Σ s_i s_iᵀ) H⁻¹ with the scores
    s_i of blocks of cycles.

    Raises
    ------
    NotIdentifiableError
        No second unit was ever tested and no cycle followed a full accept.
    """
    counts = _counts(traces)
    total = counts.sum(axis=0)
    if total[0] + total[2] <= 0 or total[3] <= 0:
        raise NotIdentifiableError(
            "markov_renewal needs tested second units and cycles after a rejection; give more "
            "cycles or a deeper draft"
        )
    point = np.array([(total[1] + 0.5) / (total[0] + 1.0), (total[4] + 0.5) / (total[3] + 1.0)])
    for _ in range(_STEPS):
        # Fisher scoring; the log-likelihood is close to a paraboloid.
        step = np.linalg.solve(_information(total, point), _scores(total[None, :], point)[0])
        point = np.clip(point + step, _INSIDE, 1.0 - _INSIDE)
        if float(np.max(np.abs(step))) < 1e-12:
            break
    u, v = float(point[0]), float(point[1])
    alpha = float(sets.kept.sum() / sets.tested.sum())
    residual = traces.accepted - alpha * (traces.accepted + ~traces.full)
    starts, independent, _ = request_blocks(traces, residual)
    scores = np.add.reduceat(_scores(counts, point), starts)
    sizes = np.diff(np.append(starts, traces.cycles)) / traces.cycles
    inverse = np.linalg.inv(_information(total, point))
    spread = scores.T @ scores / (1.0 - float(sizes @ sizes)) if starts.size > 1 else None
    if spread is not None and not independent:
        spread = spread / (1.0 - SHORTFALL)
    covariance = inverse if spread is None else inverse @ spread @ inverse
    # Of the starts that happened, so that it can be compared with what was kept at any depths.
    w = _probabilities(point)[2]
    hazards = np.full(sets.tested.size, u)
    hazards[0] = (total[3] * v + total[2] * w) / (total[3] + total[2])
    return ModelFit(
        "markov_renewal",
        MarkovRenewal(u, v),
        ("u", "v"),
        point,
        np.zeros((2, sets.tested.size)),
        hazards,
        lambda p: MarkovRenewal(_probability(p[0]), _probability(p[1])),
        2,
        log_likelihood=_log_likelihood(total, point),
        covariance=covariance,
    )


def _counts(traces: CycleTraces) -> Array:
    """Per cycle: later units tested, kept; first unit after full tested; after rejection tested,
    kept; after full kept.  (n, 6)."""
    after_full = np.empty(traces.cycles, dtype=bool)
    after_full[1:] = traces.full[:-1]
    after_full[traces.starts] = False
    kept = traces.accepted > 0
    later_kept = np.maximum(traces.accepted - 1, 0)
    later_tested = later_kept + (kept & ~traces.full)
    columns = [
        later_tested,
        later_kept,
        after_full,
        ~after_full,
        ~after_full & kept,
        after_full & kept,
    ]
    return np.array(columns, dtype=np.float64).T


def _probabilities(point: Array) -> tuple[float, float, float, Array]:
    u, v = float(point[0]), float(point[1])
    w = u * u + (1.0 - u) * v
    return u, v, w, np.array([2.0 * u - v, 1.0 - u])


def _scores(counts: Array, point: Array) -> Array:
    u, v, w, slope = _probabilities(point)
    later = (counts[:, 1] - u * counts[:, 0]) / (u * (1.0 - u))
    restart = (counts[:, 4] - v * counts[:, 3]) / (v * (1.0 - v))
    carried = (counts[:, 5] - w * counts[:, 2]) / (w * (1.0 - w))
    return np.asarray(np.stack([later, restart], axis=1) + carried[:, None] * slope)


def _information(total: Array, point: Array) -> Array:
    u, v, w, slope = _probabilities(point)
    diagonal = np.array([total[0] / (u * (1.0 - u)), total[3] / (v * (1.0 - v))])
    carried = total[2] / (w * (1.0 - w)) * np.outer(slope, slope)
    return np.asarray(np.diag(np.maximum(diagonal, 1e-12)) + carried)


def _log_likelihood(total: Array, point: Array) -> float:
    from scipy.special import xlog1py, xlogy

    u, v, w, _ = _probabilities(point)
    parts = [(total[0], total[1], u), (total[3], total[4], v), (total[2], total[5], w)]
    return float(sum(xlogy(kept, p) + xlog1py(tested - kept, -p) for tested, kept, p in parts))


def _probability(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)
