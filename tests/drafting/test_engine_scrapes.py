"""Scrapes that lack a counter, restarts with another K, and numbers that are no counts."""

from __future__ import annotations

import json

import pytest

from ensctl.drafting import Counters, alpha_estimate, measured_depths, read_counters
from ensctl.errors import FormatError, InvalidInputError


def scrape(drafts: object, drafted: object, accepted: object, positions: tuple[object, ...]) -> str:
    rows = [
        ("drafts", "", drafts),
        ("draft_tokens", "", drafted),
        ("accepted_tokens", "", accepted),
    ]
    rows += [
        ("accepted_tokens_per_pos", f',position="{j}"', count) for j, count in enumerate(positions)
    ]
    return "".join(
        f'vllm:spec_decode_num_{name}_total{{engine="0"{label}}} {value}\n'
        for name, label, value in rows
    )


FIRST = scrape(100, 300, 150, (80, 50, 20))
SECOND = scrape(200, 600, 300, (160, 100, 40))
THIRD = scrape(300, 900, 450, (240, 150, 60))


@pytest.mark.parametrize("kept", range(1, 6))
def test_a_scrape_that_was_cut_is_left_out(kept: int) -> None:
    cut = "".join(SECOND.splitlines(keepends=True)[:kept])
    with pytest.raises(FormatError, match="line 7: the scrape has no counter of"):
        read_counters(FIRST + cut + THIRD)
    [window] = read_counters(FIRST + cut + THIRD, strict=False)
    assert (window.drafts, window.accepted_per_position) == (200, (160, 100, 40))
    assert "left out" in window.notes[0]


@pytest.mark.parametrize("bad", ["NaN", "+Inf", "12,5"])
@pytest.mark.parametrize("which", range(3))
def test_what_is_no_number_does_not_take_the_next_one(bad: str, which: int) -> None:
    counts: list[object] = [100, 300, 150]
    counts[which] = bad
    text = scrape(*counts, (80, 50, 20)) + SECOND + THIRD
    with pytest.raises(FormatError, match="not a number"):
        read_counters(text)
    [window] = read_counters(text, strict=False)
    assert (window.drafts, window.draft_tokens, window.accepted) == (100, 300, 150)


def test_an_engine_started_again_with_more_positions() -> None:
    [window] = read_counters(scrape(100, 100, 60, (60,)) + scrape(200, 600, 300, (160, 100, 40)))
    assert (window.drafts, window.depth, window.accepted) == (200, 3, 300)
    assert "restarted" in window.notes[0]


def test_and_with_fewer() -> None:
    [window] = read_counters(THIRD + scrape(100, 100, 60, (60,)))
    assert (window.drafts, window.depth, window.accepted) == (100, 1, 60)


def test_counts_beyond_what_is_exact() -> None:
    with pytest.raises(FormatError, match="drafts must be a number"):
        read_counters(scrape("1e308", "1e308", "1e307", (1e307,)))
    with pytest.raises(InvalidInputError, match="drafts must be a number"):
        Counters(10**400, 10**400, 10)
    record = {"num_spec_steps": 100, "num_accepted_draft_tokens": 150, "num_draft_tokens": 300}
    with pytest.raises(FormatError, match="acceptance_histogram must hold counts"):
        read_counters(json.dumps({**record, "acceptance_histogram": [10**400, 1]}))
    with pytest.raises(FormatError, match="bad row"):
        table = {"²": [1]}
        read_counters(json.dumps({**record, "acceptance_histogram_by_draft_length": table}))


HEAD = "task,K,mean_itl_ms,mean_tpot_ms,out_tok\n"


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ("qa,2.7,20,8,1000", "K must be a whole number"),
        ("qa,-inf,20,8,1000", "K must be a whole number"),
        ("qa,3,20,8,-5", "output tokens must be ≥ 0"),
        ("qa,3,20,8,nan", "output tokens must be ≥ 0"),
        ("qa,3,20,8,inf", "output tokens must be ≥ 0"),
    ],
)
def test_cells_of_a_table(row: str, match: str) -> None:
    with pytest.raises(FormatError, match=f"line 2: .*{match}"):
        read_counters(HEAD + row + "\n")


def test_quoted_headings() -> None:
    quoted = '"task","K","mean_itl_ms","mean_tpot_ms"\n"qa, long",3,20,8\n'
    [window] = read_counters(quoted)
    assert (window.engine, window.depth, window.accepted) == ("task qa, long", 3, 1.5)


def test_mlc_counts_in_any_order_of_their_keys() -> None:
    text = '{"draft_count": {"1": 90, "0": 100}, "accept_count": {"0": 80, "1": 50}}'
    assert read_counters(text)[0].accepted_per_position == (80, 50)
    assert read_counters(text)[0].draft_tokens == 190


def test_alpha_repeats_how_its_counts_were_found() -> None:
    line = "draft acceptance rate = 0.57576 (  171 accepted /   297 generated)"
    estimate = alpha_estimate(read_counters([line], depth=3))
    assert "number of drafts is not printed" in estimate.assumption


def test_counts_of_numpy_are_counts() -> None:
    np = pytest.importorskip("numpy")
    window = Counters(np.int64(10), np.int64(20), np.int64(9), np.array([6, 3]))
    assert (window.drafts, window.accepted_per_position, window.depth) == (10, (6, 3), 2)
    assert type(window.accepted) is int
    for wrong in (3, {"a": 1}, {0: {0: -1}}):
        with pytest.raises(InvalidInputError, match="histogram"):
            Counters(10, 20, 9, histogram=wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError, match="histogram_by_depth"):
            Counters(10, 20, 9, histogram_by_depth=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="accepted_per_position"):
        Counters(10, 20, 9, 3)  # type: ignore[arg-type]


def test_one_window_is_a_set_of_windows() -> None:
    window = Counters(1000, 3000, 1650, (750, 540, 360))
    assert measured_depths(window, 0.1)[0].windows == 1  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="counters must be a sequence"):
        measured_depths(3, 0.1)  # type: ignore[arg-type]


@pytest.mark.parametrize("fall", [1, 7])
def test_a_counter_that_falls_a_little_is_a_restart(fall: int) -> None:
    text = FIRST + scrape(140, 420, 150 - fall, (80, 50, 20 - fall))
    [window] = read_counters(text)
    assert (window.drafts, window.accepted) == (140, 150 - fall)
    assert "accepted fell" in window.notes[0]
