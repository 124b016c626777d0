"""A few nodes close together: no horizon tells them apart well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_horizon
from ensctl.errors import InvalidInputError
from ensctl.formatting import listed
from ensctl.vandermonde.bounds.bound import Bound, outwards
from ensctl.vandermonde.bounds.nodeset import NodeSet, require

Array = NDArray[Any]

_LN10 = math.log(10.0)
_LARGEST_CLUSTER = 32


def cluster_sigma_min(lam: ArrayLike, b: ArrayLike, horizon: int, members: Sequence[int]) -> Bound:
    """Upper bound of σ_min from any s of the nodes: s nodes of width w give σ_min = O(w^{s−1}).

    σ_min(A)² ≤ Σ_{m=s−1}^{H−1} (C(m, s−1) R^{m−s+1})² / Σ_i 1/(|b_i| Π_{j≠i} |λ_i−λ_j|)²,

    i and j running over the s members, R = max|λ_i| over them.

    Conditions: H ≥ N, distinct nodes, no b_i = 0.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes, real or complex.
    b : scalar or (N,) array_like
        Row scalings, real or complex.
    horizon : int
        Number of columns H.
    members : sequence of int
        Indices of the s nodes.

    Returns
    -------
    Bound
        Of "sigma_min", rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, ``members`` repeats an index or goes beyond the nodes, or an
        argument is not of the required form.

    Notes
    -----
    The vector with entries 1/(b_i Π_{j≠i}(λ_i − λ_j)) turns A into the divided differences of
    1, z, z², … over the members, which are complete homogeneous polynomials of the nodes.
    O(s² + H) operations.

    Source: elementary.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import cluster_sigma_min
    >>> round(cluster_sigma_min([0.1, 0.5, 0.501], 1.0, 3, [1, 2]).value, 7)
    0.001
    """
    nodes = NodeSet.of(lam, b)
    steps = int(as_horizon(horizon))
    _require_regular(nodes, steps)
    chosen = sorted({int(i) for i in members})
    if len(chosen) != len(members) or not chosen or not 0 <= chosen[0] <= chosen[-1] < nodes.size:
        raise InvalidInputError(
            f"members must be distinct indices from 0 to {nodes.size - 1}, got {listed(members)}"
        )
    return _cluster_bound(nodes, steps, chosen)


def tightest_cluster(lam: ArrayLike, b: ArrayLike, horizon: int) -> Bound:
    """The smallest :func:`cluster_sigma_min` among the neighbourhoods of the closest pair.

    The s nodes nearest to the midpoint of the closest pair are tried for s = 2 … min(N, 32).

    Parameters
    ----------
    lam : (N,) array_like
        At least two nodes, real or complex.
    b : scalar or (N,) array_like
        Row scalings, real or complex.
    horizon : int
        Number of columns H ≥ N.

    Returns
    -------
    Bound
        Of "sigma_min", rounded outwards; its condition names the members.

    Raises
    ------
    InvalidInputError
        A condition of :func:`cluster_sigma_min` does not hold, or there is one node only.

    Notes
    -----
    O(N log N + min(N, 32)·H) operations.

    Source: elementary.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import tightest_cluster
    >>> tightest_cluster([0.1, 0.5, 0.501], 1.0, 3).condition
    'members 0, 1 and 2; distinct nodes, H ≥ N'
    """
    from scipy.spatial import KDTree

    nodes = NodeSet.of(lam, b)
    steps = int(as_horizon(horizon))
    _require_regular(nodes, steps)
    require(nodes.size >= 2, "lam", "have at least two entries")
    # A k-d tree squares distances; a common factor keeps them in range.
    scale = max(float(np.max(np.abs(nodes.lam))), np.finfo(float).tiny)
    plane = np.column_stack([nodes.lam.real, nodes.lam.imag]) / scale
    tree = KDTree(plane)
    distance, partner = tree.query(plane, k=2)
    first = int(np.argmin(distance[:, 1]))
    pair = [first, int(partner[first, 1] if partner[first, 1] != first else partner[first, 0])]
    _, order = tree.query(plane[pair].mean(axis=0), k=min(nodes.size, _LARGEST_CLUSTER))
    candidates = [
        _cluster_bound(nodes, steps, sorted(order[:count].tolist()))
        for count in range(2, order.size + 1)
    ]
    return min(candidates, key=lambda bound: bound.log10_value)


def _cluster_bound(nodes: NodeSet, steps: int, members: Sequence[int]) -> Bound:
    points, gains = nodes.lam[members], nodes.b[members]
    count = len(members)
    gaps = np.abs(points[:, None] - points[None, :])
    np.fill_diagonal(gaps, 1.0)
    logs = np.log(gaps)
    weights = -np.sum(logs, axis=1) - np.log(np.abs(gains))
    radius = float(np.max(np.abs(points)))
    powers = np.arange(count - 1, steps, dtype=float)
    if radius == 0.0:
        powers = powers[:1]
    differences = _log_binomial(powers, count - 1)
    if radius > 0.0:
        differences = differences + (powers - (count - 1)) * math.log(radius)
    log_value = _half_log_sum_of_squares(differences) - _half_log_sum_of_squares(weights)
    work = (
        16.0 * (steps + count)
        + 24.0 * float(np.max(np.sum(np.abs(logs), axis=1)))
        + 8.0 * count * float(np.max(np.abs(differences)) + 1.0)
    )
    return Bound(
        "Divided differences of a cluster",
        "sigma_min",
        "upper",
        outwards(log_value / _LN10, "upper", work),
        f"members {listed(members)}; distinct nodes, H ≥ N",
        "elementary: divided differences of the powers",
    )


def _log_binomial(tops: Array, bottom: int) -> Array:
    """log C(m, bottom) for every m in ``tops``, each from ``bottom`` quotients."""
    total = np.zeros_like(tops)
    for k in range(1, bottom + 1):
        total += np.log((tops - bottom + k) / k)
    return total


def _half_log_sum_of_squares(logs: Array) -> float:
    largest = float(np.max(logs))
    return largest + 0.5 * math.log(float(np.sum(np.exp(2.0 * (logs - largest)))))


def _require_regular(nodes: NodeSet, steps: int) -> None:
    require(nodes.is_regular, "lam and b", "have distinct λ and non-zero b")
    require(steps >= nodes.size, "horizon", f"be at least N = {nodes.size}")
