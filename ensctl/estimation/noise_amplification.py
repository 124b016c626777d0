"""How much larger the error of a member is than the noise of the aggregate it is estimated from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.energies import member_energies
from ensctl.analysis.observability import observability
from ensctl.analysis.steering_map import SteeringMap, singular_values_of_map, steering_map
from ensctl.analysis.unit_circle import on_or_outside_unit_circle
from ensctl.arguments import as_horizon, read_only
from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.estimation.estimator_range import within_float_range
from ensctl.formatting import power_text
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class NoiseAmplification(Summarised):
    """Result of :func:`noise_amplification`; standard deviations of x_0 over that of one output.

    Attributes
    ----------
    samples : int or math.inf
        Number of output samples T.
    log10_members : (N,)
        log10 of the factor of each member.
    relative_error_bound : (N,)
        Bound of the relative error of each factor.
    log10_best, log10_worst_combination : float
        log10 of the factors of the best and worst combination w x_0 with ‖w‖ = 1: 1/σ_max and
        1/σ_min of the matrix that maps x_0 to the outputs.
    label : str
        Name of the worst member.
    """

    samples: int | float
    log10_members: Array
    relative_error_bound: Array
    log10_best: float
    log10_worst_combination: float
    label: str

    @property
    def members(self) -> Array:
        """The factor of each member, (N,); inf where it overflows."""
        with np.errstate(over="ignore"):
            return read_only(10.0**self.log10_members)

    @property
    def worst(self) -> float:
        """The largest factor of a member."""
        return float(self.members[self.worst_member])

    @property
    def worst_member(self) -> int:
        """The member with the largest factor."""
        return int(np.argmax(self.log10_members))

    @property
    def log10_cond(self) -> float:
        """log10 of the condition number of the matrix that maps x_0 to the outputs."""
        return self.log10_worst_combination - self.log10_best

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "noise_amplification",
            {
                "samples": self.samples,
                "worst": self.worst,
                "worst_member": self.worst_member,
                "members": self.members,
                "log10_members": self.log10_members,
                "relative_error_bound": self.relative_error_bound,
                "log10_best": self.log10_best,
                "log10_worst_combination": self.log10_worst_combination,
                "log10_cond": self.log10_cond,
            },
        )

    def __str__(self) -> str:
        count = "infinitely many" if self.samples == math.inf else f"{int(self.samples)}"
        worst = power_text(float(self.log10_members.max()))
        return "\n".join(
            [
                f"noise × {worst} in the initial state of {self.label}, from {count} samples",
                f"members: × {power_text(float(self.log10_members.min()))} … × {worst} "
                f"(std of the member / std of one output)",
                f"combinations: × {power_text(self.log10_best)} … "
                f"× {power_text(self.log10_worst_combination)}; κ = {power_text(self.log10_cond)}",
            ]
        )


@within_float_range
def noise_amplification(ens: Ensemble, samples: int | float) -> NoiseAmplification:
    """Standard deviation of the estimated x_0 of each member, for outputs with noise of std 1.

    Least squares on y_t = Σ_i c_i λ_i^t x_{i,0} + v_t, t < T, with white v of variance 1 leaves
    x_0 with covariance (V* V)^{-1}, V_{ti} = c_i λ_i^t; its diagonal is returned as √.

    Parameters
    ----------
    ens : Ensemble
        The population, N members and p outputs with independent noise of the same size.
    samples : int or math.inf
        T ≥ 1.  math.inf (needs |λ| < 1) gives the plateau: once the transient has died, more
        samples do not help.

    Returns
    -------
    NoiseAmplification
        ``worst``, ``members`` and their error bounds.

    Raises
    ------
    InvalidInputError
        T is not an integer ≥ 1 or infinite, or |λ| ≥ 1 with T = ∞.
    NotIdentifiableError
        The outputs do not determine the initial state; names the members.

    Notes
    -----
    By duality (V* V)^{-1}_ii is the energy that moves member i of ``ens.dual()`` alone, computed
    without forming V* V to the relative error that is returned.  O(N² (N + T)).

    Examples
    --------
    >>> import ensctl as ec, numpy as np
    >>> ens = ec.Ensemble(np.linspace(0.1, 0.9, 3), c=1.0)
    >>> [round(ec.noise_amplification(ens, T).worst, 2) for T in (3, 15, 60)]
    [8.86, 2.9, 2.83]
    """
    require_ensemble(ens)
    horizon = as_horizon(samples, "samples", infinite=True)
    steering = output_map(ens, horizon)
    energies = member_energies(steering)
    values = singular_values_of_map(steering).log10
    factors = 0.5 * energies.log10_energy
    return NoiseAmplification(
        samples=horizon,
        log10_members=read_only(factors),
        relative_error_bound=read_only(0.5 * energies.relative_error_bound),
        log10_best=-float(values[0]),
        log10_worst_combination=-float(values[-1]),
        label=ens.label(int(np.argmax(factors))),
    )


def output_map(ens: Ensemble, horizon: int | float) -> SteeringMap:
    """The steering map of the dual, refused where outputs do not determine the initial state.

    Raises
    ------
    InvalidInputError
        T = ∞ and |λ| ≥ 1.
    NotIdentifiableError
        Names the members that cannot be told.
    """
    outside = np.flatnonzero(on_or_outside_unit_circle(ens.lam))
    if horizon == math.inf and outside.size:
        raise InvalidInputError(
            f"samples must be finite here: {ens.label(int(outside[0]))} has "
            f"|λ| = {abs(ens.lam[outside[0]]):.6g} ≥ 1; give a number"
        )
    steering = steering_map(ens.dual(), horizon)
    verdict = observability(ens, None if horizon == math.inf else int(horizon))
    if not verdict.observable:
        reasons = "; ".join(verdict.reasons) or "too few samples"
        raise NotIdentifiableError(f"the initial state is {verdict.sentence}: {reasons}")
    return steering
