"""Cycle costs of a serving engine: batch and context, or the roofline of an accelerator."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_scalar
from ensctl.drafting.cost import CostModel, set_numbers
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# Seconds, Llama-3.1-8B with vLLM on one H100: least-squares constants published with the
# SpecDecode-Bench simulator, companion of arXiv 2601.11580.
_H100_FIXED = 5.88590713e-3
_H100_PER_TOKEN = 2.10103129e-5
_H100_PER_KV = 3.92645679e-8
_H100_OVERHEAD = 1.20683946e-3
_H100_DRAFT_FIXED = 2.13526175e-3
_H100_DRAFT_PER_TOKEN = 8.41429603e-7
_H100_DRAFT_PER_KV = 2.37768493e-9
# The published draft cost is flat in K; this is the same drafter run K times, one pass per unit.
_H100_DRAFT_PER_UNIT = 0.712875e-3
_H100_NGRAM_SHARE = 0.005875


@dataclass(frozen=True)
class BatchCost(CostModel):
    """Verification by tokens and context, plus a step overhead and the drafter.

    For B sequences with c tokens of context each, verification takes
    V = fixed + per_token·B(K + 1) + per_kv·B c; a cycle takes V + overhead, and for K ≥ 1 also
    draft_fixed + draft_per_unit·K + draft_per_token·B K + draft_per_kv·B c + draft_share·V.

    Parameters
    ----------
    fixed : float
        Verification whatever the batch: reading the weights.
    per_token : float
        For each token verified.
    per_kv : float
        For each token kept in the KV cache.
    overhead : float
        For each cycle besides.
    draft_fixed : float
        For each drafted cycle, whatever K.
    draft_per_unit : float
        For each unit of depth, whatever the batch: one pass of the drafter.
    draft_per_token : float
        For each token drafted, B K in a cycle.
    draft_per_kv : float
        For each token kept, in the drafter.
    draft_share : float
        Share of V, for drafters that cost a fraction of verification.
    unit : str
        Unit of all constants.

    Examples
    --------
    >>> from ensctl.drafting import BatchCost
    >>> cost = BatchCost(6.0, 0.02, overhead=1.2, draft_per_unit=0.7)
    >>> cost.cycles([0, 4], batch=10)
    array([ 7.4, 11. ])
    >>> BatchCost.h100_8b().cycle(3, batch=16, context=1000)
    11.243...
    """

    fixed: float
    per_token: float = 0.0
    per_kv: float = 0.0
    overhead: float = 0.0
    draft_fixed: float = 0.0
    draft_per_unit: float = 0.0
    draft_per_token: float = 0.0
    draft_per_kv: float = 0.0
    draft_share: float = 0.0
    unit: str = "ms"

    def __post_init__(self) -> None:
        set_numbers(self, {"fixed": self.fixed}, positive=True)
        set_numbers(
            self,
            {
                "per_token": self.per_token,
                "per_kv": self.per_kv,
                "overhead": self.overhead,
                "draft_fixed": self.draft_fixed,
                "draft_per_unit": self.draft_per_unit,
                "draft_per_token": self.draft_per_token,
                "draft_per_kv": self.draft_per_kv,
                "draft_share": self.draft_share,
            },
        )

    @classmethod
    def h100_8b(cls, drafter: str = "linear") -> BatchCost:
        """Published constants of Llama-3.1-8B with vLLM on one H100, in ms.

        Parameters
        ----------
        drafter : str
            "published": the neural drafter as published, flat in K but for its tokens; "linear":
            .712875 ms for each unit of depth instead; "ngram": .5875 % of verification.

        Returns
        -------
        BatchCost
            The model.

        Raises
        ------
        InvalidInputError
            Another drafter.

        Notes
        -----
        Source: constants of the SpecDecode-Bench simulator, companion of arXiv 2601.11580.

        Examples
        --------
        >>> from ensctl.drafting import BatchCost
        >>> round(BatchCost.h100_8b("ngram").cycle(0), 5)
        7.11376
        """
        choices: dict[str, dict[str, Any]] = {
            "published": {
                "draft_fixed": 1e3 * _H100_DRAFT_FIXED,
                "draft_per_token": 1e3 * _H100_DRAFT_PER_TOKEN,
                "draft_per_kv": 1e3 * _H100_DRAFT_PER_KV,
            },
            "linear": {
                "draft_per_unit": 1e3 * _H100_DRAFT_PER_UNIT,
                "draft_per_kv": 1e3 * _H100_DRAFT_PER_KV,
            },
            "ngram": {"draft_share": _H100_NGRAM_SHARE},
        }
        if drafter not in choices:
            raise InvalidInputError(
                f"drafter must be 'published', 'linear' or 'ngram', got {drafter!r}"
            )
        verifier = cls(
            1e3 * _H100_FIXED, 1e3 * _H100_PER_TOKEN, 1e3 * _H100_PER_KV, 1e3 * _H100_OVERHEAD
        )
        return replace(verifier, **choices[drafter])

    def _costs(self, depths: Array, batch: float, context: float) -> Array:
        kept = batch * context
        verify = self.fixed + self.per_token * batch * (depths + 1.0) + self.per_kv * kept
        draft = (
            self.draft_fixed
            + (self.draft_per_unit + self.draft_per_token * batch) * depths
            + self.draft_per_kv * kept
            + self.draft_share * verify
        )
        return verify + self.overhead + np.where(depths > 0, draft, 0.0)


@dataclass(frozen=True)
class RooflineCost(CostModel):
    """Verification at the slower of memory and arithmetic, plus overhead and the drafter.

    For B sequences with c tokens of context each a cycle takes
    max(memory + memory_per_kv·B c, compute·B(K + 1)) + overhead + draft·K: extra tokens are free
    until arithmetic takes over.

    Parameters
    ----------
    memory : float
        Time > 0 to read the weights.
    compute : float
        Arithmetic time ≥ 0 of one token.
    draft : float
        Cost ≥ 0 of one unit of depth in the drafter.
    overhead : float
        For each cycle besides.
    memory_per_kv : float
        Time to read one token of the KV cache.
    unit : str
        Unit of all constants.

    Examples
    --------
    >>> from ensctl.drafting import RooflineCost
    >>> cost = RooflineCost(8.0, 0.05, draft=0.5)
    >>> cost.cycles([0, 4], batch=16), cost.cycles([0, 4], batch=64)
    (array([ 8., 10.]), array([ 8., 18.]))
    >>> cost.free_depth(batch=16), cost.free_depth(batch=64)
    (9, 1)
    """

    memory: float
    compute: float
    draft: float = 0.0
    overhead: float = 0.0
    memory_per_kv: float = 0.0
    unit: str = "ms"

    def __post_init__(self) -> None:
        set_numbers(self, {"memory": self.memory}, positive=True)
        set_numbers(
            self,
            {
                "compute": self.compute,
                "draft": self.draft,
                "overhead": self.overhead,
                "memory_per_kv": self.memory_per_kv,
            },
        )

    def free_depth(self, batch: float = 1, context: float = 0.0) -> int | float:
        """Greatest K whose verification still costs the memory time: 0 at least, inf if any."""
        streams = as_scalar(batch, "batch", at_least=1)
        reading = self.memory + self.memory_per_kv * streams * as_scalar(
            context, "context", at_least=0
        )
        if self.compute == 0:
            return math.inf
        return max(0, math.floor(reading / (self.compute * streams)) - 1)

    def _costs(self, depths: Array, batch: float, context: float) -> Array:
        reading = self.memory + self.memory_per_kv * batch * context
        verify = np.maximum(reading, self.compute * batch * (depths + 1.0))
        return verify + self.overhead + self.draft * depths
