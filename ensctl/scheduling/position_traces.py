"""Requests for replays: what a verify step started at each output position would emit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_count, as_scalar, read_only
from ensctl.drafting.fitting.position_traces import read_traces
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

_MOST = 2**15 - 1


@dataclass(frozen=True, eq=False)
class PositionTraces:
    """Traces of all drafters on the same requests; made by :func:`position_traces`.

    Attributes
    ----------
    emitted : dict of str to (n,) array, read-only
        For each drafter and token of all requests in a row: accepted + 1, not cut at any depth.
    drafts : dict of str to (n,) array of bool, read-only
        Where the drafter has something to propose; only drafters that sometimes have not.
    starts : (r,) array, read-only
        First token of each request.
    lengths : (r,) array, read-only
        Tokens of each request.
    prompts : (r,) array, read-only
        Prompt tokens of each request.
    segments : tuple of (int, int)
        Runs of requests that are served one run after the other, in random order within.
    """

    emitted: dict[str, Array]
    drafts: dict[str, Array]
    starts: Array
    lengths: Array
    prompts: Array
    segments: tuple[tuple[int, int], ...]

    @property
    def drafters(self) -> tuple[str, ...]:
        """Names of the drafters."""
        return tuple(self.emitted)

    @property
    def requests(self) -> int:
        """Number of requests."""
        return int(self.starts.size)

    @property
    def tokens(self) -> int:
        """Tokens of all requests."""
        return int(self.lengths.sum())

    def __str__(self) -> str:
        return (
            f"{self.requests} requests, {self.tokens} tokens, drafters {', '.join(self.drafters)}"
        )


def position_traces(
    requests: Mapping[str, Sequence[ArrayLike]],
    *,
    prompts: ArrayLike = 0,
    unmatched: Mapping[str, float] | None = None,
    segments: Sequence[tuple[int, int]] | None = None,
    seed: int = 0,
) -> PositionTraces:
    """Traces from one list of numbers per drafter and request.

    Parameters
    ----------
    requests : mapping
        Drafter → for each request, accepted + 1 ≥ 1 at every output position.  Where drafters
        differ in length the shorter counts.
    prompts : int or array_like
        Prompt tokens, of all requests or of each.
    unmatched : mapping, optional
        For drafters that need a match to draft, the probability of drafting where nothing is
        accepted; where something is, they draft.  Other drafters always draft.
    segments : sequence of (int, int), optional
        Runs of requests (first, one past the last) to be served in this order; all together when
        not given.
    seed : int
        Of the draws for ``unmatched``.

    Returns
    -------
    PositionTraces

    Raises
    ------
    InvalidInputError
        No drafter or request, a request without a token, or not integers ≥ 1.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> traces = scheduling.position_traces({"E": [[3, 2, 1, 1], [2, 1]], "N": [[1] * 4, [1] * 2]})
    >>> print(traces)
    2 requests, 6 tokens, drafters E, N
    """
    if not isinstance(requests, Mapping) or not requests:
        raise InvalidInputError("requests must map at least one drafter to its traces")
    listed = {str(name): list(traces) for name, traces in requests.items()}
    counts = {len(traces) for traces in listed.values()}
    if len(counts) > 1 or counts == {0}:
        raise InvalidInputError(f"every drafter must have the same requests, got {sorted(counts)}")
    checked = {
        name: [_trace(trace, f"{name}, request {i}") for i, trace in enumerate(traces)]
        for name, traces in listed.items()
    }
    lengths = np.min([[trace.size for trace in traces] for traces in checked.values()], axis=0)
    emitted = {
        name: np.concatenate([trace[:n] for trace, n in zip(traces, lengths, strict=True)])
        for name, traces in checked.items()
    }
    return joined_traces(emitted, lengths, prompts, unmatched, segments, seed)


def joined_traces(
    emitted: Mapping[str, Array],
    lengths: Array,
    prompts: ArrayLike,
    unmatched: Mapping[str, float] | None,
    segments: Sequence[tuple[int, int]] | None,
    seed: int,
) -> PositionTraces:
    """Traces from arrays that hold all requests in a row."""
    count = int(lengths.size)
    kept = np.broadcast_to(as_array(prompts, "prompts", real=True), (count,)).astype(np.int64)
    if kept.min() < 0:
        raise InvalidInputError(f"prompts must be ≥ 0, got {kept.min()}")
    rng = np.random.default_rng(as_count(seed, "seed", minimum=0))
    drafts = {}
    for name, probability in (unmatched or {}).items():
        if name not in emitted:
            raise InvalidInputError(f"unmatched names {name!r}, which is no drafter")
        chance = as_scalar(probability, "unmatched", at_least=0.0, at_most=1.0)
        lucky = rng.random(emitted[name].size) < chance
        drafts[name] = read_only((emitted[name] > 1) | lucky)
    runs = tuple((int(a), int(b)) for a, b in segments) if segments else ((0, count),)
    if [run[0] for run in runs] != [0, *(run[1] for run in runs[:-1])] or runs[-1][1] != count:
        raise InvalidInputError(f"segments must follow each other from 0 to {count}, got {runs}")
    return PositionTraces(
        {name: read_only(array.astype(np.int16)) for name, array in emitted.items()},
        drafts,
        read_only(np.cumsum(lengths) - lengths),
        read_only(lengths.astype(np.int64)),
        read_only(kept),
        runs,
    )


def read_position_traces(
    path: str | Path, *, unmatched: Mapping[str, float] | None = None, seed: int = 0
) -> PositionTraces:
    """Traces from a file of JSON lines with ``acc_<drafter>`` and, if known, ``prompt_len``.

    Parameters
    ----------
    path : str or path
        The file; one request a line.
    unmatched : mapping, optional
        As for :func:`position_traces`; an n-gram drafter drafts at about .3 of such positions.
    seed : int
        Of the draws for ``unmatched``.

    Returns
    -------
    PositionTraces

    Raises
    ------
    FormatError
        Not such a file; the line is named.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ensctl import scheduling
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "traces.jsonl")
    >>> _ = file.write_text('{"prompt_len": 9, "acc_E": [2, 1, 1], "acc_N": [1, 1]}')
    >>> scheduling.read_position_traces(file).lengths
    array([2])
    >>> folder.cleanup()
    """
    requests = read_traces(path)
    # Every line has been read as JSON before.
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    contents = [json.loads(line) for line in lines if line.strip()]
    prompts = [content.get("prompt_len") for content in contents]
    known = [number for number in prompts if isinstance(number, int) and number >= 0]
    usual = round(sum(known) / len(known)) if known else 0
    filled = [number if number in known else usual for number in prompts]
    return position_traces(requests, prompts=filled, unmatched=unmatched, seed=seed)


def _trace(value: ArrayLike, name: str) -> Array:
    array = as_array(value, name, real=True)
    if array.ndim != 1 or array.size == 0:
        raise InvalidInputError(
            f"{name} must be a list of at least one number, got shape {array.shape}; leave out "
            "requests without a token"
        )
    if np.any(array < 1) or np.any(array != np.floor(array)) or np.any(array > _MOST):
        raise InvalidInputError(f"{name} must hold integers from 1 to {_MOST}: accepted + 1")
    return array.astype(np.int16)
