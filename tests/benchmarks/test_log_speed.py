"""Megabytes of log text per second with every identity checked, against plain code."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from ensctl.drafting import iter_counters

_NUMBER = re.compile(r"\d+\.?\d*")
# Asked for: 50 MB/s on one core.
_ASKED = 50e6


def _server_log(windows: int) -> tuple[bytes, bytes]:
    """Text as a server prints it, and its metrics lines alone."""
    mixed, pure = [], []
    for k in range(windows):
        drafts = 400 + 37 * (k % 97)
        positions = [round(drafts * share) for share in (0.71, 0.47, 0.31, 0.21, 0.14)]
        accepted, drafted = sum(positions), 5 * drafts
        stamp = f"07-09 {k // 3600 % 24:02d}:{k // 60 % 60:02d}:{k % 60:02d}"
        shares = ", ".join(f"{count / drafts:.3f}" for count in positions)
        line = (
            f"(APIServer pid=16788) INFO {stamp} [metrics.py:120] SpecDecoding metrics: Mean "
            f"acceptance length: {1 + accepted / drafts:.2f}, Accepted throughput: "
            f"{accepted / 10:.2f} tokens/s, Drafted throughput: {drafted / 10:.2f} tokens/s, "
            f"Accepted: {accepted} tokens, Drafted: {drafted} tokens, Per-position acceptance "
            f"rate: {shares}, Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%"
        )
        pure.append(line)
        mixed.append(
            f"(APIServer pid=16788) INFO {stamp} [loggers.py:273] Engine 000: Avg prompt "
            f"throughput: 789.8 tokens/s, Avg generation throughput: {accepted / 10:.1f} tokens/s, "
            f"Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.2%, Prefix cache hit rate: "
            f"0.0%"
        )
        mixed.append(line)
    return ("\n".join(mixed) + "\n").encode(), ("\n".join(pure) + "\n").encode()


def _obvious(text: bytes) -> int:
    """Line by line: split, find the numbers, check the length."""
    count = 0
    for line in text.decode().splitlines():
        if "SpecDecoding metrics" not in line:
            continue
        numbers = [float(n) for n in _NUMBER.findall(line.split("SpecDecoding metrics")[1])]
        if abs(numbers[0] - 1.0 - sum(numbers[5:-1])) <= 0.01:
            count += 1
    return count


@pytest.mark.parametrize("kind", ["mixed", "metrics only"])
def test_server_log(
    kind: str, ratio_table: Any, timed: Callable[..., float], sized: Callable[..., int]
) -> None:
    windows = sized(20_000, smoke=200)
    mixed, pure = _server_log(windows)
    text = mixed if kind == "mixed" else pure
    assert sum(1 for _ in iter_counters(text)) == windows == _obvious(text)
    ours = timed(lambda: sum(1 for _ in iter_counters(text)))
    megabytes = len(text) / 1e6
    ratio_table.add(
        f"server log, {kind}: {megabytes / ours:.0f} MB/s, asked 50 MB/s",
        ours,
        len(text) / _ASKED,
        at_most=1.0,
    )
    ratio_table.add(
        f"server log, {kind}, against line by line", ours, timed(lambda: _obvious(text))
    )
