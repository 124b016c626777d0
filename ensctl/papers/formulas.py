"""The papers' numbers as functions of their inputs, each through the formulas of the package."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ensctl import drafting
from ensctl.vandermonde import log_determinant

# The papers count the correction after a rejection and no bonus, and they do not consider K = 0.
_COUNTED = "committed"
_DEEPEST = 64


def acceptance_power(alpha: float, depth: int) -> float:
    """α^K, the probability that K drafts are all accepted."""
    return float(drafting.IID(alpha).survival(depth)[-1])


def rejection_within(alpha: float, depth: int) -> float:
    """1 − α^K, the probability of a rejection among K drafts."""
    return 1.0 - acceptance_power(alpha, depth)


def cycle_cost(draft: float, depth: int, fixed: float = 1.0) -> float:
    """C = ν + K c_d, in verifier passes."""
    return drafting.LinearCost(draft, fixed).cycle(depth)


def draft_overhead(draft: float, depth: int, count: int = 1) -> float:
    """What the drafts of m drafters add to a cycle: m c_d K."""
    cost = drafting.LinearCost(count * draft)
    return cost.cycle(depth) - cost.cycle(0)


def miss_of_all(alpha: float, count: int) -> float:
    """(1 − α)^m, the probability that m independent drafters all miss."""
    return 1.0 - drafting.pooled_acceptance(alpha, count=count)


def best_depth(
    alpha: float, draft: float, depths: Sequence[int], convention: str = _COUNTED
) -> int:
    """The depth of largest throughput among those listed."""
    return max(
        depths, key=lambda depth: drafting.throughput(alpha, draft, depth, convention=convention)
    )


def best_throughput(alpha: float, draft: float, convention: str = _COUNTED) -> float:
    """max over K ≥ 1 of E[L]/C, the papers' optimal gain."""
    best = drafting.optimal_depth(alpha, draft, _DEEPEST, convention=convention)
    return float(best.curve[1:].max())


def best_throughput_depth(alpha: float, draft: float, convention: str = _COUNTED) -> int:
    """The depth K ≥ 1 of :func:`best_throughput`."""
    best = drafting.optimal_depth(alpha, draft, _DEEPEST, convention=convention)
    return 1 + int(best.curve[1:].argmax())


def pooled_throughput(
    alpha: float, draft: float, count: int, depth: int | None = None, convention: str = _COUNTED
) -> float:
    """E[L]/C of m drafters with α_m = 1 − (1 − α)^m at m times the draft cost.

    At depth K; at the best K ≥ 1 when none is given.
    """
    pooled, cost = drafting.pooled_acceptance(alpha, count=count), count * draft
    if depth is None:
        return best_throughput(pooled, cost, convention)
    return drafting.throughput(pooled, cost, depth, convention=convention)


def relative_gain(
    alpha: float, draft: float, count: int, depth: int | None = None, convention: str = _COUNTED
) -> float:
    """Throughput of m pooled drafters over that of one; at the best depth of each, or both at K."""
    together = pooled_throughput(alpha, draft, count, depth, convention)
    return together / pooled_throughput(alpha, draft, 1, depth, convention)


def relative_improvement(
    alpha: float, draft: float, count: int, depth: int | None = None, convention: str = _COUNTED
) -> float:
    """:func:`relative_gain` less one."""
    return relative_gain(alpha, draft, count, depth, convention) - 1.0


def quotient(first: float, second: float) -> float:
    """One printed number over another."""
    return first / second


def product(first: float, second: float) -> float:
    """One printed number times another."""
    return first * second


def decay(alpha: float) -> float:
    """L = −ln α."""
    return -math.log(alpha)


def stationarity_slope(alpha: float, draft: float) -> float:
    """L c_d, what each unit of depth adds to :func:`stationarity_factor`."""
    return decay(alpha) * draft


def stationarity_intercept(alpha: float, draft: float) -> float:
    """L + c_d, :func:`stationarity_factor` at K = 0."""
    return decay(alpha) + draft


def stationarity_factor(
    alpha: float, draft: float, depth: float, rate: float | None = None
) -> float:
    """L (K c_d + 1) + c_d, with L = −ln α or a rounded ``rate`` in its place."""
    logarithm = decay(alpha) if rate is None else rate
    return logarithm * (depth * draft + 1.0) + draft


def stationarity_product(alpha: float, draft: float, depth: float) -> float:
    """α^K (L (K c_d + 1) + c_d), which equals c_d where d/dK (1 − α^K)/(K c_d + 1) = 0."""
    power = 1.0 - (1.0 - alpha) * drafting.expected_length(alpha, depth, convention=_COUNTED)
    return float(power * stationarity_factor(alpha, draft, depth))


def cost_per_unit(alpha: float, draft: float, depth: int, convention: str = _COUNTED) -> float:
    """1/T, verifier passes per unit."""
    return 1.0 / drafting.throughput(alpha, draft, depth, convention=convention)


def reduction_factor(count: int) -> float:
    """Standard error of the mean of N independent estimates over that of one: 1/√N."""
    return drafting.mean_standard_deviation(1.0, count)


def root_of_count(count: int) -> float:
    """√N, one over :func:`reduction_factor`."""
    return 1.0 / reduction_factor(count)


def determinant(lam: Sequence[float]) -> float:
    """det of the Vandermonde matrix of the λ: Π_{i<j} (λ_j − λ_i)."""
    return float(log_determinant(lam).value.real)
