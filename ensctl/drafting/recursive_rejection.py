"""Several sampled drafts tested one after the other, each against what the last left over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, read_only
from ensctl.drafting.distributions import as_distribution, as_distributions
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class RecursiveRejection:
    """Result of :func:`recursive_rejection`.

    Attributes
    ----------
    acceptance : float
        Probability that one of the m drafts is accepted.
    round_acceptances : (m,) array, read-only
        β_k, the acceptance of round k given that the earlier ones failed.
    residual : (V,) array, read-only
        What the correction is drawn from after m rejections; the target where nothing is rejected.
    """

    acceptance: float
    round_acceptances: Array
    residual: Array


def recursive_rejection(
    target: ArrayLike, drafts: ArrayLike, *, count: int | None = None
) -> RecursiveRejection:
    """Acceptance of m independent sampled drafts under recursive rejection sampling.

    Round k accepts a draft x ~ q_k with probability min(1, p_k(x)/q_k(x)); a rejection leaves
    p_{k+1} ∝ (p_k − q_k)₊.  So β_k = Σ min(p_k, q_k) and α = 1 − Π(1 − β_k).  The committed token
    keeps the target's law exactly.

    Parameters
    ----------
    target : array_like, (V,)
        p, the verifier's distribution.
    drafts : array_like, (V,) or (m, V)
        q: one distribution for all drafts, or one for each in the order of testing.
    count : int, optional
        m ≥ 1 where ``drafts`` is one distribution; default 1.

    Returns
    -------
    RecursiveRejection

    Raises
    ------
    InvalidInputError
        Distributions that do not sum to one or differ in size.

    Notes
    -----
    O(m V).  No better than :func:`optimal_pooled_acceptance`, which no scheme beats.

    Examples
    --------
    >>> from ensctl import drafting
    >>> twice = drafting.recursive_rejection([0.6, 0.3, 0.1], [0.2, 0.2, 0.6], count=2)
    >>> twice.round_acceptances
    array([0.5, 0.4])
    >>> round(twice.acceptance, 12)
    0.7
    """
    p = as_distribution(target, "target")
    q = as_distributions(drafts, "drafts", size=p.size)
    if q.ndim == 1:
        q = np.broadcast_to(q, (1 if count is None else as_count(count, "count"), p.size))
    elif q.ndim != 2:
        raise InvalidInputError(f"drafts must be (V,) or (m, V), got shape {q.shape}")
    elif count is not None and as_count(count, "count") != q.shape[0]:
        raise InvalidInputError(f"count must be {q.shape[0]}, the rows of drafts, got {count}")
    rounds = np.ones(q.shape[0])
    rejected = 1.0
    for k, law in enumerate(q):
        left = np.maximum(p - law, 0.0)
        mass = float(left.sum())
        rounds[k] = 1.0 - mass
        rejected *= mass
        if mass == 0.0:
            break
        p = left / mass
    return RecursiveRejection(1.0 - rejected, read_only(rounds), read_only(p))
