"""The noun: its identities, the lengths it gives under each convention, merging, and refusals."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.drafting import Convention, Counters
from ensctl.errors import InvalidInputError, NotIdentifiableError

WINDOW = Counters(100, 300, 150, accepted_per_position=(80, 50, 20))


def test_lengths_under_each_convention() -> None:
    assert WINDOW.mean_acceptance_length(Convention.ACCEPTED) == 1.5
    assert WINDOW.mean_acceptance_length(Convention.WITH_BONUS) == 2.5
    # E[min(accepted + 1, K)] = 1 + S(1) + S(2)
    assert WINDOW.mean_acceptance_length(Convention.COMMITTED) == pytest.approx(2.3)
    assert WINDOW.acceptance_rate == 0.5
    assert WINDOW.survival() == (1.0, 0.8, 0.5, 0.2)
    assert WINDOW.fully_accepted() == 20


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.integers(1, 6), st.lists(st.integers(0, 50), min_size=7, max_size=7), min_size=1
    )
)
def test_a_histogram_by_depth_gives_every_length(rows: dict[int, list[int]]) -> None:
    tables = {depth: dict(enumerate(row[: depth + 1])) for depth, row in rows.items()}
    pairs = [
        (depth, kept, count) for depth, table in tables.items() for kept, count in table.items()
    ]
    drafts = sum(count for _, _, count in pairs)
    window = Counters(
        drafts,
        sum(depth * count for depth, _, count in pairs),
        sum(kept * count for _, kept, count in pairs),
        depth=max(rows),
        histogram_by_depth=tables,
    )
    if not drafts:
        with pytest.raises(NotIdentifiableError, match="no step drafted"):
            window.mean_acceptance_length()
        return
    committed = sum(min(kept + 1, depth) * count for depth, kept, count in pairs) / drafts
    assert math.isclose(window.mean_acceptance_length(Convention.COMMITTED), committed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"drafts": -1}, "drafts must be a number ≥ 0"),
        ({"drafts": math.nan}, "drafts must be a number ≥ 0, got nan"),
        ({"accepted": 301, "accepted_per_position": None}, "301 tokens accepted of 300"),
        ({"draft_tokens": 301}, "301 tokens in 100 drafts of depth 3"),
        ({"accepted_per_position": (80, 90, -20)}, "must not increase"),
        ({"accepted_per_position": (80, 50, 21)}, "positions add to 151, but 150"),
        ({"accepted_per_position": (150, 0, 0)}, "must not increase, got 150 after 100"),
        ({"depth": 2}, "300 tokens in 100 drafts of depth 2"),
        ({"depth": 1.5}, "depth must be an integer"),
        ({"draftless": math.inf}, "draftless must be a number"),
        ({"generated": -1}, "generated must be a number"),
        ({"histogram": {0: 20, 3: 50}}, "histogram has 70 drafts, expected 100"),
        ({"histogram": {0: 50, 2: 50}}, "histogram has 100 accepted tokens, expected 150"),
        ({"histogram_by_depth": {1: {2: 100}}}, "accepts more than 1 of 1"),
    ],
)
def test_contradictions_are_refused(arguments: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {
        "drafts": 100,
        "draft_tokens": 300,
        "accepted": 150,
        "accepted_per_position": (80, 50, 20),
    }
    with pytest.raises(InvalidInputError, match=message):
        Counters(**(good | arguments))


def test_what_cannot_be_known_is_refused() -> None:
    empty = Counters(0, 0, 0, source="server.log", line=7)
    with pytest.raises(NotIdentifiableError, match=r"server\.log, line 7: no token was drafted"):
        _ = empty.acceptance_rate
    with pytest.raises(NotIdentifiableError, match="no step drafted"):
        empty.mean_acceptance_length()
    bare = Counters(100, 300, 150, depth=3)
    with pytest.raises(NotIdentifiableError, match="number of fully accepted drafts"):
        bare.mean_acceptance_length(Convention.COMMITTED)
    assert bare.fully_accepted() is None
    assert bare.survival() is None
    # At K = 1 the correction alone is committed.
    assert Counters(10, 10, 4, depth=1).mean_acceptance_length(Convention.COMMITTED) == 1.0


def test_tokens_per_step_counts_the_steps_without_a_draft() -> None:
    # A public n-gram case: 4.59 tokens per drafted step were printed, 2.96 per step were true.
    window = Counters(1000, 5000, 3590, depth=5, generated=5422)
    assert window.mean_acceptance_length() == pytest.approx(4.59)
    assert window.tokens_per_step == pytest.approx(2.96, abs=0.005)
    given = Counters(1000, 5000, 3590, depth=5, draftless=832)
    assert given.tokens_per_step == pytest.approx(2.96, abs=0.005)
    assert WINDOW.tokens_per_step is None


def test_merging_adds_and_keeps_what_all_have() -> None:
    other = Counters(
        50, 150, 60, (30, 20, 10), engine="a", start=10.0, end=20.0, notes=("late",), generated=9
    )
    both = WINDOW.merge(other)
    assert (both.drafts, both.draft_tokens, both.accepted) == (150, 450, 210)
    assert both.accepted_per_position == (110, 70, 30)
    assert (both.depth, both.engine, both.start, both.generated) == (3, "several", None, None)
    assert both.notes == ("late",)
    assert WINDOW.merge([]) is WINDOW
    deeper = WINDOW.merge([Counters(10, 40, 10, (4, 3, 2, 1))])
    assert deeper.depth == 4
    assert deeper.accepted_per_position == (84, 53, 22, 1)
    assert deeper.notes == ("windows of different depths were merged",)
    assert not deeper.constant_depth
    assert WINDOW.merge(Counters(10, 30, 15, depth=3)).accepted_per_position is None
    # A window without drafts says nothing about positions.
    assert WINDOW.merge(Counters(0, 0, 0)).accepted_per_position == (80, 50, 20)
    assert WINDOW.merge(Counters(0, 0, 0)).depth == 3


def test_merging_histograms_of_different_depths() -> None:
    one = Counters(10, 10, 4, depth=1, histogram={0: 6, 1: 4})
    two = Counters(10, 20, 14, depth=2, histogram={0: 2, 1: 2, 2: 6})
    both = one.merge(two)
    assert both.histogram == {0: 8, 1: 6, 2: 6}
    assert both.histogram_by_depth == {1: {0: 6, 1: 4}, 2: {0: 2, 1: 2, 2: 6}}
    assert both.fully_accepted() == 10


def test_merging_refuses_other_things() -> None:
    with pytest.raises(InvalidInputError, match="others must be Counters, got str"):
        WINDOW.merge(["x"])  # type: ignore[list-item]
    with pytest.raises(InvalidInputError, match="others must be Counters"):
        WINDOW.merge(3)  # type: ignore[arg-type]


def test_text_and_data() -> None:
    text = str(Counters(100, 300, 150, (80, 50, 20), draftless=7, notes=("a note",)))
    assert text.splitlines() == [
        "mean acceptance length 2.500 tokens per drafted step (bonus included)",
        "100 drafts, 150 of 300 tokens kept, K = 3",
        "survival S(1)…: 0.800, 0.500, 0.200",
        "7 steps drafted nothing",
        "note: a note",
    ]
    assert str(Counters(0, 0, 0)).splitlines()[0] == "no step drafted"
    data = WINDOW.to_dict()
    assert (data["schema"], data["kind"], data["drafts"]) == (1, "counters", 100)
    assert hash(WINDOW) == hash(Counters(100, 300, 150, (80, 50, 20)))


def test_estimates_come_from_the_counters() -> None:
    # α̂ = A/(A + D − P_{K−1})
    assert WINDOW.alpha(level=0.9).value == pytest.approx(150 / 230)
    assert WINDOW.alpha(level=0.9).level == 0.9
    assert "0.8000" in str(WINDOW.hazards())
    assert "iid" in str(WINDOW.fit("iid"))
