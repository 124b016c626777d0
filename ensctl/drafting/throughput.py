"""Throughput of drafting at a given depth: units per cycle over the cost of the cycle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_scalar
from ensctl.drafting.acceptance import AcceptanceModel, as_acceptance
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.cost import CostModel, as_cost
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


def throughput(
    acceptance: AcceptanceModel | float,
    cost: CostModel | float,
    depth: int,
    *,
    convention: Convention | str = Convention.WITH_BONUS,
    batch: float = 1,
    context: float = 0.0,
) -> float:
    """Units per unit of cost of one stream that drafts K units in every cycle.

    T(K) = E[L_K]/C(K).  K = 0 is off: one unit per pass without drafts, T(0) = 1/C(0), in every
    convention.

    Parameters
    ----------
    acceptance : AcceptanceModel or float
        How many of K units are kept; a number α is IID(α).
    cost : CostModel or float
        What a cycle costs; a number c_d is LinearCost(c_d), in verify passes.
    depth : int
        K ≥ 0.
    convention : Convention or str
        How the units of a cycle are counted.
    batch : float
        Sequences verified together, ≥ 1.
    context : float
        Mean tokens per sequence in the KV cache, ≥ 0.

    Returns
    -------
    float
        Units per stream and unit of cost (verify passes or ms, as the cost model says).

    Raises
    ------
    InvalidInputError
        K < 0, α outside [0, 1], a negative cost, or a cycle that costs nothing.

    Notes
    -----
    Renewal–reward: exact in the long run also where cycles depend on each other.

    Examples
    --------
    >>> from ensctl.drafting import throughput
    >>> round(throughput(0.7, 0.1, 4, convention="committed"), 4)
    1.8093
    >>> throughput(0.7, 0.1, 0)
    1.0
    """
    model, price, units = as_acceptance(acceptance), as_cost(cost), as_depth(depth)
    counting = as_convention(convention)
    length = 1.0 if units == 0 else model.expected_length(units, convention=counting)
    return length / _positive(price.cycle(units, batch, context), units)


def speedup(
    acceptance: AcceptanceModel | float,
    cost: CostModel | float,
    depth: int,
    *,
    convention: Convention | str = Convention.WITH_BONUS,
    batch: float = 1,
    context: float = 0.0,
    off: float | None = None,
) -> float:
    """Throughput at depth K over throughput without drafts.

    T(K)/T(0) = E[L_K] C_off/C(K).  Not loading a drafter at all can be cheaper than K = 0: give
    its pass as ``off``.

    Parameters
    ----------
    acceptance : AcceptanceModel or float
        How many of K units are kept; a number α is IID(α).
    cost : CostModel or float
        What a cycle costs; a number c_d is LinearCost(c_d), in verify passes.
    depth : int
        K ≥ 0.
    convention : Convention or str
        How the units of a cycle are counted.
    batch : float
        Sequences verified together, ≥ 1.
    context : float
        Mean tokens per sequence in the KV cache, ≥ 0.
    off : float, optional
        C_off > 0, cost of a pass without a drafter, in the unit of ``cost``; default C(0).

    Returns
    -------
    float
        Above 1 where drafting pays.

    Raises
    ------
    InvalidInputError
        As :func:`throughput`, or off ≤ 0.

    Examples
    --------
    >>> from ensctl.drafting import speedup
    >>> round(speedup(0.8, 0.05, 5), 4)
    2.9514
    """
    price = as_cost(cost)
    with_drafts = throughput(
        acceptance, price, depth, convention=convention, batch=batch, context=context
    )
    if off is None:
        return with_drafts * _positive(price.cycle(0, batch, context), 0)
    return with_drafts * as_scalar(off, "off", above=0)


def lengths_and_cycles(
    model: AcceptanceModel,
    price: CostModel,
    max_depth: int,
    convention: Convention | str,
    batch: float,
    context: float,
) -> tuple[Array, Array]:
    """E[L_K] and C(K) for K = 0 … ``max_depth``; E[L_0] is the verifier's own unit."""
    lengths = np.array(model.expected_lengths(max_depth, convention=convention))
    lengths[0] = 1.0
    cycles = price.cycles(np.arange(max_depth + 1), batch, context)
    _positive(float(cycles.min()), int(np.argmin(cycles)))
    return lengths, cycles


def _positive(cycle: float, depth: int) -> float:
    if not 0 < cycle < np.inf:
        raise InvalidInputError(
            f"cost must be positive and finite at every depth, got {cycle:g} at depth {depth}; "
            "check the cost model"
        )
    return cycle
