"""How many members a response shows: singular values that stand out of the noise, and the gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.estimation.pencil import ResponseSpace

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Singular values of white noise spread about 1 ± √(rows/columns); the factor covers that Hankel
# matrices repeat their entries.
_SPREAD = 1.35
# Rounding in singular values of a matrix whose largest is 1.
_ROUNDING = 100 * _EPS
# Below this ratio the order is one guess of several.
CLEAR_GAP = 3.0


@dataclass(frozen=True, eq=False)
class OrderSelection:
    """The choice of an order.

    Attributes
    ----------
    order : int
        Number of singular values above ``threshold``.
    singular_values : (rows,) float64, read-only
        Of the output Hankel matrix with the input removed, per √columns, in units of the output.
    noise_floor : float
        Level of the singular values that only noise explains; about its standard deviation.
    threshold : float
        What a singular value must exceed to count.
    gap : float
        Last singular value that counts over the first that does not; inf without such.
    """

    order: int
    singular_values: Array
    noise_floor: float
    threshold: float
    gap: float


def select_order(space: ResponseSpace, limit: int) -> OrderSelection:
    """Count the singular values above the noise, which the weaker half shows.

    Parameters
    ----------
    space : ResponseSpace
        Of :func:`~ensctl.estimation.pencil.response_space`.
    limit : int
        The largest order to return.

    Returns
    -------
    OrderSelection

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.estimation.pencil import response_space
    >>> y = 0.5 ** np.arange(20) + 0.8 ** np.arange(20)
    >>> select_order(response_space(y, np.zeros(20), 7), 5).order
    2
    """
    values = space.values
    floor = float(np.median(values[values.size // 2 :]))
    spread = 1.0 + float(np.sqrt(values.size / max(space.columns, 1)))
    threshold = max(_SPREAD * spread * floor, _ROUNDING * float(values[0]))
    order = min(int(np.sum(values > threshold)), limit)
    return OrderSelection(
        order, read_only(values.copy()), floor, threshold, gap_after(values, order)
    )


def gap_after(values: Array, order: int) -> float:
    """Ratio of the ``order``-th singular value and the next; inf where there is none."""
    if not 0 < order < values.size or values[order] == 0.0:
        return float("inf")
    return float(values[order - 1] / values[order])
