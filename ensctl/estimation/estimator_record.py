"""The filter along a whole record of measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.display import Summarised
from ensctl.estimation.estimator_model import FilterModel
from ensctl.estimation.estimator_range import within_float_range
from ensctl.estimation.estimator_state import EstimatorState
from ensctl.estimation.estimator_steps import predicted, updated
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class FilteredStates(Summarised):
    """Result of :meth:`AggregateEstimator.filter`; signals by time.

    Attributes
    ----------
    means, stds : (N, T)
        Estimate of x_t from y_0 … y_t and its standard deviations.
    innovations, innovation_stds : (p, T)
        y_t minus its prediction, and the standard deviation expected of it; NaN where missing.
    log_likelihood : float
        Of all measurements under the model.
    state : EstimatorState
        The estimate of x_T, one step after the last measurement: go on from here.
    """

    means: Array
    stds: Array
    innovations: Array
    innovation_stds: Array
    log_likelihood: float
    state: EstimatorState

    @property
    @within_float_range
    def whiteness(self) -> float:
        """Mean of |innovation|²/variance: near 1 ± √(2/T) where the noise is as assumed."""
        squares = np.abs(self.innovations / self.innovation_stds) ** 2
        known = squares[~np.isnan(squares)]
        return float(known.mean()) if known.size else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "filtered_states",
            {
                "means": self.means,
                "stds": self.stds,
                "innovations": self.innovations,
                "innovation_stds": self.innovation_stds,
                "log_likelihood": self.log_likelihood,
                "whiteness": self.whiteness,
            },
        )

    def __str__(self) -> str:
        size, samples = self.means.shape
        last = self.stds[:, -1]
        return "\n".join(
            [
                f"filtered {samples} samples, {size} members: std at the end "
                f"{last.min():.4g} … {last.max():.4g} (1 σ)",
                f"log-likelihood {self.log_likelihood:.6g}; innovations² / variance "
                f"{self.whiteness:.4g} on average (1 expected)",
            ]
        )


def filter_record(
    model: FilterModel, state: EstimatorState, outputs: Array, inputs: Array
) -> FilteredStates:
    """Follow outputs, (p, T), and inputs, (m, T), from ``state``."""
    size, samples = model.ens.size, outputs.shape[1]
    means = np.empty((size, samples), dtype=model.dtype)
    stds = np.empty((size, samples))
    innovations = np.empty(outputs.shape, dtype=np.result_type(outputs, float))
    expected = np.empty(outputs.shape)
    if not model.real_outputs:
        innovations = innovations.astype(complex)
    for t in range(samples):
        state = updated(model, state, outputs[:, t], inputs[:, t])
        means[:, t], stds[:, t] = state.mean, state.std
        innovations[:, t], expected[:, t] = state.innovation, state.innovation_std
        state = predicted(model, state, inputs[:, t])
    return FilteredStates(
        means=read_only(means),
        stds=read_only(stds),
        innovations=read_only(innovations),
        innovation_stds=read_only(expected),
        log_likelihood=state.log_likelihood,
        state=state,
    )
