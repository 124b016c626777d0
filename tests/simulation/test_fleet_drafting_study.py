"""The cost of a cycle, the depth it predicts, and one survival curve for all depths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import ensctl as ec
from ensctl.drafting import IID, LinearCost, MarkovRenewal, optimal_depth
from ensctl.simulation import FleetCycleCost, FleetDepthStudy, fit_fleet_cost, fleet_depth_study

# Published shape of a pass over 10⁶ members, ms.
_FIXED, _PER_INPUT, _PER_REAPPLIED = 2.56, 0.40, 0.25


def test_fit_recovers_the_line() -> None:
    rng = np.random.default_rng(1)
    depths = rng.choice([2, 6, 12], 300)
    again = rng.integers(0, depths)
    exact = _FIXED + _PER_INPUT * depths + _PER_REAPPLIED * again
    found = fit_fleet_cost(depths, again, exact)
    assert (found.fixed, found.per_input, found.per_reapplied) == pytest.approx(
        (_FIXED, _PER_INPUT, _PER_REAPPLIED), rel=1e-9
    )
    assert found.relative_error < 1e-9 and found.counts.sum() == 300
    # A busy machine only ever adds time, and now and then a lot.
    noisy = exact * (1.0 + 0.02 * rng.random(300)) + 20.0 * (rng.random(300) < 0.03)
    found = fit_fleet_cost(depths, again, noisy)
    assert found.fixed == pytest.approx(_FIXED, rel=0.08)
    assert found.per_input == pytest.approx(_PER_INPUT, rel=0.08)
    assert found.doubling_depth == pytest.approx(2 + _FIXED / _PER_INPUT, rel=0.1)


def test_costs_are_never_negative() -> None:
    found = fit_fleet_cost([2, 2, 8, 8], [0, 1, 0, 1], [3.0, 2.9, 2.8, 2.7])
    assert found.per_input == found.per_reapplied == 0.0 and found.doubling_depth == np.inf
    assert found.to_dict()["kind"] == "fleet_cost_fit"


@pytest.mark.parametrize("model", [IID(0.9), IID(0.0), IID(1.0), MarkovRenewal(0.9, 0.6)])
@pytest.mark.parametrize("depth", [1, 4, 9])
def test_mean_of_what_is_applied_again(model: Any, depth: int) -> None:
    """J = L where L < K, 0 where all K committed."""
    cost = FleetCycleCost(1.0, 0.0, 1.0, model)
    accepted = model.sample(200_000, depth, 3)
    lengths = np.minimum(accepted + 1, depth)
    again = np.where(lengths < depth, lengths, 0)
    assert cost.reapplied(depth) == pytest.approx(again.mean(), abs=0.03)
    assert cost.cycle(depth) == pytest.approx(1.0 + cost.reapplied(depth))


@pytest.mark.parametrize(
    ("alpha", "depth", "speedup"), [(0.99, 12, 4.1), (0.94, 8, 3.3), (0.89, 8, 2.8), (0.75, 4, 1.8)]
)
def test_published_depths(alpha: float, depth: int, speedup: float) -> None:
    """The published cost, α and best depths: near the optimum, and the gain in kind."""
    cost = FleetCycleCost(_FIXED, _PER_INPUT, _PER_REAPPLIED, alpha)
    best = optimal_depth(alpha, cost, 12, convention="committed")
    assert best.curve[depth] > 0.92 * best.throughput
    assert best.curve[depth] / best.curve[0] == pytest.approx(speedup, rel=0.25)
    flat = LinearCost(0.0, cost.cycle(1), unit="ms")
    over = optimal_depth(alpha, flat, 12, convention="committed")
    assert 1.2 < over.curve[8] / best.curve[8] < 2.7


def test_off_is_the_loop() -> None:
    cost = FleetCycleCost(2.0, 0.5, 0.2, 0.9, off=5.0)
    assert cost.cycle(0) == 5.0 and cost.cycle(1) == 2.5
    assert FleetCycleCost(2.0, 0.5, 0.2, 0.9).cycle(0) == 2.5
    assert fit_fleet_cost([1, 2], [0, 0], [2.5, 3.0]).cost(0.9, off=5.0).off == 5.0


@pytest.fixture(scope="module")
def study() -> FleetDepthStudy:
    fleet = ec.ThermostatFleet.draw(3000, seed=1)
    steps = np.arange(600)
    rng = np.random.default_rng(8)
    wave = np.sin(0.11 * steps) + 0.6 * np.sin(0.37 * steps + 1.0)
    drift = np.cumsum(0.04 * rng.standard_normal(steps.size))
    return fleet_depth_study(
        fleet,
        fleet.nominal_power * (1.0 + 0.05 * wave),
        (1, 2, 4, 6, 8),
        ambient=drift - drift.mean(),
        tolerance=4e-3,
        skip=40,
        repeats=1,
        engine="numpy",
    )


def test_one_survival_curve_serves_all_depths(study: FleetDepthStudy) -> None:
    measured = np.array([length.value for length in study.lengths])
    assert measured[0] == 1.0
    assert np.all(np.abs(study.predicted_lengths / measured - 1.0) < 0.08)
    assert 0.85 < study.runs[-1].counters().alpha().value < 1.0
    # Cycles are nearly independent.
    lengths = study.runs[-1].cycles.lengths("committed").astype(float)
    centred = lengths - lengths.mean()
    assert abs(centred[1:] @ centred[:-1] / (centred @ centred)) < 3.0 / np.sqrt(lengths.size)


def test_study_is_told(study: FleetDepthStudy) -> None:
    text = str(study)
    assert len(text.splitlines()) <= 12 and "predicted" in text.splitlines()[0]
    assert study.to_dict()["kind"] == "fleet_depth_study"
    assert study.depths[np.argmax(study.speedup)] == study.measured_depth
    assert 0.0 <= study.given_away < 1.0
    assert np.all(study.flat_speedup[study.depths > 1] > study.predicted_speedup[study.depths > 1])
    assert study.loop.rms_error < min(run.rms_error for run in study.runs[1:])


def test_pictures(study: FleetDepthStudy) -> None:
    ax = Figure().subplots()
    measured, predicted, *_ = study.plot(ax=ax)
    assert np.array_equal(measured.get_ydata(), study.speedup)
    assert np.allclose(predicted.get_ydata()[study.depths - 1], study.predicted_speedup)
    run = study.runs[-1]
    bars, _ = run.plot(ax=Figure().subplots())
    assert len(bars) == 8 and sum(bar.get_height() for bar in bars) == pytest.approx(1.0)
