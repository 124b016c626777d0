"""The chance that at least one of several drafters guesses a greedy target's unit."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import as_count, as_scalar, as_vector
from ensctl.errors import InvalidInputError


def pooled_acceptance(
    alphas: ArrayLike, correlation: float = 0.0, *, count: int | None = None
) -> float:
    """α of a pool: the probability that at least one of m drafters hits a greedy target.

    Independent hits: α_m = 1 − Π(1 − α_i).  A correlated pair:
    P(A ∪ B) = α_1 + α_2 − α_1α_2 − φ√(α_1(1−α_1)α_2(1−α_2)).  m exchangeable drafters with equal α:
    beta-binomial, 1 − Π_{i<m}(b + i)/(a + b + i) with r = 1/(a + b + 1) and α = a/(a + b).

    Parameters
    ----------
    alphas : float or array_like, (m,)
        Acceptance of each drafter, in [0, 1].
    correlation : float
        φ of the hits of every pair.  With three or more drafters it needs equal α and 0 ≤ r ≤ 1;
        a pair may differ, and any φ that two events can have is allowed.
    count : int, optional
        m ≥ 1 where ``alphas`` is one number for all.

    Returns
    -------
    float
        In [max α_i, 1].

    Raises
    ------
    InvalidInputError
        α outside [0, 1], or a correlation these drafters cannot have.

    Notes
    -----
    Products are summed as logarithms, so that a tiny α_m keeps its digits.  The formula holds for
    greedy targets, where a unit is right or wrong.  For sampled drafts it is neither a bound nor an
    estimate: use :func:`optimal_pooled_acceptance`.  Hits of a neural and an n-gram drafter were
    measured to be correlated by .10–.17, so that independence overrates their pool.

    Examples
    --------
    >>> from ensctl import drafting
    >>> drafting.pooled_acceptance([0.5, 0.5])
    0.75
    >>> round(drafting.pooled_acceptance([0.7, 0.5], correlation=0.15), 6)
    0.815631
    >>> round(drafting.pooled_acceptance(0.6, 0.2, count=3), 6)
    0.8752
    """
    hits = as_vector(
        alphas, "alphas", size=None if count is None else as_count(count, "count"), real=True
    )
    if hits.min() < 0 or hits.max() > 1:
        worst = float(hits[np.argmax(np.abs(hits - 0.5))])
        raise InvalidInputError(f"alphas must be probabilities in [0, 1], got {worst:g}")
    r = as_scalar(correlation, "correlation", at_least=-1.0, at_most=1.0)
    if hits.size == 1 or r == 0.0:
        return _independent(hits.tolist())
    if hits.size == 2:
        return _pair(float(hits[0]), float(hits[1]), r)
    return _exchangeable(hits.tolist(), r)


def _independent(hits: list[float]) -> float:
    if max(hits) == 1.0:
        return 1.0
    return -math.expm1(math.fsum(math.log1p(-alpha) for alpha in hits))


def _pair(first: float, second: float, phi: float) -> float:
    spread = math.sqrt(first * (1 - first) * second * (1 - second))
    both = first * second + phi * spread
    # Fréchet: two events of these probabilities overlap no less and no more than this.
    least, most = max(0.0, first + second - 1.0), min(first, second)
    if not least - 1e-12 <= both <= most + 1e-12:
        low, high = (least - first * second) / spread, (most - first * second) / spread
        raise InvalidInputError(
            f"correlation of hits with probabilities {first:g} and {second:g} must be in "
            f"[{low:.4g}, {high:.4g}], got {phi:g}"
        )
    return first + second - min(max(both, least), most)


def _exchangeable(hits: list[float], r: float) -> float:
    if max(hits) != min(hits):
        raise InvalidInputError(
            "correlation of three or more drafters needs equal alphas, got "
            f"{min(hits):g} … {max(hits):g}; pool them in pairs or give correlation=0"
        )
    if r < 0:
        raise InvalidInputError(
            f"correlation of three or more drafters must be ≥ 0, got {r:g}: "
            "a beta mixture cannot have a negative one"
        )
    alpha = hits[0]
    if alpha in (0.0, 1.0) or r == 1.0:
        return alpha
    strength = 1.0 / r - 1.0
    b = (1.0 - alpha) * strength
    logs = (math.log((b + i) / (strength + i)) for i in range(len(hits)))
    return -math.expm1(math.fsum(logs))
