"""Which acceptance model a measurement supports, compared by the lengths they predict.

A likelihood alone picks the richest model as soon as there are enough cycles.  What matters is
whether the richer model predicts other lengths: i.i.d. and Markov renewal are compared over all
depths of interest, against a tolerance and against the error of the difference.  The information
criterion is shown beside, with the sample size reduced by the variance inflation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ensctl.arguments import Array
from ensctl.display import Summarised
from ensctl.drafting.fitting.dependence import Dependence
from ensctl.drafting.fitting.model_fits import ModelFit, central_differences
from ensctl.drafting.fitting.renewal_chain import cycle_law, first_acceptance
from ensctl.drafting.fitting.risk_sets import RiskSets
from ensctl.serialization import versioned

# A model misses the measured survival if sums of it are off by this many tolerances.
_MISSES = 5.0
# Standard errors of a difference that chance explains.
_NOTICEABLE = 2.0


@dataclass(frozen=True)
class ModelScore:
    """One compared model.

    Attributes
    ----------
    kind : str
        The model.
    parameters : int
        Free parameters.
    log_likelihood : float
        ln L as if cycles were independent.
    bic : float
        (−2 ln L)/VIF + p ln(n/VIF), n cycles.
    misfit : float
        Greatest |model − measured|/measured of 1 + Σ_{i≤j} S(i) over j ≤ K.
    """

    kind: str
    parameters: int
    log_likelihood: float
    bic: float
    misfit: float


@dataclass(frozen=True)
class ModelComparison(Summarised):
    """Models compared, and the reason for the choice.

    Attributes
    ----------
    chosen : str
        The model chosen.
    reason : str
        Why.
    scores : tuple of ModelScore
        Every model that could be fitted.
    gap : float or None
        Length of Markov renewal over that of i.i.d., less 1, where it is greatest; None where
        Markov renewal could not be fitted.
    gap_error : float or None
        Standard error of the gap.
    gap_depth : int or None
        The depth of the greatest gap.
    inflation : float
        VIF of α that n is divided by.
    """

    chosen: str
    reason: str
    scores: tuple[ModelScore, ...]
    gap: float | None
    gap_error: float | None
    gap_depth: int | None
    inflation: float

    def lines(self) -> list[str]:
        """One line for each model, best BIC first."""
        return [
            f"{score.kind}: BIC {score.bic:.1f}, p = {score.parameters}, misfit "
            f"{100 * score.misfit:.2g} % of length"
            for score in sorted(self.scores, key=lambda score: score.bic)
        ]

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        names: tuple[str, ...] = self.__match_args__
        return versioned("model_comparison", {name: getattr(self, name) for name in names})

    def __str__(self) -> str:
        return "\n".join([f"{self.chosen}: {self.reason}", *self.lines()[:10]])


def compare(
    sets: RiskSets,
    assumed: Dependence,
    fits: dict[str, ModelFit],
    *,
    tolerance: float,
    max_depth: int,
) -> ModelComparison:
    """Choose among fits: i.i.d. where it predicts as well, Markov renewal, or one per position.

    ``fits`` holds "iid" and "per_position" and, where K ≥ 2, "markov_renewal" with covariance.
    """
    inflation = _inflation(sets, assumed)
    scores = tuple(_score(sets, fit, inflation) for fit in fits.values())
    misfit = {score.kind: score.misfit for score in scores}
    renewal = fits.get("markov_renewal")
    if renewal is None:
        # One position, or depths that varied: nothing to tell the memory of the drafter from.
        kind, reason = "iid", "dependence between cycles is not identifiable"
        if sets.depth == 1:
            reason += " at K = 1: i.i.d. is assumed, not found; measure at K ≥ 2"
        else:
            reason += " from counters of varied depth: i.i.d. is assumed; give per-cycle traces"
            if misfit["iid"] > _MISSES * tolerance:
                kind = "per_position"
                reason = (
                    f"i.i.d. misses measured lengths by {100 * misfit['iid']:.2g} %, and depths "
                    f"that varied do not identify Markov renewal"
                )
        return ModelComparison(kind, reason, scores, None, None, None, inflation)
    gap, error, depth = _greatest_gap(sets, renewal, max_depth)
    found = f"lengths of Markov renewal and i.i.d. differ by {100 * abs(gap):.2g} % at most (K = 1"
    found += f" … {max_depth}, greatest at {depth})"
    if abs(gap) <= tolerance:
        kind = "iid"
        reason = f"i.i.d. is as good: {found}, within the tolerance of {100 * tolerance:g} %"
    elif abs(gap) <= _NOTICEABLE * error:
        kind = "iid"
        reason = f"i.i.d. is as good: {found}, within {_NOTICEABLE:g} standard errors of "
        reason += f"{100 * error:.2g} %; more cycles could tell"
    else:
        kind = "markov_renewal"
        reason = f"i.i.d. is not enough: {found}, with a standard error of {100 * error:.2g} %"
    if misfit[kind] > _MISSES * tolerance and misfit[kind] > _chance(sets, assumed, fits[kind]):
        reason = (
            f"neither i.i.d. nor Markov renewal fits: {kind} misses measured lengths by "
            f"{100 * misfit[kind]:.2g} %"
        )
        kind = "per_position"
    return ModelComparison(kind, reason, scores, gap, error, depth, inflation)


def _greatest_gap(sets: RiskSets, renewal: ModelFit, max_depth: int) -> tuple[float, float, int]:
    """Where the renewal's length differs most from that of the i.i.d. model with the same α̂."""
    measured = int(sets.depth or sets.tested.size)

    def gaps(parameters: Array) -> Array:
        model = renewal.build(parameters)
        u, v = (float(value) for value in parameters)
        if u >= 1.0 and v <= 0.0:
            return np.zeros(max_depth)
        law = cycle_law(first_acceptance(u, v, measured), u, measured)
        accepted = float(law @ np.arange(measured + 1.0))
        alpha = accepted / (accepted + 1.0 - float(law[-1])) if accepted > 0 else 0.0
        lengths = np.array([model.expected_length(k) for k in range(1, max_depth + 1)])
        return np.asarray(lengths / np.cumsum(alpha ** np.arange(max_depth + 1.0))[1:] - 1.0)

    found = gaps(renewal.values)
    where = int(np.argmax(np.abs(found)))
    gradient = central_differences(gaps, renewal.values, 0.0, 1.0)[where]
    covariance = np.zeros((2, 2)) if renewal.covariance is None else renewal.covariance
    error = math.sqrt(max(float(gradient @ covariance @ gradient), 0.0))
    return float(found[where]), error, where + 1


