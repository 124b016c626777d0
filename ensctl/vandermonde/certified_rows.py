"""The rows b_ic λ_i^k as exact numbers: shapes, horizon, and the pairs with λ_i λ̄_j = 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# Far above the rounding error of one product of doubles, far below the distance that matters.
_NEAR_ONE = 1e-9


@dataclass(frozen=True, eq=False)
class ChannelRows:
    """The rows b_ic λ_i^k, k < horizon, as exact numbers.

    Attributes
    ----------
    lam : (N,) float64 or complex128
    gains : (N, m) float64 or complex128
    horizon : int or math.inf
        math.inf only where every |λ| < 1.
    reciprocal : dict of int to tuple of int
        For each i the j with λ_i λ̄_j = 1 exactly, i itself included when |λ_i| = 1.
    """

    lam: Array
    gains: Array
    horizon: int | float
    reciprocal: dict[int, tuple[int, ...]]

    @property
    def size(self) -> int:
        """Number of rows N."""
        return int(self.lam.size)

    @property
    def columns(self) -> int | float:
        """Number of columns m H."""
        return self.gains.shape[1] * self.horizon


def channel_rows(lam: Array, gains: Array, horizon: int | float) -> ChannelRows:
    """Check shapes and horizon and find the exactly reciprocal pairs.

    Parameters
    ----------
    lam : (N,) float64 or complex128
    gains : (N,) or (N, m) float64 or complex128
    horizon : int or math.inf

    Raises
    ------
    InvalidInputError
        Shapes that do not match, numbers that are not finite, horizon < 1, or an infinite horizon
        with some |λ| ≥ 1.
    """
    nodes, weights = np.asarray(lam), np.asarray(gains)
    weights = weights[:, None] if weights.ndim == 1 else weights
    fits = nodes.ndim == 1 and weights.ndim == 2 and weights.shape[0] == nodes.size
    if not fits or weights.size == 0:
        raise InvalidInputError(
            "gains must have one row per λ, "
            f"got lam of shape {np.shape(lam)} and gains of shape {np.shape(gains)}"
        )
    if not (np.all(np.isfinite(nodes)) and np.all(np.isfinite(weights))):
        raise InvalidInputError("lam and gains must be finite; remove or replace the others")
    if not horizon >= 1 or (horizon != math.inf and horizon != int(horizon)):
        raise InvalidInputError(f"horizon must be an integer ≥ 1 or math.inf, got {horizon}")
    # One type for both, so that lists of balls are all arb or all acb.
    field = np.result_type(nodes, weights, np.float64)
    nodes, weights = nodes.astype(field), weights.astype(field)
    reciprocal = _reciprocal_pairs(nodes)
    outside = _not_inside(nodes) if horizon == math.inf else []
    if outside:
        raise InvalidInputError(
            f"horizon math.inf needs every |λ| < 1, got λ = {nodes[outside[0]]} "
            f"at index {outside[0]}; give a finite horizon"
        )
    return ChannelRows(nodes, weights, horizon if horizon == math.inf else int(horizon), reciprocal)


def _reciprocal_pairs(lam: Array) -> dict[int, tuple[int, ...]]:
    """i → all j with λ_i λ̄_j = 1, decided in rational arithmetic."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        near = np.abs(np.multiply.outer(lam, lam.conj()) - 1.0) <= _NEAR_ONE
    exact = {int(i): _rational(lam[i]) for i in np.flatnonzero(near.any(axis=1))}
    pairs: dict[int, list[int]] = {}
    for i, j in np.argwhere(near).tolist():
        (a, b), (c, d) = exact[i], exact[j]
        if a * c + b * d == 1 and b * c == a * d:
            pairs.setdefault(i, []).append(j)
    return {i: tuple(partners) for i, partners in pairs.items()}


def _not_inside(lam: Array) -> list[int]:
    """Indices with |λ| ≥ 1, decided in rational arithmetic where float64 could err."""
    modulus = np.abs(lam)
    found = modulus > 1.0 + _NEAR_ONE
    for i in np.flatnonzero(np.abs(modulus - 1.0) <= _NEAR_ONE):
        re, im = _rational(lam[i])
        found[i] = re * re + im * im >= 1
    return [int(i) for i in np.flatnonzero(found)]


def _rational(value: Any) -> tuple[Fraction, Fraction]:
    return Fraction(float(value.real)), Fraction(float(value.imag))
