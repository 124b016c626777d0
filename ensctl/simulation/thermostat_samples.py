"""Samples that a fleet controller is given: one for each step ahead, NaN where missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# Products of two of them are formed.
_LARGEST = 1e150


def over_steps(value: ArrayLike, name: str, steps: int, *, missing: bool = False) -> Array:
    """Real samples, (steps,); a scalar is held.

    Parameters
    ----------
    value : scalar or (steps,)
    name : str
        For the error.
    steps : int
    missing : bool
        Whether NaN (or a mask) is allowed and stands for a missing sample.

    Raises
    ------
    InvalidInputError
        Not real numbers below 1e150, or the wrong shape.

    Examples
    --------
    >>> from ensctl.simulation.thermostat_samples import over_steps
    >>> over_steps(2.0, "reference", 3)
    array([2., 2., 2.])
    """
    try:
        if np.iscomplexobj(value):
            raise TypeError
        with np.errstate(all="ignore"):
            values = np.array(np.ma.filled(np.ma.asarray(value).astype(float), np.nan))
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(f"{name} must be real numbers, got {value!r}") from None
    values = np.full(steps, float(values)) if values.ndim == 0 else values
    if values.shape != (steps,):
        raise InvalidInputError(f"{name} must be a scalar or ({steps},), got shape {values.shape}")
    wrong = np.abs(values) >= _LARGEST
    if not missing:
        wrong |= np.isnan(values)
    if wrong.any():
        raise InvalidInputError(
            f"{name} must be finite and below {_LARGEST:g}, got {values[wrong][0]}"
        )
    return values
