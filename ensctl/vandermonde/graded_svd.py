"""Singular values of X·D·Y with well-conditioned X, Y and a diagonal D of any grading.

The singular values of a product of a well-conditioned factor, a diagonal and another
well-conditioned factor are determined to high relative accuracy by the factors (Demmel, Gu,
Eisenstat, Slapničar, Veselić, Drmač, Linear Algebra Appl. 299 (1999) 21–80).  Two QR
factorisations bring the product to R·D with a triangular well-conditioned R; one-sided Jacobi
then keeps the relative accuracy, on windows of the exponent range so that neither overflow nor
the size of the whole matrix matters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.doubledouble import normalised

Array = NDArray[Any]

# Members this many bits outside a window change the values inside it by 2^-56 relative.
_MARGIN_BITS = 28
# Below this order one Jacobi call costs less than thinking about windows.
_SINGLE_WINDOW = 24
# Large matrices are tried with bidiagonalisation, whose error ε·σ_max is relative when σ_max/σ_min
# is this small; Jacobi sweeps cost ten times as much there.
_DENSE_ORDER = 64
_FLAT = 32.0
# A Jacobi call must not leave the float64 range (with room for squares of column norms).
_MAX_SPAN_BITS = 400


@dataclass(frozen=True)
class ScaledValues:
    """Positive numbers mantissa · 2^exponent in descending order, of any magnitude."""

    mantissa: Array
    exponent: Array

    @property
    def log10(self) -> Array:
        """log10 of the values."""
        return np.log10(self.mantissa) + self.exponent * math.log10(2.0)

    @property
    def values(self) -> Array:
        """As float64: 0 or inf where the magnitude leaves the float64 range."""
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(self.mantissa, np.clip(self.exponent, -3000, 3000))


@dataclass(frozen=True)
class GradedProduct:
    """X·D·Y reduced to triangular factors: X = Q_x R_x, Y* = Q_y R_y, D in descending order.

    Attributes
    ----------
    left, right : (r, r) complex128 or float64
        R_x and R_y, upper triangular, well conditioned.
    diagonal, exponents : (r,) float64, (r,) int64
        |D| = diagonal · 2^exponents, descending.
    condition : float
        Upper bound of max(κ2(X), κ2(Y)).
    """

    left: Array
    right: Array
    diagonal: Array
    exponents: Array
    condition: float


def reduce_product(left: Array, pivots: Array, exponents: Array, right: Array) -> GradedProduct:
    """Sort D by size, absorb its phases into Y and take the triangular factors of X and Y*."""
    modulus, extra = normalised(np.abs(pivots))
    exponent = exponents + extra
    order = np.lexsort((-modulus, -exponent))
    phase = (pivots / np.abs(pivots))[order]
    r_left = triangular_factor(left[:, order])
    r_right = triangular_factor((phase[:, None] * right[order]).conj().T)
    condition = max(condition_bound(r_left), condition_bound(r_right))
    return GradedProduct(r_left, r_right, modulus[order], exponent[order], condition)


def singular_values_of_product(product: GradedProduct) -> ScaledValues:
    """All singular values of X·D·Y, relative error ≲ ε·poly(r)·max(κ(X), κ(Y)), no overflow.

    Cost: two QR factorisations of order r and Σ window³ for the Jacobi sweeps.

    Source: Demmel et al., Linear Algebra Appl. 299 (1999) 21–80, Algorithm 3.1.
    """
    graded = _graded(product.left, product.diagonal, product.exponents)
    # X D Y = D W with W = (D^-1 R_x D) R_y^*, and W^* = Q R gives σ(X D Y) = σ(R D).
    core = triangular_factor((graded @ product.right.conj().T).conj().T)
    margin = _MARGIN_BITS + math.ceil(math.log2(max(product.condition, 1.0)))
    mantissas, exponents = [], []
    for window in _windows(product.exponents, margin):
        outer, inner = window
        top = int(product.exponents[outer.start])
        scale = np.ldexp(product.diagonal[outer], product.exponents[outer] - top)
        values = jacobi_singular_values(core[outer, outer] * scale)
        mantissa, exponent = np.frexp(values[inner.start - outer.start : inner.stop - outer.start])
        mantissas.append(mantissa)
        exponents.append(exponent.astype(np.int64) + top)
    mantissa, exponent = np.concatenate(mantissas), np.concatenate(exponents)
    order = np.lexsort((-mantissa, -exponent))
    return ScaledValues(mantissa[order], exponent[order])


def jacobi_singular_values(matrix: Array) -> Array:
    """Singular values (descending) of a square matrix by LAPACK's preconditioned Jacobi method.

    A complex matrix goes through its real embedding [[Re, −Im], [Im, Re]], in which every
    singular value appears twice.  Relative error ≲ ε·κ of the matrix with its columns scaled to
    unit norm.  Large matrices with σ_max ≤ 32 σ_min are finished by bidiagonalisation.

    Source: Z. Drmač and K. Veselić, SIAM J. Matrix Anal. Appl. 29 (2008) 1322–1362 (LAPACK dgejsv).
    """
    from scipy.linalg.lapack import dgejsv

    if matrix.shape == (1, 1):
        return np.abs(matrix[0])
    if matrix.shape[0] > _DENSE_ORDER:
        values = np.linalg.svd(matrix, compute_uv=False)
        if values[0] <= _FLAT * values[-1]:
            return values
    doubled = np.iscomplexobj(matrix)
    if doubled:
        matrix = np.block([[matrix.real, -matrix.imag], [matrix.imag, matrix.real]])
    # joba=1: the default (4) sets small singular values to zero without saying so.
    sva, _, _, work, _, info = dgejsv(
        matrix, joba=1, jobu=3, jobv=3, jobr=0, jobt=0, jobp=0, overwrite_a=True
    )
    if info != 0:
        raise ArithmeticError(f"Jacobi singular value iteration did not converge (info = {info})")
    values = np.sort(sva * (work[0] / work[1]))[::-1]
    return 0.5 * (values[0::2] + values[1::2]) if doubled else values


def triangular_factor(matrix: Array) -> Array:
    """R of the QR factorisation of a tall matrix."""
    return np.asarray(np.linalg.qr(matrix, mode="r"))


def condition_bound(triangular: Array) -> float:
    """Upper bound of κ2 of a triangular matrix: √(‖R‖_1‖R‖_∞‖R^-1‖_1‖R^-1‖_∞)."""
    from scipy.linalg.lapack import dtrtri, ztrtri

    invert = ztrtri if np.iscomplexobj(triangular) else dtrtri
    inverse, info = invert(triangular)
    if info != 0:
        return math.inf
    return math.sqrt(
        float(
            np.linalg.norm(triangular, 1)
            * np.linalg.norm(triangular, np.inf)
            * np.linalg.norm(inverse, 1)
            * np.linalg.norm(inverse, np.inf)
        )
    )


def _graded(triangular: Array, diagonal: Array, exponents: Array) -> Array:
    """D^-1 R D for upper triangular R and descending D: entries r_ij d_j/d_i, no overflow."""
    ratio = np.ldexp(
        diagonal[None, :] / diagonal[:, None],
        np.clip(exponents[None, :] - exponents[:, None], -2000, 0),
    )
    return np.triu(triangular * ratio)


def _windows(exponents: Array, margin: int) -> list[tuple[slice, slice]]:
    """Cover the descending exponents by (outer, inner) slices with ``margin`` bits around."""
    count = exponents.size
    span = int(exponents[0] - exponents[-1])
    if span <= _MAX_SPAN_BITS and (count <= _SINGLE_WINDOW or span <= 4 * margin):
        return [(slice(0, count), slice(0, count))]
    depth = exponents[0] - exponents
    windows = []
    start = 0
    while start < count:
        stop = int(np.searchsorted(depth, depth[start] + 2 * margin, side="right"))
        outer_start = int(np.searchsorted(depth, depth[start] - margin, side="left"))
        outer_stop = int(np.searchsorted(depth, depth[stop - 1] + margin, side="right"))
        windows.append((slice(outer_start, outer_stop), slice(start, stop)))
        start = stop
    return windows
