"""Convert and check arguments: array-likes in, read-only float64 or complex128 arrays out.

Each function names the argument in its error and says what was required, what was got and
what to do, so that entry points can start with conversions alone.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.errors import InvalidInputError

Array = NDArray[Any]


def read_only(array: Array) -> Array:
    """Return ``array`` with its write flag cleared (the caller hands over ownership)."""
    array.setflags(write=False)
    return array


def as_array(value: ArrayLike, name: str, *, real: bool = False) -> Array:
    """Convert to a fresh, finite float64 or complex128 array of any shape.

    A complex array whose imaginary parts are all exactly zero becomes real.

    Raises
    ------
    InvalidInputError
        Not numeric, NaN, infinite, or complex where ``real`` is asked for.
    """
    if np.ma.is_masked(value):
        raise InvalidInputError(
            f"{name} must not have masked entries: what is behind a mask is not known; fill or "
            "leave out those entries"
        )
    try:
        array = np.array(value)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{name} must be numbers in a regular array: {error}") from None
    if array.dtype == object or array.dtype.kind not in "biufc":
        try:
            array = array.astype(complex)
        except (ValueError, TypeError, OverflowError):
            raise InvalidInputError(
                f"{name} must be numeric, got values of type {_kind(array)}; convert them first"
            ) from None
    if array.dtype.kind == "c":
        array = array.astype(np.complex128)
        if not np.any(array.imag):
            array = array.real.copy()
        elif real:
            raise InvalidInputError(f"{name} must be real, got complex values")
    else:
        array = array.astype(np.float64)
    if array.ndim == 0 and not np.isfinite(array):
        raise InvalidInputError(f"{name} must be finite, got {value!r}; give a number")
    if not np.all(np.isfinite(array)):
        position = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        where = ", ".join(str(k) for k in position)
        raise InvalidInputError(
            f"{name} must be finite, got {array[position]} at index {where}; remove or replace it"
        )
    return array


def as_vector(value: ArrayLike, name: str, *, size: int | None = None, real: bool = False) -> Array:
    """Convert to a fresh 1-D array with at least one entry, of length ``size`` if given.

    A scalar is broadcast when ``size`` is given.
    """
    array = as_array(value, name, real=real)
    if array.ndim == 0:
        array = array.reshape(1) if size is None else np.full(size, array[()])
    if array.ndim != 1:
        raise InvalidInputError(
            f"{name} must be one-dimensional, got shape {array.shape}; flatten it"
        )
    if array.size == 0:
        raise InvalidInputError(f"{name} must have at least one entry, got none")
    if size is not None and array.size != size:
        raise InvalidInputError(f"{name} must have {size} entries, got {array.size}")
    return array


def as_horizon(value: Any, name: str = "horizon", *, infinite: bool = False) -> int | float:
    """Check a horizon H: an integer ≥ 1, or ``math.inf`` where ``infinite`` allows it."""
    if infinite and isinstance(value, float) and value == math.inf:
        return math.inf
    allowed = "an integer ≥ 1" + (" or math.inf" if infinite else "")
    if isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"{name} must be {allowed}, got {value}")
    try:
        horizon = operator.index(value)
    except TypeError:
        raise InvalidInputError(f"{name} must be {allowed}, got {value!r}") from None
    if horizon < 1:
        raise InvalidInputError(f"{name} must be {allowed}, got {horizon}")
    return horizon


def as_count(value: Any, name: str, *, minimum: int = 1) -> int:
    """Check a count: an integer ≥ ``minimum``."""
    try:
        count = operator.index(value)
    except TypeError:
        raise InvalidInputError(f"{name} must be an integer ≥ {minimum}, got {value!r}") from None
    if isinstance(value, bool | np.bool_) or count < minimum:
        raise InvalidInputError(f"{name} must be an integer ≥ {minimum}, got {value!r}")
    return count


def as_scalar(
    value: Any,
    name: str,
    *,
    above: float | None = None,
    below: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> float:
    """Check a finite real number, optionally within open or closed bounds."""
    if value is np.ma.masked:
        raise InvalidInputError(f"{name} must be a real number, got a masked entry")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} must be a real number, got {value!r}") from None
    except OverflowError:
        raise InvalidInputError(f"{name} must fit into float64, got more than 1e308") from None
    rules = [
        (above is None or number > above, f"> {above}"),
        (below is None or number < below, f"< {below}"),
        (at_least is None or number >= at_least, f"≥ {at_least}"),
        (at_most is None or number <= at_most, f"≤ {at_most}"),
    ]
    if not math.isfinite(number):
        raise InvalidInputError(f"{name} must be finite, got {number}")
    for holds, text in rules:
        if not holds:
            raise InvalidInputError(f"{name} must be {text}, got {number}")
    return number


def _kind(array: Array) -> str:
    for item in array.ravel():
        if not isinstance(item, int | float | complex | np.number):
            return type(item).__name__
    return str(array.dtype)
