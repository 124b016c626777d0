"""Windows of a vLLM V1 server log: one per ``SpecDecoding metrics:`` line.

The line prints MAL = 1 + A/D with two digits, P_j/D with three and A/T with one digit of a
percentage, but not D.  With K positions and drafts of one depth D = T/K; where that contradicts
the length (an n-gram drafter that found fewer tokens) D is what the printed shares allow.  The
first versions print A and T only, so that K has to be given.

``generated`` of a window is the printed generation throughput times the length of the window,
T over the drafted throughput, and as exact as their digits; see ``_span`` for idle stretches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

import numpy as np

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.identities import CounterFormat
from ensctl.drafting.engines.log_lines import EngineNames, times_of, without_colour
from ensctl.drafting.engines.reading import Block, Reading
from ensctl.drafting.engines.vllm_log_batch import read_batch
from ensctl.drafting.engines.vllm_log_fields import Values, read_fields

_METRICS = (b"SpecDecoding metrics:", b"Speculative metrics:")
# Throughput lines name the engine of a metrics line that may be far behind.
MARKERS = (*_METRICS, b": Avg prompt throughput:")

# The order of present versions, read in one match; any other order is read field by field.
_PRESENT = re.compile(
    rb"SpecDecoding metrics: Mean acceptance length: (\d{1,9}\.\d\d), "
    rb"Accepted throughput: [\d.]+ tokens/s, Drafted throughput: (\d{1,12}\.\d\d) tokens/s, "
    rb"Accepted: (\d{1,15}) tokens, Drafted: (\d{1,15}) tokens, "
    rb"Per-position acceptance rate: ([01]\.\d{3}(?:, [01]\.\d{3})*), "
    rb"Avg Draft acceptance rate: (\d{1,3}\.\d)%[ \t]*\r?$",
    re.MULTILINE,
)
_SHARES = 4

# Seconds between the reports of vLLM, unless it is told otherwise.
_INTERVAL = 10.0


def windows(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    """One window per metrics line, with constant memory."""
    engines = EngineNames()
    for block in blocks:
        yield from _of_block(block, engines, reading)


def _of_block(block: Block, engines: EngineNames, reading: Reading) -> list[Counters]:
    data = block.data
    matches = list(_PRESENT.finditer(data))
    fields: list[tuple[bytes, ...] | None] = [match.groups() for match in matches]
    starts = [match.start() for match in matches]
    marker = _METRICS[0] if _METRICS[0] in data else _METRICS[1]
    if data.count(marker) != len(matches):
        known = dict(zip(starts, fields, strict=True))
        starts = _positions(data, marker)
        fields = [known.get(start) for start in starts]
    if not starts:
        engines.of_windows(data, (), ())
        return []
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    rows = np.searchsorted(ends, starts)
    begins = np.where(rows > 0, ends[rows - 1] + 1, 0).tolist() if ends.size else [0]
    prefixes = [data[begin:at] for begin, at in zip(begins, starts, strict=True)]
    times = times_of(prefixes)
    named = engines.of_windows(data, begins, prefixes)
    lines = (rows + block.first_line).tolist()
    read = _fast(fields, reading.depth)
    source, name = reading.source, CounterFormat.VLLM_LOG.value
    from_checked, noting = Counters.from_checked, bool(reading.standing)
    found = []
    for values, (engine, rate), end, line, start in zip(
        read, named, times, lines, starts, strict=True
    ):
        if values is None:
            stop = data.find(b"\n", start)
            text = data[start : stop if stop >= 0 else len(data)]
            # Two processes may write into one line: what follows is the other one's.
            torn = text.find(marker, len(marker))
            text = without_colour(text if torn < 0 else text[:torn])
            slow = read_fields(text, line, reading)
            if slow is None:
                continue
            values = slow
        drafts, drafted, accepted, positions, depth, seconds, notes = values
        if noting or reading.pending:
            notes = (*notes, *reading.notes())
        found.append(
            from_checked(
                {
                    "drafts": drafts,
                    "draft_tokens": drafted,
                    "accepted": accepted,
                    "accepted_per_position": positions,
                    "depth": depth,
                    "draftless": 0,
                    "generated": (
                        round(rate * _span(rate, seconds, drafts + accepted))
                        if rate is not None and seconds
                        else None
                    ),
                    "histogram": None,
                    "histogram_by_depth": None,
                    "engine": engine,
                    "model": "",
                    "source": source,
                    "line": line,
                    "start": end - seconds if end is not None and seconds else None,
                    "end": end,
                    "format": name,
                    "notes": notes,
                }
            )
        )
    return found


def _span(rate: float, seconds: float, emitted: float) -> float:
    """Seconds that the generation throughput is an average of.

    It is of one report interval, but a window without drafts prints no metrics line, so that the
    next line counts from further back.  Tokens of drafted steps alone show an interval too short.
    """
    idle = seconds > 1.5 * _INTERVAL and rate * _INTERVAL >= 0.95 * emitted
    return _INTERVAL if idle else seconds


def _fast(
    fields: Sequence[tuple[bytes, ...] | None], given_depth: int | None
) -> list[Values | None]:
    """Values of the lines that agree with one depth; None where more has to be looked at."""
    read: list[Values | None] = [None] * len(fields)
    by_depth: dict[int, list[int]] = {}
    for k, row in enumerate(fields):
        if row is not None:
            by_depth.setdefault(row[_SHARES].count(b",") + 1, []).append(k)
    for depth, chosen in by_depth.items():
        if given_depth not in (None, depth):
            continue
        batch = read_batch([row for k in chosen if (row := fields[k]) is not None], depth)
        values: Iterator[Values] = zip(
            batch.drafts,
            batch.drafted,
            batch.accepted,
            batch.positions,
            repeat(depth),
            batch.seconds,
            batch.notes,
            strict=False,
        )
        if len(chosen) == len(fields) and all(batch.good):
            return list(values)
        for k, good, found in zip(chosen, batch.good, values, strict=True):
            if good:
                read[k] = found
    return read


def _positions(data: bytes, marker: bytes) -> list[int]:
    found = []
    at = data.find(marker)
    while at >= 0:
        found.append(at)
        at = data.find(marker, at + len(marker))
    return found
