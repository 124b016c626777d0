"""Coverage of intervals for α at full size: i.i.d., Markov renewal, any dependence in windows.

Run with -s to see the table.  At full size every row is within 95 ± 2 %.
"""

import os
import sys

import numpy as np
import pytest

from ensctl.drafting import Counters, MarkovRenewal, alpha_estimate

SMOKE = os.environ.get("ENSCTL_BENCH") == "smoke"


def counters(accepted, depth):
    at_least = np.bincount(accepted, minlength=depth + 1)[::-1].cumsum()[::-1]
    positions = tuple(at_least[1:].tolist())
    return Counters(
        int(accepted.size), depth * int(accepted.size), sum(positions), positions, depth
    )


def truth_of(model, depth):
    survival = model.survival(depth)
    accepted = survival[1:].sum()
    return accepted / (accepted + 1.0 - survival[-1])


def check(hits, runs, what):
    coverage = hits / runs
    sys.stdout.write(f"{what}: {100 * coverage:.1f} % of {runs}\n")
    # Within 2 %, and three standard errors of the simulation besides.
    assert abs(coverage - 0.95) <= 0.02 + 3.0 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize("drafts", [100, 1000])
@pytest.mark.parametrize(("alpha", "depth"), [(0.3, 1), (0.7, 4), (0.9, 8)])
def test_iid(alpha, depth, drafts, sized):
    runs, rng = sized(4000, smoke=200), np.random.default_rng(1)
    model = MarkovRenewal(alpha, alpha)
    for assumed in ("iid", "auto"):
        hits = sum(
            alpha_estimate(counters(model.sample(drafts, depth, rng), depth), model=assumed).covers(
                alpha
            )
            for _ in range(runs)
        )
        check(hits, runs, f"i.i.d. α = {alpha}, K = {depth}, D = {drafts}, assumed {assumed}")


@pytest.mark.parametrize("drafts", [200, 2000])
@pytest.mark.parametrize(
    ("u", "v", "depth"),
    [(0.59, 0.076, 3), (0.755, 0.104, 3), (0.9, 0.3, 5), (0.95, 0.2, 8), (0.5, 0.9, 3)],
)
def test_markov_renewal_from_one_snapshot(u, v, depth, drafts, sized):
    runs, rng, model = sized(4000, smoke=200), np.random.default_rng(2), MarkovRenewal(u, v)
    truth = truth_of(model, depth)
    hits = sum(
        alpha_estimate(counters(model.sample(drafts, depth, rng), depth)).covers(truth)
        for _ in range(runs)
    )
    check(hits, runs, f"Markov renewal ({u}, {v}), K = {depth}, D = {drafts}")


@pytest.mark.parametrize("windows", [10, 20, 40])
@pytest.mark.parametrize("time", [3, 10, 30])
def test_any_dependence_from_windows(time, windows, sized):
    runs, rng, depth = sized(3000, smoke=100), np.random.default_rng(3), 4
    alphas = np.array([0.2, 0.9])
    tested = sum((alphas**j).mean() for j in range(depth))
    truth = sum((alphas**j).mean() for j in range(1, depth + 1)) / tested
    hits = 0
    for _ in range(runs):
        switches = rng.random(8 * time * windows) < (1 - np.exp(-1 / time)) / 2
        state = (np.cumsum(switches) + rng.integers(2)) % 2
        run = np.minimum(rng.geometric(1 - alphas[state]) - 1, depth)
        hits += alpha_estimate([counters(p, depth) for p in np.split(run, windows)]).covers(truth)
    check(hits, runs, f"switching α, {windows} windows of 8 × {time} cycles")


@pytest.mark.skipif(SMOKE, reason="needs thousands of runs to say anything")
def test_windows_of_unequal_length(sized):
    runs, rng, depth = sized(3000, smoke=100), np.random.default_rng(4), 3
    model = MarkovRenewal(0.755, 0.104)
    truth = truth_of(model, depth)
    hits = 0
    for _ in range(runs):
        run = model.sample(4000, depth, rng)
        cuts = np.sort(rng.choice(np.arange(1, 100), 14, replace=False)) * 40
        hits += alpha_estimate([counters(p, depth) for p in np.split(run, cuts)]).covers(truth)
    check(hits, runs, "15 windows of random length")
