"""How far an ensemble is from losing controllability, and which members are nearest to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.analysis.eising_search import lowest_point
from ensctl.analysis.groups import group_structure
from ensctl.arguments import as_array, as_vector
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# Relative to the largest λ or gain; below it the squares of distances underflow.
_UNDERFLOW = 1e-130


@dataclass(frozen=True)
class UncontrollabilityDistance:
    """Distance to the nearest pair (A, B) that is not reachable, any perturbation allowed.

    Attributes
    ----------
    value : float
        τ(point): a perturbation of this 2-norm exists.
    point : float or complex
        z at which it is attained: the eigenvalue that becomes unreachable.
    lower_bound : float
        No perturbation of smaller norm exists.
    """

    value: float
    point: float | complex
    lower_bound: float


@dataclass(frozen=True)
class StructuredDistance:
    """Distance to the nearest ensemble that is not reachable: only λ and b change.

    Attributes
    ----------
    value : float
        2-norm of the smallest change.
    members : tuple of int
        The member whose gain vanishes, or the two whose λ meet.
    kind : {"gap", "gain"}
        Which of the two it is.
    """

    value: float
    members: tuple[int, ...]
    kind: Literal["gap", "gain"]


@dataclass(frozen=True)
class NearestPair:
    """The two members whose λ are closest.

    Attributes
    ----------
    members : tuple of int
        Their indices, ascending.
    gap : float
        |λ_i − λ_j|; 0 when some λ is repeated.
    """

    members: tuple[int, int]
    gap: float


def eising_distance(lam: ArrayLike, gains: ArrayLike) -> UncontrollabilityDistance:
    """Distance to uncontrollability, τ = min_z σ_min[Λ − zI, B] over all complex z.

    Parameters
    ----------
    lam : (N,) array_like
        Eigenvalues.
    gains : (N,) or (N, m) array_like
        Gains.

    Returns
    -------
    UncontrollabilityDistance
        ``value`` is attained and ``lower_bound`` is certified; they agree to 1e-9 relative unless
        about one second of work was not enough (about a thousand members), or τ is below 1e-130 of
        the largest λ or gain.  Exactly 0 when (Λ, B) is not reachable.

    Raises
    ------
    InvalidInputError
        Not finite, or shapes that do not match.

    Notes
    -----
    One channel: each τ(z) is right to 1e-14 relative, however small (secular equation), O(N) a
    point.  Several channels: absolute error of about 1e-15 (max|λ| + ‖B‖), O(N³) a point.
    Evaluating τ only at the eigenvalues overestimates it, and τ says nothing about energy.

    Source: R. Eising, "Between controllable and uncontrollable", Systems & Control Letters 4 (1984)
    263–264.

    Examples
    --------
    >>> from ensctl.analysis import eising_distance
    >>> distance = eising_distance([0.2, 0.8], [1.0, 1.0])
    >>> round(distance.value, 12), round(distance.point, 12)
    (0.3, 0.5)
    """
    nodes, rows = _checked(lam, gains)
    structure = group_structure(nodes, rows)
    if structure.rank < nodes.size:
        at = structure.locked[0].value if structure.locked else nodes[structure.dead[0]].item()
        return UncontrollabilityDistance(0.0, at, 0.0)
    tamed = _without_excess(nodes, rows)
    # A power of two, so that squares stay in range and nothing is rounded.
    _, exponent = np.frexp(max(np.abs(nodes).max(), np.abs(tamed).max()))
    # What is 1e150 times smaller than the rest may vanish in squares; that is told by the result.
    with np.errstate(all="ignore"):
        try:
            found = lowest_point(_ldexp(nodes, -exponent), _ldexp(tamed, -exponent))
        except np.linalg.LinAlgError:
            # Blocks that are singular to rounding: what is attained is still an upper bound.
            return _attained_bound(nodes, rows)
    vanished = found.lower_bound == 0.0 and found.value < _UNDERFLOW
    if vanished or not math.isfinite(found.value + found.lower_bound):
        return _attained_bound(nodes, rows)
    return UncontrollabilityDistance(
        value=float(np.ldexp(found.value, exponent)),
        point=_ldexp(np.asarray(found.point), exponent).item(),
        lower_bound=float(np.ldexp(found.lower_bound, exponent)),
    )


def structured_distance(lam: ArrayLike, gains: ArrayLike) -> StructuredDistance | None:
    """Distance to the nearest unreachable ensemble, min(min_i |b_i|, ½ min_{i<j} |λ_i − λ_j|).

    Parameters
    ----------
    lam : (N,) array_like
        Eigenvalues.
    gains : (N,) or (N, 1) array_like
        Gains of one channel.

    Returns
    -------
    StructuredDistance or None
        None for several channels: there λ may coincide as long as their gain rows stay independent,
        so λ and gains have to be changed together and no closed form is known.

    Raises
    ------
    InvalidInputError
        Not finite, or shapes that do not match.

    Notes
    -----
    Exact for one channel in the 2-norm of [ΔΛ, Δb]: a set of λ and b is unreachable when a gain
    vanishes (|b_i| away) or two λ meet (halfway, ½|λ_i − λ_j| each).  O(N log N).

    Examples
    --------
    >>> from ensctl.analysis import structured_distance
    >>> structured_distance([0.2, 0.8], [0.1, 1.0])
    StructuredDistance(value=0.1, members=(0,), kind='gain')
    """
    nodes, rows = _checked(lam, gains)
    if rows.shape[1] > 1:
        return None
    size = np.abs(rows[:, 0])
    weakest = int(np.argmin(size))
    pair = nearest_pair(nodes)
    if pair is not None and 0.5 * pair.gap < size[weakest]:
        return StructuredDistance(0.5 * pair.gap, pair.members, "gap")
    return StructuredDistance(float(size[weakest]), (weakest,), "gain")


def nearest_pair(lam: ArrayLike) -> NearestPair | None:
    """The two members whose λ are closest.

    Parameters
    ----------
    lam : (N,) array_like
        Eigenvalues.

    Returns
    -------
    NearestPair or None
        None for a single member; the first repeated pair, with gap 0, when λ repeat.

    Raises
    ------
    InvalidInputError
        Not finite or not one-dimensional.

    Notes
    -----
    O(N log N): sorting for real λ, a k-d tree for complex ones.

    Examples
    --------
    >>> from ensctl.analysis import nearest_pair
    >>> nearest_pair([0.2, 0.9, 0.25])
    NearestPair(members=(0, 2), gap=0.04999999999999999)
    """
    nodes = as_vector(lam, "lam")
    if nodes.size < 2:
        return None
    order = np.argsort(nodes, kind="stable")
    repeated = np.flatnonzero(nodes[order[1:]] == nodes[order[:-1]])
    if repeated.size or not np.iscomplexobj(nodes):
        closest = repeated[0] if repeated.size else np.argmin(np.diff(nodes[order]))
        pair = order[closest : closest + 2]
    else:
        from scipy.spatial import cKDTree

        places = np.column_stack([nodes.real, nodes.imag])
        _, index = cKDTree(places).query(places, k=2)
        gaps = np.abs(nodes[index[:, 1]] - nodes[index[:, 0]])
        pair = index[np.argmin(gaps)]
    i, j = sorted(int(k) for k in pair)
    return NearestPair((i, j), float(abs(nodes[i] - nodes[j])))


def _without_excess(nodes: Array, rows: Array) -> Array:
    """Gains shortened to 1e12 times the spread of λ: σ_min changes by 1e-24 of itself.

    For a gain far above every |λ_i − λ_j| only its direction matters.
    """
    spread = float(np.max(np.abs(nodes - nodes[0])))
    if spread == 0.0:
        return rows
    largest = np.max(np.maximum(np.abs(rows.real), np.abs(rows.imag)), axis=1)
    factor = np.minimum(1.0, 1e12 * spread / np.where(largest > 0, largest, 1.0))
    return np.asarray(rows * factor[:, None])


def _checked(lam: ArrayLike, gains: ArrayLike) -> tuple[Array, Array]:
    nodes = as_vector(lam, "lam")
    rows = as_array(gains, "gains")
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.shape[0] != nodes.size or rows.shape[1] == 0:
        raise InvalidInputError(
            f"gains must have one row for each of the {nodes.size} λ, got shape {np.shape(gains)}"
        )
    return nodes, rows


def _attained_bound(nodes: Array, rows: Array) -> UncontrollabilityDistance:
    """What one vanishing gain row, or for one channel two meeting λ, costs: no squares needed."""
    size = np.max(np.abs(rows), axis=1)
    weakest = int(np.argmin(size))
    value = float(np.linalg.norm(rows[weakest] / size[weakest]) * size[weakest])
    point = nodes[weakest]
    pair = nearest_pair(nodes)
    if pair is not None and rows.shape[1] == 1 and 0.5 * pair.gap < value:
        value, point = 0.5 * pair.gap, 0.5 * (nodes[pair.members[0]] + nodes[pair.members[1]])
    return UncontrollabilityDistance(value, point.item(), 0.0)


def _ldexp(values: Array, exponent: Any) -> Array:
    if np.iscomplexobj(values):
        return np.asarray(np.ldexp(values.real, exponent) + 1j * np.ldexp(values.imag, exponent))
    return np.asarray(np.ldexp(values, exponent))
