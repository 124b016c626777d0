"""What a plan is asked for: drafters, loads, depths, the cost of off, and weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_scalar, as_vector
from ensctl.drafting.convention import as_depth
from ensctl.drafting.cost import as_cost
from ensctl.drafting.drafter import Drafter, as_drafters
from ensctl.errors import InvalidInputError
from ensctl.scheduling.plan_table_result import range_ends

Array = NDArray[Any]

MAX_LOADS = 65_536


def plan_pool(drafters: Any, cost: Any) -> list[tuple[str, Any, Any]]:
    """Name, acceptance and cost of every drafter."""
    several = isinstance(drafters, Sequence) and not isinstance(drafters, str)
    if isinstance(drafters, Drafter) or (
        several and (not drafters or any(isinstance(entry, Drafter) for entry in drafters))
    ):
        if cost is not None:
            raise InvalidInputError("cost must not be given, every drafter has its own")
        pool = as_drafters([drafters] if isinstance(drafters, Drafter) else drafters)
        return [(drafter.name, drafter.acceptance, drafter.cost) for drafter in pool]
    if drafters is None:
        raise InvalidInputError("drafters must be given, got None")
    if cost is None:
        raise InvalidInputError("cost must be given with an acceptance, got None")
    return [("drafter", drafters, as_cost(cost))]


def plan_loads(loads: Any) -> Array:
    """Batches planned for, (b,) of int, increasing."""
    if isinstance(loads, int | np.integer) and not isinstance(loads, bool):
        batches = np.arange(1, max(int(loads), 0) + 1, dtype=np.int64)
    else:
        values = as_vector(loads, "loads", real=True)
        if np.any(values != np.floor(values)):
            raise InvalidInputError("loads must be whole batches")
        batches = values.astype(np.int64)
    if not batches.size or batches[0] < 1 or np.any(np.diff(batches) <= 0):
        raise InvalidInputError(
            f"loads must be ≥ 1 and strictly increasing, got {np.asarray(loads).tolist()}"
        )
    if batches.size > MAX_LOADS:
        raise InvalidInputError(
            f"loads must be at most {MAX_LOADS}, got {batches.size}; list fewer of them"
        )
    return batches


def plan_options(max_depth: int, depths: Iterable[int] | None, off: bool) -> Array:
    """Depths that compete, (k,), ascending; 0 where off does."""
    most = as_depth(max_depth, "max_depth")
    if most < 1:
        raise InvalidInputError("max_depth must be ≥ 1, got 0: depth 0 alone is no plan")
    if not (depths is None or isinstance(depths, Iterable)):
        raise InvalidInputError(f"depths must be a list, got {depths!r}; max_depth is one number")
    listed = range(1, most + 1) if depths is None else {as_depth(k, "depths") for k in depths}
    chosen = sorted({depth for depth in listed if 1 <= depth <= most})
    if not chosen:
        raise InvalidInputError(
            f"depths must have one from 1 to max_depth = {most}: depth 0 alone is no plan"
        )
    return np.array([0, *chosen] if off else chosen, dtype=np.float64)


def plan_overhead(overhead: Any, batches: Array) -> Array:
    """What off costs more with a drafter loaded, as a share at each batch, (b,)."""
    if not isinstance(overhead, Mapping):
        share = as_scalar(overhead, "loaded_off_overhead", at_least=0)
        return np.full(batches.size, share)
    if not overhead:
        raise InvalidInputError("loaded_off_overhead must have a batch, got an empty mapping")
    known = {
        as_scalar(key, "loaded_off_overhead", at_least=1): as_scalar(
            value, "loaded_off_overhead", at_least=0
        )
        for key, value in overhead.items()
    }
    axis = sorted(known)
    return np.interp(np.log(batches), np.log(axis), [known[key] for key in axis])


def plan_weights(weights: ArrayLike | None, batches: Array) -> Array:
    """Share of each load, (b,): as given, or by the logarithm of the range it stands for."""
    if weights is None:
        edges = np.append(0.5, range_ends(batches) + 0.5)
        share = np.diff(np.log(edges))
    else:
        share = as_vector(weights, "weights", size=batches.size, real=True)
        if share.min() < 0 or share.sum() <= 0:
            raise InvalidInputError("weights must be ≥ 0 and not all zero")
    return np.asarray(share / share.sum())
