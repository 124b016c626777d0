"""A fitted acceptance model: parameters with errors, what it may be used for, and why it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ensctl.arguments import Array
from ensctl.display import Summarised
from ensctl.drafting.acceptance import AcceptanceModel
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.estimate import Estimate
from ensctl.drafting.fitting.comparison import ModelComparison
from ensctl.drafting.fitting.hazards import HazardEstimates
from ensctl.drafting.fitting.model_fits import ModelFit, central_differences
from ensctl.errors import NotIdentifiableError
from ensctl.serialization import versioned

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class AcceptanceFit(Summarised):
    """Result of :func:`~ensctl.drafting.fitting.models.fit_acceptance`.

    Attributes
    ----------
    model : AcceptanceModel
        The fitted model.
    kind : str
        "iid", "markov_renewal", "per_position", "beta", "mixture" or "delayed_geometric".
    parameters : mapping of str to Estimate
        Each parameter with its interval.
    covariance : (p, p) ndarray
        Covariance of the parameters, in their order.
    depth : int
        Deepest position that was tested.
    cycles : float
        Cycles that drafted.
    extrapolates : bool
        Whether lengths at depths beyond ``depth`` may be computed: the distribution of cycle
        starts depends on K, so a survival curve measured at one K holds there only.
    reason : str
        Why this model, in a sentence or two.
    assumption : str
        What the errors assume about dependence between cycles.
    log_likelihood : float
        ln L of the counts of each position, or of every cycle where the trace is known.
    observed : HazardEstimates or None
        Hazards and survival without a model; None where the counters have no positions.
    comparison : ModelComparison or None
        The models that were compared; None where one was asked for.
    level : float
        Coverage of the intervals.
    """

    model: AcceptanceModel
    kind: str
    parameters: Mapping[str, Estimate]
    covariance: Array
    depth: int
    cycles: float
    extrapolates: bool
    reason: str
    assumption: str
    log_likelihood: float
    observed: HazardEstimates | None
    comparison: ModelComparison | None
    level: float
    _fit: ModelFit
    _freedom: float

    def expected_length(
        self, depth: int, *, convention: Convention | str = Convention.WITH_BONUS
    ) -> Estimate:
        """Mean length of a cycle at depth K, with the error that the parameters bring.

        Parameters
        ----------
        depth : int
            K ≥ 0.
        convention : Convention or str
            What a length counts.

        Returns
        -------
        Estimate
            Tokens per cycle; the standard error is that of the parameters to first order.

        Raises
        ------
        NotIdentifiableError
            K is beyond the measured depth and the model does not extrapolate.
        """
        units, rule = as_depth(depth), as_convention(convention)
        self._require_reach(units)
        value = self.model.expected_length(units, convention=rule)

        def length(parameters: Array) -> Array:
            model = self._fit.build(parameters)
            return np.array([model.expected_length(units, convention=rule)])

        low, high = (0.0, np.inf) if self.kind == "beta" else (0.0, 1.0)
        gradient = central_differences(length, self._fit.values, low, high)[0]
        error = float(np.sqrt(max(float(gradient @ self.covariance @ gradient), 0.0)))
        from ensctl.drafting.fitting.intervals import normal_quantile

        reach = error * normal_quantile(self.level, self._freedom)
        least = 0.0 if rule is Convention.ACCEPTED or units == 0 else 1.0
        most = float(units + 1 if rule is Convention.WITH_BONUS else units)
        return Estimate(
            value,
            min(value, max(value - reach, least)),
            max(value, min(value + reach, most)),
            error,
            self.level,
            f"{self.kind} fitted at K ≤ {self.depth}",
            f"tokens per cycle, {rule.value}",
            self.assumption,
        )

    def survival(self, depth: int) -> Array:
        """S(0) … S(K) of the model at depth K; raises NotIdentifiableError beyond its reach."""
        units = as_depth(depth)
        self._require_reach(units)
        return self.model.survival(units)

    def _require_reach(self, depth: int) -> None:
        if depth > self.depth and not self.extrapolates:
            raise NotIdentifiableError(
                f"depth must be ≤ {self.depth}, the depth measured, for a {self.kind} fit, got "
                f"{depth}: where cycles start depends on K, so a survival curve does not extend "
                f"beyond it; fit model='markov_renewal' or 'iid', or measure at {depth}"
            )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "acceptance_fit",
            {
                "model": self.kind,
                "parameters": {name: item.to_dict() for name, item in self.parameters.items()},
                "covariance": self.covariance,
                "depth": self.depth,
                "cycles": self.cycles,
                "extrapolates": self.extrapolates,
                "reason": self.reason,
                "assumption": self.assumption,
                "log_likelihood": self.log_likelihood,
                "observed": None if self.observed is None else self.observed.to_dict(),
                "comparison": None if self.comparison is None else self.comparison.to_dict(),
                "level": self.level,
            },
        )

    def __str__(self) -> str:
        shown = [
            f"{name} = {item.value:.4g} ± {item.std_error:.2g}"
            for name, item in list(self.parameters.items())[:_SHOWN]
        ]
        if len(self.parameters) > _SHOWN:
            shown.append(f"… {len(self.parameters) - _SHOWN} more")
        reach = "any K" if self.extrapolates else f"K ≤ {self.depth}"
        lines = [
            f"{self.kind}: {', '.join(shown)} (standard errors)",
            f"why: {self.reason}",
            f"from {self.cycles:g} cycles at K ≤ {self.depth}; predicts lengths at {reach}",
            f"assumes {self.assumption}",
        ]
        if self.comparison is not None:
            lines.extend(self.comparison.lines()[:6])
        return "\n".join(lines)
