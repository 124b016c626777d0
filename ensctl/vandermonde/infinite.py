"""The factor at infinite horizon: Cholesky of the Gramian b_i b̄_j/(1 − λ_i λ̄_j) by products.

For |λ| < 1 the rows of diag(b)·[λ_i^m], m = 0, 1, …, have the Cauchy-like Gramian
W_ij = b_i b̄_j/(1 − λ_i λ̄_j).  Its Schur complements keep that form, so the pivoted Cholesky factor

    L_ik = a_i √(1 − |λ_k|²)/(1 − λ_i λ̄_k),   a_i ← a_i (λ_i − λ_k)/(1 − λ_i λ̄_k),   a = b at first,

needs products and quotients only and every entry has a small relative error (Boros, Kailath and
Olshevsky, Linear Algebra Appl. 343–344 (2002) 63–99, treat such displacement structures).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.doubledouble import add, normalised, two_product, two_sum

Array = NDArray[Any]


@dataclass(frozen=True)
class CholeskyFactor:
    """P W P^T = (X D)(X D)* with unit lower triangular X of entries ≤ 1 in modulus.

    Attributes
    ----------
    left : (N, N)
        X, rows in pivot order; real when λ and b are.
    pivots, pivot_exponents : (N,) float64, (N,) int64
        D = pivots · 2^pivot_exponents > 0.
    row_order : (N,) int
        Row i of ``left`` belongs to node row_order[i].
    """

    left: Array
    pivots: Array
    pivot_exponents: Array
    row_order: Array


def infinite_factor(lam: Array, b: Array) -> CholeskyFactor:
    """Pivoted Cholesky factor of the infinite-horizon Gramian, entrywise accurate.

    Parameters
    ----------
    lam : (N,) float64 or complex128
        Pairwise distinct nodes with |λ| < 1, taken as exact.
    b : (N,) float64 or complex128
        Non-zero row scalings, taken as exact.

    Returns
    -------
    CholeskyFactor
        Entrywise relative error at most about 10 k ε in column k; O(N²) operations.
    """
    nodes = np.array(lam)
    if np.iscomplexobj(b) and not np.iscomplexobj(nodes):
        nodes = nodes.astype(complex)
    weight, weight_exp = normalised(np.array(b, dtype=nodes.dtype))
    rows = np.arange(nodes.size)
    count = nodes.size
    left = np.zeros((count, count), dtype=nodes.dtype)
    pivots, pivot_exp = np.zeros(count), np.zeros(count, dtype=np.int64)
    deficiency = one_minus_product(nodes, nodes).real

    for k in range(count):
        size = 2.0 * np.log2(np.abs(weight[k:])) + 2.0 * weight_exp[k:] - np.log2(deficiency[k:])
        p = k + int(np.argmax(size))
        for array in (nodes, weight, weight_exp, rows, deficiency):
            array[k], array[p] = array[p], array[k]
        if p != k:
            left[[k, p], :k] = left[[p, k], :k]
        kernel = one_minus_product(nodes[k:], nodes[k])
        pivots[k], extra = normalised(np.abs(weight[k]) / np.sqrt(deficiency[k]))
        pivot_exp[k] = weight_exp[k] + extra
        shift = np.maximum(weight_exp[k:] - weight_exp[k], -1100)
        ratio = (weight[k:] / weight[k]) * (deficiency[k] / kernel)
        left[k:, k] = ratio * np.ldexp(1.0, shift)
        left[k, k] = 1.0
        step, step_exp = normalised(nodes[k + 1 :] - nodes[k])
        weight[k + 1 :], extra = normalised(weight[k + 1 :] * (step / kernel[1:]))
        weight_exp[k + 1 :] += step_exp + extra
    return CholeskyFactor(left, pivots, pivot_exp, rows)


def one_minus_product(x: Array, y: Array) -> Array:
    """1 − x ȳ entrywise with relative error of a few ε, also where x ȳ is close to 1.

    The products are split without error (Dekker) and summed in double-double.
    """
    x, y = np.broadcast_arrays(np.asarray(x), np.asarray(y))
    if not (np.iscomplexobj(x) or np.iscomplexobj(y)):
        product, error = two_product(-x, y)
        total, rest = two_sum(np.ones_like(product), product)
        return np.asarray(total + (rest + error))
    real = add(two_product(-x.real, y.real), two_product(-x.imag, y.imag))
    one = (np.ones(x.shape), np.zeros(x.shape))
    real = add(one, real)
    imag = add(two_product(-x.imag, y.real), two_product(x.real, y.imag))
    return np.asarray((real[0] + real[1]) + 1j * (imag[0] + imag[1]))
