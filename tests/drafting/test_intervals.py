"""Intervals for α cover the truth as often as they say; larger runs are among the benchmarks."""

from __future__ import annotations

import numpy as np
import pytest

from ensctl.drafting import IID, Counters, MarkovRenewal, alpha_estimate
from ensctl.drafting.fitting.intervals import share_estimate

RUNS = 500
# Three standard errors of a share of 95 % over the runs.
SLACK = 3 * np.sqrt(0.95 * 0.05 / RUNS)


def counters(accepted: np.ndarray, depth: int) -> Counters:
    positions = tuple(int(np.sum(accepted > j)) for j in range(depth))
    return Counters(
        accepted.size, depth * accepted.size, sum(positions), accepted_per_position=positions
    )


def long_run_alpha(model: MarkovRenewal | IID, depth: int) -> float:
    survival = model.survival(depth)
    accepted = survival[1:].sum()
    return float(accepted / (accepted + 1 - survival[-1]))


@pytest.mark.parametrize("depth", [1, 4])
def test_iid(depth: int) -> None:
    rng, model = np.random.default_rng(depth), IID(0.7)
    hits = sum(
        alpha_estimate(counters(model.sample(300, depth, rng), depth), model="iid").covers(0.7)
        for _ in range(RUNS)
    )
    assert abs(hits / RUNS - 0.95) < SLACK


@pytest.mark.parametrize(("u", "v", "depth"), [(0.75, 0.1, 3), (0.9, 0.3, 5), (0.5, 0.9, 3)])
def test_markov_renewal_from_one_snapshot(u: float, v: float, depth: int) -> None:
    rng, model = np.random.default_rng(int(10 * u)), MarkovRenewal(u, v)
    truth = long_run_alpha(model, depth)
    hits = sum(
        alpha_estimate(counters(model.sample(500, depth, rng), depth)).covers(truth)
        for _ in range(RUNS)
    )
    assert abs(hits / RUNS - 0.95) < SLACK


def test_any_dependence_from_ten_windows() -> None:
    # α switches between two values and stays for 20 cycles on average; a correlation time is 10.
    rng, depth, time, windows = np.random.default_rng(9), 4, 10, 10
    alphas = np.array([0.2, 0.9])
    accepted = [(alphas**j).mean() for j in range(1, depth + 1)]
    tested = [(alphas**j).mean() for j in range(depth)]
    truth = sum(accepted) / sum(tested)
    hits = 0
    for _ in range(RUNS):
        switches = rng.random(8 * time * windows) < (1 - np.exp(-1 / time)) / 2
        state = (np.cumsum(switches) + rng.integers(2)) % 2
        run = np.minimum(rng.geometric(1 - alphas[state]) - 1, depth)
        data = [counters(part, depth) for part in np.split(run, windows)]
        hits += alpha_estimate(data).covers(truth)
    assert abs(hits / RUNS - 0.95) < SLACK


def test_wilson_interval_contains_the_share_and_stays_inside() -> None:
    for successes in (0, 1, 5, 9, 10):
        estimate = share_estimate(successes, 10, level=0.9, inflation=2.0, freedom=7.0)
        assert 0.0 <= estimate.low <= successes / 10 <= estimate.high <= 1.0
        wider = share_estimate(successes, 10, level=0.99, inflation=2.0, freedom=7.0)
        assert wider.low <= estimate.low
        assert wider.high >= estimate.high
