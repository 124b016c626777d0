"""Averages of several drafters' estimates: variance with correlation, and the best weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_count, as_scalar, read_only
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


def mean_standard_deviation(std: float, count: int, correlation: float = 0.0) -> float:
    """Standard deviation of the mean of N exchangeable estimates.

    σ_N = σ √((1 + (N − 1) r)/N).  With r = 0 it is σ/√N; with r > 0 it does not fall below σ√r,
    however many estimates are averaged.

    Parameters
    ----------
    std : float
        σ ≥ 0 of one estimate.
    count : int
        N ≥ 1.
    correlation : float
        r of every pair, −1/(N − 1) ≤ r ≤ 1.

    Returns
    -------
    float

    Raises
    ------
    InvalidInputError
        An argument outside its range.

    Examples
    --------
    >>> from ensctl import drafting
    >>> round(drafting.mean_standard_deviation(0.3, 5), 6)
    0.134164
    >>> round(drafting.mean_standard_deviation(0.3, 5, correlation=0.15), 6)
    0.169706
    """
    sigma = as_scalar(std, "std", at_least=0.0)
    number = as_count(count, "count")
    lowest = -1.0 if number == 1 else -1.0 / (number - 1)
    r = as_scalar(correlation, "correlation", at_least=lowest, at_most=1.0)
    return sigma * math.sqrt(max(0.0, (1.0 + (number - 1) * r) / number))


@dataclass(frozen=True, eq=False)
class OptimalWeights:
    """Result of :func:`optimal_weights`.

    Attributes
    ----------
    weights : (N,) array, read-only
        Σ⁻¹1/(1ᵀΣ⁻¹1), summing to one; some are negative where estimates are strongly correlated.
    std : float
        Standard deviation of the weighted mean, (1ᵀΣ⁻¹1)^{−½}.
    equal_std : float
        Standard deviation of the plain mean, for comparison.
    """

    weights: Array
    std: float
    equal_std: float

    @property
    def gain(self) -> float:
        """How many times smaller the variance is than that of the plain mean, ≥ 1."""
        return (self.equal_std / self.std) ** 2


def optimal_weights(covariance: ArrayLike) -> OptimalWeights:
    """Minimum-variance unbiased weights of N correlated estimates of one number.

    w = Σ⁻¹1/(1ᵀΣ⁻¹1), the minimiser of wᵀΣw with Σ w_i = 1.

    Parameters
    ----------
    covariance : array_like, (N, N) or (N,)
        Σ, symmetric and positive definite; a vector is a diagonal.

    Returns
    -------
    OptimalWeights

    Raises
    ------
    InvalidInputError
        Σ is not symmetric or not positive definite.

    Notes
    -----
    O(N³) by Cholesky.  A singular Σ has combinations without variance, and then no unique answer.

    Examples
    --------
    >>> from ensctl import drafting
    >>> best = drafting.optimal_weights([[0.04, 0.01], [0.01, 0.09]])
    >>> best.weights
    array([0.72727273, 0.27272727])
    >>> best.std < best.equal_std
    True
    """
    matrix = as_array(covariance, "covariance", real=True)
    if matrix.ndim == 1:
        matrix = np.diag(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InvalidInputError(f"covariance must be (N, N) or (N,), got shape {matrix.shape}")
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0.0):
        raise InvalidInputError("covariance must be symmetric; average it with its transpose")
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise InvalidInputError(
            "covariance must be positive definite; a combination of the estimates has no variance"
        ) from None
    from scipy.linalg import cho_solve

    solved = cho_solve((factor, True), np.ones(matrix.shape[0]))
    total = float(solved.sum())
    size = matrix.shape[0]
    equal = math.sqrt(float(matrix.sum())) / size
    return OptimalWeights(read_only(solved / total), 1.0 / math.sqrt(total), equal)
