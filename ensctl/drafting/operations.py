"""Wall time and arithmetic of drafting, in the form of Leviathan, Kalman and Matias (2023)."""

from __future__ import annotations

from ensctl.arguments import as_scalar
from ensctl.drafting.convention import Convention, as_depth
from ensctl.drafting.convert_length import expected_length


def improvement(alpha: float, depth: int, draft_cost: float = 0.0) -> float:
    """Expected improvement of wall time: how many times faster than one unit per pass.

    (1 − α^{K+1})/((1 − α)(K c + 1)), counted with bonus.

    Parameters
    ----------
    alpha : float
        Acceptance of one unit, in [0, 1], independent from unit to unit.
    depth : int
        K ≥ 0 (γ in the paper).
    draft_cost : float
        c ≥ 0, time of one drafted unit over time of a verifier pass.

    Returns
    -------
    float
        Above 1 where drafting pays; some depth pays if and only if α > c.

    Raises
    ------
    InvalidInputError
        α outside [0, 1], K < 0 or c < 0.

    Notes
    -----
    Theorem 3.8 of arXiv 2211.17192.  A pass over K + 1 positions is taken to last as long as one
    over a single position.

    Examples
    --------
    >>> from ensctl.drafting import improvement
    >>> round(improvement(0.8, 5), 2), round(improvement(0.75, 7, 0.02), 1)
    (3.69, 3.2)
    """
    units = as_depth(depth)
    length = expected_length(
        as_scalar(alpha, "alpha", at_least=0, at_most=1), units, convention=Convention.WITH_BONUS
    )
    return float(length) / (units * as_scalar(draft_cost, "draft_cost", at_least=0) + 1.0)


def operations(alpha: float, depth: int, draft_operations: float = 0.0) -> float:
    """Expected factor by which drafting multiplies the number of arithmetic operations.

    (1 − α)(K ĉ + K + 1)/(1 − α^{K+1}): every cycle verifies K + 1 positions and drafts K.

    Parameters
    ----------
    alpha : float
        Acceptance of one unit, in [0, 1], independent from unit to unit.
    depth : int
        K ≥ 0 (γ in the paper).
    draft_operations : float
        ĉ ≥ 0, operations of one drafted unit over those of one verified unit.

    Returns
    -------
    float
        Operations per unit over those of plain decoding; at least 1.

    Raises
    ------
    InvalidInputError
        α outside [0, 1], K < 0 or ĉ < 0.

    Notes
    -----
    Theorem 3.11 of arXiv 2211.17192.

    Examples
    --------
    >>> from ensctl.drafting import operations
    >>> round(operations(0.8, 5), 2), round(operations(0.9, 2), 2)
    (1.63, 1.11)
    """
    units = as_depth(depth)
    extra = as_scalar(draft_operations, "draft_operations", at_least=0)
    length = expected_length(
        as_scalar(alpha, "alpha", at_least=0, at_most=1), units, convention=Convention.WITH_BONUS
    )
    return (units * extra + units + 1.0) / float(length)


def implied_length(cycle: float, per_unit: float) -> float:
    """E[L] that a cycle time and a time per unit imply.

    Units leave in cycles: E[L] = cycle/per_unit, without any counter.

    Parameters
    ----------
    cycle : float
        Mean time of a cycle, > 0: K drafts and a verifier pass, or the mean gap between bursts of a
        stream.
    per_unit : float
        Mean time per unit, > 0, in the same unit.

    Returns
    -------
    float
        Units per cycle, with bonus.

    Raises
    ------
    InvalidInputError
        A time that is not positive.

    Examples
    --------
    Chen et al. 2023: four drafts of 1.8 ms, a pass of 14.1 ms, 7.52 ms per token.

    >>> from ensctl.drafting import implied_length
    >>> round(implied_length(4 * 1.8 + 14.1, 7.52), 3)
    2.832
    """
    return as_scalar(cycle, "cycle", above=0) / as_scalar(per_unit, "per_unit", above=0)


def implied_verify_ratio(
    length: float, per_unit: float, depth: int, draft: float, verify: float
) -> float:
    """How many times longer a pass over the whole draft lasts than one over a single position.

    (E[L]·per_unit − K·draft)/verify: what a measured cycle leaves for the verifier.

    Parameters
    ----------
    length : float
        Units per cycle, with bonus, ≥ 1.
    per_unit : float
        Mean time per unit, > 0.
    depth : int
        Drafter passes per cycle, K ≥ 0 (the depth of a tree).
    draft : float
        Time of one drafter pass, ≥ 0, in the unit of ``per_unit``.
    verify : float
        Time of a verifier pass over one position, > 0, in the same unit.

    Returns
    -------
    float
        1 where verification of many positions is free; below 1 the times contradict each other.

    Raises
    ------
    InvalidInputError
        A length below 1 or a time that is not positive.

    Examples
    --------
    Sequoia, a tree of 128 tokens and depth 10: 24.2 ms a pass, .5 ms a draft, 6.0 ms a token.

    >>> from ensctl.drafting import implied_verify_ratio
    >>> round(implied_verify_ratio(5.08, 6.0, 10, 0.5, 24.2), 3)
    1.053
    """
    cycle = as_scalar(length, "length", at_least=1) * as_scalar(per_unit, "per_unit", above=0)
    drafts = as_depth(depth) * as_scalar(draft, "draft", at_least=0)
    return (cycle - drafts) / as_scalar(verify, "verify", above=0)
