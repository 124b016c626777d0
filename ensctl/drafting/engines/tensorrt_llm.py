"""JSON of TensorRT-LLM: per-request histograms and per-iteration statistics.

``num_spec_tokens`` is null under a schedule of draft lengths, and iteration statistics never
carry K: there ``depth`` has to be given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.histogram_windows import histogram_of, window_of_histogram
from ensctl.drafting.engines.identities import CounterFormat
from ensctl.drafting.engines.json_records import Record, records
from ensctl.drafting.engines.reading import Block, Reading
from ensctl.drafting.engines.vllm_request import ratios_agree

MARKERS = (b'"total_accepted_draft_tokens"', b'"numRequestsWithDraftTokens"')
_REQUEST = frozenset({"total_accepted_draft_tokens", "num_spec_steps"})
_ITERATION = frozenset({"numRequestsWithDraftTokens", "numAcceptedTokens"})


def windows(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    """One window per request, or per iteration."""
    for record in records(blocks, reading, _REQUEST, _ITERATION):
        request = record.fields.keys() >= _REQUEST
        window = _of_request(record, reading) if request else _of_iteration(record, reading)
        if window is not None:
            yield window


def _of_request(record: Record, reading: Reading) -> Counters | None:
    steps = record.count("num_spec_steps", reading)
    accepted = record.count("total_accepted_draft_tokens", reading)
    drafted = record.count("total_draft_tokens", reading)
    if steps is None or accepted is None:
        return None
    if not ratios_agree(record, reading, steps, accepted, drafted):
        return None
    return window_of_histogram(
        record,
        reading,
        CounterFormat.TENSORRT_LLM,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        depth=record.count("num_spec_tokens", reading),
        histogram=histogram_of(record.fields.get("acceptance_histogram")),
    )


def _of_iteration(record: Record, reading: Reading) -> Counters | None:
    steps = record.count("numRequestsWithDraftTokens", reading)
    accepted = record.count("numAcceptedTokens", reading)
    drafted = record.count("numDraftTokens", reading)
    if steps is None or accepted is None or drafted is None:
        return None
    length = record.fields.get("acceptanceLength")
    if steps and isinstance(length, int | float):
        expected = 1.0 + accepted / steps
        if not abs(length - expected) <= 0.0051:
            reading.problem(
                record.line, f"acceptanceLength is {length:g}, but the counts give {expected:.4f}"
            )
            return None
    if reading.depth is None:
        raise reading.error(
            record.line, "iteration statistics of TensorRT-LLM do not carry K; give depth="
        )
    return window_of_histogram(
        record,
        reading,
        CounterFormat.TENSORRT_LLM,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        depth=reading.depth,
        histogram=None,
    )
