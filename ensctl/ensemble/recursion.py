"""The recursion x_{t+1} = λ x_t + B u_t + w_t itself, one vector operation per step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.process_noise import ProcessNoise

Array = NDArray[Any]


def state_dtype(ens: Ensemble, inputs: Array, x0: Array) -> np.dtype[Any]:
    """float64, or complex128 where λ, b, inputs or x0 are complex."""
    return np.result_type(ens.lam, ens.b, inputs, x0, float)


def advance(ens: Ensemble, state: Array, u: Array, noise: ProcessNoise | None, out: Array) -> None:
    """Write the state after input ``u``, (m,), into ``out``, (N,) (which may be ``state``).

    What overflows becomes inf or NaN, silently: callers look at the result.
    """
    gains = ens.gains
    with np.errstate(over="ignore", invalid="ignore"):
        np.multiply(state, ens.lam, out=out)
        for c in range(ens.channels):
            if u[c] != 0.0:
                out += gains[:, c] * u[c]
    if noise is not None:
        out += noise.draw(ens.size, out.dtype)


def states_by_recursion(
    ens: Ensemble, inputs: Array, x0: Array, noise: ProcessNoise | None
) -> Iterator[Array]:
    """Yield x_0 … x_H; each is valid until the next is asked for."""
    state = x0.astype(state_dtype(ens, inputs, x0))
    yield state
    for t in range(inputs.shape[1]):
        advance(ens, state, inputs[:, t], noise, state)
        yield state
