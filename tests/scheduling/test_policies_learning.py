"""What policies learn: the filter against matrices, guards, probes, rules, rates and shares."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.scheduling import fixture_arms, policies
from ensctl.scheduling.policies.arm_record import EMPTY
from ensctl.scheduling.policies.counter_random import normals, uniform
from ensctl.scheduling.policies.draft_share import DraftShare
from ensctl.scheduling.policies.kl_ucb import mean_length, rate_of, upper_rate
from ensctl.scheduling.policies.survival_filter import prior, updated, variance_of
from ensctl.scheduling.policies.switch_rules import (
    BLOCK_CYCLES,
    BucketRecord,
    drawn_rule,
    is_learning,
)

DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10)
ARMS = fixture_arms()
lengths = st.lists(st.tuples(st.integers(0, 7), st.floats(0.0, 3.0)), min_size=1, max_size=30)


@given(lengths)
def test_filter_is_the_kalman_filter_of_the_survival_increments(
    seen: list[tuple[int, float]],
) -> None:
    order = np.arange(1, 11)
    slope = order * 0.6 ** (order - 1)
    own = 0.075 * 0.6 ** (order / 2)
    own[0] /= 2
    theta, cov = 0.6**order, 0.04 * np.outer(slope, slope) + np.diag(own**2)
    sums = (order <= np.array(DEPTHS)[:, None]).astype(float)
    belief = prior(DEPTHS)
    for coordinate, value in seen:
        h = sums[coordinate]
        variance = h @ cov @ h + 0.3
        innovation = value - h @ theta
        gain = cov @ h / variance
        theta, cov = theta + gain * innovation, cov - np.outer(gain, h @ cov)
        belief = updated(belief, coordinate, value - belief.mean[coordinate], 0.3)
    assert belief.mean == pytest.approx(sums @ theta, abs=1e-12)
    wanted = sums @ cov @ sums.T
    assert belief.deviation == pytest.approx(np.sqrt(np.diag(wanted)), abs=1e-10)
    assert belief.covariance == pytest.approx(wanted[np.tril_indices(8)], abs=1e-12)
    assert variance_of(belief, 3) == belief.covariance[9]


def test_filter_of_one_depth() -> None:
    belief = updated(prior((3,)), 0, 0.5, 1.0)
    assert len(belief.mean) == len(belief.covariance) == 1
    assert belief.deviation[0] < prior((3,)).deviation[0]


def test_records_are_sample_statistics() -> None:
    rng = np.random.default_rng(0)
    values = 1 + rng.integers(0, 5, 400) / 2
    record = EMPTY
    for value in values:
        record = record.with_play(float(value), 4)
    assert record.mean == pytest.approx(values.mean())
    assert record.stream_variance == pytest.approx(4 * values.var(ddof=1))
    assert 1.0 <= record.inflation < 2.0
    # Runs of equal totals, 40 cycles long: block means of 20 vary as single cycles do.
    for value in np.repeat(1 + rng.integers(0, 5, 60) / 2, 40):
        record = record.with_play(float(value), 4)
    assert 10.0 < record.inflation < 20.0


def test_draws_are_uniform_and_normal_and_repeat() -> None:
    draws = np.array([uniform(3, k) for k in range(4000)])
    assert abs(draws.mean() - 0.5) < 0.02 and abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.05
    drawn = np.array([normals(3, k, 2) for k in range(4000)])
    assert np.all(abs(drawn.mean(axis=0)) < 0.05) and np.all(abs(drawn.std(axis=0) - 1.0) < 0.04)
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.05
    assert drawn[5, 1] == NormalDist().inv_cdf(uniform(3, 5, 1))
    assert uniform(3, 7) == draws[7] and uniform(4, 7) != draws[7]


@given(st.floats(0.01, 0.98), st.integers(1, 10))
def test_rates_and_lengths_are_inverse(rate: float, depth: int) -> None:
    assert mean_length(rate, depth) == pytest.approx(sum(rate**j for j in range(depth + 1)))
    assert rate_of(mean_length(rate, depth), depth) == pytest.approx(rate, abs=1e-4)


def test_upper_rates() -> None:
    assert upper_rate(0.0, 0.0, 3.0) == 1.0
    # A/T = 0: −ln(1 − q) = log/T.
    assert upper_rate(0.0, 10.0, 5.0) == pytest.approx(1 - np.exp(-0.5), abs=1e-5)
    assert upper_rate(50.0, 100.0, 0.0) == pytest.approx(0.5, abs=1e-5)
    assert 0.5 < upper_rate(5e5, 1e6, 5.0) < 0.502
    assert upper_rate(10.0, 10.0, 1.0) == pytest.approx(1.0, abs=1e-4)


def test_positions_tell_kl_ucb_what_was_tested() -> None:
    policy = policies.KLUCB(ARMS)
    arm = ARMS.index("E", 3)
    state = policy.update(policy.init(), arm, 20, batch=10, positions=[6, 3, 1])
    assert (state.accepted[0], state.tested[0]) == (10.0, 19.0)


def test_draft_shares_are_learned_where_drafting_costs() -> None:
    share = DraftShare()
    for _ in range(50):
        share = share.with_cycle(7.0 + 0.4 * 5.0, 7.0, 5.0)
    assert share.value == pytest.approx(0.4, abs=0.01)
    cheap = DraftShare()
    for _ in range(20):
        cheap = cheap.with_cycle(7.5, 7.0, 0.01)
    assert 0.9 < cheap.value < 1.1


def test_the_time_of_a_switch_is_no_draft() -> None:
    policy = policies.KFUCB(ARMS)
    neural, ngram = ARMS.index("E", 4), ARMS.index("N", 10)
    cost = ARMS.costs(2)
    state = policy.init()
    for i in range(200):
        state = policy.update(state, neural, 4, batch=2, cycle_time=cost[neural])
        before = state.shares
        arm, total, late = ((neural, 4, 0.0), (ngram, 6, 5.0))[i % 2]
        state = policy.update(state, arm, total, batch=2, cycle_time=cost[arm] + late)
        if late:
            state = policy.update(state, neural, 4, batch=2, cycle_time=cost[neural] + late)
            assert state.shares[1] == before[1]
    assert state.shares[0].value == pytest.approx(1.0, abs=1e-9)
    # Cheaper cycles are believed at once: probes can be one cycle long.
    bases, slopes = ARMS.lines(2, 0.0)
    cheap = policy.update(state, ngram, 6, batch=2, cycle_time=bases[ngram] + 0.3 * slopes[ngram])
    assert cheap.shares[1] != state.shares[1]


def test_handing_back_is_no_draft_either() -> None:
    policy, state = _ahs(1, 1)
    neural, copier = ARMS.index("E", 5), ARMS.index("N", 10)
    cost = ARMS.costs(1)
    state = policy.update(state, neural, 6, cycle_time=cost[neural])
    state = policy.update(state, copier, 3, cycle_time=cost[copier] + 5.0)
    assert state.handed_back and not state.switched
    known = state.base.shares
    late = policy.update(state, neural, 2, cycle_time=cost[neural] + 5.0)
    assert late.base.shares == known and not late.handed_back
    assert late.block_time == pytest.approx(state.block_time + cost[neural] + 5.0)


def _feed(policy: policies.KFUCB, state: Any, cycles: int, rates: tuple[float, float]) -> Any:
    """Totals at their means, so that nothing depends on luck; returns actions too."""
    actions = []
    for _ in range(cycles):
        action = policy.select(state, batch=16)
        depth = ARMS.depths[action]
        rate = (*rates, 0.0)[ARMS.owner[action]]
        total = 16 * sum(rate**j for j in range(depth + 1))
        state = policy.update(state, action, total, batch=16)
        actions.append(action)
    return state, actions


def test_guard_resets_a_drafter_that_collapses_and_finds_its_recovery() -> None:
    policy, trusting = policies.KFUCB(ARMS), policies.KFUCB(ARMS, guard=False)
    state, _ = _feed(policy, policy.init(), 1500, (0.7, 0.3))
    assert state.resets == 0
    state, actions = _feed(policy, state, 700, (0.1, 0.3))
    assert state.resets >= 1
    late = [ARMS.owner[action] for action in actions[-300:]]
    assert late.count(0) < 5
    state, actions = _feed(policy, state, 1500, (0.7, 0.3))
    assert [ARMS.owner[action] for action in actions[-300:]].count(0) > 290
    blind, _ = _feed(trusting, trusting.init(), 1500, (0.7, 0.3))
    blind, actions = _feed(trusting, blind, 700, (0.1, 0.3))
    assert [ARMS.owner[action] for action in actions[-300:]].count(0) > 250


def test_idle_drafters_are_probed_for_16_streams() -> None:
    policy = policies.KFUCB(ARMS)
    for batch, cycles in ((4, 4), (16, 1), (64, 1)):
        state = policy.init()
        owners = []
        for _ in range(2600):
            action = policy.select(state, batch=batch)
            rate = (0.7, 0.3, 0.0)[ARMS.owner[action]]
            total = batch * sum(rate**j for j in range(ARMS.depths[action] + 1))
            state = policy.update(state, action, total, batch=batch)
            owners.append(ARMS.owner[action])
        probes = np.flatnonzero(np.array(owners[1000:]) == 1)
        runs = np.split(probes, np.flatnonzero(np.diff(probes) > 1) + 1)
        assert len(probes) and {len(run) for run in runs} == {cycles}
        assert all(b[0] - a[-1] > 500 for a, b in pairwise(runs))


def _ahs(rule: int, batch: int) -> tuple[policies.HysteresisSwitch, Any]:
    """A policy whose open block plays a given rule."""
    policy = policies.HysteresisSwitch(ARMS)
    before = policy.init()
    while is_learning(batch, before.blocks + (before.block_cycles == BLOCK_CYCLES - 1)):
        before = policy.update(before, 0, batch, batch=batch)
        assert before.rule == 0
    for seed in range(200):
        state = policy.update(replace(before, seed=seed), 0, batch, batch=batch)
        if state.rule == rule:
            return policy, state
    raise AssertionError("no seed draws this rule")


def test_switch_enters_stays_and_leaves_by_the_shares_of_its_rule() -> None:
    # Rule 3: in at .4, out below .2.
    policy, state = _ahs(3, 10)
    arm, copier = ARMS.index("E", 5), ARMS.index("N", 10)
    stay = policy.update(state, arm, 10 + 13, batch=10, positions=[4, 3, 3, 3, 0])
    assert not stay.switched
    state = policy.update(state, arm, 10 + 16, batch=10, positions=[4, 4, 4, 4, 0])
    assert state.switched and policy.select(state, batch=10) == copier
    assert policy.select(state, batch=33) != copier or not policy.base._select(state.base, 33, 0.0)
    base = state.base
    state = policy.update(state, copier, 10 + 20, batch=10, positions=[2] * 10)
    assert state.switched
    # What the n-gram drafter does while streams copy says nothing about it in general.
    assert state.base == base
    state = policy.update(state, copier, 10 + 10, batch=10, positions=[1] * 10)
    assert not state.switched


def test_one_stream_needs_no_positions() -> None:
    policy, state = _ahs(1, 1)
    arm = ARMS.index("E", 5)
    assert not policy.update(state, arm, 4, batch=1).switched
    assert policy.update(state, arm, 5, batch=1).switched
    with_positions = policy.update(state, arm, 5, batch=1, positions=[1, 1, 1, 1, 0])
    assert with_positions == policy.update(state, arm, 5, batch=1)


def test_rewards_are_compared_at_one_price() -> None:
    # Throughput doubles while rules take turns; rule 1 is always two per cent behind.
    record = BucketRecord()
    for i in range(60):
        time = 25.0 * (2.0 if i < 20 else 1.0)
        rule = 1 if i < 20 else i % 2
        record = record.with_block(rule, 2.5 * 25, time * (1.02 if rule else 1.0), 25)
    none, one = record.rules[0], record.rules[1]
    assert one.tokens == pytest.approx(2.5) and one.time > 1.02
    assert none.reward(record.price) > one.reward(record.price)
    told = record.with_block(1, 100.0, 25.0, 25, compared=False)
    assert told.rules == record.rules and told.price > record.price


def test_rules_that_pay_are_drawn() -> None:
    record = BucketRecord()
    for i in range(200):
        rule = drawn_rule(record, 16, 5, i)
        record = record.with_block(rule, (2.6 if rule == 3 else 2.5) * 25, 25.0, 25)
    drawn = [drawn_rule(record, 16, 5, 1000 + i) for i in range(50)]
    assert drawn.count(3) > 40
    assert {drawn_rule(BucketRecord(), 1, 5, i) for i in range(60)} == {0, 1}
    assert {drawn_rule(BucketRecord(), 2, 5, i) for i in range(60)} == {0, 1, 2, 3, 4}
