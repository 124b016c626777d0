"""Which format a text is in, from the words only that format has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ensctl.drafting.counters import Counters
from ensctl.drafting.engines import (
    aiperf,
    llama_cpp,
    mlc,
    sglang,
    streaming_table,
    tensorrt_llm,
    vllm_log,
    vllm_prometheus,
    vllm_request,
    vllm_v0,
)
from ensctl.drafting.engines.identities import CounterFormat
from ensctl.drafting.engines.reading import Block, Reading

_HEAD = 1 << 14

Reader = Callable[[Iterable[Block], Reading], Iterator[Counters]]

READERS: dict[CounterFormat, Reader] = {
    CounterFormat.VLLM_LOG: vllm_log.windows,
    CounterFormat.VLLM_PROMETHEUS: vllm_prometheus.windows,
    CounterFormat.VLLM_REQUEST: vllm_request.windows,
    CounterFormat.VLLM_V0: vllm_v0.windows,
    CounterFormat.SGLANG: sglang.windows,
    CounterFormat.LLAMA_CPP: llama_cpp.windows,
    CounterFormat.TENSORRT_LLM: tensorrt_llm.windows,
    CounterFormat.AIPERF: aiperf.windows,
    CounterFormat.MLC: mlc.windows,
    CounterFormat.STREAMING_TABLE: streaming_table.windows,
}

# V0 lines also begin like the first V1 lines, so the more particular come first.
_MARKERS: tuple[tuple[CounterFormat, tuple[bytes, ...]], ...] = (
    (CounterFormat.VLLM_V0, vllm_v0.MARKERS),
    (CounterFormat.VLLM_LOG, vllm_log.MARKERS),
    (CounterFormat.VLLM_PROMETHEUS, vllm_prometheus.MARKERS),
    (CounterFormat.AIPERF, aiperf.MARKERS),
    (CounterFormat.TENSORRT_LLM, tensorrt_llm.MARKERS),
    (CounterFormat.SGLANG, sglang.MARKERS),
    (CounterFormat.LLAMA_CPP, llama_cpp.MARKERS),
    (CounterFormat.MLC, mlc.MARKERS),
    (CounterFormat.VLLM_REQUEST, vllm_request.MARKERS),
    (CounterFormat.STREAMING_TABLE, streaming_table.MARKERS),
)


def detected(block: Block) -> CounterFormat | None:
    """The format whose words come first in the block; None where it has none of them."""
    if block.first_line == 1 and streaming_table.is_table(block.data):
        return CounterFormat.STREAMING_TABLE
    # Most sources show in their first lines what they are; looking there first is quicker.
    for data in (block.data[:_HEAD], block.data):
        found = [
            (data.rfind(b"\n", 0, at) + 1, order, kind)
            for order, (kind, markers) in enumerate(_MARKERS)
            for marker in markers
            if (at := data.find(marker)) >= 0
        ]
        if found:
            return min(found)[2]
    return None
