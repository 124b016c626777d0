"""Windows of llama.cpp: Prometheus counters, log lines per request, and timings of responses.

Log lines print A, T, the mean acceptance length 1 + A/D and P_j/D, the last on a line of its own
in present builds and at trace verbosity only; drafts may stop early, so D is what the printed
length allows.  Older lines and the timings print A and T only:
there K has to be given and D ≥ T/K is taken as equal.  Builds before June 2025 count drafted
tokens that were never tested.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.identities import (
    SLACK,
    CounterFormat,
    drafts_from_length,
    rounding,
)
from ensctl.drafting.engines.json_records import Record, records
from ensctl.drafting.engines.log_lines import sender_of, without_colour
from ensctl.drafting.engines.printed_shares import Printed, counts_of
from ensctl.drafting.engines.reading import Block, Reading, resumed
from ensctl.drafting.engines.vllm_prometheus import schema, windows_of_schema
from ensctl.errors import InvalidInputError

MARKERS = (
    b"draft acceptance = ",
    b"draft acceptance rate = ",
    b"llamacpp:spec_decode_",
    b'"draft_n_accepted"',
)

_PHRASE = b"draft acceptance"
_LINE = re.compile(
    rb"draft acceptance(?: rate)? = (nan|\d+\.?\d*) "
    rb"\(\s*(\d{1,15}) accepted /\s*(\d{1,15}) generated\)"
    rb"(?:, mean (?:acceptance length|len) =\s*(nan|\d+\.\d\d)(?!\d))?"
    rb"(?:, acceptance rate per position = \(([\d., ]*)\))?"
)
_POSITIONS = re.compile(rb"acc per pos = \(([\d., ]*)\)")
_NAMED = re.compile(rb", (?:mean|acceptance rate per pos)")
_SLOT = re.compile(rb"id\s+(\d+) \|")
_EVAL = re.compile(rb"(?<!prompt )eval time =.*?/\s*(\d{1,15}) tokens")
_NO_DEPTH = "this line does not carry K; give depth=, the most tokens of a draft (--draft-max)"


def windows(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    """One window per request or pair of scrapes."""
    iterator = iter(blocks)
    for block in iterator:
        rest = resumed([block], iterator)
        if MARKERS[3] in block.data:
            for record in records(rest, reading, frozenset({"draft_n", "draft_n_accepted"})):
                window = _of_timings(record, reading)
                if window is not None:
                    yield window
            return
        if MARKERS[2] in block.data:
            metrics = schema("llamacpp:", "tokens_predicted")
            yield from windows_of_schema(rest, reading, metrics, CounterFormat.LLAMA_CPP)
            return
        if _PHRASE in block.data:
            yield from _of_log(rest, reading)
            return


def _of_log(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    generated: dict[str, int] = {}
    # The line of the positions comes behind its acceptance line, which waits for it.
    held: _Spoken | None = None
    for block in blocks:
        for line, raw in block.lines():
            if b"eval time =" in raw:
                spoken = _EVAL.search(raw)
                if spoken:
                    generated[_slot(raw)] = int(spoken.group(1))
                continue
            if held is not None and b"acc per pos = (" in raw:
                text = without_colour(raw)
                positions = _POSITIONS.search(text)
                if positions is not None and _slot(text) == held.slot:
                    held = replace(held, shares=positions.group(1))
                    continue
            if _PHRASE not in raw:
                continue
            text = without_colour(raw)
            found = _LINE.search(text)
            # What is named behind the match could not be read to its end.
            if found is None or _NAMED.match(text, found.end()) is not None:
                if b"accepted /" in text or b"acceptance = " in text or b"rate = " in text:
                    reading.problem(line, "the acceptance line is cut off or not of a known form")
                continue
            if held is not None and (window := _of_line(held, reading)) is not None:
                yield window
            slot = _slot(text)
            *fields, shares = found.groups()
            held = _Spoken(line, slot, generated.pop(slot, None), tuple(fields), shares)
    if held is not None and (window := _of_line(held, reading)) is not None:
        yield window


@dataclass(frozen=True)
class _Spoken:
    """An acceptance line: its slot, the tokens generated, and rate, A, T, length and shares."""

    line: int
    slot: str
    generated: int | None
    fields: tuple[bytes, ...]
    shares: bytes | None


def _slot(text: bytes) -> str:
    """Sender and slot of a line."""
    found = _SLOT.search(text)
    slot = f"slot {found.group(1).decode()}" if found else ""
    return ", ".join(part for part in (sender_of(text), slot) if part)


def _of_line(spoken: _Spoken, reading: Reading) -> Counters | None:
    line, engine, generated, shares = spoken.line, spoken.slot, spoken.generated, spoken.shares
    rate, accepted_text, drafted_text, length = spoken.fields
    accepted, drafted = int(accepted_text), int(drafted_text)
    if drafted and not abs(float(rate) - accepted / drafted) <= rounding(rate) + SLACK:
        reading.problem(
            line,
            f"draft acceptance {rate.decode()} is not {accepted}/{drafted} = "
            f"{accepted / drafted:.5f}",
        )
        return None
    if not drafted:
        return _window(0, 0, 0, None, None, line, engine, ("no step drafted",), generated, reading)
    texts = [] if shares is None else [text.strip() for text in shares.split(b",") if text.strip()]
    if not texts or length is None:
        return _without_shares(accepted, drafted, length, line, engine, generated, reading)
    try:
        printed = Printed(accepted, drafted, tuple(texts), length)
    except ValueError:
        reading.problem(line, "the rates per position are not numbers")
        return None
    drafts, positions, notes = counts_of(printed, line, reading)
    return _window(
        drafts, drafted, accepted, positions, len(texts), line, engine, notes, generated, reading
    )


def _without_shares(
    accepted: int,
    drafted: int,
    length: bytes | None,
    line: int,
    engine: str,
    generated: int | None,
    reading: Reading,
) -> Counters | None:
    depth = reading.depth
    if depth is None:
        raise reading.error(line, _NO_DEPTH)
    drafts = math.ceil(drafted / depth)
    notes: tuple[str, ...] = ()
    if length is None:
        most = "" if generated is None else f" and at most {max(generated - accepted, drafts)}"
        notes = (f"the number of drafts is not printed: taken as T/K = {drafts}, at least{most}",)
    else:
        bounds = drafts_from_length(accepted, drafted, float(length), rounding(length), depth)
        if bounds is None:
            reading.problem(
                line,
                f"mean acceptance length {length.decode()} is not 1 + A/D of {accepted} accepted "
                f"of {drafted} drafted tokens for any D ≥ T/K at K = {depth}",
            )
            return None
        least, most_drafts = bounds
        if least * depth != drafted:
            # In the middle of what the rounding allows.
            drafts = round(accepted / (float(length) - 1.0)) if float(length) > 1.0 else least
            drafts = min(max(drafts, least), most_drafts)
            notes = (
                f"drafts of fewer than K = {depth} tokens: D = {drafts} from the printed length, "
                f"within {least} … {most_drafts}",
            )
    return _window(drafts, drafted, accepted, None, depth, line, engine, notes, generated, reading)


def _of_timings(record: Record, reading: Reading) -> Counters | None:
    drafted = record.count("draft_n", reading)
    accepted = record.count("draft_n_accepted", reading)
    steps = record.count("draft_n_verif_steps", reading)
    if drafted is None or accepted is None:
        return None
    generated = record.count("predicted_n", reading)
    depth = reading.depth
    notes: tuple[str, ...] = ()
    if depth is None:
        raise reading.error(record.line, _NO_DEPTH)
    if steps is None:
        steps = math.ceil(drafted / depth)
        notes = (f"the number of drafts is not given: taken as T/K = {steps}, at least",)
    return _window(
        steps, drafted, accepted, None, depth, record.line, "", notes, generated, reading,
        model=record.model,
    )  # fmt: skip


def _window(
    drafts: int,
    drafted: int,
    accepted: int,
    positions: tuple[int, ...] | None,
    depth: int | None,
    line: int,
    engine: str,
    notes: tuple[str, ...],
    generated: int | None,
    reading: Reading,
    model: str = "",
) -> Counters | None:
    try:
        return Counters(
            drafts=drafts,
            draft_tokens=drafted,
            accepted=accepted,
            accepted_per_position=positions,
            depth=depth,
            generated=generated,
            engine=engine,
            model=model,
            source=reading.source,
            line=line,
            format=CounterFormat.LLAMA_CPP.value,
            notes=(*notes, *reading.notes()),
        )
    except InvalidInputError as error:
        reading.problem(line, str(error).partition(": ")[2])
        return None
