"""Windows of vLLM V0: its log lines and its Prometheus metrics.

V0 counts as accepted what the sampler would accept, also behind the first rejection, so A is
taken from the emitted tokens instead: each of D = T/K drafts emits its accepted prefix and one
token more, A = emitted − D.  Checked: rate = accepted/T, system efficiency =
emitted/((K+1)·D).  The numbers are totals since the start; lines of one process are differenced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.identities import SLACK, CounterFormat, rounding
from ensctl.drafting.engines.log_lines import process_of, time_of, without_colour
from ensctl.drafting.engines.prometheus import changes, snapshots
from ensctl.drafting.engines.reading import Block, Reading, resumed
from ensctl.errors import InvalidInputError

MARKERS = (b"System efficiency:", b"vllm:spec_decode_num_emitted_tokens")

_LINE = re.compile(
    rb"Speculative metrics: Draft acceptance rate: (nan|\d+\.?\d*), "
    rb"System efficiency: (nan|\d+\.?\d*), "
    rb"Number of speculative tokens: (\d{1,15}), Number of accepted tokens: (\d{1,15}), "
    rb"Number of draft tokens: (\d{1,15}), Number of emitted tokens: (\d{1,15})"
)
_METRICS = {
    "vllm:spec_decode_num_accepted_tokens": "accepted",
    "vllm:spec_decode_num_draft_tokens": "drafted",
    "vllm:spec_decode_num_emitted_tokens": "emitted",
    "vllm:spec_decode_efficiency": "efficiency",
    "vllm:spec_decode_draft_acceptance_rate": "rate",
}
_COUNTERS = frozenset({"accepted", "drafted", "emitted"})


@dataclass(frozen=True)
class _Totals:
    accepted: int
    drafted: int
    emitted: int
    depth: int
    line: int
    time: float | None

    def minus(self, other: _Totals) -> _Totals | None:
        """The rise since ``other``; None where a total fell or K changed."""
        rises = (
            self.accepted - other.accepted,
            self.drafted - other.drafted,
            self.emitted - other.emitted,
        )
        if min(rises) < 0 or self.depth != other.depth:
            return None
        return _Totals(*rises, self.depth, self.line, self.time)


def windows(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    """One window per metrics line or scrape."""
    iterator = iter(blocks)
    for block in iterator:
        rest = resumed([block], iterator)
        if MARKERS[0] in block.data:
            yield from _of_log(rest, reading)
            return
        if b"vllm:spec_decode_" in block.data:
            yield from _of_metrics(rest, reading)
            return


def _of_log(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    before: dict[str, _Totals] = {}
    for block in blocks:
        for line, raw in block.lines():
            at = raw.find(b"Speculative metrics:")
            if at < 0:
                continue
            text = without_colour(raw)
            found = _LINE.search(text)
            if found is None:
                reading.problem(line, "the metrics line is cut off or not of a known form")
                continue
            rate, efficiency, *counts = found.groups()
            depth, accepted, drafted, emitted = map(int, counts)
            reading.require_depth(line, depth)
            totals = _Totals(accepted, drafted, emitted, depth, line, time_of(raw[:at]))
            if not _agrees(totals, rate, efficiency, reading):
                continue
            process = process_of(raw[:at])
            previous = before.get(process)
            before[process] = totals
            notes: tuple[str, ...] = ()
            change = totals
            if previous is not None:
                rise = totals.minus(previous)
                if rise is None:
                    notes = ("totals fell: the engine was restarted, counted since then",)
                else:
                    change = rise
            start = previous.time if previous is not None and not notes else None
            window = _window(change, start, process, "", notes, reading)
            if window is not None:
                yield window


def _agrees(totals: _Totals, rate: bytes, efficiency: bytes, reading: Reading) -> bool:
    if not totals.drafted:
        return True
    most = totals.drafted * (totals.depth + 1) / totals.depth if totals.depth else 0.0
    checks = (
        ("draft acceptance rate", rate, totals.accepted / totals.drafted),
        ("system efficiency", efficiency, totals.emitted / most if most else 0.0),
    )
    for name, printed, expected in checks:
        if not abs(float(printed) - expected) <= rounding(printed) + SLACK:
            reading.problem(
                totals.line, f"{name} is {printed.decode()}, but the counts give {expected:.4f}"
            )
            return False
    return True


def _of_metrics(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    found = snapshots(blocks, reading, _METRICS)
    for change in changes(found, _COUNTERS, reading):
        latest = change.latest
        totals = [latest.value(name) for name in ("accepted", "drafted", "emitted")]
        rises = [change.values.get((name, None)) for name in ("accepted", "drafted", "emitted")]
        efficiency = latest.value("efficiency")
        if any(value is None for value in totals):
            reading.problem(latest.line, "accepted, draft and emitted tokens are all needed")
            continue
        _, drafted, emitted = (value or 0.0 for value in totals)
        depth = _depth(drafted, emitted, efficiency, latest.line, reading)
        counts = [int(value or 0) for value in rises]
        window = _window(
            _Totals(counts[0], counts[1], counts[2], depth, latest.line, latest.time),
            change.start,
            latest.engine(),
            latest.label("model_name"),
            change.notes,
            reading,
        )
        if window is not None:
            yield window


def _depth(
    drafted: float, emitted: float, efficiency: float | None, line: int, reading: Reading
) -> int:
    """K from efficiency·T/emitted = K/(K+1), where that is given; else the caller's."""
    shown = None
    if efficiency and drafted and emitted:
        share = efficiency * drafted / emitted
        value = share / (1.0 - share) if 0 < share < 1 else 0.0
        if round(value) >= 1 and abs(value - round(value)) <= 0.02 * value:
            shown = round(value)
    if reading.depth is None and shown is None and drafted:
        raise reading.error(
            line,
            "the metrics of vLLM V0 do not carry K; give depth=, the num_speculative_tokens of "
            "the server",
        )
    if shown is not None:
        reading.require_depth(line, shown)
    return reading.depth if reading.depth is not None else shown or 0


def _window(
    totals: _Totals,
    start: float | None,
    engine: str,
    model: str,
    notes: tuple[str, ...],
    reading: Reading,
) -> Counters | None:
    depth = totals.depth
    drafts, over = divmod(totals.drafted, depth) if depth else (0, totals.drafted)
    if over:
        reading.problem(totals.line, f"{totals.drafted} drafted tokens are no multiple of {depth}")
        return None
    accepted = totals.emitted - drafts
    if not 0 <= accepted <= totals.drafted:
        reading.problem(
            totals.line,
            f"{totals.emitted} tokens emitted by {drafts} drafts of {depth}, expected "
            f"{drafts} … {drafts * (depth + 1)}",
        )
        return None
    if accepted != totals.accepted:
        notes = (*notes, f"{totals.accepted} accepted tokens include some after a rejection")
    try:
        return Counters(
            drafts=drafts,
            draft_tokens=totals.drafted,
            accepted=accepted,
            depth=depth,
            engine=engine,
            model=model,
            source=reading.source,
            line=totals.line,
            start=start,
            end=totals.time,
            format=CounterFormat.VLLM_V0.value,
            notes=(*notes, *reading.notes()),
        )
    except InvalidInputError as error:
        reading.problem(totals.line, str(error).partition(": ")[2])
        return None
