"""Which combinations of members the measurements have told, and which they have not.

Let Π be what the covariance would be at this step without measurements and P what it is.  The
generalised eigenvectors of P against Π are combinations w of members whose errors are independent
under both; √(w P w*/w Π w*) is the share of the prior's standard deviation that is left.  An
aggregate tells a few combinations to many digits and others never: the dual Vandermonde matrix has
condition numbers of 1e12 and more, and each of its singular directions is one combination.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.display import Summarised
from ensctl.errors import PrecisionError
from ensctl.estimation.estimator_model import FilterModel
from ensctl.estimation.estimator_range import require_finite
from ensctl.estimation.estimator_state import EstimatorState
from ensctl.estimation.estimator_steps import noise_factor
from ensctl.serialization import versioned

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Members with a smaller standard deviation have died out: their variances are subnormal.
_SMALLEST = 1e-150


@dataclass(frozen=True, eq=False)
class KnownCombinations(Summarised):
    """Result of :meth:`AggregateEstimator.known`: combinations w x of members, best known first.

    Attributes
    ----------
    weights : (r, N)
        w, one combination per row, ‖w‖ = 1; r < N where the prior fixes some combinations.
    values : (r,)
        The estimate of w x.
    stds : (r,)
        Its standard deviation.
    prior_stds : (r,)
        What it would be at this step without measurements.
    ratios : (r,)
        stds / prior_stds, ascending; 1 says that nothing has been learnt.
    member_ratios : (N,)
        The same for each member alone; 0 where the prior fixes the member.
    member_prior_stds : (N,)
        Standard deviation of each member at this step without measurements.
    threshold : float
        Ratios up to this are called known.
    """

    weights: Array
    values: Array
    stds: Array
    prior_stds: Array
    ratios: Array
    member_ratios: Array
    member_prior_stds: Array
    threshold: float

    @property
    def known(self) -> Array:
        """Whether each combination is known, (r,) bool."""
        return read_only(self.ratios <= self.threshold)

    @property
    def count(self) -> int:
        """How many combinations are known."""
        return int(np.count_nonzero(self.ratios <= self.threshold))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "known_combinations",
            {
                "count": self.count,
                "threshold": self.threshold,
                "weights": self.weights,
                "values": self.values,
                "stds": self.stds,
                "prior_stds": self.prior_stds,
                "ratios": self.ratios,
                "member_ratios": self.member_ratios,
            },
        )

    def __str__(self) -> str:
        total = self.ratios.size
        lines = [
            f"{self.count} of {total} combinations of members known "
            f"(std at most {self.threshold:.3g} of the prior's)"
        ]
        for k in range(min(total, 4)):
            lines.append(self._line(k))
        if total > 5:
            lines.append("  …")
        if total > 4:
            lines.append(self._line(total - 1))
        members = int(np.count_nonzero(self.member_ratios <= self.threshold))
        lines.append(f"members known one by one: {members} of {self.member_ratios.size}")
        return "\n".join(lines)

    def _line(self, k: int) -> str:
        word = "known  " if self.ratios[k] <= self.threshold else "unknown"
        # In units of the prior: members that have nearly died out would hide behind no one else.
        shares = self.weights[k] * self.member_prior_stds
        shares = shares / np.abs(shares).max()
        shares = shares / np.linalg.norm(shares)
        lead = np.argsort(-np.abs(shares))[:3]
        parts = " ".join(_signed(shares[i]) + f"·x{i}" for i in lead)
        more = " …" if np.count_nonzero(np.abs(shares) > 1e-3) > lead.size else ""
        return (
            f"  {word} {parts}{more}: std {self.stds[k]:.3g}, {self.ratios[k]:.3g} of the prior's"
        )


def _signed(value: complex) -> str:
    if np.iscomplexobj(value):
        return f"({value.real:+.3f}{value.imag:+.3f}j)"
    return f"{value:+.3f}"


def known_combinations(
    model: FilterModel, state: EstimatorState, threshold: float
) -> KnownCombinations:
    """Sort combinations of members by how much of the prior's uncertainty is left."""
    prior = _covariance_without_measurements(model, state)
    sizes = np.sqrt(np.diagonal(prior).real)
    open_members = np.flatnonzero(sizes > _SMALLEST)
    scale = sizes[open_members]
    correlation = prior[np.ix_(open_members, open_members)] / scale[:, None] / scale[None, :]
    values, vectors = np.linalg.eigh(correlation)
    kept = values > values.size * _EPS * max(float(values.max(initial=0.0)), 1e-300)
    # Rows of ``white`` are combinations with variance 1 under the prior.
    white = (vectors[:, kept] / np.sqrt(values[kept])).conj().T
    root = state.factor()[open_members] / scale[:, None]
    left, ratios, _ = np.linalg.svd(white @ root)
    order = np.arange(ratios.size)[::-1]
    combinations = np.zeros((ratios.size, state.mean.size), dtype=state.mean.dtype)
    combinations[:, open_members] = (left.conj().T @ white)[order] / scale[None, :]
    norms = np.linalg.norm(combinations, axis=1)
    combinations /= norms[:, None]
    stds = ratios[order] / norms
    require_finite("what is known", combinations, stds)
    members = np.zeros(state.mean.size)
    members[open_members] = state.std[open_members] / scale
    return KnownCombinations(
        weights=read_only(combinations),
        values=read_only(combinations @ state.mean),
        stds=read_only(stds),
        prior_stds=read_only(1.0 / norms),
        ratios=read_only(np.minimum(ratios[order], 1.0)),
        member_ratios=read_only(np.minimum(members, 1.0)),
        member_prior_stds=read_only(sizes),
        threshold=threshold,
    )


def _covariance_without_measurements(model: FilterModel, state: EstimatorState) -> Array:
    """Λ^t Π Λ*^t + Σ_{k<t} Λ^k Q Λ*^k."""
    powers = model.ens.lam**state.t
    start = np.multiply.outer(powers, powers.conj()) * model.covariance
    gap = 1.0 - model.factors
    shares = np.where(
        gap == 0.0, float(state.t), (1.0 - model.factors**state.t) / np.where(gap, gap, 1.0)
    )
    total = start + noise_factor(state, "process") * shares * model.process
    if not np.all(np.isfinite(total)):
        raise PrecisionError(
            f"the prior of an unstable member leaves the float64 range within {state.t} steps; ask "
            f"earlier, or leave such members out with ens.subset"
        )
    return np.asarray(0.5 * (total + total.conj().T))
