"""Sums Σ_i w_i cos jθ_i of a huge population, and their adjoint, at a cost free of the count.

Every angle is written as a grid point plus a small offset.  The Taylor series of e^{ij·offset}
needs some ten powers of the offset, so a member costs some ten additions into the bins of its
grid point, and fast Fourier transforms of the bins give all the sums at once.  It is a nonuniform
Fourier transform with the kernel replaced by moments of the offsets: no sorting, no oversampling
error, and sums over parts of the population can be added before or after the transforms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ensctl.arguments import Array

# First neglected term of the Taylor series, relative to Σ|w|.
_NEGLIGIBLE = 5e-18
# Grid points per half turn and harmonic: more points need fewer powers, but larger bins.
_POINTS_PER_HARMONIC = 16


@dataclass(frozen=True)
class AngleGrid:
    """Grid points θ_g = πg/M on the half turn [0, π], for cos jθ, j < count.

    Attributes
    ----------
    count : int
        Number of harmonics j = 0 … count − 1.
    """

    count: int

    @cached_property
    def half(self) -> int:
        """M, the number of grid steps per half turn, a power of two."""
        return int(2 ** math.ceil(math.log2(_POINTS_PER_HARMONIC * self.count)))

    @cached_property
    def size(self) -> int:
        """Number of grid points."""
        return self.half + 1

    @cached_property
    def order(self) -> int:
        """Number of powers of the offset that are kept."""
        reach, term, order = float(self._reach[-1]), 1.0, 0
        while order < 1 or term > _NEGLIGIBLE:
            order += 1
            term *= reach / order
        return order

    @cached_property
    def _reach(self) -> Array:
        # jθ changes by at most this much within half a grid step.
        return np.arange(self.count) * (np.pi / (2 * self.half))

    def zeros(self, columns: int) -> Array:
        """Empty bins for ``columns`` vectors of weights, (columns, order, size)."""
        return np.zeros((columns, self.order, self.size))

    def locate(self, angles: Array) -> tuple[Array, Array]:
        """Grid index of every angle, and its offset in half grid steps, within [−1, 1]."""
        offset = angles * (self.half / np.pi)
        nearest = np.rint(offset)
        offset -= nearest
        offset *= 2.0
        return nearest.astype(np.intp), offset

    def accumulate(
        self, bins: Array, index: Array, offset: Array, weights: Sequence[Array]
    ) -> None:
        """Add the members at (index, offset) with their real weights, one vector per column."""
        # Copies of the bins keep the chains of additions short where many members share a bin.
        copies = max(1, 2 * index.size // self.size)
        spread = index + self.size * (np.arange(index.size) % copies)
        for column, values in zip(bins, weights, strict=True):
            moment = values.copy()
            for k in range(self.order):
                sums = np.bincount(spread, moment, self.size * copies)
                column[k] += sums.reshape(copies, self.size).sum(axis=0)
                if k + 1 < self.order:
                    moment *= offset

    def sums(self, bins: Array) -> Array:
        """Σ_i w_i cos jθ_i for j < count, (columns, count), from full bins."""
        total = np.zeros((bins.shape[0], self.count))
        factor = np.ones(self.count, dtype=complex)
        for k in range(self.order):
            # e^{+ijθ_g}: the conjugate of what the transform of real bins gives.
            at_points = np.conj(np.fft.rfft(bins[:, k], 2 * self.half))[:, : self.count]
            total += (factor * at_points).real
            factor = factor * (1j * self._reach / (k + 1))
        return total

    def cosine_table(self, coefficients: Array) -> Array:
        """Taylor coefficients of Σ_j a_j cos jθ about every grid point, (order, size)."""
        spectrum = np.zeros(self.half + 1, dtype=complex)
        table = np.empty((self.order, self.size))
        scaled = np.asarray(coefficients, dtype=complex)
        for k in range(self.order):
            # Re(a_j i^k e^{ijθ}): halves of a_j at ±j, all of it at 0.
            spectrum[: self.count] = scaled / 2
            spectrum[0] = scaled[0].real
            values = np.fft.irfft(spectrum, 2 * self.half) * (2 * self.half)
            table[k] = values[: self.size]
            scaled = scaled * (1j * self._reach / (k + 1))
        return table

    def evaluate(self, table: Array, index: Array, offset: Array) -> Array:
        """The series behind ``table`` at the members' angles."""
        values: Array = table[-1][index]
        for row in table[-2::-1]:
            values *= offset
            values += row[index]
        return values
