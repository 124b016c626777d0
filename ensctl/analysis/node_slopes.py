"""Singular values of diag(b)·Vandermonde with their derivatives with respect to nodes and gains.

For a singular triple A v = σ u of A_ij = b_i λ_i^j,

    d log σ = Re Σ_i s_i dλ_i + Σ_i |u_i|² d log|b_i|,   s_i = ū_i b_i p'(λ_i)/σ,

where p is the polynomial with coefficients v.  Large σ are taken from A itself.  Small ones are
large singular values of the inverse, whose entries on a circle are products of differences:
column j holds the values of the Lagrange polynomial ℓ_j at roots of unity ω, so that nothing is
lost however large κ is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.infinite import one_minus_product

Array = NDArray[Any]

# Up to this condition number an ordinary SVD gives every σ and every derivative to six digits.
_PLAIN = 1e7
# Squares of larger entries are not numbers.
_LARGEST = 1e150
# Below this |λ|, 1 − |λ|² loses at most two digits.
_WELL_INSIDE = 0.99
# Polynomials that vanish at all nodes are projected out as columns, one for each further step; for
# longer horizons only the ordinary SVD is affordable.
_LONGEST = 400


@dataclass(frozen=True, eq=False)
class Slopes:
    """log σ in descending order, and the derivatives of each.

    Attributes
    ----------
    log_sigma : (N,) float64
        Natural logarithms of the singular values.
    by_node : (N, N) float64 or complex128
        by_node[k, i] = s_i of σ_k: d log σ_k = Re Σ_i s_i dλ_i.
    by_gain : (N, N) float64
        by_gain[k, i] = ∂ log σ_k/∂ log|b_i|.
    """

    log_sigma: Array
    by_node: Array
    by_gain: Array


def spectrum_slopes(lam: Array, b: Array, horizon: int | float) -> Slopes:
    """Singular values of A (N × H, H ≥ N, distinct λ, b ≠ 0) and their derivatives.

    Parameters
    ----------
    lam : (N,) float64 or complex128
        Nodes; inside the unit circle when the horizon is infinite.
    b : (N,) float64 or complex128
        Gains.
    horizon : int or math.inf
        Number of columns H, N ≤ H.

    Returns
    -------
    Slopes

    Notes
    -----
    O(N² H) where κ ≤ 1e7 or H > 400 (then σ is known to κ ε only), else O(N H²).  Each σ_k has a
    relative error of about √κ ε at worst, the smallest and the largest a few N ε (times what the
    shortest interpolant is shorter by than the Lagrange polynomials where H > N).
    """
    if horizon == math.inf:
        return _infinite(lam, b)
    plain = _of_matrix(lam, b, int(horizon))
    spread = float(plain.log_sigma[0] - plain.log_sigma[-1])
    if spread <= math.log(_PLAIN) or horizon > _LONGEST:
        return plain
    return _stitched(plain, _of_inverse(lam, b, int(horizon)))


def _of_matrix(lam: Array, b: Array, horizon: int) -> Slopes:
    powers = np.vander(lam, horizon, increasing=True)
    left, sigma, right = _svd(b[:, None] * powers)
    sigma = np.maximum(sigma, 1e-300)
    derivative = np.zeros_like(powers)
    derivative[:, 1:] = powers[:, :-1] * np.arange(1, horizon)
    moved = (b[:, None] * derivative) @ right.conj().T
    return Slopes(np.log(sigma), (left.conj() * moved / sigma).T, (np.abs(left) ** 2).T)


def _svd(matrix: Array) -> tuple[Array, Array, Array]:
    # LAPACK may not return from a matrix with entries that are not finite.
    if not np.all(np.abs(matrix) < _LARGEST):
        raise np.linalg.LinAlgError("a power of a node overflows")
    left, sigma, right = np.linalg.svd(matrix, full_matrices=False)
    return left, sigma, right


def _of_inverse(lam: Array, b: Array, horizon: int) -> Slopes:
    """The same from P·[ℓ_j(ω_k)/b_j], P the projection off the polynomials that vanish at all λ.

    With y, c the singular vectors of that matrix for S = 1/σ,

        s_i = Σ_{j≠i} (|c_i|² + |c_j|²)/(λ_i − λ_j) + Σ_k ȳ_k (y_k − M_ki c_i/S)/(ω_k − λ_i).
    """
    circle = _circle_points(lam, horizon)
    gaps = circle[:, None] - lam[None, :]
    between = lam[:, None] - lam[None, :]
    np.fill_diagonal(between, 1.0)
    log_weight = -np.sum(np.log(np.abs(between)), axis=1) - np.log(np.abs(b))
    log_gaps = np.log(np.abs(gaps))
    nodal = np.sum(log_gaps, axis=1)
    phase = np.prod(gaps / np.abs(gaps), axis=1)
    # Unit phases of the columns change neither singular values nor derivatives.
    logs = nodal[:, None] - log_gaps + log_weight - 0.5 * math.log(circle.size)
    top = float(logs.max())
    inverse = np.exp(logs - top) * phase[:, None] * np.abs(gaps) / gaps
    turn = between / np.abs(between)
    inverse = inverse / np.prod(turn, axis=1)
    projected = inverse
    extra = horizon - lam.size
    if extra > 0:
        vanishing = (np.exp(nodal - nodal.max()) * phase)[:, None] * np.vander(
            circle, extra, increasing=True
        )
        if not np.all(np.isfinite(vanishing)):
            raise np.linalg.LinAlgError("a product of differences of nodes overflows")
        basis = np.linalg.qr(vanishing)[0]
        for _ in range(2):
            projected = projected - basis @ (basis.conj().T @ projected)
    outer, size, inner = _svd(projected)
    size = np.maximum(size, 1e-300)
    weights = np.abs(inner) ** 2
    pull = 1.0 / between
    np.fill_diagonal(pull, 0.0)
    field = weights * np.sum(pull, axis=1) + weights @ pull.T
    near = 1.0 / gaps
    share = (outer.conj().T @ (inverse * near)) * inner.conj() / size[:, None]
    field = field + (np.abs(outer) ** 2).T @ near - share
    if not np.iscomplexobj(lam):
        field = field.real
    order = slice(None, None, -1)
    return Slopes(-(np.log(size) + top)[order], field[order], weights[order])


def _circle_points(lam: Array, horizon: int) -> Array:
    """Equispaced points of the unit circle, as far as can be from nodes on it."""
    count = horizon + horizon % 2
    turns = np.sort(np.mod(count * np.angle(lam) / (2.0 * np.pi), 1.0))
    gap = np.diff(np.append(turns, turns[0] + 1.0))
    widest = int(np.argmax(gap))
    shift = turns[widest] + 0.5 * gap[widest]
    return np.asarray(np.exp(2j * np.pi * (np.arange(count) + shift) / count))


def _stitched(large: Slopes, small: Slopes) -> Slopes:
    """Large σ from the matrix, small ones from the inverse; they meet in the middle."""
    middle = 0.5 * (large.log_sigma[0] + small.log_sigma[-1])
    head = int(np.count_nonzero(small.log_sigma > middle))
    return Slopes(
        *(
            np.concatenate([getattr(large, name)[:head], getattr(small, name)[head:]])
            for name in ("log_sigma", "by_node", "by_gain")
        )
    )


def _infinite(lam: Array, b: Array) -> Slopes:
    """H = ∞: eigenvalues of the Gramian W and of its inverse, both known by their entries.

    W_ij = b_i b̄_j/(1 − λ_i λ̄_j);  (W^{-1})_ij = d_i d_j/[(1 − λ̄_i λ_j) conj(B_i b_i) B_j b_j] with
    d_i = 1 − |λ_i|² and B_i = Π_{k≠i} (λ_i − λ_k)/(1 − λ̄_k λ_i).
    """
    kernel = _kernel(lam)
    size = np.abs(b)
    gramian = size[:, None] * size[None, :] / kernel
    values, vectors = np.linalg.eigh(gramian)
    moved = gramian / kernel * lam.conj()[None, :]
    slopes = (vectors.conj() * (moved @ vectors) / np.maximum(values, 1e-300)).T
    order = slice(None, None, -1)
    plain = Slopes(
        0.5 * np.log(np.maximum(values, 1e-300))[order],
        slopes[order],
        (np.abs(vectors) ** 2).T[order],
    )
    if plain.log_sigma[0] - plain.log_sigma[-1] <= 0.5 * math.log(_PLAIN):
        return plain
    return _stitched(plain, _infinite_inverse(lam, size, kernel))


def _kernel(lam: Array) -> Array:
    """1 − λ_i λ̄_j; the plain product has digits to spare away from the unit circle."""
    if float(np.max(np.abs(lam))) < _WELL_INSIDE:
        return 1.0 - np.outer(lam, lam.conj())
    return one_minus_product(lam[:, None], lam[None, :])


def _infinite_inverse(lam: Array, size: Array, kernel: Array) -> Slopes:
    between = lam[:, None] - lam[None, :]
    np.fill_diagonal(between, 1.0)
    own = np.diag(kernel).real
    off = kernel.copy()
    np.fill_diagonal(off, 1.0)
    # Row i of ``off`` holds 1 − λ_i λ̄_k.
    log_blaschke = np.sum(np.log(np.abs(between)) - np.log(np.abs(off)), axis=1)
    turn = (between / np.abs(between)) / (off / np.abs(off))
    weight = np.prod(turn, axis=1).conj()
    logs = np.log(own) - log_blaschke - np.log(size)
    top = 2.0 * float(logs.max())
    scaled = np.exp(logs - 0.5 * top) * weight
    inverse = scaled.conj()[:, None] * scaled[None, :] / kernel.conj()
    values, vectors = np.linalg.eigh(0.5 * (inverse + inverse.conj().T))
    weights = (np.abs(vectors) ** 2).T
    pull = 1.0 / between
    np.fill_diagonal(pull, 0.0)
    # d log S/dλ_i, S = c* W^{-1} c: of d, of the kernel, and of B at both of its places.
    by_own = -2.0 * weights * (lam.conj() / own)
    mixed = inverse * lam.conj()[:, None] / kernel.conj()
    by_kernel = (vectors * (mixed.T @ vectors.conj())).T / np.maximum(values, 1e-300)[:, None]
    reach = lam.conj()[None, :] / off
    np.fill_diagonal(reach, 0.0)
    by_gap = weights * np.sum(pull, axis=1) + weights @ pull.T
    by_reach = weights * np.sum(reach, axis=1) + weights @ reach.T
    total = by_own + by_kernel - by_gap - by_reach
    # d S/S above counts Re of twice the sum; σ² = 1/S halves it again.
    return Slopes(-0.5 * (np.log(np.maximum(values, 1e-300)) + top), -total, weights)
