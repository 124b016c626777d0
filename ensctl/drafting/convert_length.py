"""Acceptance α to mean length of a cycle and back, for independent identical acceptance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array
from ensctl.drafting.convention import MAX_DEPTH, Convention, as_convention
from ensctl.errors import InvalidInputError, NotIdentifiableError

Array = NDArray[Any]

# Newton takes about 8 steps, log K more from far above; the limit is for halving throughout.
_MOST_STEPS = 80
_SETTLED = 4e-16
_NEAR_ONE = 1e-4
_TINY = 1e-300


def as_probability(value: ArrayLike, name: str) -> Array:
    """Convert to an array of numbers in [0, 1], of any shape."""
    array = as_array(value, name, real=True)
    outside = (array < 0) | (array > 1)
    if np.any(outside):
        raise InvalidInputError(
            f"{name} must lie in [0, 1], got {float(array[outside].flat[0])}; "
            "give a probability, not a percentage or a length"
        )
    return array


def geometric_sum(alpha: ArrayLike, terms: ArrayLike) -> Array:
    """Σ_{i=0..n−1} α^i = (1 − α^n)/(1 − α), to a few units in the last place for α in [0, 1].

    1 − α is exact for α ≥ ½ and expm1 keeps the small difference 1 − α^n, so α → 1 loses nothing;
    α = 1 gives n and α = 0 gives 1 (0 for n = 0).
    """
    acceptance, count = np.asarray(alpha, dtype=np.float64), np.asarray(terms, dtype=np.float64)
    inside = (acceptance > 0) & (acceptance < 1)
    safe = np.where(inside, acceptance, 0.5)
    value = -np.expm1(count * np.log(safe)) / (1.0 - safe)
    return np.where(inside, value, np.where(acceptance > 0, count, np.minimum(count, 1.0)))


def expected_length(
    alpha: ArrayLike, depth: ArrayLike, *, convention: Convention | str = Convention.WITH_BONUS
) -> Any:
    """Mean length of a cycle when every draft unit is accepted with probability α.

    accepted α(1 − α^K)/(1 − α), committed (1 − α^K)/(1 − α), with_bonus (1 − α^{K+1})/(1 − α).

    Parameters
    ----------
    alpha : float or array-like
        Acceptance of one unit, in [0, 1]; the ends are limits, α = 1 gives K, K and K + 1.
    depth : int or array-like
        K ≥ 0, broadcast against ``alpha``.  It need not be whole: the formula is then its smooth
        continuation.
    convention : Convention or str
        What is counted.

    Returns
    -------
    float or ndarray
        Units per cycle; a float when both arguments are scalars.

    Raises
    ------
    InvalidInputError
        α outside [0, 1], K < 0, NaN, or shapes that do not broadcast.

    Notes
    -----
    A few units in the last place, also next to α = 1.  ``committed`` at K = 0 is 0 by its formula;
    a verifier without a drafter commits one unit per pass.

    Examples
    --------
    >>> from ensctl.drafting import expected_length
    >>> expected_length(0.7, 4, convention="committed")
    2.533
    >>> expected_length(0.7, [0, 1, 2])
    array([1.  , 1.7 , 2.19])
    """
    rule = as_convention(convention)
    acceptance, depths = as_probability(alpha, "alpha"), as_array(depth, "depth", real=True)
    if np.any(depths < 0):
        raise InvalidInputError(f"depth must be ≥ 0, got {float(np.min(depths))}; 0 is off")
    try:
        acceptance, depths = np.broadcast_arrays(acceptance, depths)
    except ValueError:
        raise InvalidInputError(
            f"alpha of shape {acceptance.shape} and depth of shape {depths.shape} must broadcast"
        ) from None
    length = _length(acceptance, depths, rule)
    return float(length) if length.ndim == 0 else length


def _length(alpha: Array, depth: Array, rule: Convention) -> Array:
    if rule is Convention.ACCEPTED:
        return alpha * geometric_sum(alpha, depth)
    return geometric_sum(alpha, depth if rule is Convention.COMMITTED else depth + 1.0)


def alpha_from_length(
    length: ArrayLike, depth: ArrayLike, *, convention: Convention | str = Convention.WITH_BONUS
) -> Any:
    """The α of independent identical acceptance that gives this mean length at depth K.

    Solves expected_length(α, K) = length, strictly increasing in α, inside the bracket
    x/(1 + x) ≤ α ≤ min(x, 1) with x the mean number accepted.

    Parameters
    ----------
    length : float or array-like
        Mean length: in [0, K] accepted, [1, K] committed, [1, K + 1] with_bonus.
    depth : int or array-like
        K ≥ 1 (≥ 2 for committed), broadcast against ``length``; need not be whole.
    convention : Convention or str
        What ``length`` counts.

    Returns
    -------
    float or ndarray
        α in [0, 1]; a float when both arguments are scalars.

    Raises
    ------
    InvalidInputError
        A length outside its range, or NaN.
    NotIdentifiableError
        The length does not depend on α: K = 0, or committed at K = 1.

    Notes
    -----
    Exact ends: the least length gives 0 and the greatest gives 1.  Relative error near 1e-15 while
    the length itself is exact; next to α = 1 the rounding of the length decides.

    Examples
    --------
    >>> from ensctl.drafting import alpha_from_length
    >>> round(alpha_from_length(2.533, 4, convention="committed"), 12)
    0.7
    """
    rule = as_convention(convention)
    lengths, depths = as_array(length, "length", real=True), as_array(depth, "depth", real=True)
    try:
        lengths, depths = np.broadcast_arrays(lengths, depths)
    except ValueError:
        raise InvalidInputError(
            f"length of shape {lengths.shape} and depth of shape {depths.shape} must broadcast"
        ) from None
    # Drafts that count towards the length, and the mean number of them accepted.
    counted = depths - 1.0 if rule is Convention.COMMITTED else depths
    accepted = lengths - (0.0 if rule is Convention.ACCEPTED else 1.0)
    if np.any(depths < 0):
        raise InvalidInputError(f"depth must be ≥ 0, got {float(np.min(depths))}")
    if np.any(depths > MAX_DEPTH):
        raise InvalidInputError(f"depth must be ≤ {MAX_DEPTH}, got {float(np.max(depths)):g}")
    if np.any(counted <= 0):
        raise NotIdentifiableError(
            f"a {rule.value} length at depth {float(np.min(depths)):g} is the same for every α; "
            "measure at a deeper K or report another convention"
        )
    outside = (accepted < 0) | (accepted > counted)
    if np.any(outside):
        low, where = int(rule is not Convention.ACCEPTED), np.flatnonzero(outside)[0]
        top = float(counted.flat[where]) + low
        raise InvalidInputError(
            f"length must lie in [{low}, {top:g}] at depth {float(depths.flat[where]):g} "
            f"({rule.value}), got {float(lengths.flat[where])}; check the depth and the convention"
        )
    alpha = _solve(accepted, counted)
    return float(alpha) if alpha.ndim == 0 else alpha


def _solve(accepted: Array, depth: Array) -> Array:
    """α with α(1 − α^K)/(1 − α) = accepted: Newton inside a bracket, all entries at once.

    The length is convex in α, so steps from the upper end fall towards the root; rounding alone
    can throw one out of the bracket, which is then halved.
    """
    low, high = accepted / (1.0 + accepted), np.minimum(accepted, 1.0)
    alpha = high.copy()
    for _ in range(_MOST_STEPS):
        excess = alpha * geometric_sum(alpha, depth) - accepted
        low, high = np.where(excess < 0, alpha, low), np.where(excess < 0, high, alpha)
        step = alpha - excess / _slope(alpha, depth)
        step = np.where((low <= step) & (step <= high), step, 0.5 * (low + high))
        settled = np.abs(step - alpha) <= _SETTLED * alpha
        alpha = step
        if np.all(settled):
            break
    alpha = np.where(accepted >= depth, 1.0, alpha)
    return np.where(accepted <= 0, 0.0, alpha)


def _slope(alpha: Array, depth: Array) -> Array:
    """Σ_{j=1..K} j α^{j−1}, well enough for Newton."""
    gap = 1.0 - alpha
    near = gap * depth < _NEAR_ONE
    power = np.exp(depth * np.log(np.maximum(alpha, _TINY)))
    ordinary = (geometric_sum(alpha, depth) - depth * power) / np.where(near, 1.0, gap)
    # The difference above cancels here; two terms of the expansion about α = 1 do instead.
    series = 0.5 * depth * (depth + 1.0) * (1.0 - 2.0 / 3.0 * (depth - 1.0) * gap)
    return np.where(near, series, ordinary)
