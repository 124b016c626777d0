"""Configuration text: valid, and read back by the engines' own rules it is the table again."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import BatchTable
from ensctl.errors import InvalidInputError
from ensctl.scheduling import DepthRange, KeyReading, plan_table
from ensctl.scheduling.engine_schedules import sglang_config, vllm_config
from ensctl.scheduling.engine_schedules_tensorrt import key_reading, tensorrt_llm_config

Lookup = Callable[[int], int]


def read_vllm(text: str) -> Lookup:
    """As vLLM reads it: inclusive ranges from 1 without overlap, gaps and the rest inherit K."""
    config = json.loads(text)
    most, rows = config["num_speculative_tokens"], config["num_speculative_tokens_per_batch_size"]
    assert set(config) == {"num_speculative_tokens", "num_speculative_tokens_per_batch_size"}
    assert most >= 1 and rows and rows[0][0] == 1
    end = 0
    for first, last, depth in rows:
        assert first == end + 1 and last >= first and 0 <= depth <= most
        end = last

    def depth_of(batch: int) -> int:
        return next((k for first, last, k in rows if first <= batch <= last), rows[-1][2])

    return depth_of


def _schedule(text: str) -> tuple[int, dict[int, int]]:
    """The two keys of the YAML; comments and indentation as YAML has them."""
    body = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    found = re.fullmatch(
        r"speculative_config:\n  max_draft_len: (\d+)\n  draft_len_schedule: \{(.*)\}", body
    )
    assert found is not None
    pairs = [entry.split(": ") for entry in found[2].split(", ")]
    return int(found[1]), {int(key): int(value) for key, value in pairs}


def read_tensorrt_lower(text: str) -> Lookup:
    """Before PR #10860: keys are least batches, contain 1, and the entry at 1 is the greatest."""
    most, schedule = _schedule(text)
    assert 1 in schedule and schedule[1] == most == max(schedule.values())
    keys = sorted(schedule)
    return lambda batch: schedule[keys[bisect.bisect_right(keys, batch) - 1]]


def read_tensorrt_upper(text: str) -> Lookup:
    """Since PR #10860: keys are greatest batches, 0 beyond; the least key has the greatest."""
    most, schedule = _schedule(text)
    keys = sorted(schedule)
    assert keys[0] >= 1 and schedule[keys[0]] == most == max(schedule.values())

    def depth_of(batch: int) -> int:
        place = bisect.bisect_left(keys, batch)
        return schedule[keys[place]] if place < len(keys) else 0

    return depth_of


def read_sglang(text: str) -> Lookup:
    """Tiers by least batch; one candidate leaves nothing to the moving average."""
    config = json.loads(text)
    assert all(key.isdigit() for key in config)
    for tier in config.values():
        steps = tier["candidate_steps"]
        assert len(steps) == 1 and isinstance(steps[0], int) and steps[0] >= 0
    keys = sorted(int(key) for key in config)
    assert keys[0] == 1

    def depth_of(batch: int) -> int:
        key = keys[max(0, bisect.bisect_right(keys, batch) - 1)]
        return int(config[str(key)]["candidate_steps"][0])

    return depth_of


@st.composite
def schedules(draw: st.DrawFn) -> tuple[DepthRange, ...]:
    """Ranges from 1 with depths that fall, as a smoothed plan has them."""
    depths = sorted(draw(st.sets(st.integers(0, 12), min_size=1, max_size=5)), reverse=True)
    if depths[0] == 0:
        depths[0] = 3
    widths = draw(st.lists(st.integers(1, 90), min_size=len(depths), max_size=len(depths)))
    ranges, first = [], 1
    for depth, width in zip(depths, widths, strict=True):
        ranges.append(DepthRange(first, first + width - 1, depth))
        first += width
    return tuple(ranges)


def _table(ranges: tuple[DepthRange, ...]) -> dict[int, int]:
    return {b: part.depth for part in ranges for b in range(part.first, part.last + 1)}


