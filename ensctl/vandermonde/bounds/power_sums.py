"""Geometric sums of powers of any size, as logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.vandermonde.bounds.nodeset import NodeSet

Array = NDArray[Any]


def log_geometric(log_ratio: ArrayLike, terms: ArrayLike) -> Array:
    """log Σ_{q<terms} e^{q·log_ratio}, entrywise, without overflow or cancellation."""
    ratio, count = np.broadcast_arrays(np.asarray(log_ratio, dtype=float), np.asarray(terms))
    # Only growing powers are summed from their largest; there the number of terms is finite.
    shift = (np.where(ratio > 0.0, count, 1) - 1) * np.maximum(ratio, 0.0)
    step = np.where(ratio == 0.0, -1.0, -np.abs(ratio))
    sums = np.where(ratio == 0.0, count, np.expm1(count * step) / np.expm1(step))
    return np.asarray(shift + np.log(sums))


def log_smallest_row(nodes: NodeSet, steps: int | float) -> float:
    """log of the smallest row norm of A, which σ_min cannot exceed when H ≥ N."""
    squares = log_geometric(2.0 * nodes.log_modulus, steps)
    return float(np.min(0.5 * squares + np.log(np.abs(nodes.b))))
