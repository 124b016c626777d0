"""What a replay reads: the order of requests, emitted tokens of each arm, and costs in tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.drafting.cost import CostModel
from ensctl.errors import InvalidInputError
from ensctl.scheduling.policies.arm_set import ArmSet, arm_set
from ensctl.scheduling.position_traces import PositionTraces

Array = NDArray[Any]

_GRID = 65


@dataclass(frozen=True, eq=False)
class ReplayTables:
    """Tokens and costs of every arm, looked up in the loop of a replay.

    Attributes
    ----------
    emitted : (arms, tokens) array
        min(accepted + 1, K + 1) of each arm at each token.
    drafts : tuple of array or None
        For each arm where its drafter drafts; None where always.
    base, slope : (batches, arms, contexts) arrays
        Cost of a cycle = base + slope·(share of streams that draft), by whole mean context.
    batches : tuple of int
        The batch sizes.
    """

    emitted: Array
    drafts: tuple[Array | None, ...]
    base: Array
    slope: Array
    batches: tuple[int, ...]


def replay_tables(
    traces: PositionTraces,
    arms: ArmSet,
    cost: Mapping[str, CostModel] | None,
    batches: tuple[int, ...],
) -> ReplayTables:
    """Tables of arms on traces, with costs of their own where ``cost`` is given."""
    unknown = [name for name in arms.pool if name not in traces.emitted]
    if unknown:
        raise InvalidInputError(
            f"traces have no drafter {unknown[0]!r}; they have {', '.join(traces.drafters)}"
        )
    real = arms
    if cost is not None:
        missing = [name for name in arms.pool if name not in cost]
        if missing:
            raise InvalidInputError(f"cost has no model for drafter {missing[0]!r}")
        same = arm_set({name: cost[name] for name in arms.pool}, [1], off=False)
        real = ArmSet(arms.pool, same.models, arms.owner, arms.depths, same.models[0])
    emitted = np.ones((arms.size, traces.tokens), dtype=np.int16)
    drafts: list[Array | None] = []
    for i, (owner, depth) in enumerate(zip(arms.owner, arms.depths, strict=True)):
        name = arms.pool[owner]
        if owner >= 0:
            np.minimum(traces.emitted[name], depth + 1, out=emitted[i])
        drafts.append(traces.drafts.get(name) if owner >= 0 else None)
    # A cycle can run past the end of a request by its whole draft.
    longest = int((traces.prompts + traces.lengths).max()) + max(arms.depths) + 2
    grid = np.linspace(0.0, longest, _GRID)
    whole = np.arange(longest + 1)
    base = np.empty((len(batches), arms.size, whole.size))
    slope = np.empty_like(base)
    for b, batch in enumerate(batches):
        lines = np.array([real.lines(batch, float(context)) for context in grid])
        for i in range(arms.size):
            base[b, i] = np.interp(whole, grid, lines[:, 0, i])
            slope[b, i] = np.interp(whole, grid, lines[:, 1, i])
    return ReplayTables(emitted, tuple(drafts), base, slope, batches)


class RequestOrder:
    """Requests one after the other, shuffled anew on every pass, segments in their order."""

    def __init__(self, traces: PositionTraces, seed: int) -> None:
        self._segments = traces.segments
        self._rng = np.random.default_rng([seed, 0])
        self._waiting: list[int] = []
        self.passes = 0

    def take(self) -> int:
        """The next request."""
        if not self._waiting:
            self.passes += 1
            order = [first + self._rng.permutation(last - first) for first, last in self._segments]
            self._waiting = np.concatenate(order)[::-1].tolist()
        return self._waiting.pop()
