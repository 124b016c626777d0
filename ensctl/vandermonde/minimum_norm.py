"""Minimum-norm solutions of A u = d from the rank-revealing factors, with an error bound.

With A F = P_r^T L D U P_c (see :mod:`ensctl.vandermonde.factorization`) and N ≤ H,

    u = F P_c^T U⁺ D^{-1} L^{-1} P_r d,     min ‖u‖² = ‖U⁺ D^{-1} L^{-1} P_r d‖².

The error is small for generic d.  For easy targets (d close to the image of small inputs) digits
cancel in L^{-1} d; the a-posteriori bound of every solution says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.factorization import FLUSH, Factorization
from ensctl.vandermonde.graded_svd import triangular_factor

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class MinimumNorm:
    """Minimum-norm solutions, one per column of the right-hand side, of any magnitude.

    Attributes
    ----------
    coefficients : (H, k) complex128
        Solutions u divided by 2^exponents; row m multiplies λ^m.
    exponents : (k,) int64
        Binary exponent of each solution.
    norm : (k,) float64
        ‖coefficients‖ of each column, so that ‖u‖ = norm · 2^exponent.
    relative_error_bound : (k,) float64
        Bound of the relative error of ‖u‖ (and of u in norm); inf where nothing is certain.
    """

    coefficients: Array
    exponents: Array
    norm: Array
    relative_error_bound: Array

    @property
    def log10_norm_squared(self) -> Array:
        """log10 ‖u‖², (k,); −inf for a zero solution."""
        with np.errstate(divide="ignore"):
            return 2.0 * (np.log10(self.norm) + self.exponents * math.log10(2.0))


def minimum_norm(factors: Factorization, targets: Array) -> MinimumNorm:
    """Minimum-norm u with A u = d for every column d of ``targets``.

    Parameters
    ----------
    factors : Factorization
        Of an A with N ≤ H rows (rank N).
    targets : (N, k) float64 or complex128
        Right-hand sides, taken as exact.

    Returns
    -------
    MinimumNorm

    Notes
    -----
    Bound: 4 (8 + N) ε (‖U⁺‖ ‖|D^{-1}||L^{-1}| M |L^{-1}||d|‖/‖A⁺ d‖ + ‖U⁺‖ ‖U‖) with M = |L| plus
    what was flushed to zero in L over ε: the errors of the entries of L and of its inverse, to
    first order.  O(N² (H + k)) operations.
    """
    inverse = _unit_lower_inverse(factors.left)
    ordered = np.asarray(targets)[factors.row_order]
    solved = inverse @ ordered
    size = np.abs(inverse)
    uncertain = np.abs(factors.left) + np.tri(inverse.shape[0], k=-1) * (FLUSH / _EPS)
    magnitude = size @ (uncertain @ (size @ np.abs(ordered)))
    scaled, exponents = _divide_by_pivots(factors, solved, magnitude)
    q_right, r_right = np.linalg.qr(factors.right.conj().T)
    inner = _conjugate_solve(r_right, scaled.solution)
    norm = np.linalg.norm(inner, axis=0)
    smallest = _smallest_singular_value(r_right)
    growth = np.linalg.norm(scaled.magnitude, axis=0) / smallest
    with np.errstate(divide="ignore", invalid="ignore"):
        total = growth / norm + np.linalg.norm(r_right) / smallest
        bound = 4.0 * (8 + solved.shape[0]) * _EPS * total
    bound = np.where(magnitude.any(axis=0), bound, 0.0)
    bound[~(bound < 1.0) & magnitude.any(axis=0)] = math.inf
    return MinimumNorm(_to_time(factors, q_right @ inner), exponents, norm, bound)


def worst_target(
    left: Array, pivots: Array, exponents: Array, row_order: Array, right: Array | None = None
) -> Array:
    """The unit vector d that costs most: left singular vector of σ_min of P^T L D U.

    The scaled inverse (L D U)⁺ 2^e is dominated by its largest singular value, so an ordinary SVD
    finds the vector although κ may exceed every float64 number.

    Parameters
    ----------
    left : (N, N)
        Unit lower triangular L.
    pivots, exponents : (N,), (N,) int
        D = pivots · 2^exponents.
    row_order : (N,) int
        Row i of L belongs to entry row_order[i] of d.
    right : (N, H), optional
        U; the identity when it is not given.

    Returns
    -------
    (N,) float64 or complex128
        d with ‖d‖ = 1 and its largest entry real and positive; real when the data are real to
        rounding.
    """
    own_exp = exponents + np.frexp(np.abs(pivots))[1]
    scale = np.ldexp(1.0, np.clip(own_exp.min() - exponents, -1100, 1000)) / pivots
    scaled = scale[:, None] * _unit_lower_inverse(left)
    if right is not None:
        scaled = _conjugate_solve(triangular_factor(right.conj().T), scaled)
    target = np.empty(left.shape[0], dtype=complex)
    target[row_order] = np.linalg.svd(scaled)[2][0].conj()
    lead = target[np.argmax(np.abs(target))]
    target = target * (np.conj(lead) / np.abs(lead))
    negligible = np.all(np.abs(target.imag) <= 64 * _EPS * left.shape[0])
    return np.asarray(target.real if negligible else target)


@dataclass(frozen=True)
class _Scaled:
    solution: Array
    magnitude: Array


def _divide_by_pivots(
    factors: Factorization, solved: Array, magnitude: Array
) -> tuple[_Scaled, Array]:
    """D^{-1} z with one power of two taken out of each column, chosen from the magnitudes."""
    size, size_exp = np.frexp(magnitude)
    column_exp = np.where(size > 0, size_exp - factors.pivot_exponents[:, None], -(2**40))
    exponents = column_exp.max(axis=0).astype(np.int64)
    exponents[~magnitude.any(axis=0)] = 0
    shift = -factors.pivot_exponents[:, None] - exponents[None, :]
    # A zero may stand where the shift is beyond any float64 number; it stays zero.
    shift = np.where(size > 0, np.clip(shift, -2100, 2100), 0)
    # Two half steps: one power alone may leave the float64 range before the entry is multiplied.
    half = shift // 2
    solution = solved * np.ldexp(1.0, half) * np.ldexp(1.0, shift - half)
    bound = magnitude * np.ldexp(1.0, half) * np.ldexp(1.0, shift - half)
    pivots = factors.pivots[:, None]
    return _Scaled(solution / pivots, bound / np.abs(pivots)), exponents


def _unit_lower_inverse(left: Array) -> Array:
    from scipy.linalg.lapack import dtrtri, ztrtri

    invert = ztrtri if np.iscomplexobj(left) else dtrtri
    return np.asarray(invert(left, lower=1, unitdiag=1)[0])


def _conjugate_solve(triangular: Array, rhs: Array) -> Array:
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(triangular, rhs, trans="C"))


def _smallest_singular_value(triangular: Array) -> float:
    return float(np.linalg.svd(triangular, compute_uv=False)[-1])


def _to_time(factors: Factorization, grid_values: Array) -> Array:
    """F P_c^T v: from values on the grid to coefficients of λ^m, by an FFT."""
    natural = np.empty_like(grid_values)
    natural[factors.column_order] = grid_values
    horizon = natural.shape[0]
    turns = np.exp(-2j * np.pi * factors.shift * np.arange(horizon) / horizon)
    transformed = np.fft.fft(natural, axis=0) * (turns / math.sqrt(horizon))[:, None]
    return np.asarray(transformed)
