"""Exact linear algebra on gain rows: floats are rationals, so no tolerance decides a rank.

A complex row is embedded as two real ones, z → [[Re z, −Im z], [Im z, Re z]] with the columns
interleaved; the pivots of the reduced echelon form then come in pairs, one pair for each complex
pivot, and its blocks are the embedding of the complex echelon form.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# A Gaussian rational: real and imaginary part.
_Number = tuple[Fraction, Fraction]
_ZERO: _Number = (Fraction(0), Fraction(0))
_MINUS_ONE: _Number = (Fraction(-1), Fraction(0))


def independent_rows(gains: Array) -> Array:
    """Indices of the first maximal set of linearly independent rows of ``gains`` (n, m), exactly.

    The rank is the length of what is returned.  O(n m²) rational operations; one column needs none.
    """
    if gains.shape[1] == 1:
        return np.flatnonzero(gains[:, 0])[:1]
    pivots, _ = _reduced_columns(gains)
    return np.array(pivots, dtype=int)


def dependent_rows(gains: Array) -> tuple[int, ...]:
    """Rows that take part in some linear dependence Σ w_i B_i = 0, exactly.

    Leaving out any other row lowers the rank.
    """
    if gains.shape[1] == 1:
        nonzero = np.count_nonzero(gains)
        return tuple(i for i, b in enumerate(gains[:, 0]) if b == 0 or nonzero > 1)
    pivots, columns = _reduced_columns(gains)
    involved = set(columns)
    for coefficients in columns.values():
        involved.update(p for p, z in zip(pivots, coefficients, strict=False) if z != _ZERO)
    return tuple(sorted(involved))


def left_null_space(gains: Array) -> Array:
    """Basis of {w : Σ w_i B_i = 0}, one vector a row, (n − rank, n).

    The dimension is exact.  The entries are the exact ones rounded once, scaled so that the largest
    real or imaginary part of each vector is 1.
    """
    if gains.shape[1] == 1:
        return _null_space_of_column(gains[:, 0])
    pivots, columns = _reduced_columns(gains)
    basis = np.zeros((len(columns), gains.shape[0]), dtype=gains.dtype)
    for row, (free, coefficients) in enumerate(columns.items()):
        entries = [*coefficients, _MINUS_ONE]
        largest = max(max(abs(re), abs(im)) for re, im in entries)
        for position, (re, im) in zip((*pivots, free), entries, strict=True):
            value = float(re / largest)
            basis[row, position] = complex(value, float(im / largest)) if im else value
    return basis


def _null_space_of_column(b: Array) -> Array:
    """w = b_j e_p − b_p e_j for the first p with b_p ≠ 0, and e_j where b_j = 0."""
    nonzero = np.flatnonzero(b)
    if nonzero.size == 0:
        return np.eye(b.size, dtype=b.dtype)
    pivot = nonzero[0]
    others = np.delete(np.arange(b.size), pivot)
    size = np.maximum(np.abs(b.real), np.abs(b.imag))
    scale = np.maximum(size[pivot], size[others])
    basis = np.zeros((others.size, b.size), dtype=b.dtype)
    basis[:, pivot] = b[others] / scale
    basis[np.arange(others.size), others] = -b[pivot] / scale
    return basis


def _reduced_columns(gains: Array) -> tuple[tuple[int, ...], dict[int, list[_Number]]]:
    """Pivot rows of B, and every other row as a combination of them: B_j = Σ z_jp B_p."""
    from flint import fmpq, fmpq_mat

    step = 2 if np.iscomplexobj(gains) else 1
    embedded = _embedded(gains.T)
    entries = [fmpq(*value.as_integer_ratio()) for value in embedded.ravel().tolist()]
    rows, columns = embedded.shape
    reduced, rank = fmpq_mat(rows, columns, entries).rref()

    def number(row: int, column: int) -> _Number:
        real = _fraction(reduced[row, column])
        return real, Fraction(0) if step == 1 else _fraction(reduced[row + 1, column])

    pivots: list[int] = []
    combinations: dict[int, list[_Number]] = {}
    for j in range(gains.shape[0]):
        next_row = step * len(pivots)
        if next_row < rank and reduced[next_row, step * j] != 0:
            pivots.append(j)
        else:
            combinations[j] = [number(step * p, step * j) for p in range(len(pivots))]
    # Entries of later pivots vanish in an echelon form.
    return tuple(pivots), {j: z + [_ZERO] * (len(pivots) - len(z)) for j, z in combinations.items()}


def _embedded(matrix: Array) -> Array:
    if not np.iscomplexobj(matrix):
        return np.asarray(matrix, dtype=float)
    rows, columns = matrix.shape
    real = np.empty((rows, 2, columns, 2))
    real[:, 0, :, 0] = real[:, 1, :, 1] = matrix.real
    real[:, 0, :, 1] = -matrix.imag
    real[:, 1, :, 0] = matrix.imag
    return real.reshape(2 * rows, 2 * columns)


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))
