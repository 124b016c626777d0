"""Windows of MLC-LLM: draft_count and accept_count of its engine metrics.

draft_count[i] counts steps whose verified run had more than i tokens, accept_count[i] those that
kept them.  The run begins with the last token of the target itself, which is always kept: then
the counts at 0 are equal and accept_count[j]/draft_count[j] is the survival S(j).  Where they
differ there is no such token and the ratio at i is S(i+1).  Totals since the start; several
documents are not differenced, because the engine resets them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.histogram_windows import is_whole
from ensctl.drafting.engines.identities import CounterFormat
from ensctl.drafting.engines.json_records import Record, records
from ensctl.drafting.engines.reading import Block, Reading
from ensctl.errors import InvalidInputError

MARKERS = (b'"accept_count"',)
_NEEDED = frozenset({"draft_count", "accept_count"})


def windows(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    """One window per document."""
    for record in records(blocks, reading, _NEEDED):
        window = _window(record, reading)
        if window is not None:
            yield window


def _window(record: Record, reading: Reading) -> Counters | None:
    drafted = _counts(record.fields["draft_count"])
    kept = _counts(record.fields["accept_count"])
    if drafted is None or kept is None or len(drafted) != len(kept):
        reading.problem(record.line, "draft_count and accept_count must be counts of one length")
        return None
    notes = list(reading.notes())
    if drafted and drafted[0] == kept[0]:
        drafted, kept = drafted[1:], kept[1:]
        notes.append("the first of the verified tokens is the target's own and was left out")
    for j in range(1, len(drafted)):
        if drafted[j] > drafted[j - 1]:
            reading.problem(record.line, f"draft_count rises at {j}: {drafted[j]}")
            return None
    drafts = drafted[0] if drafted else 0
    reading.require_depth(record.line, len(drafted))
    if not drafts:
        notes.append("no step drafted")
    try:
        return Counters(
            drafts=drafts,
            draft_tokens=sum(drafted),
            accepted=sum(kept),
            accepted_per_position=tuple(kept) if drafts else None,
            depth=len(drafted),
            generated=record.generated,
            model=record.model,
            source=reading.source,
            line=record.line,
            format=CounterFormat.MLC.value,
            notes=tuple(notes),
        )
    except InvalidInputError as error:
        reading.problem(record.line, str(error).partition(": ")[2])
        return None


def _counts(value: Any) -> list[int] | None:
    if isinstance(value, Mapping):
        if any(not (key.isascii() and key.isdigit()) for key in value):
            return None
        value = [value[key] for key in sorted(value, key=lambda key: (len(key), key))]
    if not isinstance(value, list) or not all(is_whole(item) for item in value):
        return None
    return [int(item) for item in value]
