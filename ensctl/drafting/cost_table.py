"""Measured cycle costs: a table over depth and batch, and straight lines in K for each batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_vector, read_only
from ensctl.drafting.convention import as_depths
from ensctl.drafting.cost import CostModel
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

MILLISECONDS = "ms"


@dataclass(frozen=True, eq=False, init=False)
class TableCost(CostModel):
    """Cycle costs as measured at some depths (and batches).

    Between measured depths and between measured batches the cost is interpolated linearly.  Depth
    0 is another mode, not a short draft: it is used only as itself, never to interpolate towards.
    Outside what was measured a cost is refused unless ``extrapolate`` is set; then the outermost
    straight pieces are continued.

    Parameters
    ----------
    depths : (k,) array-like of int
        Measured depths, strictly increasing, ≥ 0.
    cycles : (k,) or (b, k) array-like of float
        Costs > 0; one row for each batch when ``batches`` is given.
    batches : (b,) array-like of float, optional
        Measured batch sizes, strictly increasing, ≥ 1.  Without them every batch costs the same.
    extrapolate : bool
        Continue beyond the measured range.
    unit : str
        Unit of the costs.

    Examples
    --------
    >>> from ensctl.drafting import TableCost
    >>> table = TableCost([0, 1, 3], [10.0, 14.0, 18.0])
    >>> table.cycle(2), table.cycle(0)
    (16.0, 10.0)
    """

    depths: Array
    costs: Array
    batches: Array | None
    extrapolate: bool
    unit: str

    def __init__(
        self,
        depths: ArrayLike,
        cycles: ArrayLike,
        batches: ArrayLike | None = None,
        *,
        extrapolate: bool = False,
        unit: str = MILLISECONDS,
    ) -> None:
        units = _increasing(as_depths(as_vector(depths, "depths", real=True)), "depths", 0)
        streams = None
        if batches is not None:
            streams = _increasing(as_vector(batches, "batches", real=True), "batches", 1)
        shape = (units.size,) if streams is None else (streams.size, units.size)
        costs = as_array(cycles, "cycles", real=True)
        if costs.shape != shape:
            raise InvalidInputError(f"cycles must have shape {shape}, got {costs.shape}")
        if np.any(costs <= 0):
            raise InvalidInputError(f"cycles must be > 0, got {float(costs.min())}")
        object.__setattr__(self, "depths", read_only(units))
        object.__setattr__(self, "costs", read_only(costs))
        object.__setattr__(self, "batches", None if streams is None else read_only(streams))
        object.__setattr__(self, "extrapolate", bool(extrapolate))
        object.__setattr__(self, "unit", unit)

    def _costs(self, depths: Array, batch: float, context: float) -> Array:
        row = self.costs
        if self.batches is not None:
            here = np.array([batch])
            row = np.array([self._between(self.batches, c, here, "batch")[0] for c in row.T])
        idle, measured = depths == 0, self.depths > 0
        if (np.any(idle) and measured[0]) or not (np.all(idle) or np.any(measured)):
            wanted = "0" if measured[0] else f"{np.max(depths):g}"
            raise InvalidInputError(
                f"depth {wanted} was not measured (measured: "
                f"{', '.join(f'{k:g}' for k in self.depths)}); off is its own mode and is neither "
                "extrapolated nor extrapolated from: add it to the table"
            )
        costs = np.full(depths.shape, row[0])
        if not np.all(idle):
            drafts = depths[~idle]
            costs[~idle] = self._between(self.depths[measured], row[measured], drafts, "depth")
        if np.any(costs <= 0):
            raise InvalidInputError(
                f"depth or batch extrapolates to a cost of {float(costs.min()):.4g}, not > 0; "
                "stay nearer to what was measured"
            )
        return costs

    def _between(self, places: Array, values: Array, at: Array, name: str) -> Array:
        """Straight pieces through the points, continued only where that was asked for."""
        low, high = float(places[0]), float(places[-1])
        outside = at[(at < low) | (at > high)]
        if outside.size and not self.extrapolate:
            raise InvalidInputError(
                f"{name} must lie in the measured range [{low:g}, {high:g}], got {outside[0]:g}; "
                "measure there or set extrapolate=True"
            )
        if places.size == 1:
            return np.full(at.shape, values[0])
        left = np.clip(np.searchsorted(places, at, side="right") - 1, 0, places.size - 2)
        share = (at - places[left]) / (places[left + 1] - places[left])
        return (1.0 - share) * values[left] + share * values[left + 1]


@dataclass(frozen=True, eq=False, init=False)
class BatchTable(CostModel):
    """A straight line in K for each measured batch: C(K, B) = verify(B) + K·draft(B).

    Both are interpolated linearly in B.  Any depth is allowed; a batch outside those measured is
    refused unless ``extrapolate`` is set, and then takes the nearest one's costs.

    Parameters
    ----------
    batches : (b,) array-like of float
        Batch sizes, strictly increasing, ≥ 1.
    verify : (b,) array-like of float
        Cost > 0 of a cycle at K → 0: verification and overhead.
    draft : (b,) array-like of float
        Cost ≥ 0 of one more unit.
    off : (b,) array-like of float, optional
        Cost > 0 of a cycle without drafts; ``verify`` when not given.
    extrapolate : bool
        Take the nearest measured batch outside the range.
    unit : str
        Unit of the costs.

    Examples
    --------
    >>> from ensctl.drafting import BatchTable
    >>> table = BatchTable([1, 32], [1.18, 1.66], [0.214, 0.46], unit="verify passes")
    >>> table.cycle(3, batch=32)
    3.04
    """

    batches: Array
    verify: Array
    draft: Array
    off: Array | None
    extrapolate: bool
    unit: str

    def __init__(
        self,
        batches: ArrayLike,
        verify: ArrayLike,
        draft: ArrayLike,
        off: ArrayLike | None = None,
        *,
        extrapolate: bool = False,
        unit: str = MILLISECONDS,
    ) -> None:
        streams = _increasing(as_vector(batches, "batches", real=True), "batches", 1)
        bases = as_vector(verify, "verify", size=streams.size, real=True)
        slopes = as_vector(draft, "draft", size=streams.size, real=True)
        without = None if off is None else as_vector(off, "off", size=streams.size, real=True)
        for name, values in [("verify", bases), ("off", without)]:
            if values is not None and np.any(values <= 0):
                raise InvalidInputError(f"{name} must be > 0, got {float(values.min())}")
        if np.any(slopes < 0):
            raise InvalidInputError(f"draft must be ≥ 0, got {float(slopes.min())}")
        object.__setattr__(self, "batches", read_only(streams))
        object.__setattr__(self, "verify", read_only(bases))
        object.__setattr__(self, "draft", read_only(slopes))
        object.__setattr__(self, "off", None if without is None else read_only(without))
        object.__setattr__(self, "extrapolate", bool(extrapolate))
        object.__setattr__(self, "unit", unit)

    def _costs(self, depths: Array, batch: float, context: float) -> Array:
        low, high = float(self.batches[0]), float(self.batches[-1])
        if not low <= batch <= high and not self.extrapolate:
            raise InvalidInputError(
                f"batch must lie in the measured range [{low:g}, {high:g}], got {batch:g}; "
                "measure there or set extrapolate=True"
            )
        base = np.interp(batch, self.batches, self.verify)
        costs = base + np.interp(batch, self.batches, self.draft) * depths
        if self.off is None:
            return costs
        return np.where(depths == 0, np.interp(batch, self.batches, self.off), costs)


def _increasing(values: Array, name: str, least: int) -> Array:
    if values[0] < least or np.any(np.diff(values) <= 0):
        raise InvalidInputError(
            f"{name} must be ≥ {least} and strictly increasing, got {values.tolist()}; sort them "
            "and average what was measured twice"
        )
    return values
