"""Replays against a simulator written stream by stream, with costs written out."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl import scheduling
from ensctl.errors import InvalidInputError
from ensctl.scheduling import LoadWalk, policies, replay, replay_oracles

ARMS = policies.arm_set(scheduling.fixture_costs(), {"E": [1, 4, 10], "N": [2, 10]})
TRACES = scheduling.token_chain("code", requests=40, tokens=30, seed=3)
FAULTY = scheduling.token_chain("code", fault=True, requests=40, tokens=30, seed=3)


class Cycling(policies.Fixed):
    """Plays arms in turn, whatever comes back, and keeps what it was told."""

    uses_positions = True

    def __init__(self, turn: tuple[int, ...]) -> None:
        super().__init__(ARMS, 0)
        self.turn = turn
        self.heard: list[tuple[Any, ...]] = []

    def _select(self, state: policies.FixedState, batch: int, context: float) -> int:
        return self.turn[state.cycles % len(self.turn)]

    def _update(self, *heard: Any) -> policies.FixedState:
        self.heard.append(heard[1:])
        return super()._update(*heard)


@dataclass
class ByHand:
    """One stream after the other: lists, no tables, no arrays."""

    traces: scheduling.PositionTraces
    seed: int
    widest: int
    queue: list[int] = field(default_factory=list)
    passes: int = 0

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng([self.seed, 0])
        self.streams = [[self.next(), 0] for _ in range(self.widest)]

    def next(self) -> int:
        if not self.queue:
            self.passes += 1
            for first, last in self.traces.segments:
                self.queue += [first + int(i) for i in self.rng.permutation(last - first)]
        return self.queue.pop(0)

    def cycle(self, arm: int, batch: int) -> tuple[int, float, list[int]]:
        """Total, cost in ms and streams with ≥ 1, …, K accepted."""
        depth, owner = ARMS.depths[arm], ARMS.owner[arm]
        total, drafted, kept, accepted = 0, 0, 0, []
        for stream in self.streams[:batch]:
            request, position = stream
            kept += int(self.traces.prompts[request]) + position
            place = int(self.traces.starts[request]) + position
            emitted = 1
            if owner >= 0:
                name = ARMS.pool[owner]
                emitted = min(int(self.traces.emitted[name][place]), depth + 1)
                drafts = name not in self.traces.drafts or self.traces.drafts[name][place]
                drafted += depth if drafts else 0
            total += emitted
            accepted.append(emitted - 1)
            stream[1] += emitted
        for stream in self.streams[:batch]:
            if stream[1] >= self.traces.lengths[stream[0]]:
                stream[:] = [self.next(), 0]
        verify = 5.88591 + 0.0210103 * (batch + drafted) + 3.92646e-5 * kept
        draft = (0.0, 0.712875 * depth + 2.378e-6 * kept, 0.005875 * verify)[owner + 1]
        positions = [sum(count >= j for count in accepted) for j in range(1, depth + 1)]
        return total, verify + 1.20684 + draft, positions


def _walk(levels: tuple[int, ...], seed: int) -> Any:
    """Levels by the draws of a walk: up below one half, turned at the ends."""
    rng, place = np.random.default_rng([seed, 1]), len(levels) // 2
    for draw in rng.random(256):
        yield levels[place]
        up = draw < 0.5
        if place == 0:
            up = True
        elif place == len(levels) - 1:
            up = False
        place += 1 if up else -1


@settings(max_examples=15)
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=5),
    st.sampled_from([1, 3, 16]),
    st.integers(0, 50),
    st.booleans(),
    st.sampled_from([0.0, 5.0]),
)
def test_replay_is_the_simulator(
    turn: list[int], batch: int, seed: int, fault: bool, switch_cost: float
) -> None:
    traces = FAULTY if fault else TRACES
    policy, hand = Cycling(tuple(turn)), ByHand(traces, seed, batch)
    result = replay(traces, policy, batch=batch, cycles=80, seed=seed, switch_cost=switch_cost)
    tokens, time, before, changes = 0, 0.0, None, 0
    for i, heard in enumerate(policy.heard):
        arm = turn[i % len(turn)]
        total, cost, positions = hand.cycle(arm, batch)
        if before is not None and ARMS.owner[arm] != before:
            cost, changes = cost + switch_cost, changes + 1
        before = ARMS.owner[arm]
        tokens, time = tokens + total, time + cost
        assert heard[:3] == (arm, float(total), batch)
        assert list(heard[4]) == positions
        # The mean context of the streams is rounded to a token.
        assert heard[5] == pytest.approx(cost, abs=0.5 * batch * 4e-5 + 5e-5)
    assert len(policy.heard) == 80
    assert result.tokens[0, -1, 0] == tokens and result.switches.tolist() == [changes]
    assert result.time[0, -1, 0] == pytest.approx(time, rel=1e-5)


@pytest.mark.parametrize("seed", [0, 7])
def test_loads_follow_the_clock_and_streams_that_wait_keep_their_place(seed: int) -> None:
    load = LoadWalk((1, 2, 5, 9), dwell=45.0)
    policy, hand = Cycling((2, 5, 0)), ByHand(TRACES, seed, 9)
    result = replay(TRACES, policy, batch=load, cycles=200, seed=seed)
    walk, until, clock, batch = _walk(load.levels, seed), 0.0, 0.0, 0
    totals = dict.fromkeys(load.levels, 0)
    for i, heard in enumerate(policy.heard):
        if clock >= until:
            batch, until = next(walk), until + 45.0
        total, _, _ = hand.cycle((2, 5, 0)[i % 3], batch)
        assert heard[1:3] == (float(total), batch)
        clock += heard[5]
        totals[batch] += total
    assert result.tokens[0, -1].tolist() == list(totals.values())
    assert min(totals.values()) > 0


@pytest.mark.parametrize("batch", [1, 4])
def test_one_pass_ends_when_a_stream_finds_no_request(batch: int) -> None:
    hand, cycles, tokens = ByHand(TRACES, 2, batch), 0, 0
    while hand.passes == 1:
        tokens += hand.cycle(5, batch)[0]
        cycles += 1
    result = replay(TRACES, policies.Fixed(ARMS, 5), batch=batch, cycles=None, seed=2)
    assert result.plays.sum() == cycles and result.tokens[0, -1, 0] == tokens


def test_foresight_is_the_greedy_choice_at_its_own_price() -> None:
    seed, batch, cycles = 4, 3, 60
    oracles = replay_oracles(TRACES, ARMS, batch=batch, cycles=cycles, seed=seed)
    price = float((oracles.tokens[:, 0, -1, 0] / oracles.time[:, 0, -1, 0]).max())
    for _ in range(3):
        hand, tokens, time = ByHand(TRACES, seed, batch), 0, 0.0
        for _ in range(cycles):
            seen = [deepcopy(hand).cycle(arm, batch) for arm in range(ARMS.size)]
            arm = max(range(ARMS.size), key=lambda a: seen[a][0] - price * seen[a][1])
            total, cost, _ = hand.cycle(arm, batch)
            tokens, time = tokens + total, time + cost
        price = tokens / time
    assert oracles.foresight_tokens is not None and oracles.foresight_time is not None
    assert oracles.foresight_tokens[0, -1, 0] == pytest.approx(tokens, rel=0.002)
    assert oracles.foresight_time[0, -1, 0] == pytest.approx(time, rel=0.002)


def test_regret_is_against_the_best_row() -> None:
    seeds = [0, 1, 2]
    policy = policies.KLUCB(ARMS)
    result = replay(TRACES, policy, batch=2, cycles=100, seed=seeds)
    totals = np.array([[_alone(arm, seed, 100) for seed in seeds] for arm in range(ARMS.size)])
    best = int(np.argmax(totals[:, :, 0].sum(axis=1) / totals[:, :, 1].sum(axis=1)))
    rates = totals[best, :, 0] / totals[best, :, 1]
    lost = rates * result.time[:, -1, 0] - result.tokens[:, -1, 0]
    mean, error = result.regret()
    assert result.oracles.best_arms().tolist() == [best]
    assert mean[-1] == pytest.approx(lost.mean(), abs=1e-2)
    assert error[-1] == pytest.approx(np.sqrt(lost.var(ddof=1) / 3), abs=1e-2)
    assert result.gains() == pytest.approx(-lost / (rates * result.time[:, -1, 0]), abs=1e-5)


def test_one_pass_needs_a_request_for_every_stream() -> None:
    few = scheduling.token_chain("code", requests=3, tokens=20)
    for load in (4, LoadWalk((1, 4))):
        with pytest.raises(InvalidInputError, match="cycles must be a number"):
            replay(few, policies.Fixed(ARMS, 1), batch=load, cycles=None)
    assert replay(few, policies.Fixed(ARMS, 1), batch=3, cycles=None).plays.sum() > 1
    assert replay(few, policies.Fixed(ARMS, 1), batch=4, cycles=5).plays.sum() == 5


def _alone(arm: int, seed: int, cycles: int) -> tuple[float, float]:
    hand = ByHand(TRACES, seed, 2)
    seen = [hand.cycle(arm, 2) for _ in range(cycles)]
    return sum(s[0] for s in seen), sum(s[1] for s in seen)


def test_batches_without_a_cycle_have_no_best_arm() -> None:
    oracles = replay_oracles(TRACES, ARMS, batch=LoadWalk((1, 4, 9)), cycles=3, foresight=False)
    assert (oracles.best_arms() < 0).tolist() == [True, False, True]
    assert oracles.best_names()[::2] == [None, None]
    assert "B = 9: no cycle" in str(oracles) and "B = 4: best fixed arm" in str(oracles)
    assert oracles.prices()[:, ::2].tolist() == [[0.0, 0.0]]
    result = replay(TRACES, policies.KFUCB(ARMS), batch=LoadWalk((1, 4, 9)), cycles=3)
    assert result.to_dict()["best_arms"][0] is None