@given(schedules())
def test_every_format_reads_back(ranges: tuple[DepthRange, ...]) -> None:
    table = _table(ranges)
    for lookup in (
        read_vllm(vllm_config(ranges)),
        read_tensorrt_lower(tensorrt_llm_config(ranges, "1.2")),
        read_tensorrt_upper(tensorrt_llm_config(ranges, "1.3")),
        read_sglang(sglang_config(ranges)),
    ):
        assert {batch: lookup(batch) for batch in table} == table


def test_tensorrt_text_is_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    ranges = (DepthRange(1, 3, 4), DepthRange(4, 7, 2), DepthRange(8, 64, 0))
    lower = yaml.safe_load(tensorrt_llm_config(ranges, "lower-bounds"))
    assert lower == {
        "speculative_config": {"max_draft_len": 4, "draft_len_schedule": {1: 4, 4: 2, 8: 0}}
    }
    upper = yaml.safe_load(tensorrt_llm_config(ranges, "upper-bounds"))
    assert upper["speculative_config"]["draft_len_schedule"] == {3: 4, 7: 2}


def test_the_readings_differ_where_it_would_be_silent() -> None:
    ranges = (DepthRange(1, 3, 4), DepthRange(4, 7, 2), DepthRange(8, 64, 0))
    written_old = tensorrt_llm_config(ranges, "1.2")
    assert read_tensorrt_upper(written_old)(2) != _table(ranges)[2]
    assert "least batch" in written_old.splitlines()[0]
    assert "greatest batch" in tensorrt_llm_config(ranges, "1.3").splitlines()[0]
    assert "beyond 7 nothing is drafted" in tensorrt_llm_config(ranges, "1.3")


@pytest.mark.parametrize(
    ("version", "reading"),
    [
        ("1.2", KeyReading.LOWER_BOUNDS),
        ("v1.2.1", KeyReading.LOWER_BOUNDS),
        ("1.3.0", KeyReading.UPPER_BOUNDS),
        ("1.10", KeyReading.UPPER_BOUNDS),
        ("Upper_Bounds", KeyReading.UPPER_BOUNDS),
    ],
)
def test_versions(version: str, reading: KeyReading) -> None:
    assert key_reading(version) is reading


@pytest.mark.parametrize("version", ["", "1", "0.21", "1.1", "1.3.0rc4", "2.0", "latest", "1.2x"])
def test_unknown_versions_are_refused(version: str) -> None:
    with pytest.raises(InvalidInputError, match="lower-bounds"):
        key_reading(version)


def test_what_a_format_cannot_hold() -> None:
    off = (DepthRange(1, 64, 0),)
    for write in (vllm_config, sglang_config, lambda ranges: tensorrt_llm_config(ranges, "1.3")):
        with pytest.raises(InvalidInputError, match="off at all"):
            write(off)
    rising = (DepthRange(1, 8, 1), DepthRange(9, 64, 3))
    assert read_vllm(vllm_config(rising))(64) == 3
    for reading in KeyReading:
        with pytest.raises(InvalidInputError, match="deepest at the least batch"):
            tensorrt_llm_config(rising, reading.value)


def test_a_plan_writes_itself() -> None:
    cost = BatchTable([1, 32, 64], [10, 14, 22], [0.8, 3.0, 9.0], [9, 12, 18])
    plan = plan_table(0.7, cost, 64, max_depth=5)
    table = {batch: plan.depth(batch) for batch in range(1, 65)}
    for lookup in (
        read_vllm(plan.to_vllm()),
        read_tensorrt_lower(plan.to_tensorrt_llm("1.2")),
        read_tensorrt_upper(plan.to_tensorrt_llm("1.3")),
        read_sglang(plan.to_sglang()),
    ):
        assert {batch: lookup(batch) for batch in table} == table
    assert json.loads(plan.to_vllm())["num_speculative_tokens_per_batch_size"][-1][1] == 64
    several = plan_table(0.7, cost, 64, [0, 1000], max_depth=5)
    with pytest.raises(InvalidInputError, match="context must be given"):
        several.to_vllm()
    assert read_vllm(several.to_vllm(1000))(1) == several.depth(1, 1000)
