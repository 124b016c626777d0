"""Infinite horizon, |λ| < 1: the smallest singular value from pseudo-hyperbolic distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.vandermonde.bounds.bound import Bound, outwards
from ensctl.vandermonde.bounds.nodeset import NodeSet, require
from ensctl.vandermonde.infinite import one_minus_product

Array = NDArray[Any]

_LN10 = math.log(10.0)
_ROWS_AT_ONCE = 256
_SOURCE = "A.-L. Cauchy's inverse of [1/(1 − λ_i λ̄_j)], whose diagonal is used"


def blaschke_sigma_min_lower(lam: ArrayLike, b: ArrayLike = 1.0) -> Bound:
    """Lower bound of σ_min at H = ∞, at most √N below the truth.

    σ_min(A)² ≥ 1/Σ_k E_k,  E_k = (1 − |λ_k|²)/(|b_k|² d_k²),  d_k = Π_{j≠k} |λ_k−λ_j|/|1−λ̄_jλ_k|.

    E_k is the least energy that moves member k to 1 and leaves the others at 0; rows of unit norm
    (|b_k|² = 1 − |λ_k|²) have E_k = 1/d_k².

    Conditions: H = ∞, |λ_i| < 1, distinct nodes, no b_i = 0.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes inside the unit circle.
    b : scalar or (N,) array_like, default 1
        Row scalings, real or complex.

    Returns
    -------
    Bound
        Of "sigma_min", rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or the arguments are not finite vectors that match.

    Notes
    -----
    1/σ_min² is the norm of the inverse Gramian, at most its trace Σ E_k.  O(N²) operations, O(N)
    memory; computed in logarithms, with 1 − λ̄_jλ_k free of cancellation.

    Source: the inverse of a Cauchy matrix (A.-L. Cauchy, 1841).

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import blaschke_sigma_min_lower
    >>> round(blaschke_sigma_min_lower([0.5, -0.5], 0.75**0.5).value, 6)
    0.565685
    """
    logs, work = _log_energies(NodeSet.of(lam, b))
    largest = float(np.max(logs))
    log_sum = largest + math.log(float(np.sum(np.exp(logs - largest))))
    units = float(np.max(work)) + 4.0 * logs.size + abs(largest)
    return Bound(
        "Blaschke products, lower",
        "sigma_min",
        "lower",
        outwards(-0.5 * log_sum / _LN10, "lower", units),
        "H = ∞, distinct nodes, |λ| < 1",
        _SOURCE,
    )


def blaschke_sigma_min_upper(lam: ArrayLike, b: ArrayLike = 1.0) -> Bound:
    """Upper bound of σ_min at every horizon H ≥ N, at most √N above the truth at H = ∞.

    σ_min(A)² ≤ min_k 1/E_k,  E_k as in :func:`blaschke_sigma_min_lower`.

    Conditions: |λ_i| < 1, distinct nodes, no b_i = 0.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes inside the unit circle.
    b : scalar or (N,) array_like, default 1
        Row scalings, real or complex.

    Returns
    -------
    Bound
        Of "sigma_min", rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or the arguments are not finite vectors that match.

    Notes
    -----
    1/σ_min² is the norm of the inverse Gramian, at least its largest diagonal entry.  O(N²)
    operations, O(N) memory; computed in logarithms.

    Source: the inverse of a Cauchy matrix (A.-L. Cauchy, 1841).

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import blaschke_sigma_min_upper
    >>> round(blaschke_sigma_min_upper([0.5, -0.5], 0.75**0.5).value, 6)
    0.8
    """
    logs, work = _log_energies(NodeSet.of(lam, b))
    k = int(np.argmax(logs - work * 2.0**-52))
    return Bound(
        "Blaschke products, upper",
        "sigma_min",
        "upper",
        outwards(-0.5 * logs[k] / _LN10, "upper", work[k]),
        "H ≥ N, distinct nodes, |λ| < 1",
        _SOURCE,
    )


def _log_energies(nodes: NodeSet) -> tuple[Array, Array]:
    """log E_k for every k, and its error in rounding units."""
    require(nodes.is_regular, "lam and b", "have distinct λ and non-zero b")
    require(nodes.is_inside_circle, "lam", "lie inside the unit circle")
    count = nodes.size
    logs, work = np.empty(count), np.empty(count)
    own = np.log(one_minus_product(nodes.lam, nodes.lam).real)
    scale = 2.0 * np.log(np.abs(nodes.b))
    for start in range(0, count, _ROWS_AT_ONCE):
        rows = np.arange(start, min(start + _ROWS_AT_ONCE, count))
        here, all_nodes = nodes.lam[rows, None], nodes.lam[None, :]
        gaps = np.abs(here - all_nodes)
        gaps[rows - start, rows] = 1.0
        kernel = np.abs(one_minus_product(here, all_nodes))
        kernel[rows - start, rows] = 1.0
        near, far = np.log(gaps), np.log(kernel)
        distances = np.sum(near, axis=1) - np.sum(far, axis=1)
        logs[rows] = own[rows] - scale[rows] - 2.0 * distances
        moduli = np.sum(np.abs(near) + np.abs(far), axis=1) + np.abs(own[rows])
        work[rows] = 24.0 * count + 48.0 * (moduli + np.abs(scale[rows]))
    return logs, work
