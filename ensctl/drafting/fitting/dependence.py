"""What is assumed about dependence between cycles, and the covariance of counts it implies.

Every estimate here is, to first order, linear in the residuals r_j = kept_j − h_j tested_j of the
draft positions, so one covariance C of r serves α, hazards, survival and the parameters of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ensctl.arguments import Array
from ensctl.drafting.fitting.renewal_chain import (
    long_run_covariance,
    restart_acceptance,
)
from ensctl.drafting.fitting.risk_sets import RiskSets
from ensctl.drafting.fitting.windows import (
    CORRELATION_TIMES,
    FEWEST_BLOCKS,
    MOST_BLOCKS,
    SHORTFALL,
    block_variance,
    request_blocks,
)
from ensctl.errors import InvalidInputError, NotIdentifiableError

DEPENDENCES = ("auto", "iid", "markov_renewal", "blocks")


@dataclass(frozen=True, eq=False)
class Dependence:
    """An assumption: its kind, its words, the degrees of freedom, and what C is computed from."""

    kind: str
    text: str
    sets: RiskSets
    freedom: float = math.inf
    u: float = 0.0
    v: float = 0.0
    block_tested: Array | None = None
    block_kept: Array | None = None
    independent_blocks: bool = False

    def covariance(self, hazards: Array) -> Array:
        """C: covariance of kept − hazards·tested over the positions, (K, K).

        Independent trials: diag(tested h(1−h)).  Markov renewal: cycles × Γ of the indicators
        [X ≥ j+1] − h_j [X ≥ j].  Blocks: Σ r_i r_iᵀ/(1 − Σ w_i²) of centred block residuals.
        """
        tested = self.sets.tested
        if self.kind == "markov_renewal":
            counts = np.arange(tested.size + 1.0)
            positions = np.arange(float(tested.size))[:, None]
            functions = (counts > positions) - hazards[:, None] * (counts >= positions)
            return self.sets.cycles * long_run_covariance(self.u, self.v, tested.size, functions)
        if self.block_tested is None or self.block_kept is None:
            # Half a success and half a rejection where all or none were kept.
            smooth = (hazards * tested + 0.5) / (tested + 1.0)
            sure = (hazards <= 0.0) | (hazards >= 1.0)
            used = np.where(sure, smooth, hazards)
            return np.diag(tested * used * (1.0 - used))
        residual = self.block_kept - hazards * self.block_tested
        weights = self.block_tested.sum(axis=1) / self.block_tested.sum()
        # A model that does not fit leaves a mean residual, which is no scatter of blocks.
        residual = residual - weights[:, None] * residual.sum(axis=0)
        covariance: Array = residual.T @ residual / (1.0 - float(weights @ weights))
        return covariance if self.independent_blocks else covariance / (1.0 - SHORTFALL)


def dependence(sets: RiskSets, model: str = "auto") -> Dependence:
    """Choose what is assumed: blocks where there are ten, Markov renewal at one K ≥ 2, else i.i.d.

    Raises
    ------
    InvalidInputError
        An unknown model.
    NotIdentifiableError
        The data do not allow the model asked for.
    """
    if not isinstance(model, str) or model not in DEPENDENCES:
        raise InvalidInputError(f"model must be one of {', '.join(DEPENDENCES)}, got {model!r}")
    if model == "iid":
        return Dependence("iid", "independent trials with one α", sets)
    if model == "markov_renewal":
        return _renewal(sets)
    blocks = _blocks(sets)
    if model == "blocks" and blocks is None:
        raise NotIdentifiableError(
            "blocks need at least two windows or requests, got one snapshot; give windows"
        )
    if blocks is not None:
        count = 0 if blocks.block_tested is None else blocks.block_tested.shape[0]
        if model == "blocks" or count >= FEWEST_BLOCKS:
            return blocks
    if sets.depth is not None and sets.depth >= 2:
        return _renewal(sets)
    if sets.depth == 1:
        reason = "at K = 1 dependence between cycles is not identifiable from counters"
    else:
        reason = "the depth varied, so that counters do not identify dependence between cycles"
    return Dependence("iid", f"independent trials with one α ({reason}; give ≥ 10 windows)", sets)


def renewal_parameters(sets: RiskSets, smoothing: float = 0.0) -> tuple[float, float, float]:
    """(u, v, s_1) of a Markov renewal read from the counts of one depth K ≥ 2.

    u = Σ_{j=2..K} S_j / Σ_{j=1..K−1} S_j, and v from S_1 = s_1; u = s_1 where no second unit was
    ever tested.  ``smoothing`` successes and as many rejections are added.

    Raises
    ------
    NotIdentifiableError
        The depth varied, or is 1.
    """
    if sets.depth is None:
        raise NotIdentifiableError(
            "markov_renewal needs one depth K, and the depth varied; give windows of one depth, "
            "per-cycle traces, or ≥ 10 windows for model='blocks'"
        )
    if sets.depth == 1:
        raise NotIdentifiableError(
            "markov_renewal needs K ≥ 2: at K = 1 dependence between cycles is not identifiable; "
            "run K = 2 or more, or give ≥ 10 windows"
        )
    kept, tested = sets.kept, sets.tested
    first = (float(kept[0]) + smoothing) / (float(tested[0]) + 2.0 * smoothing)
    later = float(tested[1:].sum()) + 2.0 * smoothing
    u = (float(kept[1:].sum()) + smoothing) / later if later > 0 else first
    return u, min(restart_acceptance(u, first, sets.depth), 1.0), first


def _renewal(sets: RiskSets) -> Dependence:
    # Half a success and half a rejection keep the plug-in variance away from 0.
    u, v, first = renewal_parameters(sets, 0.5)
    depth = int(sets.depth or 0)
    # The variance is learnt from the runs of accepted drafts: D (1−π) v of them begin after a
    # rejection, each with a beginning and an end to count.
    restarts = sets.cycles * (1.0 - first * u ** (depth - 1)) * v
    text = f"Markov renewal cycles (u = {u:.3g}, v = {v:.3g})"
    return Dependence("markov_renewal", text, sets, max(2.0 * restarts, 2.0), u, v)


def _blocks(sets: RiskSets) -> Dependence | None:
    tested, kept, independent = sets.block_tested, sets.block_kept, False
    made = f"{sets.count} {sets.blocks}"
    if sets.traces is not None:
        traces = sets.traces
        alpha = sets.kept.sum() / sets.tested.sum()
        residual = traces.accepted - alpha * (traces.accepted + ~traces.full)
        starts, independent, made = request_blocks(traces, residual)
        tested, kept = traces.risk_sums(starts)
    elif sets.count >= 2 * MOST_BLOCKS:
        together = sets.count // MOST_BLOCKS
        starts = np.arange(sets.count // together) * together
        tested, kept = (np.add.reduceat(part, starts) for part in (tested, kept))
        made += f", {together} at a time"
    if tested.shape[0] < 2:
        return None
    variance = block_variance(kept.sum(axis=1), tested.sum(axis=1), independent=independent)
    text = f"blocks of ≥ {CORRELATION_TIMES} correlation times"
    if independent:
        text = "independent requests"
    elif variance.blocks < FEWEST_BLOCKS:
        text += f" (only {variance.blocks}; {FEWEST_BLOCKS} are needed)"
    # Twice the standard error of the correlation of independent blocks.
    if variance.neighbours > 2.0 / math.sqrt(variance.blocks) and not independent:
        text += f", doubtful: neighbours correlate by {variance.neighbours:.2g}"
    text += f"; batch means over {made} with Student's t"
    return Dependence(
        "blocks",
        text,
        sets,
        variance.freedom,
        block_tested=tested,
        block_kept=kept,
        independent_blocks=independent,
    )
