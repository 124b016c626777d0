"""The best depth: all depths compared, the stopping rule, ties, and costs that are not convex."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import (
    IID,
    Beta,
    Convention,
    DelayedGeometric,
    Estimate,
    LinearCost,
    MarkovRenewal,
    Mixture,
    PerPosition,
    TableCost,
    optimal_depth,
    throughput,
)
from ensctl.drafting.optimum_rules import best_by_comparison, best_by_stopping, stopping_is_exact
from ensctl.errors import InvalidInputError

_MODELS = [
    IID(0.8),
    PerPosition([0.9, 0.7, 0.7, 0.5, 0.3] + [0.2] * 25),
    Beta(3.0, 1.5),
    Mixture([0.3, 0.7], [IID(0.95), IID(0.4)]),
    MarkovRenewal(0.9, 0.4),
    DelayedGeometric(2, 0.6),
]


@pytest.mark.parametrize("model", _MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("convention", list(Convention))
def test_no_depth_is_faster(model: object, convention: Convention) -> None:
    for draft in (0.0, 0.02, 0.1, 0.4, 1.2):
        best = optimal_depth(model, LinearCost(draft, 1.0, 0.2), 30, convention=convention)
        rates = [
            throughput(model, LinearCost(draft, 1.0, 0.2), k, convention=convention)
            for k in range(31)
        ]
        assert best.curve == pytest.approx(rates, rel=1e-13)
        assert best.throughput >= max(rates) * (1 - 1e-13)
        assert best.throughput == pytest.approx(best.expected_length / best.cycle, rel=1e-15)
        assert best.speedup == pytest.approx(best.throughput * 1.2, rel=1e-14)
        assert best.runner_up != best.depth and best.margin >= 0


_HAZARDS = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=24).map(
    lambda values: sorted(values, reverse=True)
)
_STEPS = st.lists(st.floats(0.0, 1.5), min_size=24, max_size=24).map(sorted)


@given(_HAZARDS, _STEPS, st.floats(0.3, 3.0), st.sampled_from(list(Convention)))
def test_the_stopping_rule_agrees_where_it_is_exact(
    hazards: list[float], steps: list[float], off: float, convention: Convention
) -> None:
    """Any falling survival and any convex cost."""
    depth = len(hazards)
    lengths = PerPosition(hazards).expected_lengths(depth, convention=convention).copy()
    lengths[0] = 1.0
    cycles = np.concatenate([[off], 1.0 + np.cumsum(steps[:depth])])
    assert stopping_is_exact(lengths, cycles)
    rates = lengths / cycles
    stopped = best_by_stopping(lengths, cycles)
    assert rates[stopped] >= rates[best_by_comparison(lengths, cycles)] * (1 - 1e-13)


def test_comparison_decides_where_marginal_costs_fall() -> None:
    """Verification in blocks of eight: the rule stops at the first step up, too early."""
    blocks = [1.0 + 0.02 * k + 0.5 * math.ceil((k + 1) / 8) for k in range(25)]
    blocks[0] = 1.0
    best = optimal_depth(0.97, TableCost(range(25), blocks), 24)
    assert not best.exact_stopping
    assert best.depth == int(np.argmax(best.curve))
    assert best.stopping_depth == 7 and best.depth == 23
    assert "comparing all depths" in best.reason


def test_memory_is_compared_at_every_depth() -> None:
    """Summing one survival curve would choose another depth than the model itself."""
    model = MarkovRenewal(0.95, 0.2)
    best = optimal_depth(model, 0.15, 40)
    summed = np.cumsum(model.survival(2)[1] * 0.95 ** np.arange(40)) + 1
    frozen = 1 + int(np.argmax(summed / (1 + 0.15 * np.arange(1, 41))))
    assert best.depth != frozen
    assert best.throughput == max(best.curve)


def test_equal_depths_give_the_smaller() -> None:
    # One sure unit and nothing after it, at no cost: depths 1, 2, 3 are the same.
    assert optimal_depth(PerPosition([1.0, 0.0, 0.0]), 0.0, 3).depth == 1
    # α = c exactly: K = 1 is as fast as off.
    assert optimal_depth(0.5, 0.5).depth == 0
    assert optimal_depth(0.5, 0.5, convention="committed").depth == 0


def test_ends_of_acceptance() -> None:
    assert optimal_depth(0.0, 0.0).depth == 0
    assert optimal_depth(0.0, 0.1).throughput == 1.0
    limited = optimal_depth(1.0, 0.1, 12)
    assert limited.depth == 12 and "max_depth = 12" in limited.reason
    assert limited.throughput == pytest.approx(13 / 2.2)
    assert optimal_depth(1.0, 1.0).depth == 0
    only = optimal_depth(0.7, 0.1, 0)
    assert only.depth == 0 and only.runner_up is None and only.margin == math.inf


def test_a_single_committed_unit_never_pays() -> None:
    for alpha in np.linspace(0, 1, 21):
        for cost in (0.0, 0.01, 0.3):
            assert optimal_depth(alpha, cost, convention="committed").depth != 1


def test_one_unit_pays_if_and_only_if_alpha_exceeds_its_share() -> None:
    """Between C(0) = 1 and C(1) = c_0 + c the only question is α > c + c_0 − 1."""
    for alpha in (0.2, 0.5, 0.9):
        for base in (1.0, 1.1, 1.3):
            for draft in (0.05, 0.15, 0.35):
                best = optimal_depth(alpha, LinearCost(draft, base, off=1.0), 1)
                assert (best.depth == 1) == (alpha > draft + base - 1.0)


def test_a_deeper_draft_can_pay_where_one_unit_does_not() -> None:
    cost = LinearCost(0.05, 1.9, off=1.0)
    assert round(throughput(0.8, cost, 1), 2) == 0.92
    assert round(throughput(0.8, cost, 5), 2) == 1.72
    assert optimal_depth(0.8, cost).depth > 1
    assert optimal_depth(0.8, cost, 1).depth == 0


def test_an_estimated_alpha_brings_a_band() -> None:
    best = optimal_depth(Estimate(0.7, 0.6, 0.78, 0.04, level=0.9), 0.1, 20)
    assert best.curve_low is not None and best.curve_high is not None
    assert np.all(best.curve_low <= best.curve) and np.all(best.curve <= best.curve_high)
    assert best.curve_low == pytest.approx(optimal_depth(0.6, 0.1, 20).curve)
    ends = optimal_depth(0.6, 0.1, 20).depth, optimal_depth(0.78, 0.1, 20).depth
    assert (best.depth_low, best.depth_high) == ends == (3, 5)
    assert "90% interval" in str(best)
    assert optimal_depth(0.7, 0.1).curve_low is None


def test_results_show_themselves() -> None:
    best = optimal_depth(0.7, 0.1, 8)
    assert str(best).startswith("K = 4: 1.981 times plain decoding")
    assert len(str(best).splitlines()) <= 12
    data = best.to_dict()
    assert data["kind"] == "depth_optimum" and data["convention"] == "with_bonus"
    assert len(data["curve"]) == 9
    assert not best.curve.flags.writeable


def test_bad_input_is_named() -> None:
    with pytest.raises(InvalidInputError, match="max_depth"):
        optimal_depth(0.7, 0.1, -1)
    with pytest.raises(InvalidInputError, match="acceptance"):
        optimal_depth(1.7, 0.1)
    with pytest.raises(InvalidInputError, match="cost"):
        optimal_depth(0.7, -0.1)
    with pytest.raises(InvalidInputError, match="convention"):
        optimal_depth(0.7, 0.1, convention="draft")
