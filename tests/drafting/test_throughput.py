"""Throughput, speedup and operations: closed forms, simulation, limits and bad input."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.drafting import (
    IID,
    Convention,
    LinearCost,
    MarkovRenewal,
    PerPosition,
    TableCost,
    implied_length,
    implied_verify_ratio,
    improvement,
    operations,
    speedup,
    throughput,
)
from ensctl.errors import InvalidInputError

_RATES = st.fractions(0, 1, max_denominator=97)
_COSTS = st.fractions(0, 3, max_denominator=97)
_DEPTHS = st.integers(1, 40)


@settings(max_examples=40)
@given(_RATES, _COSTS, _DEPTHS, st.sampled_from(list(Convention)))
def test_throughput_is_the_exact_quotient(
    alpha: Fraction, cost: Fraction, depth: int, convention: Convention
) -> None:
    orders = {
        Convention.ACCEPTED: range(1, depth + 1),
        Convention.COMMITTED: range(depth),
        Convention.WITH_BONUS: range(depth + 1),
    }[convention]
    exact = sum((alpha**j for j in orders), Fraction(0)) / (1 + depth * cost)
    found = throughput(float(alpha), float(cost), depth, convention=convention)
    assert found == pytest.approx(float(exact), rel=1e-14, abs=0)


@pytest.mark.parametrize("convention", list(Convention))
def test_depth_zero_is_one_unit_per_pass(convention: Convention) -> None:
    cost = LinearCost(0.1, 1.0, 0.25, off=0.8)
    assert throughput(0.7, cost, 0, convention=convention) == 1 / 0.8
    assert speedup(0.7, cost, 0, convention=convention) == 1.0


def test_limits_of_acceptance() -> None:
    assert throughput(0.0, 0.1, 5) == 1 / 1.5
    assert throughput(1.0, 0.1, 5) == 6 / 1.5
    assert throughput(0.0, 0.1, 5, convention="accepted") == 0.0
    assert throughput(1.0, 0.1, 5, convention="committed") == 5 / 1.5


def test_speedup_is_against_the_pass_without_drafts() -> None:
    cost = TableCost([0, 1, 3], [10.0, 14.0, 18.0])
    assert speedup(0.8, cost, 3) == pytest.approx(2.952 * 10 / 18, rel=1e-14)
    assert speedup(0.8, cost, 3, off=9.0) == pytest.approx(2.952 * 9 / 18, rel=1e-14)


def test_a_simulated_run_has_this_throughput() -> None:
    rng = np.random.default_rng(5)
    for model in (IID(0.7), PerPosition([0.9, 0.6, 0.6, 0.3]), MarkovRenewal(0.85, 0.45)):
        kept = model.sample(200_000, 4, rng)
        seen = (kept + 1).sum() / (kept.size * 1.4)
        spread = math.sqrt(model.long_run_variance(4) / kept.size) / 1.4
        assert abs(seen - throughput(model, 0.1, 4)) < 4 * spread


@settings(max_examples=40)
@given(_RATES, _COSTS, _DEPTHS)
def test_improvement_and_operations_agree_with_lengths(
    alpha: Fraction, cost: Fraction, depth: int
) -> None:
    a, c = float(alpha), float(cost)
    assert improvement(a, depth, c) == pytest.approx(throughput(a, c, depth), rel=1e-14)
    assert operations(a, depth, c) * improvement(a, depth, c) == pytest.approx(
        (depth * c + depth + 1) / (depth * c + 1), rel=1e-13
    )
    assert operations(a, depth, c) >= 1 - 1e-15


def test_improvement_exists_if_and_only_if_alpha_exceeds_the_cost() -> None:
    for alpha in (0.05, 0.3, 0.8):
        for cost in (0.04, 0.06, 0.29, 0.31, 0.79, 0.81):
            pays = any(improvement(alpha, depth, cost) > 1 for depth in range(1, 60))
            assert pays == (alpha > cost)


def test_implied_numbers_invert_the_cycle() -> None:
    cycle = 20.0 * 1.1 + 5 * 1.5
    assert implied_length(cycle, cycle / 3.3) == pytest.approx(3.3, rel=1e-14)
    assert implied_verify_ratio(3.3, cycle / 3.3, 5, 1.5, 20.0) == pytest.approx(1.1, rel=1e-13)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((1.2, 0.1, 3), "acceptance"),
        ((-0.1, 0.1, 3), "acceptance"),
        ((math.nan, 0.1, 3), "acceptance"),
        (("high", 0.1, 3), "acceptance"),
        ((0.7, -0.1, 3), "cost"),
        ((0.7, math.inf, 3), "cost"),
        ((0.7, None, 3), "cost"),
        ((0.7, 0.1, -1), "depth"),
        ((0.7, 0.1, 2.5), "depth"),
        ((0.7, 0.1, True), "depth"),
    ],
)
def test_bad_input_is_named(arguments: tuple[object, ...], name: str) -> None:
    with pytest.raises(InvalidInputError, match=name):
        throughput(*arguments)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=name):
        speedup(*arguments)  # type: ignore[arg-type]


def test_other_bad_input_is_named() -> None:
    with pytest.raises(InvalidInputError, match="convention"):
        throughput(0.7, 0.1, 0, convention="tokens")
    with pytest.raises(InvalidInputError, match="batch"):
        throughput(0.7, 0.1, 3, batch=0)
    with pytest.raises(InvalidInputError, match="off"):
        speedup(0.7, 0.1, 3, off=0.0)
    with pytest.raises(InvalidInputError, match="draft_operations"):
        operations(0.7, 3, -1.0)
    with pytest.raises(InvalidInputError, match="alpha"):
        improvement(1.5, 3)
    with pytest.raises(InvalidInputError, match="per_unit"):
        implied_length(10.0, 0.0)
    with pytest.raises(InvalidInputError, match="length"):
        implied_verify_ratio(0.5, 1.0, 3, 0.1, 1.0)
