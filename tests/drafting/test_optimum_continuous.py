"""The optimum over real depths against Lambert's function, fifty digits and integer neighbours."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import lambertw

from ensctl.drafting import IID, Convention, continuous_optimum, expected_length, optimal_depth
from ensctl.errors import InvalidInputError


def exact_depth(alpha: float, cost: float, fixed: float, bonus: bool) -> mp.mpf:
    with mp.workdps(60):
        decay, c = -mp.log(mp.mpf(alpha)), mp.mpf(cost)
        base = mp.mpf(fixed) - c if bonus else mp.mpf(fixed)
        if base <= 0:
            return mp.mpf(0)
        ratio = decay * base / c
        branch = mp.lambertw(-mp.exp(-1 - ratio), -1)
        depth = (-branch - 1 - ratio) / decay - (1 if bonus else 0)
        return max(mp.mpf(0), mp.re(depth))


@pytest.mark.reference
@pytest.mark.parametrize("alpha", [1e-300, 1e-8, 0.1, 0.5, 0.9, 0.999, 1 - 1e-12])
@pytest.mark.parametrize("cost", [1e-5, 0.01, 0.1, 0.9, 5.0, 1e6])
@pytest.mark.parametrize("bonus", [False, True])
def test_sixty_digits(alpha: float, cost: float, bonus: bool) -> None:
    convention = Convention.WITH_BONUS if bonus else Convention.COMMITTED
    found = continuous_optimum(alpha, cost, convention=convention).depth
    exact = exact_depth(alpha, cost, 1.0, bonus)
    assert abs(found - exact) <= 1e-14 * (exact + bonus)


@pytest.mark.parametrize("alpha", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("cost", [0.02, 0.1, 0.8])
def test_lambert_in_double_precision(alpha: float, cost: float) -> None:
    decay = -math.log(alpha)
    branch = lambertw(-math.exp(-1 - decay / cost), -1).real
    assert continuous_optimum(alpha, cost, convention="committed").depth == pytest.approx(
        -branch / decay - 1 / cost - 1 / decay, rel=1e-9
    )


@given(
    st.floats(0.01, 0.99), st.floats(0.005, 0.9), st.floats(0.5, 3.0), st.sampled_from(Convention)
)
def test_the_slope_vanishes_and_the_best_integer_is_a_neighbour(
    alpha: float, cost: float, fixed: float, convention: Convention
) -> None:
    best = continuous_optimum(alpha, cost, convention=convention, fixed=fixed)

    def rate(depth: float) -> float:
        length = expected_length(alpha, depth, convention=convention)
        return float(length) / (fixed + depth * cost)

    assert best.throughput == pytest.approx(rate(best.depth), rel=1e-12)
    for step in (1e-3, 0.3):
        assert rate(best.depth + step) <= best.throughput * (1 + 1e-14)
        assert rate(max(0.0, best.depth - step)) <= best.throughput * (1 + 1e-14)
    depths = np.arange(400.0)
    rates = np.asarray(expected_length(alpha, depths, convention=convention))
    rates = rates / (fixed + depths * cost)
    integer = 1 + int(np.argmax(rates[1:]))
    if integer < 399:
        assert max(1, math.floor(best.depth)) <= integer <= max(1, math.ceil(best.depth))


def test_the_integer_optimum_is_a_neighbour() -> None:
    for alpha in (0.3, 0.6, 0.9):
        best = continuous_optimum(alpha, 0.05)
        assert abs(optimal_depth(alpha, 0.05, 200).depth - best.depth) < 1


def test_limits() -> None:
    for convention in Convention:
        assert continuous_optimum(0.0, 0.1, convention=convention).depth == 0.0
        free = continuous_optimum(0.5, 0.0, convention=convention)
        assert free.depth == math.inf
        assert free.throughput == (1.0 if convention is Convention.ACCEPTED else 2.0)
        sure = continuous_optimum(1.0, 0.25, convention=convention)
        assert (sure.depth, sure.throughput) == (math.inf, 4.0)
    assert continuous_optimum(0.0, 0.1).throughput == 1.0
    assert continuous_optimum(0.0, 0.1, convention="accepted").throughput == 0.0
    assert continuous_optimum(1.0, 0.0).throughput == math.inf
    # A draft as dear as a pass with bonus gains nothing even when it is sure.
    assert continuous_optimum(1.0, 1.0).depth == 0.0
    assert continuous_optimum(0.999, 1.5).depth == 0.0


def test_no_underflow_and_no_branch_point() -> None:
    """L/c = 2.3e5 underflows e^{−1−L/c}; next to α = 1, K ≈ √(2/(cL))."""
    tiny = continuous_optimum(0.1, 1e-5, convention="committed")
    assert tiny.depth == pytest.approx(math.log(math.log(10) / 1e-5) / math.log(10), rel=1e-2)
    near = continuous_optimum(1 - 1e-15, 0.1, convention="committed")
    decay = -math.log1p(-(1 - (1 - 1e-15)))
    assert near.depth == pytest.approx(math.sqrt(2 / (0.1 * decay)), rel=1e-6)
    assert math.isfinite(continuous_optimum(5e-324, 1e-300).depth)


def test_results_show_themselves() -> None:
    best = continuous_optimum(0.7, 0.1, convention=Convention.COMMITTED)
    assert str(best).startswith("K = 5.2163890647")
    assert best.to_dict()["kind"] == "continuous_optimum"
    assert best.throughput > IID(0.7).expected_length(5, convention="committed") / 1.5


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((1.1, 0.1), "alpha"), ((0.5, -1.0), "draft_cost"), ((math.nan, 0.1), "alpha")],
)
def test_bad_input_is_named(arguments: tuple[float, float], name: str) -> None:
    with pytest.raises(InvalidInputError, match=name):
        continuous_optimum(*arguments)
    with pytest.raises(InvalidInputError, match="fixed"):
        continuous_optimum(0.5, 0.1, fixed=0.0)
