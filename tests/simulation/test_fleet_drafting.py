"""Drafted steering of a saturating fleet: what commits, what it costs nobody, and replay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensctl as ec
from ensctl.drafting import PerPosition
from ensctl.simulation import (
    Block,
    FleetDraft,
    FleetDrafter,
    FleetVerifier,
    OutputBias,
    draft_then_verify,
    fleet_one_step_run,
)
from ensctl.simulation.fleet_drafting_pass import (
    FleetArrays,
    _by_loops,
    _by_numpy,
    block_pass,
    step_in_place,
)

_HOUSES = 4000


@pytest.fixture(scope="module")
def fleet() -> ec.ThermostatFleet:
    return ec.ThermostatFleet.draw(_HOUSES, seed=3)


@pytest.fixture(scope="module")
def scenario(fleet: ec.ThermostatFleet) -> tuple[Any, Any]:
    """A reference of ±8 % and an ambient that drifts by more than 1 °C."""
    steps = np.arange(240)
    rng = np.random.default_rng(5)
    wave = np.sin(0.11 * steps) + 0.6 * np.sin(0.37 * steps + 1.0)
    drift = np.cumsum(0.05 * rng.standard_normal(steps.size)) + np.sin(0.02 * steps)
    return fleet.nominal_power * (1.0 + 0.05 * wave), drift


class Exact:
    """Predicts with the plant itself; a prediction is spoilt with probability 1 − α."""

    def __init__(self, model: ec.DutyModel, alpha: float, seed: int) -> None:
        self.model, self.alpha = model, alpha
        self.rng = np.random.default_rng(seed)
        self.z = np.zeros(model.size)

    def propose(self, state: Any, depth: int) -> Block:
        for u in state.inputs:
            self.z, _ = self.model.step(self.z, float(u))
        inputs = self.rng.uniform(-0.1, 0.1, depth)
        power, z = np.empty(depth), self.z
        for k in range(depth):
            z, power[k] = self.model.step(z, float(inputs[k]))
        power[self.rng.random(depth) > self.alpha] += 1e3 * self.model.nominal_power
        return Block(inputs.tolist(), FleetDraft(power, state.drafter))


@given(
    st.integers(1, 40),
    st.integers(0, 4),
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=40)
def test_pass_is_the_step_of_the_model(houses: int, reapplied: int, depth: int, seed: int) -> None:
    model = ec.duty_model(ec.ThermostatFleet.draw(houses, seed=seed % 1000))
    rng = np.random.default_rng(seed)
    inputs = rng.uniform(-2.0, 2.0, reapplied + depth)
    air = rng.uniform(-8.0, 8.0, reapplied + depth + 1)
    z = rng.uniform(-1.0, 1.0, houses)
    here, power, middle = z, [], z
    for k, u in enumerate(inputs):
        middle = here if k == reapplied else middle
        here, y = model.step(here, float(u), float(air[k]))
        power.append(y)
    arrays = FleetArrays.of(model)
    top = float(model.power.sum())
    for run, block in ((_by_numpy, 7), (_by_loops, 5), (_by_numpy, 1000)):
        start, end = z - air[0], np.zeros(houses)
        found = np.zeros(inputs.size)
        run(
            arrays.decay, arrays.reaction, arrays.low, arrays.high, arrays.weight,
            start, end, inputs - air[:-1], air[:-1] - air[1:], reapplied, block, found,
        )  # fmt: skip
        assert np.abs(found + arrays.base - power).max() <= 1e-12 * top
        assert np.abs(end + air[-1] - here).max() <= 1e-12 * 10.0
        assert np.abs(start + air[reapplied] - middle).max() <= 1e-12 * 10.0


def test_compiled_pass(fleet: ec.ThermostatFleet) -> None:
    pytest.importorskip("numba")
    arrays = FleetArrays.of(ec.duty_model(fleet))
    rng = np.random.default_rng(0)
    z = rng.uniform(-0.5, 0.5, _HOUSES)
    offsets, shifts = rng.uniform(-1.0, 1.0, 9), rng.uniform(-0.1, 0.1, 9)
    found = []
    for engine in ("numba", "numpy"):
        start, end = z.copy(), np.zeros(_HOUSES)
        power = block_pass(arrays, start, end, offsets, shifts, 3, engine)
        found.append((power, start, end))
    for left, right in zip(*found, strict=True):
        assert np.allclose(left, right, rtol=1e-13, atol=1e-13)


def test_in_place_step_is_the_pass(fleet: ec.ThermostatFleet) -> None:
    arrays = FleetArrays.of(ec.duty_model(fleet))
    z, end = np.full(_HOUSES, 0.1), np.zeros(_HOUSES)
    power = block_pass(arrays, z.copy(), end, np.array([0.2]), np.array([0.01]), 0, "numpy")
    assert step_in_place(arrays, z, np.empty(_HOUSES), 0.2, 0.01) == pytest.approx(power[0])
    assert np.allclose(z, end, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("depth", [1, 3, 8, [2, 11]])
def test_replay_and_final_temperatures(
    fleet: ec.ThermostatFleet, scenario: tuple[Any, Any], depth: Any
) -> None:
    wanted, ambient = scenario
    z0 = np.random.default_rng(2).uniform(-0.1, 0.1, _HOUSES)
    run = ec.fleet_drafting_run(
        fleet, wanted, depth, tolerance=2e-3, ambient=ambient, z0=z0, engine="numpy"
    )
    model = ec.duty_model(fleet)
    assert run.steps == wanted.size == run.cycles.units
    assert run.replay_error(model, z0=z0) <= 1e-12
    assert depth == 1 or run.reapplied.max() > 0


def test_temperatures_after_a_rejection(
    fleet: ec.ThermostatFleet, scenario: tuple[Any, Any]
) -> None:
    wanted, ambient = scenario
    model = ec.duty_model(fleet)
    drafter = FleetDrafter(ec.reduced_duty_model(fleet), wanted)
    verifier = FleetVerifier(model, 1e-9, ambient=ambient, engine="numpy")
    run = draft_then_verify(drafter.first(), drafter, verifier, 5, cycles=7)
    assert 7 <= run.units < 12
    z = np.zeros(_HOUSES)
    for t, u in enumerate(run.committed):
        z, _ = model.step(z, u, float(ambient[t]))
    for _ in range(2):
        assert np.abs(verifier.temperatures - z).max() < 1e-13


def test_depth_one_is_the_loop(fleet: ec.ThermostatFleet, scenario: tuple[Any, Any]) -> None:
    wanted, ambient = scenario
    drafted = ec.fleet_drafting_run(fleet, wanted, 1, ambient=ambient, engine="numpy")
    loop = fleet_one_step_run(fleet, wanted, ambient=ambient)
    assert np.allclose(drafted.tracking.power, loop.tracking.power, rtol=1e-9)
    assert np.allclose(drafted.tracking.inputs, loop.tracking.inputs, atol=1e-9)
    assert drafted.mean_length().value == 1.0


@pytest.mark.parametrize(("alpha", "depth"), [(0.9, 8), (0.7, 4), (0.5, 3)])
def test_committed_convention(alpha: float, depth: int) -> None:
    """Tests that pass with probability α: E[L] = (1 − α^K)/(1 − α), no bonus."""
    fleet = ec.ThermostatFleet.draw(3, seed=1)
    model = ec.duty_model(fleet)
    steps = 3000
    run = ec.fleet_drafting_run(
        fleet,
        [fleet.nominal_power] * steps,
        depth,
        tolerance=1e-6,
        engine="numpy",
        groups=3,
        drafter=Exact(model, alpha, seed=4),
    )
    found = run.mean_length()
    assert abs(found.value - (1 - alpha**depth) / (1 - alpha)) < 3.5 * found.std_error
    assert run.steps == steps <= run.cycles.units < steps + depth
    assert run.counters().alpha().value == pytest.approx(alpha, abs=0.02)


def test_acceptance_is_causal(fleet: ec.ThermostatFleet) -> None:
    """The first power that misses decides, wherever later ones lie; the last one never does."""
    small = ec.ThermostatFleet.draw(3, seed=1)
    model = ec.duty_model(small)
    for wrong, accepted, committed in (([], 5, 5), ([4], 4, 5), ([2], 2, 3), ([0, 3], 0, 1)):
        exact = Exact(model, 1.0, seed=0)
        verifier = FleetVerifier(model, 1e-6, engine="numpy")
        start = FleetDrafter(model, [1.0] * 9).first()
        block = exact.propose(start, 5)
        power = np.array(block.evidence.power)
        power[wrong] += 1e-3
        verdict = verifier.verify(start, Block(block.units, FleetDraft(power, start.drafter)))
        assert (verdict.accepted, len(verdict.committed)) == (accepted, committed)
        assert verdict.state.step == committed
        # Whatever was drafted beyond is forgotten.
        again = exact.propose(verdict.state, 2)
        assert verifier.verify(verdict.state, again).accepted == 2


def test_lengths_are_the_sum_of_the_survival(
    fleet: ec.ThermostatFleet, scenario: tuple[Any, Any]
) -> None:
    wanted, ambient = scenario
    run = ec.fleet_drafting_run(fleet, wanted, 6, tolerance=2e-3, ambient=ambient, engine="numpy")
    whole = run.cycles.accepted[run.cycles.drafted == 6]
    survival = [(whole >= j).mean() for j in range(1, 7)]
    model = PerPosition.from_survival(survival)
    mean = np.minimum(whole + 1, 6).mean()
    assert model.expected_length(6, convention="committed") == pytest.approx(mean, rel=1e-12)
    hazards = [estimate.value for estimate in run.counters().hazards().hazards]
    assert run.acceptance().hazards(8)[:6] == pytest.approx(hazards)
    # The bias has just been read, so the first test is the easiest.
    assert hazards[0] == max(hazards) > 0.97


def test_error_is_bounded_by_what_was_believed(
    fleet: ec.ThermostatFleet, scenario: tuple[Any, Any]
) -> None:
    """All but the last input of a cycle saw a past within tolerance."""
    wanted, ambient = scenario
    tolerance = 2e-3
    run = ec.fleet_drafting_run(
        fleet, wanted, 8, tolerance=tolerance, ambient=ambient, skip=20, engine="numpy"
    )
    missed = np.abs(run.tracking.power - run.expected) > run.tolerance
    ends = np.cumsum(run.cycles.lengths("committed")) - 1
    assert set(np.flatnonzero(missed)) <= set(ends)
    assert run.rms_error < tolerance
    loop = fleet_one_step_run(fleet, wanted, ambient=ambient, skip=20)
    assert loop.rms_error < run.rms_error


def test_drafter_solves_for_the_reference(fleet: ec.ThermostatFleet) -> None:
    model = ec.reduced_duty_model(fleet)
    nominal = model.nominal_power
    drafter = FleetDrafter(model, [0.9 * nominal, 1.2 * nominal, 1.0 * nominal, 9.0 * nominal], 0.4)
    block = drafter.propose(drafter.first(), 4)
    assert np.abs(block.evidence.power[:3] / nominal - [0.9, 1.2, 1.0]).max() < 1e-12
    assert block.units[3] == -0.4 and max(map(abs, block.units)) <= 0.4
    short = drafter.propose(drafter.first(), 6)
    assert short.stopped and len(short.units) == 4


def test_drafter_filters_as_the_output_bias(fleet: ec.ThermostatFleet) -> None:
    model = ec.reduced_duty_model(fleet)
    bias = OutputBias(3.0, 1.0, 0.5, 200.0)
    drafter = FleetDrafter(model, [model.nominal_power] * 99, bias=bias)
    moment = drafter.first()
    power = model.nominal_power + np.cumsum(np.random.default_rng(1).standard_normal(40))
    moment = type(moment)(40, np.linspace(-0.1, 0.1, 40), power, moment.drafter)
    found = drafter.synchronised(moment)
    z, state = moment.drafter.z, bias.init()
    for u, y in zip(moment.inputs, power, strict=True):
        z, expected = model.step(z, float(u))
        state = bias.predict(bias.update(state, y - expected))
    assert np.allclose(found.z, z)
    assert [found.level, found.trend] == pytest.approx(state.mean.tolist(), rel=1e-6)


def test_text_and_json(fleet: ec.ThermostatFleet, scenario: tuple[Any, Any]) -> None:
    wanted, ambient = scenario
    run = ec.fleet_drafting_run(fleet, wanted, 4, ambient=ambient, engine="numpy")
    assert len(str(run).splitlines()) <= 12 and "E[L]" in str(run)
    assert run.to_dict()["kind"] == "fleet_drafting_run"
    loop = fleet_one_step_run(fleet, wanted, ambient=ambient)
    assert "ms" in str(loop) and loop.to_dict()["schema"] == 1
    assert run.ms_per_step == pytest.approx(run.cycle_ms.sum() / run.steps) and run.ms_per_step > 0
