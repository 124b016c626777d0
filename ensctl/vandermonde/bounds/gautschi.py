"""Gautschi's bounds and identities for the norm of the inverse, for any distinct nodes.

Column j of A^{-1}, A = diag(b)·[λ_i^k] and H = N, holds the coefficients of the Lagrange
polynomial ℓ_j divided by b_j.  The sum of the moduli of the coefficients of Π(z − λ_i) lies between
Π max(1, |λ_i|) and Π (1 + |λ_i|).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.vandermonde.bounds.bound import Bound, outwards
from ensctl.vandermonde.bounds.nodeset import NodeSet, require

Array = NDArray[Any]

_LN10 = math.log(10.0)
_ROWS_AT_ONCE = 256
_UPPER_SOURCE = "W. Gautschi, Numer. Math. 4 (1962) 117–123"
_LOWER_SOURCE = "W. Gautschi, Numer. Math. 29 (1978) 445–450"
_SYMMETRIC_SOURCE = "W. Gautschi, Numer. Math. 23 (1975) 337–347"


def gautschi_upper(lam: ArrayLike, b: ArrayLike = 1.0) -> Bound:
    """Upper bound of ‖A^{-1}‖₁, attained when all nodes lie on one ray from 0.

    ‖A^{-1}‖₁ ≤ max_j 1/|b_j| Π_{i≠j} (1 + |λ_i|)/|λ_i − λ_j|.

    Conditions: H = N, distinct nodes, no b_i = 0.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes, real or complex.
    b : scalar or (N,) array_like, default 1
        Row scalings, real or complex.

    Returns
    -------
    Bound
        Of "inverse_norm_1", rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or the arguments are not finite vectors that match.

    Notes
    -----
    O(N²) operations, O(N) memory; computed in logarithms.

    Source: W. Gautschi, On inverses of Vandermonde and confluent Vandermonde matrices,
    Numer. Math. 4 (1962) 117–123 (nodes in columns, ∞-norm, b = 1).

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import gautschi_upper
    >>> round(gautschi_upper([0.0, 0.5, 1.0]).value, 10)
    8.0
    """
    nodes = NodeSet.of(lam, b)
    require(nodes.is_regular, "lam and b", "have distinct λ and non-zero b")
    values, work = log_column_sums(nodes, np.log1p(np.abs(nodes.lam)))
    j = int(np.argmax(values + work * 2.0**-52))
    attained = "; attained, as all nodes lie on one ray" if nodes.is_on_one_ray else ""
    return Bound(
        "Gautschi, upper",
        "inverse_norm_1",
        "upper",
        outwards(values[j] / _LN10, "upper", work[j]),
        f"distinct nodes, H = N{attained}",
        _UPPER_SOURCE,
    )


def gautschi_lower(lam: ArrayLike, b: ArrayLike = 1.0) -> Bound:
    """Lower bound of ‖A^{-1}‖₁, at most 2^{N−1} below the upper one.

    ‖A^{-1}‖₁ ≥ max_j 1/|b_j| Π_{i≠j} max(1, |λ_i|)/|λ_i − λ_j|.

    Conditions: H = N, distinct nodes, no b_i = 0.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes, real or complex.
    b : scalar or (N,) array_like, default 1
        Row scalings, real or complex.

    Returns
    -------
    Bound
        Of "inverse_norm_1", rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or the arguments are not finite vectors that match.

    Notes
    -----
    O(N²) operations, O(N) memory; computed in logarithms.

    Source: W. Gautschi, On inverses of Vandermonde and confluent Vandermonde matrices III,
    Numer. Math. 29 (1978) 445–450 (nodes in columns, ∞-norm, b = 1).

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import gautschi_lower
    >>> round(gautschi_lower([0.0, 0.5, 1.0]).value, 10)
    4.0
    """
    nodes = NodeSet.of(lam, b)
    require(nodes.is_regular, "lam and b", "have distinct λ and non-zero b")
    values, work = log_column_sums(nodes, np.log(np.maximum(1.0, np.abs(nodes.lam))))
    j = int(np.argmax(values - work * 2.0**-52))
    return Bound(
        "Gautschi, lower",
        "inverse_norm_1",
        "lower",
        outwards(values[j] / _LN10, "lower", work[j]),
        "distinct nodes, H = N",
        _LOWER_SOURCE,
    )


def gautschi_symmetric(lam: ArrayLike, b: ArrayLike = 1.0) -> Bound:
    """‖A^{-1}‖₁ itself when the set of real nodes is symmetric about 0.

    With x_k the positive nodes and j running over all nodes,
    ‖A^{-1}‖₁ = max_j (1+|λ_j|)/(2|b_j||λ_j|) Π_{x_k≠|λ_j|} (1+x_k²)/|λ_j²−x_k²| for even N.  For
    odd N a factor 1/|λ_j| comes in, and the node 0 contributes 1/|b_0| Π_k (1+x_k²)/x_k².

    Conditions: H = N, distinct real nodes, {λ_i} = {−λ_i} exactly, no b_i = 0.

    Parameters
    ----------
    lam : (N,) array_like
        Real nodes.
    b : scalar or (N,) array_like, default 1
        Row scalings, real or complex.

    Returns
    -------
    Bound
        Of "inverse_norm_1", kind "equal", right to about N·2^-50 relative.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or the arguments are not finite vectors that match.

    Notes
    -----
    O(N²) operations; computed in logarithms.

    Source: W. Gautschi, Norm estimates for inverses of Vandermonde matrices, Numer. Math. 23
    (1975) 337–347: in z² the nodes lie on one ray, so no coefficients cancel.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import gautschi_symmetric
    >>> round(gautschi_symmetric([-1.0, 0.0, 1.0]).value, 10)
    2.0
    """
    nodes = NodeSet.of(lam, b)
    require(nodes.is_regular, "lam and b", "have distinct λ and non-zero b")
    require(nodes.is_symmetric, "lam", "be real and symmetric about 0")
    positive = nodes.lam[nodes.lam > 0]
    numerator = np.log1p(positive**2)
    size = np.abs(nodes.lam)
    logs = np.empty(nodes.size)
    for j, x in enumerate(size):
        others = positive != x
        gaps = np.log(np.abs(x - positive[others])) + np.log(x + positive[others])
        logs[j] = np.sum(numerator[others]) - np.sum(gaps) - math.log(abs(nodes.b[j]))
        if x > 0:
            logs[j] += math.log1p(x) - math.log(2.0 * x) - (nodes.size % 2) * math.log(x)
    return Bound(
        "Gautschi, symmetric nodes",
        "inverse_norm_1",
        "equal",
        float(np.max(logs)) / _LN10,
        "distinct real nodes, symmetric about 0, H = N",
        _SYMMETRIC_SOURCE,
    )


def log_column_sums(nodes: NodeSet, numerators: Array) -> tuple[Array, Array]:
    """log of 1/|b_j| Π_{i≠j} e^{n_i}/|λ_i − λ_j| for every j, and its error in rounding units."""
    count = nodes.size
    values, work = np.empty(count), np.empty(count)
    for start in range(0, count, _ROWS_AT_ONCE):
        rows = np.arange(start, min(start + _ROWS_AT_ONCE, count))
        gaps = np.abs(nodes.lam[rows, None] - nodes.lam[None, :])
        gaps[rows - start, rows] = 1.0
        logs = np.log(gaps)
        scale = np.log(np.abs(nodes.b[rows]))
        values[rows] = np.sum(numerators) - numerators[rows] - np.sum(logs, axis=1) - scale
        # Each logarithm is off by 2 units of its argument and 1 of itself; numpy adds in blocks,
        # which costs at most about 20 units of the sum of moduli.
        moduli = 2.0 * np.sum(numerators) + np.sum(np.abs(logs), axis=1) + np.abs(scale)
        work[rows] = 8.0 * count + 24.0 * moduli
    return values, work
