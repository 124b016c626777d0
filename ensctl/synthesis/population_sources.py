"""Where the members of a huge population come from: arrays in memory, or blocks on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ensctl.arguments import Array
from ensctl.errors import InvalidInputError, MissingDependencyError
from ensctl.synthesis.population_kernels import Chunk, Kernel

Report = Callable[[], None]

# Members whose sums are formed together.  One size for all chunks makes the result the same.
BLOCK = 1 << 14

# Columns that have to be real, and what to do where they are not.
_REAL = {
    "lam": "use steer with a terminal cost for complex members",
    "weights": "give w ≥ 0",
}


class Source(Protocol):
    """Something that a kernel can be summed over."""

    @property
    def chunk(self) -> int:
        """Members read at once."""

    @property
    def size(self) -> int:
        """N."""

    @property
    def is_complex(self) -> bool:
        """Whether b, target or x0 are complex."""

    @property
    def parts(self) -> int:
        """How many parts a pass reports."""

    def total(self, kernel: Kernel, report: Report) -> Array:
        """The finished sum over all members."""


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Arrays in memory (or mapped from a file), read ``chunk`` members at a time."""

    columns: Chunk
    chunk: int

    @property
    def size(self) -> int:
        """N."""
        return int(self.columns.lam.size)

    @property
    def is_complex(self) -> bool:
        """Whether any column is."""
        return any(np.iscomplexobj(column) for column in self.columns)

    @property
    def parts(self) -> int:
        """Number of blocks."""
        return -(-self.size // BLOCK)

    def total(self, kernel: Kernel, report: Report) -> Array:
        """One chunk after the other, in one state."""
        state = kernel.start()
        for block in _blocks(self.columns, self.chunk):
            state = kernel.add(state, block)
            report()
        return kernel.finish(state)


@dataclass(frozen=True, eq=False)
class DaskSource:
    """Dask arrays with the same blocks; every block is reduced where it lives."""

    columns: tuple[Any, ...]
    chunk: int

    @property
    def size(self) -> int:
        """N."""
        return int(self.columns[0].size)

    @property
    def is_complex(self) -> bool:
        """Whether any column is."""
        return any(np.issubdtype(column.dtype, np.complexfloating) for column in self.columns)

    @property
    def parts(self) -> int:
        """A pass is one computation."""
        return 1

    def total(self, kernel: Kernel, report: Report) -> Array:
        """One task for each block and one that merges, on whatever scheduler is active."""
        dask = require_dask()
        count = self.columns[0].numblocks[0]
        blocks = [
            column.to_delayed().ravel() if is_dask(column) else [column] * count
            for column in self.columns
        ]
        reduce = dask.delayed(block_total)
        shared = dask.delayed(kernel, traverse=False)
        parts = [reduce(shared, self.chunk, *members) for members in zip(*blocks, strict=True)]
        (found,) = dask.compute(dask.delayed(merge_all)(shared, parts))
        report()
        return np.asarray(found)


def source_of(columns: dict[str, Any], chunk: int) -> Source:
    """The columns lam, b, target, weights and x0 as a source.

    Raises
    ------
    InvalidInputError
        λ or the weights are not real, or a column is not numeric or has another shape than λ.
    MissingDependencyError
        A column is a dask array and dask is not installed.
    """
    on_cluster = any(is_dask(column) for column in columns.values())
    array = require_dask().array if on_cluster else None
    given = {name: _numeric(column, name) for name, column in columns.items()}
    lam = given["lam"]
    if lam.ndim != 1 or lam.size == 0:
        raise InvalidInputError(f"lam must have shape (N,) with N ≥ 1, got {lam.shape}")
    for name, column in given.items():
        if column.shape not in ((), lam.shape):
            raise InvalidInputError(
                f"{name} must be a scalar or have shape {lam.shape} to match lam, got "
                f"{column.shape}"
            )
        if name in _REAL and column.dtype.kind == "c":
            raise InvalidInputError(f"{name} must be real, got {column.dtype}; {_REAL[name]}")
    if array is None:
        return ArraySource(Chunk(**given), chunk)
    if not is_dask(lam):
        lam = array.from_array(lam)
    aligned = [
        column if column.ndim == 0 else array.asarray(column).rechunk(lam.chunks)
        for column in (lam, *list(given.values())[1:])
    ]
    return DaskSource(tuple(aligned), chunk)


def block_total(kernel: Kernel, chunk: int, *columns: Any) -> Array:
    """The finished sum over one block; runs on a worker."""
    members = Chunk(*(np.asarray(column) for column in columns))
    state = kernel.start()
    for block in _blocks(members, chunk):
        state = kernel.add(state, block)
    return kernel.finish(state)


def merge_all(kernel: Kernel, parts: list[Array]) -> Array:
    """All finished parts as one; runs on a worker."""
    total = parts[0]
    for part in parts[1:]:
        total = kernel.merge(total, part)
    return total


def is_dask(value: Any) -> bool:
    """Whether a value is a dask array, without importing dask."""
    return hasattr(value, "__dask_graph__")


def require_dask() -> Any:
    """The dask module with its arrays.

    Raises
    ------
    MissingDependencyError
        It is not installed.
    """
    try:
        import dask
        import dask.array
    except ImportError:
        raise MissingDependencyError(
            "dask arrays need dask, which is not installed; run pip install 'ensctl[cluster]'"
        ) from None
    return dask


def _numeric(column: Any, name: str) -> Any:
    """A dask array as it is, anything else as an array of its own kind of number, not copied."""
    if is_dask(column):
        return column.compute() if column.ndim == 0 else column
    try:
        values = np.asarray(column)
    except ValueError as error:
        raise InvalidInputError(f"{name} must be a regular array: {error}") from None
    if values.dtype.kind not in "biufc":
        raise InvalidInputError(f"{name} must be numeric, got {values.dtype}; convert it first")
    return values


def _blocks(members: Chunk, chunk: int) -> Iterator[Chunk]:
    """Blocks of one size, read ``chunk`` members at a time: the sums do not depend on it."""
    stride = -(-chunk // BLOCK) * BLOCK
    for first in range(0, members.lam.size, stride):
        held = Chunk(*(_converted(_part(column, first, stride)) for column in members))
        for start in range(0, held.lam.size, BLOCK):
            yield Chunk(*(_part(column, start, BLOCK) for column in held))


def _part(column: Array, first: int, count: int) -> Array:
    return column[first : first + count] if column.ndim else column


def _converted(column: Array) -> Array:
    """float64 or complex128, without a copy where it is already."""
    return np.asarray(column, dtype=np.result_type(column.dtype, float))
