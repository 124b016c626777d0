"""Convert and check probability distributions over tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# Distributions come from float32 softmaxes: their sums differ from one by a few 1e-7.
_SUM_TOLERANCE = 1e-5


def as_distributions(value: ArrayLike, name: str, *, size: int | None = None) -> Array:
    """Convert to probabilities along the last axis, each non-negative and summing to one.

    Sums within 1e-5 of one are taken as rounding and divided out; anything further is an error.
    """
    array = as_array(value, name, real=True)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InvalidInputError(f"{name} must have at least one token, got shape {array.shape}")
    if size is not None and array.shape[-1] != size:
        raise InvalidInputError(
            f"{name} must have {size} tokens like the target, got {array.shape[-1]}"
        )
    if array.min() < 0:
        where = tuple(int(k) for k in np.argwhere(array < 0)[0])
        raise InvalidInputError(f"{name} must be ≥ 0, got {array[where]} at index {_at(where)}")
    rows = array.reshape(-1, array.shape[-1])
    for row, values in enumerate(rows):
        total = float(values.sum())
        if abs(total - 1.0) > _SUM_TOLERANCE:
            which = name if array.ndim == 1 else f"row {row} of {name}"
            raise InvalidInputError(
                f"{which} must sum to one, got {total:.9g}; divide it by its sum if that is meant"
            )
        values /= total
    return array


def as_distribution(value: ArrayLike, name: str, *, size: int | None = None) -> Array:
    """Convert to one distribution (V,)."""
    array = as_distributions(value, name, size=size)
    if array.ndim != 1:
        raise InvalidInputError(f"{name} must be one distribution (V,), got shape {array.shape}")
    return array


def _at(where: tuple[int, ...]) -> str:
    return ", ".join(str(k) for k in where)
