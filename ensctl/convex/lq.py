"""LQ preconditioning: R = L Qᵀ with orthonormal Q, so that no solver ever sees R.

R u = d and Qᵀ u = c with c = L^{-1} d have the same solutions.  The conditioning of R stays in
the triangular solve; Qᵀ has condition number 1, the least-norm solution is u = Q c, and the
minimum energy is ‖c‖².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError, PrecisionError

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class LQ:
    """R = factor · basisᵀ, real.

    Factors from more accurate arithmetic can be given in place of :func:`lq`: only ``basis`` and
    ``inverse`` enter the answers.

    Attributes
    ----------
    basis : (n, N) float64
        Q: orthonormal columns that span the rows of R.
    factor : (N, N) float64
        L, up to a row permutation and row scaling a lower triangular matrix.
    inverse : (N, N) float64
        L^{-1}.
    condition : float
        Condition number of R with its rows scaled to norm 1.
    """

    basis: Array
    factor: Array
    inverse: Array
    condition: float

    def coordinates(self, target: Array) -> Array:
        """c = L^{-1} d, (N,): ‖c‖² is the minimum energy."""
        first = self.inverse @ target
        # One step of refinement keeps R u − d at rounding level for easy targets too.
        return first + self.inverse @ (target - self.factor @ first)

    def least_norm(self, target: Array) -> Array:
        """The least-norm solution u = Q c of R u = d, (n,)."""
        return self.basis @ self.coordinates(target)

    def multipliers(self, eta: Array) -> Array:
        """Multipliers of R u = d, L^{-T} η, from multipliers η of Qᵀ u = c, (N,)."""
        return self.inverse.T @ eta


def lq(matrix: Array) -> LQ:
    """Factorise a full-rank real matrix R (N, n), N ≤ n.

    Rows are scaled to norm 1 and permuted by column-pivoted QR of Rᵀ, so that the diagonal of L
    falls and shows the numerical rank.

    Parameters
    ----------
    matrix : (N, n) float64
        R.  Stack complex data first (:mod:`ensctl.convex.stacking`).

    Returns
    -------
    LQ

    Raises
    ------
    InvalidInputError
        Not real, not two-dimensional, or more rows than columns.
    PrecisionError
        Rows that are dependent to float64 rounding.

    Notes
    -----
    O(n N²).  ‖R − L Qᵀ‖ ≤ O(n ε) row by row; c = L^{-1} d carries a relative error of about
    ``condition`` · ε, while R u − d stays at rounding level.

    Source: Golub and Van Loan, Matrix Computations, 4th ed., §5.4 and §5.6.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import lq
    >>> lam, steps = np.array([0.3, 0.6, 0.9]), np.arange(3)[::-1]
    >>> system = lq(lam[:, None] ** steps)
    >>> system.least_norm(np.array([1.0, 0.0, 0.5])).round(6)
    array([  8.333333, -10.833333,   3.5     ])
    >>> float((system.coordinates(np.array([1.0, 0.0, 0.5])) ** 2).sum())   # 3583/18
    199.0555555...
    """
    from scipy.linalg import qr, solve_triangular

    if matrix.ndim != 2 or np.iscomplexobj(matrix):
        raise InvalidInputError("matrix must be real with two dimensions; stack complex data first")
    count, size = matrix.shape
    if count > size:
        raise InvalidInputError(
            f"matrix must have at most as many rows as columns, got {count} rows and {size} "
            "columns; drop dependent rows or lengthen the horizon"
        )
    norms = np.linalg.norm(matrix, axis=1)
    if not norms.all():
        raise PrecisionError("matrix must have independent rows, a row is zero; drop it")
    basis, upper, order = qr((matrix / norms[:, None]).T, mode="economic", pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(upper)) > size * _EPS))
    if rank < count:
        raise PrecisionError(
            f"matrix must have independent rows, {count - rank} of {count} depend on the others "
            "to float64 rounding; drop dependent rows, or give basis and inverse from exact factors"
        )
    factor = np.empty((count, count))
    factor[order] = upper.T
    inverse = np.empty((count, count))
    inverse[:, order] = solve_triangular(upper, np.eye(count), trans="T")
    condition = float(np.linalg.norm(upper, 2) * np.linalg.norm(inverse, 2))
    return LQ(basis, norms[:, None] * factor, inverse / norms, condition)
