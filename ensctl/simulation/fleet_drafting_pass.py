"""One pass of a whole saturating fleet over several inputs, block by block of members.

With ζ = z − v (temperatures counted from set-point and ambient), δ = q (p − D) and the input's
offset c = u − v the step of :class:`~ensctl.simulation.DutyModel` is

δ = clip(q g (ζ − c), −q D, q (1 − D)),  y = Σ P D + Σ (P/q) δ,  ζ ← a ζ − δ + (v − v⁺),

the least arithmetic it can be written in.  A block of members takes all steps while it is in the
processor's cache, so memory is read once per pass and not once per step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.errors import InvalidInputError, MissingDependencyError
from ensctl.simulation.thermostat_model import DutyModel

Array = NDArray[Any]
Pass = Callable[..., None]

# Members per block: compiled code wants its 48 bytes per member in the first two levels of cache,
# numpy wants few calls.
_COMPILED_BLOCK, _NUMPY_BLOCK = 512, 16384
ENGINES = ("auto", "numba", "numpy")


@dataclass(frozen=True, eq=False)
class FleetArrays:
    """What a pass reads: one row of constants for every member.

    Attributes
    ----------
    decay, reaction, low, high, weight : (N,) float64, read-only
        a, q g, −q D, q (1 − D) and P/q.
    base : float
        Σ P D in kW.
    """

    decay: Array
    reaction: Array
    low: Array
    high: Array
    weight: Array
    base: float

    @classmethod
    def of(cls, model: DutyModel) -> FleetArrays:
        """The constants of a model."""
        q, duty = model.cooling, model.duty
        return cls(
            read_only(np.array(model.decay)),
            read_only(q * model.slope),
            read_only(-q * duty),
            read_only(q * (1.0 - duty)),
            read_only(model.power / q),
            float(model.power @ duty),
        )


def chosen_engine(engine: str) -> str:
    """numba where it is installed and nothing else is asked for, otherwise numpy."""
    if engine not in ENGINES:
        raise InvalidInputError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    present = find_spec("numba") is not None
    if engine == "numba" and not present:
        raise MissingDependencyError(
            "engine 'numba' needs numba, which is not installed; pip install 'ensctl[fast]'"
        )
    return "numba" if engine != "numpy" and present else "numpy"


def block_pass(
    arrays: FleetArrays,
    start: Array,
    end: Array,
    offsets: Array,
    shifts: Array,
    reapplied: int,
    engine: str,
) -> Array:
    """Apply J known inputs and then K drafted ones to every member.

    Parameters
    ----------
    arrays : FleetArrays
        N members.
    start : (N,) float64
        ζ before the first input; overwritten by ζ after the J known ones.
    end : (N,) float64
        Overwritten by ζ after all.
    offsets, shifts : (J + K,) float64
        c = u − v and v − v⁺ of every step.
    reapplied : int
        J ≥ 0.
    engine : str
        "numba" or "numpy".

    Returns
    -------
    (K,) float64
        Power in kW that each drafted input gives.
    """
    power = np.zeros(offsets.size)
    run = _compiled() if engine == "numba" else _by_numpy
    run(
        arrays.decay,
        arrays.reaction,
        arrays.low,
        arrays.high,
        arrays.weight,
        start,
        end,
        offsets,
        shifts,
        reapplied,
        _COMPILED_BLOCK if engine == "numba" else _NUMPY_BLOCK,
        power,
    )
    return np.asarray(power[reapplied:] + arrays.base)


def prepare(engine: str) -> None:
    """Compile now what would otherwise be compiled within the first pass."""
    if engine == "numba":
        one = np.ones(1)
        nothing = FleetArrays(one, one, one, one, one, 0.0)
        block_pass(nothing, one.copy(), one.copy(), np.zeros(1), np.zeros(1), 0, engine)


def step_in_place(arrays: FleetArrays, z: Array, work: Array, offset: float, shift: float) -> float:
    """One step of all members in whole-array operations without new arrays: the plain loop."""
    np.subtract(z, offset, out=work)
    np.multiply(work, arrays.reaction, out=work)
    np.maximum(work, arrays.low, out=work)
    np.minimum(work, arrays.high, out=work)
    power = float(arrays.weight @ work)
    np.multiply(z, arrays.decay, out=z)
    np.subtract(z, work, out=z)
    np.add(z, shift, out=z)
    return power + arrays.base


def _by_numpy(
    decay: Array,
    reaction: Array,
    low: Array,
    high: Array,
    weight: Array,
    start: Array,
    end: Array,
    offsets: Array,
    shifts: Array,
    reapplied: int,
    block: int,
    power: Array,
) -> None:
    work = np.empty(min(block, start.size))
    for begin in range(0, start.size, block):
        here = slice(begin, begin + block)
        x = end[here]
        x[:] = start[here]
        constants = FleetArrays(
            decay[here], reaction[here], low[here], high[here], weight[here], 0.0
        )
        for k in range(offsets.size):
            if k == reapplied > 0:
                start[here] = x
            power[k] += step_in_place(constants, x, work[: x.size], offsets[k], shifts[k])


def _by_loops(
    decay: Array,
    reaction: Array,
    low: Array,
    high: Array,
    weight: Array,
    start: Array,
    end: Array,
    offsets: Array,
    shifts: Array,
    reapplied: int,
    block: int,
    power: Array,
) -> None:
    # Slices, so that the compiler need not allow for negative indices and can use vectors.
    for begin in range(0, start.size, block):
        stop = min(begin + block, start.size)
        x = end[begin:stop]
        x[:] = start[begin:stop]
        a, h, w = decay[begin:stop], reaction[begin:stop], weight[begin:stop]
        least, most = low[begin:stop], high[begin:stop]
        for k in range(offsets.size):
            if k == reapplied and k > 0:
                start[begin:stop] = x
            offset, shift, total = offsets[k], shifts[k], 0.0
            for i in range(x.size):
                change = h[i] * (x[i] - offset)
                change = change if change > least[i] else least[i]
                change = change if change < most[i] else most[i]
                total += w[i] * change
                x[i] = a[i] * x[i] - change + shift
            power[k] += total


@lru_cache(maxsize=1)
def _compiled() -> Pass:
    import numba

    # Sums may be taken in any order, which vectors need; all numbers are finite.
    relaxed = {"reassoc", "contract", "nsz", "nnan", "ninf"}
    compiled: Pass = numba.njit(fastmath=relaxed, cache=True)(_by_loops)
    return compiled
