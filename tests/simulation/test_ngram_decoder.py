"""The decoder: its text has the target's law, planted faults are seen, and α is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ensctl.drafting import LinearCost, optimal_pooled_acceptance, recursive_rejection
from ensctl.errors import InvalidInputError
from ensctl.scheduling import policies
from ensctl.simulation import (
    Block,
    NgramDrafter,
    NgramModel,
    PromptLookup,
    SpeculativeSampling,
    TokenVerifier,
    Verdict,
    draft_then_verify,
    losslessness_test,
    speculative_decode,
    train_ngrams,
)
from ensctl.simulation.draft_verify.acceptance_rules import REJECTED, draw
from ensctl.simulation.ngram.corpus import decode, encode, read_symbols, standard_library


@pytest.fixture(scope="module")
def target() -> NgramModel:
    """Order 6 on a tenth of the corpus, whose tables are quick to make."""
    text = decode(read_symbols(standard_library(800_000), 800_000))
    return train_ngrams(text, order=6)


class NoResidual(SpeculativeSampling):
    """After a rejection the correction is drawn from p instead of (p − q)₊."""

    def select(self, target: Any, laws: Any, drafts: Any, rng: Any) -> tuple[int, int, float]:
        unit, position, chance = super().select(target, laws, drafts, rng)
        return (draw(target, rng), REJECTED, chance) if position == REJECTED else (unit, 0, chance)


class WrongRatio(SpeculativeSampling):
    """Kept with chance min(1, q/p)."""

    def select(self, target: Any, laws: Any, drafts: Any, rng: Any) -> tuple[int, int, float]:
        _, _, chance = super().select(target, laws, drafts, rng)
        if rng.random() * target[drafts[0]] < laws[0][drafts[0]]:
            return drafts[0], 0, chance
        return draw(np.maximum(target - laws[0], 0.0), rng, otherwise=target), REJECTED, chance


class AlwaysKept(SpeculativeSampling):
    """No test at all."""

    def select(self, target: Any, laws: Any, drafts: Any, rng: Any) -> tuple[int, int, float]:
        return drafts[0], 0, 1.0


class BonusSkipped(TokenVerifier):
    """After a full acceptance the bonus enters the state, and is left out of the text."""

    def verify(self, state: bytes, block: Block) -> Verdict:
        verdict = super().verify(state, block)
        if block.units and verdict.accepted == len(block.units):
            kept = verdict.committed[: verdict.accepted]
            return Verdict(verdict.accepted, kept, verdict.state, verdict.chances)
        return verdict


class BonusOfTheDrafter(TokenVerifier):
    """After a full acceptance the bonus is taken from the drafter without a test."""

    drafter: NgramModel

    def verify(self, state: bytes, block: Block) -> Verdict:
        verdict = super().verify(state, block)
        if block.units and verdict.accepted == len(block.units):
            kept = bytes(verdict.committed[: verdict.accepted])
            bonus = draw(self.drafter.row(state + kept), self.rng)
            text = state + kept + bytes((bonus,))
            return Verdict(verdict.accepted, [*kept, bonus], text[-4096:], verdict.chances)
        return verdict


def _decoded(target: NgramModel, order: int, rule: Any, verifier: type, length: int) -> str:
    rng = np.random.default_rng(17)
    drafter = target.of_order(order)
    checking = verifier(target, rule, rng)
    checking.drafter = drafter
    run = draft_then_verify(encode("\n"), NgramDrafter(drafter, rng), checking, 3, units=length)
    return decode(bytes(run.committed))


_FAULTS = [
    pytest.param(NoResidual(), TokenVerifier, 15_000, id="no residual"),
    pytest.param(WrongRatio(), TokenVerifier, 4_000, id="wrong ratio"),
    pytest.param(AlwaysKept(), TokenVerifier, 4_000, id="always kept"),
    pytest.param(SpeculativeSampling(), BonusSkipped, 5_000, id="bonus skipped"),
    pytest.param(SpeculativeSampling(), BonusOfTheDrafter, 15_000, id="bonus of the drafter"),
]


@pytest.mark.parametrize(("rule", "verifier", "length"), _FAULTS)
def test_planted_faults_are_seen(
    target: NgramModel, rule: Any, verifier: type, length: int
) -> None:
    text = _decoded(target, 3, rule, verifier, length)
    test = losslessness_test(text, target, target.of_order(3))
    assert test.p_value < 1e-6, test
    assert "NOT" in str(test)


class ShiftedContext(NgramDrafter):
    """Drafts one symbol late, and hands over the distributions of the right place."""

    def propose(self, state: bytes, depth: int) -> Block:
        right, late = super().propose(state, depth), super().propose(state[:-1], depth)
        return Block(late.units, right.evidence)


def test_drafter_with_a_shifted_context_is_seen(target: NgramModel) -> None:
    drafter, rng = target.of_order(4), np.random.default_rng(23)
    verifier = TokenVerifier(target, SpeculativeSampling(), rng)
    run = draft_then_verify(encode("\n"), ShiftedContext(drafter, rng), verifier, 3, units=4_000)
    assert losslessness_test(decode(bytes(run.committed)), target, drafter).p_value < 1e-6


class UniformReused(SpeculativeSampling):
    """The number that decides on the draft also draws the correction."""

    def select(self, target: Any, laws: Any, drafts: Any, rng: Any) -> tuple[int, int, float]:
        uniform, law, draft = rng.random(), laws[0], drafts[0]
        if uniform * law[draft] < target[draft]:
            return draft, 0, 0.5
        total = np.maximum(target - law, 0.0).cumsum()
        return int(total.searchsorted(uniform * total[-1], side="right")), REJECTED, 0.5


@pytest.mark.parametrize("rule", [SpeculativeSampling(), UniformReused()])
def test_reused_random_number_is_seen_in_the_order_of_symbols(rule: Any) -> None:
    even, rng = train_ngrams("abcdefghij" * 200, order=1), np.random.default_rng(4)
    uneven = train_ngrams("eeeeeeeeebcdfghija" * 200, order=1)
    drafter = NgramDrafter(uneven, rng)
    run = draft_then_verify(b"", drafter, TokenVerifier(even, rule, rng), 2, units=3_000)
    test = losslessness_test(decode(bytes(run.committed)), even, uneven, order="symbol")
    assert test.p_value < 1e-6 if isinstance(rule, UniformReused) else test.p_value > 0.001


@pytest.mark.parametrize("order", [2, 3, 4])
def test_speculative_sampling_is_lossless(target: NgramModel, order: int) -> None:
    found = speculative_decode(target, target.of_order(order), 4_000, 3, seed=order)
    test = found.losslessness()
    assert test.p_value > 0.001, test
    assert test.tokens == len(found.text) == found.run.units
    exact = found.run.expected_accepted()
    assert abs(found.run.accepted.mean() - exact.value) < 3 * exact.std_error


@pytest.mark.parametrize("rule", ["recursive rejection", "optimal coupling"])
def test_pooled_drafts_are_lossless(target: NgramModel, rule: str) -> None:
    found = speculative_decode(target, target.of_order(3), 2_500, 2, drafts=2, rule=rule, seed=5)
    assert found.losslessness().p_value > 0.001
    exact = found.run.expected_accepted()
    assert abs(found.run.accepted.mean() - exact.value) < 3 * exact.std_error


def test_pool_of_different_models_is_lossless(target: NgramModel) -> None:
    pool = [target.of_order(4), target.of_order(2)]
    found = speculative_decode(target, pool, 3_000, 2, seed=6)
    assert losslessness_test(found.text, target, target.of_order(4)).p_value > 0.001
    alone = speculative_decode(target, target.of_order(4), 3_000, 2, seed=6)
    assert found.run.chances.mean() > alone.run.chances.mean() + 0.01


def test_prompt_lookup_is_lossless(target: NgramModel) -> None:
    found = speculative_decode(target, PromptLookup(), 4_000, 4, seed=8)
    assert found.losslessness().p_value > 0.001
    counters = found.run.counters()
    assert counters.draftless > 0 and counters.accepted > 0
    exact = found.run.expected_accepted()
    assert abs(found.run.accepted.mean() - exact.value) < 3 * exact.std_error


def test_chances_are_the_overlap_of_the_distributions(target: NgramModel) -> None:
    drafter = target.of_order(3)
    found = speculative_decode(target, drafter, 300, 1, seed=2)
    symbols, place = found.symbols, 0
    p = target.rows_along(encode("\n"), symbols)
    q = drafter.rows_along(encode("\n"), symbols)
    for length, chance in zip(found.run.accepted + 1, found.run.chances, strict=True):
        assert chance == pytest.approx(np.minimum(p[place], q[place]).sum(), abs=1e-12)
        place += int(length)


def test_pooled_acceptance_in_kind(target: NgramModel) -> None:
    """1 − (1 − α)^m is far above the optimum, and the optimum above recursive rejection."""
    text = read_symbols(standard_library(800_000), 800_000)[400_000:400_400]
    drafter = target.of_order(3)
    p, q = target.rows_along(b"", text), drafter.rows_along(b"", text)
    alpha = np.minimum(p, q).sum(axis=1)
    for count in (2, 4):
        formula = 1 - (1 - alpha.mean()) ** count
        pairs = list(zip(p, q, strict=True))
        best = np.array(
            [optimal_pooled_acceptance(*pair, count=count).acceptance for pair in pairs]
        )
        tested = np.array([recursive_rejection(*pair, count=count).acceptance for pair in pairs])
        assert np.all(tested <= best + 1e-12)
        assert alpha.mean() < tested.mean() - 0.05
        assert tested.mean() < best.mean() - 0.01
        assert best.mean() < formula - 0.05


def test_policy_chooses_between_drafters(target: NgramModel) -> None:
    arms = policies.arm_set({"order 4": 0.1, "lookup": 0.01}, [1, 3, 6])
    found = speculative_decode(
        target,
        {"order 4": target.of_order(4), "lookup": PromptLookup()},
        2_000,
        policies.KFUCB(arms),
        seed=3,
    )
    assert set(found.run.drafters) == {"order 4", "lookup"}
    assert found.run.throughput(LinearCost(0.1)) > 1.0
    assert found.losslessness().p_value > 0.001


def test_seed_repeats_the_text(target: NgramModel) -> None:
    first, again = (speculative_decode(target, target.of_order(2), 200, 2, seed=4) for _ in "ab")
    assert first.text == again.text
    assert first.to_dict()["text"] == first.text
    assert str(first).startswith(f"{first.run.units} units")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"target": "model"}, "target must be an n-gram model"),
        ({"drafter": "model"}, "drafter must be an n-gram model"),
        ({"drafter": []}, "drafter must be"),
        ({"prompt": b"x"}, "prompt must be a str"),
        ({"length": 0}, "length"),
        ({"drafts": 0}, "drafts"),
        ({"drafts": 2, "rule": "speculative sampling"}, "takes one draft"),
        ({"drafts": 40, "depth": 9}, "too many candidates"),
        ({"rule": "greedy"}, "rule must be one of"),
        ({"drafts": 2, "depth": 20_000}, "too many candidates"),
        ({"rule": 3}, "method select"),
        ({"rule": SpeculativeSampling}, "object with a method select, got SpeculativeSampling"),
        ({"depth": {1, 2}}, "depth"),
        ({"depth": -1}, "depth"),
    ],
)
def test_bad_input(changed: dict[str, Any], message: str) -> None:
    model = train_ngrams("abc abd", order=3)
    given: dict[str, Any] = {
        "target": model,
        "drafter": model.of_order(2),
        "length": 5,
        "depth": 2,
    } | changed
    with pytest.raises(InvalidInputError, match=message):
        speculative_decode(**given)


def test_pools_of_different_models_refuse_the_optimal_coupling_and_copies() -> None:
    model = train_ngrams("abc abd", order=3)
    pool = [model, model.of_order(1)]
    with pytest.raises(InvalidInputError, match="one law"):
        speculative_decode(model, pool, 5, 1, rule="optimal coupling")
    with pytest.raises(InvalidInputError, match="drafts goes with one model"):
        speculative_decode(model, pool, 5, 1, drafts=2)


class _Rows:
    def __init__(self, row: Any) -> None:
        self._row = np.array(row)

    def row(self, symbols: bytes) -> Any:
        return self._row


@pytest.mark.parametrize(
    ("target", "block", "message"),
    [
        ([0.5, 0.4], Block((), stopped=True), "target distribution must be ≥ 0 and sum to one"),
        ([0.5, 0.5], Block(((0,),), [[(np.array([0.5, 0.3]),)]]), "draft distribution must be"),
        ([0.5, 0.5], Block(((0,),), [[(np.array([1.0]),)]]), "2 entries"),
        ([0.5, 0.5], Block(((0,),), [[(np.array([0.0, 1.0]),)]]), "positive probability"),
        ([0.5, 0.5], Block(((7,),), [[(np.array([0.5, 0.5]),)]]), "positive probability"),
        ([0.5, 0.5], Block((0,), [[(np.array([0.5, 0.5]),)]]), "tuple of candidates"),
        ([0.5, 0.5], Block(((0,),)), "tuple of candidates"),
        ([0.5, 0.5], Block(((0, 1),), [[(np.array([0.5, 0.5]),) * 3]]), "got 2 of 3"),
    ],
)
def test_distributions_that_are_none(target: Any, block: Block, message: str) -> None:
    verifier = TokenVerifier(_Rows(target), SpeculativeSampling(), np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match=message):
        verifier.verify(b"", block)


def test_refusals_of_the_test_and_the_drafters(target: NgramModel) -> None:
    with pytest.raises(InvalidInputError, match="at least 250 characters"):
        losslessness_test("short", target)
    with pytest.raises(InvalidInputError, match="must be str"):
        losslessness_test(b"bytes", target)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="bins"):
        losslessness_test("x" * 300, target, bins=1)
    with pytest.raises(InvalidInputError, match="target must be an n-gram model"):
        losslessness_test("x" * 300, "model")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="drafter must be an n-gram model"):
        losslessness_test("x" * 300, target, "model")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="order must be"):
        losslessness_test("x" * 300, target, order="q/p")
    with pytest.raises(InvalidInputError, match="method row"):
        TokenVerifier("model", SpeculativeSampling(), 0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="encoded text and a Block"):
        TokenVerifier(target, SpeculativeSampling(), 0).verify(b"", 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="rng must be"):
        NgramDrafter(target, "seed")
    with pytest.raises(InvalidInputError, match="models must be"):
        NgramDrafter([], np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="longest"):
        PromptLookup(longest=2, shortest=3)


class _Answer:
    """A rule that selects whatever it was made with."""

    def __init__(self, found: Any) -> None:
        self._found = found

    def select(self, *given: Any) -> Any:
        return self._found


@pytest.mark.parametrize("found", [None, (5, 0), (97, -1, 0.5), (1, 3, 0.5), (1, 0, 0.5), "abc"])
def test_rules_that_select_nonsense_are_refused(found: Any) -> None:
    model = train_ngrams("abc abd", order=3)
    verifier = TokenVerifier(model, _Answer(found), 0)
    with pytest.raises(InvalidInputError, match="a rule must select"):
        verifier.verify(b"", Block(((2,),), [[(model.row(b""),)]]))


@pytest.mark.slow
def test_hundred_thousand_tokens_are_lossless_and_as_long_as_predicted() -> None:
    target = train_ngrams()
    drafter = target.of_order(4)
    found = speculative_decode(target, drafter, 100_000, 4, seed=2024)
    test = found.losslessness()
    assert test.tokens >= 100_000
    assert test.p_value > 0.001, test
    exact = found.run.expected_accepted()
    assert abs(found.run.accepted.mean() - exact.value) < 3 * exact.std_error
    assert found.run.chances.mean() == pytest.approx(0.78, abs=0.04)
