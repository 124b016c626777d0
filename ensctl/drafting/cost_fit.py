"""Straight-line cycle costs from measurements at a few depths, for one batch or several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_vector, read_only
from ensctl.display import Summarised
from ensctl.drafting.convention import as_depths
from ensctl.drafting.cost import CostModel, LinearCost
from ensctl.drafting.cost_table import MILLISECONDS, BatchTable
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CostFit(Summarised):
    """Result of :func:`fit_linear_cost`.

    Attributes
    ----------
    cost : CostModel
        A :class:`LinearCost` without batches, a :class:`BatchTable` with them.
    batches : (b,) ndarray or None
        Batch sizes, one for each line.
    verify, draft : (b,) ndarray
        Intercept and slope of each line, in ``unit``.
    verify_error, draft_error : (b,) ndarray
        Their standard errors from the scatter; inf with two measurements, which always fit.
    depths, cycles : (n,) ndarray
        The drafted measurements used, K ≥ 1, in the order given.
    residuals : (n,) ndarray
        Measured minus fitted, in ``unit``.
    flattened : tuple of int
        Lines (positions in ``batches``) whose slope came out negative and was set to 0.
    unit : str
        Unit of the costs.
    """

    cost: CostModel
    batches: Array | None
    verify: Array
    draft: Array
    verify_error: Array
    draft_error: Array
    depths: Array
    cycles: Array
    residuals: Array
    flattened: tuple[int, ...]
    unit: str

    @property
    def relative_error(self) -> float:
        """Mean of |residual|/measured."""
        return float(np.mean(np.abs(self.residuals) / self.cycles))

    @property
    def worst_relative_error(self) -> float:
        """Largest |residual|/measured."""
        return float(np.max(np.abs(self.residuals) / self.cycles))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "cost_fit",
            {
                "batches": self.batches,
                "verify": self.verify,
                "draft": self.draft,
                "verify_error": self.verify_error,
                "draft_error": self.draft_error,
                "depths": self.depths,
                "cycles": self.cycles,
                "residuals": self.residuals,
                "flattened": self.flattened,
                "relative_error": self.relative_error,
                "unit": self.unit,
            },
        )

    def __str__(self) -> str:
        lines = [
            f"cycle cost fitted to {self.cycles.size} measurements: mean error "
            f"{100 * self.relative_error:.2g} %, worst {100 * self.worst_relative_error:.2g} %"
        ]
        for place in range(min(self.verify.size, 8)):
            batch = "" if self.batches is None else f" at batch {self.batches[place]:g}"
            lines.append(
                f"C(K) = {self.verify[place]:.5g} + {self.draft[place]:.5g} K {self.unit}{batch}"
            )
        if self.verify.size > 8:
            lines.append(f"… ({self.verify.size - 8} more batches)")
        if self.flattened:
            lines.append(f"{len(self.flattened)} lines fell with K and were made flat")
        return "\n".join(lines)


def fit_linear_cost(
    depths: ArrayLike,
    cycles: ArrayLike,
    *,
    batches: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    unit: str = MILLISECONDS,
) -> CostFit:
    """Fit C(K) = verify + K·draft to measured cycle costs, for each batch on its own.

    Weighted least squares with draft ≥ 0.  Measurements at K = 0 are cycles without drafts: they
    give the cost of off and take no part in the line.  Verification and overhead are not told
    apart; their sum is ``verify``.

    Parameters
    ----------
    depths : (n,) array-like of int
        Depth K ≥ 0 of each measurement; at least two different K ≥ 1 for each batch, K = 1 and 3
        are enough.
    cycles : (n,) array-like of float
        Measured cost > 0 of a cycle: mean inter-token latency of a stream, where a chunk is a
        cycle.
    batches : (n,) array-like of float, optional
        Batch size of each measurement; without it all are of one kind.
    weights : (n,) array-like of float, optional
        Relative weights > 0: inverse variances.  Equal when not given.
    unit : str
        Unit of ``cycles``.

    Returns
    -------
    CostFit
        ``cost`` to plan with, and residuals.

    Raises
    ------
    InvalidInputError
        Costs or weights not > 0, depths not integers ≥ 0, lengths that differ, NaN.
    NotIdentifiableError
        A batch with fewer than two depths K ≥ 1, or a line that is not > 0 at K = 0; off measured
        for some batches only.

    Notes
    -----
    Costs that fall with K are noise or corrupt rows: such a line becomes flat, through the
    weighted mean, and is named in ``flattened``.

    Examples
    --------
    >>> from ensctl.drafting import fit_linear_cost
    >>> fit = fit_linear_cost([0, 1, 3], [10.0, 13.94, 18.22])
    >>> fit.cost
    LinearCost(draft=2.14, verify=11.8, overhead=0.0, off=10.0, unit='ms')
    """
    units = as_depths(as_vector(depths, "depths", real=True))
    costs = _positive(cycles, "cycles", units.size)
    weight = _positive(1.0 if weights is None else weights, "weights", units.size)
    streams = None if batches is None else _positive(batches, "batches", units.size)
    kinds = np.zeros(1) if streams is None else np.unique(streams)
    of_kind = np.zeros(units.size, dtype=np.int64)
    if streams is not None:
        of_kind = np.searchsorted(kinds, streams)

    lines, offs, flattened = [], [], []
    drafted = units > 0
    fitted = np.zeros(units.size)
    for kind in range(kinds.size):
        where = "" if streams is None else f" at batch {kinds[kind]:g}"
        here = (of_kind == kind) & drafted
        line = _line(units[here], costs[here], weight[here], where)
        if line[1] < 0:
            flattened.append(kind)
            line = float(np.average(costs[here], weights=weight[here])), 0.0, *line[2:]
        lines.append(line)
        fitted[here] = line[0] + line[1] * units[here]
        idle = (of_kind == kind) & ~drafted
        if np.any(idle):
            offs.append(float(np.average(costs[idle], weights=weight[idle])))
    if offs and len(offs) < kinds.size:
        raise NotIdentifiableError(
            f"K = 0 was measured for {len(offs)} of {kinds.size} batches; measure it for all or "
            "leave it out"
        )

    verify, draft, verify_error, draft_error = np.array(lines).T.copy()
    cost: CostModel
    if streams is None:
        cost = LinearCost(draft[0], verify[0], off=offs[0] if offs else None, unit=unit)
    else:
        cost = BatchTable(kinds, verify, draft, offs or None, unit=unit)
    return CostFit(
        cost,
        None if streams is None else read_only(kinds),
        read_only(verify),
        read_only(draft),
        read_only(verify_error),
        read_only(draft_error),
        read_only(units[drafted]),
        read_only(costs[drafted]),
        read_only((costs - fitted)[drafted]),
        tuple(flattened),
        unit,
    )


def _line(depths: Array, costs: Array, weights: Array, where: str) -> tuple[float, ...]:
    """Intercept, slope and their standard errors."""
    if np.unique(depths).size < 2:
        seen = ", ".join(f"{k:g}" for k in np.unique(depths)) or "none"
        raise NotIdentifiableError(
            f"depths must hold two different K ≥ 1{where}, got {seen}; measure K = 1 and K = 3"
        )
    share = weights / weights.sum()
    centre, mean = float(share @ depths), float(share @ costs)
    spread = float(share @ (depths - centre) ** 2)
    slope = float(share @ ((depths - centre) * (costs - mean))) / spread
    base = mean - slope * centre
    if base <= 0:
        raise NotIdentifiableError(
            f"cycles extrapolate to a cost of {base:.4g} at K = 0{where}, not > 0; check the rows "
            "or measure more depths"
        )
    if depths.size == 2:
        return base, slope, math.inf, math.inf
    residuals = costs - base - slope * depths
    # Variance of a measurement of average weight, from n − 2 degrees of freedom.
    noise = float(share @ residuals**2) * depths.size / (depths.size - 2)
    slope_variance = noise / (depths.size * spread)
    base_variance = noise / depths.size + slope_variance * centre**2
    return base, slope, math.sqrt(base_variance), math.sqrt(slope_variance)


def _positive(values: ArrayLike, name: str, size: int) -> Array:
    array = as_vector(values, name, size=size, real=True)
    if np.any(array <= 0):
        raise InvalidInputError(f"{name} must be > 0, got {float(array.min())}")
    return array
