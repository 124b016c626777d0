"""Windows from streaming benchmarks: mean ITL over mean TPOT needs no counters of the engine.

A server streams one chunk per verify cycle, so the mean inter-chunk latency (ITL) is the cycle
time and ITL/TPOT the mean number of tokens per cycle, bonus included.  With n tokens streamed
behind the first of each request, D = n·TPOT/ITL cycles and A = n − D.  Rows without drafts have
depth 0 and give steps without a draft.  A run that stalled has its ratio all the same; whether its
times can be used is for who fits costs to say.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.identities import MOST_COUNT, MOST_DEPTH, CounterFormat
from ensctl.drafting.engines.json_records import records
from ensctl.drafting.engines.reading import Block, Reading, resumed

MARKERS = (b'"mean_itl_ms"',)

_ITL = ("mean_itl_ms", "mean_itl", "itl_mean", "itl_ms", "itl")
_TPOT = ("mean_tpot_ms", "mean_tpot", "tpot_mean", "tpot_ms", "tpot")
_DEPTH = ("k", "num_speculative_tokens", "num_spec_tokens", "spec_tokens", "depth")
_TOKENS = ("total_output_tokens", "total_output", "out_tok", "output_tokens")
_REQUESTS = ("completed", "num_prompts", "requests", "successful_requests")
_MODEL = ("model", "model_id", "model_name")
_LABELS = ("round", "method", "task", "dataset", "conc", "concurrency", "max_concurrency")

# The ratio of two means is not a mean of ratios; beyond this share it is not that of a stream.
_SLACK = 0.02
_WEIGHTLESS = "counts are of one mean step: the table has no number of output tokens"


def is_table(head: bytes) -> bool:
    """Whether the first line names a mean ITL and a mean TPOT column."""
    names = _names(head[: head.find(b"\n")].decode("utf-8", "replace"))
    return _column(names, _ITL) is not None and _column(names, _TPOT) is not None


def windows(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    """One window per row of a CSV table, or per JSON result."""
    iterator = iter(blocks)
    first = next(iterator, None)
    if first is None:
        return
    rest = resumed([first], iterator)
    if first.data.lstrip().startswith((b"{", b"[")):
        for record in records(rest, reading, frozenset({"mean_itl_ms", "mean_tpot_ms"})):
            row = {str(key).lower(): str(value) for key, value in record.fields.items()}
            window = _window(row, record.line, reading)
            if window is not None:
                yield window
        return
    header: list[str] | None = None
    for block in rest:
        for line, raw in block.lines():
            text = raw.decode("utf-8", "replace")
            if not text.strip():
                continue
            if header is None:
                header = _names(text)
                _require_columns(header, line, reading)
                continue
            try:
                cells = next(csv.reader(io.StringIO(text)))
            except csv.Error as error:
                reading.problem(line, f"the row cannot be read: {error}")
                continue
            if len(cells) != len(header):
                reading.problem(line, f"{len(cells)} cells in a table of {len(header)} columns")
                continue
            window = _window(dict(zip(header, cells, strict=True)), line, reading)
            if window is not None:
                yield window


def _names(line: str) -> list[str]:
    try:
        cells = next(csv.reader([line.lstrip("\ufeff").rstrip("\r")]), [])
    except csv.Error:
        return []
    return [name.strip().lower().replace(" ", "_") for name in cells]


def _column(names: Iterable[str], wanted: tuple[str, ...]) -> str | None:
    present = set(names)
    return next((name for name in wanted if name in present), None)


def _require_columns(header: list[str], line: int, reading: Reading) -> None:
    for wanted, what in ((_ITL, "mean ITL"), (_TPOT, "mean TPOT")):
        if _column(header, wanted) is None:
            raise reading.error(
                line, f"the table has no {what} column ({wanted[0]}); its columns are {header}"
            )


def _window(row: Mapping[str, str], line: int, reading: Reading) -> Counters | None:
    itl, tpot = _number(row, _ITL), _number(row, _TPOT)
    if itl is None or tpot is None or not (0 < itl < float("inf") and 0 < tpot < float("inf")):
        reading.problem(line, f"ITL and TPOT must be positive, got {itl} and {tpot}")
        return None
    depth = _depth(row, line, reading)
    tokens, requests = _number(row, _TOKENS), _number(row, _REQUESTS)
    for name, number in (("output tokens", tokens), ("requests", requests)):
        if number is not None and not 0 <= number < MOST_COUNT:
            reading.problem(line, f"the number of {name} must be ≥ 0, got {number:g}")
            return None
    streamed = None if tokens is None else max(tokens - (requests or 0.0), 0.0)
    model = row.get(_column(row, _MODEL) or "", "")
    named = [f"{name} {row[name]}" for name in _LABELS if row.get(name)]
    notes: list[str] = []
    length = itl / tpot
    if not depth:
        # Without drafts the two means differ by their weights only.
        length = 1.0
    if not (1.0 - _SLACK) <= length <= (depth + 1) * (1.0 + _SLACK):
        reading.problem(
            line,
            f"ITL/TPOT = {itl:g}/{tpot:g} = {length:.3f} tokens per cycle is not between 1 and "
            f"K + 1 = {depth + 1}",
        )
        return None
    if not 1.0 <= length <= depth + 1:
        notes.append(f"ITL/TPOT = {length:.4f} was cut to 1 … {depth + 1}")
    length = min(max(length, 1.0), depth + 1.0)
    if streamed is None:
        notes.append(_WEIGHTLESS)
    steps = 1.0 if streamed is None else streamed / length
    drafts = steps if depth else 0.0
    return Counters(
        drafts=drafts,
        draft_tokens=depth * drafts,
        accepted=min((length - 1.0) * drafts, depth * drafts),
        depth=depth,
        draftless=0.0 if depth else steps,
        generated=streamed,
        engine=", ".join(named),
        model=model,
        source=reading.source,
        line=line,
        format=CounterFormat.STREAMING_TABLE.value,
        notes=(*notes, *reading.notes()),
    )


def _depth(row: Mapping[str, str], line: int, reading: Reading) -> int:
    column = _column(row, _DEPTH)
    given = _number(row, _DEPTH)
    if row.get("method", "").strip().lower() in ("vanilla", "none", "off", "baseline"):
        return 0
    if column is None or given is None:
        if reading.depth is None:
            raise reading.error(line, "the table has no column of K (num_speculative_tokens); "
                                "give depth=")  # fmt: skip
        return reading.depth
    # Tables mark runs without speculation by 0 or -1.
    if not (-MOST_DEPTH < given < MOST_DEPTH and given.is_integer()):
        raise reading.error(line, f"K must be a whole number of tokens, got {given:g}")
    return max(int(given), 0)


def _number(row: Mapping[str, str], wanted: tuple[str, ...]) -> float | None:
    column = _column(row, wanted)
    if column is None:
        return None
    try:
        return float(row[column])
    except ValueError:
        return None
