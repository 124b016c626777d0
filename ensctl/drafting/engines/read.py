"""Reading counters: the format is detected, every window is checked, nothing is guessed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

from ensctl.arguments import as_count, as_scalar
from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.detection import READERS, detected
from ensctl.drafting.engines.identities import CounterFormat
from ensctl.drafting.engines.reading import Block, Reading, blocks, resumed
from ensctl.errors import FormatError, InvalidInputError

Source = str | bytes | os.PathLike[str] | IO[bytes] | IO[str] | Iterable[str] | Iterable[bytes]

_AUTO = "auto"
_SWITCHED_OFF = "was speculative decoding on, and were its statistics printed"


def read_counters(
    source: Source,
    format: str | CounterFormat = _AUTO,
    *,
    depth: int | None = None,
    drafts: float | None = None,
    strict: bool = True,
) -> list[Counters]:
    """Read the drafting counters of an engine: one :class:`Counters` per window.

    A window is a metrics line of a log, a request, a row of a benchmark table, or the difference
    of two successive scrapes of Prometheus counters (a lone scrape is one window since the start
    of the engine).  Windows of several engines, processes and models keep their names.

    Parameters
    ----------
    source : path, str, bytes, open file or iterable of lines
        What to read.  A str is a text where it has a line break or begins with ``{`` or ``[``,
        and a path otherwise.  Files compressed by gzip are decompressed, which a note says.
    format : str or CounterFormat
        "auto" to detect it, or one of "vllm-log", "vllm-prometheus", "vllm-request", "vllm-v0",
        "sglang", "llama.cpp", "tensorrt-llm", "aiperf", "mlc", "streaming-table".
    depth : int, optional
        K ≥ 1, for formats that do not print it (first vLLM V1 logs, gauges and decode lines of
        SGLang, older llama.cpp).  Elsewhere another K than the printed one is an error; tables
        keep the K of their rows.
    drafts : float, optional
        Number of drafted steps behind each window, > 0, for formats that print none (gauges and
        decode lines of SGLang).
    strict : bool
        Whether a line that contradicts itself, or is cut off, is an error.  Otherwise it is left
        out, or read as far as it goes, and a note of the next window says so.

    Returns
    -------
    list of Counters
        In the order of the source, at least one.

    Raises
    ------
    FormatError
        Nothing to read, a binary file, an unknown or wrong format, K missing, a counter that is
        NaN, or (``strict``) a line whose numbers do not agree; it names the line.

    Notes
    -----
    Every identity is checked within the rounding of the print: mean acceptance length
    = 1 + A/D = 1 + Σ P_j/D, rate = A/T, T ≤ K·D, P_j non-increasing, ΣP_j = A.  vLLM logs are
    read at 50 MB/s or more per core.

    Examples
    --------
    >>> from ensctl.drafting import read_counters
    >>> line = (
    ...     "INFO 07-07 08:19:12 [metrics.py:120] SpecDecoding metrics: Mean acceptance length: "
    ...     "2.50, Accepted throughput: 15.00 tokens/s, Drafted throughput: 30.00 tokens/s, "
    ...     "Accepted: 150 tokens, Drafted: 300 tokens, Per-position acceptance rate: "
    ...     "0.800, 0.500, 0.200, Avg Draft acceptance rate: 50.0%"
    ... )
    >>> [window] = read_counters([line])
    >>> window.drafts, window.accepted_per_position
    (100, (80, 50, 20))
    """
    return list(iter_counters(source, format, depth=depth, drafts=drafts, strict=strict))


def iter_counters(
    source: Source,
    format: str | CounterFormat = _AUTO,
    *,
    depth: int | None = None,
    drafts: float | None = None,
    strict: bool = True,
) -> Iterator[Counters]:
    """Read counters window by window, in constant memory.

    The same as :func:`read_counters`, for logs that are long or still being written.

    Parameters
    ----------
    source : path, str, bytes, open file or iterable of lines
        What to read; blocks of whole lines are held, never all of it.
    format : str or CounterFormat
        "auto" or the name of a format.
    depth : int, optional
        K ≥ 1 where the format does not print it.
    drafts : float, optional
        Drafted steps behind each window where the format prints none.
    strict : bool
        Whether a contradictory or cut line is an error rather than a note.

    Yields
    ------
    Counters
        In the order of the source.

    Raises
    ------
    FormatError
        As :func:`read_counters`, when the line is reached.

    Examples
    --------
    >>> from ensctl.drafting import iter_counters
    >>> text = [
    ...     'vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 100',
    ...     'vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 200',
    ...     'vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="m"} 120',
    ... ]
    >>> for window in iter_counters(text):
    ...     print(window.model, window.mean_acceptance_length())
    m 2.2
    """
    kind = _as_format(format)
    reading = Reading(
        source=_name(source),
        depth=None if depth is None else as_count(depth, "depth"),
        drafts=None if drafts is None else as_scalar(drafts, "drafts", above=0.0),
        strict=bool(strict),
    )
    return _windows(_as_source(source), kind, reading)


def _windows(source: Source, kind: CounterFormat | None, reading: Reading) -> Iterator[Counters]:
    # One window is held back so that what is found behind the last one can be noted in it.
    held: Counters | None = None
    found, pieces = _begin(source, kind, reading)
    try:
        for window in READERS[found](pieces, reading):
            if held is not None:
                yield held
            held = window
    except FormatError as error:
        if kind is None or reading.seen in (None, kind):
            raise
        raise reading.error(
            error.line, f"not read as {kind.value}{_looks_like(reading)}"
        ) from error
    if held is None:
        raise _nothing(found, kind, reading)
    if reading.pending:
        held = replace(held, notes=(*held.notes, *reading.notes()))
    yield held


def _begin(
    source: Source, kind: CounterFormat | None, reading: Reading
) -> tuple[CounterFormat, Iterator[Block]]:
    """The format and the blocks from the first that shows it."""
    pieces = blocks(source, reading)
    if kind is not None:
        return kind, _watched(pieces, reading)
    opening: list[Block] = []
    for block in pieces:
        found = detected(block)
        if found is not None:
            return found, resumed([*opening, block], pieces)
        # A document over several blocks begins in the first; a log needs no block before.
        if opening or (block.first_line == 1 and block.data.lstrip()[:1] in (b"{", b"[")):
            opening.append(block)
    if not reading.lines:
        raise reading.error(None, "there is nothing to read; give the log or metrics of an engine")
    raise reading.error(
        None,
        f"no drafting counters in {reading.lines} lines; {_SWITCHED_OFF}; known formats are "
        f"{_known()}",
    )


def _watched(pieces: Iterator[Block], reading: Reading) -> Iterator[Block]:
    """The blocks, remembering which format the first telling one is in."""
    for block in pieces:
        if reading.seen is None:
            reading.seen = detected(block)
        yield block


def _nothing(found: CounterFormat, kind: CounterFormat | None, reading: Reading) -> FormatError:
    if reading.pending:
        return reading.error(None, f"no window could be read; {reading.pending[0]}")
    if not reading.lines:
        return reading.error(None, "there is nothing to read; give the log or metrics of an engine")
    wrong = kind is not None and reading.seen not in (None, kind)
    hint = _looks_like(reading) if wrong else f"; {_SWITCHED_OFF}"
    return reading.error(
        reading.lines, f"no window of format {found.value} in {reading.lines} lines{hint}"
    )


def _looks_like(reading: Reading) -> str:
    seen = "" if reading.seen is None else reading.seen.value
    return f"; the text looks like {seen}, so leave format to 'auto'"


def _as_format(format: str | CounterFormat) -> CounterFormat | None:
    if isinstance(format, CounterFormat):
        return format
    try:
        if isinstance(format, str) and format == _AUTO:
            return None
        return CounterFormat(format)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"format must be 'auto' or one of {_known()}, got {format!r}"
        ) from None


def _known() -> str:
    return ", ".join(kind.value for kind in CounterFormat)


def _is_text(source: str) -> bool:
    return "\n" in source or source.lstrip()[:1] in ("{", "[")


def _as_source(source: Source) -> Source:
    if isinstance(source, str) and not _is_text(source):
        if not source:
            raise InvalidInputError("source must be a path or a text, got ''; give a file")
        return Path(source)
    if not isinstance(source, str | bytes | bytearray | os.PathLike) and not hasattr(
        source, "__iter__"
    ):
        raise InvalidInputError(
            f"source must be a path, text, file or lines, got {type(source).__name__}"
        )
    return source


def _name(source: Source) -> str:
    if isinstance(source, os.PathLike):
        return os.fspath(source)
    if isinstance(source, str) and not _is_text(source):
        return source
    named = getattr(source, "name", "")
    return named if isinstance(named, str) else ""
