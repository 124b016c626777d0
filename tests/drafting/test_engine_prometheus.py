"""Prometheus scrapes: differences, lone snapshots, restarts, several engines, bad samples."""

from __future__ import annotations

import pytest

from ensctl.drafting import Counters, read_counters
from ensctl.errors import FormatError


def scrape(
    drafts: int,
    positions: tuple[int, ...],
    *,
    engine: str = "0",
    model: str = "m",
    drafted: int | None = None,
    time: int | None = None,
    suffix: str = "_total",
    prefix: str = "vllm:",
) -> str:
    labels = f'engine="{engine}",model_name="{model}"'
    stamp = "" if time is None else f" {time}"
    drafted = drafts * len(positions) if drafted is None else drafted
    lines = [
        f"# HELP {prefix}spec_decode_num_drafts{suffix} drafts",
        f"# TYPE {prefix}spec_decode_num_drafts{suffix} counter",
        f"{prefix}spec_decode_num_drafts{suffix}{{{labels}}} {float(drafts)}{stamp}",
        f"{prefix}spec_decode_num_drafts_created{{{labels}}} 1.75673e+09{stamp}",
        f"{prefix}spec_decode_num_draft_tokens{suffix}{{{labels}}} {float(drafted)}{stamp}",
        f"{prefix}spec_decode_num_accepted_tokens{suffix}{{{labels}}} "
        f"{float(sum(positions))}{stamp}",
        *(
            f"{prefix}spec_decode_num_accepted_tokens_per_pos{suffix}"
            f'{{{labels},position="{j}"}} {float(count)}{stamp}'
            for j, count in enumerate(positions)
        ),
        f"{prefix}generation_tokens{suffix}{{{labels}}} {drafts + sum(positions) + 30}.0{stamp}",
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("suffix", ["_total", ""])
def test_a_lone_scrape_counts_since_the_start(suffix: str) -> None:
    [window] = read_counters(scrape(100, (80, 50, 20), suffix=suffix))
    assert (window.drafts, window.draft_tokens, window.accepted) == (100, 300, 150)
    assert window.accepted_per_position == (80, 50, 20)
    assert (window.engine, window.model, window.depth) == ("0", "m", 3)
    assert window.generated == 280
    assert window.tokens_per_step == pytest.approx(280 / 130)
    assert window.format == "vllm-prometheus"
    assert window.notes == ("one snapshot only: counted since the engine was started",)


def test_successive_scrapes_are_differenced_per_engine_and_model() -> None:
    text = "".join(
        [
            scrape(100, (80, 50, 20), time=1_700_000_000_000),
            scrape(10, (5, 4), engine="1", model="other"),
            scrape(160, (120, 70, 30), time=1_700_000_010_000),
            scrape(30, (15, 9), engine="1", model="other"),
            scrape(160, (120, 70, 30), time=1_700_000_020_000),
        ]
    )
    first, other, second = read_counters(text)
    assert (first.drafts, first.accepted_per_position) == (60, (40, 20, 10))
    assert (first.start, first.end) == (1_700_000_000.0, 1_700_000_010.0)
    assert (other.model, other.drafts, other.accepted_per_position) == ("other", 20, (10, 5))
    assert (second.drafts, second.notes) == (0, ("no step drafted in this window",))


def test_a_restart_begins_a_new_segment() -> None:
    text = scrape(100, (80, 50, 20)) + scrape(40, (30, 20, 10)) + scrape(70, (50, 30, 20))
    after, later = read_counters(text)
    assert (after.drafts, after.accepted_per_position) == (40, (30, 20, 10))
    assert "fell from 100 to 40: the engine was restarted" in after.notes[0]
    assert (later.drafts, later.notes) == (30, ())


def test_drafts_shorter_than_the_limit() -> None:
    [window] = read_counters(scrape(100, (60, 20, 10), drafted=230))
    assert (window.depth, window.draft_tokens, window.constant_depth) == (3, 230, False)


def test_without_positions_the_depth_is_the_mean_draft() -> None:
    text = "\n".join(
        f'vllm:spec_decode_num_{name}_total{{engine="0"}} {value}'
        for name, value in (("drafts", 10), ("draft_tokens", 50), ("accepted_tokens", 20))
    )
    [window] = read_counters(text)
    assert window.depth == 5
    assert "no positions are printed" in window.notes[1]


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("} 150.0", "} NaN", "accepted_tokens_total is NaN, not a number", 6),
        ('position="1"} 50.0', 'position="1"} +Inf', "is \\+Inf", 8),
        ('position="1"} 50.0', 'position="1"} 90.0', "must not increase, got 90 after 80", 3),
        ('position="2"} 20.0', 'position="2"} 21.0', "positions add to 151, but 150", 3),
        ('position="2"', 'position="4"', "positions .* are not 0 … 2", 3),
        ("} 100.0", "", "cut off", 3),
        ("num_draft_tokens", "num_draft_other", "no counter of draft_tokens", 3),
    ],
)
def test_bad_samples_are_reported(old: str, new: str, message: str, line: int) -> None:
    text = scrape(100, (80, 50, 20)).replace(old, new)
    with pytest.raises(FormatError, match=message) as caught:
        read_counters(text)
    assert caught.value.line == line


