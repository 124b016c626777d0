"""Plans over loads: the best depth at each, no flutter, and what errors are allowed to do."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import (
    BatchCost,
    BatchTable,
    Counters,
    Drafter,
    Estimate,
    LinearCost,
    MarkovRenewal,
    TableCost,
    fit_acceptance,
    throughput,
)
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.scheduling import LOADED_OFF_OVERHEAD, PlanTable, plan_table
from ensctl.scheduling.hysteresis import smoothed

_COST = BatchTable([1, 32, 64], [10, 14, 22], [0.8, 3.0, 9.0], [9, 12, 18])


def _exact(**options: object) -> PlanTable:
    """No smoothing at all."""
    return plan_table(0.7, _COST, 64, max_depth=5, noise=0.0, hysteresis=0.0, **options)


def test_every_load_takes_the_best_depth() -> None:
    plan = _exact(monotone=False)
    for batch in range(1, 65):
        rates = [throughput(0.7, _COST, k, batch=batch) for k in range(6)]
        assert plan.depth(batch) == int(np.argmax(rates))
        assert plan.throughput[0, batch - 1] == pytest.approx(max(rates), rel=1e-14)
    assert np.all(plan.loss <= 1e-15)


def test_contexts_are_planned_apart() -> None:
    cost = BatchCost.h100_8b()
    plan = plan_table(0.7, cost, [1, 64, 512], [0, 2000, 8000], max_depth=10)
    for context in (0, 2000, 8000):
        alone = plan_table(0.7, cost, [1, 64, 512], context, max_depth=10)
        assert [plan.depth(b, context) for b in (1, 64, 512)] == alone.depths[0].tolist()
    assert plan.depth(512, 8000) > plan.depth(512, 0)
    # Between planned contexts the nearest one counts.
    assert plan.depth(512, 7000) == plan.depth(512, 8000)
    with pytest.raises(InvalidInputError, match="context must be given"):
        plan.depth(512)


def test_acceptance_by_context() -> None:
    cost = BatchCost.h100_8b()
    plan = plan_table({0: 0.7, 7400: 0.124}, cost, 32, [0, 7400], max_depth=5)
    assert plan.depth(1, 0) >= 3 and plan.depth(1, 7400) <= 1
    with pytest.raises(InvalidInputError, match="every planned context"):
        plan_table({0: 0.7}, cost, 32, [0, 7400], max_depth=5)


def test_off_with_its_own_cost() -> None:
    free = _exact().ranges()[-1]
    paying = _exact(loaded_off_overhead=0.1).ranges()[-1]
    assert (free.depth, free.last) == (0, 64)
    assert paying.depth > 0
    by_batch = plan_table(
        0.3, _COST, 64, max_depth=5, loaded_off_overhead=LOADED_OFF_OVERHEAD, noise=0, hysteresis=0
    )
    off = by_batch.depths[0] == 0
    share = np.interp(np.log(by_batch.batches), np.log([2, 189]), [0.066, 0.216])
    assert off.any()
    # The engine's off is slower than no drafter by exactly that.
    assert by_batch.speedup[0][off] == pytest.approx(1 / (1 + share[off]), rel=1e-12)


def test_nothing_accepted() -> None:
    for convention in ("accepted", "committed", "with_bonus"):
        plan = plan_table(0.0, _COST, 64, max_depth=3, convention=convention)
        assert plan.max_depth == 0 and plan.best_single[0] == 0
        assert "serve without a drafter" in str(plan)
    sure = plan_table(1.0, LinearCost(0.1), 8, max_depth=4)
    assert sure.depth(1) == 4 and sure.degradation[2].change == pytest.approx(0.0, abs=1e-12)


def test_never_off() -> None:
    plan = _exact(off=False)
    assert plan.depths.min() >= 1 and 0 not in plan.options
    assert np.all(np.isnan(plan.plain))
    assert "nan" not in str(plan).lower()


def test_listed_loads_stand_for_their_neighbours_by_ratio() -> None:
    plan = plan_table(0.7, _COST, [2, 8, 32, 64], max_depth=5, noise=0, hysteresis=0)
    assert plan.ends.tolist() == [4, 16, 45, 64]
    assert plan.depth(1) == plan.depth(4) == plan.depths[0, 0]
    assert plan.depth(5) == plan.depths[0, 1]
    first, *_, last = plan.ranges()
    assert (first.first, last.last) == (1, 64)


def test_intervals_and_noise_from_an_estimate() -> None:
    alpha = Estimate.normal(0.7, 0.02)
    plan = plan_table(alpha, _COST, 64, max_depth=5, cost_error=0.01)
    depth = plan.depth(1)
    slope = sum(j * 0.7 ** (j - 1) for j in range(1, depth + 1))
    length = sum(0.7**j for j in range(depth + 1))
    half = 1.959964 * math.hypot(0.02 * slope / length, 0.01)
    assert plan.high[0, 0] / plan.throughput[0, 0] - 1 == pytest.approx(half, rel=1e-5)
    assert plan.low[0, 0] / plan.throughput[0, 0] - 1 == pytest.approx(-half, rel=1e-5)


def test_interval_covers_the_truth_of_a_fit() -> None:
    rng = np.random.default_rng(5)
    truth, covered = MarkovRenewal(0.8, 0.5), 0
    for _ in range(40):
        kept = truth.sample(2000, 4, rng)
        positions = tuple(int(np.sum(kept > j)) for j in range(4))
        window = Counters(2000, 8000, int(kept.sum()), accepted_per_position=positions)
        fit = fit_acceptance(window, "markov_renewal", dependence_model="markov_renewal")
        plan = plan_table(fit, LinearCost(1.0, 9.0, off=9.0), [1], max_depth=4)
        right = throughput(truth, LinearCost(1.0, 9.0, off=9.0), plan.depth(1))
        covered += plan.low[0, 0] <= right <= plan.high[0, 0]
    assert covered >= 34


def test_fits_and_counters_are_taken() -> None:
    window = Counters(42827, 128481, 70230, accepted_per_position=(36260, 21030, 12940))
    fit = fit_acceptance(window)
    assert np.array_equal(
        plan_table(window, _COST, 64, max_depth=3).depths,
        plan_table(fit, _COST, 64, max_depth=3).depths,
    )
    fixed = fit_acceptance(window, "per_position")
    with pytest.raises(NotIdentifiableError, match="depth must be ≤ 3"):
        plan_table(fixed, _COST, 64, max_depth=5)


def _two_depths(*ahead: float) -> PlanTable:
    """K = 2 ahead of K = 1 by these factors at batch 1, 2, 4, …; off never pays."""
    rows = [[40.0, 10.0, 10.0 * 1.96 / 1.6 / factor] for factor in ahead]
    batches = [2**i for i in range(len(ahead))]
    return plan_table(0.6, TableCost([0, 1, 2], rows, batches), batches, max_depth=2, noise=0.02)


def test_depth_rises_only_for_more_than_the_noise() -> None:
    assert _two_depths(0.95, 1.015, 0.97).depths[0].tolist() == [1, 1, 1]
    assert _two_depths(0.95, 1.04, 0.97).depths[0].tolist() == [1, 2, 1]
    assert _two_depths(0.95, 1.04, 0.97).best_depths[0].tolist() == [1, 2, 1]


def test_switches_that_gain_little_are_left_out() -> None:
    assert _two_depths(1.05, 0.996, 1.05).depths[0].tolist() == [2, 2, 2]
    assert _two_depths(1.05, 1.004, 0.996).depths[0].tolist() == [2, 2, 2]
    assert _two_depths(1.05, 0.99, 0.98).depths[0].tolist() == [2, 1, 1]


def test_controller_with_memory_waits_for_the_hysteresis() -> None:
    plan = plan_table(0.7, _COST, 64, max_depth=5, hysteresis=0.02)
    point = plan.switches[-1]
    assert point.falling <= point.boundary < point.rising
    assert plan.depth(point.boundary + 1) == point.above
    if point.rising > point.boundary + 1:
        assert plan.depth(point.rising - 1, current=point.below) == point.below
    assert plan.depth(point.rising, current=point.below) == point.above
    assert plan.depth(point.falling, current=point.above) == point.below
    assert plan.depth(1, current=0) == plan.depth(1)
    with pytest.raises(InvalidInputError, match="current must be one of"):
        plan.depth(1, current=9)


@given(
    seed=st.integers(0, 2**32 - 1),
    noise=st.sampled_from([0.0, 0.01, 0.1]),
    hysteresis=st.sampled_from([0.0, 0.005, 0.05]),
)
def test_smoothing_loses_no_more_than_it_says(seed: int, noise: float, hysteresis: float) -> None:
    rng = np.random.default_rng(seed)
    losses = rng.exponential(0.05, (12, 5))
    losses -= losses.min(axis=1, keepdims=True)
    depths, weights = np.arange(5.0), np.full(12, 1 / 12)
    tolerance = np.full((12, 5), noise)
    columns = smoothed(losses, depths, tolerance, hysteresis, weights, monotone=True)
    taken = losses[np.arange(12), columns]
    assert np.all(taken <= noise + hysteresis + 1e-12)
    plain = smoothed(losses, depths, tolerance, 0.0, weights, monotone=False)
    assert np.array_equal(plain, np.argmin(losses, axis=1))
    # A rise is forced: no path through what is within the noise of the best has fewer.
    assert np.sum(np.diff(depths[columns]) > 0) <= _fewest_rises(losses <= tolerance, depths)


def _fewest_rises(allowed: np.ndarray, depths: np.ndarray) -> int:
    """Greedy from the right end of a window: as deep as possible until a rise is forced."""
    count = np.where(allowed[0], 0.0, np.inf)
    for row in allowed[1:]:
        step = count[:, None] + (depths[:, None] < depths[None, :])
        count = np.where(row, step.min(axis=0), np.inf)
    return int(count.min())


def test_drafters_compete_and_one_is_loaded() -> None:
    strong = Drafter("strong", 0.8, BatchTable([1, 64], [10, 40], [1.0, 9.0], [9, 12]))
    cheap = Drafter("cheap", 0.4, BatchTable([1, 64], [9.2, 13], [0.1, 1.0], [9, 12]))
    plan = plan_table([cheap, strong], loads=64, max_depth=6)
    scores = {score.name: score.throughput for score in plan.alternatives}
    assert plan.drafter == plan.alternatives[0].name and scores[plan.drafter] == 1.0
    assert min(scores.values()) < 1.0
    alone = {d.name: plan_table(d, loads=64, max_depth=6) for d in (strong, cheap)}
    means = {n: float(np.log(p.throughput[0]) @ p.weights) for n, p in alone.items()}
    assert max(means, key=lambda name: means[name]) == plan.drafter


def test_degradation_by_hand() -> None:
    plan = plan_table(0.7, _COST, 64, max_depth=5)
    lower, dearer, *_ = plan.degradation
    planned = plan.depths[0]
    kept = [throughput(0.63, _COST, int(k), batch=b + 1) for b, k in enumerate(planned)]
    best = [max(throughput(0.63, _COST, k, batch=b) for k in range(6)) for b in range(1, 65)]
    assert lower.mean_loss == pytest.approx(
        float((1 - np.array(kept) / best) @ plan.weights), rel=1e-9
    )
    assert lower.worst_loss == pytest.approx(float(np.max(1 - np.array(kept) / best)), rel=1e-9)
    drafted = planned > 0
    assert dearer.change == pytest.approx(-(1 - 1 / 1.1) * float(plan.weights[drafted].sum()))


@pytest.mark.parametrize("convention", ["accepted", "committed", "with_bonus"])
def test_conventions(convention: str) -> None:
    plan = plan_table(0.8, _COST, 64, max_depth=5, convention=convention, noise=0, hysteresis=0)
    rates = [throughput(0.8, _COST, k, convention=convention) for k in range(6)]
    assert plan.throughput[0, 0] == pytest.approx(max(rates), rel=1e-12)
    assert len(plan.degradation) == 4


def test_result_is_json_and_short() -> None:
    plan = plan_table(0.7, _COST, 64, max_depth=5)
    content = json.loads(json.dumps(plan.to_dict(), allow_nan=False))
    assert content["kind"] == "plan_table"
    assert content["ranges"]["0"][0][0] == 1
    assert len(str(plan).splitlines()) <= 12
    assert "prefilling" in str(plan)
    long = plan_table(0.7, BatchCost.h100_8b(), 64, [0, 1e3, 2e3, 3e3, 4e3], max_depth=9)
    assert len(str(long).splitlines()) <= 12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plan_table([], max_depth=3), "at least one entry"),
        (lambda: plan_table(None, _COST, max_depth=3), "drafters must be given"),
        (lambda: plan_table(0.7, max_depth=3), "cost must be given"),
        (
            lambda: plan_table([Drafter("a", 0.5, 0.1), Drafter("a", 0.6, 0.1)], max_depth=3),
            "different names",
        ),
        (lambda: plan_table(Drafter("a", 0.5, 0.1), 0.1, max_depth=3), "has its own"),
        (lambda: plan_table(0.7, 0.1, max_depth=0), "depth 0 alone"),
        (lambda: plan_table(0.7, 0.1, max_depth=4, depths=[0]), "depth 0 alone"),
        (lambda: plan_table(0.7, _COST, 65, max_depth=3), "batch 65"),
        (
            lambda: plan_table(0.7, TableCost([1, 3], [10, 12]), max_depth=3),
            "off is its own mode",
        ),
        (lambda: plan_table(0.7, TableCost([0, 1, 3], [9, 10, 12]), max_depth=5), "measured range"),
        (lambda: plan_table(math.nan, _COST, max_depth=3), "finite"),
        (lambda: plan_table(1.2, _COST, max_depth=3), "≤ 1"),
        (lambda: plan_table(0.7, _COST, [1, math.nan], max_depth=3), "finite"),
        (lambda: plan_table(0.7, _COST, [4, 2], max_depth=3), "strictly increasing"),
        (lambda: plan_table(0.7, _COST, [], max_depth=3), "at least one"),
        (lambda: plan_table(0.7, _COST, 0, max_depth=3), "loads must be"),
        (lambda: plan_table(0.7, _COST, [1.5], max_depth=3), "whole"),
        (lambda: plan_table(0.7, _COST, 64, -1.0, max_depth=3), "contexts must be ≥ 0"),
        (lambda: plan_table(0.7, _COST, max_depth=3, noise=-0.1), "noise"),
        (lambda: plan_table(0.7, _COST, max_depth=3, hysteresis=math.nan), "hysteresis"),
        (lambda: plan_table(0.7, _COST, max_depth=3, level=1.0), "level"),
        (lambda: plan_table(0.7, _COST, max_depth=3, loaded_off_overhead={}), "empty"),
        (lambda: plan_table(0.7, _COST, max_depth=3, loaded_off_overhead=-0.1), "overhead"),
        (lambda: plan_table(0.7, _COST, [1, 2], max_depth=3, weights=[1]), "2 entries"),
        (lambda: plan_table(0.7, _COST, [1, 2], max_depth=3, weights=[0, 0]), "not all zero"),
        (lambda: plan_table(0.7, _COST, max_depth=3, convention="both"), "convention"),
        (lambda: plan_table("a", _COST, max_depth=3), "acceptance"),
        (lambda: plan_table(0.0, _COST, max_depth=3, off=False, convention="accepted"), "units"),
        (lambda: plan_table(0.7, 0.1, max_depth=100_000), "max_depth must be smaller"),
        (lambda: plan_table([0.7], _COST, max_depth=3), "Counters"),
        (lambda: plan_table([Drafter("a", 0.5, 0.1), 3], max_depth=3), "drafters"),
        (lambda: plan_table(0.7, _COST, max_depth=3).depth(65), "≤ 64"),
        (lambda: plan_table(0.7, _COST, max_depth=3).depth(math.nan), "finite"),
        (lambda: plan_table(0.7, _COST, max_depth=3, depths=2), "depths must be a list"),  # type: ignore[arg-type]
        (lambda: plan_table({"a": 0.7}, _COST, max_depth=3), "context must be"),
        (lambda: plan_table({None: 0.7}, _COST, max_depth=3), "context must be"),
        (lambda: plan_table(0.7, _COST, max_depth=3).depth(3, current="x"), "current must be"),  # type: ignore[arg-type]
        (lambda: plan_table(0.7, _COST, max_depth=3).depth(3, current=math.nan), "current must be"),  # type: ignore[arg-type]
        (lambda: plan_table(Estimate(0.7, 0, 1, math.inf), _COST, max_depth=3), "standard error"),
    ],
)
def test_bad_input_is_named(call: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()  # type: ignore[operator]


def test_gaps_between_listed_loads_are_said() -> None:
    cost = BatchTable([1, 32, 128], [14, 29, 48], [2, 8, 19], off=[11, 17, 23])
    coarse = plan_table(0.75, cost, [1, 32, 128], max_depth=3)
    assert any("loads=128 plans every batch" in note for note in coarse.notes)
    assert not any("gaps" in note for note in plan_table(0.75, cost, 128, max_depth=3).notes)
