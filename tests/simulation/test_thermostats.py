"""Thermostat fleets: the plant and its linear part, reduction, bias, control from power alone."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ensctl as ec
from ensctl.errors import InvalidInputError
from ensctl.simulation import FleetPI, InputPlan, OutputBias
from ensctl.simulation.thermostat_prediction import predicted

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def fleet() -> ec.ThermostatFleet:
    return ec.ThermostatFleet.draw(2000, seed=1)


@given(seeds)
def test_unsaturated_fleet_is_the_broadcast_ensemble(seed: int) -> None:
    fleet = ec.ThermostatFleet.draw(30, seed=seed % 1000)
    rng = np.random.default_rng(seed)
    inputs = rng.uniform(-0.01, 0.01, 20)
    model, state = ec.duty_model(fleet), ec.initial_fleet_state(ec.duty_model(fleet))
    linear = ec.Simulator(fleet.linear())
    rest = float(np.asarray(fleet.power) @ fleet.duty)
    for u in inputs:
        state, power = ec.fleet_step(model, state, u)
        assert power - rest == pytest.approx(linear.step(u), abs=1e-10)
        assert state.z == pytest.approx(linear.state.x, abs=1e-12)


def test_same_draw_as_the_family() -> None:
    assert ec.ThermostatFleet.draw(50, seed=3).linear() == ec.families.thermostats(50, seed=3)


def test_ambient_moves_an_uncontrolled_house_to_the_ambient() -> None:
    """With duty stuck at 0 a house follows the ambient with time constant RC."""
    house = ec.ThermostatFleet(2.0, 2.0, [5.0], 0.5, 40.0)
    model = ec.duty_model(house)
    assert house.duty[0] < 0.0 and house.nominal_power == 0.0
    z = np.zeros(1)
    for _ in range(480):
        z, power = model.step(z, 5.0, -1.0)
        assert power == 0.0
    # The duty D < 0 that would hold the set-point is not there: z tends to v + (ambient − set).
    expected = (-1.0 - 8.0) * (1.0 - np.exp(-480 * 30.0 / 3600.0 / 4.0))
    assert z[0] == pytest.approx(expected, rel=1e-12)


def test_full_duty_is_all_the_power_there_is(fleet: ec.ThermostatFleet) -> None:
    model = ec.duty_model(fleet)
    z, power = model.step(np.zeros(fleet.size), -10.0)
    assert power == pytest.approx(float(np.sum(fleet.power)), rel=1e-12)
    assert model.step(np.zeros(fleet.size), 10.0)[1] == 0.0
    assert np.all(z < 0.0)


@pytest.mark.parametrize("groups", [1, 3, 7, 16, 64])
def test_reduction_keeps_what_it_promises(fleet: ec.ThermostatFleet, groups: int) -> None:
    small = ec.reduced_duty_model(fleet, groups)
    assert small.size == groups
    assert small.power.sum() == pytest.approx(float(np.sum(fleet.power)))
    assert small.nominal_power == pytest.approx(fleet.nominal_power, rel=1e-12)
    # The sudden response −Σ P g is that of the fleet.
    full = ec.duty_model(fleet)
    sudden = [m.step(np.zeros(m.size), 1e-3)[1] - m.nominal_power for m in (small, full)]
    assert sudden[0] == pytest.approx(sudden[1], rel=1e-9)


def test_more_groups_miss_less(fleet: ec.ThermostatFleet) -> None:
    full = ec.duty_model(fleet)
    u = 0.1 * np.sin(np.arange(200) / 5.0) + 0.3 * np.sin(np.arange(200) / 50.0)

    def powers(model: ec.DutyModel) -> Any:
        z, found = np.zeros(model.size), []
        for value in u:
            z, power = model.step(z, float(value), 0.3)
            found.append(power)
        return np.array(found) / model.nominal_power

    true = powers(full)
    errors = [
        float(np.sqrt(np.mean((powers(ec.reduced_duty_model(fleet, m)) - true) ** 2)))
        for m in (1, 4, 16, 64)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[2] < 0.01
    assert powers(ec.reduced_duty_model(fleet, fleet.size)) == pytest.approx(true, rel=1e-9)


@given(seeds)
def test_jacobian_is_the_derivative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = ec.reduced_duty_model(ec.ThermostatFleet.draw(200, seed=seed % 100), 8)
    z, plan = rng.normal(0.0, 0.2, 8), rng.normal(0.0, 0.2, 12)
    ambient = rng.normal(0.0, 1.0, 12)
    at = predicted(model, z, plan, ambient)
    power = []
    for u, v in zip(plan, ambient, strict=True):
        z_next, y = model.step(z, float(u), float(v))
        power.append(y)
        z = z_next
    assert at.power == pytest.approx(power, rel=1e-12)
    # Piecewise linear: a step this small stays on the piece, except at its corners.
    z = rng.normal(0.0, 0.2, 8)
    at = predicted(model, z, plan, ambient)
    direction = 1e-7 * rng.standard_normal(12)
    moved = predicted(model, z, plan + direction, ambient).power - at.power
    assert moved == pytest.approx(at.jacobian @ direction, abs=1e-7 * model.nominal_power)
    assert np.all(np.triu(at.jacobian, 1) == 0.0)


def test_bias_filter_is_the_textbook_filter() -> None:
    rng = np.random.default_rng(0)
    bias = OutputBias(0.3, 0.1, 0.5, initial=2.0)
    state, mean, P = bias.init(), np.zeros(2), np.diag([4.0, 4e-4])
    F, Q, h = np.array([[1.0, 1.0], [0.0, 1.0]]), np.diag([0.09, 0.01]), np.array([1.0, 0.0])
    for t in range(50):
        y = np.nan if t == 7 else rng.standard_normal() + 0.2 * t
        state = bias.predict(bias.update(state, y))
        if not np.isnan(y):
            K = P @ h / (h @ P @ h + 0.25)
            mean, P = mean + K * (y - h @ mean), (np.eye(2) - np.outer(K, h)) @ P
        mean, P = F @ mean, F @ P @ F.T + Q
        assert state.mean == pytest.approx(mean, rel=1e-9)
        assert state.covariance == pytest.approx(P, rel=1e-9)
    assert bias.forecast(state, 3) == pytest.approx(mean[0] + mean[1] * np.arange(3))


def _closed_loop(fleet: ec.ThermostatFleet, **more: Any) -> ec.FleetRun:
    t = np.arange(160)
    return ec.run_fleet(
        ec.duty_model(fleet),
        ec.FleetController(ec.reduced_duty_model(fleet), 15),
        fleet.nominal_power * (1.0 + 0.05 * np.sin(t / 6.0)),
        ambient=1.0 * np.sin(t / 40.0),
        skip=30,
        **more,
    )


def test_controller_tracks_from_power_alone(fleet: ec.ThermostatFleet) -> None:
    noise = 1e-3 * fleet.nominal_power * np.random.default_rng(0).standard_normal(160)
    run = _closed_loop(fleet, meter_errors=noise)
    assert run.rms_error < 2e-3
    assert run.saturated_steps == 0 and run.unsettled == 0
    assert run.residual < 1e-9
    assert "within its limit" in run.message
    assert len(str(run).splitlines()) <= 12
    data = json.loads(json.dumps(run.to_dict()))
    assert data["kind"] == "fleet_run" and data["saturated_steps"] == 0


def test_input_is_chosen_before_its_power_is_measured(fleet: ec.ThermostatFleet) -> None:
    noise = np.zeros(160)
    noise[50] = 1e4
    calm, shaken = _closed_loop(fleet), _closed_loop(fleet, meter_errors=noise)
    assert np.array_equal(calm.inputs[:51], shaken.inputs[:51])
    assert calm.inputs[51] != shaken.inputs[51]


def test_missing_measurements_are_bridged(fleet: ec.ThermostatFleet) -> None:
    model = ec.duty_model(fleet)
    controller = ec.FleetController(ec.reduced_duty_model(fleet))
    state, z, power = controller.init(), np.zeros(fleet.size), None
    for t in range(80):
        u, state = controller.step(state, fleet.nominal_power, power)
        z, power = model.step(z, u, 0.5)
        if 40 <= t < 45:
            power = np.nan if t % 2 else None
    assert power == pytest.approx(fleet.nominal_power, rel=1e-3)


def test_known_ambient_leaves_nothing_to_learn(fleet: ec.ThermostatFleet) -> None:
    """When plant and model are the same and the ambient is known, tracking is exact."""
    small = ec.reduced_duty_model(fleet)
    controller = ec.FleetController(small, 10, input_weight=1e-12)
    state, z = controller.init(), np.zeros(small.size)
    wanted = 0.95 * small.nominal_power
    for _ in range(20):
        u, state = controller.step(state, wanted, disturbance=0.7)
        z, power = small.step(z, u, 0.7)
        assert power == pytest.approx(wanted, rel=1e-8)


def test_out_of_reach_is_reported_and_the_limit_held(fleet: ec.ThermostatFleet) -> None:
    run = ec.run_fleet(
        ec.duty_model(fleet),
        ec.FleetController(ec.reduced_duty_model(fleet), 10, 0.2),
        [0.5 * fleet.nominal_power] * 60,
    )
    assert run.inputs[-1] == 0.2 and np.abs(run.inputs).max() == 0.2
    assert run.saturated_steps > 20
    assert "out of reach" in run.message
    # As near as the limit allows: what the limit itself settles at.
    held = ec.run_fleet(ec.duty_model(fleet), InputPlan([0.2]), [fleet.nominal_power] * 60)
    assert run.power[-1] == pytest.approx(held.power[-1], rel=3e-3)


def test_soft_peak_holds_back_the_rebound(fleet: ec.ThermostatFleet) -> None:
    wanted = np.full(160, fleet.nominal_power)
    wanted[20:60] *= 0.9
    wanted[60:] = np.nan
    model, small = ec.duty_model(fleet), ec.reduced_duty_model(fleet)
    peak = 1.05 * fleet.nominal_power
    limited = ec.run_fleet(model, ec.FleetController(small, 20, peak=peak), wanted)
    free = ec.run_fleet(model, ec.FleetController(small, 20), wanted)
    assert limited.peak < 1.055 < 1.2 < free.peak
    assert abs(limited.inputs[-1]) < 0.02
    assert np.isnan(limited.errors[60:]).all()


def test_pi_and_plans() -> None:
    model = ec.duty_model(ec.ThermostatFleet.draw(100, seed=2))
    plain = FleetPI(model.nominal_power, 0.02, 0.1)
    eager = FleetPI(model.nominal_power, 0.02, 0.1, current_reference=True)
    r = model.nominal_power * (1.0 + 0.1 * np.sin(np.arange(100) / 4.0))
    errors = [ec.run_fleet(model, pi, r, skip=20).rms_error for pi in (plain, eager)]
    assert errors[1] < errors[0] < 0.1
    wound = FleetPI(1.0, 0.0, 1.0, u_max=0.5)
    u, state = wound.step(wound.init(), [0.0], None)
    assert u == 0.0
    for _ in range(5):
        u, state = wound.step(state, [0.0], 10.0)
    assert u == 0.5 and state.integral == 0.0
    run = ec.run_fleet(model, InputPlan([0.1, 0.2]), r)
    assert run.inputs[:3] == pytest.approx([0.1, 0.2, 0.2])
    assert run.name == "InputPlan" and np.isnan(run.residual)


def test_numbers_of_a_run_without_reference() -> None:
    model = ec.duty_model(ec.ThermostatFleet.draw(10, seed=2))
    run = ec.run_fleet(model, InputPlan([0.0]), [np.nan] * 5)
    assert np.isnan(run.rms_error) and np.isnan(run.worst_error)
    assert run.peak == pytest.approx(1.0)
    assert run.times == pytest.approx(30.0 * np.arange(5))


def test_fleet_as_data(fleet: ec.ThermostatFleet) -> None:
    data = json.loads(json.dumps(fleet.to_dict()))
    assert data["kind"] == "thermostat_fleet" and len(data["power"]) == fleet.size
    assert "2000 houses" in str(fleet)
    assert fleet.duty.mean() == pytest.approx(0.35, abs=0.02)


_FLEET = ec.ThermostatFleet.draw(20, seed=0)
_SMALL = ec.reduced_duty_model(_FLEET, 4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ec.ThermostatFleet(2.0, 2.0, [5.0], 0.0, 20.0), "deadband must be > 0"),
        (lambda: ec.ThermostatFleet(2.0, [1.0, 2.0], [5.0], 1.0, 20.0), "capacitance must have 1"),
        (lambda: ec.ThermostatFleet(2.0, 2.0, [np.nan], 1.0, 20.0), "power must be finite"),
        (lambda: ec.ThermostatFleet.draw(0), "n must be an integer ≥ 1"),
        (lambda: ec.ThermostatFleet.draw(5, setpoint=(25.0, 20.0)), "setpoint must be a range"),
        (lambda: ec.duty_model(3), "fleet must be a ThermostatFleet"),
        (lambda: ec.reduced_duty_model(_FLEET, 21), "groups must be at most the 20 houses"),
        (lambda: ec.initial_fleet_state(_SMALL, [1.0]), "z0 must have 4 entries"),
        (
            lambda: ec.fleet_step(_SMALL, ec.FleetState(0, np.zeros(3)), 0.0),
            "state must have one entry",
        ),
        (
            lambda: ec.fleet_step(_SMALL, ec.initial_fleet_state(_SMALL), np.nan),
            "u must be finite",
        ),
        (lambda: ec.FleetController(_FLEET), "model must be a DutyModel"),
        (lambda: ec.FleetController(_SMALL, 0), "horizon must be an integer ≥ 1"),
        (lambda: ec.FleetController(_SMALL, u_max=0.0), "u_max must be > 0"),
        (lambda: ec.FleetController(_SMALL, meter_noise=0.0), "meter_noise must be > 0"),
        (lambda: ec.FleetController(_SMALL, input_weight=0.0), "input_weight or slew_weight"),
        (lambda: ec.FleetController(_SMALL, peak=-1.0), "peak must be > 0"),
        (lambda: ec.FleetController(_SMALL).init(0.6), "u must be ≤ 0.5"),
        (lambda: OutputBias(1.0, 1.0, 0.0), "meter_noise must be > 0"),
        (lambda: FleetPI(0.0, 1.0, 1.0), "nominal must be > 0"),
        (lambda: InputPlan([]), "inputs must have at least one entry"),
        (lambda: InputPlan([1.0]).step(-1, 0.0), "state must be an integer ≥ 0"),
        (lambda: ec.run_fleet(_SMALL, InputPlan([0.0]), []), "reference must be one-dimensional"),
        (lambda: ec.run_fleet(_SMALL, InputPlan([0.0]), [np.inf]), "reference must be finite"),
        (lambda: ec.run_fleet(_SMALL, InputPlan([0.0]), ["a"]), "reference must be real"),
        (lambda: ec.run_fleet(_SMALL, InputPlan([0.0]), [1.0], skip=1), "skip must be less"),
        (
            lambda: ec.run_fleet(_SMALL, InputPlan([0.0]), [1.0, 2.0], ambient=[1.0]),
            "ambient must have 2 entries",
        ),
    ],
)
def test_bad_input_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        make()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.inf,), "reference must be finite"),
        (([1.0, 2.0],), "reference must be a scalar or"),
        ((1.0, np.inf), "power must be finite"),
        ((1.0, None, np.nan), "disturbance must be finite"),
        (("x",), "reference must be real numbers"),
    ],
)
def test_bad_steps_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    controller = ec.FleetController(_SMALL)
    with pytest.raises(InvalidInputError, match=message):
        controller.step(controller.init(), *arguments)


def test_a_fleet_without_power_cannot_be_controlled() -> None:
    idle = ec.ThermostatFleet(2.0, 2.0, [5.0], 0.5, 40.0)
    with pytest.raises(InvalidInputError, match="nominal power > 0"):
        ec.FleetController(ec.reduced_duty_model(idle, 1))
