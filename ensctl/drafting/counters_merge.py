"""Adding the counts of several windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ensctl.drafting.counters import Counters, Histogram
from ensctl.errors import InvalidInputError


def merged(windows: Sequence[Counters]) -> Counters:
    """One window with the counts of all ``windows``; what one of them lacks is left out.

    Raises
    ------
    InvalidInputError
        Something in ``windows`` is not a :class:`~ensctl.drafting.counters.Counters`.
    """
    for window in windows:
        if not isinstance(window, Counters):
            raise InvalidInputError(
                f"others must be Counters, got {type(window).__name__}; read them with "
                f"read_counters"
            )
    if len(windows) == 1:
        return windows[0]
    depths = {window.depth for window in windows if window.drafts}
    known = [depth for depth in depths if depth is not None]
    notes = list(dict.fromkeys(note for window in windows for note in window.notes))
    # A window without drafts says nothing about depths, positions or histograms.
    telling = [window for window in windows if window.drafts] or list(windows[:1])
    if len(depths) > 1:
        notes.append("windows of different depths were merged")
    starts = [window.start for window in windows if window.start is not None]
    ends = [window.end for window in windows if window.end is not None]
    return Counters(
        drafts=sum(window.drafts for window in windows),
        draft_tokens=sum(window.draft_tokens for window in windows),
        accepted=sum(window.accepted for window in windows),
        accepted_per_position=_positions(telling),
        depth=max(known) if known and len(known) == len(depths) else None,
        draftless=sum(window.draftless for window in windows),
        generated=_total([window.generated for window in windows]),
        histogram=_histogram([window.histogram for window in telling]),
        histogram_by_depth=_histogram_by_depth(telling),
        engine=_shared(windows, lambda window: window.engine),
        model=_shared(windows, lambda window: window.model),
        source=_shared(windows, lambda window: window.source),
        line=windows[0].line,
        start=min(starts) if len(starts) == len(windows) else None,
        end=max(ends) if len(ends) == len(windows) else None,
        format=_shared(windows, lambda window: window.format),
        notes=tuple(notes),
    )


def _shared(windows: Sequence[Counters], read: Callable[[Counters], str]) -> str:
    values = dict.fromkeys(read(window) for window in windows)
    return next(iter(values)) if len(values) == 1 else "several"


def _total(values: Sequence[float | None]) -> float | None:
    given = [value for value in values if value is not None]
    return sum(given) if len(given) == len(values) else None


def _positions(windows: Sequence[Counters]) -> tuple[float, ...] | None:
    rows = [window.accepted_per_position for window in windows]
    given = [row for row in rows if row is not None]
    if len(given) < len(rows):
        return None
    longest = max(len(row) for row in given)
    return tuple(sum(row[j] for row in given if j < len(row)) for j in range(longest))


def _histogram(tables: Sequence[Histogram | None]) -> Histogram | None:
    total: dict[int, float] = {}
    for table in tables:
        if table is None:
            return None
        for accepted, count in table.items():
            total[accepted] = total.get(accepted, 0) + count
    return dict(sorted(total.items()))


def _histogram_by_depth(windows: Sequence[Counters]) -> dict[int, Histogram] | None:
    rows: dict[int, list[Histogram]] = {}
    for window in windows:
        table = window.histogram_by_depth
        if table is None and window.constant_depth and window.depth is not None:
            table = None if window.histogram is None else {window.depth: window.histogram}
        if table is None:
            return None
        for depth, histogram in table.items():
            rows.setdefault(depth, []).append(histogram)
    return {depth: _histogram(rows[depth]) or {} for depth in sorted(rows)}
