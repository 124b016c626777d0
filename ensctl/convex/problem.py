"""The problem class of this room, as data.

    minimise    f(u) + terminal cost
    subject to  R u − d in the terminal region,  u in a box or in discs,  M_j u − t_j in regions

with f the energy ½‖u‖², the fuel Σ|u_k| or the peak max|u_k|.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Discs, Domain
from ensctl.convex.lq import LQ
from ensctl.convex.regions import Quadratic, Region, Zero
from ensctl.convex.rows import Rows
from ensctl.convex.stacking import moduli
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


_EXACT = Zero()


class Objective(Enum):
    """What is minimised; moduli where inputs are stacked complex numbers."""

    ENERGY = "energy"
    FUEL = "fuel"
    PEAK = "peak"


@dataclass(frozen=True, eq=False)
class Problem:
    """One optimisation over inputs.

    Attributes
    ----------
    objective : Objective
    system : LQ
        R = L Qᵀ.
    coordinates : (N,) float64
        c = L^{-1} d.
    domain : Box or Discs
        Discs exactly when the inputs are stacked complex numbers.
    terminal : Region
        Where R u − d = L (Qᵀu − c) lies, or what it costs.
    limits : tuple of Rows
        Slew, state and output limits.
    """

    objective: Objective
    system: LQ
    coordinates: Array
    domain: Domain
    terminal: Region = _EXACT
    limits: tuple[Rows, ...] = ()

    def __post_init__(self) -> None:
        size, count = self.system.basis.shape
        if self.coordinates.shape != (count,):
            raise InvalidInputError(
                f"coordinates must have {count} entries, got shape {self.coordinates.shape}"
            )
        if self.domain.size != size:
            raise InvalidInputError(f"domain must have {size} real entries, got {self.domain.size}")
        for position, rows in enumerate(self.limits):
            if rows.matrix.shape != (rows.count, size):
                raise InvalidInputError(
                    f"limits[{position}].matrix must have shape ({rows.count}, {size}), "
                    f"got {rows.matrix.shape}"
                )

    @property
    def stacked(self) -> bool:
        """True when the inputs are stacked complex numbers."""
        return isinstance(self.domain, Discs)

    def sizes(self, inputs: Array) -> Array:
        """|u_k|."""
        return moduli(inputs) if self.stacked else np.abs(inputs)

    def input_cost(self, inputs: Array) -> float:
        """f(u)."""
        return _COST[self.objective](self.sizes(inputs))

    def terminal_cost(self, inputs: Array) -> float:
        """What R u − d costs; 0 unless the terminal region has a cost."""
        if isinstance(self.terminal, Quadratic):
            return self.terminal.cost(self.terminal_error(inputs))
        return 0.0

    def terminal_error(self, inputs: Array) -> Array:
        """R u − d, computed as L (Qᵀu − c)."""
        return self.system.factor @ (self.system.basis.T @ inputs - self.coordinates)


_COST = {
    Objective.ENERGY: lambda sizes: 0.5 * float(sizes @ sizes),
    Objective.FUEL: lambda sizes: float(sizes.sum()),
    Objective.PEAK: lambda sizes: float(sizes.max()),
}
