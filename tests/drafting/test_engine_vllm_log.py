"""vLLM V1 logs: present and first lines, interleaved processes, variable depth, violations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import Counters, read_counters
from ensctl.errors import FormatError

PREFIX = "(APIServer pid=7) INFO 07-09 20:32:01 [metrics.py:120] "


def present(
    positions: list[int], drafts: int, drafted: int | None = None, prefix: str = PREFIX
) -> str:
    """A metrics line of present versions for counts P_j, over ten seconds."""
    accepted = sum(positions)
    drafted = drafts * len(positions) if drafted is None else drafted
    shares = ", ".join(f"{count / drafts:.3f}" for count in positions)
    return (
        f"{prefix}SpecDecoding metrics: Mean acceptance length: {1 + accepted / drafts:.2f}, "
        f"Accepted throughput: {accepted / 10:.2f} tokens/s, "
        f"Drafted throughput: {drafted / 10:.2f} tokens/s, "
        f"Accepted: {accepted} tokens, Drafted: {drafted} tokens, "
        f"Per-position acceptance rate: {shares}, "
        f"Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%"
    )


def throughput(engine: str, rate: float, prefix: str = PREFIX) -> str:
    return (
        f"{prefix}{engine}: Avg prompt throughput: 9.0 tokens/s, Avg generation throughput: "
        f"{rate} tokens/s, Running: 1 reqs, Waiting: 0 reqs"
    )


def first(accepted: int, drafted: int) -> str:
    return (
        f"INFO 04-01 10:00:00 [metrics.py:90] SpecDecoding metrics: Draft acceptance rate: "
        f"{100 * accepted / drafted:.1f}%, Accepted: {accepted} tokens, Drafted: {drafted} tokens"
    )


LOGS = ("00", "03", "04", "05", "17")


@pytest.mark.parametrize("number", LOGS)
def test_every_line_of_real_logs_is_read(number: str, real_data: Callable[[str], Path]) -> None:
    path = real_data(f"drafting/server_logs/vllm_0.24_{number}.log")
    lines = path.read_text().splitlines()
    printed = [k for k, line in enumerate(lines, 1) if "SpecDecoding metrics" in line]
    windows = read_counters(path)
    assert [window.line for window in windows] == printed
    for window in windows:
        text = lines[(window.line or 0) - 1]
        length = float(text.split("length: ")[1].split(",")[0])
        shares = [float(s) for s in text.split("acceptance rate: ")[1].split(", Avg")[0].split(",")]
        rate = float(text.rsplit(": ", 1)[1].rstrip("%"))
        assert window.depth == 5
        assert window.draft_tokens == 5 * window.drafts
        assert abs(window.mean_acceptance_length() - length) <= 0.005 + 1e-9
        assert abs(100 * window.acceptance_rate - rate) <= 0.05 + 1e-9
        survival = window.survival()
        assert survival is not None
        np.testing.assert_allclose(survival[1:], shares, rtol=0, atol=0.0005 + 1e-9)
        assert window.accepted_per_position is not None
        assert sum(window.accepted_per_position) == window.accepted
        assert window.notes == ()


def test_a_collapse_at_long_context_has_its_pooled_rate(real_data: Callable[[str], Path]) -> None:
    windows = read_counters(real_data("drafting/server_logs/vllm_0.24_17.log"))
    pooled = windows[0].merge(windows[1:])
    full = pooled.fully_accepted()
    assert full is not None
    # α̂ = A/(A + D − P_{K−1})
    assert pooled.accepted / (pooled.accepted + pooled.drafts - full) == pytest.approx(
        0.124, abs=5e-4
    )


def test_tokens_per_step_of_a_drafter_that_always_drafts(real_data: Callable[[str], Path]) -> None:
    for window in read_counters(real_data("drafting/server_logs/vllm_0.24_17.log"))[1:]:
        assert window.generated is not None
        assert window.tokens_per_step is not None
        # First tokens of requests and the printed digit of the throughput are what remains.
        rest = window.generated - window.drafts - window.accepted
        assert -2 <= rest <= 0.03 * window.generated + 5


@given(
    drafts=st.integers(1, 20_000),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=9),
)
def test_counts_come_back_within_the_printed_digits(drafts: int, shares: list[float]) -> None:
    positions = [round(share * drafts) for share in sorted(shares, reverse=True)]
    [window] = read_counters([present(positions, drafts)])
    assert (window.drafts, window.accepted) == (drafts, sum(positions))
    assert window.accepted_per_position is not None
    if drafts < 1000:
        assert window.accepted_per_position == tuple(positions)
    for read, true in zip(window.accepted_per_position, positions, strict=True):
        assert abs(read - true) <= 0.001 * drafts + 1


@given(
    lengths=st.lists(st.integers(1, 4), min_size=5, max_size=300),
    keep=st.integers(0, 2**32 - 1),
)
def test_drafts_of_varying_length_give_their_number(lengths: list[int], keep: int) -> None:
    rng = np.random.default_rng(keep)
    kept = np.array([rng.integers(0, length + 1) for length in lengths])
    positions = [int((kept > j).sum()) for j in range(4)]
    line = present(positions, len(lengths), sum(lengths))
    if sum(positions) == 0:
        return
    [window] = read_counters([line])
    assert window.accepted == sum(positions)
    assert window.draft_tokens == sum(lengths)
    assert abs(window.drafts - len(lengths)) <= 0.01 * len(lengths) + 1
    if window.drafts != len(lengths):
        assert "from the printed shares, within" in window.notes[0] or window.constant_depth


def test_a_field_order_of_other_versions_is_read() -> None:
    line = (
        "INFO 09-09 11:51:35 [metrics.py:96] SpecDecoding metrics: Draft acceptance rate: 88.8%, "
        "Mean acceptance length: 5.44, Accepted throughput: 4.37 tokens/s, Drafted throughput: "
        "4.92 tokens/s, Accepted: 262 tokens, Drafted: 295 tokens, "
        "Per-position acceptance rate: 0.983, 0.949, 0.915, 0.881, 0.712"
    )
    [window] = read_counters([line])
    assert (window.drafts, window.accepted_per_position) == (59, (58, 56, 54, 52, 42))


@pytest.mark.parametrize(
    "line",
    [
        first(66, 90),
        "INFO 04-01 10:00:00 metrics.py:90] Speculative metrics: Draft acceptance rate: 0.733, "
        "Number of accepted tokens: 66, Number of draft tokens: 90, ",
    ],
)
def test_first_lines_need_the_depth(line: str) -> None:
    with pytest.raises(FormatError, match=r"line 2: .*does not print K; give depth="):
        read_counters(["starting", line])
    [window] = read_counters(["starting", line], depth=3)
    assert (window.drafts, window.accepted, window.depth) == (30, 66, 3)
    assert window.accepted_per_position is None


def test_a_given_depth_is_checked_against_the_positions() -> None:
    with pytest.raises(FormatError, match="depth is 4, but what is read has K = 3"):
        read_counters([present([80, 50, 20], 100)], depth=4)


def test_processes_and_engines_are_kept_apart() -> None:
    other = "\x1b[1;36m(APIServer pid=9)\x1b[0;0m INFO 07-09 20:32:01 [metrics.py:120] "
    lines = [
        throughput("Engine 000", 25.0),
        throughput("Engine 001", 40.0, other),
        present([80, 50, 20], 100),
        "GET /health 200 OK",
        present([40, 20, 10], 50, prefix=other),
        throughput("Engine 001", 30.0),
        present([70, 40, 20], 100),
        throughput("2 Engines Aggregated", 30.0),
        present([70, 40, 20], 100),
    ]
    windows = read_counters(lines)
    assert [window.engine for window in windows] == [
        "APIServer pid=7, engine 000",
        "APIServer pid=9, engine 001",
        "APIServer pid=7, engine 001",
        "APIServer pid=7, 2 Engines Aggregated",
    ]
    assert [window.generated for window in windows] == [250, 400, 300, 300]
    assert [window.line for window in windows] == [3, 5, 7, 9]
    day = 86400.0 * (31 + 29 + 31 + 30 + 31 + 30 + 8)
    assert windows[0].end == day + 20 * 3600 + 32 * 60 + 1
    assert windows[0].start == windows[0].end - 10.0


def test_an_engine_is_found_across_blocks(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    filler = "INFO request finished\n" * 40_000
    path.write_text(
        throughput("Engine 003", 25.0) + "\n" + filler + present([80, 50, 20], 100) + "\r\n"
    )
    [window] = read_counters(path)
    assert window.engine == "APIServer pid=7, engine 003"
    assert window.line == 40_002
    assert window.source == str(path)


def test_a_time_with_a_year_is_unix_time() -> None:
    prefix = "2025-01-02 00:00:03 [metrics.py:120] "
    [window] = read_counters([present([8, 5], 10, prefix=prefix)])
    assert window.end == 1735776003.0


def test_windows_without_drafts() -> None:
    line = (
        f"{PREFIX}SpecDecoding metrics: Mean acceptance length: nan, Accepted throughput: 0.00 "
        f"tokens/s, Drafted throughput: 0.00 tokens/s, Accepted: 0 tokens, Drafted: 0 tokens, "
        f"Per-position acceptance rate: , Avg Draft acceptance rate: nan%"
    )
    [window] = read_counters([line])
    assert (window.drafts, window.notes) == (0, ("no step drafted in this window",))


GOOD = present([80, 50, 20], 100)
BROKEN = [
    (GOOD.replace("length: 2.50", "length: 2.60"), "mean acceptance length 2.60 is not"),
    (GOOD.replace("Accepted: 150", "Accepted: 170"), "is not accepted/drafted"),
    (GOOD.replace("Drafted: 300", "Drafted: 330"), "is not accepted/drafted"),
    (GOOD.replace("0.800, 0.500", "0.500, 0.800"), "rises at position 1"),
    (GOOD.replace("0.500, 0.200", "0.500, 0.260"), "mean acceptance length 2.50 is not"),
    (GOOD.replace("50.0%", "57.0%"), "is not accepted/drafted"),
    (GOOD.replace("Accepted: 150", "Accepted: 1500"), "1500 tokens accepted of 300"),
    (GOOD[:-40], "cut off"),
    (GOOD[: GOOD.index("Drafted: 300")], "cut off"),
]


@pytest.mark.parametrize(("line", "message"), BROKEN)
def test_a_violation_is_reported_with_its_line(line: str, message: str) -> None:
    lines = [GOOD, "other", line, GOOD]
    with pytest.raises(FormatError, match=message) as caught:
        read_counters(lines)
    assert caught.value.line == 3
    windows = read_counters(lines, strict=False)
    assert (windows[0].line, windows[-1].line) == (1, 4)
    assert any("line 3" in note for window in windows for note in window.notes)


def test_a_cut_last_line_is_noted_in_the_window_before_it() -> None:
    [window] = read_counters([GOOD, GOOD[:150]], strict=False)
    assert "line 2" in window.notes[0]


def test_fast_and_field_by_field_reading_agree() -> None:
    windows = read_counters([GOOD, GOOD.replace("SpecDecoding", "\x1b[0mSpecDecoding")])
    other = read_counters([GOOD.replace(", Avg", ",\x1b[0m Avg")])
    assert windows[0].to_dict() | {"line": 1} == windows[1].to_dict() | {"line": 1}
    assert windows[0].to_dict() == other[0].to_dict()
    assert isinstance(windows[0], Counters)
