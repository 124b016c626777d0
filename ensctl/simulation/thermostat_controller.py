"""Model-predictive control of a thermostat fleet from its aggregate power alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_horizon, as_scalar, read_only
from ensctl.convex.mpc_program import RecedingSolution, receding_program, solve_receding
from ensctl.errors import InvalidInputError
from ensctl.simulation.thermostat_bias import BiasState, OutputBias
from ensctl.simulation.thermostat_model import (
    DutyModel,
    initial_fleet_state,
    require_duty_model,
)
from ensctl.simulation.thermostat_prediction import Prediction, predicted
from ensctl.simulation.thermostat_samples import over_steps
from ensctl.status import Status

Array = NDArray[Any]

# Of nominal power: what the bias of a good reduced model does from step to step.
_LEVEL, _TREND = 5e-4, 2e-4
_MOST_ROUNDS = 8
# Squares of these stay in the float64 range.
_LARGEST = 1e100
# A plan that changes by less than this, relative to u_max, is where linearisation has led.
_SETTLED = 1e-6


@dataclass(frozen=True, eq=False)
class FleetControllerState:
    """State of :class:`FleetController` between two steps.

    Attributes
    ----------
    step : int
        t, the number of inputs chosen so far.
    u : float
        The last input u_{t−1}, °C.
    z : (M,) float64
        Temperatures of the groups of the model at t, °C.
    bias : BiasState
        What the model misses, before y_{t−1} is known.
    expected : float
        Power that the model alone gives for t − 1, kW.
    plan : (H,) float64
        Inputs planned at the last step, °C.
    power : (H,) float64
        Power they were predicted to give, kW.
    status : Status
        ``OPTIMAL`` when the quadratic program of the last round passed the check of its optimality
        conditions and the plan has settled.
    residual : float
        Residual of that check.
    rounds : int
        Linearisations made.
    saturated : bool
        Whether u_{t−1} is at its limit.
    """

    step: int
    u: float
    z: Array
    bias: BiasState
    expected: float
    plan: Array
    power: Array
    status: Status
    residual: float
    rounds: int
    saturated: bool
    _multipliers: Array | None


@dataclass(frozen=True, eq=False)
class FleetController:
    """Tracks a power reference with a small saturating model and an estimated output bias.

    At step t, before y_t is known, it uses y_{t−1} to correct the bias (level and trend) of the
    model, forecasts the bias, and minimises over u_t … u_{t+H−1}, |u| ≤ u_max,

    Σ ((y_k − r_k)/Y)² + w_u Σ u_k² + w_Δ Σ (u_k − u_{k−1})² + w_s Σ max(0, y_k − peak)²/Y²

    with Y the nominal power, by linearising about the plan until it settles.  The groups that
    saturate along the plan do not react, so they are not counted on.

    Parameters
    ----------
    model : DutyModel
        A few groups, from :func:`reduced_duty_model`.
    horizon : int
        H ≥ 1 steps.
    u_max : float
        Largest shift of the set-points in °C, > 0; never exceeded.
    meter_noise : float
        Standard deviation of the measured power in kW, > 0; by default 0.1 % of Y.
    level_noise, trend_noise : float, optional
        What the bias does from step to step, kW; by default 0.05 % and 0.02 % of Y.
    input_weight, slew_weight : float
        w_u and w_Δ per °C², ≥ 0, not both 0.
    peak : float, optional
        Soft upper limit of the power in kW.
    soft_weight : float
        w_s > 0.

    Raises
    ------
    InvalidInputError
        A value is out of range.

    Notes
    -----
    A step with 16 groups and 20 steps ahead takes some milliseconds, whatever the size of the
    fleet.  Near u_max power leaves the reference a little before the input is at its limit: the
    plan spreads an error that it foresees.

    Examples
    --------
    >>> import ensctl as ec
    >>> fleet = ec.ThermostatFleet.draw(2000, seed=1)
    >>> controller = ec.FleetController(ec.reduced_duty_model(fleet))
    >>> plant, state, power = ec.duty_model(fleet), controller.init(), None
    >>> here = ec.initial_fleet_state(plant)
    >>> for _ in range(60):
    ...     u, state = controller.step(state, 0.95 * fleet.nominal_power, power)
    ...     here, power = ec.fleet_step(plant, here, u, 0.5)
    >>> abs(power / fleet.nominal_power - 0.95) < 1e-3
    True
    """

    model: DutyModel
    horizon: int = 20
    u_max: float = 0.5
    meter_noise: float | None = field(default=None, kw_only=True)
    level_noise: float | None = field(default=None, kw_only=True)
    trend_noise: float | None = field(default=None, kw_only=True)
    input_weight: float = field(default=1e-5, kw_only=True)
    slew_weight: float = field(default=0.0, kw_only=True)
    peak: float | None = field(default=None, kw_only=True)
    soft_weight: float = field(default=100.0, kw_only=True)
    _filter: OutputBias = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_duty_model(self.model)
        as_horizon(self.horizon)
        numbers = {
            name: as_scalar(getattr(self, name), name, at_least=0.0, at_most=_LARGEST)
            for name in ("input_weight", "slew_weight")
        }
        if not any(numbers.values()):
            raise InvalidInputError("input_weight or slew_weight must be > 0; give one of them")
        numbers["u_max"] = as_scalar(self.u_max, "u_max", above=0.0, at_most=_LARGEST)
        numbers["soft_weight"] = as_scalar(
            self.soft_weight, "soft_weight", at_least=1.0 / _LARGEST, at_most=_LARGEST
        )
        if self.peak is not None:
            numbers["peak"] = as_scalar(self.peak, "peak", above=0.0, at_most=_LARGEST)
        for name, number in numbers.items():
            object.__setattr__(self, name, number)
        nominal = self.model.nominal_power
        if not nominal > 0.0:
            raise InvalidInputError(
                "model must have a nominal power > 0; its set-points are above the ambient"
            )
        noise = {
            name: share * nominal if value is None else as_scalar(value, name, at_most=_LARGEST)
            for name, value, share in (
                ("level_noise", self.level_noise, _LEVEL),
                ("trend_noise", self.trend_noise, _TREND),
                ("meter_noise", self.meter_noise, 1e-3),
            )
        }
        object.__setattr__(self, "_filter", OutputBias(**noise, initial=0.05 * nominal))

    def init(self, u: float = 0.0, z: ArrayLike = 0.0) -> FleetControllerState:
        """The state before the first step.

        Parameters
        ----------
        u : float
            The input that acts now, °C, |u| ≤ u_max.
        z : scalar or (M,)
            Temperatures of the groups counted from their set-points, °C.

        Returns
        -------
        FleetControllerState

        Raises
        ------
        InvalidInputError
            A number is out of range.
        """
        last = as_scalar(u, "u", at_least=-self.u_max, at_most=self.u_max)
        return FleetControllerState(
            step=0,
            u=last,
            z=initial_fleet_state(self.model, z).z,
            bias=self._filter.init(),
            expected=np.nan,
            plan=read_only(np.full(self.horizon, last)),
            power=read_only(np.full(self.horizon, np.nan)),
            status=Status.OPTIMAL,
            residual=0.0,
            rounds=0,
            saturated=False,
            _multipliers=None,
        )

    def step(
        self,
        state: FleetControllerState,
        reference: ArrayLike,
        power: float | None = None,
        disturbance: ArrayLike = 0.0,
    ) -> tuple[float, FleetControllerState]:
        """Choose u_t from the power of the step before.

        Parameters
        ----------
        state : FleetControllerState
            From :meth:`init` or the last step; left as it is.
        reference : scalar or (H,)
            r_t … r_{t+H−1} in kW; a scalar is held.  NaN entries ask for nothing: there only u
            and the peak count.
        power : float, optional
            y_{t−1} as measured, kW; None or NaN where it is missing.
        disturbance : scalar or (H,)
            Ambient counted from nominal, °C, as far as it is measured or foreseen.

        Returns
        -------
        u : float
            u_t in °C, |u_t| ≤ u_max.
        state : FleetControllerState

        Raises
        ------
        InvalidInputError
            Infinite numbers or wrong shapes.
        """
        if not isinstance(state, FleetControllerState) or state.plan.size != self.horizon:
            raise InvalidInputError(
                f"state must come from this FleetController, got {type(state).__name__}; start "
                f"with init()"
            )
        wanted = over_steps(reference, "reference", self.horizon, missing=True)
        ambient = over_steps(disturbance, "disturbance", self.horizon)
        measured = (
            np.nan if power is None else float(over_steps(power, "power", 1, missing=True)[0])
        )
        bias = state.bias
        if state.step > 0:
            bias = self._filter.predict(self._filter.update(bias, measured - state.expected))
        missing = self._filter.forecast(bias, self.horizon)
        plan, found, at, rounds = self._planned(state, wanted - missing, missing, ambient)
        u = float(plan[0])
        z, expected = self.model.step(state.z, u, float(ambient[0]))
        return u, FleetControllerState(
            step=state.step + 1,
            u=u,
            z=read_only(z),
            bias=bias,
            expected=expected,
            plan=read_only(plan),
            power=read_only(at.power + missing),
            status=found.status if rounds < _MOST_ROUNDS else Status.INACCURATE,
            residual=found.residual,
            rounds=rounds,
            saturated=abs(u) == self.u_max,
            _multipliers=found.multipliers,
        )

    def _planned(
        self, state: FleetControllerState, wanted: Array, missing: Array, ambient: Array
    ) -> tuple[Array, RecedingSolution, Prediction, int]:
        """Linearise and solve until the plan stays where it is."""
        plan = np.append(state.plan[1:], state.plan[-1])
        at = predicted(self.model, state.z, plan, ambient)
        start, rounds = state._multipliers, 0
        while True:
            rounds += 1
            found = self._solved(state.u, plan, at, wanted, missing, start)
            moved = np.clip(found.inputs, -self.u_max, self.u_max)
            start, change = found.multipliers, float(np.abs(moved - plan).max())
            plan = moved
            at = predicted(self.model, state.z, plan, ambient)
            if change <= _SETTLED * self.u_max or rounds == _MOST_ROUNDS:
                return plan, found, at, rounds

    def _solved(
        self,
        last: float,
        plan: Array,
        at: Prediction,
        wanted: Array,
        missing: Array,
        start: Array | None,
    ) -> RecedingSolution:
        steps, nominal = self.horizon, self.model.nominal_power
        gain = at.jacobian / nominal
        base = at.power / nominal - gain @ plan
        asked = ~np.isnan(wanted)
        tracked = gain[asked]
        change = np.eye(steps) - np.eye(steps, k=-1)
        hessian = tracked.T @ tracked + self.input_weight * np.eye(steps)
        hessian += self.slew_weight * (change.T @ change)
        linear = tracked.T @ (base[asked] - wanted[asked] / nominal)
        linear[0] -= self.slew_weight * last
        rows, bounds = [np.eye(steps), -np.eye(steps)], [np.full(2 * steps, self.u_max)]
        softness = [np.zeros(2 * steps)]
        if self.peak is not None:
            rows.append(gain)
            bounds.append((self.peak - missing) / nominal - base)
            softness.append(np.full(steps, 1.0 / self.soft_weight))
        program = receding_program(hessian, np.concatenate(rows), np.concatenate(softness))
        return solve_receding(program, linear, np.concatenate(bounds), start=start)
