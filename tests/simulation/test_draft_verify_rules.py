"""Acceptance rules: the unit keeps the target's law, and as many drafts are kept as is proved."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.drafting import optimal_pooled_acceptance, recursive_rejection, sampled_acceptance
from ensctl.errors import InvalidInputError
from ensctl.simulation import (
    OptimalCoupling,
    RecursiveRejectionSampling,
    SpeculativeSampling,
)
from ensctl.simulation.draft_verify.acceptance_rules import checked_law, draw
from ensctl.simulation.draft_verify.optimal_coupling import CouplingPlan, coupling_plan


@st.composite
def laws(draw_from: Any, size: int | None = None) -> np.ndarray[Any, Any]:
    number = size or draw_from(st.integers(2, 9))
    weights = draw_from(
        st.lists(
            st.sampled_from([0.0, 1e-9, 0.01, 0.2, 0.5, 1.0, 3.0]), min_size=number, max_size=number
        ).filter(any)
    )
    return np.array(weights) / sum(weights)


pairs = st.integers(2, 9).flatmap(lambda n: st.tuples(laws(n), laws(n)))


def _rules_of(plan: CouplingPlan) -> Iterator[tuple[float, list[int]]]:
    """All block rules of the mixture with their weights, to float64."""

    def split(low: float, high: float, first: list[int], last: list[int]) -> Iterator[Any]:
        middle = (low + high) / 2
        if first == last or not low < middle < high:
            yield high - low, first
            return
        between = plan.cuts(middle)
        yield from split(low, middle, first, between)
        yield from split(middle, high, between, last)

    yield from split(0.0, 1.0, plan.cuts(0.0), plan.cuts(1.0))


def _law_of_choice(plan: CouplingPlan, law: Any) -> Any:
    found = np.zeros(law.size)
    for weight, cuts in _rules_of(plan):
        start, mass, reached = 0, 0.0, 0.0
        for end in [*cuts, plan.order.size - 1]:
            tokens = plan.order[start : end + 1]
            share = (plan.reached[end] - reached) / (plan.mass[end] - mass)
            found[tokens] += weight * share * law[tokens]
            start, mass, reached = end + 1, plan.mass[end], plan.reached[end]
    return found


@given(pair=pairs, count=st.integers(1, 5))
def test_coupling_attains_the_upper_bound(pair: Any, count: int) -> None:
    p, q = pair
    plan = coupling_plan(p, q, count)
    best = optimal_pooled_acceptance(p, q, count=count).acceptance
    assert plan.acceptance == pytest.approx(best, abs=1e-13)
    assert plan.selected.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(plan.bends >= 0.0)


@settings(max_examples=40)
@given(pair=pairs, count=st.integers(2, 4))
def test_mixture_of_block_rules_has_the_selected_law(pair: Any, count: int) -> None:
    p, q = pair
    plan = coupling_plan(p, q, count)
    np.testing.assert_allclose(_law_of_choice(plan, q), plan.selected, atol=1e-9)


def test_block_rules_choose_as_their_law_says() -> None:
    """The law used above, against all draft tuples of the rule as it is run."""
    p, q = np.array([0.45, 0.25, 0.2, 0.1]), np.array([0.1, 0.2, 0.3, 0.4])
    plan = coupling_plan(p, q, 3)

    class At:
        def __init__(self, place: float) -> None:
            self.place = place

        def random(self) -> float:
            return self.place

    found = np.zeros(4)
    place = 0.0
    for weight, _ in _rules_of(plan):
        for drafts in product(range(4), repeat=3):
            position = plan.choose(drafts, At(place + weight / 2))  # type: ignore[arg-type]
            found[drafts[position]] += weight * float(np.prod(q[list(drafts)]))
        place += weight
    np.testing.assert_allclose(found, plan.selected, atol=1e-12)


@pytest.mark.parametrize(
    ("rule", "count"),
    [
        (SpeculativeSampling(), 1),
        (RecursiveRejectionSampling(), 1),
        (RecursiveRejectionSampling(), 3),
        (OptimalCoupling(), 1),
        (OptimalCoupling(), 3),
    ],
)
def test_units_have_the_law_of_the_target(rule: Any, count: int) -> None:
    p, q = np.array([0.4, 0.3, 0.2, 0.1, 0.0]), np.array([0.05, 0.15, 0.1, 0.3, 0.4])
    rng = np.random.default_rng(11)
    number = 4_000
    drafts = rng.choice(5, size=(number, count), p=q)
    units = np.zeros(5)
    kept = 0
    for row in drafts.tolist():
        unit, position, chance = rule.select(p, [q] * count, row, rng)
        assert position == -1 or row[position] == unit
        units[unit] += 1
        kept += position >= 0
    statistic = float(np.sum((units[:4] - number * p[:4]) ** 2 / (number * p[:4])))
    assert units[4] == 0 and statistic < 16.3  # 99.9 % of chi-square, 3 degrees of freedom
    assert abs(kept / number - chance) < 3 * np.sqrt(chance * (1 - chance) / number)
    if isinstance(rule, OptimalCoupling):
        expected = optimal_pooled_acceptance(p, q, count=count).acceptance
    else:
        expected = recursive_rejection(p, q, count=count).acceptance
    assert chance == pytest.approx(expected, abs=1e-12)


def test_different_laws_in_recursive_rejection() -> None:
    p = np.array([0.6, 0.3, 0.1])
    laws = [np.array([0.2, 0.2, 0.6]), np.array([0.1, 0.8, 0.1])]
    _, _, chance = RecursiveRejectionSampling().select(p, laws, [2, 1], np.random.default_rng(0))
    assert chance == pytest.approx(recursive_rejection(p, laws).acceptance)
    with pytest.raises(InvalidInputError, match="one law"):
        OptimalCoupling().select(p, laws, [2, 1], np.random.default_rng(0))


def test_equal_laws_keep_every_draft() -> None:
    p = np.array([0.5, 0.25, 0.25])
    rng = np.random.default_rng(0)
    assert SpeculativeSampling().select(p, [p], [2], rng) == (2, 0, 1.0)
    assert sampled_acceptance(p, p).alpha == 1.0
    unit, position, chance = OptimalCoupling().select(p, [p, p], [2, 2], rng)
    assert (unit, position, chance) == (2, 0, 1.0)


def test_refusals() -> None:
    p = np.array([0.5, 0.5])
    with pytest.raises(InvalidInputError, match="takes one draft, got 2"):
        SpeculativeSampling().select(p, [p, p], [0, 1], np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match=r"sum to one, got sum 0\.9"):
        checked_law(np.array([0.5, 0.4]), "p")
    with pytest.raises(InvalidInputError, match=r"least entry -0\.5"):
        checked_law(np.array([1.5, -0.5]), "p")
    with pytest.raises(InvalidInputError, match="sum nan"):
        checked_law(np.array([np.nan, 0.5]), "p")


@pytest.mark.parametrize(
    "rule", [SpeculativeSampling(), RecursiveRejectionSampling(), OptimalCoupling()]
)
@pytest.mark.parametrize(
    ("laws", "drafts", "message"),
    [
        ([], [], r"takes one draft|at least one, got 0 of 0"),
        ([[0.5, 0.5]], [0], "arrays of one size"),
        ([np.full(3, 1 / 3)], [0], "arrays of one size"),
        ([np.full(2, 0.5)], [2], "drafts must be from 0 to 1, got 2"),
        ([np.full(2, 0.5)] * 2, [0], "one for each law"),
    ],
)
def test_drafts_that_do_not_fit(rule: Any, laws: Any, drafts: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        rule.select(np.full(2, 0.5), laws, drafts, np.random.default_rng(0))


def test_chances_of_laws_without_a_common_unit_are_zero() -> None:
    p, q = np.append(np.full(97, 1 / 97), 0.0), np.append(np.zeros(97), 1.0)
    for rule in (SpeculativeSampling(), RecursiveRejectionSampling(), OptimalCoupling()):
        unit, position, chance = rule.select(p, [q], [97], np.random.default_rng(1))
        assert position == -1 and unit < 97 and 0.0 <= chance < 1e-12


def test_draw_never_gives_what_has_no_weight() -> None:
    class Last:
        def random(self) -> float:
            return 1.0

    weights = np.array([0.0, 0.3, 0.7, 0.0])
    assert draw(weights, Last()) == 2  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    assert {draw(weights, rng) for _ in range(200)} == {1, 2}
    assert draw(np.zeros(2), rng, otherwise=np.array([0.0, 1.0])) == 1
