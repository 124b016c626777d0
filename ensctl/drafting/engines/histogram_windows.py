"""A window from a histogram of accepted tokens per step, with the identities of its totals.

With n_x steps that accepted x of the drafted tokens: D = Σ n_x, A = Σ x n_x,
P_j = Σ_{x>j} n_x, and T ≤ K·D.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.identities import MOST_COUNT, MOST_DEPTH, CounterFormat
from ensctl.drafting.engines.json_records import Record
from ensctl.drafting.engines.reading import Reading
from ensctl.errors import InvalidInputError


def histogram_of(value: Any) -> dict[int, int] | None:
    """{accepted: steps} of a dense list or of a sparse mapping with text keys; None if neither."""
    if isinstance(value, list):
        pairs = list(enumerate(value))
    elif isinstance(value, Mapping):
        try:
            pairs = [(int(key), count) for key, count in value.items()]
        except ValueError:
            return None
    else:
        return None
    if any(key < 0 or not is_whole(count) for key, count in pairs):
        return None
    return {key: int(count) for key, count in sorted(pairs) if count}


def is_whole(value: Any) -> bool:
    """Whether a JSON value is a count."""
    if isinstance(value, float):
        return value.is_integer() and 0 <= value < MOST_COUNT
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_COUNT


def positions_of(histogram: Mapping[int, int], depth: int) -> tuple[int, ...]:
    """P_0 … P_{K−1} of a histogram."""
    counts = []
    above = sum(histogram.values())
    for j in range(depth):
        above -= histogram.get(j, 0)
        counts.append(above)
    return tuple(counts)


def window_of_histogram(
    record: Record,
    reading: Reading,
    kind: CounterFormat,
    *,
    steps: int,
    drafted: int | None,
    accepted: int,
    depth: int | None,
    histogram: dict[int, int] | None,
    by_depth: dict[int, dict[int, int]] | None = None,
    engine: str = "",
) -> Counters | None:
    """The window of one record; None where strict=False leaves a contradictory one out."""
    notes: list[str] = []
    draftless = 0
    if by_depth is not None:
        # Steps whose draft was emptied before the check are steps without a draft.
        draftless = sum(by_depth.pop(0, {}).values())
        if draftless and histogram is not None:
            histogram = dict(histogram)
            histogram[0] = histogram.get(0, 0) - draftless
    drafts = steps - draftless
    if depth is None:
        depth = reading.depth
    else:
        reading.require_depth(record.line, depth)
    if depth is None:
        depth = _depth_of(by_depth, drafted, drafts)
        if depth is None:
            raise reading.error(
                record.line,
                "the record does not say how many tokens were drafted at most; give depth=",
            )
        notes.append(f"K = {depth} is the longest draft seen, no limit is given")
    if depth > MOST_DEPTH:
        reading.problem(record.line, f"K = {depth} is no length of a draft")
        return None
    if drafted is None:
        drafted = depth * drafts
        notes.append(f"drafted tokens not given, taken as K·D = {drafted}")
    try:
        return Counters(
            drafts=drafts,
            draft_tokens=drafted,
            accepted=accepted,
            accepted_per_position=None if histogram is None else positions_of(histogram, depth),
            depth=depth,
            draftless=draftless,
            generated=record.generated,
            histogram=histogram,
            histogram_by_depth=by_depth,
            engine=engine,
            model=record.model,
            source=reading.source,
            line=record.line,
            format=kind.value,
            notes=(*notes, *reading.notes()),
        )
    except InvalidInputError as error:
        reading.problem(record.line, _reason(error))
        return None


def _depth_of(
    by_depth: dict[int, dict[int, int]] | None, drafted: int | None, drafts: int
) -> int | None:
    if by_depth:
        return max(by_depth)
    if drafted is not None and drafts and drafted % drafts == 0:
        return drafted // drafts
    return None


def _reason(error: Exception) -> str:
    return str(error).removeprefix("counters must agree with each other: ")
