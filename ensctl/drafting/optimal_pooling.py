"""The most that any scheme can accept from several sampled drafts without changing the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_count, read_only
from ensctl.drafting.distributions import as_distribution, as_distributions
from ensctl.drafting.optimal_pooling_program import (
    multisets,
    product_law,
    support,
    transport_optimum,
)
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class OptimalPooling:
    """Result of :func:`optimal_pooled_acceptance`.

    Attributes
    ----------
    acceptance : float
        α*, the optimum over all couplings.
    tokens : (k,) array of int, read-only
        The set H that attains the maximum: a proof that nothing accepts more.
    gap : float
        Upper bound from H minus the acceptance of the coupling found; 0 for the prefix search,
        whose optimality is a theorem.
    method : str
        "prefix search" or "linear program".
    """

    acceptance: float
    tokens: Array
    gap: float
    method: str


def optimal_pooled_acceptance(
    target: ArrayLike,
    drafts: ArrayLike,
    *,
    count: int | None = None,
    joint: bool = False,
    method: str = "auto",
) -> OptimalPooling:
    """α* of m sampled drafts: what the best coupling of drafts and target accepts.

    α* = 1 − max_H [P(all drafts ∈ H) − p(H)] over sets H of tokens (maximum flow = minimum cut
    between draft tuples and tokens).  One draft: Σ min(p, q) = 1 − TV(p, q).

    Parameters
    ----------
    target : array_like, (V,)
        p, the verifier's distribution.
    drafts : array_like, (V,), (m, V) or (V, …, V)
        The law of the drafts: q for ``count`` independent draws from it, or m rows for independent
        draws from different laws; with ``joint`` an m-dimensional array of any joint law.
    count : int, optional
        m ≥ 1 where ``drafts`` is one distribution; default 1.
    joint : bool
        Whether ``drafts`` is the joint law of m drafts, with V entries on each of m axes.
    method : {"auto", "prefix search", "linear program"}
        The prefix search needs independent draws from one law; "auto" takes it there.

    Returns
    -------
    OptimalPooling

    Raises
    ------
    InvalidInputError
        Distributions that do not sum to one or differ in size, or a linear program of more than two
        million variables (m for every tuple; draws from one law count as multisets).
    SolverError
        The solver of the linear program stopped.

    Notes
    -----
    Prefix search, O(V log V): with independent draws P(all ∈ H) = q(H)^m is convex in q(H), so some
    maximiser is a prefix of the tokens sorted by q/p.  Its sums are pairwise, so the error
    of α* is about m log2(V) ulp.  1 − (1 − α)^m is neither a bound nor an estimate of α*.

    Examples
    --------
    >>> from ensctl import drafting
    >>> p, q = [0.6, 0.3, 0.1], [0.2, 0.2, 0.6]
    >>> best = drafting.optimal_pooled_acceptance(p, q, count=2)
    >>> round(best.acceptance, 12), best.tokens
    (0.74, array([2]))
    >>> program = drafting.optimal_pooled_acceptance(p, q, count=2, method="linear program")
    >>> abs(program.acceptance - best.acceptance) < 1e-12
    True
    """
    p = as_distribution(target, "target")
    q = _as_joint_law(drafts, p.size) if joint else as_distributions(drafts, "drafts", size=p.size)
    if not joint and q.ndim > 2:
        raise InvalidInputError(
            f"drafts must be (V,) or (m, V), got shape {q.shape}; give joint=True for a joint law"
        )
    if not isinstance(method, str) or method not in ("auto", "prefix search", "linear program"):
        raise InvalidInputError(
            f'method must be "auto", "prefix search" or "linear program", got {method!r}'
        )
    single = not joint and q.ndim == 1
    if not single and count is not None:
        raise InvalidInputError("count goes with one distribution (V,); leave it out")
    if method == "prefix search" and not single:
        raise InvalidInputError(
            "the prefix search needs independent draws from one law: give drafts of shape (V,)"
        )
    copies = as_count(1 if count is None else count, "count")
    if single and method != "linear program":
        return _by_prefixes(p, q, copies)
    if single:
        tuples, chances = multisets(q, copies)
    else:
        tuples, chances = support(q if joint else product_law(q))
    found = transport_optimum(p, tuples, chances)
    gap = max(0.0, found.upper_bound - found.accepted)
    return OptimalPooling(found.upper_bound, read_only(found.tokens), gap, "linear program")


def _by_prefixes(p: Array, q: Array, copies: int) -> OptimalPooling:
    order = _by_ratio(p, q)
    excess = np.cumsum(q[order]) ** copies - np.cumsum(p[order])
    best = int(np.argmax(excess))
    chosen = order[: best + 1] if excess[best] > 0 else order[:0]
    lost = float(q[chosen].sum()) ** copies - float(p[chosen].sum())
    inside = np.zeros(p.size, dtype=bool)
    inside[chosen] = True
    tokens = np.flatnonzero(inside)
    return OptimalPooling(1.0 - max(lost, 0.0), read_only(tokens), 0.0, "prefix search")


def _by_ratio(p: Array, q: Array) -> Array:
    """Tokens with the largest q/p first; those that neither law can draw are left out."""
    alive = np.flatnonzero((p > 0) | (q > 0))
    with np.errstate(divide="ignore", over="ignore"):
        ratio = q[alive] / p[alive]
    order: Array = alive[np.argsort(-ratio)]
    return order


def _as_joint_law(drafts: ArrayLike, size: int) -> Array:
    law = as_array(drafts, "drafts", real=True)
    if law.ndim == 0 or set(law.shape) != {size}:
        raise InvalidInputError(
            f"drafts must have {size} entries, one per token, on each axis, got shape {law.shape}"
        )
    return as_distribution(law.ravel(), "drafts").reshape(law.shape)
