"""What a filter knows at one instant: mean, covariance, and how well it has predicted so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.display import Summarised
from ensctl.estimation.kalman_root import compress_root, root_of_covariance
from ensctl.estimation.noise_adaptation import AdaptationState
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class EstimatorState(Summarised):
    """The estimate of x_t by an :class:`AggregateEstimator`.

    Attributes
    ----------
    t : int
        The step the estimate is about.
    mean : (N,) float64 or complex128, read-only
        The estimate of x_t.
    form : str
        "square-root": P = S S* is kept as S; "covariance": as P itself, where that is safe.
    matrix : (N, w), read-only
        S or P.
    measured : int
        Number of measurements used so far; missing ones do not count.
    log_likelihood : float
        log of the density of these measurements under the model.
    innovation : (p,), read-only
        y − C x − d u of the last update, NaN where missing (and before the first one).
    innovation_std : (p,), read-only
        The standard deviation the model expected of it.
    adaptation : AdaptationState or None
        The estimates of the noise, where the estimator adapts it.
    """

    t: int
    mean: Array
    form: str
    matrix: Array
    measured: int
    log_likelihood: float
    innovation: Array
    innovation_std: Array
    adaptation: AdaptationState | None = None

    def covariance(self) -> Array:
        """The covariance P of the error of :attr:`mean`.

        Returns
        -------
        (N, N) float64 or complex128, read-only
            Exactly Hermitian.  O(N³) in square-root form.
        """
        if self.form == "covariance":
            return self.matrix
        product = self.matrix @ self.matrix.conj().T
        return read_only(0.5 * (product + product.conj().T))

    def factor(self) -> Array:
        """A square root S of the covariance, P = S S*.

        Returns
        -------
        (N, N), read-only
            Lower triangular.
        """
        if self.form == "covariance":
            return read_only(root_of_covariance(self.matrix))
        return read_only(compress_root(self.matrix))

    @property
    def std(self) -> Array:
        """Standard deviation of each member, (N,); √E|x̂ − x|² where states are complex."""
        if self.form == "covariance":
            return read_only(np.sqrt(np.maximum(np.diagonal(self.matrix).real, 0.0)))
        return read_only(np.linalg.norm(self.matrix, axis=1))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "estimator_state",
            {
                "t": self.t,
                "mean": self.mean,
                "std": self.std,
                "covariance": self.covariance(),
                "measured": self.measured,
                "log_likelihood": self.log_likelihood,
                "innovation": self.innovation,
                "innovation_std": self.innovation_std,
                "adaptation": None if self.adaptation is None else self.adaptation.to_dict(),
            },
        )

    def __str__(self) -> str:
        std = self.std
        worst = int(np.argmax(std))
        lines = [
            f"estimate of {self.mean.size} members at t = {self.t}, {self.measured} measurements",
            f"std {std.min():.4g} … {std.max():.4g} (1 σ), largest for member {worst}",
            f"log-likelihood {self.log_likelihood:.6g}, {self.form} form",
        ]
        if self.adaptation is not None:
            lines.append(str(self.adaptation))
        return "\n".join(lines)
