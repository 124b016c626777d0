"""How often each draft position was tested and kept: what every fit is computed from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ensctl.arguments import Array
from ensctl.drafting.counters import Counters
from ensctl.drafting.fitting.traces import CycleTraces
from ensctl.errors import InvalidInputError, NotIdentifiableError

# Drafts cut short, by the end of a request say, are counted as full ones up to this share.
SHORT_DRAFTS = 0.01

Data = Counters | CycleTraces | Sequence[Counters]


@dataclass(frozen=True, eq=False)
class RiskSets:
    """Trials and successes at each position, in all and per block.

    ``tested[j]`` counts cycles that drafted unit j+1 and kept the j units before it, ``kept[j]``
    those that kept it too: α̂ = Σ kept/Σ tested and h_{j+1} = kept[j]/tested[j], whatever the depth
    of each cycle.  ``block_tested`` and ``block_kept`` are (blocks, positions): windows or
    requests; one block where there is one snapshot.  ``depth`` is K where every cycle has it.
    """

    block_tested: Array
    block_kept: Array
    cycles: float
    depth: int | None
    blocks: str
    traces: CycleTraces | None = None
    note: str = ""

    @property
    def tested(self) -> Array:
        """Trials at each position."""
        return np.asarray(self.block_tested.sum(axis=0))

    @property
    def kept(self) -> Array:
        """Successes at each position."""
        return np.asarray(self.block_kept.sum(axis=0))

    @property
    def count(self) -> int:
        """Number of blocks."""
        return int(self.block_tested.shape[0])


def risk_sets(data: Data) -> RiskSets:
    """Trials and successes per position of counters, windows of counters, or traces.

    Raises
    ------
    InvalidInputError
        Neither counters nor traces, or windows of different models or engines.
    NotIdentifiableError
        Nothing was drafted, or the counters do not tell which drafts were accepted in full.
    """
    if isinstance(data, CycleTraces):
        return _of_traces(data)
    windows = as_windows(data)
    rows = [_of_counters(window) for window in windows]
    width = max(tested.size for tested, _ in rows)
    tested = np.array([np.pad(row, (0, width - row.size)) for row, _ in rows])
    kept = np.array([np.pad(row, (0, width - row.size)) for _, row in rows])
    depths = {window.depth for window in windows}
    constant = len(depths) == 1 and all(_nearly_constant(window) for window in windows)
    short = any(not window.constant_depth for window in windows)
    note = f"drafts shorter than K = {width} counted as full" if constant and short else ""
    cycles = float(sum(window.drafts for window in windows))
    depth = width if constant else None
    return RiskSets(tested, kept, cycles, depth, "windows", note=note)


def as_windows(data: Any) -> list[Counters]:
    """Windows that drafted, of one model and one engine.

    Raises
    ------
    InvalidInputError
        Not counters, none at all, or of different models or engines.
    NotIdentifiableError
        No window drafted anything.
    """
    windows = [data] if isinstance(data, Counters) else data
    if not isinstance(windows, Iterable) or isinstance(windows, str | bytes | Mapping):
        raise InvalidInputError(
            f"data must be Counters, a sequence of Counters or CycleTraces, got "
            f"{type(data).__name__}"
        )
    windows = list(windows)
    for window in windows:
        if not isinstance(window, Counters):
            raise InvalidInputError(
                f"data must hold Counters, got {type(window).__name__}; read the log first"
            )
    if not windows:
        raise InvalidInputError("data must hold at least one window, got none")
    for name in ("model", "engine"):
        labels = {getattr(window, name) for window in windows}
        if len(labels) > 1:
            raise InvalidInputError(
                f"data must be windows of one {name}, got {sorted(map(str, labels))}; fit each "
                f"{name} on its own"
            )
    drafted = [window for window in windows if window.drafts > 0]
    if not drafted:
        raise NotIdentifiableError("no step drafted anything, so no acceptance was observed")
    return drafted


def _of_counters(window: Counters) -> tuple[Array, Array]:
    if window.histogram_by_depth is not None:
        return _of_tables(window.histogram_by_depth)
    if window.depth is None:
        raise NotIdentifiableError(
            "depth must be known to tell a rejection from the end of a draft, got None; give K"
        )
    if window.depth == 0:
        raise NotIdentifiableError("depth must be ≥ 1 to observe acceptance, got 0")
    if not _nearly_constant(window):
        raise NotIdentifiableError(
            f"the depth varied (mean {window.draft_tokens / window.drafts:.3g} of "
            f"{window.depth}), and the counters do not tell which drafts were accepted in full; "
            f"read histogram_by_depth or per-step records"
        )
    if window.accepted_per_position is not None:
        positions = window.accepted_per_position
    elif window.histogram is not None:
        positions = tuple(
            sum(count for accepted, count in window.histogram.items() if accepted > j)
            for j in range(window.depth)
        )
    elif window.depth == 1:
        positions = (window.accepted,)
    else:
        raise NotIdentifiableError(
            "counters must have accepted_per_position or a histogram for this, got neither; "
            "only α under the i.i.d. model follows from A, D and K"
        )
    kept = np.zeros(window.depth)
    kept[: len(positions)] = positions
    return np.concatenate([[window.drafts], kept[:-1]]).astype(np.float64), kept


def _nearly_constant(window: Counters) -> bool:
    if window.constant_depth:
        return True
    if window.depth is None or window.drafts == 0:
        return False
    return window.draft_tokens >= (1.0 - SHORT_DRAFTS) * window.depth * window.drafts


def _of_tables(tables: Mapping[int, Mapping[int, float]]) -> tuple[Array, Array]:
    deepest = max((depth for depth, table in tables.items() if table), default=0)
    if deepest == 0:
        raise NotIdentifiableError("no draft had a token, so no acceptance was observed")
    tested, kept = np.zeros(deepest), np.zeros(deepest)
    for depth, table in tables.items():
        for accepted, count in table.items():
            tested[: min(accepted + 1, depth)] += count
            kept[:accepted] += count
    return tested, kept


def _of_traces(traces: CycleTraces) -> RiskSets:
    tested, kept = traces.risk_sums(traces.starts)
    depth = traces.max_depth if traces.constant_depth else None
    return RiskSets(tested, kept, float(traces.cycles), depth, "requests", traces)
