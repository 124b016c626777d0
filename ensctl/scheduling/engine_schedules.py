"""Depth by batch in the configuration text of vLLM and of SGLang.

vLLM: ``--speculative-config`` takes ``num_speculative_tokens`` and
``num_speculative_tokens_per_batch_size``, a list of inclusive ranges [first, last, K] that starts
at batch 1, without overlap, K ≤ num_speculative_tokens.  A batch beyond the last range keeps its
K.  The batch is the number of scheduled requests, those still prefilling included.

SGLang: ``--speculative-adaptive-config`` takes an object whose keys are least batches of tiers,
each with ``candidate_steps``.  Between candidates SGLang goes by a moving average of accepted
lengths, which knows no cost, so a planned tier has one candidate and is fixed.  A batch is padded
to the next captured CUDA-graph size before its tier is looked up, so that a tier can begin up to
one such size early.  ``--speculative-num-steps`` has to be one of the candidates.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from ensctl.errors import InvalidInputError


class DepthRange(NamedTuple):
    """Batches in a row that share a depth.

    Parameters
    ----------
    first, last : int
        Least and greatest batch, both included.
    depth : int
        K; 0 is off.

    Examples
    --------
    >>> from ensctl.scheduling import DepthRange
    >>> print(DepthRange(1, 16, 3))
    batch 1–16: K = 3
    """

    first: int
    last: int
    depth: int

    def __str__(self) -> str:
        what = f"K = {self.depth}" if self.depth else "off"
        span = f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"
        return f"batch {span}: {what}"


def vllm_config(ranges: Sequence[DepthRange]) -> str:
    """vLLM's two keys as JSON text; they go beside method and model."""
    greatest = deepest(ranges)
    rows = ",\n    ".join(json.dumps(list(part)) for part in ranges)
    return (
        f'{{\n  "num_speculative_tokens": {greatest},\n'
        f'  "num_speculative_tokens_per_batch_size": [\n    {rows}\n  ]\n}}\n'
    )


def sglang_config(ranges: Sequence[DepthRange]) -> str:
    """SGLang's adaptive config as JSON text: a tier for each range, keyed by its least batch."""
    deepest(ranges)
    tiers = {str(part.first): {"candidate_steps": [part.depth]} for part in ranges}
    rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(tier)}" for key, tier in tiers.items())
    return f"{{\n{rows}\n}}\n"


def deepest(ranges: Sequence[DepthRange]) -> int:
    """Greatest depth; a schedule that never drafts is refused."""
    greatest = max(part.depth for part in ranges)
    if greatest == 0:
        raise InvalidInputError(
            "plan must draft at some load to be a schedule, but speculation is off at all of them; "
            "serve without a drafter"
        )
    return greatest