def test_a_bad_engine_is_left_out_when_asked() -> None:
    bad = scrape(100, (80, 90, 20), engine="1")
    [window] = read_counters(scrape(10, (8, 5)) + bad, strict=False)
    assert window.engine == "0"
    assert any("must not increase" in note for note in window.notes)


def test_llama_cpp_uses_the_same_counters() -> None:
    text = "\n".join(
        [
            "llamacpp:spec_decode_num_drafts 87",
            "llamacpp:spec_decode_num_draft_tokens 259",
            "llamacpp:spec_decode_num_accepted_tokens 167",
            'llamacpp:spec_decode_num_accepted_tokens_per_pos{position="0"} 70',
            'llamacpp:spec_decode_num_accepted_tokens_per_pos{position="1"} 55',
            'llamacpp:spec_decode_num_accepted_tokens_per_pos{position="2"} 42',
            "llamacpp:tokens_predicted_total 256",
        ]
    )
    [window] = read_counters(text)
    assert (window.format, window.depth, window.generated) == ("llama.cpp", 3, 256)
    assert window.accepted_per_position == (70, 55, 42)


V0 = """\
vllm:spec_decode_draft_acceptance_rate{{model_name="m"}} {rate}
vllm:spec_decode_efficiency{{model_name="m"}} {efficiency}
vllm:spec_decode_num_accepted_tokens_total{{model_name="m"}} {accepted}
vllm:spec_decode_num_draft_tokens_total{{model_name="m"}} {drafted}
vllm:spec_decode_num_emitted_tokens_total{{model_name="m"}} {emitted}
"""


def test_v0_metrics_give_the_depth_through_the_efficiency() -> None:
    text = V0.format(
        rate=8547 / 13311,
        efficiency=10616 / (4 * 4437),
        accepted=8547,
        drafted=13311,
        emitted=10616,
    )
    [window] = read_counters(text)
    assert (window.format, window.depth, window.drafts) == ("vllm-v0", 3, 4437)
    # Accepted tokens behind a rejection are not kept.
    assert window.accepted == 10616 - 4437
    assert any("after a rejection" in note for note in window.notes)
    with pytest.raises(FormatError, match="depth is 5, but what is read has K = 3"):
        read_counters(text, depth=5)


def test_v0_metrics_without_efficiency_need_the_depth() -> None:
    text = V0.format(rate=0.5, efficiency=0.0, accepted=8, drafted=12, emitted=9)
    with pytest.raises(FormatError, match="do not carry K; give depth="):
        read_counters(text)
    [window] = read_counters(text, depth=3)
    assert (window.drafts, window.accepted) == (4, 5)


def v0_line(accepted: int, drafted: int, emitted: int, depth: int = 3) -> str:
    most = drafted * (depth + 1) / depth
    return (
        f"INFO 10-16 19:05:47 metrics.py:367] Speculative metrics: Draft acceptance rate: "
        f"{accepted / drafted:.3f}, System efficiency: {emitted / most:.3f}, Number of "
        f"speculative tokens: {depth}, Number of accepted tokens: {accepted}, Number of draft "
        f"tokens: {drafted}, Number of emitted tokens: {emitted}."
    )


def test_v0_lines_are_totals_and_are_differenced() -> None:
    lines = [v0_line(20, 30, 25), v0_line(32, 60, 42), v0_line(5, 9, 7)]
    first, second, restarted = read_counters(lines)
    assert (first.drafts, first.accepted) == (10, 15)
    assert (second.drafts, second.draft_tokens, second.accepted) == (10, 30, 7)
    assert (restarted.drafts, restarted.accepted) == (3, 4)
    assert "restarted" in restarted.notes[0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (v0_line(20, 30, 25).replace("rate: 0.667", "rate: 0.767"), "draft acceptance rate is"),
        (v0_line(20, 30, 25).replace("y: 0.625", "y: 0.725"), "system efficiency is 0.725"),
        (v0_line(20, 30, 25)[:-30], "cut off"),
        (v0_line(20, 31, 25), "no multiple of 3"),
        (v0_line(20, 30, 45), "45 tokens emitted by 10 drafts"),
    ],
)
def test_v0_violations(line: str, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read_counters(["x", line])
    assert caught.value.line == 2


def test_many_windows_are_counters() -> None:
    text = "".join(scrape(100 * k, (80 * k, 50 * k, 20 * k)) for k in range(1, 50))
    windows = read_counters(text)
    assert len(windows) == 48
    assert all(isinstance(window, Counters) and window.drafts == 100 for window in windows)
