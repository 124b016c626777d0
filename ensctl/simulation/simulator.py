"""Stepping a population through time: an explicit state, a pure step, and a stateful handle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.process_noise import ProcessNoise, quantised
from ensctl.ensemble.propagation_arguments import as_initial_state
from ensctl.ensemble.recursion import advance, state_dtype
from ensctl.errors import InvalidInputError, PrecisionError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SimulationState:
    """A population at one instant.

    Attributes
    ----------
    step : int
        t, the number of inputs so far.
    x : (N,) float64 or complex128, read-only
        The states x_t.
    """

    step: int
    x: Array


def initial_simulation_state(ens: Ensemble, x0: ArrayLike = 0.0) -> SimulationState:
    """The state at t = 0.

    Parameters
    ----------
    ens : Ensemble
        The population.
    x0 : scalar or array_like, (N,)
        Initial state.

    Returns
    -------
    SimulationState

    Raises
    ------
    InvalidInputError
        x0 is not finite or has the wrong shape.

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.Ensemble([0.5, 0.8])
    >>> state = ec.initial_simulation_state(ens, [1.0, 2.0])
    >>> state, y = ec.simulation_step(ens, state, 0.0)
    >>> float(round(y, 12))
    1.5
    """
    start = as_initial_state(x0, ens.size)
    return SimulationState(0, read_only(start.astype(state_dtype(ens, start, start))))


def simulation_step(
    ens: Ensemble,
    state: SimulationState,
    u: ArrayLike,
    *,
    noise: ProcessNoise | None = None,
    resolution: float | None = None,
) -> tuple[SimulationState, Any]:
    """Apply one input: x_{t+1} = λ x_t + B u_t + w_t and y_t = Σ c x_t + d u_t.

    Parameters
    ----------
    ens : Ensemble
        The population, N members, m channels and p outputs.
    state : SimulationState
        Where it is; left as it is.
    u : scalar or array_like, (m,)
        The input u_t.
    noise : ProcessNoise, optional
        Noise w on the states; its generator moves on.
    resolution : float, optional
        The input is rounded to a multiple of this first.

    Returns
    -------
    state : SimulationState
        The state at t + 1.
    y : number or (p,) array
        The aggregate y_t; an array where the ensemble's c is two-dimensional.

    Raises
    ------
    InvalidInputError
        An argument is not finite or has the wrong shape.
    PrecisionError
        The state leaves the float64 range.

    Notes
    -----
    O(N m).  Error per step: one rounding for each product and sum.

    Examples
    --------
    >>> import ensctl as ec
    >>> from ensctl.simulation.simulator import initial_simulation_state, simulation_step
    >>> ens = ec.Ensemble([0.5, -1.0])
    >>> start = initial_simulation_state(ens, 1.0)
    >>> after, y = simulation_step(ens, start, 2.0)
    >>> after.step, after.x, y
    (1, array([2.5, 1. ]), 1.0)
    """
    given = _as_input(u, ens.channels)
    inputs = quantised(given, resolution)
    if noise is not None:
        noise.check(ens.size)
    if state.x.shape != (ens.size,):
        raise InvalidInputError(
            f"state must have one entry for each of the {ens.size} members, got {state.x.shape}"
        )
    after = np.empty(ens.size, dtype=state_dtype(ens, inputs, state.x))
    with np.errstate(over="ignore", invalid="ignore"):
        y = ens.output_weights @ state.x + ens.feedthrough @ inputs
        advance(ens, state.x, inputs, noise, after)
    if not np.isfinite(after.sum()) and not np.all(np.isfinite(after)):
        member = int(np.flatnonzero(~np.isfinite(after))[0])
        raise PrecisionError(
            f"{ens.label(member)} leaves the float64 range (1.8e308) at step {state.step + 1}; "
            f"stabilise it, or scale the inputs down"
        )
    return SimulationState(state.step + 1, read_only(after)), _shaped(ens, y)


class Simulator:
    """A population that is stepped one input at a time; remembers its state.

    Parameters
    ----------
    ens : Ensemble
        The population, N members, m channels and p outputs.
    x0 : scalar or array_like, (N,)
        Initial state.
    noise : ProcessNoise, optional
        Noise on the states at every step.
    resolution : float, optional
        Inputs are rounded to multiples of this first.

    Raises
    ------
    InvalidInputError
        An argument is not finite or has the wrong shape.

    See Also
    --------
    simulation_step : the same step without memory.
    ensctl.aggregate_output : all outputs at once when the inputs are known; far faster.

    Examples
    --------
    >>> import ensctl as ec
    >>> sim = ec.Simulator(ec.Ensemble([0.5, -1.0], c=1.0), 1.0)
    >>> sim.step(2.0), sim.output, sim.state.step
    (2.0, 3.5, 1)
    """

    def __init__(
        self,
        ens: Ensemble,
        x0: ArrayLike = 0.0,
        *,
        noise: ProcessNoise | None = None,
        resolution: float | None = None,
    ) -> None:
        self._ens = ens
        self._state = initial_simulation_state(ens, x0)
        self._noise = noise
        self._resolution = resolution
        quantised(np.zeros(1), resolution)
        if noise is not None:
            noise.check(ens.size)

    @property
    def ens(self) -> Ensemble:
        """The population."""
        return self._ens

    @property
    def state(self) -> SimulationState:
        """Where the population is now; keep it to come back with :meth:`restore`."""
        return self._state

    @property
    def output(self) -> Any:
        """Σ c x_t now, without feed-through: what feedback can use before it chooses u_t."""
        return _shaped(self._ens, self._ens.output_weights @ self._state.x)

    def step(self, u: ArrayLike) -> Any:
        """Apply u_t, scalar or (m,); returns y_t = Σ c x_t + d u_t and moves to t + 1.

        Raises
        ------
        InvalidInputError, PrecisionError
            As for :func:`simulation_step`; the state stays as it was.
        """
        self._state, y = simulation_step(
            self._ens, self._state, u, noise=self._noise, resolution=self._resolution
        )
        return y

    def restore(self, state: SimulationState) -> None:
        """Continue from ``state``, of this simulator or another one of the same size.

        Raises
        ------
        InvalidInputError
            It belongs to another number of members.
        """
        if state.x.shape != (self._ens.size,):
            raise InvalidInputError(
                f"state must have one entry for each of the {self._ens.size} members, got "
                f"{state.x.shape}"
            )
        self._state = state


def _as_input(u: ArrayLike, channels: int) -> Array:
    given = as_array(u, "u")
    if given.ndim == 0 and channels == 1:
        return given.reshape(1)
    if given.shape != (channels,):
        raise InvalidInputError(
            f"u must {'be a number' if channels == 1 else f'have shape ({channels},)'}, one entry "
            f"per channel, got shape {given.shape}"
        )
    return given


def _shaped(ens: Ensemble, y: Array) -> Any:
    return read_only(y) if ens.c.ndim == 2 else y[0].item()
