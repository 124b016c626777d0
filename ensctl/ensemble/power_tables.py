"""Powers λ^k of many members for all k < steps, as products of entries of three short tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.doubledouble import multiply

Array = NDArray[Any]

# Rows of the first table: long enough for fast matrix products; short where rounding counts.
_FAST_ROWS = 128
_ACCURATE_ROWS = 32
# Up to this many columns the first table is multiplied first and the blocks are folded later.
_FOLDED_COLUMNS = 8
_ENTRIES = 2**22


@dataclass(frozen=True, eq=False)
class PowerTables:
    """λ^k = high[r] · middle[q] · low[p] for k = (r·len(middle) + q)·len(low) + p.

    Attributes
    ----------
    low, middle, high : (·, n)
        One column for each of n members.
    """

    low: Array
    middle: Array
    high: Array

    @staticmethod
    def fitting_members(steps: int, columns: int, most: int) -> int:
        """How many members, at most ``most``, keep the temporaries of one call near 64 MB."""
        blocks = (steps // _ACCURATE_ROWS + 1) * min(columns, _FOLDED_COLUMNS)
        return max(8, min(most, _ENTRIES // blocks))

    @property
    def summands(self) -> int:
        """Length of the longest chain of additions in :meth:`values`."""
        return len(self.low) + len(self.middle) + len(self.high)

    def values(self, coefs: Array) -> Array:
        """Σ_k coefs[k, q] λ_i^k as (q, n), for coefs (steps, q)."""
        if coefs.shape[1] > _FOLDED_COLUMNS:
            return self._accumulated(coefs)
        rows, span = len(self.low), len(self.middle) * len(self.high)
        padded = np.zeros((rows * span, coefs.shape[1]), dtype=coefs.dtype)
        padded[: len(coefs)] = coefs
        flat = padded.reshape(span, rows, -1).transpose(2, 0, 1).reshape(-1, rows)
        shape = (coefs.shape[1], len(self.high), len(self.middle), self.low.shape[1])
        folded = _product(np.ascontiguousarray(flat), self.low).reshape(shape)
        folded = (folded * self.middle).sum(axis=2)
        return np.asarray((folded * self.high).sum(axis=1))

    def moments(self, weights: Array, steps: int) -> Array:
        """Σ_i weights[i, q] λ_i^k as (steps, q), for weights (n, q)."""
        columns = []
        for weight in weights.T:
            spread = (weight * self.high)[:, None, :] * self.middle
            columns.append((spread.reshape(-1, weight.size) @ self.low.T).reshape(-1)[:steps])
        return np.stack(columns, axis=1)

    def _accumulated(self, coefs: Array) -> Array:
        dtype = np.result_type(coefs, self.low)
        total = np.zeros((coefs.shape[1], self.low.shape[1]), dtype=dtype)
        rows = len(self.low)
        for block, first in enumerate(range(0, len(coefs), rows)):
            r, q = divmod(block, len(self.middle))
            part = np.ascontiguousarray(coefs[first : first + rows].T)
            total += _product(part, self.low[: part.shape[1]] * (self.high[r] * self.middle[q]))
        return total


def power_tables(lam: Array, steps: int) -> PowerTables:
    """Tables by repeated multiplication: the relative error of λ^k is below 3 k ε."""
    sizes = _sizes(steps, _FAST_ROWS)
    tables, base = [], lam
    for size in sizes:
        rows = np.empty((size, lam.size), dtype=lam.dtype)
        rows[0] = 1.0
        done = 1
        if size > 1:
            rows[1] = base
            done = 2
        while done < size:
            more = min(done - 1, size - done)
            np.multiply(rows[1 : more + 1], rows[done - 1], out=rows[done : done + more])
            done += more
        tables.append(rows)
        base = rows[-1] * base
    return PowerTables(*tables)


def accurate_power_tables(lam: Array, steps: int) -> PowerTables:
    """Tables of real λ through double-double: the relative error of λ^k is below 3 ε for any k."""
    sizes = _sizes(steps, _ACCURATE_ROWS)
    tables = []
    base = (lam, np.zeros_like(lam))
    for size in sizes:
        rows = np.empty((size, lam.size))
        rows[0] = 1.0
        current = (np.ones_like(lam), np.zeros_like(lam))
        for k in range(1, size + 1):
            current = multiply(current, base)
            if k < size:
                rows[k] = current[0]
        tables.append(rows)
        base = current
    return PowerTables(*tables)


def _sizes(steps: int, rows: int) -> tuple[int, int, int]:
    low = min(steps, rows)
    blocks = -(-steps // low)
    middle = math.isqrt(blocks - 1) + 1
    return low, middle, -(-blocks // middle)


def _product(left: Array, right: Array) -> Array:
    """left @ right; a real left factor meets complex columns as pairs of real ones."""
    if np.iscomplexobj(right) and not np.iscomplexobj(left):
        return (left @ np.ascontiguousarray(right).view(float)).view(complex)
    return np.asarray(left @ right)
