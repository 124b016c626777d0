"""Greedy pools against enumeration, exact beta-binomials and what two events can do."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl import drafting
from ensctl.errors import InvalidInputError

_PROBABILITY = st.floats(0.0, 1.0)


@given(st.lists(_PROBABILITY, min_size=1, max_size=6))
def test_independent_hits_are_the_complement_of_all_misses(alphas: list[float]) -> None:
    misses = math.prod(1 - Fraction(alpha) for alpha in alphas)
    pooled = drafting.pooled_acceptance(alphas)
    assert pooled == pytest.approx(float(1 - misses), rel=1e-14, abs=1e-300)
    assert pooled >= max(alphas) * (1 - 1e-15)


def test_tiny_acceptance_keeps_its_digits() -> None:
    assert drafting.pooled_acceptance([1e-20, 3e-20]) == pytest.approx(4e-20, rel=1e-15)


@pytest.mark.parametrize("phi", [-0.3, 0.0, 0.15, 0.6])
def test_pair_matches_the_joint_table(phi: float) -> None:
    first, second = 0.7, 0.55
    spread = math.sqrt(first * (1 - first) * second * (1 - second))
    neither = (1 - first) * (1 - second) + phi * spread
    assert drafting.pooled_acceptance([first, second], phi) == pytest.approx(1 - neither, rel=1e-14)


def test_pair_refuses_a_correlation_no_two_events_have() -> None:
    with pytest.raises(InvalidInputError, match=r"correlation .* must be in \[-0.6667, 0.1667\]"):
        drafting.pooled_acceptance([0.8, 0.1], 0.9)


@pytest.mark.parametrize("count", [2, 3, 7])
@pytest.mark.parametrize("r", [0.05, 0.2, 0.5])
def test_exchangeable_pool_is_beta_binomial(count: int, r: float) -> None:
    alpha = 0.6
    strength = 1 / r - 1
    b = (1 - alpha) * strength
    misses = math.exp(
        math.lgamma(b + count)
        - math.lgamma(b)
        + math.lgamma(strength)
        - math.lgamma(strength + count)
    )
    pooled = drafting.pooled_acceptance(alpha, r, count=count)
    assert pooled == pytest.approx(1 - misses, rel=1e-12)
    assert alpha < pooled < drafting.pooled_acceptance(alpha, count=count)


def test_exchangeable_limits() -> None:
    assert drafting.pooled_acceptance(0.6, 1.0, count=4) == 0.6
    assert drafting.pooled_acceptance(0.0, 0.3, count=4) == 0.0
    assert drafting.pooled_acceptance(1.0, 0.3, count=4) == 1.0
    near = drafting.pooled_acceptance(0.6, 1e-12, count=4)
    assert near == pytest.approx(1 - 0.4**4, rel=1e-9)


def test_seed_pool_of_three() -> None:
    assert drafting.pooled_acceptance(0.6, count=3) == pytest.approx(0.936, rel=1e-15)


@pytest.mark.parametrize(
    ("alphas", "correlation", "match"),
    [
        ([0.5, 1.2], 0.0, "alphas must be probabilities"),
        ([0.5, float("nan")], 0.0, "alphas must be finite"),
        ([0.5, 0.6, 0.7], 0.1, "needs equal alphas"),
        ([0.5, 0.5, 0.5], -0.1, "must be ≥ 0"),
        ([], 0.0, "at least one entry"),
        (0.5, 2.0, "correlation must be ≤ 1"),
    ],
)
def test_wrong_pools_are_named(alphas: object, correlation: float, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        drafting.pooled_acceptance(alphas, correlation)  # type: ignore[arg-type]


def test_recursive_rejection_against_enumeration() -> None:
    """Every pair of drafts and every coin, in fractions."""
    p = [Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)]
    q = [Fraction(1, 5), Fraction(1, 5), Fraction(3, 5)]
    left = [max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True)]
    residual = [value / sum(left) for value in left]
    accepted = Fraction(0)
    for x, y in product(range(3), repeat=2):
        first = min(Fraction(1), p[x] / q[x])
        second = min(Fraction(1), residual[y] / q[y])
        accepted += q[x] * q[y] * (first + (1 - first) * second)
    found = drafting.recursive_rejection([float(v) for v in p], [float(v) for v in q], count=2)
    assert found.acceptance == pytest.approx(float(accepted), rel=1e-14)


def test_recursive_rejection_keeps_the_target_law() -> None:
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(12), size=3)
    found = drafting.recursive_rejection(p, q)
    law, reach = np.zeros(12), 1.0
    current = p
    for row in q:
        law += reach * np.minimum(current, row)
        left = np.maximum(current - row, 0)
        reach *= left.sum()
        current = left / left.sum()
    np.testing.assert_allclose(law + reach * found.residual, p, rtol=0, atol=1e-14)
    assert found.acceptance == pytest.approx(1 - reach, rel=1e-13)


def test_recursive_rejection_of_the_target_itself_accepts_at_once() -> None:
    p = [0.5, 0.25, 0.25]
    found = drafting.recursive_rejection(p, p, count=3)
    assert found.acceptance == 1.0
    np.testing.assert_array_equal(found.round_acceptances, [1, 1, 1])
    np.testing.assert_array_equal(found.residual, p)


@pytest.mark.parametrize(
    ("target", "drafts", "match"),
    [
        ([0.5, 0.4], [0.5, 0.5], "target must sum to one"),
        ([0.5, 0.5], [0.5, 0.4], "drafts must sum to one"),
        ([0.5, 0.5], [[0.5, 0.5], [0.7, 0.2]], "row 1 of drafts must sum to one"),
        ([0.5, 0.5], [1.0], "drafts must have 2 tokens"),
        ([1.5, -0.5], [0.5, 0.5], "target must be ≥ 0"),
        ([[0.5, 0.5]], [0.5, 0.5], "one distribution"),
    ],
)
def test_wrong_distributions_are_named(target: object, drafts: object, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        drafting.recursive_rejection(target, drafts)  # type: ignore[arg-type]
