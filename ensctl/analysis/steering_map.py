"""The H-step steering map of an ensemble, factored once and asked many questions.

For one channel the float64 Cauchy kernel factors it; for several channels (or on request) ball
arithmetic does.  Everything below works on the distinct, controllable part of the ensemble.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.controllability import Controllability, controllability
from ensctl.analysis.real_inputs import expand_for_real_inputs
from ensctl.analysis.unit_circle import on_or_outside_unit_circle
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.vandermonde.singular_values import (
    SingularValues,
    check_nodes_within_range,
    singular_values,
    singular_values_of_channels,
)

Array = NDArray[Any]

# Largest N·H·m of a dense factor: 3e7 complex numbers are about half a gigabyte each.
MAX_ELEMENTS = 30_000_000


@dataclass(frozen=True)
class SteeringMap:
    """λ and gains as the factorisations see them, with the exact verdict beside them.

    Attributes
    ----------
    lam : (n,)
        Nodes; conjugates are added where real inputs ask for them.
    gains : (n, m)
        Gains of each channel.
    members : (n,) int
        The member of the ensemble behind each row.
    horizon : int or math.inf
        Number of steps H.
    verdict : Controllability
        Exact rank and reasons.
    """

    lam: Array
    gains: Array
    members: Array
    horizon: int | float
    verdict: Controllability

    @property
    def channels(self) -> int:
        """Number of inputs m."""
        return int(self.gains.shape[1])


def steering_map(
    ens: Ensemble, horizon: int | float, real_inputs: bool | None = None
) -> SteeringMap:
    """Collect the rows of the steering map and the exact verdict; refuse what cannot fit.

    Raises
    ------
    InvalidInputError
        The dense factors would not fit in memory, |λ| ≥ 2^500, or H = ∞ with |λ| ≥ 1.
    """
    check_nodes_within_range(ens.lam)
    if horizon == math.inf:
        outside = np.flatnonzero(on_or_outside_unit_circle(ens.lam))
        if outside.size:
            raise InvalidInputError(
                f"horizon must be finite here: {ens.label(int(outside[0]))} has "
                f"|λ| = {abs(ens.lam[outside[0]]):.6g} ≥ 1; give a number of steps"
            )
    lam, gains, members = ens.lam, ens.gains, np.arange(ens.size)
    if real_inputs:
        form = expand_for_real_inputs(ens.lam, ens.gains)
        lam, gains, members = form.lam, form.gains, np.asarray(form.members)
    columns = lam.size if horizon == math.inf else int(horizon) * gains.shape[1]
    require_dense_size(lam.size, columns)
    exact_horizon = None if horizon == math.inf else int(horizon)
    verdict = controllability(ens, exact_horizon, real_inputs=real_inputs)
    return SteeringMap(lam, gains, members, horizon, verdict)


def require_dense_size(rows: int, columns: int) -> None:
    """Refuse an N × (m H) problem whose factors need more than about half a gigabyte each."""
    elements = min(rows, columns) * (rows + columns)
    if elements > MAX_ELEMENTS:
        raise InvalidInputError(
            f"lam has {rows} members: factors for a horizon with {columns} columns need "
            f"{16e-9 * elements:.3g} GB each, the limit is {16e-9 * MAX_ELEMENTS:.2g} GB; "
            f"take a subset (ens.subset) or a shorter horizon"
        )


def singular_values_of_map(steering: SteeringMap, *, certify: bool = False) -> SingularValues:
    """All singular values of the steering map, by the kernel that applies."""
    if steering.channels == 1 and not certify:
        return singular_values(steering.lam, steering.gains[:, 0], steering.horizon)
    return singular_values_of_channels(
        steering.lam, steering.gains, steering.horizon, steering.verdict.rank
    )


def rows_of_displacement(steering: SteeringMap, displacement: Array) -> Array:
    """A displacement of the members in the rows of the map.

    Under real inputs a single complex member is the two rows d/√2 and d̄/√2.
    """
    members = steering.members
    rows = displacement[members]
    copies = np.bincount(members)[members]
    if np.all(copies == 1):
        return np.asarray(rows)
    second = np.concatenate([[False], members[1:] == members[:-1]])
    return np.asarray(np.where(second, np.conj(rows), rows) / np.sqrt(copies))
