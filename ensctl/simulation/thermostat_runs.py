"""A controller in closed loop with a thermostat fleet, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_count, as_scalar, as_vector, read_only
from ensctl.display import Plotted, Summarised
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned
from ensctl.simulation.thermostat_controller import FleetControllerState
from ensctl.simulation.thermostat_model import (
    DutyModel,
    initial_fleet_state,
    require_duty_model,
)

Array = NDArray[Any]


class PowerController(Protocol):
    """Chooses u_t from the reference ahead and the power of the step before."""

    @property
    def horizon(self) -> int:
        """How many reference values it is given."""

    @property
    def u_max(self) -> float:
        """Largest |u| in °C."""

    def init(self) -> Any:
        """The state before the first step."""

    def step(self, state: Any, reference: Array, power: float | None) -> tuple[float, Any]:
        """u_t and the next state."""


@dataclass(frozen=True, eq=False)
class FleetRun(Plotted, Summarised):
    """Result of :func:`run_fleet`.

    Attributes
    ----------
    name : str
        What it is called in plots.
    dt : float
        Length of a step in seconds.
    nominal : float
        Nominal power in kW.
    reference : (T,) float64
        r in kW; NaN where nothing was asked for.
    power : (T,) float64
        The true power y in kW; u_t acts on y_t, which was measured after u_t was chosen.
    inputs : (T,) float64
        u in °C.
    ambient : (T,) float64
        Ambient counted from its nominal value, °C.
    u_max : float
        The limit on |u|, °C.
    skip : int
        First steps that errors do not count.
    residual : float
        Worst residual of the optimality conditions over all steps; NaN where nothing was optimised.
    unsettled : int
        Steps whose plan had not settled, or was not proved optimal, when its first input acted.
    """

    _plot_function: ClassVar[str] = "fleet_power"

    name: str
    dt: float
    nominal: float
    reference: Array
    power: Array
    inputs: Array
    ambient: Array
    u_max: float
    skip: int
    residual: float
    unsettled: int

    @property
    def times(self) -> Array:
        """t in seconds, (T,)."""
        return read_only(self.dt * np.arange(self.power.size))

    @property
    def errors(self) -> Array:
        """(y − r)/nominal, (T,); NaN where there is no reference."""
        return read_only((self.power - self.reference) / self.nominal)

    @property
    def rms_error(self) -> float:
        """Root mean square of the errors after ``skip``, as a share of nominal power."""
        counted = self._counted()
        return float(np.sqrt(np.mean(counted**2))) if counted.size else np.nan

    @property
    def worst_error(self) -> float:
        """Largest |error| after ``skip``, as a share of nominal power."""
        counted = self._counted()
        return float(np.abs(counted).max()) if counted.size else np.nan

    @property
    def peak(self) -> float:
        """Largest power as a share of nominal power."""
        return float(self.power.max() / self.nominal)

    @property
    def saturated_steps(self) -> int:
        """Steps at which the input is at its limit."""
        return int(np.count_nonzero(np.abs(self.inputs) >= self.u_max))

    @property
    def message(self) -> str:
        """Whether the input had room, in words."""
        count, total = self.saturated_steps, self.inputs.size
        if not count:
            return "The input stays within its limit throughout."
        return (
            f"The input saturates at ±{self.u_max:g} °C for {count} of {total} steps; there the "
            f"reference is out of reach and is tracked as near as the limit allows."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON-safe data (``"schema": 1``)."""
        names = ("name", "dt", "nominal", "reference", "power", "inputs", "ambient", "u_max")
        more = (
            "skip",
            "rms_error",
            "worst_error",
            "peak",
            "saturated_steps",
            "unsettled",
            "message",
        )
        return versioned("fleet_run", {name: getattr(self, name) for name in (*names, *more)})

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.name}: rms error {100 * self.rms_error:.3g} % of {self.nominal:.6g} kW "
                f"after {self.skip} steps, {100 * self.worst_error:.3g} % at worst",
                f"  input  |u| ≤ {np.abs(self.inputs).max():.4g} °C, limit {self.u_max:g} °C",
                f"  power  peak {100 * self.peak:.4g} % of nominal",
                f"  {self.message}",
            ]
        )

    def _counted(self) -> Array:
        errors = self.errors[self.skip :]
        return errors[~np.isnan(errors)]


