"""Which constraints of a mix contradict each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.ratio_program import RatioProgram, RatioSolution, RowConflict
from ensctl.convex.ratio_solver import solve_ratio
from ensctl.errors import InfeasibleError
from ensctl.scheduling.arms import Arms
from ensctl.scheduling.constraints import Constraint

Array = NDArray[Any]


def explain_conflict(
    arms: Arms,
    constraints: tuple[Constraint, ...],
    rows: Array,
    limits: Array,
    proof: RowConflict,
) -> InfeasibleError:
    """The error that names a smallest conflicting set, found by leaving out one at a time."""
    kept = [i for i in range(len(constraints)) if proof.row_prices[i] > 0]
    certificate = proof
    for i in list(kept):
        rest = [j for j in kept if j != i]
        found = _solve(arms, rows[rest], limits[rest])
        if isinstance(found, RowConflict):
            kept, prices = rest, np.zeros(len(constraints))
            prices[rest] = found.row_prices
            certificate = RowConflict(prices, found.time_price, found.margin)
    names = "; ".join(str(constraints[i]) for i in kept)
    if len(kept) == 1:
        return InfeasibleError(f"no mix meets the constraint {names}; loosen it", certificate)
    return InfeasibleError(
        f"no mix meets these constraints together: {names}; loosen one of them", certificate
    )


def _solve(arms: Arms, rows: Array, limits: Array) -> RatioSolution | RowConflict:
    return solve_ratio(
        RatioProgram(arms.mean_lengths[None], arms.cycles, rows, limits, np.zeros((0, arms.size)))
    )
