"""The smallest singular value between two consequences of Gautschi's bounds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import as_horizon
from ensctl.vandermonde.bounds.bound import Bound, outwards
from ensctl.vandermonde.bounds.gautschi import gautschi_lower, gautschi_upper, log_column_sums
from ensctl.vandermonde.bounds.nodeset import NodeSet, require

_LN10 = math.log(10.0)
_SOURCE = "a consequence of W. Gautschi, Numer. Math. 4 (1962) 117–123"


def gautschi_sigma_min_lower(lam: ArrayLike, b: ArrayLike, horizon: int | float) -> Bound:
    """Lower bound of σ_min for any distinct nodes, any gains and any horizon H ≥ N.

    σ_min(A) ≥ (Σ_j g_j²)^{-1/2},  g_j = 1/|b_j| Π_{i≠j} (1 + |λ_i|)/|λ_i − λ_j|.

    For H = N, 1/σ_min ≤ ‖A^{-1}‖_F and g_j bounds the 1-norm, hence the 2-norm, of column j.
    More columns only raise σ_min.

    Conditions: H ≥ N, distinct nodes, no b_i = 0.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes, real or complex.
    b : scalar or (N,) array_like
        Row scalings, real or complex.
    horizon : int or math.inf
        Number of columns H.

    Returns
    -------
    Bound
        Of "sigma_min", rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or an argument is not of the required form.

    Notes
    -----
    O(N²) operations, O(N) memory; computed in logarithms.

    Source: a consequence of W. Gautschi, Numer. Math. 4 (1962) 117–123.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import gautschi_sigma_min_lower
    >>> round(gautschi_sigma_min_lower([0.0, 0.5, 1.0], 1.0, 3).value, 4)
    0.0958
    """
    nodes = NodeSet.of(lam, b)
    steps = as_horizon(horizon, infinite=True)
    require(nodes.is_regular, "lam and b", "have distinct λ and non-zero b")
    require(steps >= nodes.size, "horizon", f"be at least N = {nodes.size}")
    values, work = log_column_sums(nodes, np.log1p(np.abs(nodes.lam)))
    largest = float(np.max(values))
    log_sum = largest + 0.5 * math.log(float(np.sum(np.exp(2.0 * (values - largest)))))
    work_units = float(np.max(work)) + 4.0 * nodes.size + abs(largest)
    return Bound(
        "Gautschi, σ_min from below",
        "sigma_min",
        "lower",
        outwards(-log_sum / _LN10, "lower", work_units),
        "distinct nodes, H ≥ N",
        _SOURCE,
    )


def gautschi_sigma_min_upper(lam: ArrayLike, b: ArrayLike = 1.0) -> Bound:
    """Upper bound of σ_min at H = N for any distinct nodes and any gains.

    σ_min(A) ≤ √N / max_j 1/|b_j| Π_{i≠j} (1 + |λ_i|)/|λ_i − λ_j|   for nodes on one ray;
    σ_min(A) ≤ 1 / max_j 1/|b_j| Π_{i≠j} max(1, |λ_i|)/|λ_i − λ_j|   for all others.

    On a ray the first fraction is √N/‖A^{-1}‖₁, and ‖x‖₁ ≤ √N ‖x‖₂ for column j.  Elsewhere the
    2-norm of the coefficients of Π(z − λ_i) is at least Π max(1, |λ_i|) (Landau).

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
        Of "sigma_min", rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or the arguments are not finite vectors that match.

    Notes
    -----
    O(N²) operations, O(N) memory; computed in logarithms.

    Source: a consequence of W. Gautschi, Numer. Math. 4 (1962) 117–123, and of E. Landau's
    inequality for the measure of a polynomial.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import gautschi_sigma_min_upper
    >>> round(gautschi_sigma_min_upper([0.0, 0.5, 1.0]).value, 4)
    0.2165
    """
    nodes = NodeSet.of(lam, b)
    if nodes.is_on_one_ray:
        # Its outward rounding points the wrong way here and is undone twice over.
        inverse = gautschi_upper(nodes.lam, nodes.b).log10_value
        _, work = log_column_sums(nodes, np.log1p(np.abs(nodes.lam)))
        log10_value = 0.5 * math.log10(nodes.size) - inverse
        log10_value = outwards(log10_value, "upper", 2.0 * float(np.max(work)))
        condition = "distinct nodes on one ray, H = N"
    else:
        log10_value = -gautschi_lower(nodes.lam, nodes.b).log10_value
        condition = "distinct nodes, H = N"
    return Bound(
        "Gautschi, σ_min from above", "sigma_min", "upper", log10_value, condition, _SOURCE
    )
