"""Log lines and gauges of SGLang, log lines of llama.cpp, and streaming benchmark tables."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from ensctl.drafting import read_counters
from ensctl.errors import FormatError


def decode(length: float, rate: float | None, rank: str = "") -> str:
    shown = "" if rate is None else f", accept rate: {rate:.2f}"
    return (
        f"[2025-10-02 23:42:16{rank}] Decode batch. #running-req: 4, #token: 3894, token usage: "
        f"0.00, accept len: {length:.2f}{shown}, cuda graph: True, gen throughput (token/s): 99.1, "
        f"#queue-req: 0, "
    )


def test_sglang_decode_lines_need_the_depth() -> None:
    with pytest.raises(FormatError, match="SGLang does not print K; give depth=") as caught:
        read_counters(["start", decode(2.5, 0.5)])
    assert caught.value.line == 2
    first, second = read_counters(
        ["start", decode(2.5, 0.5), decode(2.2, 0.4, " DP1 TP0")], depth=3
    )
    assert (first.format, first.depth, first.mean_acceptance_length()) == ("sglang", 3, 2.5)
    assert (second.engine, second.line) == ("DP1 TP0", 3)
    assert "drafts= gives it" in first.notes[0]
    weighted = read_counters([decode(2.5, 0.5)], depth=3, drafts=160)[0]
    assert (weighted.drafts, weighted.accepted, weighted.notes) == (160, 240, ())


def test_both_rates_of_sglang_are_recognised() -> None:
    # Older versions count the bonus: (A + D)/((K + 1) D).
    [older] = read_counters([decode(1.0, 1 / 9)], depth=8)
    assert older.accepted == 0
    assert "older versions" in older.notes[0]
    with pytest.raises(FormatError, match=r"accept rate 0\.9 fits neither 0\.500 nor 0\.625"):
        read_counters([decode(2.5, 0.9)], depth=3)
    with pytest.raises(FormatError, match="not between 1 and K \\+ 1 = 3"):
        read_counters([decode(3.5, None)], depth=2)
    with pytest.raises(FormatError, match="not between"):
        read_counters([decode(float("nan"), None)], depth=2)


def test_sglang_gauges() -> None:
    text = (
        'sglang:spec_accept_length{engine_type="unified",model_name="m",tp_rank="0"} 2.8\n'
        'sglang:spec_accept_rate{engine_type="unified",model_name="m",tp_rank="0"} 0.6\n'
        'sglang:spec_accept_length{engine_type="unified",model_name="m",tp_rank="0"} 2.5\n'
        'sglang:spec_accept_rate{engine_type="unified",model_name="m",tp_rank="0"} 0.5\n'
    )
    with pytest.raises(FormatError, match="give depth="):
        read_counters(text)
    # Each scrape is a level of its own: gauges are not differenced.
    first, second = read_counters(text, depth=3)
    assert first.mean_acceptance_length() == pytest.approx(2.8)
    assert second.mean_acceptance_length() == pytest.approx(2.5)
    assert (first.model, first.engine) == ("m", "engine_type unified, tp_rank 0")
    with pytest.raises(FormatError, match="spec_accept_length is NaN") as caught:
        read_counters(text.replace(" 2.5", " NaN"), depth=3)
    assert caught.value.line == 3


LLAMA = (
    "0.06.895.998 I slot print_timing: id  1 | task 0 | prompt eval time =  300.11 ms /  20 tokens",
    "0.06.895.999 I slot print_timing: id  1 | task 0 |   eval time = 2296.72 ms /   254 tokens",
    "0.06.896.015 I slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted "
    "/   259 generated), mean acceptance length =  2.92, acceptance rate per position = (0.805, "
    "0.632, 0.483)",
)


def test_llama_cpp_lines() -> None:
    [window] = read_counters(list(LLAMA))
    assert (window.format, window.engine, window.line) == ("llama.cpp", "slot 1", 3)
    # The aggregated statistics of the same run say 87 drafts.
    assert (window.drafts, window.draft_tokens, window.depth) == (87, 259, 3)
    assert window.accepted_per_position == (70, 55, 42)
    assert window.generated == 254
    assert window.tokens_per_step == pytest.approx(254 / 87)


def test_older_llama_cpp_lines_need_the_depth() -> None:
    line = "draft acceptance rate = 0.57576 (  171 accepted /   297 generated)"
    with pytest.raises(FormatError, match="give depth="):
        read_counters([line])
    [window] = read_counters([line], depth=8)
    assert (window.drafts, window.accepted, window.draft_tokens) == (38, 171, 297)
    assert "taken as T/K = 38, at least" in window.notes[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.64479", "0.74479", "draft acceptance 0.74479 is not 167/259"),
        ("2.92", "2.52", "mean acceptance length 2.52 is not"),
        ("0.632", "0.832", "rises at position 1"),
        ("/   259 generated)", "/ ", "cut off"),
    ],
)
def test_llama_cpp_violations(old: str, new: str, message: str) -> None:
    lines = [line.replace(old, new) for line in LLAMA]
    with pytest.raises(FormatError, match=message) as caught:
        read_counters(lines)
    assert caught.value.line == 3


TABLE = "method,model,K,conc,completed,out_tok,mean_itl_ms,mean_tpot_ms\n"


def test_a_streaming_table() -> None:
    text = TABLE + "sps,m,3,1,10,2010,15.0,10.0\nvanilla,m,-1,1,10,2010,11.0,11.0\n"
    drafted, plain = read_counters(text)
    assert (drafted.format, drafted.model, drafted.depth) == ("streaming-table", "m", 3)
    assert drafted.engine == "method sps, conc 1"
    assert drafted.mean_acceptance_length() == pytest.approx(1.5)
    assert drafted.drafts == pytest.approx(2000 / 1.5)
    assert drafted.drafts + drafted.accepted == pytest.approx(2000)
    assert (plain.depth, plain.drafts, plain.draftless) == (0, 0, 2000)


def test_corrupt_cells_are_reported_with_their_row() -> None:
    text = TABLE + "sps,m,3,1,10,2010,15.0,10.0\nsps,m,3,4,10,2010,16911.0,10.0\n"
    with pytest.raises(FormatError, match="tokens per cycle is not between 1 and K") as caught:
        read_counters(text)
    assert caught.value.line == 3
    [window] = read_counters(text, strict=False)
    assert "line 3" in window.notes[-1]
    for row, message in (
        ("sps,m,3,1,10,2010,nan,10.0", "must be positive"),
        ("sps,m,3,1,10,2010,,10.0", "must be positive"),
        ("sps,m,3,1,10", "5 cells in a table of 8 columns"),
    ):
        with pytest.raises(FormatError, match=message):
            read_counters(TABLE + row + "\n")


def test_a_table_without_a_depth_takes_the_caller_s() -> None:
    text = "mean_itl_ms,mean_tpot_ms\n15.0,10.0\n"
    with pytest.raises(FormatError, match="give depth="):
        read_counters(text)
    [window] = read_counters(text, depth=2)
    assert window.accepted == pytest.approx(0.5)
    result = '{"mean_itl_ms": 15.0, "mean_tpot_ms": 10.0, "total_output_tokens": 300}'
    assert read_counters(result, depth=2)[0].drafts == pytest.approx(200)


def test_the_measured_benchmark(real_data: Callable[[str], Path]) -> None:
    path = real_data("drafting/serving_benchmark.csv")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    windows = read_counters(path)
    assert [window.line for window in windows] == list(range(2, len(rows) + 2))
    for window, row in zip(windows, rows, strict=True):
        if row["method"] == "vanilla":
            assert window.draftless > 0
            assert window.drafts == 0
            continue
        length = float(row["mean_itl_ms"]) / float(row["mean_tpot_ms"])
        assert window.depth == int(row["K"])
        assert abs(window.mean_acceptance_length() - length) <= 0.02 * length
        assert window.drafts + window.accepted == pytest.approx(window.generated)
