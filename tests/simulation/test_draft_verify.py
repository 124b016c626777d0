"""The loop of draft and verification: what it commits, counts and refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import Convention, LinearCost
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.scheduling import policies
from ensctl.simulation import (
    Block,
    DraftRun,
    PlannedDepth,
    PolicyDepth,
    Verdict,
    draft_then_verify,
)


class Counting:
    """Drafts the numbers that follow."""

    def propose(self, state: int, depth: int) -> Block:
        return Block(tuple(range(state + 1, state + depth + 1)))


class Coins:
    """Keeps every unit with chance α, and always has a unit of its own."""

    def __init__(self, alpha: float, seed: int, bonus: bool = True) -> None:
        self.alpha, self.bonus = alpha, bonus
        self.rng = np.random.default_rng(seed)

    def verify(self, state: int, block: Block) -> Verdict:
        depth, kept = len(block.units), 0
        while kept < depth and self.rng.random() < self.alpha:
            kept += 1
        length = kept + 1 if self.bonus or kept < depth or not depth else kept
        units = list(range(state + 1, state + 1 + length))
        return Verdict(kept, units, units[-1], [self.alpha] * min(kept + 1, depth))


class Returning:
    """A drafter or a verifier that always returns the same."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def propose(self, state: Any, depth: int) -> Any:
        return self.value

    def verify(self, state: Any, block: Block) -> Any:
        return self.value


@given(alpha=st.floats(0, 1), depth=st.integers(0, 6), seed=st.integers(0, 99), bonus=st.booleans())
def test_units_are_committed_once_and_in_order(
    alpha: float, depth: int, seed: int, bonus: bool
) -> None:
    run = draft_then_verify(0, Counting(), Coins(alpha, seed, bonus), depth, cycles=20)
    assert run.committed == tuple(range(1, run.units + 1))
    assert run.state == run.units and run.cycles == 20
    full = run.accepted == run.drafted
    extra = np.where(full & (run.drafted > 0) & (not bonus), 0, 1)
    assert run.units == int((run.accepted + extra).sum())
    counters = run.counters()
    assert counters.generated == run.units
    assert counters.draftless + counters.drafts == 20
    assert counters.accepted == run.accepted.sum()


@pytest.mark.parametrize("convention", list(Convention))
def test_mean_length_and_exact_chances(convention: Convention) -> None:
    run = draft_then_verify(0, Counting(), Coins(0.7, 5), 4, cycles=20_000)
    closed = {
        Convention.ACCEPTED: 1.7731,
        Convention.COMMITTED: 2.533,
        Convention.WITH_BONUS: 2.7731,
    }[convention]
    mean = run.mean_length(convention)
    assert abs(mean.value - closed) < 3 * mean.std_error
    exact = run.expected_accepted()
    assert abs(run.accepted.mean() - exact.value) < 3 * exact.std_error
    alpha = run.counters().alpha()
    assert abs(alpha.value - 0.7) < 3 * alpha.std_error


def test_throughput_prices_each_cycle_at_its_depth() -> None:
    run = draft_then_verify(0, Counting(), Coins(1.0, 0), [4, 0], cycles=10)
    assert run.units == 5 * 5 + 5
    assert run.throughput(LinearCost(0.1)) == pytest.approx(30 / (5 * 1.4 + 5 * 1.0))
    assert run.tokens_per_cycle == 3.0
    assert run.counters().draftless == 5


def test_depth_zero_never_asks_the_drafter() -> None:
    run = draft_then_verify(0, Returning(None), Coins(0.5, 0), 0, units=7)
    assert run.committed == (1, 2, 3, 4, 5, 6, 7)
    assert run.counters().drafts == 0 and run.counters().draftless == 7
    with pytest.raises(NotIdentifiableError, match="exact acceptance"):
        run.expected_accepted()


@pytest.mark.parametrize(
    "plan", [[1, 2, 3], PlannedDepth([1, 2, 3]), lambda cycle: 1 + cycle % 3], ids=str
)
def test_planned_depths(plan: Any) -> None:
    run = draft_then_verify(0, Counting(), Coins(1.0, 0), plan, cycles=6)
    assert run.depths.tolist() == [1, 2, 3, 1, 2, 3]
    by_depth = run.counters().histogram_by_depth
    assert by_depth == {1: {1: 2}, 2: {2: 2}, 3: {3: 2}}


def test_a_policy_finds_the_better_drafter_and_depth() -> None:
    class Marked(Counting):
        def __init__(self, alpha: float) -> None:
            self.alpha = alpha

        def propose(self, state: int, depth: int) -> Block:
            return Block(super().propose(state, depth).units, self.alpha)

    class ByMark:
        rng = np.random.default_rng(3)

        def verify(self, state: int, block: Block) -> Verdict:
            coins = Coins(block.evidence or 0.0, 0)
            coins.rng = self.rng
            return coins.verify(state, block)

    arms = policies.arm_set({"good": 0.05, "bad": 0.05}, [1, 2, 4])
    pool = {"good": Marked(0.8), "bad": Marked(0.2)}
    run = draft_then_verify(0, pool, ByMark(), policies.KFUCB(arms), cycles=600)
    late = run.owners[300:]
    assert run.drafters[late.max()] == "good" or run.drafters[0] == "good"
    assert np.mean(late == run.drafters.index("good")) > 0.9
    assert np.mean(run.depths[300:] == 4) > 0.8
    assert run.schedule_state.cycles == 600
    good = run.counters("good")
    assert abs(good.alpha().value - 0.8) < 4 * good.alpha().std_error
    # The same choices for a load of eight streams, told as totals.
    loaded = PolicyDepth(policies.KFUCB(arms), batch=8)
    assert draft_then_verify(0, pool, ByMark(), loaded, cycles=20).cycles == 20


