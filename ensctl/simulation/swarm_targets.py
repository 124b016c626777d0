"""Points in the plane as arguments, and which robot goes to which point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


# The cost matrix of an assignment of this size takes 0.8 GB.
_MOST_ASSIGNED = 10_000


def as_plane(value: ArrayLike, name: str, size: int | None = None) -> Array:
    """Convert (N,) complex numbers x + jy, or (N, 2) real rows x, y, to fresh (N,) complex128.

    Raises
    ------
    InvalidInputError
        Neither shape, no point, not finite, or not ``size`` points.
    """
    array = as_array(value, name)
    if array.ndim == 2 and array.shape[1] == 2 and not np.iscomplexobj(array):
        array = array[:, 0] + 1j * array[:, 1]
    if array.ndim != 1 or array.size == 0:
        raise InvalidInputError(
            f"{name} must be (N,) complex numbers x + jy or (N, 2) real rows x, y with N ≥ 1, got "
            f"shape {array.shape}"
        )
    if size is not None and array.size != size:
        more = "fewer" if array.size < size else "more"
        raise InvalidInputError(
            f"{name} must be one for each of {size} robots, got {array.size}, {more} points than "
            f"robots; sample the shape with {size} points"
        )
    return array.astype(complex)


def plane_rows(places: Array) -> Array:
    """Rows x, y, (N, 2) float64."""
    return np.column_stack([places.real, places.imag])


def nearest_assignment(positions: Array, points: Array) -> Array:
    """The point of each robot that minimises Σ |point − position|², (N,) int.

    Notes
    -----
    That sum is the cost that matters: the least energy of a plan lies between Σ|d|²/σ_max² and
    Σ|d|²/σ_min² whatever the headings are, and the two are close when κ is O(1).
    Jonker–Volgenant, about O(N³) at worst.
    """
    from scipy.optimize import linear_sum_assignment

    if positions.size > _MOST_ASSIGNED:
        raise InvalidInputError(
            f"points must be at most {_MOST_ASSIGNED} when robots are assigned to them, got "
            f"{positions.size}; give assign=False, or fewer robots"
        )
    cost = np.abs(positions[:, None] - points[None, :]) ** 2
    return np.asarray(linear_sum_assignment(cost)[1])


def shape_height(points: Array) -> float:
    """Extent of the points in y, or in x where they all lie on one level; 0 for a single place."""
    tall = float(np.ptp(points.imag))
    return tall if tall > 0.0 else float(np.ptp(points.real))
