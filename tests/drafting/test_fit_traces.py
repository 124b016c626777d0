"""Per-cycle and position traces: replays against a loop, blocks, files that cannot be read."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import (
    CycleTraces,
    autocorrelation_time,
    batch_means,
    block_variance,
    read_traces,
    replay_cycles,
    replay_depth,
)
from ensctl.errors import FormatError, InvalidInputError, NotIdentifiableError

TRACE = st.lists(st.integers(1, 9), min_size=1, max_size=40)


def replayed(trace: list[int], depth: int) -> list[int]:
    """The definition: x = min(trace[p], K + 1); accepted x − 1; p += x."""
    position, accepted = 0, []
    while position < len(trace):
        x = min(trace[position], depth + 1)
        accepted.append(x - 1)
        position += x
    return accepted


@given(st.lists(TRACE, min_size=1, max_size=6), st.integers(1, 10))
def test_replay_is_the_loop(traces: list[list[int]], depth: int) -> None:
    cycles = replay_cycles(traces, depth)
    expected = [replayed(trace, depth) for trace in traces]
    assert cycles.accepted.tolist() == list(chain(*expected))
    assert np.diff(np.append(cycles.starts, cycles.cycles)).tolist() == [len(e) for e in expected]
    counters = replay_depth(traces, depth)
    flat = np.array(list(chain(*expected)))
    assert counters.drafts == flat.size
    assert counters.accepted == flat.sum()
    positions = tuple(int(np.sum(flat > j)) for j in range(depth))
    assert counters.accepted_per_position == positions


def test_one_trace_needs_no_list_around_it() -> None:
    assert replay_depth([3, 2, 1], 2).accepted == replay_depth([[3, 2, 1]], 2).accepted == 2


def test_real_traces(real_data: object) -> None:
    path = real_data("drafting/acceptance_traces/gsm8k.jsonl")  # type: ignore[operator]
    found = read_traces(path)
    assert sorted(found) == ["eagle", "ngram"]
    assert {len(traces) for traces in found.values()} == {300}
    cycles = replay_cycles(found["eagle"], 3)
    expected = list(chain(*(replayed(trace.tolist(), 3) for trace in found["eagle"])))
    assert cycles.accepted.tolist() == expected


def test_traces_that_are_none() -> None:
    for bad in ([], [[]], [[1], []], [0, 1], [1.5], ["a"], [[1], "x"], None):
        with pytest.raises(InvalidInputError):
            replay_cycles(bad, 2)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="depth"):
        replay_cycles([1, 2], 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no request"),
        (b"\n\n", "no request"),
        (b"{not json}\n", "line 1: not JSON"),
        (b'{"acc_a": [1]}\n[1, 2]\n', "line 2: no field"),
        (b'{"id": 1}\n', "line 1: no field"),
        (b'{"acc_a": [1, 0]}\n', "line 1: acc_a"),
        (b'{"acc_a": "text"}\n', "line 1: acc_a"),
        (b'{"acc_a": [[1], [1, 2]]}\n', "line 1: acc_a"),
        (b'{"acc_a": [1]}\n{"acc_b": [1]}\n', "line 2: every request"),
        (b"\x1f\x8b\x08\x00\xff\xfe", "not text"),
        (b"[" * 100_000, "line 1: not JSON"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_traces(path)
    with pytest.raises(FormatError, match="cannot be read"):
        read_traces(tmp_path / "none.jsonl")


def test_cycles_that_drafted_nothing_are_set_apart() -> None:
    traces = CycleTraces.from_requests([[0, 2, 0], [0], [1, 0]], [[0, 3, 3], [0], [2, 0]])
    assert traces.accepted.tolist() == [2, 0, 1]
    assert traces.depth.tolist() == [3, 3, 2]
    assert traces.starts.tolist() == [0, 2]
    assert traces.draftless == 3
    assert traces.counters().draftless == 3
    with pytest.raises(NotIdentifiableError, match="drafted"):
        CycleTraces.from_requests([[0, 0]], [[0, 0]])


def test_counters_of_a_trace_of_varied_depth() -> None:
    counters = CycleTraces([2, 0, 1, 1], [3, 3, 1, 2], [0]).counters()
    assert counters.histogram_by_depth == {1: {1: 1}, 2: {1: 1}, 3: {0: 1, 2: 1}}
    assert counters.accepted_per_position == (3, 1, 0)
    assert counters.draft_tokens == 9


def test_windows_are_whole_requests() -> None:
    traces = CycleTraces.from_requests([[1] * n for n in (5, 6, 3, 9, 2)], 2)
    assert [window.drafts for window in traces.windows(8)] == [11, 14]
    assert [window.drafts for window in traces.windows(100)] == [25]


def test_traces_that_contradict_themselves() -> None:
    with pytest.raises(InvalidInputError, match="cycle 1"):
        CycleTraces([1, 4], 3)
    for starts in ([1], [0, 0], [0, 2], []):
        with pytest.raises(InvalidInputError, match="starts"):
            CycleTraces([1, 2], 3, starts)
    with pytest.raises(InvalidInputError, match="as many cycles"):
        CycleTraces.from_requests([[1, 2]], [[3]])
    with pytest.raises(InvalidInputError, match="depth must"):
        CycleTraces.from_requests([[1, 2]], 2.5)  # type: ignore[arg-type]
    for bad in ([[-1]], [[0.5]], [[float("nan")]], [], [[]], 3):
        with pytest.raises(InvalidInputError):
            CycleTraces.from_requests(bad, 3)  # type: ignore[arg-type]


def test_equal_blocks_are_batch_means() -> None:
    kept, trials = np.array([60.0, 75.0, 66.0, 81.0]), np.full(4, 100.0)
    found = block_variance(kept, trials, independent=True)
    share = kept.sum() / 400
    assert found.freedom == pytest.approx(3.0)
    assert found.inflation * share * (1 - share) / 400 == pytest.approx(
        np.var(kept / 100, ddof=1) / 4
    )
    for bad in ([1.0], [1.0, 5.0], [-1.0, 1.0]):
        with pytest.raises(InvalidInputError):
            block_variance(bad, [2.0] * len(bad))


def test_batches_cover_the_run() -> None:
    values = np.arange(11.0)
    means = batch_means(values, 3)
    assert means.tolist() == [1.0, 4.0, 8.0]
    with pytest.raises(InvalidInputError, match="batch"):
        batch_means(values, 12)


def test_autocorrelation_time_of_a_known_process() -> None:
    rng = np.random.default_rng(2)
    # Moving averages of ten white values: Σ over lags of the triangle is ten.
    noise = rng.standard_normal(60_000)
    run = np.convolve(noise, np.ones(10), "valid")
    assert autocorrelation_time(run) == pytest.approx(10.0, rel=0.1)
    assert autocorrelation_time(noise) == pytest.approx(1.0, abs=0.1)
    assert autocorrelation_time(np.ones(100)) == 1.0
