"""Result of a Monte Carlo run of drafters: lengths, throughput, histogram, spread of their mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count, read_only
from ensctl.display import Summarised
from ensctl.drafting.acceptance import AcceptanceModel
from ensctl.drafting.convention import Convention, as_convention
from ensctl.drafting.cost import CostModel, as_cost
from ensctl.drafting.estimate import Estimate
from ensctl.drafting.fitting.windows import autocorrelation_time
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned
from ensctl.simulation.draft_verify.run import counted_lengths, mean_estimate

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class DraftingSimulation(Summarised):
    """Result of :func:`simulate_drafting`: T cycles of N drafters.

    Attributes
    ----------
    depth : int
        K.
    models : tuple of AcceptanceModel
        The law of each drafter.
    accepted : (N, T) or (1, T) array of int16, read-only
        Units kept; one row where a schedule chose one drafter for every cycle.
    chosen : (T,) array of int, read-only, or None
        a_t, or None where every drafter drafted in every cycle.
    costs : tuple of CostModel
        Cost model of each drafter, where drafters had one.
    """

    depth: int
    models: tuple[AcceptanceModel, ...]
    accepted: Array
    chosen: Array | None
    costs: tuple[CostModel, ...]

    @property
    def drafters(self) -> int:
        """N."""
        return len(self.models)

    @property
    def cycles(self) -> int:
        """T."""
        return self.accepted.shape[1]

    def lengths(self, convention: Convention | str = Convention.WITH_BONUS) -> Array:
        """Length of every cycle of every row."""
        return counted_lengths(
            self.accepted.astype(np.int64), self.depth, as_convention(convention)
        )

    def mean_length(
        self,
        convention: Convention | str = Convention.WITH_BONUS,
        *,
        drafter: int | None = None,
        level: float = 0.95,
    ) -> Estimate:
        """Mean length of a cycle, over all drafters or of one.

        The interval is that of the mean over drafters, cycle by cycle, so that it holds for
        correlated drafters, and allows for autocorrelation.
        """
        rule = as_convention(convention)
        series = counted_lengths(self._series(drafter), self.depth, rule).mean(axis=0)
        return mean_estimate(series, level, f"units per cycle, {rule.value}")

    def predicted_length(self, convention: Convention | str = Convention.WITH_BONUS) -> float:
        """Σ S(j) of the models, averaged over drafters as often as they drafted."""
        means = [model.expected_length(self.depth, convention=convention) for model in self.models]
        return float(self._shares() @ means)

    def throughput(
        self,
        cost: CostModel | float | None = None,
        *,
        convention: Convention | str = Convention.WITH_BONUS,
        level: float = 0.95,
    ) -> Estimate:
        """Σ lengths/Σ cost; one cost model for all, or those of the drafters.

        With one cost model C this is mean length/C.  Otherwise the standard error is that of a
        ratio, √(Var(L_t − T C_t)) over the mean cost.
        """
        rule = as_convention(convention)
        if cost is None and not self.costs:
            raise InvalidInputError("cost must be given where drafters have none; 0.1 is c_d = .1")
        models = self.costs if cost is None else (as_cost(cost),) * self.drafters
        prices = np.array([model.cycle(self.depth) for model in models])
        length = counted_lengths(self._series(None), self.depth, rule).mean(axis=0)
        spent = prices[self.chosen] if self.chosen is not None else np.full(1, prices.mean())
        mean_cost = float(spent.mean())
        value = float(length.mean()) / mean_cost
        residual = length - value * spent
        error = float(residual.std()) / mean_cost
        time = max(1.0, autocorrelation_time(residual))
        return Estimate.normal(
            value,
            error * math.sqrt(time / self.cycles),
            level=level,
            lower=0.0,
            method=f"ratio of sums over {self.cycles} cycles",
            unit=f"units per {models[0].unit.removesuffix('es')}, {rule.value}",
        )

    def histogram(self, drafter: int | None = None) -> Array:
        """Cycles that kept N = 0 … K units, (K + 1,)."""
        counts = np.bincount(self._series(drafter).ravel(), minlength=self.depth + 1)
        return read_only(counts)

    def mean_deviation(self, convention: Convention | str = Convention.WITH_BONUS) -> float:
        """Standard deviation, over cycles, of the mean length of the N drafters.

        σ/√N where they are independent; σ√((1 + (N − 1)r)/N) where they correlate.
        """
        return float(self._population(convention).mean(axis=0).std())

    def single_deviation(self, convention: Convention | str = Convention.WITH_BONUS) -> float:
        """σ: standard deviation of the length of one drafter, root mean square over them."""
        return float(np.sqrt(self._population(convention).var(axis=1).mean()))

    def length_correlation(self, convention: Convention | str = Convention.WITH_BONUS) -> float:
        """r: mean correlation of the lengths of two drafters in a cycle, weighted by deviations.

        From Var(mean) = σ²(1 + (N − 1)r)/N.
        """
        number = self.drafters
        if number < 2:
            raise InvalidInputError("a correlation needs two drafters, got 1")
        single = self.single_deviation(convention)
        if single == 0.0:
            return 0.0
        ratio = (self.mean_deviation(convention) / single) ** 2
        return (number * ratio - 1.0) / (number - 1.0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content without the single cycles, schema 1."""
        return versioned(
            "drafting_simulation",
            {
                "depth": self.depth,
                "drafters": self.drafters,
                "cycles": self.cycles,
                "histogram": self.histogram(),
                "mean_length": {rule.value: self.mean_length(rule) for rule in Convention},
                "predicted_length": {
                    rule.value: self.predicted_length(rule) for rule in Convention
                },
            },
        )

    def __str__(self) -> str:
        lines = [
            f"{self.drafters} drafters, K = {self.depth}, {self.cycles} cycles"
            + ("" if self.chosen is None else ", one drafter per cycle")
        ]
        for rule in Convention:
            mean = self.mean_length(rule)
            lines.append(
                f"{rule.value}: {mean.value:.5g} ± {mean.std_error:.2g} units per cycle, "
                f"predicted {self.predicted_length(rule):.5g}"
            )
        if self.chosen is None and self.drafters > 1:
            single = self.single_deviation()
            lines.append(
                f"deviation of the mean of {self.drafters}: {self.mean_deviation():.4g}; "
                f"σ/√N is {single / math.sqrt(self.drafters):.4g}"
            )
        return "\n".join(lines)

    def _population(self, convention: Convention | str) -> Array:
        if self.chosen is not None:
            raise InvalidInputError(
                "one drafter drafted in each cycle, so there is no mean over drafters; simulate "
                "without schedule and mix"
            )
        return self.lengths(convention)

    def _series(self, drafter: int | None) -> Array:
        """Counts (rows, cycles) of all drafters or of one."""
        counts = self.accepted.astype(np.int64)
        if drafter is None:
            return counts
        which = as_count(drafter, "drafter", minimum=0)
        if which >= self.drafters:
            raise InvalidInputError(f"drafter must be below {self.drafters}, got {which}")
        if self.chosen is None:
            return counts[which : which + 1]
        mine = counts[:, self.chosen == which]
        if not mine.size:
            raise InvalidInputError(f"drafter {which} never drafted; choose another")
        return mine

    def _shares(self) -> Array:
        if self.chosen is None:
            return np.full(self.drafters, 1.0 / self.drafters)
        return np.bincount(self.chosen, minlength=self.drafters) / self.cycles
