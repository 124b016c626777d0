"""One replay: a policy against position traces, cycle by cycle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.scheduling.load_walk import LoadWalk
from ensctl.scheduling.policies.policy import Policy
from ensctl.scheduling.position_traces import PositionTraces
from ensctl.scheduling.replay_requests import ReplayTables, RequestOrder

Array = NDArray[Any]

# Dwells drawn at a time.
_AHEAD = 256


@dataclass(frozen=True, eq=False)
class Run:
    """What one replay did.

    Attributes
    ----------
    tokens, time : (marks, batches) arrays
        Tokens and time up to each marked cycle, by batch.
    plays : (batches, arms) array
        Cycles of each arm.
    switches : int
        Changes of drafter.
    state : object
        Last state of the policy.
    """

    tokens: Array
    time: Array
    plays: Array
    switches: int
    state: Any


def run_once(
    traces: PositionTraces,
    tables: ReplayTables,
    policy: Policy[Any],
    load: int | LoadWalk,
    marks: Array,
    seed: int,
    switch_cost: float,
    one_pass: bool,
) -> Run:
    """Play ``marks[-1]`` cycles; or, with ``one_pass``, until every request has been begun."""
    levels = tables.batches
    widest = max(levels)
    order = RequestOrder(traces, seed)
    taken = [order.take() for _ in range(widest)]
    place = traces.starts[taken].copy()
    end = place + traces.lengths[taken]
    prompt = traces.prompts[taken] - traces.starts[taken]
    arms = policy.arms
    owner, depths, drafts = arms.owner, arms.depths, tables.drafts
    emitted = list(tables.emitted)
    wants_positions = policy.uses_positions
    tokens, time = [0] * len(levels), [0.0] * len(levels)
    plays = [[0] * arms.size for _ in levels]
    kept_tokens, kept_time = [], []
    path: tuple[int, ...] = ()
    dwell, clock = 0, 0.0
    until = 0.0 if isinstance(load, LoadWalk) else math.inf
    level, batch = 0, levels[0]
    state = policy.init(seed)
    previous, switches = -2, 0
    due = marks.tolist()
    cycle, mark = 0, 0
    here, ends, prompts = place[:batch], end[:batch], prompt[:batch]
    while mark < len(due):
        if clock >= until and isinstance(load, LoadWalk):
            if dwell >= len(path):
                path = load.path(seed, len(path) + _AHEAD)
            batch = path[dwell]
            level = levels.index(batch)
            here, ends, prompts = place[:batch], end[:batch], prompt[:batch]
            dwell, until = dwell + 1, until + load.dwell
        context = float((np.add.reduce(here) + np.add.reduce(prompts)) / batch)
        action = policy.select(state, batch=batch, context=context)
        step = emitted[action].take(here)
        total = int(np.add.reduce(step, dtype=np.int64))
        drafting = drafts[action]
        column = int(context + 0.5)
        cost = tables.base.item(level, action, column)
        share = 1.0 if drafting is None else int(np.add.reduce(drafting.take(here))) / batch
        cost += share * tables.slope.item(level, action, column)
        drafter = owner[action]
        if drafter != previous:
            if previous >= -1:
                switches += 1
                cost += switch_cost
            previous = drafter
        positions = None
        if wants_positions:
            counts = np.bincount(step, minlength=depths[action] + 2)[1:-1]
            positions = (batch - np.add.accumulate(counts)).tolist()
        state = policy.update(
            state,
            action,
            total,
            batch=batch,
            context=context,
            positions=positions,
            cycle_time=cost,
        )
        here += step
        if (here >= ends).any():
            for stream in np.flatnonzero(here >= ends).tolist():
                request = order.take()
                start = traces.starts[request]
                place[stream] = start
                end[stream] = start + traces.lengths[request]
                prompt[stream] = traces.prompts[request] - start
        clock += cost
        tokens[level] += total
        time[level] += cost
        plays[level][action] += 1
        cycle += 1
        stop = one_pass and order.passes > 1
        while mark < len(due) and (stop or cycle == due[mark]):
            kept_tokens.append(tokens.copy())
            kept_time.append(time.copy())
            mark += 1
    return Run(np.array(kept_tokens), np.array(kept_time), np.array(plays), switches, state)
