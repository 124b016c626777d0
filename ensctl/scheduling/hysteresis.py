"""Depths that do not flutter: monotone over loads within the noise, and few switches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class SwitchPoint:
    """Where a plan changes its depth as the load grows, and how far a controller may wait.

    Attributes
    ----------
    context : float
        Tokens per sequence.
    below, above : int
        Depth at lighter and at heavier load.
    boundary : int
        Largest batch of the lighter load.
    rising : int
        With growing load, a controller that holds ``below`` leaves it at this batch.
    falling : int
        With shrinking load, a controller that holds ``above`` leaves it at this batch;
        falling ≤ boundary < rising.
    """

    context: float
    below: int
    above: int
    boundary: int
    rising: int
    falling: int

    def __str__(self) -> str:
        return (
            f"K = {self.below} → {self.above} after batch {self.boundary} (up at {self.rising}, "
            f"back at {self.falling})"
        )


def smoothed(
    losses: Array,
    depths: Array,
    tolerance: Array,
    hysteresis: float,
    weights: Array,
    *,
    monotone: bool,
) -> Array:
    """Column chosen at each load, (n,), from losses ln(best/T) of shape (n, k).

    Two shortest paths over the loads in order of batch.  The first has the fewest rises of depth
    with batch among columns whose loss is within ``tolerance`` (n, k), then the least mean loss: a
    rise remains only if some load would lose more than the noise without it.  The second has no
    more rises, loses at most ``hysteresis`` more at any load, and has the fewest switches.  So no
    load loses more than tolerance + hysteresis.
    """
    first = _shortest(losses, depths, losses <= tolerance, weights, monotone=monotone, calm=False)
    reached = np.take_along_axis(losses, first[:, None], axis=1)
    near = losses <= reached + hysteresis
    return _shortest(losses, depths, near, weights, monotone=monotone, calm=True)


def _shortest(
    losses: Array, depths: Array, allowed: Array, weights: Array, *, monotone: bool, calm: bool
) -> Array:
    """The path with the fewest rises, then (``calm``) the fewest switches, then the least loss."""
    size, options = losses.shape
    cost = np.where(allowed, losses, np.inf) * weights[:, None]
    # Larger than any difference in what comes after it in the order.
    per_switch = 1.0 + float(np.sum(weights * losses.max(axis=1, initial=0.0, where=allowed)))
    per_rise = per_switch * (size + 1.0)
    step = np.zeros((options, options))
    if calm:
        step += per_switch * (depths[:, None] != depths[None, :])
    if monotone:
        step += per_rise * (depths[:, None] < depths[None, :])
    total, came_from = cost[0], np.zeros((size, options), dtype=np.int64)
    for load in range(1, size):
        reach = total[:, None] + step
        came_from[load] = np.argmin(reach, axis=0)
        total = reach.min(axis=0) + cost[load]
    path = np.empty(size, dtype=np.int64)
    path[-1] = int(np.argmin(total))
    for load in range(size - 1, 0, -1):
        path[load - 1] = came_from[load, path[load]]
    return path


def switch_points(
    context: float, batches: Array, ends: Array, depths: Array, rates: dict[int, Array], gain: float
) -> list[SwitchPoint]:
    """Switches of one context with the batches at which a controller with memory follows them.

    It holds its depth until the planned one is ahead by ``gain``, and no longer than the planned
    depth lasts.  ``ends`` (n,) is the largest batch that each load stands for.
    """
    found = []
    changes = np.flatnonzero(np.diff(depths)) + 1
    starts = [0, *changes.tolist(), batches.size]
    for place, change in enumerate(changes.tolist()):
        below, above = int(depths[change - 1]), int(depths[change])
        ahead = rates[above] / rates[below] - 1.0
        rising = change
        while rising < starts[place + 2] - 1 and ahead[rising] < gain:
            rising += 1
        falling = change - 1
        while falling > starts[place] and 1.0 / (1.0 + ahead[falling]) - 1.0 < gain:
            falling -= 1
        first = int(ends[change - 1]) + 1 if rising == change else int(batches[rising])
        last = int(ends[change - 1]) if falling == change - 1 else int(batches[falling])
        found.append(SwitchPoint(context, below, above, int(ends[change - 1]), first, last))
    return found
