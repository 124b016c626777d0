"""Real nodes: condition numbers grow exponentially, whatever the nodes are."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from ensctl.arguments import as_horizon
from ensctl.errors import InvalidInputError
from ensctl.vandermonde.bounds.bound import Bound, outwards
from ensctl.vandermonde.bounds.nodeset import NodeSet, require

_LOG10_2 = math.log10(2.0)
_LOG10_SILVER = math.log10(1.0 + math.sqrt(2.0))
_CATALAN = 0.915965594177219
# log10 of γ = exp(4·Catalan/π) ≈ 3.210.
_LOG10_GAMMA = 4.0 * _CATALAN / math.pi / math.log(10.0)
_INGLESE_SOURCE = "W. Gautschi and G. Inglese, Numer. Math. 52 (1988) 241–250"
_BECKERMANN_SOURCE = "B. Beckermann, Numer. Math. 85 (2000) 553–577"


def gautschi_inglese(lam: ArrayLike, b: ArrayLike = 1.0) -> Bound:
    """Lower bound of κ₁ for non-negative nodes, or for real nodes symmetric about 0.

    κ₁(A) > 2^{N−1} for non-negative nodes;  κ₁(A) ≥ 2^{N/2} for symmetric ones.

    Conditions: H = N ≥ 2, distinct nodes, all |b_i| equal and not 0.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes, real and ≥ 0, or real and symmetric about 0.
    b : scalar or (N,) array_like, default 1
        Row scalings of equal modulus.

    Returns
    -------
    Bound
        Of "cond_1" (nodes in rows), rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or the arguments are not finite vectors that match.

    Notes
    -----
    O(N log N), for the check of the conditions.

    Source: W. Gautschi and G. Inglese, Lower bounds for the condition number of Vandermonde
    matrices, Numer. Math. 52 (1988) 241–250 (nodes in columns, ∞-norm).

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import gautschi_inglese
    >>> round(gautschi_inglese([0.0, 0.5, 1.0]).value, 10)
    4.0
    """
    nodes = NodeSet.of(lam, b)
    _require_plain(nodes)
    require(nodes.size >= 2, "lam", "have at least two entries")
    require(
        nodes.is_nonnegative or nodes.is_symmetric, "lam", "be non-negative or symmetric about 0"
    )
    exponent = nodes.size - 1 if nodes.is_nonnegative else nodes.size / 2
    kind_of_nodes = "non-negative" if nodes.is_nonnegative else "symmetric real"
    return Bound(
        "Gautschi–Inglese",
        "cond_1",
        "lower",
        outwards(exponent * _LOG10_2, "lower", nodes.size),
        f"{kind_of_nodes} nodes, equal |b|, H = N",
        _INGLESE_SOURCE,
    )


def beckermann_real(lam: ArrayLike, b: ArrayLike = 1.0) -> Bound:
    """Lower bound of κ₂ for any real nodes.

    κ₂(A) ≥ √(2/N) (1 + √2)^{N−2}.

    Conditions: H = N, distinct real nodes of any magnitude, all |b_i| equal and not 0.  With free
    b a smaller κ₂ is possible: see :func:`beckermann_row_scaled`.

    Parameters
    ----------
    lam : (N,) array_like
        Real nodes.
    b : scalar or (N,) array_like, default 1
        Row scalings of equal modulus.

    Returns
    -------
    Bound
        Of "cond_2", rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or the arguments are not finite vectors that match.

    Notes
    -----
    O(N log N), for the check of the conditions.

    Source: B. Beckermann, The condition number of real Vandermonde, Krylov and positive definite
    Hankel matrices, Numer. Math. 85 (2000) 553–577.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import beckermann_real
    >>> round(beckermann_real([-1.0, -0.5, 0.5, 1.0]).value, 4)
    4.1213
    """
    nodes = NodeSet.of(lam, b)
    _require_plain(nodes)
    require(nodes.is_real, "lam", "be real")
    count = nodes.size
    log10_value = 0.5 * math.log10(2.0 / count) + (count - 2) * _LOG10_SILVER
    return Bound(
        "Beckermann, real nodes",
        "cond_2",
        "lower",
        outwards(log10_value, "lower", 4.0 * count),
        "real nodes, equal |b|, H = N",
        _BECKERMANN_SOURCE,
    )


def beckermann_nonnegative(lam: ArrayLike, b: ArrayLike = 1.0) -> Bound:
    """Lower bound of κ₂ for any non-negative nodes.

    κ₂(A) ≥ [(1+√2)^{2(N−1)} + (1+√2)^{−2(N−1)}]/(2√N).

    Conditions: H = N, distinct nodes ≥ 0 of any magnitude, all |b_i| equal and not 0.

    Parameters
    ----------
    lam : (N,) array_like
        Real nodes ≥ 0.
    b : scalar or (N,) array_like, default 1
        Row scalings of equal modulus.

    Returns
    -------
    Bound
        Of "cond_2", rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or the arguments are not finite vectors that match.

    Notes
    -----
    O(N log N), for the check of the conditions.

    Source: B. Beckermann, The condition number of real Vandermonde, Krylov and positive definite
    Hankel matrices, Numer. Math. 85 (2000) 553–577.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import beckermann_nonnegative
    >>> round(beckermann_nonnegative([0.0, 0.5, 1.0]).value, 4)
    9.8150
    """
    nodes = NodeSet.of(lam, b)
    _require_plain(nodes)
    require(nodes.is_nonnegative, "lam", "be real and non-negative")
    growth = 2.0 * (nodes.size - 1) * _LOG10_SILVER
    log10_value = growth + math.log10((1.0 + 10.0 ** (-2.0 * growth)) / 2.0)
    return Bound(
        "Beckermann, non-negative nodes",
        "cond_2",
        "lower",
        outwards(log10_value - 0.5 * math.log10(nodes.size), "lower", 4.0 * nodes.size),
        "non-negative nodes, equal |b|, H = N",
        _BECKERMANN_SOURCE,
    )


def beckermann_row_scaled(lam: ArrayLike, b: ArrayLike, horizon: int) -> Bound:
    """Lower bound of κ₂ for real nodes and any gains, with no more columns than rows.

    κ₂(A)² = κ₂(AᵀA) ≥ γ^{H−1}/(16 H),  γ = exp(4·Catalan/π) ≈ 3.210,

    because AᵀA is a positive semidefinite Hankel matrix of order H, whatever b is (with |b_i|²).

    Conditions: 3 ≤ H ≤ N, real nodes.

    Parameters
    ----------
    lam : (N,) array_like
        Real nodes.
    b : scalar or (N,) array_like
        Row scalings, real or complex.
    horizon : int
        Number of columns H.

    Returns
    -------
    Bound
        Of "cond_2" (σ_1/σ_H), rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or an argument is not of the required form.

    Notes
    -----
    O(N), for the check of the conditions.

    Source: B. Beckermann, The condition number of real Vandermonde, Krylov and positive definite
    Hankel matrices, Numer. Math. 85 (2000) 553–577.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import beckermann_row_scaled
    >>> nodes = [k / 20 for k in range(20)]
    >>> round(beckermann_row_scaled(nodes, 1.0, 20).value, 1)
    3623.3
    """
    nodes = NodeSet.of(lam, b)
    steps = int(as_horizon(horizon))
    require(nodes.is_real, "lam", "be real")
    require(3 <= steps <= nodes.size, "horizon", f"lie between 3 and N = {nodes.size}")
    log10_value = 0.5 * ((steps - 1) * _LOG10_GAMMA - math.log10(16.0 * steps))
    return Bound(
        "Beckermann, any gains",
        "cond_2",
        "lower",
        outwards(log10_value, "lower", 4.0 * steps),
        "real nodes, any b, 3 ≤ H ≤ N",
        _BECKERMANN_SOURCE,
    )


def _require_plain(nodes: NodeSet) -> None:
    require(nodes.is_regular, "lam and b", "have distinct λ and non-zero b")
    if not nodes.has_equal_gains:
        raise InvalidInputError("b must have entries of one modulus for this theorem to apply")
