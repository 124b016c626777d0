"""Statements in words as functions that say whether they are true."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from ensctl import drafting
from ensctl.analysis import controllability, reachability_matrix
from ensctl.ensemble import Ensemble
from ensctl.papers import formulas

_COUNTED = "committed"
_ALPHAS = (0.0, 0.3, 0.5, 0.7, 0.936, 1.0)


def reachable(lam: Sequence[float], horizon: int) -> bool:
    """Whether x_{i,t+1} = λ_i x_{i,t} + u_t reaches every state in this many steps, exactly."""
    return controllability(Ensemble(lam), horizon).reachable


def locked(lam: Sequence[float]) -> bool:
    """Whether some members cannot be moved independently by any input."""
    return bool(controllability(Ensemble(lam)).locked)


def reachable_iff_distinct(
    distinct: Sequence[float], repeated: Sequence[float], horizon: int
) -> bool:
    """Whether the distinct λ are reachable at this horizon and those with a repetition are not."""
    return reachable(distinct, horizon) and not reachable(repeated, horizon)


def product_falls(alpha: float, draft: float, deepest: float) -> bool:
    """Whether α^K (L (K c_d + 1) + c_d) decreases in K on [0, deepest]."""
    depths = np.linspace(0.0, deepest, 401)
    products = [formulas.stationarity_product(alpha, draft, depth) for depth in depths]
    return bool(np.all(np.diff(products) < 0))


def best_throughout(
    alpha: float, depth: int, depths: Sequence[int], costs: Sequence[float]
) -> bool:
    """Whether one depth is the best of those listed at every one of several draft costs."""
    return all(formulas.best_depth(alpha, cost, depths) == depth for cost in costs)


def sides_of_break_even(alpha: float, pair: Sequence[int], below: float, above: float) -> bool:
    """Whether the deeper of two depths wins at the lower draft cost, the other at the higher."""
    shallow, deep = min(pair), max(pair)
    return (
        formulas.best_depth(alpha, below, pair) == deep
        and formulas.best_depth(alpha, above, pair) == shallow
    )


def length_bounded(depth: int, convention: str = _COUNTED) -> bool:
    """Whether a cycle in which everything is accepted yields no more than K units."""
    return bool(drafting.expected_length(1.0, depth, convention=convention) <= depth)


def tail_overestimates(u: float, v: float, depth: int) -> bool:
    """Whether α^{i−1} overrates lengths when hits come in runs, at the same share α of hits.

    Hits follow a Markov chain over positions with P(hit | hit) = u and P(hit | miss) = v, whose
    share of hits is α = v/(1 − u + v).
    """
    runs = drafting.MarkovRenewal(u, v).expected_length(depth, convention=_COUNTED)
    return bool(drafting.expected_length(v / (1.0 - u + v), depth, convention=_COUNTED) > runs)


def acceptance_overrates(alpha: float, alphas: Sequence[float], depth: int) -> bool:
    """Whether the formula at one α exceeds the mean length over drafters that differ."""
    one = drafting.expected_length(alpha, depth, convention=_COUNTED)
    return bool(one > np.mean(drafting.expected_length(alphas, depth, convention=_COUNTED)))


def verification_shortens(alpha: float, draft: float, growth: Sequence[float]) -> bool:
    """Whether k* and the gain both fall as ν = 1 + g k grows faster."""
    marginal = [draft, *(draft + g for g in growth)]
    depths = [formulas.best_throughput_depth(alpha, cost) for cost in marginal]
    gains = [formulas.best_throughput(alpha, cost) for cost in marginal]
    return all(np.diff(depths) < 0) and all(np.diff(gains) < 0)


def verification_shifts(alpha: float, draft: float, growth: float) -> bool:
    """Whether k* is another one when ν = 1 + g k."""
    grown = drafting.optimal_depth(alpha, draft + growth, convention=_COUNTED).depth
    return grown != drafting.optimal_depth(alpha, draft, convention=_COUNTED).depth


def falls_as_one_over_n(std: float, count: int) -> bool:
    """Whether the standard error of the mean of N independent estimates is σ/N."""
    return bool(abs(drafting.mean_standard_deviation(std, count) * count / std - 1.0) < 1e-12)


def correlation_breaks(std: float, count: int, correlation: float) -> bool:
    """Whether correlated estimates leave a larger standard error than σ/√N."""
    return bool(
        drafting.mean_standard_deviation(std, count, correlation)
        > drafting.mean_standard_deviation(std, count)
    )


def length_formula_holds(deepest: int, convention: str = _COUNTED) -> bool:
    """Whether (1 − α^K)/(1 − α) is Σ S(j) of this convention, for K up to ``deepest``."""
    pairs = [(alpha, depth) for alpha in _ALPHAS for depth in range(1, deepest + 1)]
    return all(
        math.isclose(
            drafting.PerPosition([alpha] * depth).expected_length(depth, convention=convention),
            drafting.expected_length(alpha, depth, convention=_COUNTED),
            rel_tol=1e-12,
        )
        for alpha, depth in pairs
    )


def pool_formula_holds(most: int) -> bool:
    """Whether 1 − (1 − α)^m is the chance that one of m independent drafters hits, for m ≤ most.

    The chance is that of all 2^m patterns of hits and misses but the one without a hit.
    """
    for alpha in _ALPHAS:
        for count in range(1, most + 1):
            patterns = product((alpha, 1.0 - alpha), repeat=count)
            some = math.fsum(map(math.prod, patterns)) - (1.0 - alpha) ** count
            if abs(some - drafting.pooled_acceptance(alpha, count=count)) > 1e-12:
                return False
    return True


def is_scaled_vandermonde(lam: Sequence[float], reversed_time: bool = False) -> bool:
    """Whether the reachability matrix is that with entries λ_j^{i−1}, transposed, up to scaling.

    Each member may be scaled by a constant; ``reversed_time`` also reverses the order of inputs.
    """
    nodes = np.asarray(lam, dtype=float)
    matrix = reachability_matrix(Ensemble(nodes), nodes.size)
    powers = np.vander(nodes, increasing=not reversed_time)
    scale = matrix[:, -1:] / powers[:, -1:]
    return bool(np.allclose(matrix, scale * powers, rtol=1e-12))
