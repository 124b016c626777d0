"""What a replay is measured against: the best fixed arm in hindsight, and foresight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count, read_only
from ensctl.drafting.cost import CostModel
from ensctl.errors import InvalidInputError
from ensctl.scheduling.load_walk import LoadWalk
from ensctl.scheduling.policies.arm_set import ArmSet
from ensctl.scheduling.policies.policy import as_arms
from ensctl.scheduling.position_traces import PositionTraces
from ensctl.scheduling.replay_lockstep import fixed_totals, foresight_totals
from ensctl.scheduling.replay_requests import replay_tables

Array = NDArray[Any]

_MARKS = 60
_PRICE_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Oracles:
    """Throughput of every fixed arm on the requests of a replay, and of foresight.

    Attributes
    ----------
    arms : tuple of str
        Names of the arms.
    batches : tuple of int
        Batch sizes.
    marks : (marks,) array
        Cycles at which totals were kept.
    seeds : tuple of int
        Seeds of the runs.
    tokens, time : (arms, seeds, marks, batches) arrays
        Totals of every fixed arm.
    foresight_tokens, foresight_time : (seeds, marks, batches) arrays or None
        Totals of the greedy choice that knows what each arm would emit.
    unit : str
        Unit of time.
    """

    arms: tuple[str, ...]
    batches: tuple[int, ...]
    marks: Array
    seeds: tuple[int, ...]
    tokens: Array
    time: Array
    foresight_tokens: Array | None
    foresight_time: Array | None
    unit: str

    def best_arms(self, mark: int = -1) -> Array:
        """Number of the best fixed arm at each batch size, over all seeds, (batches,).

        −1 at a batch size that no cycle had.
        """
        rates = self._pooled(mark)
        return np.where(rates.max(axis=0) > 0, np.argmax(rates, axis=0), -1)

    def best_names(self) -> list[str | None]:
        """What the best fixed arm at each batch size is called; None where no cycle was."""
        return [None if i < 0 else self.arms[i] for i in self.best_arms()]

    def prices(self, mark: int = -1) -> Array:
        """Throughput of the best fixed arm at each batch size, (seeds, batches).

        With one batch size each seed has its own, so that luck with the requests cancels; seeds of
        a walk visit batch sizes for different times and share theirs.
        """
        best = self.best_arms(mark)
        if len(self.batches) == 1:
            arm = int(best[0])
            return np.asarray(self.tokens[arm, :, mark] / self.time[arm, :, mark])
        pooled = self._pooled(mark)[best, np.arange(best.size)]
        return np.tile(pooled, (len(self.seeds), 1))

    def foresight_gain(self, mark: int = -1) -> Array | None:
        """Gain of foresight over the best fixed arm, for each seed."""
        if self.foresight_tokens is None or self.foresight_time is None:
            return None
        par = (self.prices(mark) * self.foresight_time[:, mark]).sum(axis=1)
        return np.asarray(self.foresight_tokens[:, mark].sum(axis=1) / par - 1.0)

    def _pooled(self, mark: int) -> Array:
        time = self.time[:, :, mark].sum(axis=1)
        tokens = self.tokens[:, :, mark].sum(axis=1)
        return np.divide(tokens, time, out=np.zeros_like(tokens), where=time > 0)

    def __str__(self) -> str:
        rates = self.prices().mean(axis=0)
        rows = [
            f"B = {batch}: best fixed arm {name}, {rate:.4g} tokens per {self.unit}"
            if name
            else f"B = {batch}: no cycle"
            for batch, name, rate in zip(self.batches, self.best_names(), rates, strict=True)
        ]
        gain = self.foresight_gain()
        if gain is not None:
            rows.append(f"foresight {100 * gain.mean():+.2f} %")
        return "\n".join(rows)


def replay_oracles(
    traces: PositionTraces,
    arms: ArmSet,
    *,
    cost: Mapping[str, CostModel] | None = None,
    batch: int | LoadWalk = 16,
    cycles: int | None = 20_000,
    seed: int | Sequence[int] = 0,
    foresight: bool = True,
) -> Oracles:
    """Replay every fixed arm, and foresight, on the requests that policies will meet.

    Parameters
    ----------
    traces : PositionTraces
        The requests.
    arms : ArmSet
        The arms.
    cost : mapping, optional
        What cycles cost by drafter; the models of ``arms`` when not given.
    batch : int or LoadWalk
        Streams B ≥ 1, or how they vary.
    cycles : int or None
        Number of cycles; None: until a stream finds no request that has not been begun.
    seed : int or sequence of int
        Of the order of requests; one run for each.
    foresight : bool
        Whether to replay the greedy choice that knows what each arm would emit next.

    Returns
    -------
    Oracles

    Raises
    ------
    InvalidInputError
        Drafters without traces or costs, or numbers out of range.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> traces = scheduling.token_chain("iid", requests=20)
    >>> arms = scheduling.fixture_arms()
    >>> oracles = scheduling.replay_oracles(traces, arms, batch=4, cycles=200, foresight=False)
    >>> oracles.tokens.shape[:2]
    (17, 1)
    """
    seeds, batches, marks = as_plan(traces, batch, cycles, seed)
    tables = replay_tables(traces, as_arms(arms), cost, batches)
    one_pass = cycles is None
    fixed = fixed_totals(traces, tables, batch, seeds, marks, one_pass)
    shape = (arms.size, len(seeds), marks.size, len(batches))
    tokens, time = fixed.tokens.reshape(shape), fixed.time.reshape(shape)
    ahead_tokens = ahead_time = None
    if foresight:
        pooled_time = time[:, :, -1].sum(axis=1)
        rates = tokens[:, :, -1].sum(axis=1) / np.maximum(pooled_time, 1e-300)
        prices = rates.max(axis=0)
        for _ in range(_PRICE_ROUNDS):
            ahead = foresight_totals(traces, tables, batch, seeds, marks, one_pass, prices)
            spent = ahead.time[:, -1].sum(axis=0)
            earned = ahead.tokens[:, -1].sum(axis=0)
            prices = np.where(spent > 0, earned / np.maximum(spent, 1e-300), prices)
        ahead_tokens, ahead_time = read_only(ahead.tokens), read_only(ahead.time)
    return Oracles(
        arms.names,
        batches,
        read_only(marks),
        tuple(seeds),
        read_only(tokens),
        read_only(time),
        ahead_tokens,
        ahead_time,
        arms.unit,
    )


def as_plan(
    traces: PositionTraces,
    batch: int | LoadWalk,
    cycles: int | None,
    seed: int | Sequence[int],
) -> tuple[list[int], tuple[int, ...], Array]:
    """Check what a replay is asked for: seeds, batch sizes, and cycles at which totals are kept."""
    if not isinstance(traces, PositionTraces):
        raise InvalidInputError(
            f"traces must be PositionTraces, got {type(traces).__name__}; make them with "
            "position_traces, read_position_traces or token_chain"
        )
    listed = list(seed) if isinstance(seed, Sequence | np.ndarray) else [seed]
    seeds = [as_count(number, "seed", minimum=0) for number in listed]
    if not seeds:
        raise InvalidInputError("seed must be a number or some numbers, got none")
    batches = batch.levels if isinstance(batch, LoadWalk) else (as_count(batch, "batch"),)
    if cycles is None:
        if max(batches) > traces.requests:
            raise InvalidInputError(
                f"cycles must be a number where {max(batches)} streams have only "
                f"{traces.requests} requests to begin; give cycles, or fewer streams"
            )
        last = max(1, traces.tokens // min(batches) + 1)
    else:
        last = as_count(cycles, "cycles")
    powers = np.geomspace(1, last, min(_MARKS, last))
    return seeds, batches, np.unique(np.append(np.round(powers), last)).astype(np.int64)
