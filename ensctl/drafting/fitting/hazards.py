"""Kaplan–Meier: acceptance position by position, whatever the depth of each draft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ensctl.arguments import Array, read_only
from ensctl.display import Summarised
from ensctl.drafting.estimate import Estimate
from ensctl.drafting.fitting.dependence import Dependence, dependence
from ensctl.drafting.fitting.intervals import as_level, probability_estimate
from ensctl.drafting.fitting.risk_sets import Data, RiskSets, risk_sets
from ensctl.serialization import versioned

_SHOWN = 7


@dataclass(frozen=True, eq=False)
class HazardEstimates(Summarised):
    """Result of :func:`hazard_estimates`.

    Attributes
    ----------
    hazards : tuple of Estimate
        h_1 … h_K: P(unit j kept | the units before it kept).
    survival : tuple of Estimate
        S(1) … S(K): P(at least j units kept) of a draft that is long enough.
    tested : (K,) ndarray
        Drafts at risk at each position.
    kept : (K,) ndarray
        Drafts that kept it.
    depth : int or None
        The depth of every draft; None where it varied.
    assumption : str
        What the errors assume about dependence between cycles.
    """

    hazards: tuple[Estimate, ...]
    survival: tuple[Estimate, ...]
    tested: Array
    kept: Array
    depth: int | None
    assumption: str

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "hazard_estimates",
            {
                "hazards": [estimate.to_dict() for estimate in self.hazards],
                "survival": [estimate.to_dict() for estimate in self.survival],
                "tested": self.tested,
                "kept": self.kept,
                "depth": self.depth,
                "assumption": self.assumption,
            },
        )

    def __str__(self) -> str:
        depth = "K varied" if self.depth is None else f"K = {self.depth}"
        first, last = self.hazards[0].value, self.hazards[-1].value
        lines = [f"acceptance {first:.4f} at the first unit, {last:.4f} at the last ({depth})"]
        rows = zip(self.hazards, self.survival, self.tested, strict=True)
        for j, (hazard, survival, tested) in enumerate(list(rows)[:_SHOWN], start=1):
            lines.append(
                f"unit {j}: h = {hazard.value:.4f} ± {hazard.std_error:.2g}, "
                f"S = {survival.value:.4f} ± {survival.std_error:.2g} ({tested:g} tested)"
            )
        if len(self.hazards) > _SHOWN:
            lines.append(f"… {len(self.hazards) - _SHOWN} more units")
        lines.append(f"± standard errors; {self.assumption}")
        return "\n".join(lines)


def hazard_estimates(data: Data, *, model: str = "auto", level: float = 0.95) -> HazardEstimates:
    """Acceptance at each position and survival by Kaplan–Meier, with Greenwood's errors.

    h_j = kept_j/tested_j over the drafts that reach position j, S(j) = Π_{i≤j} h_i, and

        Var(S(j)) = S(j)² Σ_{a,b≤j} C_ab/(kept_a kept_b),

    with C the covariance of the residuals kept − h·tested: Greenwood's Σ d_i/(n_i (n_i − d_i)) for
    independent cycles.

    Parameters
    ----------
    data : Counters, sequence of Counters or CycleTraces
        Counters with positions or histograms, windows of one run, or per-cycle traces.  Depths
        may vary where ``histogram_by_depth`` or a trace tells them.
    model : str
        "auto", "iid", "markov_renewal" or "blocks": where C comes from, as for
        :func:`~ensctl.drafting.fitting.alpha.alpha_estimate`.
    level : float
        Coverage of the intervals, in (0, 1).

    Returns
    -------
    HazardEstimates
        Up to the last position that was ever tested.

    Raises
    ------
    InvalidInputError
        Not counters or traces, or windows of different engines or models.
    NotIdentifiableError
        Nothing was drafted, or the counters have neither positions nor a histogram.

    Notes
    -----
    With drafts of varied depth, survival estimates what a long draft would keep if the depth is
    chosen without knowledge of what will be accepted.

    Examples
    --------
    >>> from ensctl.drafting import Counters, hazard_estimates
    >>> window = Counters(1000, 3000, 1650, accepted_per_position=(750, 540, 360))
    >>> [round(h.value, 3) for h in hazard_estimates(window).hazards]
    [0.75, 0.72, 0.667]
    >>> last = hazard_estimates(window, model="iid").survival[2]
    >>> round(last.value, 3), round(last.std_error, 4)
    (0.36, 0.0152)
    """
    coverage = as_level(level)
    sets = risk_sets(data)
    assumed = dependence(sets, model)
    return estimated_hazards(sets, assumed, coverage)


def estimated_hazards(sets: RiskSets, assumed: Dependence, level: float) -> HazardEstimates:
    """Hazards and survival of risk sets under an assumption about dependence."""
    reached = int(np.count_nonzero(sets.tested))
    tested, kept = sets.tested[:reached], sets.kept[:reached]
    share = np.divide(sets.kept, sets.tested, out=np.zeros(sets.tested.size), where=sets.tested > 0)
    share = np.minimum(share, 1.0)
    covariance = assumed.covariance(share)[:reached, :reached]
    relative = covariance / np.outer(tested, tested)
    hazards = tuple(
        _share(share[j], relative[j, j], tested[j], assumed, level, "kept/tested")
        for j in range(reached)
    )
    survival, estimates = np.cumprod(share[:reached]), []
    for j in range(reached):
        gradient = np.divide(
            survival[j],
            share[: j + 1],
            out=np.zeros(j + 1),
            where=share[: j + 1] > 0,
        )
        variance = float(gradient @ relative[: j + 1, : j + 1] @ gradient)
        estimates.append(
            _share(survival[j], variance, tested[0], assumed, level, "Kaplan–Meier, Greenwood")
        )
    return HazardEstimates(
        hazards=hazards,
        survival=tuple(estimates),
        tested=read_only(tested.copy()),
        kept=read_only(kept.copy()),
        depth=sets.depth,
        assumption=assumed.text,
    )


def _share(
    value: float, variance: float, trials: float, assumed: Dependence, level: float, method: str
) -> Estimate:
    return probability_estimate(
        float(value),
        float(variance),
        float(trials),
        level=level,
        freedom=assumed.freedom,
        method=method,
        assumption=assumed.text,
    )
