"""The most that any rule for stopping drafts could reach: an oracle that always stops in time."""

from __future__ import annotations

import math

import numpy as np

from ensctl.arguments import as_scalar
from ensctl.drafting.acceptance import AcceptanceModel, as_acceptance
from ensctl.drafting.convention import Convention, as_depth
from ensctl.drafting.cost import CostModel, as_cost
from ensctl.errors import InvalidInputError


def oracle_length(alpha: float) -> float:
    """Units per cycle of a drafter that stops just before its first rejection.

    Σ_{j≥0} α^j = 1/(1 − α), counted with bonus: no rule for stopping commits more per cycle.

    Parameters
    ----------
    alpha : float
        Acceptance of one unit, in [0, 1], independent from unit to unit.

    Returns
    -------
    float
        1/(1 − α); inf at α = 1.

    Raises
    ------
    InvalidInputError
        α outside [0, 1].

    Examples
    --------
    >>> from ensctl.drafting import oracle_length
    >>> oracle_length(0.75)
    4.0
    """
    rate = as_scalar(alpha, "alpha", at_least=0, at_most=1)
    return math.inf if rate == 1 else 1.0 / (1.0 - rate)


def oracle_throughput(
    acceptance: AcceptanceModel | float,
    cost: CostModel | float,
    max_depth: int = 4096,
    *,
    batch: float = 1,
    context: float = 0.0,
) -> float:
    """Throughput of a drafter that drafts exactly the units that will be kept, at most K.

    (1 + E[N])/E[C(N)] with N the units kept of K; for independent units and linear costs without
    a limit 1/((1 − α)C_0 + α c).

    Parameters
    ----------
    acceptance : AcceptanceModel or float
        How many of K units are kept; a number α is IID(α).
    cost : CostModel or float
        What a cycle costs; a number c_d is LinearCost(c_d), in verify passes.
    max_depth : int
        K ≥ 0, where a draft stops at the latest.
    batch : float
        Sequences verified together, ≥ 1.
    context : float
        Mean tokens per sequence in the KV cache, ≥ 0.

    Returns
    -------
    float
        Units, counted with bonus, per unit of cost.

    Raises
    ------
    InvalidInputError
        α outside [0, 1], K < 0 or a cost out of range.

    Notes
    -----
    An upper bound for every rule for stopping, fixed depths among them, as long as a drafted unit
    costs no more than a pass without drafts.

    Examples
    --------
    >>> from ensctl.drafting import oracle_throughput, throughput
    >>> round(oracle_throughput(0.75, 0.1), 6), round(throughput(0.75, 0.1, 5), 6)
    (3.076923, 2.192057)
    """
    model, price, deepest = as_acceptance(acceptance), as_cost(cost), as_depth(max_depth)
    cycles = price.cycles(np.arange(deepest + 1), batch, context)
    if cycles.min() <= 0:
        raise InvalidInputError(f"cost must give positive cycles, got {cycles.min():g}")
    length = model.expected_length(deepest, convention=Convention.WITH_BONUS)
    spent = cycles[0] + model.survival(deepest)[1:] @ np.diff(cycles)
    return float(length / spent)
