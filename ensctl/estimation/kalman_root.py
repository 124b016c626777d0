"""The square-root form of the filter: P = S S* is kept as S, so it cannot lose definiteness.

S has N rows and at least N columns.  A scalar measurement with unit noise changes S by one outer
product (J. E. Potter; see P. S. Maybeck, Stochastic Models, Estimation and Control 1, 1979, §7.3);
process noise G G* appends the columns of G; a QR factorisation, which keeps the relative error of
every row small, brings S back to N columns when it has grown to twice that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Entries below this are set to zero: their squares would be subnormal, which is slow.
_FLUSH = 1e-150


def update_root(root: Array, weights: Array) -> tuple[Array, Array, float]:
    """Measure c x + v with E|v|² = 1.

    φ = S* c*, α = 1 + φ*φ, K = S φ/α, S ← S − K φ*/(1 + 1/√α).

    Parameters
    ----------
    root : (N, w)
        S before the measurement; left as it is.
    weights : (N,)
        c.

    Returns
    -------
    root : (N, w)
        S after it.
    gain : (N,)
        K.
    variance : float
        α, the variance of the innovation.
    """
    phi = root.conj().T @ weights.conj()
    variance = 1.0 + float(np.vdot(phi, phi).real)
    gain = (root @ phi) / variance
    damping = 1.0 / (1.0 + 1.0 / np.sqrt(variance))
    change = gain[:, None] * (phi.conj() * damping)
    return np.subtract(root, change, out=change), gain, variance


def propagate_root(root: Array, lam: Array, noise: Array, *, flush: bool = True) -> Array:
    """S of Λ P Λ* + G G*, (N, w) with w ≤ 2N or w = max(N, k).

    Parameters
    ----------
    root : (N, w)
        S; left as it is.
    lam : (N,)
        λ.
    noise : (N, k)
        G; k may be 0.
    flush : bool
        Whether entries below 1e-150 become zero.
    """
    moved = lam[:, None] * root
    if noise.shape[1]:
        moved = np.concatenate([moved, noise], axis=1)
    if moved.shape[1] > 2 * moved.shape[0]:
        moved = compress_root(moved)
    if flush:
        moved[np.abs(moved) < _FLUSH] = 0.0
    return moved


def compress_root(root: Array) -> Array:
    """A lower triangular S with the same S S*, (N, N); relative error of each row a few ε."""
    size, width = root.shape
    if width < size:
        root = np.concatenate([root, np.zeros((size, size - width), dtype=root.dtype)], axis=1)
    triangle = np.asarray(np.linalg.qr(root.conj().T, mode="r"))
    return np.ascontiguousarray(triangle.conj().T)


def root_of_covariance(covariance: Array) -> Array:
    """S with S S* = P for a positive semidefinite P; what rounding made negative is zero."""
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariance)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
