"""Records of AIPerf: one neutral acceptance record per request, whichever engine served it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines.identities import CounterFormat
from ensctl.drafting.engines.json_records import records
from ensctl.drafting.engines.reading import Block, Reading
from ensctl.drafting.engines.vllm_request import NEEDED, window_of_request

MARKERS = (b'"spec_decode_acceptance"',)


def windows(blocks: Iterable[Block], reading: Reading) -> Iterator[Counters]:
    """One window per request; requests without a record are passed over."""
    for record in records(blocks, reading, NEEDED):
        engine = record.fields.get("engine")
        window = window_of_request(
            record, reading, CounterFormat.AIPERF, engine if isinstance(engine, str) else ""
        )
        if window is not None:
            yield window