def run_fleet(
    model: DutyModel,
    controller: PowerController,
    reference: ArrayLike,
    *,
    ambient: ArrayLike = 0.0,
    meter_errors: ArrayLike = 0.0,
    z0: ArrayLike = 0.0,
    u_max: float | None = None,
    skip: int = 0,
    name: str | None = None,
) -> FleetRun:
    """Close the loop: at every step choose u_t, apply it, and measure y_t.

    Parameters
    ----------
    model : DutyModel
        The plant, from :func:`duty_model`.
    controller : FleetController, FleetPI or InputPlan
        It is given the reference ahead (the last value held beyond the end) and y_{t−1} with its
        meter error; never the ambient, the temperatures or y_t.
    reference : (T,) array_like
        r in kW; NaN asks for nothing.
    ambient : scalar or (T,)
        Ambient counted from its nominal value, °C.
    meter_errors : scalar or (T,)
        What the meter adds to y, kW.
    z0 : scalar or (N,)
        Temperatures at t = 0 counted from the set-points, °C.
    u_max : float, optional
        The limit to show and to count saturated steps by; by default that of the controller.
    skip : int
        First steps that errors do not count, less than T.
    name : str, optional
        By default the class of the controller.

    Returns
    -------
    FleetRun

    Raises
    ------
    InvalidInputError
        Shapes that do not match, or numbers that are not finite.

    Examples
    --------
    >>> import ensctl as ec
    >>> fleet = ec.ThermostatFleet.draw(1000, seed=1)
    >>> controller = ec.FleetController(ec.reduced_duty_model(fleet))
    >>> wanted = [0.9 * fleet.nominal_power] * 60
    >>> run = ec.run_fleet(ec.duty_model(fleet), controller, wanted, skip=20)
    >>> run.rms_error < 1e-3, run.saturated_steps
    (True, 0)
    """
    wanted = _reference(reference)
    steps = wanted.size
    outside = as_vector(ambient, "ambient", size=steps, real=True)
    errors = as_vector(meter_errors, "meter_errors", size=steps, real=True)
    require_duty_model(model)
    if not all(hasattr(controller, name) for name in ("init", "step", "horizon", "u_max")):
        raise InvalidInputError(
            f"controller must have init, step, horizon and u_max, got {type(controller).__name__}; "
            f"make one with ec.FleetController(model)"
        )
    limit = controller.u_max if u_max is None else as_scalar(u_max, "u_max", above=0.0)
    dropped = as_count(skip, "skip", minimum=0)
    if dropped >= steps:
        raise InvalidInputError(f"skip must be less than the {steps} steps, got {dropped}")
    ahead = np.append(wanted, np.full(controller.horizon, wanted[-1]))
    z, state = initial_fleet_state(model, z0).z, controller.init()
    power, inputs = np.empty(steps), np.empty(steps)
    measured: float | None = None
    worst, unsettled = np.nan, 0
    for t in range(steps):
        inputs[t], state = controller.step(state, ahead[t : t + controller.horizon], measured)
        z, power[t] = model.step(z, float(inputs[t]), float(outside[t]))
        measured = float(power[t] + errors[t])
        if isinstance(state, FleetControllerState):
            worst = np.fmax(worst, state.residual)
            unsettled += not state.status.success
    return FleetRun(
        name=type(controller).__name__ if name is None else str(name),
        dt=model.dt,
        nominal=model.nominal_power,
        reference=read_only(wanted),
        power=read_only(power),
        inputs=read_only(inputs),
        ambient=read_only(outside),
        u_max=limit,
        skip=dropped,
        residual=float(worst),
        unsettled=unsettled,
    )


def _reference(reference: ArrayLike) -> Array:
    try:
        with np.errstate(all="ignore"):
            values = np.array(reference, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            "reference must be real numbers, NaN where nothing is asked"
        ) from None
    if values.ndim != 1 or not values.size:
        raise InvalidInputError(
            f"reference must be one-dimensional with at least one step, got shape {values.shape}"
        )
    as_array(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf), "reference")
    return values
