"""Poles and order of a response from the shift invariance of its block Hankel matrix.

For y_t = Σ_i c_i x_{i,t} + d u_t + e_t the Hankel matrices of r rows obey
Y = Γ X + H U + E, where row k of Γ is c Λ^k.  Removing the rows of U leaves Γ X Π + E Π, whose
left singular vectors span Γ, and Γ without its first row is Γ without its last row times Λ:
λ are the eigenvalues of that pencil (ordinary MOESP, Verhaegen and Dewilde 1992; ESPRIT for the
impulse response).  White noise e adds the same to every singular value, so that it moves neither
Γ nor, on average, λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Directions of the input below this share of its largest are rounding.
_INPUT_RANK = 1e-10


@dataclass(frozen=True, eq=False)
class ResponseSpace:
    """The part of an output that its own input window does not explain.

    Attributes
    ----------
    vectors : (rows, rows)
        Left singular vectors of the Hankel matrix, strongest first.
    values : (rows,)
        Singular values per √columns: white noise of standard deviation σ shows as about σ.
    columns : int
        Degrees of freedom left in the columns.
    """

    vectors: Array
    values: Array
    columns: int


def response_space(outputs: Array, inputs: Array, rows: int) -> ResponseSpace:
    """Singular vectors and values of the output Hankel matrix with the input rows removed.

    O(T rows²).
    """
    window = np.lib.stride_tricks.sliding_window_view
    y = window(outputs, rows)
    basis = _row_space(window(inputs, rows))
    # Twice, because one projection leaves rounding of the size of what was removed.
    for _ in range(2):
        y = y - basis @ (basis.conj().T @ y)
    columns = y.shape[0] - basis.shape[1]
    triangle = np.linalg.qr(y, mode="r")
    _, values, right = np.linalg.svd(triangle, full_matrices=False)
    return ResponseSpace(right.T, values / np.sqrt(max(columns, 1)), columns)


def _row_space(windows: Array) -> Array:
    """Orthonormal basis of the columns, those that are rounding left out."""
    from scipy.linalg import qr

    basis, triangle = np.linalg.qr(windows)
    size = np.abs(np.diag(triangle))
    if size.min() > 1e-6 * size.max():
        return basis
    basis, triangle, _ = qr(windows, mode="economic", pivoting=True)
    size = np.abs(np.diag(triangle))
    kept = int(np.sum(size > _INPUT_RANK * size[0])) if size[0] > 0 else 0
    return np.asarray(basis[:, :kept])


def pencil_poles(vectors: Array, order: int) -> Array:
    """The ``order`` poles by total least squares from the leading singular vectors.

    Real vectors give poles closed under conjugation.
    """
    upper, lower = vectors[:-1, :order], vectors[1:, :order]
    _, _, right = np.linalg.svd(np.hstack([upper, lower]), full_matrices=True)
    mixed = right.conj().T[:, order:]
    top, bottom = mixed[:order], mixed[order:]
    try:
        shift = -top @ np.linalg.inv(bottom)
        poles = np.linalg.eigvals(shift)
    except np.linalg.LinAlgError:
        poles = np.full(order, np.nan)
    if not np.all(np.isfinite(poles)):
        shift, *_ = np.linalg.lstsq(upper, lower, rcond=None)
        poles = np.linalg.eigvals(shift)
    return np.asarray(poles)
