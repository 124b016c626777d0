"""Per-request JSON of vLLM: acceptance histograms, by draft length where drafts vary.

``mean_acceptance_length`` = 1 + A/D and ``draft_acceptance_rate`` = A/T are checked.  Steps
without a scheduled draft are not in the record; a row for length 0 counts steps whose draft was
emptied by the grammar.  ``detailed`` records list every step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.histogram_windows import histogram_of, window_of_histogram
from ensctl.drafting.engines.identities import CounterFormat
from ensctl.drafting.engines.json_records import Record, records
from ensctl.drafting.engines.reading import Block, Reading

MARKERS = (b'"num_accepted_draft_tokens"',)
NEEDED = frozenset({"num_spec_steps", "num_accepted_draft_tokens"})


def windows(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    """One window per request."""
    for record in records(blocks, reading, NEEDED):
        window = window_of_request(record, reading, CounterFormat.VLLM_REQUEST)
        if window is not None:
            yield window


def window_of_request(
    record: Record, reading: Reading, kind: CounterFormat, engine: str = ""
) -> Counters | None:
    """The window of a record in vLLM's field names."""
    steps = record.count("num_spec_steps", reading)
    accepted = record.count("num_accepted_draft_tokens", reading)
    drafted = record.count("num_draft_tokens", reading)
    if steps is None or accepted is None:
        reading.problem(record.line, "num_spec_steps and num_accepted_draft_tokens are needed")
        return None
    by_depth = _by_depth(record, reading)
    stepwise = _stepwise(record, reading)
    if by_depth is None and stepwise is not None:
        by_depth = stepwise
    histogram = _histogram(record, reading)
    if not ratios_agree(record, reading, steps, accepted, drafted):
        return None
    return window_of_histogram(
        record,
        reading,
        kind,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        depth=record.count("num_spec_tokens", reading),
        histogram=histogram,
        by_depth=by_depth,
        engine=engine,
    )


def ratios_agree(
    record: Record, reading: Reading, steps: int, accepted: int, drafted: int | None
) -> bool:
    """Whether the printed ratios are those of the counts, to 1e-6; reports where not."""
    pairs = (
        ("mean_acceptance_length", 1.0 + accepted / steps if steps else None),
        ("draft_acceptance_rate", accepted / drafted if drafted else None),
        ("acceptance_rate", accepted / drafted if drafted else None),
    )
    for name, expected in pairs:
        given = record.fields.get(name)
        if expected is None or not isinstance(given, int | float):
            continue
        # Writers round; two digits are enough to find a wrong count.
        if not abs(given - expected) <= 0.0051:
            reading.problem(record.line, f"{name} is {given:g}, but the counts give {expected:.6g}")
            return False
    return True


def _histogram(record: Record, reading: Reading) -> dict[int, int] | None:
    given = record.fields.get("acceptance_histogram")
    if given is None:
        return None
    histogram = histogram_of(given)
    if histogram is None:
        reading.problem(record.line, f"acceptance_histogram must hold counts, got {given!r}")
    return histogram


def _by_depth(record: Record, reading: Reading) -> dict[int, dict[int, int]] | None:
    given = record.fields.get("acceptance_histogram_by_draft_length")
    if not isinstance(given, Mapping):
        return None
    tables = {}
    for length, row in given.items():
        table = histogram_of(row)
        if table is None or not (length.isascii() and length.isdigit() and len(length) < 6):
            reading.problem(
                record.line, f"acceptance_histogram_by_draft_length has a bad row {length!r}"
            )
            return None
        tables[int(length)] = table
    return dict(sorted(tables.items()))


def _stepwise(record: Record, reading: Reading) -> dict[int, dict[int, int]] | None:
    accepted: Any = record.fields.get("per_step_accepted")
    drafted: Any = record.fields.get("per_step_drafted")
    if not isinstance(accepted, list) or not isinstance(drafted, list):
        return None
    if len(accepted) != len(drafted):
        reading.problem(
            record.line,
            f"{len(accepted)} steps in per_step_accepted, {len(drafted)} in per_step_drafted",
        )
        return None
    tables: dict[int, Counter[int]] = {}
    for kept, length in zip(accepted, drafted, strict=True):
        if not isinstance(kept, int) or not isinstance(length, int) or not 0 <= kept <= length:
            reading.problem(record.line, f"a step accepts {kept!r} of {length!r} drafted tokens")
            return None
        tables.setdefault(length, Counter())[kept] += 1
    return {length: dict(sorted(tables[length].items())) for length in sorted(tables)}
