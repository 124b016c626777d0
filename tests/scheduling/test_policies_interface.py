"""What holds for every policy: pure, JSON round trips, bounded states, refusals."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from ensctl.drafting import Drafter, LinearCost
from ensctl.errors import InvalidInputError
from ensctl.scheduling import fixture_arms, fixture_costs, policies

ARMS = fixture_arms()


def _policies() -> dict[str, policies.Policy[Any]]:
    return {
        "fixed": policies.Fixed(ARMS, 3),
        "table": policies.Fixed(ARMS, {1: 3, 32: 0}),
        "ucb": policies.UCB(ARMS),
        "kl-ucb": policies.KLUCB(ARMS),
        "thompson": policies.Thompson(ARMS),
        "kf-ucb": policies.KFUCB(ARMS),
        "kf-ucb unguarded": policies.KFUCB(ARMS, guard=False),
        "ahs": policies.HysteresisSwitch(ARMS, neural="E", ngram="N"),
    }


def _play(policy: policies.Policy[Any], cycles: int, batch: int = 16, seed: int = 0) -> Any:
    """Geometric acceptance with rates .7 and .3."""
    rng = np.random.default_rng(seed)
    state = policy.init(seed)
    for _ in range(cycles):
        action = policy.select(state, batch=batch, context=300.0)
        depth = ARMS.depths[action]
        rate = (0.7, 0.3, 0.0)[ARMS.owner[action]]
        kept = np.minimum(rng.geometric(1.0 - rate, batch) - 1, depth)
        state = policy.update(
            state, action, batch + kept.sum(), batch=batch, context=300.0, cycle_time=9.0
        )
    return state


@pytest.fixture(params=list(_policies()))
def policy(request: pytest.FixtureRequest) -> policies.Policy[Any]:
    return _policies()[request.param]


def test_a_state_survives_json_and_goes_on_alike(policy: policies.Policy[Any]) -> None:
    state = _play(policy, 80)
    text = json.dumps(policy.to_dict(state), allow_nan=False)
    again = policy.from_dict(json.loads(text))
    assert again == state
    action = policy.select(state, batch=4)
    assert policy.select(again, batch=4) == action
    total = 4 * (1 + ARMS.depths[action])
    assert policy.update(again, action, total, batch=4) == policy.update(
        state, action, total, batch=4
    )


def test_states_do_not_grow(policy: policies.Policy[Any]) -> None:
    sizes = [len(json.dumps(policy.to_dict(_play(policy, cycles)))) for cycles in (150, 600)]
    assert sizes[1] < 1.5 * sizes[0]


def test_select_and_update_are_pure(policy: policies.Policy[Any]) -> None:
    state = _play(policy, 60)
    kept = policy.to_dict(state)
    actions = {policy.select(state, batch=8) for _ in range(5)}
    assert len(actions) == 1
    action = actions.pop()
    nexts = [policy.update(state, action, 8 + ARMS.depths[action], batch=8) for _ in range(2)]
    assert nexts[0] == nexts[1]
    assert policy.to_dict(state) == kept
    with pytest.raises(AttributeError):
        state.policy = "other"


def test_threads_agree_with_one_after_the_other(policy: policies.Policy[Any]) -> None:
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: _play(policy, 60, seed=seed), range(4)))
    assert together == [_play(policy, 60, seed=seed) for seed in range(4)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"action": 17}, "action must be an arm"),
        ({"action": -1}, "action must be an arm"),
        ({"action": 1.5}, "action must be an arm"),
        ({"action": True}, "action must be an arm"),
        ({"total": math.nan}, "total"),
        ({"total": math.inf}, "total"),
        ({"total": 15}, "total of E K=3 for 16 streams must be from 16 to 64"),
        ({"total": 65}, "total"),
        ({"total": "many"}, "total"),
        ({"total": None}, "total"),
        ({"total": 10**400}, "total"),
        ({"batch": 10**400}, "batch"),
        ({"context": 10**400}, "context"),
        ({"cycle_time": 10**400}, "cycle_time"),
        ({"positions": [10**400, 0, 0]}, "positions"),
        ({"batch": 0}, "batch"),
        ({"batch": 2.5}, "batch"),
        ({"context": -1.0}, "context"),
        ({"context": math.nan}, "context"),
        ({"context": "long"}, "context"),
        ({"cycle_time": 0.0}, "cycle_time"),
        ({"cycle_time": math.nan}, "cycle_time"),
        ({"positions": [10, 4]}, "positions must have 3 entries"),
        ({"positions": [4, 6, 6]}, "positions must fall"),
        ({"positions": [17, 0, 0]}, "positions must fall"),
        ({"positions": [math.nan, 0, 0]}, "positions must fall"),
        ({"positions": [9, 4, 1]}, "positions make a total of 30"),
        ({"positions": 3}, "positions must be numbers"),
    ],
)
def test_wrong_updates_are_refused_and_change_nothing(
    policy: policies.Policy[Any], wrong: dict[str, Any], said: str
) -> None:
    state = _play(policy, 20)
    kept = policy.to_dict(state)
    right: dict[str, Any] = {"action": 3, "total": 32, "batch": 16}
    arguments = {**right, **wrong}
    with pytest.raises(InvalidInputError, match=said):
        policy.update(state, arguments.pop("action"), arguments.pop("total"), **arguments)
    assert policy.to_dict(state) == kept


def test_states_of_others_are_refused(policy: policies.Policy[Any]) -> None:
    fewer = policies.arm_set(fixture_costs(), [1, 2])
    others = [policies.KFUCB(fewer), policies.KFUCB(ARMS, width=3.0), policies.UCB(fewer)]
    for other in others:
        with pytest.raises(InvalidInputError, match=r"state (belongs|must be)"):
            policy.select(other.init(), batch=1)
        with pytest.raises(InvalidInputError, match="state"):
            policy.update(other.init(), 0, 1)
        with pytest.raises(InvalidInputError, match="state"):
            policy.from_dict(other.to_dict(other.init()))
    for nothing in (None, 3, {}):
        with pytest.raises(InvalidInputError, match="state must be"):
            policy.select(nothing)


def test_damaged_data_is_no_state(policy: policies.Policy[Any]) -> None:
    good = policy.to_dict(_play(policy, 10))
    lacking = {key: value for key, value in good.items() if key != "cycles" and key != "rule"}
    for bad in (
        None,
        [],
        {},
        {**good, "schema": 2},
        {**good, "kind": "plan"},
        {**good, "policy": 3},
        {**good, "extra": 1},
        lacking,
    ):
        with pytest.raises(InvalidInputError):
            policy.from_dict(bad)  # type: ignore[arg-type]


def _leaves(content: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(content, dict | list):
        pairs = content.items() if isinstance(content, dict) else enumerate(content)
        inner = [leaf for key, item in pairs for leaf in _leaves(item, (*place, key))]
        return [*inner, place] if place else inner
    return [place]


def test_data_with_one_wrong_entry_is_refused_or_of_use(policy: policies.Policy[Any]) -> None:
    text = json.dumps(policy.to_dict(_play(policy, 60)))
    leaves = _leaves(json.loads(text))
    rng = np.random.default_rng(1)
    wrong = ([], 99, -99, 10**400, 1e300, math.nan, math.inf, "x", None, {}, True)
    for place in (leaves[i] for i in rng.permutation(len(leaves))[:80]):
        content = json.loads(text)
        *path, last = place
        holder = content
        for key in path:
            holder = holder[key]
        holder[last] = wrong[int(rng.integers(len(wrong)))]
        try:
            state = policy.from_dict(content)
        except InvalidInputError:
            continue
        for batch in (1, 2, 40):
            action = policy.select(state, batch=batch)
            state = policy.update(state, action, batch, batch=batch, cycle_time=9.0)


@pytest.mark.parametrize("name", ["ucb", "thompson", "ahs"])
@pytest.mark.parametrize("seed", ["x", 1.5, -1, None, math.nan])
def test_seeds_are_checked(name: str, seed: Any) -> None:
    with pytest.raises(InvalidInputError, match="seed"):
        _policies()[name].init(seed)


def test_policies_that_learn_find_the_better_drafter() -> None:
    for name in ("ucb", "kl-ucb", "thompson", "kf-ucb", "ahs"):
        policy = _policies()[name]
        state = _play(policy, 400)
        assert ARMS.owner[policy.select(state, batch=16, context=300.0)] == 0, name


def test_arms_are_checked() -> None:
    for wrong in ({}, [], {"off": 0.1}, {"E": -1.0}, {"E": LinearCost(0.1, unit="ms"), "N": 0.1}):
        with pytest.raises(InvalidInputError):
            policies.arm_set(wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="different names"):
        policies.arm_set([Drafter("E", 0.5, 0.1), Drafter("E", 0.6, 0.1)])
    for depths in ([], [0], {"E": []}, {"E": [1], "X": [1]}):
        with pytest.raises(InvalidInputError):
            policies.arm_set({"E": 0.1}, depths)
    with pytest.raises(InvalidInputError, match="arm_set"):
        policies.KFUCB("arms")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="two drafters"):
        policies.HysteresisSwitch(policies.arm_set({"E": 0.1}))
    for drafter, depth in (("X", 1), ("E", 7)):
        with pytest.raises(InvalidInputError):
            ARMS.index(drafter, depth)
    for table in ({}, {2: 1}, 17, {1: 40}):
        with pytest.raises(InvalidInputError):
            policies.Fixed(ARMS, table)


def test_costs_follow_the_model_and_the_drafted_share() -> None:
    costs = fixture_costs()
    base, slope = ARMS.lines(16, 320.0)
    for arm in range(ARMS.size):
        owner, depth = ARMS.owner[arm], ARMS.depths[arm]
        model = costs["EN"[max(owner, 0)]]
        assert base[arm] + slope[arm] == pytest.approx(model.cycle(depth, 16, 320.0), rel=1e-12)
    # Nobody drafts: one token per stream is verified, and the n-gram look-up is still paid.
    verify = costs["N"].cycle(0, 16, 320.0) - 1.20683946
    assert base[ARMS.index("N", 5)] == pytest.approx(1.005875 * verify + 1.20683946, rel=1e-12)
