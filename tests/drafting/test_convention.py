"""Conventions, the length at a given α, its inverse, and conversions between reported metrics."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.drafting import (
    IID,
    Convention,
    Estimate,
    Metric,
    PerPosition,
    alpha_from_efficiency,
    alpha_from_length,
    alpha_from_rate,
    as_convention,
    as_depth,
    as_metric,
    convert,
    expected_length,
    hazards_from_survival,
    length_from_rate,
    rate_from_length,
    survival_from_hazards,
)
from ensctl.errors import InvalidInputError, NotIdentifiableError

_ALPHAS = st.floats(0.0, 1.0)
_DEPTHS = st.integers(1, 40)
_CONVENTIONS = st.sampled_from(list(Convention))


def _exact(alpha: float, depth: int, rule: Convention) -> Fraction:
    unit = Fraction(alpha)
    return sum((unit**j for j in range(rule.first, rule.last(depth) + 1)), Fraction(0))


@given(_ALPHAS, st.integers(0, 60), _CONVENTIONS)
def test_length_is_the_exact_sum_of_powers(alpha: float, depth: int, rule: Convention) -> None:
    exact = float(_exact(alpha, depth, rule))
    assert expected_length(alpha, depth, convention=rule) == pytest.approx(exact, rel=4e-15)


@pytest.mark.parametrize("gap", [2.0**-52, 1e-12, 1e-8, 1e-3])
@pytest.mark.parametrize("depth", [1, 7, 1000])
def test_nothing_is_lost_next_to_certain_acceptance(gap: float, depth: int) -> None:
    alpha = 1.0 - gap
    exact = Fraction(alpha)
    missing = depth + 1 - (1 - exact ** (depth + 1)) / (1 - exact)
    assert depth + 1 - expected_length(alpha, depth) == pytest.approx(
        float(missing), rel=1e-12, abs=4e-16 * depth
    )


@given(_ALPHAS, _DEPTHS)
def test_conventions_differ_by_the_right_amounts(alpha: float, depth: int) -> None:
    accepted, committed, with_bonus = (
        expected_length(alpha, depth, convention=rule) for rule in Convention
    )
    assert with_bonus == pytest.approx(1.0 + accepted, rel=1e-14)
    assert committed == pytest.approx(with_bonus - alpha**depth, rel=1e-13)


def test_limits_of_alpha() -> None:
    for depth in (0, 1, 5):
        assert expected_length(0, depth) == 1.0
        assert expected_length(1, depth) == depth + 1.0
        assert expected_length(0, depth, convention="accepted") == 0.0
        assert expected_length(1, depth, convention="accepted") == depth
        assert expected_length(0, depth, convention="committed") == min(depth, 1)
        assert expected_length(1, depth, convention="committed") == depth


@pytest.mark.reference
def test_lengths_printed_by_the_papers(reference: Callable[[str], Any]) -> None:
    for row in reference("drafting_lengths")["lengths"]:
        value = expected_length(row["alpha"], row["depth"], convention=row["convention"])
        assert round(value, row["digits"]) == row["length"]


@pytest.mark.reference
def test_throughputs_of_both_readings_of_the_same_words(reference: Callable[[str], Any]) -> None:
    for row in reference("drafting_lengths")["throughputs"]:
        length = expected_length(row["alpha"], row["depth"], convention=row["convention"])
        throughput = length / (row["depth"] * row["draft"] + 1.0)
        assert round(throughput, row["digits"]) == row["throughput"]


def test_arrays_broadcast_and_scalars_give_floats() -> None:
    grid = expected_length([[0.2], [0.9]], [0, 1, 2])
    assert grid.shape == (2, 3)
    assert grid[1, 2] == expected_length(0.9, 2)
    assert isinstance(expected_length(np.float64(0.5), np.int64(3)), float)


@given(_ALPHAS, _DEPTHS, _CONVENTIONS)
def test_alpha_comes_back_from_the_length(alpha: float, depth: int, rule: Convention) -> None:
    if rule is Convention.COMMITTED and depth == 1:
        return
    length = expected_length(alpha, depth, convention=rule)
    back = alpha_from_length(length, depth, convention=rule)
    # A length of this size is known to half a unit in the last place, and its slope is at least 1.
    assert back == pytest.approx(alpha, abs=1e-15 * (2 + length))


def test_alpha_keeps_its_relative_precision_when_little_is_accepted() -> None:
    assert alpha_from_length(1e-9, 8, convention="accepted") == pytest.approx(1e-9, rel=2e-9)
    tiny = 3e-200
    assert alpha_from_length(tiny, 8, convention="accepted") == pytest.approx(tiny, rel=1e-14)


def test_alpha_from_length_is_vectorised_with_exact_ends() -> None:
    alphas = alpha_from_length([1.0, 2.533, 5.0], 4)
    assert alphas[0] == 0.0 and alphas[2] == 1.0 and 0 < alphas[1] < 1
    assert alpha_from_length([[1.0], [2.0]], [2, 3]).shape == (2, 2)


@pytest.mark.parametrize("length", [0.99, 5.01, -1.0, math.nan, math.inf])
def test_length_outside_its_range(length: float) -> None:
    with pytest.raises(InvalidInputError, match="length"):
        alpha_from_length(length, 4)


def test_lengths_that_do_not_depend_on_alpha() -> None:
    with pytest.raises(NotIdentifiableError, match="every α"):
        alpha_from_length(1.0, 1, convention="committed")
    with pytest.raises(NotIdentifiableError):
        alpha_from_length(1.0, 0)


@pytest.mark.parametrize("alpha", [-0.1, 1.0001, 70, math.nan, "x", 0.5j])
def test_alpha_outside_its_range(alpha: Any) -> None:
    with pytest.raises(InvalidInputError, match="alpha"):
        expected_length(alpha, 3)


def test_bad_depths_and_names() -> None:
    with pytest.raises(InvalidInputError, match="depth"):
        expected_length(0.5, -1)
    with pytest.raises(InvalidInputError, match="broadcast"):
        expected_length([0.1, 0.2], [1, 2, 3])
    with pytest.raises(InvalidInputError, match="broadcast"):
        alpha_from_length([1.1, 1.2], [1, 2, 3])
    with pytest.raises(InvalidInputError, match="depth must be ≥ 0"):
        alpha_from_length(1.0, -2)
    for bad in (-1, 2.5, True, 10**7, None):
        with pytest.raises(InvalidInputError, match="depth"):
            as_depth(bad)
    with pytest.raises(InvalidInputError, match="with_bonus"):
        as_convention("bonus")
    with pytest.raises(InvalidInputError, match="acceptance_rate"):
        as_metric(3)


def test_conventions_are_read_by_name() -> None:
    for rule in Convention:
        assert as_convention(rule) is rule
        assert as_convention(f" {rule.value.replace('_', '-').upper()} ") is rule
        assert str(rule).startswith(rule.value)


@settings(max_examples=12)
@given(_ALPHAS, st.integers(2, 16))
def test_every_metric_round_trips_through_every_other(alpha: float, depth: int) -> None:
    for source in Metric:
        value = convert(alpha, Metric.ALPHA, source, depth)
        for target in Metric:
            other = convert(value, source, target, depth)
            np.testing.assert_allclose(
                other, convert(alpha, Metric.ALPHA, target, depth), rtol=1e-11, atol=1e-13 * depth
            )


@given(st.lists(_ALPHAS, min_size=1, max_size=8))
def test_survival_determines_the_lengths_without_assumptions(alphas: list[float]) -> None:
    model, depth = PerPosition(alphas), len(alphas)
    survival = model.survival(depth)[1:]
    for rule, metric in zip(
        Convention,
        (Metric.ACCEPTED_LENGTH, Metric.COMMITTED_LENGTH, Metric.WITH_BONUS_LENGTH),
        strict=True,
    ):
        expected = model.expected_length(depth, convention=rule)
        assert convert(survival, "survival", metric, depth) == pytest.approx(expected, abs=1e-13)
        assert convert(alphas, "hazards", metric, depth) == pytest.approx(expected, abs=1e-13)


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=8))
def test_hazards_and_survival_are_inverse(alphas: list[float]) -> None:
    np.testing.assert_allclose(
        hazards_from_survival(survival_from_hazards(alphas)), alphas, rtol=1e-14
    )


def test_alpha_of_a_survival_is_accepted_over_tested() -> None:
    # 100 drafts of depth 3, P = (70, 40, 20): α = A/(A + D − P_2) = 130/(130 + 100 − 20).
    assert convert([0.7, 0.4, 0.2], "survival", "alpha", 3) == pytest.approx(130 / 210, rel=1e-15)


def test_named_conversions() -> None:
    assert length_from_rate(0.4, 5) == 3.0
    assert length_from_rate(0.4, 5, convention="accepted") == 2.0
    assert rate_from_length(3.0, 5) == 0.4
    assert alpha_from_rate((0.7 + 0.49) / 2, 2) == pytest.approx(0.7, rel=1e-14)
    assert alpha_from_efficiency(2.19 / 3, 2) == pytest.approx(0.7, rel=1e-14)
    # The printed rate falls with the depth at the same α.
    rates = [convert(0.7, "alpha", "acceptance_rate", depth) for depth in range(1, 8)]
    assert rates[0] == pytest.approx(0.7) and np.all(np.diff(rates) < 0)


@pytest.mark.parametrize(
    ("value", "metric", "depth"),
    [
        (1.2, "acceptance_rate", 3),
        (-0.1, "acceptance_rate", 3),
        (0.5, "with_bonus_length", 3),
        (4.5, "with_bonus_length", 3),
        (3.5, "committed_length", 3),
        (0.2, "system_efficiency", 3),
        (1.5, "alpha", 3),
        (math.nan, "acceptance_rate", 3),
        ([0.5, 0.6], "survival", 2),
        ([0.5, 0.4], "survival", 3),
        ([0.5, 1.4], "hazards", 2),
        (0.5, "alpha", 0),
    ],
)
def test_numbers_no_engine_can_print(value: Any, metric: str, depth: int) -> None:
    for target in ("accepted_length", "alpha", metric):
        with pytest.raises(InvalidInputError):
            convert(value, metric, target, depth)


@pytest.mark.parametrize("bad", [[[0.5], [0.4, 0.3]], [], "x", [0.5, math.nan], [0.5, -0.1]])
def test_positions_that_are_no_vector_of_shares(bad: Any) -> None:
    for conversion in (hazards_from_survival, survival_from_hazards):
        with pytest.raises(InvalidInputError):
            conversion(bad)


def test_a_committed_length_of_one_unit_says_nothing() -> None:
    assert convert(1.0, "committed_length", "committed_length", 1) == 1.0
    with pytest.raises(NotIdentifiableError):
        convert(1.0, "committed_length", "alpha", 1)


def test_an_estimate_shows_its_interval_and_checks_it() -> None:
    estimate = Estimate.normal(0.99, 0.01, lower=0.0, upper=1.0, method="tested")
    assert estimate.high == 1.0 and estimate.low == pytest.approx(0.99 - 0.0195996398, rel=1e-9)
    assert estimate.covers(1.0) and not estimate.covers(0.9) and float(estimate) == 0.99
    assert estimate.to_dict()["kind"] == "estimate" and "95 %" in str(estimate)
    with pytest.raises(InvalidInputError, match="low ≤ value"):
        Estimate(0.5, 0.6, 0.7, 0.1)
    with pytest.raises(InvalidInputError, match="std_error"):
        Estimate(0.5, 0.4, 0.7, math.nan)
    with pytest.raises(InvalidInputError, match="level"):
        Estimate(0.5, 0.4, 0.7, 0.1, level=95)
    with pytest.raises(InvalidInputError, match="value"):
        Estimate(math.nan, 0.0, 1.0, 0.1)


def test_iid_agrees_with_the_function() -> None:
    for rule in Convention:
        for depth in (0, 1, 2, 9):
            ours = IID(0.83).expected_length(depth, convention=rule)
            assert ours == pytest.approx(expected_length(0.83, depth, convention=rule), rel=1e-15)
