"""The confidence threshold at which drafts should stop, from units that were tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_vector, read_only
from ensctl.display import Summarised
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.cost import CostModel, as_cost
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned

Array = NDArray[Any]

# Thresholds tried when none are given: quantiles of the confidences.
_THRESHOLDS = 256


@dataclass(frozen=True, eq=False)
class StopThreshold(Summarised):
    """Result of :func:`best_stop_threshold`.

    Attributes
    ----------
    threshold : float
        The confidence below which drafting best stops.
    depth : int
        The largest draft length that goes with it; 0: do not draft.
    throughput : float
        E[L]/E[C] there, in units per unit of cost.
    fixed_depth : int
        The best depth without a threshold.
    fixed_throughput : float
        Its throughput.
    thresholds : (n,) array, read-only
        The thresholds tried, rising.
    curve : (n,) array, read-only
        Throughput at each threshold, at its own best depth.
    stop : (n,) array, read-only
        P(confidence < threshold) at each.
    hazard : (n,) array, read-only
        P(kept | confidence ≥ threshold) at each; 1 where no unit is that confident.
    convention : Convention
        How the units of a cycle are counted.
    """

    threshold: float
    depth: int
    throughput: float
    fixed_depth: int
    fixed_throughput: float
    thresholds: Array
    curve: Array
    stop: Array
    hazard: Array
    convention: Convention

    @property
    def gain(self) -> float:
        """Throughput over that of the best fixed depth, less 1."""
        return self.throughput / self.fixed_throughput - 1.0

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "stop_threshold",
            {
                "threshold": self.threshold,
                "depth": self.depth,
                "throughput": self.throughput,
                "fixed_depth": self.fixed_depth,
                "fixed_throughput": self.fixed_throughput,
                "thresholds": self.thresholds,
                "curve": self.curve,
                "stop": self.stop,
                "hazard": self.hazard,
                "convention": self.convention,
            },
        )

    def __str__(self) -> str:
        return (
            f"stop below confidence {self.threshold:.4g}, at most {self.depth} units: "
            f"{self.throughput:.6g} units per unit of cost ({self.convention.name.lower()})\n"
            f"{self.gain:+.2%} against the best fixed depth {self.fixed_depth}"
        )


def best_stop_threshold(
    confidence: ArrayLike,
    kept: ArrayLike,
    cost: CostModel | float,
    max_depth: int = 64,
    *,
    thresholds: ArrayLike | None = None,
    convention: Convention | str = Convention.WITH_BONUS,
    discard: bool = True,
    batch: float = 1,
    context: float = 0.0,
) -> StopThreshold:
    """The confidence threshold and largest depth of highest throughput, from tested units.

    At threshold τ: s = P(confidence < τ), h = P(kept | confidence ≥ τ), then
    :func:`stopped_draft` at every depth up to ``max_depth``.

    Parameters
    ----------
    confidence : array_like, (n,)
        The drafter's confidence in units that were tested (all before them were kept).
    kept : array_like, (n,)
        1 where the unit was kept, 0 where it was rejected.
    cost : CostModel or float
        What a cycle costs; a number c_d is LinearCost(c_d), in verify passes.
    max_depth : int
        Largest K considered, ≥ 1.
    thresholds : array_like, (k,), optional
        Thresholds to try; default up to 256 quantiles of the confidences.
    convention : Convention or str
        How the units of a cycle are counted.
    discard : bool
        Whether the pass at which the drafter stops is paid.
    batch : float
        Sequences verified together, ≥ 1.
    context : float
        Mean tokens per sequence in the KV cache, ≥ 0.

    Returns
    -------
    StopThreshold
        The lowest threshold among equals; never slower than the best fixed depth.

    Raises
    ------
    InvalidInputError
        Arrays of different lengths, ``kept`` not 0 or 1, or a cost out of range.

    Notes
    -----
    Confidences are taken as independent from unit to unit, and the sample as the law of later
    ones; the estimate at the best threshold is optimistic by the choice among thresholds.

    Examples
    --------
    >>> from ensctl.drafting import best_stop_threshold
    >>> print(best_stop_threshold([0.9, 0.9, 0.9, 0.3], [1, 1, 1, 0], 0.1, discard=False))
    stop below confidence 0.9, at most 64 units: 3.07692 units per unit of cost (with_bonus)
    +40.37% against the best fixed depth 5
    """
    sure = as_vector(confidence, "confidence", real=True)
    outcome = as_vector(kept, "kept", size=sure.size, real=True)
    if np.any((outcome != 0) & (outcome != 1)):
        raise InvalidInputError("kept must be 0 or 1 for every unit")
    deepest, counting = as_depth(max_depth, "max_depth", minimum=1), as_convention(convention)
    cycles = as_cost(cost).cycles(np.arange(deepest + 1), batch, context)
    if cycles.min() <= 0:
        raise InvalidInputError(f"cost must give positive cycles, got {cycles.min():g}")
    if thresholds is None:
        levels = np.quantile(sure, np.linspace(0.0, 1.0, _THRESHOLDS), method="inverted_cdf")
    else:
        levels = as_vector(thresholds, "thresholds", real=True)
    # The lowest confidence stops nothing: fixed depths are among the candidates.
    levels = np.unique(np.append(levels, sure.min()))
    order = np.argsort(sure, kind="stable")
    below = np.searchsorted(sure[order], levels, side="left")
    kept_above = np.append(np.cumsum(outcome[order][::-1])[::-1], 0.0)[below]
    stop = below / sure.size
    hazard = np.divide(
        kept_above, sure.size - below, out=np.ones(levels.size), where=below < sure.size
    )
    rates = _rates(stop, hazard, cycles, counting, discard)
    curve = rates.max(axis=1)
    best, plain = int(np.argmax(curve)), int(np.searchsorted(levels, sure.min()))
    return StopThreshold(
        threshold=float(levels[best]),
        depth=int(np.argmax(rates[best])),
        throughput=float(curve[best]),
        fixed_depth=int(np.argmax(rates[plain])),
        fixed_throughput=float(curve[plain]),
        thresholds=read_only(levels),
        curve=read_only(curve),
        stop=read_only(stop),
        hazard=read_only(hazard),
        convention=counting,
    )


def _rates(stop: Array, hazard: Array, cycles: Array, counting: Convention, discard: bool) -> Array:
    """E[L]/E[C] for every threshold and depth, (n, K + 1); one unit per C(0) at depth 0."""
    orders = np.arange(1.0, cycles.size)
    go = (1.0 - stop)[:, None]
    survival = (go * hazard[:, None]) ** orders
    reach = go ** (orders - 1.0) if discard else go**orders
    if counting is Convention.COMMITTED:
        before = (go * hazard[:, None]) ** (orders - 1.0)
        lengths = np.cumsum(before, axis=1) * go + 1.0 - go
    else:
        lengths = np.cumsum(survival, axis=1)
        if counting is Convention.WITH_BONUS:
            lengths += 1.0
    spent = cycles[0] + np.cumsum(reach * np.diff(cycles), axis=1)
    return np.hstack([np.full((stop.size, 1), 1.0 / cycles[0]), lengths / spent])
