"""Drafts that stop by confidence: simulation, special cases, and the oracle above them all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import (
    IID,
    Convention,
    LinearCost,
    PerPosition,
    best_stop_threshold,
    optimal_depth,
    oracle_length,
    oracle_throughput,
    stopped_draft,
    throughput,
)
from ensctl.errors import InvalidInputError


def simulated(
    stop: list[float], hazard: list[float], cycles: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Drafted and kept units of each cycle."""
    depth = len(stop)
    going = np.cumprod(rng.random((cycles, depth)) >= stop, axis=1)
    kept = np.cumprod(going * (rng.random((cycles, depth)) < hazard), axis=1)
    return going.sum(axis=1), kept.sum(axis=1)


def test_a_simulated_run() -> None:
    stop, hazard = [0.1, 0.2, 0.3, 0.1, 0.5], [0.95, 0.9, 0.8, 0.9, 0.7]
    drafted, kept = simulated(stop, hazard, 200_000, np.random.default_rng(2))
    lengths = {
        Convention.ACCEPTED: kept,
        Convention.COMMITTED: np.maximum(1, np.minimum(kept + 1, drafted)),
        Convention.WITH_BONUS: kept + 1,
    }
    for convention, seen in lengths.items():
        found = stopped_draft(stop, hazard, 5, convention=convention)
        noise = 5 * seen.std() / math.sqrt(seen.size)
        assert abs(found.expected_length - seen.mean()) < noise
        assert abs(found.drafted - drafted.mean()) < 0.02
        assert abs(found.passes - np.minimum(drafted + 1, 5).mean()) < 0.02
        assert found.acceptance_rate == pytest.approx(kept.sum() / drafted.sum(), rel=0.01)
        known = stopped_draft(stop, hazard, 5, convention=convention, discard=False)
        assert known.passes == known.drafted == pytest.approx(found.drafted)
        mean_cost = 1 + 0.2 * np.minimum(drafted + 1, 5).mean()
        assert found.expected_cycle(0.2) == pytest.approx(mean_cost, rel=0.01)


@given(st.floats(0, 1), st.integers(1, 20), st.sampled_from(list(Convention)), st.booleans())
def test_a_draft_that_never_stops_has_fixed_depth(
    alpha: float, depth: int, convention: Convention, discard: bool
) -> None:
    found = stopped_draft(0.0, alpha, depth, convention=convention, discard=discard)
    fixed = IID(alpha).expected_length(depth, convention=convention)
    assert found.expected_length == pytest.approx(fixed, rel=1e-13)
    assert found.throughput(0.1) == pytest.approx(
        throughput(alpha, 0.1, depth, convention=convention), rel=1e-13
    )
    assert found.drafted == depth


def test_a_draft_that_stops_at_once() -> None:
    found = stopped_draft(1.0, 0.9, 4, discard=False)
    assert (found.expected_length, found.drafted, found.passes) == (1.0, 0.0, 0.0)
    assert found.throughput(LinearCost(0.1, off=0.8)) == 1 / 0.8
    assert found.acceptance_rate == 0.0
    # The thrown-away unit is paid.
    assert stopped_draft(1.0, 0.9, 4).throughput(0.1) == pytest.approx(1 / 1.1)
    assert stopped_draft(0.1, 0.9, 0).expected_length == 1.0
    for convention in ("committed", "with_bonus"):
        assert stopped_draft(1.0, 0.9, 4, convention=convention).expected_length == 1.0


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(1, 30),
    st.floats(0.0, 1.0),
)
def test_no_rule_beats_the_oracle(
    share: float, sure: float, unsure: float, depth: int, draft: float
) -> None:
    """Two classes of confidence: whichever is drafted, α is their mean."""
    alpha = share * sure + (1 - share) * unsure
    bound = oracle_throughput(alpha, draft)
    length = oracle_length(min(alpha, 1.0))
    for stop, hazard in ((0.0, min(alpha, 1.0)), (1 - share, sure), (share, unsure)):
        found = stopped_draft(stop, hazard, depth, discard=False)
        assert found.expected_length <= length * (1 + 1e-12)
        assert found.throughput(draft) <= bound * (1 + 1e-9)


