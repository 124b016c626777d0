"""Arguments of propagation: inputs, scenarios, initial states, and powers that stay in range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, PrecisionError

Array = NDArray[Any]

# Room below 1.8e308 for gains, inputs and sums.
_LOG_RANGE = 690.0


def as_inputs(inputs: ArrayLike, channels: int) -> Array:
    """Inputs as (m, H): (H,) for one channel, (m, H) for m."""
    given = as_array(inputs, "inputs")
    sequence = given[None] if given.ndim == 1 and channels == 1 else given
    if sequence.ndim != 2 or sequence.shape[0] != channels:
        allowed = "(H,)" if channels == 1 else f"({channels}, H)"
        hint = "; transpose it" if given.ndim == 2 and given.shape[1] == channels else ""
        raise InvalidInputError(
            f"inputs must have shape {allowed}, channels by steps, got {given.shape}{hint}"
        )
    if sequence.shape[1] == 0:
        raise InvalidInputError("inputs must have at least one step, got H = 0; give u_0")
    return sequence


def as_scenarios(batch: ArrayLike, channels: int) -> Array:
    """A batch as (k, m, H): (k, H) for one channel, (k, m, H) for m."""
    given = as_array(batch, "batch")
    scenarios = given[:, None, :] if given.ndim == 2 and channels == 1 else given
    if scenarios.ndim != 3 or scenarios.shape[1] != channels:
        allowed = "(k, H)" if channels == 1 else f"(k, {channels}, H)"
        raise InvalidInputError(
            f"batch must have shape {allowed}, one input sequence per scenario, got {given.shape}"
        )
    if scenarios.shape[0] == 0 or scenarios.shape[2] == 0:
        raise InvalidInputError(
            f"batch must have at least one scenario and one step, got shape {given.shape}"
        )
    return scenarios


def as_initial_state(x0: ArrayLike, size: int) -> Array:
    """Initial state as (N,); a scalar stands for all members."""
    start = as_array(x0, "x0")
    if start.ndim == 0:
        return np.full(size, start[()])
    if start.shape != (size,):
        raise InvalidInputError(
            f"x0 must be a number or have shape ({size},), one entry per member, got {start.shape}"
        )
    return start


def as_initial_states(x0: ArrayLike, size: int, scenarios: int) -> Array:
    """Initial states as (N, 1) or (N, k); (N,) is shared by all scenarios."""
    start = as_array(x0, "x0")
    if start.ndim == 2 and start.shape == (size, scenarios):
        return start
    if start.ndim == 2:
        raise InvalidInputError(
            f"x0 must be a number or have shape ({size},) or ({size}, {scenarios}), members by "
            f"scenarios, got {start.shape}"
        )
    return as_initial_state(start, size)[:, None]


def check_powers_in_range(ens: Ensemble, moving_steps: int) -> None:
    """Refuse a horizon over which |λ|^k leaves the float64 range."""
    size = np.abs(ens.lam)
    worst = int(np.argmax(size))
    growth = math.log(max(float(size[worst]), 1.0))
    if growth * moving_steps > _LOG_RANGE:
        raise PrecisionError(
            f"{ens.label(worst)} is unstable, |λ| = {size[worst]:.6g}, and |λ|^{moving_steps} "
            f"overflows float64 (1.8e308); propagate at most {int(_LOG_RANGE / growth)} steps at "
            f"a time, or leave it out with ens.subset",
            digits=growth * moving_steps / math.log(10.0) - 308.0,
        )


def moving_steps(inputs: Array, x0: Array) -> int:
    """Highest power of λ that acts on something: H with an initial state, else from first input."""
    horizon = inputs.shape[-1]
    if np.any(x0):
        return int(horizon)
    acting = np.flatnonzero(np.any(inputs.reshape(-1, horizon) != 0, axis=0))
    return int(horizon - 1 - acting[0]) if acting.size else 0
