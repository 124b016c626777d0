"""A mix of arms: shares, throughput, prices and the proof that nothing is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count
from ensctl.display import Plotted, Summarised
from ensctl.drafting.cost import one_of
from ensctl.scheduling.arms import Arms
from ensctl.serialization import versioned

Array = NDArray[Any]

_SHOWN = 1e-9


@dataclass(frozen=True)
class ConstraintPrice:
    """What a constraint costs.

    Attributes
    ----------
    constraint : str
        The constraint in words.
    price : float
        Change of throughput per unit of the constraint's limit, in throughput per that unit; 0
        where it is not active.
    sentence : str
        The same in words.
    """

    constraint: str
    price: float
    sentence: str


@dataclass(frozen=True)
class SingleArm:
    """One arm on its own.

    Attributes
    ----------
    name : str
        Drafter and depth.
    throughput : float
        Units per cost and stream; the worst region's where the worst is maximised.
    """

    name: str
    throughput: float


@dataclass(frozen=True, eq=False)
class Allocation(Plotted, Summarised):
    """Result of :func:`allocate`.

    Attributes
    ----------
    arms : Arms
        The arms that could be broadcast.
    shares : (n,) array, read-only
        x, the share of cycles of each arm, summing to one.
    throughput : float
        Units per cost and stream that the objective counts: the mean over regions by weight, or
        the worst region's, with the robust penalty taken off.
    upper_bound : float
        No mix has more: recomputed from the multipliers by weak duality.
    region_throughputs : (r,) array, read-only
        Units per cost and stream in each region.
    mean_cycle : float
        Σ x_aC_a, with switching.
    prices : tuple of ConstraintPrice
        One for each constraint; none where switching makes the problem discrete.
    best_single : SingleArm or None
        The best arm that meets every constraint on its own, with the same guarantee as the mix;
        None where none does.
    unconstrained : SingleArm
        The best arm without side constraints.  A mix beats it only where the worst region or the
        worst of an ellipsoid counts.
    resident : tuple of str
        Drafters kept in memory.
    objective : str
        What was maximised, in words.
    batch : float
        Streams that hear the broadcast.
    """

    arms: Arms
    shares: Array
    throughput: float
    upper_bound: float
    region_throughputs: Array
    mean_cycle: float
    prices: tuple[ConstraintPrice, ...]
    best_single: SingleArm | None
    unconstrained: SingleArm
    resident: tuple[str, ...]
    objective: str
    batch: float

    _plot_function: ClassVar[str] = "allocation"

    @property
    def gap(self) -> float:
        """Upper bound less throughput, relative to the throughput."""
        return (self.upper_bound - self.throughput) / abs(self.throughput or 1.0)

    @property
    def total_throughput(self) -> float:
        """Units per cost over all streams."""
        return self.batch * self.throughput

    @property
    def mix(self) -> dict[str, float]:
        """Share of cycles by arm, for the arms in use."""
        pairs = zip(self.arms.names, self.shares.tolist(), strict=True)
        return {name: share for name, share in pairs if share > _SHOWN}

    def sequence(self, cycles: int) -> Array:
        """Arm of each of ``cycles`` cycles, as near to the shares as whole cycles allow.

        The arm that is furthest behind its share goes next; after any number of cycles every
        arm is within one cycle of its share for two arms, and within n − 1 for n.
        """
        count = as_count(cycles, "cycles")
        used = np.flatnonzero(self.shares > _SHOWN)
        shares = self.shares[used] / self.shares[used].sum()
        played, order = np.zeros(used.size), np.empty(count, dtype=np.int64)
        for t in range(count):
            behind = int(np.argmax(shares * (t + 1) - played))
            played[behind] += 1
            order[t] = used[behind]
        return order

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "allocation",
            {
                "mix": self.mix,
                "throughput": self.throughput,
                "upper_bound": self.upper_bound,
                "total_throughput": self.total_throughput,
                "region_throughputs": dict(
                    zip(self.arms.regions, self.region_throughputs.tolist(), strict=True)
                ),
                "mean_cycle": self.mean_cycle,
                "prices": self.prices,
                "best_single": self.best_single,
                "unconstrained": self.unconstrained,
                "resident": self.resident,
                "objective": self.objective,
                "batch": self.batch,
                "unit": self.arms.unit,
            },
        )

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {100 * share:.4g} %" for name, share in self.mix.items())
        lines = [
            f"{self.throughput:.6g} units per {one_of(self.arms.unit)} and stream "
            f"({self.objective}; bound {self.upper_bound:.6g})",
            f"mix of cycles: {parts}; mean cycle {self.mean_cycle:.6g} {self.arms.unit}",
        ]
        if self.best_single is None:
            lines.append("no single arm meets the constraints")
        else:
            single = self.best_single.throughput
            gain = (
                f" ({100 * (self.throughput / single - 1):+.2f} % by mixing)" if single > 0 else ""
            )
            lines.append(f"best single arm {self.best_single.name}: {single:.6g}{gain}")
        lines += [price.sentence for price in self.prices if price.price != 0][:8]
        return "\n".join(lines)
