"""What becomes of a plan if α or the cost is not what it was planned with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.scheduling.plan_table_surface import Surface

Array = NDArray[Any]

OFF_BY = 0.1


@dataclass(frozen=True)
class Degradation:
    """The plan as it is, in a world that differs.

    Attributes
    ----------
    case : str
        What differs, in words.
    change : float
        Mean relative change of the plan's throughput against what was predicted.
    mean_loss : float
        Mean over loads of what a plan made for this world would gain: 1 − T/T_best.
    worst_loss : float
        The greatest such loss.
    worst_batch : int
        Where it is.
    """

    case: str
    change: float
    mean_loss: float
    worst_loss: float
    worst_batch: int

    def __str__(self) -> str:
        return (
            f"{self.case}: throughput {100 * self.change:+.2g} %, of it lost by a wrong depth "
            f"{100 * self.mean_loss:.2g} % on average, {100 * self.worst_loss:.2g} % at worst "
            f"(batch {self.worst_batch})"
        )


def degradation(
    surface: Surface, columns: Array, batches: Array, weights: Array
) -> tuple[Degradation, ...]:
    """The plan ``columns`` (c, b) with α and with the cost of drafted cycles 10 % off."""
    percent = f"{100 * OFF_BY:g} %"
    worlds = {
        f"α {percent} lower": surface.with_acceptance(1.0 - OFF_BY),
        f"drafted cycles {percent} dearer": surface.with_cost(1.0 + OFF_BY),
        f"α {percent} higher": surface.with_acceptance(1.0 + OFF_BY),
        f"drafted cycles {percent} cheaper": surface.with_cost(1.0 - OFF_BY),
    }
    predicted = _chosen(surface.rates, columns)
    return tuple(
        _case(name, world.rates, columns, predicted, batches, weights)
        for name, world in worlds.items()
    )


def _case(
    name: str, rates: Array, columns: Array, predicted: Array, batches: Array, weights: Array
) -> Degradation:
    reached = _chosen(rates, columns)
    loss = 1.0 - reached / rates.max(axis=2)
    worst = np.unravel_index(int(np.argmax(loss)), loss.shape)
    return Degradation(
        name,
        float(np.mean((reached / predicted - 1.0) @ weights)),
        float(np.mean(loss @ weights)),
        float(loss[worst]),
        int(batches[worst[1]]),
    )


def _chosen(rates: Array, columns: Array) -> Array:
    return np.asarray(np.take_along_axis(rates, columns[:, :, None], axis=2)[:, :, 0])
