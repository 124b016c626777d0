"""Break-even costs and acceptances: both depths are equally fast there, and swap beyond."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ensctl.drafting import (
    Beta,
    Convention,
    LinearCost,
    MarkovRenewal,
    break_even_alpha,
    break_even_cost,
    optimal_depth,
    throughput,
)
from ensctl.errors import InvalidInputError

_PAIRS = st.tuples(st.integers(0, 12), st.integers(1, 12)).map(lambda p: (p[0], p[0] + p[1]))


@given(
    st.floats(0.02, 0.98),
    _PAIRS,
    st.floats(0.2, 3.0),
    st.floats(0.2, 3.0),
    st.sampled_from(list(Convention)),
)
def test_both_depths_are_equally_fast(
    alpha: float, pair: tuple[int, int], fixed: float, off: float, convention: Convention
) -> None:
    cost = break_even_cost(alpha, *pair, convention=convention, fixed=fixed, off=off)
    assume(1e-6 < cost < 1e6)

    def gain(draft: float) -> float:
        model = LinearCost(draft, fixed, off=off)
        shallow, deep = (throughput(alpha, model, k, convention=convention) for k in pair)
        return deep / shallow - 1

    assert abs(gain(cost)) < 1e-12
    assert gain(cost * 0.99) > 0 > gain(cost * 1.01)


@settings(max_examples=40)
@given(
    st.floats(0.001, 1.5),
    _PAIRS,
    st.floats(0.5, 2.0),
    st.sampled_from(list(Convention)),
)
def test_acceptance_and_cost_invert_each_other(
    cost: float, pair: tuple[int, int], fixed: float, convention: Convention
) -> None:
    alpha = break_even_alpha(cost, *pair, convention=convention, fixed=fixed)
    if alpha == math.inf:
        model = LinearCost(cost, fixed)
        assert throughput(1.0, model, pair[1], convention=convention) <= throughput(
            1.0, model, pair[0], convention=convention
        )
        return
    assume(1e-3 < alpha < 1)
    back = break_even_cost(alpha, *pair, convention=convention, fixed=fixed)
    assert back == pytest.approx(cost, rel=1e-7)


def test_neighbours_bound_the_cell_of_the_optimum() -> None:
    for alpha in (0.4, 0.7, 0.9):
        upper = [break_even_cost(alpha, k, k + 1) for k in range(12)]
        assert upper == sorted(upper, reverse=True)
        assert upper[0] == pytest.approx(alpha)
        for k in range(11):
            middle = 0.5 * (upper[k] + upper[k + 1])
            assert optimal_depth(alpha, middle).depth == k + 1


def test_limits() -> None:
    # Committed at α = 1: K units for 1 + K c, deeper is always better.
    assert break_even_cost(1.0, 2, 3, convention="committed") == math.inf
    assert break_even_cost(1.0, 2, 3) == pytest.approx(1.0)
    assert break_even_cost(0.0, 2, 3) == 0.0
    assert break_even_cost(0.0, 2, 3, convention="committed") == 0.0
    # Too dear a cycle: not even free drafts pay.
    assert break_even_cost(0.5, 0, 1, fixed=1.9, off=1.0) < 0
    assert break_even_alpha(0.0, 0, 1) == 0.0
    assert break_even_alpha(0.1, 0, 1, convention="committed") == math.inf
    assert break_even_alpha(1.0, 0, 1) == 1.0


def test_models_beyond_one_alpha() -> None:
    for model in (Beta(3.0, 1.5), MarkovRenewal(0.9, 0.5)):
        cost = break_even_cost(model, 2, 4)
        assert throughput(model, cost, 2) == pytest.approx(throughput(model, cost, 4), rel=1e-13)


def test_bad_input_is_named() -> None:
    with pytest.raises(InvalidInputError, match="deeper"):
        break_even_cost(0.7, 3, 3)
    with pytest.raises(InvalidInputError, match="depth"):
        break_even_alpha(0.1, -1, 3)
    with pytest.raises(InvalidInputError, match="acceptance"):
        break_even_cost(-0.1, 0, 1)
    with pytest.raises(InvalidInputError, match="draft_cost"):
        break_even_alpha(-0.1, 0, 1)
    with pytest.raises(InvalidInputError, match="fixed"):
        break_even_cost(0.7, 0, 1, fixed=0.0)
    with pytest.raises(InvalidInputError, match="off"):
        break_even_cost(0.7, 0, 1, off=-1.0)
