"""The small least-squares problem that a huge population comes down to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ensctl.arguments import Array
from ensctl.threads import blas_threads_for

# Smallest ratio of pivots of a Cholesky factor that still has digits.
_SMALLEST_PIVOT = 1e-7
_RANK = 1e-13


@dataclass(frozen=True)
class SmallSystem:
    """min ‖A u − c‖² + ρ‖u‖² with A = M C (r, H): M is Lᵀ or the R of all members.

    Attributes
    ----------
    factor : (r, r)
        M, upper triangular, with MᴴM = Σ w|b|² T_i T_j.
    coefficients : (r, H)
        C.
    right : (r,)
        c.
    ridge : float
        ρ.
    lost : float
        What r terms leave out of a power of λ, relative to the largest power, at least ε.
    method : str
        Where M came from: "moments" or "tsqr".
    """

    factor: Array
    coefficients: Array
    right: Array
    ridge: float
    lost: float
    method: str

    def solve(self) -> Array:
        """The minimiser u."""
        return self._minimiser(self.right)

    def again(self, inputs: Array, moments: Array) -> Array:
        """The minimiser found from ``inputs`` and the moments Σ w b̄ e T_j of what they miss."""
        from scipy.linalg import lstsq, solve_triangular

        if self.method == "moments":
            missed = solve_triangular(self.factor, moments, trans="C")
        else:
            # The factor may be singular; the moments lie in its range.
            missed = lstsq(self.factor.conj().T, moments, cond=_RANK)[0]
        return self._minimiser(missed + self.factor @ (self.coefficients @ inputs))

    @property
    def sensitivity(self) -> float:
        """First-order bound on ‖δu‖/‖u‖ when A is perturbed by ``lost``: lost ‖[A; √ρ I]‖/√ρ."""
        _, upper = self._factors
        return self.lost * float(np.linalg.norm(upper)) / math.sqrt(self.ridge)

    def sensitivity_with(self, inputs: Array, misfit: float) -> float:
        """The same with what members miss: + 4 lost ‖A‖ ‖(misfit, √ρ u)‖/(ρ ‖u‖) for TSQR.

        An orthogonal factorisation of the members rounds their misfits too; moments do not see
        misfits, which are orthogonal to every T_j.

        Source: Wedin's bound; Å. Björck, Numerical Methods for Least Squares Problems, SIAM 1996,
        Theorem 1.4.6.
        """
        size = float(np.linalg.norm(inputs))
        if self.method == "moments" or size == 0.0:
            return self.sensitivity
        _, upper = self._factors
        left = math.hypot(misfit, math.sqrt(self.ridge) * size)
        share = 4.0 * self.lost * float(np.linalg.norm(upper)) * left / (self.ridge * size)
        return self.sensitivity + share

    def _minimiser(self, right: Array) -> Array:
        from scipy.linalg import solve_triangular

        q, upper = self._factors
        r, horizon = self.coefficients.shape
        if horizon <= r:
            return np.asarray(solve_triangular(upper, q[:r].conj().T @ right))
        return np.asarray(q[:horizon] @ solve_triangular(upper, right, trans="C"))

    @cached_property
    def _factors(self) -> tuple[Array, Array]:
        """QR of [A; √ρ I], or for H > r of the transpose: u = A* (A A* + ρ)^{-1} c."""
        matrix = self.factor @ self.coefficients
        if matrix.shape[1] > matrix.shape[0]:
            matrix = matrix.conj().T
        ridge = np.sqrt(self.ridge) * np.eye(matrix.shape[1])
        with blas_threads_for(len(matrix)):
            q, upper = np.linalg.qr(np.vstack([matrix, ridge]))
        return q, upper


def lost_terms(coefficients: Array, largest: float) -> float:
    """Largest Σ_{j≥r}|c_kj| over the largest power: the |c_kj| of λ^k add up to max|λ|^k."""
    horizon = coefficients.shape[1]
    with np.errstate(under="ignore"):
        full = largest ** np.arange(horizon - 1, -1, -1.0)
    missing = float((full - np.abs(coefficients).sum(axis=0)).max() / full.max())
    return max(missing, float(np.finfo(float).eps))


def from_moments(
    moments: Array, coefficients: Array, ridge: float, lost: float
) -> SmallSystem | None:
    """The system by Cholesky from rows μ, Re ν[, Im ν]; None where μ leaves too few digits."""
    from scipy.linalg import cholesky, hankel, solve_triangular, toeplitz

    r = len(coefficients)
    mu = moments[0]
    gram = (toeplitz(mu[:r]) + hankel(mu[:r], mu[r - 1 :])) / 2
    nu = moments[1, :r] if len(moments) == 2 else moments[1, :r] + 1j * moments[2, :r]
    try:
        factor = cholesky(gram)
    except np.linalg.LinAlgError:
        return None
    pivots = np.diag(factor)
    if not pivots.min() > _SMALLEST_PIVOT * pivots.max():
        return None
    right = solve_triangular(factor, nu, trans="C")
    return SmallSystem(factor, coefficients, right, ridge, lost, "moments")


def from_triangle(triangle: Array, coefficients: Array, ridge: float, lost: float) -> SmallSystem:
    """The system from the triangular factor of all members, right side last."""
    return SmallSystem(triangle[:-1, :-1], coefficients, triangle[:-1, -1], ridge, lost, "tsqr")
