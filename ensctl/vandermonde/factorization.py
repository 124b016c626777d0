"""Rank-revealing factorisation of diag(b)·Vandermonde by Gaussian elimination on Cauchy form.

Every Schur complement of a scaled Cauchy matrix is again a scaled Cauchy matrix, so complete
elimination needs products, quotients and differences of given numbers only, and every entry of
the factors has a small relative error whatever the condition number is (J. Demmel, SIAM J. Matrix
Anal. Appl. 21 (1999) 562–580).  Two vectors of generators are updated instead of a matrix, which
makes rook pivoting O(N + H) a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.doubledouble import normalised
from ensctl.vandermonde.grid import CauchyGenerators, cauchy_generators

Array = NDArray[Any]

# Smaller entries of L and U become zero: their products would be subnormal, which is slow.
FLUSH = 1e-150
# Numbers whose parts are 0 or at least this large have differences that are 0 or normal.
_TINY = 1e-270
# Rook pivoting stops after very few exchanges; the cap only guards against ties in rounding.
_MAX_EXCHANGES = 64


@dataclass(frozen=True)
class Factorization:
    """A F = P_r^T L D U P_c with unit triangular L, U of entries ≤ 1 in modulus (rook pivots).

    Attributes
    ----------
    left : (N, r) complex128
        L, unit lower trapezoidal, rows in pivot order.
    pivots, pivot_exponents : (r,) complex128, (r,) int64
        D = pivots · 2^pivot_exponents.
    right : (r, H) complex128
        U, unit upper trapezoidal, columns in pivot order.
    row_order, column_order : (N,), (H,) int
        Row i of ``left`` belongs to node row_order[i]; column j of ``right`` to grid point
        column_order[j].
    shift : float
        θ of the grid y_j = exp(2πi (j + θ)/H); F_mj = y_j^{-m}/√H.
    """

    left: Array
    pivots: Array
    pivot_exponents: Array
    right: Array
    row_order: Array
    column_order: Array
    shift: float


def factorize(lam: Array, b: Array, horizon: int) -> Factorization:
    """Factor A_ij = b_i λ_i^j (N × H, j = 0 … H−1) as (L D U) F* with tiny entrywise errors.

    Parameters
    ----------
    lam : (N,) float64 or complex128
        Pairwise distinct nodes, taken as exact.
    b : (N,) float64 or complex128
        Non-zero row scalings, taken as exact.
    horizon : int
        Number of columns H ≥ 1; smaller than, equal to or larger than N.

    Returns
    -------
    Factorization
        Rank r = min(N, H) factors.

    Notes
    -----
    Relative error of every entry of L, D and U: at most about 12 k ε in column k of L, for entries
    above 1e-150; smaller ones are zero.
    Cost O(r (N + H)) operations, memory O(r (N + H)).

    Source: J. Demmel, SIAM J. Matrix Anal. Appl. 21 (1999) 562–580.
    """
    return _eliminate(cauchy_generators(lam, b, horizon))


def _eliminate(start: CauchyGenerators) -> Factorization:
    nodes = start.nodes.copy()
    y_hi, y_lo = start.grid_hi.copy(), start.grid_lo.copy()
    alpha, alpha_exp = start.alpha.copy(), start.alpha_exponent.copy()
    beta, beta_exp = start.beta.copy(), start.beta_exponent.copy()
    rows, columns = np.arange(nodes.size), np.arange(y_hi.size)
    rank = min(nodes.size, y_hi.size)
    left = np.zeros((nodes.size, rank), dtype=complex)
    right = np.zeros((rank, y_hi.size), dtype=complex)
    pivots = np.zeros(rank, dtype=complex)
    pivot_exp = np.zeros(rank, dtype=np.int64)
    extreme = _has_tiny_parts(nodes)

    for k in range(rank):
        p, q = _rook_pivot(nodes, y_hi, y_lo, alpha, alpha_exp, beta, beta_exp, k)
        for array in (nodes, alpha, alpha_exp, rows):
            array[k], array[p] = array[p], array[k]
        for array in (y_hi, y_lo, beta, beta_exp, columns):
            array[k], array[q] = array[q], array[k]
        if p != k:
            left[[k, p], :k] = left[[p, k], :k]
        if q != k:
            right[:k, [k, q]] = right[:k, [q, k]]

        to_column = (nodes[k:] - y_hi[k]) - y_lo[k]
        to_row = (nodes[k] - y_hi[k:]) - y_lo[k:]
        here = to_column[0]
        pivots[k], extra = normalised(alpha[k] * beta[k] / here)
        pivot_exp[k] = alpha_exp[k] + beta_exp[k] + extra
        left[k:, k] = _ratio(alpha[k:], alpha_exp[k:], here / to_column)
        right[k, k:] = _ratio(beta[k:], beta_exp[k:], here / to_row)

        step = nodes[k + 1 :] - nodes[k]
        if extreme:
            step, step_exp = normalised(step)
            alpha_exp[k + 1 :] += step_exp
        _update(alpha[k + 1 :], alpha_exp[k + 1 :], step / to_column[1:])
        step = (y_hi[k] - y_hi[k + 1 :]) + (y_lo[k] - y_lo[k + 1 :])
        _update(beta[k + 1 :], beta_exp[k + 1 :], step / to_row[1:])

    return Factorization(left, pivots, pivot_exp, right, rows, columns, start.shift)


def _rook_pivot(
    nodes: Array,
    y_hi: Array,
    y_lo: Array,
    alpha: Array,
    alpha_exp: Array,
    beta: Array,
    beta_exp: Array,
    k: int,
) -> tuple[int, int]:
    """Row and column (≥ k) of an entry that is the largest of its row and of its column."""
    row_weight = _relative_size(alpha[k:], alpha_exp[k:])
    column_weight = _relative_size(beta[k:], beta_exp[k:])
    p, q = k + int(np.argmax(row_weight)), -1
    for _ in range(_MAX_EXCHANGES):
        in_row = column_weight / np.abs((nodes[p] - y_hi[k:]) - y_lo[k:])
        best = k + int(np.argmax(in_row))
        if best == q:
            break
        q = best
        in_column = row_weight / np.abs((nodes[k:] - y_hi[q]) - y_lo[q])
        best = k + int(np.argmax(in_column))
        if best == p:
            break
        p = best
    return p, q


def _relative_size(mantissa: Array, exponent: Array) -> Array:
    return np.ldexp(np.abs(mantissa), np.maximum(exponent - exponent.max(), -2000))


def _ratio(mantissa: Array, exponent: Array, factor: Array) -> Array:
    """mantissa_i 2^exponent_i / (mantissa_0 2^exponent_0) · factor_i, tiny entries flushed."""
    value = (mantissa / mantissa[0]) * factor
    value *= np.ldexp(1.0, np.maximum(exponent - exponent[0], -1100))
    value[np.abs(value) < FLUSH] = 0.0
    value[0] = 1.0
    return value


def _update(mantissa: Array, exponent: Array, factor: Array) -> None:
    """Multiply generators in place by ``factor`` and bring mantissas back to [1/2, 1)."""
    mantissa *= factor
    shift = np.frexp(np.abs(mantissa))[1]
    mantissa *= np.ldexp(1.0, -shift)
    exponent += shift


def _has_tiny_parts(nodes: Array) -> bool:
    """Whether differences of nodes can be subnormal, so that they need their own exponent."""
    parts = np.abs(np.concatenate([nodes.real, nodes.imag]))
    return bool(np.any((parts > 0) & (parts < _TINY)))