def _score(sets: RiskSets, fit: ModelFit, inflation: float) -> ModelScore:
    size = max(sets.cycles / inflation, 1.0)
    bic = -2.0 * fit.log_likelihood / inflation + fit.free * math.log(size)
    modelled = 1.0 + np.cumsum(np.cumprod(fit.hazards))
    measured = _measured_lengths(sets)
    reached = measured.size
    misfit = float(np.max(np.abs(modelled[:reached] / measured - 1.0)))
    return ModelScore(fit.kind, fit.free, fit.log_likelihood, bic, misfit)


def _measured_lengths(sets: RiskSets) -> Array:
    reached = int(np.count_nonzero(sets.tested))
    shares = np.cumprod(sets.kept[:reached] / sets.tested[:reached])
    return np.asarray(1.0 + np.cumsum(shares))


def _chance(sets: RiskSets, assumed: Dependence, fit: ModelFit) -> float:
    """Three standard errors of the measured length at the deepest position, relative."""
    reached = int(np.count_nonzero(sets.tested))
    tested = sets.tested[:reached]
    shares = np.minimum(sets.kept[:reached] / tested, 1.0)
    survival = np.cumprod(shares)
    tails = np.cumsum(survival[::-1])[::-1]
    gradient = np.divide(tails, shares, out=np.zeros(reached), where=shares > 0) / tested
    full = np.zeros(sets.tested.size)
    full[:reached] = shares
    covariance = assumed.covariance(full)[:reached, :reached]
    error = math.sqrt(max(float(gradient @ covariance @ gradient), 0.0))
    return 3.0 * error / float(1.0 + survival.sum())


def _inflation(sets: RiskSets, assumed: Dependence) -> float:
    trials = float(sets.tested.sum())
    alpha = min(float(sets.kept.sum()) / trials, 1.0)
    if not 0.0 < alpha < 1.0:
        return 1.0
    variance = float(assumed.covariance(np.full(sets.tested.size, alpha)).sum())
    # Below 1 the cycles would count for more than they are.
    return max(variance / (trials * alpha * (1.0 - alpha)), 1.0)
