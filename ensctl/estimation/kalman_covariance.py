"""The covariance form of the filter: O(N²) for noise on every member, where it is safe.

Noise on all members adds a diagonal to P.  The square-root form needs a factorisation for that,
the covariance form N additions.  Its rounding errors are a few ε trace(P), and every P after a
measurement is at least

    (1/q + Σ_k ‖c_k‖²)⁻¹   (q the smallest noise variance, outputs scaled to unit noise),

so P stays definite as long as that floor is far above the rounding errors.  :func:`is_safe` says
so before each step; where it does not hold the filter goes on in square-root form.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# The floor must exceed this share of the trace; rounding is near N · 1e-16 of it.
_SAFE_SHARE = 1e-10


def is_safe(covariance: Array, smallest: float, weights_squared: float) -> bool:
    """Whether P stays definite in covariance form.

    Parameters
    ----------
    covariance : (N, N)
        P now.
    smallest : float
        Smallest eigenvalue that P is known to have at least.
    weights_squared : float
        Σ_k ‖c_k‖² of the outputs, scaled to unit noise.
    """
    if not smallest > 0.0:
        return False
    floor = 1.0 / (1.0 / smallest + weights_squared)
    return bool(floor > _SAFE_SHARE * float(np.diagonal(covariance).sum().real))


def update_covariance(covariance: Array, weights: Array) -> tuple[Array, Array, float]:
    """Measure c x + v with E|v|² = 1: P ← P − g g*, g = P c*/√α, α = 1 + c P c*.

    Parameters
    ----------
    covariance : (N, N)
        P before the measurement; left as it is.
    weights : (N,)
        c.

    Returns
    -------
    covariance : (N, N)
        P after it, exactly Hermitian when P is.
    gain : (N,)
        K = P c*/α.
    variance : float
        α, the variance of the innovation.
    """
    moved = covariance @ weights.conj()
    variance = 1.0 + float((weights @ moved).real)
    square = _square(moved / math.sqrt(variance))
    return _hermitian(np.subtract(covariance, square, out=square)), moved / variance, variance


def propagate_covariance(covariance: Array, factors: Array, noise: Array) -> Array:
    """Λ P Λ* + Q, (N, N); ``factors`` holds λ_i λ̄_j and ``noise`` Q."""
    moved = covariance * factors
    return _hermitian(np.add(moved, noise, out=moved))


def outer_squares(values: Array) -> Array:
    """v_i v̄_j, exactly Hermitian."""
    return _hermitian(_square(values))


def _square(values: Array) -> Array:
    return np.asarray(values[:, None] * values.conj())


def _hermitian(matrix: Array) -> Array:
    # Products of real numbers commute to the last bit; fused complex products need not.
    if np.iscomplexobj(matrix):
        return np.asarray(0.5 * (matrix + matrix.conj().T))
    return matrix
