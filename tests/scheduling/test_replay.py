"""Replays: exact turnover, the same answer in lockstep and alone, loads, one pass, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl import scheduling
from ensctl.drafting import LinearCost, replay_depth
from ensctl.errors import FormatError, InvalidInputError
from ensctl.scheduling import LoadWalk, policies, position_traces, replay, replay_oracles

COSTS = {"E": 0.1, "N": 0.01}
ARMS = policies.arm_set(COSTS, [1, 3, 10])
traces_of = st.lists(st.lists(st.integers(1, 12), min_size=1, max_size=9), min_size=1, max_size=6)


@given(traces_of, st.integers(0, 6))
def test_one_stream_and_one_pass_are_the_replay_of_each_request(
    requests: list[list[int]], arm: int
) -> None:
    traces = position_traces({"E": requests, "N": [trace[::-1] for trace in requests]})
    result = replay(traces, policies.Fixed(ARMS, arm), batch=1, cycles=None)
    depth, owner = ARMS.depths[arm], ARMS.owner[arm]
    if owner < 0:
        steps = tokens = sum(len(trace) for trace in requests)
    else:
        counted = [trace[::-1] if owner else trace for trace in requests]
        window = replay_depth(counted, depth)
        steps, tokens = window.drafts, window.drafts + window.accepted
    assert result.plays.sum() == steps
    assert result.tokens[0, -1, 0] == tokens
    assert result.time[0, -1, 0] == pytest.approx(steps * ARMS.costs()[arm])
    assert result.gains()[0] <= 1e-12


def test_a_fixed_policy_is_its_row_of_the_oracles() -> None:
    traces = scheduling.token_chain("code", requests=60, tokens=40)
    arms = scheduling.fixture_arms()
    for batch in (1, 16, LoadWalk((1, 4, 16), dwell=150.0)):
        for cycles in (300, None):
            oracles = replay_oracles(
                traces, arms, batch=batch, cycles=cycles, seed=[0, 5], foresight=False
            )
            for arm in (0, 4, 12):
                policy = policies.Fixed(arms, arm)
                result = replay(traces, policy, None, batch, cycles, [0, 5], oracles=oracles)
                assert np.array_equal(result.tokens, oracles.tokens[arm])
                assert result.time == pytest.approx(oracles.time[arm], rel=1e-12)


def test_a_cycle_runs_past_the_end_and_the_stream_takes_the_next_request() -> None:
    traces = position_traces({"E": [[4], [9, 1], [2, 2, 2]]})
    arms = policies.arm_set({"E": 0.1}, [5], off=False)
    result = replay(traces, policies.Fixed(arms, 0), batch=1, cycles=None)
    # min(4, 6) + min(9, 6) + 2 + 2.
    assert result.tokens[0, -1, 0] == 4 + 6 + 2 + 2
    again = replay(traces, policies.Fixed(arms, 0), batch=1, cycles=9)
    assert again.tokens[0, -1, 0] >= 2 * 14


def test_the_policy_is_told_totals_positions_context_and_time() -> None:
    class Listener(policies.Fixed):
        uses_positions = True

        def __init__(self, arms: policies.ArmSet, arm: int) -> None:
            super().__init__(arms, arm)
            self.heard: list[tuple[Any, ...]] = []

        def _update(self, *heard: Any) -> policies.FixedState:
            self.heard.append(heard[2:])
            return super()._update(*heard)

    traces = position_traces({"E": [[3, 1, 1], [1, 5, 5]], "N": [[1] * 3] * 2}, prompts=100)
    listener = Listener(ARMS, ARMS.index("E", 3))
    replay(traces, listener, batch=2, cycles=2, seed=0)
    total, batch, context, positions, time = listener.heard[0]
    assert (total, batch, context, positions) == (4.0, 2, 100.0, (1.0, 1.0, 0.0))
    assert time == pytest.approx(1.3)
    # One stream has begun the request after the next, the other stands at token 1 of its own.
    total, batch, context, positions, time = listener.heard[1]
    assert batch == 2 and positions is not None and total == 2 + sum(positions)


def test_unmatched_streams_cost_one_token() -> None:
    traces = position_traces({"N": [[1, 1, 3, 1]] * 50}, unmatched={"N": 0.0})
    assert traces.drafts["N"].mean() == 0.25
    arms = policies.arm_set({"N": LinearCost(0.5)}, [4], off=False)
    run = replay(traces, policies.Fixed(arms, 0), batch=8, cycles=400)
    # Three steps of each request: nothing drafted in two of them.
    assert run.time[0, -1, 0] / 400 == pytest.approx(1 + 0.5 * 4 / 3, rel=0.02)


def test_switch_cost_is_paid_for_each_change_of_drafter() -> None:
    traces = scheduling.token_chain("code", requests=30, tokens=50)
    policy = policies.UCB(scheduling.fixture_arms())
    free = replay(traces, policy, batch=4, cycles=100, seed=2)
    oracles = free.oracles
    # Without the time of a switch in what is learned the choices would be the same.
    fixed = replay(traces, policies.Fixed(policy.arms, 2), batch=4, cycles=100, switch_cost=5.0)
    assert fixed.switches.tolist() == [0]
    paid = replay(traces, policy, batch=4, cycles=100, seed=2, switch_cost=5.0, oracles=oracles)
    assert paid.switches[0] > 0
    assert paid.throughput[0] < free.throughput[0]


def test_results_repeat_and_depend_on_the_seed() -> None:
    traces = scheduling.token_chain("chat", requests=40, tokens=60)
    policy = policies.Thompson(scheduling.fixture_arms())
    first = replay(traces, policy, batch=3, cycles=200, seed=[1, 2])
    second = replay(traces, policy, batch=3, cycles=200, seed=[1, 2])
    assert first.to_dict() == second.to_dict()
    assert first.states == second.states
    assert first.tokens[0, -1, 0] != first.tokens[1, -1, 0]
    assert len(str(first).splitlines()) <= 12
    regret, error = first.regret()
    prices = first.oracles.prices()[:, 0]
    lost = prices * first.time[:, -1, 0] - first.tokens[:, -1, 0]
    assert regret[-1] == pytest.approx(lost.mean())
    assert error[-1] == pytest.approx(lost.std(ddof=1) / np.sqrt(2))
    assert first.gain().value == pytest.approx(np.mean(first.gains()))
    assert sum(first.shares().values()) == pytest.approx(1.0)


def test_foresight_beats_every_fixed_arm() -> None:
    traces = scheduling.token_chain("code", requests=60, tokens=60)
    arms = scheduling.fixture_arms()
    for batch in (1, 16, LoadWalk((1, 4), dwell=100.0)):
        gain = replay_oracles(traces, arms, batch=batch, cycles=200, seed=[0, 1]).foresight_gain()
        assert gain is not None and gain.min() > 0.05


def test_walks_step_to_neighbours() -> None:
    walk = LoadWalk()
    path = np.searchsorted(walk.levels, walk.path(seed=4, steps=400))
    assert set(np.abs(np.diff(path)).tolist()) == {1}
    assert set(path.tolist()) == {0, 1, 2, 3, 4}
    assert walk.path(4, 50) == walk.path(4, 400)[:50]
    assert LoadWalk((7,)).path(0, 3) == (7, 7, 7)
    for wrong in ((), (4, 1), (0, 1), 3):
        with pytest.raises(InvalidInputError):
            LoadWalk(wrong)  # type: ignore[arg-type]


def test_real_costs_can_differ_from_what_the_policy_believes() -> None:
    traces = scheduling.token_chain("iid", requests=40, tokens=60)
    policy = policies.KFUCB(policies.arm_set(COSTS))
    real = {"E": LinearCost(0.6), "N": LinearCost(0.01)}
    result = replay(traces, policy, real, batch=16, cycles=600)
    # The share of the draft cost that is paid, six times what was believed, is limited to four.
    assert 3.5 < result.states[0].shares[0].value <= 4.0
    best = int(result.oracles.best_arms()[0])
    assert policy.arms.owner[best] == 1


def test_refusals() -> None:
    for requests in ({}, {"E": []}, {"E": [[]]}, {"E": [[0, 1]]}, {"E": [[1.5]]}, {"E": [["a"]]}):
        with pytest.raises(InvalidInputError):
            position_traces(requests)
    with pytest.raises(InvalidInputError, match="same requests"):
        position_traces({"E": [[1]], "N": [[1], [1]]})
    with pytest.raises(InvalidInputError, match="unmatched"):
        position_traces({"E": [[1]]}, unmatched={"N": 0.5})
    with pytest.raises(InvalidInputError, match="segments"):
        position_traces({"E": [[1], [1]]}, segments=[(0, 1)])
    traces = position_traces({"E": [[1, 2]]})
    with pytest.raises(InvalidInputError, match="no drafter 'N'"):
        replay(traces, policies.KFUCB(ARMS))
    arms = policies.arm_set({"E": 0.1})
    policy = policies.KFUCB(arms)
    wrong: list[dict[str, Any]] = [
        {"batch": 0},
        {"cycles": 0},
        {"seed": -1},
        {"seed": []},
        {"switch_cost": -1.0},
        {"cost": {"N": LinearCost(0.1)}},
    ]
    for arguments in wrong:
        with pytest.raises(InvalidInputError):
            replay(traces, policy, **arguments)
    with pytest.raises(InvalidInputError, match="policy must be"):
        replay(traces, "kf-ucb")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="traces must be"):
        replay([[1, 2]], policy)  # type: ignore[arg-type]
    result = replay(traces, policy, batch=1, cycles=30)
    with pytest.raises(InvalidInputError, match="oracles are of other"):
        replay(traces, policy, batch=2, cycles=30, oracles=result.oracles)
    with pytest.raises(InvalidInputError, match=r"\.marks"):
        result.gain(31)


def test_files(tmp_path: Any, real_data: Any) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text('{"prompt_len": 5, "acc_E": [2, 1]}\n\n{"acc_E": [1]}\n', encoding="utf-8")
    traces = scheduling.read_position_traces(file)
    assert traces.prompts.tolist() == [5, 5] and traces.lengths.tolist() == [2, 1]
    with pytest.raises(FormatError):
        scheduling.read_position_traces(tmp_path / "none.jsonl")
    path = real_data("drafting/acceptance_traces/gsm8k.jsonl")
    real = scheduling.read_position_traces(path, unmatched={"ngram": 0.3})
    assert real.requests == 300 and real.drafters == ("eagle", "ngram")
    costs = scheduling.fixture_costs()
    arms = policies.arm_set({"eagle": costs["E"], "ngram": costs["N"]})
    result = replay(real, policies.KFUCB(arms), batch=16, cycles=1500, seed=[0, 1])
    assert result.gain().value > -0.015
