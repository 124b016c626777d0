"""Many replays that do not learn, advanced together: every fixed arm, and foresight.

Rows of streams, one row for each (choice, seed), move through the same requests as a policy with
that seed would; all rows take a cycle in a few array operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.scheduling.load_walk import LoadWalk
from ensctl.scheduling.position_traces import PositionTraces
from ensctl.scheduling.replay_requests import ReplayTables, RequestOrder

Array = NDArray[Any]

_AHEAD = 256


@dataclass(frozen=True, eq=False)
class LockstepTotals:
    """Totals of every row up to each marked cycle.

    Attributes
    ----------
    tokens, time : (rows, marks, batches) arrays
        By batch size.
    """

    tokens: Array
    time: Array


class LockstepRows:
    """Streams of all rows: where each one is, and the load of each row."""

    def __init__(
        self,
        traces: PositionTraces,
        tables: ReplayTables,
        load: int | LoadWalk,
        seeds: list[int],
        rows_per_seed: int,
        one_pass: bool,
    ) -> None:
        self.rows = np.arange(len(seeds) * rows_per_seed)
        self._traces, self._load, self._batches = traces, load, np.array(tables.batches)
        self._seed = np.tile(np.arange(len(seeds)), rows_per_seed)
        self._orders = [RequestOrder(traces, seed) for seed in seeds]
        widest = int(self._batches.max())
        self._sequence = [[order.take() for _ in range(widest)] for order in self._orders]
        first = np.array(self._sequence)[self._seed]
        self._taken = np.full(self.rows.size, widest)
        self.place = traces.starts[first]
        self._end = self.place + traces.lengths[first]
        self._shift = traces.prompts[first] - self.place
        self._columns = np.arange(widest)
        self._one_pass = one_pass
        self.running = np.ones(self.rows.size, dtype=bool)
        self.level = np.zeros(self.rows.size, dtype=np.int64)
        self._clock = np.zeros(self.rows.size)
        self._dwells = np.zeros(self.rows.size, dtype=np.int64)
        self._seeds = seeds
        self._path = np.zeros((len(seeds), 0), dtype=np.int64)
        self._walk()

    @property
    def batch(self) -> Array:
        """Streams of each row, (rows,)."""
        return self._batches[self.level]

    @property
    def active(self) -> Array | None:
        """Which streams take part, (rows, widest); None for all."""
        if self._batches.size == 1:
            return None
        return self._columns < self.batch[:, None]

    def context(self, active: Array | None) -> Array:
        """Mean tokens kept by the active streams of each row, rounded, (rows,)."""
        kept = self.place + self._shift
        total = kept.sum(axis=1) if active is None else (kept * active).sum(axis=1)
        return np.asarray(total / self.batch + 0.5).astype(np.int64)

    def advance(self, step: Array, cost: Array) -> None:
        """Move streams by ``step`` tokens (0 where not active) and clocks by ``cost``."""
        self.place += step
        done_rows, done_streams = np.nonzero(self.place >= self._end)
        if done_rows.size:
            # Rows come in order: number the finished streams within each row.
            firsts = np.searchsorted(done_rows, done_rows)
            turn = self._taken[done_rows] + np.arange(done_rows.size) - firsts
            np.add.at(self._taken, done_rows, 1)
            wanted = int(turn.max()) + 1
            for sequence, order in zip(self._sequence, self._orders, strict=True):
                while len(sequence) < wanted:
                    sequence.append(order.take())
            pairs = zip(self._seed[done_rows].tolist(), turn.tolist(), strict=True)
            fresh = np.array([self._sequence[seed][number] for seed, number in pairs])
            start = self._traces.starts[fresh]
            self.place[done_rows, done_streams] = start
            self._end[done_rows, done_streams] = start + self._traces.lengths[fresh]
            self._shift[done_rows, done_streams] = self._traces.prompts[fresh] - start
            if self._one_pass:
                self.running = self._taken <= self._traces.requests
        self._clock += cost
        self._walk()

    def _walk(self) -> None:
        load = self._load
        if not isinstance(load, LoadWalk):
            return
        due = self._clock >= self._dwells * load.dwell
        if due.any():
            most = int(self._dwells.max())
            if most >= self._path.shape[1]:
                steps = self._path.shape[1] + _AHEAD
                paths = [load.path(seed, steps) for seed in self._seeds]
                self._path = np.searchsorted(self._batches, np.array(paths))
            self.level[due] = self._path[self._seed[due], self._dwells[due]]
            self._dwells[due] += 1


def fixed_totals(
    traces: PositionTraces,
    tables: ReplayTables,
    load: int | LoadWalk,
    seeds: list[int],
    marks: Array,
    one_pass: bool,
) -> LockstepTotals:
    """Totals of every fixed arm with every seed; rows are arm after arm, seeds within."""
    arms = tables.emitted.shape[0]
    state = LockstepRows(traces, tables, load, seeds, arms, one_pass)
    arm = np.repeat(np.arange(arms), len(seeds))
    offset = (arm * traces.tokens)[:, None]
    flat, drafting = tables.emitted.ravel(), _drafting(tables)
    record = _Record(state.rows.size, len(tables.batches), marks)
    while record.open:
        active, batch = state.active, state.batch
        column = state.context(active)
        drafts = drafting.take(state.place + offset)
        step = flat.take(state.place + offset).astype(np.int64)
        if active is not None:
            step *= active
            drafts = drafts & active
        share = drafts.sum(axis=1) / batch
        cost = (
            tables.base[state.level, arm, column] + share * tables.slope[state.level, arm, column]
        )
        record.add(state, step.sum(axis=1), cost)
        state.advance(step, cost)
    return record.totals()


def foresight_totals(
    traces: PositionTraces,
    tables: ReplayTables,
    load: int | LoadWalk,
    seeds: list[int],
    marks: Array,
    one_pass: bool,
    prices: Array,
) -> LockstepTotals:
    """Totals of choosing, in every cycle, the arm with the greatest y − T·c of that cycle.

    ``prices`` are T by batch size, (batches,).
    """
    arms = np.arange(tables.emitted.shape[0])[:, None]
    state = LockstepRows(traces, tables, load, seeds, 1, one_pass)
    drafting = _drafting(tables)
    record = _Record(state.rows.size, len(tables.batches), marks)
    while record.open:
        active, batch = state.active, state.batch
        column = state.context(active)
        step = tables.emitted.take(state.place, axis=1).astype(np.int64)
        drafts = drafting.take(state.place, axis=1)
        if active is not None:
            step *= active
            drafts = drafts & active
        share = drafts.sum(axis=2) / batch
        cost = (
            tables.base[state.level, arms, column] + share * tables.slope[state.level, arms, column]
        )
        total = step.sum(axis=2)
        arm = np.argmax(total - prices[state.level] * cost, axis=0)
        record.add(state, total[arm, state.rows], cost[arm, state.rows])
        state.advance(step[arm, state.rows], cost[arm, state.rows])
    return record.totals()


class _Record:
    """Running totals by batch size, kept at the marks."""

    def __init__(self, rows: int, batches: int, marks: Array) -> None:
        self._tokens, self._time = np.zeros((rows, batches)), np.zeros((rows, batches))
        self._kept = np.zeros((2, rows, marks.size, batches))
        self._due, self._cycle, self._mark = marks.tolist(), 0, 0

    @property
    def open(self) -> bool:
        """Whether a mark is still ahead."""
        return self._mark < len(self._due)

    def add(self, state: LockstepRows, tokens: Array, time: Array) -> None:
        """Count a cycle of the rows that still run."""
        self._tokens[state.rows, state.level] += tokens * state.running
        self._time[state.rows, state.level] += time * state.running
        self._cycle += 1
        over = not state.running.any()
        while self.open and (over or self._cycle == self._due[self._mark]):
            self._kept[0, :, self._mark], self._kept[1, :, self._mark] = self._tokens, self._time
            self._mark += 1

    def totals(self) -> LockstepTotals:
        """What was kept."""
        return LockstepTotals(self._kept[0], self._kept[1])


def _drafting(tables: ReplayTables) -> Array:
    """Where each arm drafts, (arms, tokens) of bool."""
    drafting = np.ones(tables.emitted.shape, dtype=bool)
    for row, drafts in zip(drafting, tables.drafts, strict=True):
        if drafts is not None:
            row[:] = drafts
    return drafting
