"""How much of a drafter's modelled draft cost is really paid, learned from cycle times.

An n-gram drafter drafts only for streams that find a match, so its cycles are cheaper than a model
in K says.  The share f in c = base + f·slope is a ridge regression on relative errors: loads at
which drafting costs next to nothing say next to nothing about it.
"""

from __future__ import annotations

from dataclasses import dataclass

_RIDGE = 0.02
_FORGETTING = 0.999
_MOST = 4.0


@dataclass(frozen=True, slots=True)
class DraftShare:
    """Weighted sums of the regression.

    Attributes
    ----------
    weight : float
        Σ w.
    total : float
        Σ w f.
    """

    weight: float = _RIDGE
    total: float = _RIDGE

    @property
    def value(self) -> float:
        """The share f; 1 before any cycle."""
        return self.total / self.weight

    def with_cycle(self, cycle_time: float, base: float, slope: float) -> DraftShare:
        """After a cycle of a drafter that took ``cycle_time``."""
        relative = slope / cycle_time
        if relative < 1e-6:
            return self
        share = min(max((cycle_time - base) / slope, 0.0), _MOST)
        weight = relative * relative
        kept_weight = _RIDGE + _FORGETTING * (self.weight - _RIDGE)
        kept_total = _RIDGE + _FORGETTING * (self.total - _RIDGE)
        return DraftShare(kept_weight + weight, kept_total + weight * share)