def test_oracle_closed_form() -> None:
    for alpha in (0.0, 0.3, 0.9):
        for draft in (0.0, 0.1, 0.7):
            cost = LinearCost(draft, 1.2)
            closed = 1 / ((1 - alpha) * 1.2 + alpha * draft)
            assert oracle_throughput(alpha, cost) == pytest.approx(closed, rel=1e-12)
    assert oracle_length(0.0) == 1.0 and oracle_length(1.0) == math.inf
    assert oracle_throughput(1.0, 0.1, 9) == pytest.approx(10 / 1.9)
    assert oracle_throughput(0.9, 0.1, 0) == 1.0
    assert oracle_throughput(PerPosition([0.5, 0.0]), 0.0, 2) == 1.5


def test_a_perfect_confidence_reaches_the_oracle() -> None:
    rng = np.random.default_rng(1)
    kept = rng.random(4000) < 0.8
    found = best_stop_threshold(np.where(kept, 0.9, 0.2), kept, 0.1, 200, discard=False)
    assert found.threshold == 0.9
    assert found.throughput == pytest.approx(oracle_throughput(kept.mean(), 0.1), rel=1e-6)
    assert found.gain > 0.3


def test_a_useless_confidence_changes_nothing() -> None:
    kept = np.tile([1, 1, 1, 0], 500)
    found = best_stop_threshold(np.full(2000, 0.5), kept, 0.1)
    assert found.fixed_throughput == found.throughput
    assert found.fixed_depth == found.depth == optimal_depth(0.75, 0.1).depth
    assert found.throughput == pytest.approx(optimal_depth(0.75, 0.1).throughput, rel=1e-13)


def test_the_best_threshold_is_best_by_simulation_of_each() -> None:
    rng = np.random.default_rng(4)
    sure = rng.random(5000)
    kept = rng.random(5000) < sure
    found = best_stop_threshold(sure, kept, 0.15, 20, thresholds=np.linspace(0, 1, 41))
    for level, stop, hazard, rate in zip(
        found.thresholds, found.stop, found.hazard, found.curve, strict=True
    ):
        above = sure >= level
        assert stop == pytest.approx(1 - above.mean(), abs=1e-12)
        if above.any():
            assert hazard == pytest.approx(kept[above].mean())
        rates = [stopped_draft(stop, hazard, k).throughput(0.15) for k in range(1, 21)]
        assert rate == pytest.approx(max(1.0, *rates), rel=1e-12)
    # The most accepted draft is not the fastest.
    assert found.hazard[np.argmax(found.curve)] < found.hazard.max()
    assert found.gain > 0


@pytest.mark.parametrize("convention", list(Convention))
def test_never_slower_than_a_fixed_depth(convention: Convention) -> None:
    rng = np.random.default_rng(7)
    sure = rng.random(300)
    kept = rng.random(300) < 0.6
    found = best_stop_threshold(sure, kept, 0.1, 12, thresholds=[0.5, 0.9], convention=convention)
    plain = optimal_depth(kept.mean(), 0.1, 12, convention=convention)
    assert found.fixed_throughput == pytest.approx(plain.throughput, rel=1e-12)
    assert found.throughput >= found.fixed_throughput
    assert "against the best fixed depth" in str(found)
    assert found.to_dict()["kind"] == "stop_threshold"
    assert stopped_draft(0.1, 0.9, 3).to_dict()["kind"] == "stopped_draft"


def test_bad_input_is_named() -> None:
    with pytest.raises(InvalidInputError, match="stop"):
        stopped_draft(1.1, 0.5, 3)
    with pytest.raises(InvalidInputError, match="hazard"):
        stopped_draft(0.1, [0.5, 0.5], 3)
    with pytest.raises(InvalidInputError, match="max_depth"):
        stopped_draft(0.1, 0.5, -3)
    with pytest.raises(InvalidInputError, match="kept"):
        best_stop_threshold([0.1, 0.2], [1, 0.5], 0.1)
    with pytest.raises(InvalidInputError, match="kept"):
        best_stop_threshold([0.1, 0.2], [1, 0, 1], 0.1)
    with pytest.raises(InvalidInputError, match="confidence"):
        best_stop_threshold([], [], 0.1)
    with pytest.raises(InvalidInputError, match="alpha"):
        oracle_length(1.5)
