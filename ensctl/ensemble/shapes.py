"""Convert the arguments of an ensemble: gains, weights, feed-through, names and member numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import Array, as_array, read_only
from ensctl.errors import InvalidInputError

# Names stand in one-line errors and in files: nothing that breaks a line or cannot be encoded.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def as_gains(b: ArrayLike, size: int, name: str = "b") -> Array:
    """Gains as (N,) or (N, m); a scalar is broadcast to (N,)."""
    gains = as_array(b, name)
    if gains.ndim == 0:
        return np.full(size, gains[()])
    if gains.ndim > 2 or gains.shape[0] != size or gains.size == 0:
        hint = "; transpose it" if gains.ndim == 2 and gains.shape[1] == size else ""
        raise InvalidInputError(
            f"{name} must be a scalar or have shape ({size},) or ({size}, channels) to match the "
            f"{size} λ, got {gains.shape}{hint}"
        )
    return gains


def as_weights(c: ArrayLike | None, size: int) -> Array:
    """Output weights as (N,) or (p, N); None is the mean, a scalar is broadcast to (N,)."""
    if c is None:
        return np.full(size, 1.0 / size)
    weights = as_array(c, "c")
    if weights.ndim == 0:
        return np.full(size, weights[()])
    if weights.ndim > 2 or weights.shape[-1] != size or weights.size == 0:
        hint = "; transpose it" if weights.ndim == 2 and weights.shape[0] == size else ""
        raise InvalidInputError(
            f"c must be a scalar or have shape ({size},) or (outputs, {size}) to match the "
            f"{size} λ, got {weights.shape}{hint}"
        )
    return weights


def as_feedthrough(d: ArrayLike, outputs: int, channels: int) -> float | complex | Array:
    """Feed-through as a Python number or as a read-only (p, m) array."""
    values = as_array(d, "d")
    if values.ndim == 0:
        number: float | complex = values.item()
        return number
    if values.shape != (outputs, channels):
        raise InvalidInputError(
            f"d must be a scalar or have shape (outputs, channels) = ({outputs}, {channels}), got "
            f"{values.shape}"
        )
    return read_only(values)


def as_names(names: Iterable[str], size: int) -> tuple[str, ...]:
    """One printable name per member, stripped of surrounding white space."""
    if isinstance(names, str):
        raise InvalidInputError(f"names must be a sequence of {size} strings, got one string")
    try:
        given = tuple(names)
    except TypeError:
        raise InvalidInputError(
            f"names must be a sequence of {size} strings, got {type(names).__name__}"
        ) from None
    if len(given) != size:
        raise InvalidInputError(f"names must have {size} entries, one per λ, got {len(given)}")
    if not all(issubclass(kind, str) for kind in set(map(type, given))):
        i = next(i for i, name in enumerate(given) if not isinstance(name, str))
        raise InvalidInputError(
            f"names must be strings, got {type(given[i]).__name__} at index {i}; convert it by str"
        )
    if _UNPRINTABLE.search("".join(given)):
        i = next(i for i, name in enumerate(given) if _UNPRINTABLE.search(name))
        raise InvalidInputError(
            f"names must have no line breaks or control characters, got {given[i]!r} at index {i}; "
            f"remove them"
        )
    return tuple(str(name).strip() for name in given)


def as_indices(idx: ArrayLike | slice, size: int) -> Array:
    """Member numbers 0 … N−1 from integers, a mask of N booleans, or a slice."""
    if isinstance(idx, slice):
        return _not_empty(np.arange(size)[idx])
    try:
        values = np.atleast_1d(np.asarray(idx))
    except ValueError as error:
        raise InvalidInputError(f"idx must be a flat list of members: {error}") from None
    if values.size == 0:
        return _not_empty(values)
    if values.dtype == bool:
        if values.shape != (size,):
            raise InvalidInputError(
                f"idx must have one boolean for each of the {size} members, got {values.shape}"
            )
        return _not_empty(np.flatnonzero(values))
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise InvalidInputError(
            f"idx must be a flat list of integers, booleans or a slice, got {_described(values)}"
        )
    outside = (values < -size) | (values >= size)
    if np.any(outside):
        raise InvalidInputError(
            f"idx must be members of 0 … {size - 1}, got {values[outside][0]}; remove it"
        )
    chosen: Array = np.where(values < 0, values + size, values).astype(np.intp)
    return chosen


def _not_empty(chosen: Array) -> Array:
    if chosen.size == 0:
        raise InvalidInputError("idx must choose at least one member, got none")
    return chosen


def _described(values: Array) -> Any:
    return f"shape {values.shape}" if values.ndim != 1 else f"values of type {values.dtype}"
