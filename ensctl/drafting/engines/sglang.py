"""Windows of SGLang: gauges, decode lines of the log, and per-request statistics.

Gauges and decode lines print the accept length 1 + A/D and a rate, but not D; K stands in gauges
of present versions only.  The rate
is A/(K·D), or (A+D)/((K+1)·D) in older versions; both are recognised, so with the K given the two
numbers check each other.  Without ``drafts`` the counts are those of one mean step, which a note
says: such windows have a level but no weight.  Gauges cannot be differenced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.histogram_windows import histogram_of, window_of_histogram
from ensctl.drafting.engines.identities import MOST_DEPTH, SLACK, CounterFormat, rounding
from ensctl.drafting.engines.json_records import Record, records
from ensctl.drafting.engines.log_lines import sender_of, time_of, without_colour
from ensctl.drafting.engines.prometheus import Snapshot, snapshots
from ensctl.drafting.engines.reading import Block, Reading, resumed

MARKERS = (b"accept len:", b"sglang:spec_accept_length", b'"spec_verify_ct"')

# Something always follows: a number at the end of a line may have lost digits.
_DECODE = re.compile(rb"accept len: (nan|\d+\.\d+),(?: accept rate: (nan|\d+\.\d+)(?=,))?")
_RANK = re.compile(rb"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ([A-Za-z0-9 ]+)\]")
_METRICS = {
    "sglang:spec_accept_length": "length",
    "sglang:spec_accept_rate": "rate",
    "sglang:spec_num_steps": "steps",
    "sglang:spec_num_draft_tokens": "tokens",
}
_GAUGE_HALF = 5e-3
_WEIGHTLESS = "counts are of one mean step: the number of steps is not printed, drafts= gives it"


def windows(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    """One window per decode line, scrape of an engine, or request."""
    iterator = iter(blocks)
    for block in iterator:
        rest = resumed([block], iterator)
        if MARKERS[2] in block.data:
            yield from _of_requests(rest, reading)
            return
        if MARKERS[1] in block.data:
            yield from _of_gauges(rest, reading)
            return
        if MARKERS[0] in block.data:
            yield from _of_log(rest, reading)
            return


def _of_log(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    for block in blocks:
        if MARKERS[0] not in block.data:
            continue
        for line, raw in block.lines():
            if MARKERS[0] not in raw:
                continue
            text = without_colour(raw)
            found = _DECODE.search(text)
            if found is None or (found.group(2) is None and b"accept rate:" in text):
                reading.problem(line, "the accept length is cut off or not a number")
                continue
            length, rate = found.groups()
            rank = _RANK.search(text)
            named = (sender_of(text), rank.group(1).decode() if rank else "")
            window = _window(
                float(length),
                rounding(length),
                None if rate is None else (float(rate), rounding(rate)),
                line,
                ", ".join(part for part in named if part),
                "",
                time_of(text),
                reading,
                reading.depth,
            )
            if window is not None:
                yield window


def _of_gauges(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    for snapshot in snapshots(blocks, reading, _METRICS):
        length, rate = snapshot.value("length"), snapshot.value("rate")
        if length is None:
            reading.problem(snapshot.line, "the scrape has no spec_accept_length")
            continue
        if not length:
            # The gauge stands at zero until the first decode batch.
            continue
        window = _window(
            length,
            _GAUGE_HALF,
            None if not rate else (rate, _GAUGE_HALF),
            snapshot.line,
            snapshot.engine(),
            snapshot.label("model_name"),
            snapshot.time,
            reading,
            _depth_of(snapshot, reading),
        )
        if window is not None:
            yield window


def _depth_of(snapshot: Snapshot, reading: Reading) -> int | None:
    """K of the gauges of present versions, where they are there; else the caller's."""
    steps, tokens = snapshot.value("steps"), snapshot.value("tokens")
    if not steps:
        return reading.depth
    if tokens is not None and tokens != steps + 1.0:
        if reading.depth is not None:
            return reading.depth
        raise reading.error(
            snapshot.line,
            f"spec_num_steps {steps:g} and spec_num_draft_tokens {tokens:g} are not those of a "
            f"chain of drafts; give depth=, the most draft tokens that a step can accept",
        )
    if not (steps.is_integer() and 0 < steps <= MOST_DEPTH):
        raise reading.error(snapshot.line, f"spec_num_steps is {steps:g}, no length of a draft")
    reading.require_depth(snapshot.line, int(steps))
    return int(steps)


