"""Windows from the Prometheus counters of vLLM V1, and of engines that took over its schema.

D = num_drafts, T = num_draft_tokens, A = num_accepted_tokens and P_j = …_per_pos{position="j"},
with or without ``_total``; each is exact, so ΣP_j = A must hold exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.identities import CounterFormat
from ensctl.drafting.engines.prometheus import Change, changes, snapshots
from ensctl.drafting.engines.reading import Block, Reading
from ensctl.errors import InvalidInputError

MARKERS = (b"vllm:spec_decode_num_drafts",)

_DRAFTS, _DRAFTED, _ACCEPTED, _POSITIONS = "drafts", "draft_tokens", "accepted", "accepted_per_pos"
_GENERATED = "generated"
_COUNTERS = frozenset({_DRAFTS, _DRAFTED, _ACCEPTED, _POSITIONS, _GENERATED})
_SCHEMA = {
    "spec_decode_num_drafts": _DRAFTS,
    "spec_decode_num_draft_tokens": _DRAFTED,
    "spec_decode_num_accepted_tokens": _ACCEPTED,
    "spec_decode_num_accepted_tokens_per_pos": _POSITIONS,
}


def windows(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    """One window per pair of scrapes and engine; one since the start for a lone scrape."""
    metrics = {f"vllm:{name}": short for name, short in _SCHEMA.items()}
    metrics["vllm:generation_tokens"] = _GENERATED
    yield from windows_of_schema(blocks, reading, metrics, CounterFormat.VLLM_PROMETHEUS)


def schema(prefix: str, generated: str) -> dict[str, str]:
    """Printed names of the counters under another prefix."""
    named = {f"{prefix}{name}": short for name, short in _SCHEMA.items()}
    return {**named, f"{prefix}{generated}": _GENERATED}


def windows_of_schema(
    blocks: Iterable[Block], reading: Reading, metrics: Mapping[str, str], kind: CounterFormat
) -> Iterator[Counters]:
    """Windows of counters printed under the names ``metrics``."""
    for change in changes(snapshots(blocks, reading, metrics), _COUNTERS, reading):
        window = _window(change, reading, kind)
        if window is not None:
            yield window


def _window(change: Change, reading: Reading, kind: CounterFormat) -> Counters | None:
    latest, values = change.latest, change.values
    drafts, drafted, accepted = (
        values.get((name, None)) for name in (_DRAFTS, _DRAFTED, _ACCEPTED)
    )
    missing = [
        name
        for name, value in ((_DRAFTS, drafts), (_DRAFTED, drafted), (_ACCEPTED, accepted))
        if value is None
    ]
    if drafts is None or drafted is None or accepted is None:
        if len(missing) < 3:
            reading.problem(latest.line, f"the scrape has no counter of {', '.join(missing)}")
        return None
    places = sorted(
        position for name, position in values if name == _POSITIONS and position is not None
    )
    notes = list(change.notes)
    positions = None
    depth = reading.depth
    if places:
        if places != list(range(len(places))):
            reading.problem(latest.line, f"positions {places} are not 0 … {len(places) - 1}")
            return None
        positions = tuple(_whole(values[_POSITIONS, j]) for j in places)
        depth = len(places)
        reading.require_depth(latest.line, depth)
    elif depth is None and drafts and drafted % drafts == 0:
        depth = int(drafted // drafts)
        notes.append(f"K = {depth} is the mean draft, no positions are printed")
    if not drafts:
        notes.append("no step drafted in this window")
    generated = values.get((_GENERATED, None))
    try:
        return Counters(
            drafts=_whole(drafts),
            draft_tokens=_whole(drafted),
            accepted=_whole(accepted),
            accepted_per_position=positions,
            depth=depth,
            generated=None if generated is None else _whole(generated),
            engine=latest.engine(),
            model=latest.label("model_name"),
            source=reading.source,
            line=latest.line,
            start=change.start,
            end=latest.time,
            format=kind.value,
            notes=(*notes, *reading.notes()),
        )
    except InvalidInputError as error:
        reading.problem(latest.line, str(error).partition(": ")[2])
        return None


def _whole(value: float) -> float:
    return int(value) if value.is_integer() else value
