"""Weights of quadratic costs: scalars, diagonals or matrices, checked and written as matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

_ROUNDING = 1e-12


def as_weight(value: ArrayLike, name: str, size: int, *, definite: bool = False) -> Array:
    """A weight as a Hermitian (size, size) matrix ≥ 0, or > 0 where ``definite``.

    Parameters
    ----------
    value : scalar, (size,) or (size, size) array_like
        Multiple of the identity, diagonal, or matrix.
    name : str
        For the error.
    size : int
        Number of signals.
    definite : bool
        Whether zero is refused.

    Raises
    ------
    InvalidInputError
        Wrong shape, not Hermitian, or not positive enough.
    """
    given = as_array(value, name)
    if given.ndim == 0:
        given = np.full(size, given[()])
    if given.shape not in {(size,), (size, size)}:
        raise InvalidInputError(
            f"{name} must be a number or have shape ({size},) or ({size}, {size}), got "
            f"{given.shape}"
        )
    if given.ndim == 1:
        lowest = _lowest_of_diagonal(given, name)
        matrix = np.diag(given)
    else:
        if np.max(np.abs(given - given.conj().T)) > _ROUNDING * np.max(np.abs(given)):
            raise InvalidInputError(
                f"{name} must be symmetric (Hermitian if complex); give ({name} + {name}*)/2"
            )
        matrix = 0.5 * (given + given.conj().T)
        values = np.linalg.eigvalsh(matrix)
        floor = _ROUNDING * float(np.max(np.abs(values)))
        lowest = float(values[0]) if abs(values[0]) > floor else 0.0
    needed = "positive definite" if definite else "positive semidefinite"
    if lowest < 0 or (definite and lowest == 0):
        raise InvalidInputError(f"{name} must be {needed}, its smallest eigenvalue is {lowest:.4g}")
    return matrix


def _lowest_of_diagonal(diagonal: Array, name: str) -> float:
    if np.iscomplexobj(diagonal):
        raise InvalidInputError(f"{name} must have a real diagonal, got complex values")
    return float(np.min(diagonal))
