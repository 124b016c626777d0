"""Thermostat fleets and controllers given the wrong kind or size: one error of the package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ensctl as ec
from ensctl.errors import EnsctlError, InvalidInputError
from ensctl.simulation import FleetPI, InputPlan, OutputBias

_FLEET = ec.ThermostatFleet.draw(50, seed=1)
_MODEL, _SMALL = ec.duty_model(_FLEET), ec.reduced_duty_model(_FLEET, 4)
_CONTROLLER = ec.FleetController(_SMALL, 5)
_STATE = _CONTROLLER.step(_CONTROLLER.init(), 50.0)[1]
_PI, _BIAS = FleetPI(100.0, 0.1, 0.1), OutputBias(0.1, 0.1, 0.1)
_STRANGE: list[Any] = [
    None,
    object(),
    "a",
    "1",
    [],
    {},
    np.nan,
    np.inf,
    1j,
    1e308,
    1e-320,
    -1.0,
    [1.0, 2.0],
    np.zeros((2, 2)),
    np.array(["a", "b"]),
]


def _controlled(**changes: Any) -> float:
    controller = ec.FleetController(_SMALL, 5, **changes)
    return controller.step(controller.step(controller.init(), 10.0)[1], 10.0, 50.0)[0]


_ENTRIES = {
    "resistance": lambda v: ec.ThermostatFleet(v, 2.0, [5.0, 6.0], 0.5, 22.0),
    "cop": lambda v: ec.ThermostatFleet(2.0, 2.0, [5.0, 6.0], 0.5, 22.0, cop=v),
    "fleet": ec.duty_model,
    "groups": lambda v: ec.reduced_duty_model(_FLEET, v),
    "z0": lambda v: ec.initial_fleet_state(_MODEL, v),
    "model": lambda v: ec.fleet_step(v, ec.initial_fleet_state(_MODEL), 0.0),
    "state": lambda v: ec.fleet_step(_MODEL, v, 0.0),
    "u": lambda v: ec.fleet_step(_MODEL, ec.initial_fleet_state(_MODEL), v),
    **{
        name: lambda v, name=name: _controlled(**{name: v})
        for name in ("u_max", "meter_noise", "level_noise", "input_weight", "slew_weight", "peak")
    },
    "controller state": lambda v: _CONTROLLER.step(v, 10.0),
    "reference": lambda v: _CONTROLLER.step(_STATE, v),
    "power": lambda v: _CONTROLLER.step(_STATE, 10.0, v),
    "disturbance": lambda v: _CONTROLLER.step(_STATE, 10.0, 50.0, v),
    "PI state": lambda v: _PI.step(v, 1.0, 1.0),
    "PI reference": lambda v: _PI.step(_PI.init(), v),
    "PI power": lambda v: _PI.step(_PI.init(), 1.0, v),
    "plan step": lambda v: InputPlan([1.0]).step(v, 0.0),
    "difference": lambda v: _BIAS.update(_BIAS.init(), v),
    "bias state": lambda v: _BIAS.update(v, 1.0),
    "forecast": lambda v: _BIAS.forecast(_BIAS.init(), v),
    "run model": lambda v: ec.run_fleet(v, _CONTROLLER, [50.0] * 3),
    "run controller": lambda v: ec.run_fleet(_MODEL, v, [50.0] * 3),
    "run reference": lambda v: ec.run_fleet(_MODEL, _CONTROLLER, v),
    "run limit": lambda v: ec.run_fleet(_MODEL, _CONTROLLER, [50.0] * 3, u_max=v),
}


@pytest.mark.parametrize("name", _ENTRIES)
def test_strange_values_give_an_answer_or_one_error(name: str) -> None:
    for value in _STRANGE:
        try:
            _ENTRIES[name](value)
        except EnsctlError as error:
            assert len(str(error)) > 20


def test_states_of_another_controller_are_refused() -> None:
    longer = ec.FleetController(_SMALL, 9)
    with pytest.raises(InvalidInputError, match="this FleetController"):
        _CONTROLLER.step(longer.init(), 50.0)


def test_a_masked_power_is_missing() -> None:
    missing = _CONTROLLER.step(_STATE, 50.0)[0]
    assert _CONTROLLER.step(_STATE, 50.0, np.ma.array(9e9, mask=True))[0] == missing
