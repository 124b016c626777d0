"""What a model of a fleet misses, as a level with a trend: a Kalman filter of two states.

b_{t+1} = b_t + s_t + w,  s_{t+1} = s_t + ζ,  y_t − ŷ_t = b_t + v
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count, as_scalar, read_only
from ensctl.errors import InvalidInputError
from ensctl.simulation.thermostat_samples import over_steps

Array = NDArray[Any]

_MOST_STEPS = 10**8
# Squares of these stay in the float64 range.
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class BiasState:
    """What is known of level and trend before the measurement of this step.

    Attributes
    ----------
    mean : (2,) float64
        Level and trend per step.
    covariance : (2, 2) float64
    """

    mean: Array
    covariance: Array


@dataclass(frozen=True)
class OutputBias:
    """Filter for the difference between measured power and model.

    Parameters
    ----------
    level_noise, trend_noise : float
        Standard deviations of w and ζ per step, ≥ 0, in the unit of the output.
    meter_noise : float
        Standard deviation of v, > 0.
    initial : float
        Standard deviation of the level before the first measurement, > 0; that of the trend is a
        hundredth.

    Raises
    ------
    InvalidInputError
        A value is out of range.

    Examples
    --------
    >>> from ensctl.simulation import OutputBias
    >>> bias = OutputBias(0.0, 0.01, 0.1)
    >>> state = bias.init()
    >>> for t in range(400):
    ...     state = bias.predict(bias.update(state, 2.0 + 0.5 * t))
    >>> state.mean.round(3)
    array([202. ,   0.5])
    """

    level_noise: float
    trend_noise: float
    meter_noise: float
    initial: float = 1.0

    def __post_init__(self) -> None:
        for name in ("level_noise", "trend_noise"):
            number = as_scalar(getattr(self, name), name, at_least=0.0, at_most=_LARGEST)
            object.__setattr__(self, name, number)
        # Without meter noise the filter would divide 0 by 0 once it knows the bias.
        for name in ("meter_noise", "initial"):
            number = as_scalar(
                getattr(self, name), name, above=0.0, at_least=1.0 / _LARGEST, at_most=_LARGEST
            )
            object.__setattr__(self, name, number)

    def init(self) -> BiasState:
        """The state at t = 0: level and trend 0 ± ``initial``.

        Returns
        -------
        BiasState
        """
        spread = np.array([self.initial, 0.01 * self.initial])
        return BiasState(read_only(np.zeros(2)), read_only(np.diag(spread**2)))

    def update(self, state: BiasState, difference: float) -> BiasState:
        """Use y_t − ŷ_t; NaN is a missing measurement.

        Parameters
        ----------
        state : BiasState
        difference : float

        Returns
        -------
        BiasState
        """
        if not isinstance(state, BiasState):
            raise InvalidInputError(
                f"state must be a BiasState, got {type(state).__name__}; start with init()"
            )
        difference = float(over_steps(difference, "difference", 1, missing=True)[0])
        if np.isnan(difference):
            return state
        noise = self.meter_noise**2
        gain = state.covariance[:, 0] / (state.covariance[0, 0] + noise)
        mean = state.mean + gain * (difference - state.mean[0])
        # Joseph's form keeps the covariance definite.
        left = np.eye(2) - np.outer(gain, [1.0, 0.0])
        covariance = left @ state.covariance @ left.T + noise * np.outer(gain, gain)
        return BiasState(read_only(mean), read_only(0.5 * (covariance + covariance.T)))

    def predict(self, state: BiasState) -> BiasState:
        """Move on by one step.

        Parameters
        ----------
        state : BiasState

        Returns
        -------
        BiasState
        """
        move = np.array([[1.0, 1.0], [0.0, 1.0]])
        covariance = move @ state.covariance @ move.T
        covariance += np.diag([self.level_noise**2, self.trend_noise**2])
        return BiasState(read_only(move @ state.mean), read_only(covariance))

    def forecast(self, state: BiasState, steps: int) -> Array:
        """The bias now and in the following steps, (steps,).

        Parameters
        ----------
        state : BiasState
        steps : int

        Returns
        -------
        (steps,) float64
        """
        ahead = as_count(steps, "steps")
        if ahead > _MOST_STEPS:
            raise InvalidInputError(f"steps must be at most {_MOST_STEPS}, got {ahead}")
        return np.asarray(state.mean[0] + state.mean[1] * np.arange(ahead))