def _window(
    length: float,
    half: float,
    rate: tuple[float, float] | None,
    line: int,
    engine: str,
    model: str,
    time: float | None,
    reading: Reading,
    depth: int | None,
) -> Counters | None:
    if depth is None:
        raise reading.error(
            line,
            "SGLang does not print K; give depth=, its speculative_num_steps (one less than "
            "speculative_num_draft_tokens for a chain)",
        )
    if not 1.0 - half <= length <= depth + 1 + half:
        reading.problem(line, f"accept length {length:g} is not between 1 and K + 1 = {depth + 1}")
        return None
    kept = min(max(length - 1.0, 0.0), float(depth))
    notes: list[str] = []
    if rate is not None:
        present, older = kept / depth if depth else 0.0, (kept + 1.0) / (depth + 1)
        room = rate[1] + half / max(depth, 1) + SLACK
        if not abs(rate[0] - present) <= room:
            if not abs(rate[0] - older) <= room:
                reading.problem(
                    line,
                    f"accept rate {rate[0]:g} fits neither {present:.3f} nor {older:.3f}, the "
                    f"rates of accept length {length:g} at K = {depth}",
                )
            else:
                notes.append("the rate counts the bonus token, as older versions do")
    drafts = reading.drafts
    if drafts is None:
        drafts = 1
        notes.append(_WEIGHTLESS)
    return Counters(
        drafts=drafts,
        draft_tokens=depth * drafts,
        accepted=kept * drafts,
        depth=depth,
        engine=engine,
        model=model,
        source=reading.source,
        line=line,
        end=time,
        format=CounterFormat.SGLANG.value,
        notes=(*notes, *reading.notes()),
    )


def _of_requests(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    for record in records(blocks, reading, frozenset({"spec_verify_ct"})):
        window = _of_request(record, reading)
        if window is not None:
            yield window


def _of_request(record: Record, reading: Reading) -> Counters | None:
    steps = record.count("spec_verify_ct", reading)
    accepted = _first(record, reading, "spec_num_correct_drafts", "spec_accept_token_num")
    drafted = _first(record, reading, "spec_num_proposed_drafts", "spec_draft_token_num")
    table = record.fields.get("spec_correct_drafts_histogram")
    if table is None:
        table = record.fields.get("spec_accept_histogram")
    histogram = histogram_of(table)
    if not steps:
        return None
    if accepted is None and histogram is not None:
        accepted = sum(kept * count for kept, count in histogram.items())
    if accepted is None:
        # The first versions give the verified steps only: each emits one token more than it keeps.
        if record.generated is None or record.generated < steps:
            reading.problem(record.line, "neither accepted drafts nor completion tokens are given")
            return None
        accepted = record.generated - steps
    rate = record.fields.get("spec_accept_rate")
    if drafted and isinstance(rate, int | float) and not abs(rate - accepted / drafted) <= 0.0051:
        reading.problem(
            record.line,
            f"spec_accept_rate is {rate:g}, but {accepted}/{drafted} = {accepted / drafted:.4f}",
        )
        return None
    return window_of_histogram(
        record,
        reading,
        CounterFormat.SGLANG,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        depth=None if histogram is None or not isinstance(table, list) else len(table) - 1,
        histogram=histogram,
    )


def _first(record: Record, reading: Reading, *names: str) -> int | None:
    for name in names:
        value = record.count(name, reading)
        if value is not None:
            return value
    return None