def test_declared_early_stops_are_counted_as_drafted() -> None:
    class Short:
        def propose(self, state: int, depth: int) -> Block:
            return Block((state + 1,), stopped=True) if state % 2 else Block((), stopped=True)

    run = draft_then_verify(1, Short(), Coins(1.0, 0), 5, cycles=4)
    assert set(run.drafted.tolist()) <= {0, 1} and run.counters().draft_tokens <= 4
    assert run.counters().fully_accepted() == run.counters().drafts


@pytest.mark.parametrize(
    ("draft", "message"),
    [
        (Block(()), "must draft 3 units, got none"),
        (Block((1, 2)), "must draft 3 units, got 2; set stopped"),
        (Block((1, 2, 3, 4)), "must draft 3 units, got 4; cut"),
        (Block((1, 2, 3, 4), stopped=True), "got 4"),
        ([1, 2, 3], "must return a Block, got list"),
        (Block(3), "units in a sequence, got int"),  # type: ignore[arg-type]
    ],
)
def test_bad_drafters(draft: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        draft_then_verify(0, Returning(draft), Coins(0.5, 0), 3, cycles=5)


@pytest.mark.parametrize(
    ("verdict", "message"),
    [
        (Verdict(4, (1, 2, 3, 4), 0), "must accept from 0 to 3 units, what it was given, got 4"),
        (Verdict(-1, (1,), 0), "from 0 to 3"),
        (Verdict(1.5, (1, 2), 0), "from 0 to 3"),  # type: ignore[arg-type]
        (Verdict(0, (), 0), "at least one unit"),
        (Verdict(1, (1, 2, 3), 0), "1 accepted units and at most one of its own"),
        (Verdict(2, (1,), 0), "2 accepted units"),
        (Verdict(1, (1, 2), 0, (0.5,)), "one chance for each of 2 tests"),
        (Verdict(1, (1, 2), 0, (0.5, 1.5)), "chances from 0 to 1"),
        (Verdict(1, (1, 2), 0, (0.5, "x")), "chances from 0 to 1"),  # type: ignore[arg-type]
        (Verdict(math.inf, (1,), 0), "count and sequences"),  # type: ignore[arg-type]
        (Verdict(None, (1,), 0), "count and sequences"),  # type: ignore[arg-type]
        ((1, 2), "must return a Verdict, got tuple"),
    ],
)
def test_bad_verifiers(verdict: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        draft_then_verify(0, Counting(), Returning(verdict), 3, cycles=5)


@pytest.mark.parametrize(
    ("depth", "limits", "message"),
    [
        (-1, {"cycles": 1}, "depth"),
        (2.5, {"cycles": 1}, "depth"),
        ([], {"cycles": 1}, "empty plan"),
        (lambda cycle: -3, {"cycles": 1}, "depth of cycle 0"),
        (3, {}, "exactly one"),
        (3, {"cycles": 1, "units": 1}, "exactly one"),
        (3, {"cycles": 0}, "cycles"),
        (3, {"units": 0}, "units"),
        ("four", {"units": 1}, "depth"),
        ({1, 2}, {"units": 1}, "depth"),
    ],
)
def test_bad_arguments(depth: Any, limits: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        draft_then_verify(0, Counting(), Coins(0.5, 0), depth, **limits)


def test_roles_without_their_method_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="proposer must have a method propose, got int"):
        draft_then_verify(0, 3, Coins(0.5, 0), 2, cycles=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="drafter 'a' must have a method propose"):
        draft_then_verify(0, {"a": None}, Coins(0.5, 0), 2, cycles=1)  # type: ignore[dict-item]
    with pytest.raises(InvalidInputError, match="verifier must have a method verify"):
        draft_then_verify(0, Counting(), None, 2, cycles=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="drafter must be a name"):
        PlannedDepth(3, ["a"])  # type: ignore[arg-type]


def test_plan_may_be_an_array() -> None:
    assert PlannedDepth(np.array(3)) == PlannedDepth(3)  # type: ignore[arg-type]
    assert PlannedDepth(np.array([1, 0])).plan == (1, 0)  # type: ignore[arg-type]


def test_unknown_names() -> None:
    with pytest.raises(InvalidInputError, match="named 'x', has 'a', 'b'"):
        draft_then_verify(
            0,
            {"a": Counting(), "b": Counting()},
            Coins(0.5, 0),
            PlannedDepth(2, drafter="x"),
            cycles=1,
        )
    run = draft_then_verify(0, {"a": Counting()}, Coins(0.5, 0), 2, cycles=3)
    with pytest.raises(InvalidInputError, match="got 'x'"):
        run.counters("x")
    with pytest.raises(InvalidInputError, match="policies"):
        PolicyDepth("kf-ucb")  # type: ignore[arg-type]


def test_text_and_data_of_a_run() -> None:
    run: DraftRun = draft_then_verify(0, Counting(), Coins(0.5, 1), 3, cycles=50)
    assert str(run).startswith(f"{run.units} units committed in 50 cycles")
    assert run.to_dict()["kind"] == "draft_run"
    assert not run.accepted.flags.writeable
