"""Energies at infinite horizon in closed form: products of pseudo-hyperbolic distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.infinite import one_minus_product

Array = NDArray[Any]


def log10_infinite_energies(lam: Array, b: Array) -> Array:
    """log10 of (W_∞^{-1})_ii: the energy that moves node i to 1 and leaves the others at 0.

    (W_∞^{-1})_ii = (1 − |λ_i|²)/(|b_i|² |B_i|²),  B_i = Π_{k≠i} (λ_i − λ_k)/(1 − λ̄_k λ_i).

    Parameters
    ----------
    lam : (N,) float64 or complex128
        Pairwise distinct nodes with |λ| < 1.
    b : (N,) float64 or complex128
        Non-zero gains.

    Returns
    -------
    (N,) float64
        Absolute error ≤ about N ε (10 N ε relative in the energy itself); O(N²).

    Source: inverse of a Cauchy matrix; N. Higham, Accuracy and Stability of Numerical Algorithms,
    2nd ed., SIAM 2002, section 28.1.
    """
    gaps = np.abs(lam[:, None] - lam[None, :])
    np.fill_diagonal(gaps, 1.0)
    kernel = np.abs(one_minus_product(lam[:, None], lam[None, :]))
    own = np.diag(kernel).copy()
    np.fill_diagonal(kernel, 1.0)
    log_blaschke = _log10_sum(gaps) - _log10_sum(kernel)
    return np.asarray(np.log10(own) - 2.0 * (np.log10(np.abs(b)) + log_blaschke))


def _log10_sum(factors: Array) -> Array:
    """log10 of the product of each row, from mantissas and exponents so that it stays sharp."""
    mantissa, exponent = np.frexp(factors)
    total = exponent.sum(axis=1).astype(np.int64)
    product = np.ones(factors.shape[0])
    for column in mantissa.T:
        product, shift = np.frexp(product * column)
        total += shift
    return np.asarray(np.log10(product) + total * math.log10(2.0))
