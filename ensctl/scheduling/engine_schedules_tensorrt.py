"""Depth by batch as TensorRT-LLM's ``draft_len_schedule``, whose keys changed their meaning.

In releases before public pull request #10860 a key is the least batch of its entry, the keys must
contain 1, and the entry at 1 must be ``max_draft_len``.  Since then a key is the greatest batch of
its entry, the entry at the least key must be ``max_draft_len``, and batches beyond the last key
draft nothing.  A schedule written for one reading is accepted by the other and silently wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from ensctl.errors import InvalidInputError
from ensctl.scheduling.engine_schedules import DepthRange, deepest

_RELEASE = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(.*)")


class KeyReading(Enum):
    """What a key of ``draft_len_schedule`` means."""

    LOWER_BOUNDS = "lower-bounds"
    UPPER_BOUNDS = "upper-bounds"


def tensorrt_llm_config(ranges: Sequence[DepthRange], version: str) -> str:
    """YAML text with ``max_draft_len`` and ``draft_len_schedule`` as this release reads them."""
    reading = key_reading(version)
    greatest = deepest(ranges)
    if ranges[0].depth != greatest:
        raise InvalidInputError(
            f"plan must be deepest at the least batch for TensorRT-LLM, got {ranges[0]} and K = "
            f"{greatest} later; plan with monotone=True and more noise, or for fewer depths"
        )
    if reading is KeyReading.LOWER_BOUNDS:
        entries = [(part.first, part.depth) for part in ranges]
        said = "keys are the least batch of each entry (before PR #10860)"
    else:
        kept = list(ranges)
        while kept[-1].depth == 0:
            kept.pop()
        entries = [(part.last, part.depth) for part in kept]
        said = (
            "keys are the greatest batch of each entry (since PR #10860); beyond "
            f"{entries[-1][0]} nothing is drafted"
        )
    schedule = ", ".join(f"{batch}: {depth}" for batch, depth in entries)
    return (
        f"# draft_len_schedule: {said}\n"
        "speculative_config:\n"
        f"  max_draft_len: {greatest}\n"
        f"  draft_len_schedule: {{{schedule}}}\n"
    )


def key_reading(version: str) -> KeyReading:
    """What keys mean in a release, "1.2" or "1.3", or as named."""
    text = str(version).strip().lower().replace("_", "-")
    for reading in KeyReading:
        if text == reading.value:
            return reading
    found = _RELEASE.fullmatch(text)
    if found is not None and found[1] == "1":
        minor, rest = int(found[2]), found[4]
        if minor == 2 and not rest:
            return KeyReading.LOWER_BOUNDS
        if minor >= 3 and not rest:
            return KeyReading.UPPER_BOUNDS
    raise InvalidInputError(
        "version must be a TensorRT-LLM release whose schedule is known (1.2: keys are lower "
        f"bounds; 1.3 or later: inclusive upper bounds), got {version!r}; for a pre-release say "
        "'lower-bounds' or 'upper-bounds'"
    )
