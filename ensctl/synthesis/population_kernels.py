"""What one pass over a huge population adds up: bounds, moments, residuals, triangular factors.

A kernel turns a chunk of members into a few thousand numbers and says how two such results become
one, so that chunks may be visited in turn, or on several machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from ensctl.arguments import Array
from ensctl.ensemble.angle_grid import AngleGrid
from ensctl.ensemble.angle_sums import chebyshev_angles
from ensctl.errors import InvalidInputError


class Chunk(NamedTuple):
    """Some members: λ and target are arrays, the others arrays or scalars."""

    lam: Array
    b: Array
    target: Array
    weights: Array
    x0: Array

    def displacement(self, horizon: int) -> Array:
        """target − λ^H x0."""
        if self.x0.ndim == 0 and self.x0 == 0:
            return self.target
        with np.errstate(under="ignore"):
            return np.asarray(self.target - self.lam**horizon * self.x0)


class Kernel(Protocol):
    """A sum over members, in parts."""

    def start(self) -> Array:
        """Nothing added yet."""

    def add(self, state: Array, chunk: Chunk) -> Array:
        """The state with a chunk added; may reuse its memory."""

    def finish(self, state: Array) -> Array:
        """The numbers that the state stands for."""

    def merge(self, one: Array, other: Array) -> Array:
        """Two finished parts as one."""


@dataclass(frozen=True)
class Bounds:
    """Smallest and largest λ, as (lo, −hi)."""

    def start(self) -> Array:
        """No members."""
        return np.full(2, np.inf)

    def add(self, state: Array, chunk: Chunk) -> Array:
        """Widen the bounds."""
        low, high = chunk.lam.min(), chunk.lam.max()
        if not np.isfinite(low + high):
            raise InvalidInputError("lam must be finite, got NaN or infinity; remove those members")
        return np.minimum(state, [low, -high])

    def finish(self, state: Array) -> Array:
        """The bounds."""
        return state

    def merge(self, one: Array, other: Array) -> Array:
        """The wider of both."""
        return np.minimum(one, other)


@dataclass(frozen=True)
class ChebyshevBasis:
    """T_0 … T_{r−1} on an interval, for polynomials p(λ) = Σ_k u_k λ^{H−1−k}."""

    interval: tuple[float, float]
    horizon: int
    count: int

    def power_coefficients(self) -> Array:
        """C (r, H): column k holds λ^{H−1−k} in the basis."""
        lo, hi = self.interval
        middle, quarter = lo + (hi - lo) / 2, (hi - lo) / 4
        column = np.zeros(self.count)
        column[0] = 1.0
        columns = np.empty((self.horizon, self.count))
        for k in range(self.horizon):
            columns[self.horizon - 1 - k] = column
            # λ = middle + 2·quarter·s, s T_0 = T_1, s T_j = (T_{j−1} + T_{j+1})/2.
            longer = middle * column
            longer[:-1] += quarter * column[1:]
            longer[1:] += quarter * column[:-1]
            longer[1:2] += quarter * column[0]
            column = longer
        return columns.T

    def angles(self, lam: Array) -> Array:
        """θ with cos θ = s, refusing points outside the interval."""
        lo, hi = self.interval
        if not (lam.min() >= lo and lam.max() <= hi):
            raise InvalidInputError(
                f"lam must lie in the interval [{lo:.6g}, {hi:.6g}], got values from "
                f"{lam.min():.6g} to {lam.max():.6g}; widen the interval"
            )
        return chebyshev_angles(lam, self.interval)


@dataclass(frozen=True)
class Moments:
    """μ_j = Σ w|b|² T_j and ν_j = Σ w b̄ d T_j, j < 2r − 1, as rows (μ, Re ν[, Im ν])."""

    basis: ChebyshevBasis
    is_complex: bool

    @cached_property
    def grid(self) -> AngleGrid:
        """Bins for 2r − 1 harmonics."""
        return AngleGrid(2 * self.basis.count - 1)

    def start(self) -> Array:
        """Empty bins."""
        return self.grid.zeros(3 if self.is_complex else 2)

    def add(self, state: Array, chunk: Chunk) -> Array:
        """Fill the bins."""
        if chunk.weights.min() < 0:
            raise InvalidInputError(
                f"weights must be ≥ 0, got {chunk.weights.min():.6g}; leave out members by 0"
            )
        index, offset = self.grid.locate(self.basis.angles(chunk.lam))
        with np.errstate(over="ignore", invalid="ignore"):
            steering = chunk.weights * chunk.b.conj()
            size = np.broadcast_to((steering * chunk.b).real, chunk.lam.shape)
            wanted = steering * chunk.displacement(self.basis.horizon)
        if not (np.all(np.isfinite(size)) and np.all(np.isfinite(wanted))):
            raise InvalidInputError(
                "b, target, weights and x0 must be finite, and so must w |b|² and w b target; "
                "remove or rescale the members that are not"
            )
        columns = [size, *_parts(wanted, state[1:])]
        self.grid.accumulate(state, index, offset, columns)
        return state

    def finish(self, state: Array) -> Array:
        """The moments."""
        return self.grid.sums(state)

    def merge(self, one: Array, other: Array) -> Array:
        """Their sum."""
        return np.asarray(one + other)


@dataclass(frozen=True)
class Residuals:
    """Σ w b̄ e T_j for e = d − b p(λ), rows (Re[, Im]), and a last row Σ w|e|², Σ|e|², N."""

    basis: ChebyshevBasis
    is_complex: bool
    series: Array

    @cached_property
    def grid(self) -> AngleGrid:
        """Bins for r harmonics."""
        return AngleGrid(self.basis.count)

    @cached_property
    def tables(self) -> list[Array]:
        """The series of p about every grid point: real and, if any, imaginary part."""
        parts = [self.series.real, self.series.imag] if self.is_complex else [self.series.real]
        return [self.grid.cosine_table(part) for part in parts]

    def start(self) -> Array:
        """Empty bins, and a page for the sums."""
        return self.grid.zeros(len(self.tables) + 1)

    def add(self, state: Array, chunk: Chunk) -> Array:
        """Simulate the chunk by the series of p, and fill the bins with what is missed."""
        index, offset = self.grid.locate(self.basis.angles(chunk.lam))
        parts = [self.grid.evaluate(table, index, offset) for table in self.tables]
        reached = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
        missed = chunk.displacement(self.basis.horizon) - chunk.b * reached
        columns = _parts(chunk.weights * chunk.b.conj() * missed, state[:-1])
        self.grid.accumulate(state[:-1], index, offset, columns)
        square = missed.real**2 + missed.imag**2 if self.is_complex else missed**2
        state[-1, 0, 0] += (chunk.weights * square).sum()
        state[-1, 0, 1] += square.sum()
        state[-1, 0, 2] += chunk.lam.size
        return state

    def finish(self, state: Array) -> Array:
        """Moments and sums, (rows, max(r, 3))."""
        rows = np.zeros((len(state), max(self.basis.count, 3)))
        rows[:-1, : self.basis.count] = self.grid.sums(state[:-1])
        rows[-1, :3] = state[-1, 0, :3]
        return rows

    def merge(self, one: Array, other: Array) -> Array:
        """Their sum."""
        return np.asarray(one + other)


@dataclass(frozen=True)
class Triangle:
    """R of the QR factorisation of √w [b T_0 … b T_{r−1}, d], (r+1, r+1), chunk by chunk."""

    basis: ChebyshevBasis
    is_complex: bool

    def start(self) -> Array:
        """No rows."""
        order = self.basis.count + 1
        return np.zeros((order, order), dtype=complex if self.is_complex else float)

    def add(self, state: Array, chunk: Chunk) -> Array:
        """Factorise the rows so far with those of the chunk, a few at a time."""
        angles = self.basis.angles(chunk.lam)
        root = np.sqrt(chunk.weights)
        steering = np.broadcast_to(root * chunk.b, angles.shape)
        wanted = root * chunk.displacement(self.basis.horizon)
        order, few = len(state), 8 * len(state)
        for first in range(0, angles.size, few):
            part = slice(first, first + few)
            rows = np.empty((angles[part].size, order), dtype=state.dtype)
            rows[:, :-1] = np.cos(np.outer(angles[part], np.arange(order - 1)))
            rows[:, :-1] *= steering[part, None]
            rows[:, -1] = wanted[part]
            state = self.merge(state, rows)
        return state

    def finish(self, state: Array) -> Array:
        """The factor."""
        return state

    def merge(self, one: Array, other: Array) -> Array:
        """R of both, one above the other."""
        return np.asarray(np.linalg.qr(np.vstack([one, other]), mode="r"))


def _parts(values: Array, rows: Array) -> list[Array]:
    """Real, or real and imaginary, parts: as many as there are rows."""
    return [values.real] if len(rows) == 1 else [values.real, values.imag]
