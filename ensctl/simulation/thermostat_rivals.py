"""What a fleet controller is compared with: PI control and inputs that were planned beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, as_scalar, as_vector, read_only
from ensctl.errors import InvalidInputError
from ensctl.simulation.thermostat_samples import over_steps

Array = NDArray[Any]


@dataclass(frozen=True)
class FleetPIState:
    """State of :class:`FleetPI`.

    Attributes
    ----------
    integral : float
        Σ of the errors so far, of nominal power.
    reference : float
        r_{t−1} in kW; NaN before the first step.
    """

    integral: float
    reference: float


@dataclass(frozen=True)
class FleetPI:
    """Proportional-integral control of the power of a fleet by the shift u of its set-points.

    u_t = −(k_P e + k_I Σ e) within ±u_max, with e = (r_{t−1} − y_{t−1})/Y the error last measured,
    or (r_t − y_{t−1})/Y when it looks at the reference of now.  The integral rests while u is at
    its limit.

    Parameters
    ----------
    nominal : float
        Y in kW, > 0.
    proportional, integral : float
        k_P and k_I in °C per Y, ≥ 0.
    u_max : float
        Largest |u| in °C, > 0.
    current_reference : bool
        Whether e takes r_t instead of r_{t−1}.

    Raises
    ------
    InvalidInputError
        A value is out of range.

    Examples
    --------
    >>> from ensctl.simulation import FleetPI
    >>> pi = FleetPI(100.0, 0.05, 0.2)
    >>> u, state = pi.step(pi.init(), [100.0])
    >>> u, state = pi.step(state, [100.0], 90.0)
    >>> round(u, 6)
    -0.025
    """

    nominal: float
    proportional: float
    integral: float
    u_max: float = 0.5
    current_reference: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        as_scalar(self.nominal, "nominal", above=0.0)
        as_scalar(self.proportional, "proportional", at_least=0.0)
        as_scalar(self.integral, "integral", at_least=0.0)
        as_scalar(self.u_max, "u_max", above=0.0)

    @property
    def horizon(self) -> int:
        """1: it looks no further than the reference of now."""
        return 1

    def init(self) -> FleetPIState:
        """The state before the first step.

        Returns
        -------
        FleetPIState
        """
        return FleetPIState(0.0, np.nan)

    def step(
        self, state: FleetPIState, reference: ArrayLike, power: float | None = None
    ) -> tuple[float, FleetPIState]:
        """Choose u_t from y_{t−1}.

        Parameters
        ----------
        state : FleetPIState
            Left as it is.
        reference : scalar or (1,)
            r_t in kW.
        power : float, optional
            y_{t−1} in kW; None or NaN where it is missing.

        Returns
        -------
        u : float
        state : FleetPIState
        """
        if not isinstance(state, FleetPIState):
            raise InvalidInputError(
                f"state must be a FleetPIState, got {type(state).__name__}; start with init()"
            )
        now = float(over_steps(reference, "reference", 1, missing=True)[0])
        aim = now if self.current_reference else state.reference
        measured = over_steps(np.nan if power is None else power, "power", 1, missing=True)
        error = (aim - float(measured[0])) / self.nominal
        error = 0.0 if np.isnan(error) else error
        total = state.integral + error
        wanted = -(self.proportional * error + self.integral * total)
        if abs(wanted) > self.u_max:
            total = state.integral
        u = float(np.clip(wanted, -self.u_max, self.u_max))
        return u, FleetPIState(total, now)


@dataclass(frozen=True, eq=False)
class InputPlan:
    """Inputs that were decided beforehand, whatever is measured.

    Parameters
    ----------
    inputs : (T,) array_like
        u_0 … u_{T−1} in °C; the last one is held.

    Raises
    ------
    InvalidInputError
        Not real, finite numbers.

    Examples
    --------
    >>> from ensctl.simulation import InputPlan
    >>> plan = InputPlan([0.1, 0.2])
    >>> plan.step(plan.init(), 0.0)
    (0.1, 1)
    """

    inputs: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", read_only(as_vector(self.inputs, "inputs", real=True)))

    @property
    def horizon(self) -> int:
        """1: it looks at nothing."""
        return 1

    @property
    def u_max(self) -> float:
        """The largest |u| of the plan."""
        return float(np.abs(self.inputs).max())

    def init(self) -> int:
        """The step number 0."""
        return 0

    def step(
        self, state: int, reference: ArrayLike, power: float | None = None
    ) -> tuple[float, int]:
        """u_t of the plan and the next step number.

        Parameters
        ----------
        state : int
            t.
        reference, power
            Not looked at.

        Returns
        -------
        u : float
        state : int
        """
        step = as_count(state, "state", minimum=0)
        inputs = np.asarray(self.inputs)
        return float(inputs[min(step, inputs.size - 1)]), step + 1
