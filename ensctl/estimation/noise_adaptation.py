"""Noise variances learnt while filtering: recursive maximum likelihood from the innovations.

The log-likelihood of a measurement with innovation e and its variance α is −½(log α + e²/α).  Its
derivative by a log-variance θ follows from ẋ = dx/dθ and Ṗ = dP/dθ, which obey the differentiated
filter equations.  With the Fisher information I = Σ β^age (½ (α̇/α)² + ė²/α) a scoring step
θ ← θ + I⁻¹ dlog L/dθ follows every measurement (L. Ljung and T. Söderström, Theory and Practice of
Recursive Identification, 1983, §3.7); β < 1 forgets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_scalar, read_only
from ensctl.display import Summarised
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned

Array = NDArray[Any]

# One step changes a standard deviation at most by about 28 %.
_LARGEST_STEP = 0.5
# Variances stay within these factors of what was given.
_LARGEST_LOG = 40.0
# The first steps are taken far from the truth, where the information is not what it will be: what
# they saw is forgotten faster, by a share that starts at the first number and dies out by the
# second (Ljung and Söderström, §5.6).
_FIRST_FORGOTTEN = 0.05
_FORGOTTEN_DECAY = 0.995
# Name of the choice → variances that are learnt.
LEARNT = {
    "measurement": ("measurement",),
    "process": ("process",),
    "both": ("measurement", "process"),
}


@dataclass(frozen=True, init=False)
class NoiseAdaptation:
    """Learn noise variances while filtering.

    Parameters
    ----------
    noise : {"both", "measurement", "process"}
        Which variances are multiplied by a factor that is learnt; the estimator's own are the start
        and keep their proportions.
    forgetting : float
        β in (0, 1]: how much a measurement counts one step later; 1 never forgets.
    prior_std : float
        How far off the given variances may be: one standard deviation of their natural logarithm.

    Raises
    ------
    InvalidInputError
        A value is out of range.

    Examples
    --------
    >>> import ensctl as ec, numpy as np
    >>> adapt = ec.NoiseAdaptation("measurement")
    >>> est = ec.AggregateEstimator(ec.Ensemble([0.5]), measurement_noise=1.0, adapt=adapt)
    >>> rng = np.random.default_rng(0)
    >>> state = est.filter(0.1 * rng.standard_normal(2000)).state
    >>> round(float(state.adaptation.factors["measurement"]), 3)
    0.01
    """

    noise: str
    forgetting: float
    prior_std: float

    def __init__(
        self, noise: str = "both", *, forgetting: float = 1.0, prior_std: float = 3.0
    ) -> None:
        if not (isinstance(noise, str) and noise in LEARNT):
            raise InvalidInputError(
                f"noise must be 'both', 'measurement' or 'process', got {noise!r}"
            )
        object.__setattr__(self, "noise", noise)
        object.__setattr__(
            self, "forgetting", as_scalar(forgetting, "forgetting", above=0.0, at_most=1.0)
        )
        object.__setattr__(self, "prior_std", as_scalar(prior_std, "prior_std", above=0.0))

    @property
    def parameters(self) -> tuple[str, ...]:
        """The variances that are learnt, in order."""
        return LEARNT[self.noise]

    def start(self, size: int, dtype: Any) -> AdaptationState:
        """The state before the first measurement.

        Parameters
        ----------
        size : int
            Number of members N.
        dtype : dtype
            Of the states.

        Returns
        -------
        AdaptationState
        """
        count = len(self.parameters)
        return AdaptationState(
            parameters=self.parameters,
            steps=0,
            logs=read_only(np.zeros(count)),
            information=read_only(np.eye(count) / self.prior_std**2),
            mean_slopes=read_only(np.zeros((count, size), dtype=dtype)),
            covariance_slopes=read_only(np.zeros((count, size, size), dtype=dtype)),
        )


@dataclass(frozen=True, eq=False)
class AdaptationState(Summarised):
    """What has been learnt about the noise.

    Attributes
    ----------
    parameters : tuple of str
        "measurement", "process" or both.
    steps : int
        Number of scoring steps so far.
    logs : (J,)
        Natural logarithm of the factor on the variances given.
    information : (J, J)
        Fisher information of ``logs``, prior included.
    mean_slopes, covariance_slopes : (J, N), (J, N, N)
        Derivatives of the mean and of the covariance by ``logs``.
    """

    parameters: tuple[str, ...]
    steps: int
    logs: Array
    information: Array
    mean_slopes: Array
    covariance_slopes: Array

    @property
    def factors(self) -> dict[str, float]:
        """Factor on the variances given, by parameter."""
        return {
            name: float(np.exp(log)) for name, log in zip(self.parameters, self.logs, strict=True)
        }

    @property
    def log_stds(self) -> dict[str, float]:
        """Standard error of the natural logarithm of each factor."""
        errors = np.sqrt(np.diagonal(np.linalg.inv(self.information)))
        return {name: float(error) for name, error in zip(self.parameters, errors, strict=True)}

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "noise_adaptation", {"factors": self.factors, "log_standard_errors": self.log_stds}
        )

    def __str__(self) -> str:
        errors = self.log_stds
        return "noise variance: " + ", ".join(
            f"{name} × {factor:.4g} (± {errors[name]:.2g} in log, 1 σ)"
            for name, factor in self.factors.items()
        )


class ScoreTerms:
    """Derivatives of one update, collected over its scalar measurements."""

    def __init__(self, state: AdaptationState, *, real: bool) -> None:
        self._state = state
        # A complex innovation counts as two real ones.
        self._weight = 0.5 if real else 1.0
        self.means = state.mean_slopes.copy()
        self.covariances = state.covariance_slopes.copy()
        self._noise_slope = np.array(
            [1.0 if name == "measurement" else 0.0 for name in state.parameters]
        )
        self._score = np.zeros(len(state.parameters))
        self._information = np.zeros_like(state.information)

    def measure(self, weights: Array, error: complex, gain: Array, variance: float) -> None:
        """Differentiate K = P c*/α, x ← x + K e, P ← (I − K c) P (I − K c)* + K r K*."""
        slopes = self.covariances @ weights.conj()
        of_variance = (slopes @ weights).real + self._noise_slope
        of_error = -(self.means @ weights)
        relative = of_variance / variance
        squared = abs(error) ** 2 / variance
        crossed = (of_error.conj() * error).real / variance
        self._score += self._weight * (relative * (squared - 1.0) - 2.0 * crossed)
        self._information += self._weight * (
            np.multiply.outer(relative, relative)
            + 2.0 * np.multiply.outer(of_error, of_error.conj()).real / variance
        )
        of_gain = (slopes - of_variance[:, None] * gain) / variance
        self.means += of_gain * error + gain * of_error[:, None]
        left = self.covariances - slopes[:, :, None] * gain.conj()[None, None, :]
        self.covariances = (
            left
            - gain[None, :, None] * slopes.conj()[:, None, :]
            + of_variance[:, None, None] * np.multiply.outer(gain, gain.conj())
        )

    def finish(self, adaptation: NoiseAdaptation) -> AdaptationState:
        """Take the scoring step."""
        state = self._state
        prior = np.eye(state.logs.size) / adaptation.prior_std**2
        kept = adaptation.forgetting * (1.0 - _FIRST_FORGOTTEN * _FORGOTTEN_DECAY**state.steps)
        information = kept * state.information + (1.0 - kept) * prior + self._information
        # What is forgotten makes room for the prior to pull back a little.
        pull = (1.0 - kept) * (prior @ state.logs)
        step = np.linalg.solve(information, self._score - pull)
        step *= min(1.0, _LARGEST_STEP / max(float(np.abs(step).max()), 1e-300))
        logs = np.clip(state.logs + step, -_LARGEST_LOG, _LARGEST_LOG)
        return AdaptationState(
            state.parameters,
            state.steps + 1,
            read_only(logs),
            read_only(information),
            read_only(self.means),
            read_only(self.covariances),
        )


def propagate_slopes(
    state: AdaptationState, lam: Array, factors: Array, process: Array
) -> AdaptationState:
    """Derivatives after one step of the model: Ṗ ← Λ Ṗ Λ* (+ Q by its own logarithm)."""
    covariances = state.covariance_slopes * factors
    for j, name in enumerate(state.parameters):
        if name == "process":
            covariances[j] += process
    return AdaptationState(
        state.parameters,
        state.steps,
        state.logs,
        state.information,
        read_only(state.mean_slopes * lam),
        read_only(covariances),
    )
