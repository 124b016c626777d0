"""Every state at every step: in memory, in a file, or a block of steps at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.process_noise import ProcessNoise, quantised
from ensctl.ensemble.propagation_arguments import (
    as_initial_state,
    as_inputs,
    check_powers_in_range,
    moving_steps,
)
from ensctl.ensemble.propagation_memory import check_memory, size_text
from ensctl.ensemble.recursion import advance, state_dtype, states_by_recursion
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.files import require_folder

Array = NDArray[Any]

# Bytes of a block of steps, unless the caller says how many steps.
_BLOCK_BYTES = 2**27


class TrajectoryChunk(NamedTuple):
    """A block of consecutive states of all members.

    Parameters
    ----------
    start : int
        The step of the first column.
    states : (N, number of steps)
        x_start, x_{start+1}, …

    Examples
    --------
    >>> import ensctl as ec
    >>> blocks = ec.trajectory_chunks(ec.Ensemble([0.5]), [1.0, 0.0, 0.0], steps=2)
    >>> [(block.start, block.states.shape) for block in blocks]
    [(0, (1, 2)), (2, (1, 2))]
    >>> isinstance(next(ec.trajectory_chunks(ec.Ensemble([0.5]), [1.0])), ec.TrajectoryChunk)
    True
    """

    start: int
    states: Array


def trajectory(
    ens: Ensemble,
    inputs: ArrayLike,
    x0: ArrayLike = 0.0,
    *,
    noise: ProcessNoise | None = None,
    resolution: float | None = None,
    out: str | os.PathLike[str] | None = None,
    max_bytes: float | None = None,
) -> Array:
    """All states x_0 … x_H of x_{t+1} = λ x_t + B u_t, (N, H+1).

    Parameters
    ----------
    ens : Ensemble
        The population, N members and m channels.
    inputs : array_like, (H,) or (m, H)
        u_0 … u_{H−1}.
    x0 : scalar or array_like, (N,)
        Initial state.
    noise : ProcessNoise, optional
        Noise on the states.
    resolution : float, optional
        Inputs are rounded to multiples of this first.
    out : str or path, optional
        A file for the states, in numpy's .npy format; they are then mapped instead of held in
        memory.  The file appears under its name when it is complete.
    max_bytes : float, optional
        Bytes the states may take in memory; by default four fifths of what is available.

    Returns
    -------
    (N, H+1) float64 or complex128, read-only
        A memory-mapped array where ``out`` is given.

    Raises
    ------
    InvalidInputError
        An argument is not finite or has the wrong shape, the states do not fit into memory (with
        the numbers), or the file cannot be written.
    PrecisionError
        States leave the float64 range.

    See Also
    --------
    trajectory_chunks : a block of steps at a time.
    aggregate_output, final_state : where not every state is needed; far faster.

    Notes
    -----
    The recursion, one vector operation per step: O(N H).  Error of x_t ≤ (2 t + m) ε
    (Σ_k |λ|^{t−1−k} |b| |u_k| + |λ|^t |x_0|).

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.trajectory(ec.Ensemble([0.5, -1.0]), [1.0, 1.0, 1.0])
    array([[0.  , 1.  , 1.5 , 1.75],
           [0.  , 1.  , 0.  , 1.  ]])
    """
    require_ensemble(ens)
    sequence = quantised(as_inputs(inputs, ens.channels), resolution)
    start = _checked_start(ens, sequence, x0, noise)
    dtype = state_dtype(ens, sequence, start)
    shape = (ens.size, sequence.shape[1] + 1)
    if out is not None:
        return _to_file(ens, sequence, start.astype(dtype), noise, Path(out))
    check_memory(
        shape[0] * shape[1] * dtype.itemsize,
        f"the trajectory of {shape[0]} members over {shape[1] - 1} steps",
        "ask for aggregate_output or final_state, iterate over trajectory_chunks, or give out= "
        "for a memory-mapped file",
        max_bytes,
    )
    states = np.empty(shape[::-1], dtype=dtype)
    _fill(ens, sequence, start, noise, states)
    return read_only(states).T


def trajectory_chunks(
    ens: Ensemble,
    inputs: ArrayLike,
    x0: ArrayLike = 0.0,
    *,
    steps: int | None = None,
    noise: ProcessNoise | None = None,
    resolution: float | None = None,
) -> Iterator[TrajectoryChunk]:
    """Yield the states x_0 … x_H a block of steps at a time.

    Parameters
    ----------
    ens, inputs, x0, noise, resolution
        As for :func:`trajectory`.
    steps : int, optional
        States per block, ≥ 1; by default as many as fit into 128 MB.

    Yields
    ------
    TrajectoryChunk
        ``start`` and ``states``, (N, ≤ steps), read-only: x_start, x_{start+1}, …

    Raises
    ------
    InvalidInputError, PrecisionError
        As for :func:`trajectory`; arguments are checked before the first block.

    Examples
    --------
    >>> import ensctl as ec
    >>> for start, states in ec.trajectory_chunks(ec.Ensemble([0.5]), [1.0] * 3, steps=2):
    ...     print(start, states[0])
    0 [0. 1.]
    2 [1.5  1.75]
    """
    require_ensemble(ens)
    sequence = quantised(as_inputs(inputs, ens.channels), resolution)
    start = _checked_start(ens, sequence, x0, noise)
    dtype = state_dtype(ens, sequence, start)
    if steps is None:
        length = max(1, _BLOCK_BYTES // (ens.size * dtype.itemsize))
    else:
        length = as_count(steps, "steps")
    return _blocks(ens, sequence, start, noise, length)


def _blocks(
    ens: Ensemble, inputs: Array, start: Array, noise: ProcessNoise | None, length: int
) -> Iterator[TrajectoryChunk]:
    total = inputs.shape[1] + 1
    block: list[Array] = []
    for t, state in enumerate(states_by_recursion(ens, inputs, start, noise)):
        block.append(state.copy())
        if len(block) == length or t + 1 == total:
            states = np.stack(block)
            _check_in_range(states[-1])
            yield TrajectoryChunk(t + 1 - len(block), read_only(states).T)
            block = []


def _checked_start(
    ens: Ensemble, inputs: Array, x0: ArrayLike, noise: ProcessNoise | None
) -> Array:
    start = as_initial_state(x0, ens.size)
    if noise is not None:
        noise.check(ens.size)
    check_powers_in_range(ens, moving_steps(inputs, start))
    return start


def _fill(
    ens: Ensemble, inputs: Array, start: Array, noise: ProcessNoise | None, states: Array
) -> None:
    """Fill states (H+1, N)."""
    states[0] = start
    for t in range(inputs.shape[1]):
        advance(ens, states[t], inputs[:, t], noise, states[t + 1])
    _check_in_range(states[-1])


def _check_in_range(states: Array) -> None:
    # What has left the range stays outside it: the last state tells.
    if not np.all(np.isfinite(states)):
        member = int(np.flatnonzero(~np.isfinite(states))[0])
        raise PrecisionError(
            f"the state of member {member} leaves the float64 range (1.8e308); scale the inputs "
            f"down or shorten the horizon"
        )


def _to_file(
    ens: Ensemble, inputs: Array, start: Array, noise: ProcessNoise | None, path: Path
) -> Array:
    require_folder(path)
    shape = (ens.size, inputs.shape[1] + 1)
    needed, free = shape[0] * shape[1] * start.dtype.itemsize, shutil.disk_usage(path.parent).free
    # A mapped file that outgrows its disk ends the process instead of raising.
    if needed > free:
        raise InvalidInputError(
            f"out must be on a disk with room for {size_text(needed)}, got {size_text(free)}; "
            f"ask for aggregate_output or iterate over trajectory_chunks"
        )
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        states = np.lib.format.open_memmap(
            partial, mode="w+", dtype=start.dtype, shape=shape, fortran_order=True
        )
        _fill(ens, inputs, start, noise, states.T)
        states.flush()
        del states
        os.replace(partial, path)
        return np.asanyarray(np.load(path, mmap_mode="r"))
    except OSError as error:
        raise InvalidInputError(
            f"out must be a file that can be written, got {str(path)!r}: {error.strerror or error}"
        ) from None
    finally:
        partial.unlink(missing_ok=True)
