"""The arguments of :func:`ensctl.choose_nodes`, converted and checked into a task."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.analysis.node_bounds import largest_modulus, largest_rate
from ensctl.analysis.node_criteria import require_criterion
from ensctl.analysis.node_regions import Candidates, Interval, Rates, Region, require_region
from ensctl.analysis.node_search import Task
from ensctl.analysis.node_starts import plain
from ensctl.analysis.node_symmetry import Symmetry, closed, natural_symmetry
from ensctl.arguments import as_array, as_count, as_horizon, as_vector
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

MOST_NODES = 200
# Squares of powers of λ must be numbers.
_LARGEST_POWER = 140


def as_task(
    count: int,
    region: Region | tuple[float, float],
    criterion: str,
    horizon: int | float | None,
    fixed: ArrayLike,
    gains: ArrayLike,
    optimise_gains: bool,
) -> tuple[Task, Array]:
    """The task, and the gains as given, (N,)."""
    size = as_count(count, "count")
    if size > MOST_NODES:
        raise InvalidInputError(f"count must be at most {MOST_NODES}, got {size}")
    where = require_region(region)
    steps = as_horizon(size if horizon is None else horizon, infinite=True)
    chosen = require_criterion(criterion, size, steps)
    kept = _fixed(fixed, where, size)
    given = as_vector(gains, "gains", size=size)
    if np.any(given == 0):
        member = int(np.flatnonzero(given == 0)[0])
        raise InvalidInputError(
            f"gains must not be 0, got 0 at index {member}: such a member is locked"
        )
    _require_within_reach(where, kept, steps, chosen)
    if chosen == "gap" and size < 2:
        raise InvalidInputError("count must be at least 2 for criterion 'gap', got 1")
    if optimise_gains and chosen == "gap":
        raise InvalidInputError("optimise_gains must be False for 'gap', which has no gains in it")
    inside = plain(where)
    if isinstance(inside, Candidates):
        left = inside.values.size - int(np.count_nonzero(np.isin(inside.values, kept)))
        if size - kept.size > left:
            raise InvalidInputError(
                f"count must be at most {left + kept.size} here: the region has only {left} "
                f"candidates left for {size - kept.size} members; add candidates"
            )
    task = Task(chosen, steps, where, kept, size, np.abs(given), bool(optimise_gains))
    return task, given


def as_symmetry(symmetry: str | None, task: Task) -> Symmetry | None:
    """Check a demand for symmetry; None leaves the choice."""
    if symmetry is None or symmetry == "none":
        return None if symmetry is None else "none"
    if symmetry not in ("mirror", "conjugate"):
        raise InvalidInputError(
            f"symmetry must be None, 'none', 'mirror' or 'conjugate', got {symmetry!r}"
        )
    if natural_symmetry(task.region) != symmetry:
        raise InvalidInputError(
            f"symmetry must be one that the region has: {task.region} is not symmetric that way"
        )
    if not can_be_symmetric(task, "mirror" if symmetry == "mirror" else "conjugate"):
        raise InvalidInputError(
            "symmetry needs equal gains and fixed members that are their own images; leave it out"
        )
    return "mirror" if symmetry == "mirror" else "conjugate"


def can_be_symmetric(task: Task, symmetry: Symmetry) -> bool:
    """Whether fixed members and gains leave room for the symmetry."""
    if symmetry == "none":
        return False
    if isinstance(plain(task.region), Candidates):
        return False
    middle = bool(np.any(task.fixed == 0))
    odd = (task.count - task.fixed.size) % 2 == 1
    if symmetry == "mirror" and middle and odd:
        return False
    return bool(np.all(task.gains == task.gains[0])) and closed(task.fixed, symmetry)


def _fixed(fixed: ArrayLike, region: Region, count: int) -> Array:
    kept = as_array(fixed, "fixed") if np.size(fixed) else np.zeros(0)
    kept = kept.reshape(1) if kept.ndim == 0 else kept
    if kept.ndim != 1:
        raise InvalidInputError(f"fixed must be one-dimensional, got shape {kept.shape}")
    if kept.size > count:
        raise InvalidInputError(f"fixed must have at most count = {count} members, got {kept.size}")
    held = np.exp(kept * region.dt) if isinstance(region, Rates) else kept
    _, first, copies = np.unique(held + 0.0, return_index=True, return_counts=True)
    if np.any(copies > 1):
        member = int(first[np.argmax(copies)])
        raise InvalidInputError(
            f"fixed must be distinct, got {kept[member]:.6g} more than once: members with one λ "
            f"are locked, no input tells them apart; keep one of them or detune"
        )
    outside = np.flatnonzero(~region.contains(kept)) if kept.size else kept
    if outside.size and not isinstance(plain(region), Candidates):
        raise InvalidInputError(
            f"fixed must lie in the region ({region}), got {kept[outside[0]]:.6g} at index "
            f"{outside[0]}; widen the region or move the member"
        )
    return kept


def _require_within_reach(region: Region, fixed: Array, steps: int | float, criterion: str) -> None:
    inside = plain(region)
    unbounded = isinstance(inside, Interval) and not (
        math.isfinite(inside.low) and math.isfinite(inside.high)
    )
    above = isinstance(inside, Interval) and not math.isfinite(inside.high)
    if isinstance(region, Rates):
        size = largest_rate(region) * region.dt
        if above or size > 300 or largest_modulus(region) ** 2 == math.inf:
            raise InvalidInputError(
                "region must keep e^{a dt} below e^300; bound the rates from above or shorten dt"
            )
    if (
        unbounded
        and (criterion not in ("condition", "condition_inf"))
        and (above or not isinstance(region, Rates))
    ):
        raise InvalidInputError(
            f"region must be bounded for criterion {criterion!r}: it improves without end as |λ| "
            f"grows; give both ends"
        )
    size = largest_modulus(region)
    if steps != math.inf and criterion != "gap":
        smallest = max(inside.low, -inside.high, 0.0) if isinstance(inside, Interval) else 0.0
        if isinstance(region, Rates) or math.isfinite(size):
            smallest = size
        if smallest > 1 and steps * math.log10(smallest) > _LARGEST_POWER:
            raise InvalidInputError(
                f"region must keep |λ|^H below 1e{_LARGEST_POWER}, got |λ| = {smallest:.4g} with "
                f"H = {steps}; shrink it or take fewer steps"
            )
        return
    if isinstance(inside, Candidates) and fixed.size and not isinstance(region, Rates):
        size = max(size, float(np.max(np.abs(fixed))))
    if not size < 1:
        raise InvalidInputError(
            f"region must lie inside |λ| < 1 for "
            f"{'criterion gap' if criterion == 'gap' else 'an infinite horizon'}, got {region} "
            f"with |λ| up to {size:.6g}; shrink it"
        )
