"""How much of a drafter's modelled draft cost is really paid, learned from cycle times.

An n-gram drafter drafts only for streams that find a match, so its cycles are cheaper than a model
in K says.  The share f in c = base + f·slope is a ridge regression on relative errors: loads at
which drafting costs next to nothing say next to nothing about it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ensctl.scheduling.policies.state_json import require_number

_RIDGE = 0.02
_FORGETTING = 0.999
_MOST = 4.0
_ROUNDING = 0.05


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

    def require_usable(self) -> None:
        """Refuse sums that no cycles give."""
        require_number(self.weight, "shares.weight", _RIDGE / 2)
        require_number(self.total, "shares.total", 0.0)

    def with_cycle(
        self, cycle_time: float, base: float, slope: float, *, steady: bool = True
    ) -> DraftShare:
        """After a cycle of a drafter that took ``cycle_time``.

        The first cycle after a change of drafter is not ``steady``: it says nothing when it took
        longer than a full draft, since the change may have cost time of its own.
        """
        relative = slope / cycle_time
        if relative < 1e-6:
            return self
        share = min(max((cycle_time - base) / slope, 0.0), _MOST)
        if not steady and share > 1.0 + _ROUNDING:
            return self
        weight = relative * relative
        kept_weight = _RIDGE + _FORGETTING * (self.weight - _RIDGE)
        kept_total = _RIDGE + _FORGETTING * (self.total - _RIDGE)
        return DraftShare(kept_weight + weight, kept_total + weight * share)
