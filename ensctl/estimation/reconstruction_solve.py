"""Least squares for the initial state: the accurate kernel for one output, QR for all else.

For one output without gaps V_{ti} = c_i λ_i^t is the transpose of A = diag(c)·Vandermonde, whose
factors A F = P_r^T L D U P_c have small entrywise errors (:mod:`ensctl.vandermonde.factorization`):

    x = P_r^T L^{-T} D^{-1} (U^T)⁺ P_c F^T z,

with well-conditioned U and L, so that the condition number of V, which sits in D, does no harm
beyond what it does to the rounding errors of z themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import NotIdentifiableError, PrecisionError
from ensctl.vandermonde.factorization import factorize

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Minimiser of ‖V x − z‖ and a root of (V* V)^{-1}.

    Attributes
    ----------
    solution : (N,)
        x.
    root : (N, N)
        K with K K* = (V* V)^{-1}.
    """

    solution: Array
    root: Array


def solve_vandermonde(lam: Array, weights: Array, outputs: Array) -> LeastSquares:
    """x for one output without gaps: distinct λ, weights ≠ 0, T ≥ N."""
    from scipy.linalg import solve_triangular

    samples = outputs.size
    factors = factorize(lam, weights, samples)
    turns = np.exp(-2j * np.pi * factors.shift * np.arange(samples) / samples)
    on_grid = np.fft.fft(outputs * turns) / math.sqrt(samples)
    orthogonal, triangle = np.linalg.qr(factors.right.T)
    inner = orthogonal.conj().T @ on_grid[factors.column_order]
    everything = np.column_stack([inner, np.eye(lam.size, dtype=complex)])
    solved = solve_triangular(triangle, everything)
    scaled = np.ldexp(1.0, -factors.pivot_exponents)[:, None] * solved
    scaled = scaled / factors.pivots[:, None]
    if not np.all(np.isfinite(scaled)):
        raise PrecisionError(
            "error bars of the initial state leave the float64 range; the outputs tell nothing "
            "about some combinations of members: take fewer members (ens.compress)"
        )
    ordered = solve_triangular(factors.left.T, scaled, unit_diagonal=True)
    restored = np.empty_like(ordered)
    restored[factors.row_order] = ordered
    if not (np.iscomplexobj(lam) or np.iscomplexobj(weights) or np.iscomplexobj(outputs)):
        # (V* V)^{-1} is real; its complex root only has to have the same rows in length and angle.
        return LeastSquares(restored[:, 0].real, _real_root(restored[:, 1:]))
    return LeastSquares(restored[:, 0], restored[:, 1:])


def solve_dense(matrix: Array, outputs: Array) -> LeastSquares:
    """x for any V, (rows, N), by QR with scaled columns.

    Raises
    ------
    NotIdentifiableError
        The rows that are left do not determine x within float64.
    """
    from scipy.linalg import solve_triangular

    sizes = np.linalg.norm(matrix, axis=0)
    scaled = matrix / np.where(sizes > 0.0, sizes, 1.0)
    orthogonal, triangle = np.linalg.qr(scaled)
    values, vectors = np.linalg.svd(triangle)[1:]
    if not values[-1] > 4.0 * matrix.shape[1] * _EPS * values[0]:
        shares = np.abs(vectors[-1]) / np.where(sizes > 0.0, sizes, 1.0)
        blamed = np.flatnonzero(shares > 0.1 * shares.max())[:6]
        raise NotIdentifiableError(
            f"the samples that are there do not tell the initial states of members "
            f"{', '.join(str(i) for i in blamed)} apart (condition number above 1e15); measure "
            f"longer, fill gaps, or estimate with a prior: AggregateEstimator"
        )
    everything = np.column_stack([orthogonal.conj().T @ outputs, np.eye(matrix.shape[1])])
    solved = solve_triangular(triangle, everything) / sizes[:, None]
    return LeastSquares(solved[:, 0], solved[:, 1:])


def _real_root(root: Array) -> Array:
    """A real K with the same K K* as a complex one, when that product is real."""
    stacked = np.concatenate([root.real, root.imag], axis=1)
    triangle = np.asarray(np.linalg.qr(stacked.T, mode="r"))
    return triangle.T
