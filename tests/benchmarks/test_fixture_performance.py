"""What policies reach on the public fixture, under its fault and load walk, and on real traces.

Not a matter of time: every test states the gain over the best fixed arm that is asked for, and the
assertion shows what was reached, with its standard error over seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ensctl import scheduling
from ensctl.scheduling import LoadWalk, policies, replay, replay_oracles

ARMS = scheduling.fixture_arms()
KINDS = ("code", "chat", "iid")
# At the reduced size policies are still exploring.
_SMOKE = -0.25


def _gain(
    traces: scheduling.PositionTraces,
    policy: policies.Policy[Any],
    batch: int | LoadWalk,
    cycles: int | None,
    seeds: int,
) -> scheduling.Gain:
    every = list(range(seeds))
    oracles = replay_oracles(
        traces, policy.arms, batch=batch, cycles=cycles, seed=every, foresight=False
    )
    return replay(traces, policy, None, batch, cycles, every, oracles=oracles).gain()


def _reaches(gain: scheduling.Gain, wanted: float) -> bool:
    """Whether a gain is as high as asked for, to within two standard errors of the seeds."""
    return gain.value + 2 * gain.std_error >= wanted


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", [1, 16, 64])
@pytest.mark.parametrize(("cycles", "wanted"), [(2000, -0.005), (20_000, -0.003)])
def test_filter_is_near_the_best_fixed_arm(
    kind: str, batch: int, cycles: int, wanted: float, sized: Callable[..., Any]
) -> None:
    traces = scheduling.token_chain(kind)
    number, seeds = sized(cycles, smoke=300), sized(8, smoke=2)
    gain = _gain(traces, policies.KFUCB(ARMS), batch, number, seeds)
    assert _reaches(gain, sized(wanted, smoke=_SMOKE))


@pytest.mark.parametrize(
    ("kind", "batch", "wanted"),
    [
        ("code", 1, 0.10),
        ("code", 16, 0.04),
        ("chat", 1, -0.007),
        ("chat", 16, -0.007),
        ("iid", 1, -0.007),
        ("iid", 16, -0.007),
    ],
)
def test_switching_pays_on_code_and_costs_little_elsewhere(
    kind: str, batch: int, wanted: float, sized: Callable[..., Any]
) -> None:
    traces = scheduling.token_chain(kind)
    policy = policies.HysteresisSwitch(ARMS)
    cycles, seeds = sized(20_000, smoke=300), sized(8, smoke=2)
    assert _reaches(_gain(traces, policy, batch, cycles, seeds), sized(wanted, smoke=_SMOKE))


@pytest.mark.parametrize("kind", KINDS)
def test_guard_pays_under_the_fault(kind: str, sized: Callable[..., Any]) -> None:
    traces = scheduling.token_chain(kind, fault=True, requests=sized(1500, smoke=60))
    seeds = sized(8, smoke=2)
    guarded = _gain(traces, policies.KFUCB(ARMS), 16, None, seeds)
    trusting = _gain(traces, policies.KFUCB(ARMS, guard=False), 16, None, seeds)
    assert _reaches(guarded, sized(0.08, smoke=_SMOKE))
    assert guarded.value > trusting.value - sized(0.0, smoke=0.25)


@pytest.mark.parametrize("kind", KINDS)
def test_filter_follows_the_load(kind: str, sized: Callable[..., Any]) -> None:
    traces = scheduling.token_chain(kind)
    cycles, seeds = sized(20_000, smoke=300), sized(8, smoke=2)
    gain = _gain(traces, policies.KFUCB(ARMS), LoadWalk(), cycles, seeds)
    assert _reaches(gain, sized(-0.005, smoke=_SMOKE))


@pytest.mark.parametrize("name", ["gsm8k", "cnn"])
@pytest.mark.parametrize("batch", [1, 16, 64])
def test_filter_on_real_traces(
    name: str, batch: int, real_data: Callable[[str], Path], sized: Callable[..., Any]
) -> None:
    path = real_data(f"drafting/acceptance_traces/{name}.jsonl")
    traces = scheduling.read_position_traces(path, unmatched={"ngram": 0.3})
    costs = scheduling.fixture_costs()
    arms = policies.arm_set({"eagle": costs["E"], "ngram": costs["N"]})
    cycles, seeds = sized(20_000, smoke=300), sized(8, smoke=2)
    gain = _gain(traces, policies.KFUCB(arms), batch, cycles, seeds)
    assert _reaches(gain, sized(-0.01, smoke=_SMOKE))
