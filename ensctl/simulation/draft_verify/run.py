"""What a run of draft and verification committed and counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.display import Summarised
from ensctl.drafting.convention import Convention, as_convention
from ensctl.drafting.cost import CostModel, as_cost
from ensctl.drafting.counters import Counters
from ensctl.drafting.estimate import Estimate
from ensctl.drafting.fitting.windows import autocorrelation_time
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class DraftRun(Summarised):
    """Result of :func:`draft_then_verify`: n cycles of draft and verification.

    Attributes
    ----------
    committed : tuple
        The units that were committed, in order.
    depths : (n,) array of int, read-only
        K that was asked for.
    drafted : (n,) array of int, read-only
        Units in the draft; fewer than K where the drafter stopped early.
    accepted : (n,) array of int, read-only
        Units of the draft that were kept.
    owners : (n,) array of int, read-only
        Position of the drafter in ``drafters``; −1 where it has no name or drafting was off.
    drafters : tuple of str
        Names of the drafters that were chosen, in the order of their first cycle.
    chances : array, read-only
        Exact acceptance probability of every unit tested; empty where verifiers do not tell.
    state : object
        The state after the last cycle.
    schedule_state : object
        What the schedule had learned by then.
    draft_seconds : float
        Wall-clock time spent by proposers.
    verify_seconds : float
        Wall-clock time spent by the verifier.
    """

    committed: tuple[Any, ...]
    depths: Array
    drafted: Array
    accepted: Array
    owners: Array
    drafters: tuple[str, ...]
    chances: Array
    state: Any
    schedule_state: Any
    draft_seconds: float
    verify_seconds: float

    @property
    def cycles(self) -> int:
        """n."""
        return self.depths.size

    @property
    def units(self) -> int:
        """Units committed."""
        return len(self.committed)

    @property
    def tokens_per_cycle(self) -> float:
        """Committed units per cycle, cycles without a draft included."""
        return self.units / self.cycles

    def counters(self, drafter: str | None = None) -> Counters:
        """The run as an engine would count it; of one drafter where a name is given."""
        mine = np.ones(self.cycles, dtype=bool)
        if drafter is not None:
            if drafter not in self.drafters:
                known = ", ".join(self.drafters) or "none has a name"
                raise InvalidInputError(
                    f"drafter must be one that drafted ({known}), got {drafter!r}"
                )
            mine = self.owners == self.drafters.index(drafter)
        drafting = mine & (self.drafted > 0)
        drafted, kept = self.drafted[drafting], self.accepted[drafting]
        deepest = int(drafted.max()) if drafted.size else 0
        by_depth = {int(k): _histogram(kept[drafted == k]) for k in np.unique(drafted)}
        positions = tuple(int((kept > j).sum()) for j in range(deepest))
        return Counters(
            int(drafted.size),
            int(drafted.sum()),
            int(kept.sum()),
            accepted_per_position=positions if drafted.size else None,
            depth=deepest if drafted.size else None,
            draftless=int(mine.sum() - drafted.size),
            generated=self.units if drafter is None else None,
            histogram=_histogram(kept),
            histogram_by_depth=by_depth if len(by_depth) > 1 else None,
            model=drafter or "",
        )

    def lengths(self, convention: Convention | str = Convention.WITH_BONUS) -> Array:
        """Length of every cycle under a convention, (n,)."""
        return counted_lengths(self.accepted, self.drafted, as_convention(convention))

    def mean_length(
        self, convention: Convention | str = Convention.WITH_BONUS, *, level: float = 0.95
    ) -> Estimate:
        """Mean length of the cycles, with an interval that allows for autocorrelation."""
        rule = as_convention(convention)
        return mean_estimate(self.lengths(rule), level, f"units per cycle, {rule.value}")

    def expected_accepted(self) -> Estimate:
        """Accepted units per cycle from the exact chances: Σ α_t/n ± √(Σ α_t(1 − α_t))/n.

        Given what was committed before, unit t is kept with chance α_t, so the accepted count less
        Σ α_t is a martingale, and this is its standard deviation.

        Raises NotIdentifiableError where the verifier did not tell chances.
        """
        if not self.chances.size:
            raise NotIdentifiableError(
                "the verifier gave no exact acceptance probabilities; see Verdict.chances"
            )
        total = math.fsum(self.chances)
        spread = math.sqrt(math.fsum(self.chances * (1.0 - self.chances)))
        return Estimate.normal(
            total / self.cycles,
            spread / self.cycles,
            lower=0.0,
            method="sum of exact acceptance probabilities",
            unit="accepted units per cycle",
        )

    def throughput(self, cost: CostModel | float, *, batch: int = 1, context: float = 0.0) -> float:
        """Committed units per unit of cost, each cycle priced at the depth that was drafted."""
        model = as_cost(cost)
        used, counts = np.unique(self.drafted, return_counts=True)
        prices = np.array([model.cycle(int(k), batch, context) for k in used])
        return self.units / float(prices @ counts)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content without the units and states, schema 1."""
        return versioned(
            "draft_run",
            {
                "cycles": self.cycles,
                "units": self.units,
                "drafters": self.drafters,
                "depths": self.depths,
                "drafted": self.drafted,
                "accepted": self.accepted,
                "owners": self.owners,
                "draft_seconds": self.draft_seconds,
                "verify_seconds": self.verify_seconds,
            },
        )

    def __str__(self) -> str:
        drafting = int((self.drafted > 0).sum())
        lines = [
            f"{self.units} units committed in {self.cycles} cycles, "
            f"{self.tokens_per_cycle:.4g} per cycle",
            f"{drafting} cycles drafted {int(self.drafted.sum())} units, "
            f"{int(self.accepted.sum())} kept",
        ]
        if self.chances.size:
            exact = self.expected_accepted()
            lines.append(
                f"accepted per cycle {self.accepted.mean():.4f}, from exact chances "
                f"{exact.value:.4f} (standard error {exact.std_error:.2g})"
            )
        lines += [
            f"{name}: {int((self.owners == i).sum())} cycles"
            for i, name in enumerate(self.drafters[:6])
        ]
        lines.append(
            f"drafting {self.draft_seconds:.3g} s, verification {self.verify_seconds:.3g} s"
        )
        return "\n".join(lines)


def counted_lengths(accepted: Array, depth: Array | int, rule: Convention) -> Array:
    """N, min(N + 1, K) or N + 1."""
    if rule is Convention.ACCEPTED:
        return accepted
    if rule is Convention.WITH_BONUS:
        return accepted + 1
    return np.minimum(accepted + 1, depth)


def mean_estimate(lengths: Array, level: float, unit: str) -> Estimate:
    """Mean of a run of lengths with the normal interval of its autocorrelated mean."""
    size = lengths.size
    time = max(1.0, autocorrelation_time(lengths))
    error = float(lengths.std(ddof=1)) * math.sqrt(time / size) if size > 1 else math.inf
    return Estimate.normal(
        float(lengths.mean()),
        error,
        level=level,
        lower=0.0,
        method=f"mean of {size} cycles, autocorrelation time {time:.3g}",
        unit=unit,
    )


def _histogram(accepted: Sequence[int] | Array) -> dict[int, float]:
    values, counts = np.unique(accepted, return_counts=True)
    return {int(k): int(n) for k, n in zip(values, counts, strict=True)}
