"""The depth of largest throughput."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.drafting.acceptance import AcceptanceModel, as_acceptance
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.cost import CostModel, as_cost
from ensctl.drafting.estimate import Estimate
from ensctl.drafting.optimum_result import DepthOptimum
from ensctl.drafting.optimum_rules import best_by_comparison, best_by_stopping, stopping_is_exact
from ensctl.drafting.throughput import lengths_and_cycles

Array = NDArray[Any]


def optimal_depth(
    acceptance: AcceptanceModel | Estimate | float,
    cost: CostModel | float,
    max_depth: int = 64,
    *,
    convention: Convention | str = Convention.WITH_BONUS,
    batch: float = 1,
    context: float = 0.0,
) -> DepthOptimum:
    """The depth K that yields most units per unit of cost.

    K* = argmax_{0 ≤ K ≤ max_depth} E[L_K]/C(K); K = 0 is off and yields one unit per C(0).  Of
    equal depths the smallest is taken.

    Parameters
    ----------
    acceptance : AcceptanceModel, Estimate or float
        How many of K units are kept; a number α is IID(α).  An estimated α brings the curves at
        both ends of its interval.
    cost : CostModel or float
        What a cycle costs; a number c_d is LinearCost(c_d), in verify passes.
    max_depth : int
        Largest K considered, ≥ 0.
    convention : Convention or str
        How the units of a cycle are counted.
    batch : float
        Sequences verified together, ≥ 1.
    context : float
        Mean tokens per sequence in the KV cache, ≥ 0.

    Returns
    -------
    DepthOptimum

    Raises
    ------
    InvalidInputError
        α outside [0, 1], a negative cost, max_depth < 0, or a cycle that costs nothing.

    Notes
    -----
    All depths are compared, so the answer is exact whatever the shapes of S and C.  Dinkelbach's
    stopping rule is run beside it and reported; it is exact where marginal lengths do not rise and
    marginal costs do not fall.  T(K) rises with α at every K, so the curves at the ends of an
    interval of α enclose the true one whenever the interval covers α.

    Examples
    --------
    >>> from ensctl.drafting import optimal_depth
    >>> best = optimal_depth(0.8, 0.1, convention="committed")
    >>> best.depth, round(best.throughput, 6)
    (7, 2.324367)
    >>> print(optimal_depth(0.3, 0.4))
    K = 0: do not draft
    1 units per unit of cost (with_bonus): 1 units in cycles of 1 verify passes
    next best K = 1, 7.14% slower
    best with drafts is K = 1 at 0.9286 of plain decoding
    """
    model, price = as_acceptance(acceptance), as_cost(cost)
    deepest, counting = as_depth(max_depth, "max_depth"), as_convention(convention)
    lengths, cycles = lengths_and_cycles(model, price, deepest, counting, batch, context)
    curve = lengths / cycles
    depth = best_by_comparison(lengths, cycles)
    second = _second(curve, depth)
    exact = stopping_is_exact(lengths, cycles)
    ends = [
        lengths_and_cycles(as_acceptance(end), price, deepest, counting, batch, context)
        for end in _ends(acceptance)
    ]
    return DepthOptimum(
        depth=depth,
        throughput=float(curve[depth]),
        expected_length=float(lengths[depth]),
        cycle=float(cycles[depth]),
        speedup=float(curve[depth] / curve[0]),
        curve=read_only(curve),
        curve_low=read_only(ends[0][0] / cycles) if ends else None,
        curve_high=read_only(ends[1][0] / cycles) if ends else None,
        level=acceptance.level if isinstance(acceptance, Estimate) else None,
        depth_low=best_by_comparison(*ends[0]) if ends else None,
        depth_high=best_by_comparison(*ends[1]) if ends else None,
        runner_up=second,
        margin=np.inf if second is None else float(1.0 - curve[second] / curve[depth]),
        stopping_depth=best_by_stopping(lengths, cycles),
        exact_stopping=exact,
        convention=counting,
        unit=price.unit,
        batch=float(batch),
        context=float(context),
        reason=_reason(lengths, cycles, depth, exact),
    )


def _ends(acceptance: AcceptanceModel | Estimate | float) -> tuple[float, ...]:
    """Ends of the interval of α, cut to what a probability can be."""
    if not isinstance(acceptance, Estimate):
        return ()
    return max(0.0, acceptance.low), min(1.0, acceptance.high)


def _second(curve: Array, depth: int) -> int | None:
    if curve.size == 1:
        return None
    others = curve.copy()
    others[depth] = -np.inf
    return int(np.argmax(others))


def _reason(lengths: Array, cycles: Array, depth: int, exact: bool) -> str:
    deepest = lengths.size - 1
    curve = lengths / cycles
    if deepest == 0:
        return "only K = 0 was allowed"
    if depth == 0:
        best = 1 + int(np.argmax(curve[1:]))
        return f"best with drafts is K = {best} at {curve[best] / curve[0]:.4g} of plain decoding"
    if depth == deepest:
        return f"the limit max_depth = {deepest} stopped the search; a deeper K may be better"
    if not exact:
        return (
            "found by comparing all depths: marginal lengths rise or marginal costs fall somewhere"
        )
    gain = lengths[depth + 1] - lengths[depth]
    worth = curve[depth] * (cycles[depth + 1] - cycles[depth])
    return f"unit {depth + 1} would add {gain:.4g} and cost what yields {worth:.4g} elsewhere"
