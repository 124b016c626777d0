"""How closely the target has to be met: exactly, within a tolerance, or at a price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_scalar, read_only
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


@dataclass(frozen=True)
class Exact:
    """x_H = target, to rounding."""


@dataclass(frozen=True, eq=False)
class PerMember:
    """|x_{i,H} − target_i| ≤ radius_i for every member."""

    radius: Array


@dataclass(frozen=True)
class Rms:
    """√(Σ |x_{i,H} − target_i|²/N) ≤ radius.

    Parameters
    ----------
    radius : float
        > 0, in the unit of the states.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.Rms(0.01).radius
    0.01
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", as_scalar(self.radius, "radius", above=0.0))


@dataclass(frozen=True)
class TerminalCost:
    """No terminal constraint: weight · Σ |x_{i,H} − target_i|² is added to the objective.

    Parameters
    ----------
    weight : float
        > 0; the price of a squared terminal error in units of the objective.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.TerminalCost(100.0).weight
    100.0
    """

    weight: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", as_scalar(self.weight, "weight", above=0.0))


Terminal = Exact | PerMember | Rms | TerminalCost


def as_terminal(tol: ArrayLike | Rms | TerminalCost | None, size: int) -> Terminal:
    """Read ``tol``: None, a scalar or (N,) per member, Rms or TerminalCost.

    Raises
    ------
    InvalidInputError
        Not positive, or not one per member.
    """
    if tol is None:
        return Exact()
    if isinstance(tol, Rms | TerminalCost):
        return tol
    radius = as_array(tol, "tol", real=True)
    if radius.ndim == 0:
        radius = np.full(size, radius[()])
    if radius.shape != (size,):
        raise InvalidInputError(
            f"tol must be a scalar, ({size},), ec.Rms or ec.TerminalCost, got shape {radius.shape}"
        )
    if np.any(radius <= 0):
        raise InvalidInputError(
            f"tol must be > 0, got {radius.min():g}; leave it out to meet the target exactly"
        )
    return PerMember(read_only(radius))
