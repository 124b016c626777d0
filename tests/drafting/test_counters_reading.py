"""Sources of every kind, and what cannot be read: empty, binary, gzip, cut, wrong format."""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.drafting import CounterFormat, Counters, iter_counters, read_counters
from ensctl.errors import EnsctlError, FormatError, InvalidInputError

LINE = (
    "(APIServer pid=7) INFO 07-09 20:32:01 [metrics.py:120] SpecDecoding metrics: Mean acceptance "
    "length: 2.50, Accepted throughput: 15.00 tokens/s, Drafted throughput: 30.00 tokens/s, "
    "Accepted: 150 tokens, Drafted: 300 tokens, Per-position acceptance rate: 0.800, 0.500, 0.200, "
    "Avg Draft acceptance rate: 50.0%"
)


GAUGE = (
    'sglang:spec_accept_length{model_name="m"} 2.5\nsglang:spec_accept_rate{model_name="m"} 0.5\n'
)
SAMPLES = (
    LINE,
    'vllm:spec_decode_num_drafts_total{engine="0"} 10\n'
    'vllm:spec_decode_num_draft_tokens_total{engine="0"} 20\n'
    'vllm:spec_decode_num_accepted_tokens_total{engine="0"} 12\n'
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 8\n'
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 4\n',
    '{"num_spec_steps": 20, "num_accepted_draft_tokens": 26, "num_draft_tokens": 60, '
    '"acceptance_histogram": [6, 4, 8, 2], "num_spec_tokens": 3, '
    '"acceptance_histogram_by_draft_length": {"3": [6, 4, 8, 2]}}\n',
    "INFO 10-16 19:05:47 metrics.py:367] Speculative metrics: Draft acceptance rate: 0.667, System "
    "efficiency: 0.625, Number of speculative tokens: 3, Number of accepted tokens: 20, Number of "
    "draft tokens: 30, Number of emitted tokens: 25.\n",
    GAUGE,
    "[2025-10-02 23:42:16] Decode batch. accept len: 2.50, accept rate: 0.50, cuda graph: True\n",
    "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length =  "
    "2.92, acceptance rate per position = (0.805, 0.632, 0.483)\n",
    '{"timings": {"predicted_n": 200, "draft_n": 347, "draft_n_accepted": 65}}\n',
    '{"total_accepted_draft_tokens": 26, "num_spec_steps": 20, "num_spec_tokens": 3, '
    '"acceptance_histogram": [6, 4, 8, 2]}\n',
    '{"draft_count": [20, 20, 20], "accept_count": [20, 14, 9]}\n',
    '{"spec_verify_ct": 43, "completion_tokens": 106}\n',
    "method,K,mean_itl_ms,mean_tpot_ms\nsps,3,15.0,10.0\n",
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text(f"starting\n{LINE}\n")
    return path


def _counts(windows: list[Counters]) -> list[tuple[float, float, int | None]]:
    return [(window.drafts, window.accepted, window.line) for window in windows]


def test_every_kind_of_source(log: Path) -> None:
    text = log.read_text()
    with log.open("rb") as file, log.open() as words:
        sources: list[Any] = [
            log,
            str(log),
            text,
            text.encode(),
            io.BytesIO(text.encode()),
            file,
            words,
            text.splitlines(),
            iter(text.splitlines(keepends=True)),
            [line.encode() for line in text.splitlines()],
        ]
        for source in sources:
            assert _counts(read_counters(source)) == [(100, 150, 2)]


def test_formats_by_name_and_member(log: Path) -> None:
    for format in ("vllm-log", CounterFormat.VLLM_LOG, "auto"):
        [window] = read_counters(log, format)
        assert (window.format, window.source) == ("vllm-log", str(log))
    with pytest.raises(InvalidInputError, match="format must be 'auto' or one of vllm-log"):
        read_counters(log, "vllm")


@pytest.mark.parametrize("format", [kind for kind in CounterFormat if kind.value != "vllm-log"])
def test_a_wrong_format_is_found_out(log: Path, format: CounterFormat) -> None:
    with pytest.raises(FormatError, match="looks like vllm-log") as caught:
        read_counters(log, format)
    assert caught.value.line is not None
    assert str(log) in str(caught.value)


@pytest.mark.parametrize("content", ["", "\n", "  \n\n"])
def test_empty_files(tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.log"
    path.write_text(content)
    with pytest.raises(FormatError, match=r"nothing to read|no drafting counters in"):
        read_counters(path)
    with pytest.raises(FormatError, match="nothing to read"):
        read_counters([])


def test_logs_without_counters(tmp_path: Path) -> None:
    path = tmp_path / "plain.log"
    path.write_text("INFO request finished\n" * 1000)
    with pytest.raises(FormatError, match="no drafting counters in 1000 lines"):
        read_counters(path)
    path.write_text("Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2")
    with pytest.raises(FormatError, match="was speculative decoding on"):
        read_counters(path)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(b"\x7fELF\0\0\1\2" * 100)
    with pytest.raises(FormatError, match="the file is binary"):
        read_counters(path)
    path.write_bytes(LINE.encode("utf-16"))
    with pytest.raises(FormatError, match="UTF-16 text; save it as UTF-8"):
        read_counters(path)
    path.write_bytes((LINE + "\n").encode() * 2000 + b"\0" * 100)
    with pytest.raises(FormatError, match="binary"):
        read_counters(path)
    with pytest.raises(FormatError, match="cannot be read: no such file"):
        read_counters(tmp_path / "nothing.log")
    with pytest.raises(FormatError, match="cannot be read: is a directory"):
        read_counters(str(tmp_path))


def test_gzip_is_decompressed_and_said(log: Path) -> None:
    packed = log.with_suffix(".gz")
    packed.write_bytes(gzip.compress(log.read_bytes()))
    [window] = read_counters(packed)
    assert (window.drafts, window.notes) == (100, ("the file is gzip and was decompressed",))
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(FormatError, match="gzip file is broken"):
        read_counters(packed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"depth": 0}, "depth must be an integer ≥ 1"),
        ({"depth": 2.5}, "depth must be an integer"),
        ({"drafts": 0}, "drafts must be > 0"),
        ({"drafts": float("nan")}, "drafts must be finite"),
    ],
)
def test_bad_arguments(log: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        iter_counters(log, **arguments)


@pytest.mark.parametrize("source", [3, None, "", [3], [None]])
def test_bad_sources(source: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"source must be|lines must be text"):
        read_counters(source)


def test_only_contradictory_lines_give_no_window() -> None:
    bad = LINE.replace("Accepted: 150", "Accepted: 1500")
    with pytest.raises(FormatError, match="no window could be read; line 1: 1500 tokens accepted"):
        read_counters([bad], strict=False)


def _depth(sample: str) -> int | None:
    return None if "position" in sample or "draft_count" in sample else 3


def test_the_samples_are_read() -> None:
    for sample in SAMPLES:
        assert read_counters(sample.encode(), depth=_depth(sample))


@given(
    st.sampled_from(SAMPLES),
    st.integers(0, 400),
    st.integers(0, 400),
    st.sampled_from(
        [b"", b"9", b"99999999999999999999", b".", b"nan", b"-1", b"\x1b[0m", b"1e999"]
    ),
    st.booleans(),
)
@settings(max_examples=240)
def test_damaged_text_gives_windows_or_an_error_of_ours(
    sample: str, start: int, length: int, inserted: bytes, strict: bool
) -> None:
    text = sample.encode()
    start %= len(text)
    damaged = text[:start] + inserted + text[start + length % 12 :]
    with contextlib.suppress(EnsctlError):
        for window in read_counters(damaged, depth=_depth(sample), strict=strict):
            # Whatever is let through agrees with itself.
            assert 0 <= window.accepted <= window.draft_tokens
            assert Counters(**{name: getattr(window, name) for name in window.__match_args__})


def test_numbers_without_end_are_refused() -> None:
    long = "9" * 5000
    for sample in SAMPLES:
        digits = re.search(r"\d{2,}", sample[40:])
        if digits:
            text = sample[:40] + sample[40:].replace(digits.group(), long, 1)
            with contextlib.suppress(EnsctlError):
                read_counters(text.encode(), depth=_depth(sample))
    nested = "[" * 900 + "]" * 900
    with pytest.raises(FormatError):
        read_counters('{"num_accepted_draft_tokens": ' + nested + "}", "vllm-request")


def test_a_progress_bar_does_not_shift_the_lines() -> None:
    [window] = read_counters("10%\r20%\r30%\n" + SAMPLES[3])
    assert window.line == 2


def test_memory_does_not_grow_with_the_log() -> None:
    def lines(count: int) -> Iterator[str]:
        for _ in range(count):
            yield LINE
            yield "INFO request finished"

    peaks = []
    for count in (2_000, 7_000):
        tracemalloc.start()
        assert sum(1 for _ in iter_counters(lines(count))) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_windows_come_while_the_log_is_written() -> None:
    def lines() -> Iterator[str]:
        for _ in range(4_000):
            yield LINE
        raise AssertionError("read to the end before the first window")

    assert next(iter_counters(lines())).drafts == 100
