"""The numbers a filter works with: noise as columns and as a matrix, symmetry, and data type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.estimation.estimator_arguments import conjugate_partners
from ensctl.estimation.kalman_covariance import outer_squares
from ensctl.estimation.noise_adaptation import NoiseAdaptation

Array = NDArray[Any]

_ROUNDING = 1e-12
# Sums of squares of standard deviations must stay in the float64 range.
_LARGEST = 1e290


@dataclass(frozen=True, eq=False)
class FilterModel:
    """Population, noise and prior of a filter, checked and in one data type.

    Attributes
    ----------
    ens : Ensemble
        The population.
    mean, covariance : (N,), (N, N)
        The prior of x_0.
    process : (N, N)
        Q.
    columns : (N, k)
        A factor of Q; k = 0 without process noise.
    noise : (p, p)
        R.
    factors : (N, N)
        λ_i λ̄_j.
    smallest : float
        The smallest noise variance of a member of its own: Q ≥ smallest · I.
    real_outputs : bool
        Whether y and v are real; otherwise all noise is circular.
    adapt : NoiseAdaptation or None
        What is learnt.
    """

    ens: Ensemble
    mean: Array
    covariance: Array
    process: Array
    columns: Array
    noise: Array
    factors: Array
    smallest: float
    real_outputs: bool
    adapt: NoiseAdaptation | None

    @property
    def dtype(self) -> np.dtype[Any]:
        """float64, or complex128 where states are complex."""
        return self.mean.dtype

    @cached_property
    def weights(self) -> Array:
        """C in the data type of the states, (p, N)."""
        return read_only(self.ens.output_weights.astype(self.dtype))

    @cached_property
    def feedthrough(self) -> Array | None:
        """d as (p, m); None where it is zero."""
        return self.ens.feedthrough if np.any(self.ens.feedthrough) else None

    @cached_property
    def whitening(self) -> Whitening:
        """What makes all outputs independent with unit noise."""
        return whitening(self.noise, self.weights)

    def with_noise_factors(self, factors: dict[str, float]) -> FilterModel:
        """The same model with its noise variances multiplied, and nothing more to learn."""
        measurement, process = factors.get("measurement", 1.0), factors.get("process", 1.0)
        return replace(
            self,
            process=process * self.process,
            columns=np.sqrt(process) * self.columns,
            noise=measurement * self.noise,
            smallest=process * self.smallest,
            adapt=None,
        )


@dataclass(frozen=True, eq=False)
class Whitening:
    """Outputs brought to independent unit noise.

    Attributes
    ----------
    transform : (p, p)
        W with W R W* = I.
    weights : (p, N)
        W C.
    log_determinant : float
        log |det W|.
    squared : float
        Σ_k ‖c_k‖² of the transformed outputs.
    variances : (p,)
        The diagonal of R.
    """

    transform: Array
    weights: Array
    log_determinant: float
    squared: float
    variances: Array


def whitening(noise: Array, weights: Array) -> Whitening:
    """Decorrelate outputs by the Cholesky factor of their noise."""
    root = np.linalg.cholesky(noise)
    transform = np.linalg.inv(root)
    rows = (transform @ weights).astype(weights.dtype)
    return Whitening(
        transform=transform,
        weights=rows,
        log_determinant=-float(np.sum(np.log(np.diagonal(root).real))),
        squared=float(np.sum(np.abs(rows) ** 2)),
        variances=np.diagonal(noise).real,
    )


def filter_model(
    ens: Ensemble,
    *,
    variances: Array,
    shared: Array,
    noise: Array,
    mean: Array,
    covariance: Array,
    real_outputs: bool | None,
    adapt: NoiseAdaptation | None,
) -> FilterModel:
    """Bring checked arguments to one data type and decide whether outputs are real."""
    own = np.diag(np.sqrt(variances))[:, variances > 0.0]
    process = np.diag(variances) + shared @ shared.conj().T
    process = 0.5 * (process + process.conj().T)
    for name, matrix in (("process noise", process), ("x0_cov", covariance)):
        if not np.all(np.abs(matrix) < _LARGEST):
            raise InvalidInputError(f"{name} must be below {_LARGEST:.0e}; choose another unit")
    if not (real_outputs is None or isinstance(real_outputs, bool | np.bool_)):
        raise InvalidInputError(f"real_outputs must be True, False or None, got {real_outputs!r}")
    reason = _why_not_real(ens, noise, mean, covariance, process)
    if real_outputs and reason:
        raise InvalidInputError(f"real_outputs=True needs {reason}")
    real = not reason if real_outputs is None else bool(real_outputs)
    parts = (ens.d, ens.lam, ens.b, ens.c, mean, covariance, process, noise)
    whole = real and not any(np.iscomplexobj(part) for part in parts)
    dtype = np.dtype(float if whole else complex)
    return FilterModel(
        ens=ens,
        mean=read_only(mean.astype(dtype)),
        covariance=read_only(covariance.astype(dtype)),
        process=read_only(process.astype(dtype)),
        columns=read_only(np.concatenate([own, shared], axis=1).astype(dtype)),
        noise=read_only(noise),
        factors=read_only(outer_squares(ens.lam).astype(dtype)),
        smallest=float(variances.min()),
        real_outputs=real,
        adapt=adapt,
    )


def _why_not_real(
    ens: Ensemble, noise: Array, mean: Array, covariance: Array, process: Array
) -> str:
    """What is missing for real outputs; empty when nothing is."""
    partners = conjugate_partners(ens)
    if partners is None:
        return "members in conjugate pairs (λ, b and c), and a real d"
    if np.iscomplexobj(noise):
        return "a real measurement_noise"
    if not _close(mean[partners], mean.conj()):
        return "conjugate members to have conjugate x0"
    for name, matrix in (("x0_cov", covariance), ("process noise", process)):
        if not _close(matrix[np.ix_(partners, partners)], matrix.conj()):
            return f"conjugate members to have conjugate {name}"
    return ""


def _close(left: Array, right: Array) -> bool:
    return bool(np.all(np.abs(left - right) <= _ROUNDING * np.abs(right).max(initial=0.0)))
