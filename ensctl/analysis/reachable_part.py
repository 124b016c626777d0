"""The part of a steering map that can be steered, as independent rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.exact_rank import independent_rows
from ensctl.analysis.steering_map import SteeringMap

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ReachablePart:
    """Independent rows with the same reachable subspace as the whole map.

    Attributes
    ----------
    lam, gains : (r,), (r, m)
        The rows kept.
    movable : (k,) int
        Members that some input moves while every other one stays where it is.
    unit_targets : (r, k) float64
        For each of them, the displacement of the kept rows that moves it to 1.
    """

    lam: Array
    gains: Array
    movable: Array
    unit_targets: Array


def reachable_part(steering: SteeringMap) -> ReachablePart:
    """Keep a maximal set of independent rows and say which members can be moved alone.

    Members of locked groups, members without a gain, and all members when the horizon is too
    short cannot.  Under real inputs a complex member is two rows x/√2 and x̄/√2, and a member
    whose conjugate is another member takes that one along.
    """
    verdict = steering.verdict
    count = steering.lam.size
    size = int(steering.members.max()) + 1
    kept = np.any(steering.gains != 0, axis=1)
    for group in verdict.groups:
        rows = np.flatnonzero(np.isin(steering.members, group.members) & kept)
        rows = rows[steering.lam[rows] == group.value]
        independent = independent_rows(steering.gains[rows])
        kept[np.delete(rows, independent)] = False
    blocked = {*verdict.dead, *(member for group in verdict.locked for member in group)}
    movable = [member for member in range(size) if member not in blocked]
    if verdict.rank < verdict.total_rank:
        movable = []
    targets = np.zeros((count, len(movable)))
    for column, member in enumerate(movable):
        rows = np.flatnonzero(steering.members == member)
        targets[rows, column] = 1.0 / math.sqrt(rows.size)
        if verdict.real_inputs and rows.size == 1:
            targets[_conjugate_row(steering, int(rows[0])), column] = 1.0
    return ReachablePart(
        steering.lam[kept],
        steering.gains[kept],
        np.array(movable, dtype=int),
        targets[kept],
    )


def _conjugate_row(steering: SteeringMap, row: int) -> int:
    """The row (λ̄, B̄) of a row (λ, B) under real inputs: itself when both are real."""
    same = (steering.lam == np.conj(steering.lam[row])) & np.all(
        steering.gains == np.conj(steering.gains[row]), axis=1
    )
    return int(np.flatnonzero(same)[0])
