"""Position traces: what a verify step started at each output position would emit, and replays.

A trace measured once without truncation can be replayed at every depth: start at position 0, emit
x = min(trace[p], K + 1) tokens, go on at p + x.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import Array, as_array, read_only
from ensctl.drafting.convention import as_depth
from ensctl.drafting.counters import Counters
from ensctl.drafting.fitting.traces import CycleTraces
from ensctl.errors import FormatError, InvalidInputError

_PREFIX = "acc_"


def read_traces(path: str | Path) -> dict[str, tuple[Array, ...]]:
    """Read position traces from a file of JSON lines, one request each.

    Every field ``acc_<drafter>`` is a list with, for each output position p, the tokens a verify
    step started at p would emit: accepted + 1, not truncated in K.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        Drafter → one read-only int64 array per request.  Every request has every drafter.

    Raises
    ------
    FormatError
        Not readable, not JSON, no such field, or not integers ≥ 1; the line is named.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "traces.jsonl")
    >>> _ = file.write_text('{"id": "a", "acc_ngram": [1, 3, 2, 1]}')
    >>> read_traces(file)["ngram"]
    (array([1, 3, 2, 1]),)
    >>> folder.cleanup()
    """
    name = str(path)
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, TypeError) as error:
        raise FormatError(f"cannot be read: {error}", path=name) from None
    except UnicodeDecodeError:
        raise FormatError("is not text; unpack it and give JSON lines", path=name) from None
    found: dict[str, list[Array]] = {}
    drafters: set[str] | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        request = _request(line, name, number)
        if drafters is None:
            drafters = set(request)
        if set(request) != drafters:
            raise FormatError(
                f"every request must have the drafters {sorted(drafters)}, got {sorted(request)}",
                path=name,
                line=number,
            )
        for drafter, trace in request.items():
            found.setdefault(drafter, []).append(trace)
    if not found:
        raise FormatError("no request; expected JSON lines with acc_<drafter>", path=name)
    return {drafter: tuple(traces) for drafter, traces in found.items()}


def replay_cycles(acc: ArrayLike | Sequence[ArrayLike], depth: int) -> CycleTraces:
    """Replay a fixed depth K on position traces, cycle by cycle.

    Parameters
    ----------
    acc : array_like or sequence of array_like
        Tokens a step started at each position would emit (accepted + 1 ≥ 1), of one request or of
        several.
    depth : int
        K ≥ 1.

    Returns
    -------
    CycleTraces
        Accepted counts of every cycle, request after request.

    Raises
    ------
    InvalidInputError
        A trace is empty or not integers ≥ 1, or K < 1.

    Notes
    -----
    All requests advance together: the cost is that of the longest request in array operations of
    the number of requests.

    Examples
    --------
    >>> from ensctl.drafting import replay_cycles
    >>> replay_cycles([3, 2, 1, 5, 4, 3, 2, 1], 2).accepted
    array([2, 2, 1])
    """
    units = as_depth(depth, minimum=1)
    traces = _as_traces(acc)
    ends = np.cumsum([trace.size for trace in traces])
    emitted = np.minimum(np.concatenate(traces), units + 1)
    position = ends - [trace.size for trace in traces]
    running = np.arange(len(traces))
    rounds: list[tuple[Array, Array]] = []
    while running.size:
        step = emitted[position]
        rounds.append((running, step - 1))
        position = position + step
        going = position < ends[running]
        running, position = running[going], position[going]
    request = np.concatenate([part for part, _ in rounds])
    # A stable sort puts the rounds of a request together and keeps their order.
    order = np.argsort(request, kind="stable")
    accepted = np.concatenate([part for _, part in rounds])[order]
    starts = np.searchsorted(request[order], np.arange(len(traces)))
    return CycleTraces(accepted, np.full(accepted.size, units), starts)


def replay_depth(acc: ArrayLike | Sequence[ArrayLike], depth: int) -> Counters:
    """Counters of a replay at a fixed depth K on position traces.

    E[with bonus] = tokens/steps = 1 + A/D of these counters.

    Parameters
    ----------
    acc : array_like or sequence of array_like
        Tokens a step started at each position would emit (accepted + 1 ≥ 1), of one request or of
        several.
    depth : int
        K ≥ 1.

    Returns
    -------
    Counters
        Drafts, accepted tokens, positions and histogram of all requests together.

    Raises
    ------
    InvalidInputError
        A trace is empty or not integers ≥ 1, or K < 1.

    Examples
    --------
    >>> from ensctl.drafting import replay_depth
    >>> window = replay_depth([3, 2, 1, 5, 4, 3, 2, 1], 2)
    >>> window.drafts, window.accepted, window.accepted_per_position
    (3, 5, (3, 2))
    """
    return replay_cycles(acc, depth).counters()


def _as_traces(acc: Any) -> list[Array]:
    nested = isinstance(acc, list | tuple) and len(acc) > 0 and np.ndim(acc[0]) > 0
    traces = []
    for trace in acc if nested else [acc]:
        array = as_array(trace, "acc", real=True)
        if array.ndim != 1 or array.size == 0:
            raise InvalidInputError(
                f"acc must be one non-empty list of numbers per request, got shape {array.shape}"
            )
        if np.any(array < 1) or np.any(array != np.floor(array)) or np.any(array > 1e9):
            raise InvalidInputError("acc must hold integers ≥ 1: accepted tokens plus one")
        traces.append(array.astype(np.int64))
    return traces


def _request(line: str, path: str, number: int) -> dict[str, Array]:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}", path=path, line=number) from None
    fields = content if isinstance(content, Mapping) else {}
    named = {key: value for key, value in fields.items() if key.startswith(_PREFIX)}
    if not named:
        raise FormatError(f"no field {_PREFIX}<drafter>", path=path, line=number)
    traces = {}
    for key, value in named.items():
        try:
            (trace,) = _as_traces(np.asarray(value))
        except (InvalidInputError, ValueError) as error:
            raise FormatError(f"{key}: {error}", path=path, line=number) from None
        traces[key.removeprefix(_PREFIX)] = read_only(trace)
    return traces
