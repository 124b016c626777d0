"""What a drafted fleet refuses, and how it says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ensctl as ec
from ensctl.errors import InvalidInputError, MissingDependencyError, NotIdentifiableError
from ensctl.simulation import (
    Block,
    FleetCycleCost,
    FleetDrafter,
    FleetVerifier,
    fit_fleet_cost,
    fleet_depth_study,
    fleet_drafting_run,
    fleet_one_step_run,
)


@pytest.fixture(scope="module")
def fleet() -> ec.ThermostatFleet:
    return ec.ThermostatFleet.draw(60, seed=1)


@pytest.fixture(scope="module")
def drafter(fleet: ec.ThermostatFleet) -> FleetDrafter:
    return FleetDrafter(ec.reduced_duty_model(fleet), [fleet.nominal_power] * 20)


class Bent:
    """The drafter with its blocks bent."""

    def __init__(self, drafter: FleetDrafter, bend: Any) -> None:
        self.drafter, self.bend = drafter, bend

    def propose(self, state: Any, depth: int) -> Any:
        return self.bend(self.drafter.propose(state, depth))


@pytest.mark.parametrize("tolerance", [0.0, -1e-3, np.nan, np.inf, "tight"])
def test_tolerance(fleet: ec.ThermostatFleet, tolerance: Any) -> None:
    with pytest.raises(InvalidInputError, match="tolerance"):
        fleet_drafting_run(fleet, [fleet.nominal_power] * 20, tolerance=tolerance)


@pytest.mark.parametrize("depth", [0, [4, 0]])
def test_depth_zero(fleet: ec.ThermostatFleet, depth: Any) -> None:
    with pytest.raises(InvalidInputError, match="depth must be ≥ 1"):
        fleet_drafting_run(fleet, [fleet.nominal_power] * 20, depth, engine="numpy")


@pytest.mark.parametrize("depth", [-1, 2.5, "8", None, []])
def test_depth(fleet: ec.ThermostatFleet, depth: Any) -> None:
    with pytest.raises(InvalidInputError, match="depth"):
        fleet_drafting_run(fleet, [fleet.nominal_power] * 20, depth, engine="numpy")


@pytest.mark.parametrize(
    ("bend", "message"),
    [
        (lambda b: Block([*b.units, 0.0], b.evidence), "must draft 4 units, got 5"),
        (lambda b: Block([], b.evidence), "got none"),
        (lambda b: Block([], b.evidence, stopped=True), "at least one input, got none"),
        (lambda b: Block(b.units[:2], b.evidence), "got 2"),
        (lambda b: Block(b.units[:2], b.evidence, stopped=True), "evidence.power"),
        (lambda b: Block([np.nan] * 4, b.evidence), "units"),
        (lambda b: Block(["warm"] * 4, b.evidence), "units"),
        (lambda b: Block(b.units), "must be a FleetDraft"),
        (lambda b: b.units, "must return a Block"),
    ],
)
def test_drafter(fleet: ec.ThermostatFleet, drafter: FleetDrafter, bend: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fleet_drafting_run(
            fleet,
            [fleet.nominal_power] * 20,
            4,
            engine="numpy",
            drafter=Bent(drafter, bend),
        )


def test_no_drafter_at_all(fleet: ec.ThermostatFleet) -> None:
    with pytest.raises(InvalidInputError, match="drafter must have propose"):
        fleet_drafting_run(fleet, [fleet.nominal_power] * 20, drafter=4)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"ambient": [0.0, 1.0]}, "ambient"),
        ({"ambient": np.nan}, "ambient"),
        ({"z0": [1.0]}, "z0"),
        ({"u_max": 0.0}, "u_max"),
        ({"groups": 0}, "groups"),
        ({"groups": 61}, "groups"),
        ({"skip": 20}, "skip"),
        ({"reference": []}, "reference"),
        ({"reference": [np.nan] * 20}, "reference"),
        ({"fleet": 3}, "fleet"),
    ],
)
@pytest.mark.parametrize("run", [fleet_drafting_run, fleet_one_step_run])
def test_arguments(fleet: ec.ThermostatFleet, run: Any, changed: Any, name: str) -> None:
    given = {"fleet": fleet, "reference": [fleet.nominal_power] * 20, **changed}
    with pytest.raises(InvalidInputError, match=name):
        run(**given)


def test_engine(fleet: ec.ThermostatFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [fleet.nominal_power] * 20
    with pytest.raises(InvalidInputError, match="engine must be one of"):
        fleet_drafting_run(fleet, wanted, engine="gpu")
    monkeypatch.setattr("ensctl.simulation.fleet_drafting_pass.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"ensctl\[fast\]"):
        fleet_drafting_run(fleet, wanted, engine="numba")
    assert fleet_drafting_run(fleet, wanted).engine == "numpy"


def test_moments_and_models(fleet: ec.ThermostatFleet, drafter: FleetDrafter) -> None:
    model = ec.duty_model(fleet)
    verifier = FleetVerifier(model, 1.0, engine="numpy")
    start = drafter.first()
    verifier.verify(start, drafter.propose(start, 4))
    with pytest.raises(InvalidInputError, match="moment after step"):
        verifier.verify(start, drafter.propose(start, 4))
    with pytest.raises(InvalidInputError, match="got int"):
        verifier.verify(0, drafter.propose(start, 4))  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="duty_model"):
        FleetVerifier(fleet, 1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="ambient"):
        FleetVerifier(model, 1.0, ambient=np.zeros((2, 2)))
    with pytest.raises(InvalidInputError, match="reduced_duty_model"):
        FleetDrafter(fleet, [1.0])  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="OutputBias"):
        FleetDrafter(model, [1.0], bias=0.1)  # type: ignore[arg-type]
    frozen = ec.ThermostatFleet(2.0, 2.0, [5.0], 0.5, 40.0)
    with pytest.raises(InvalidInputError, match="nominal power > 0"):
        FleetDrafter(ec.duty_model(frozen), [1.0])


def test_costs() -> None:
    with pytest.raises(NotIdentifiableError, match="two different K"):
        fit_fleet_cost([4, 4], [0, 1], [1.0, 2.0])
    with pytest.raises(NotIdentifiableError, match="fixed cost"):
        fit_fleet_cost([1, 2], [0, 0], [1.0, 9.0])
    with pytest.raises(InvalidInputError, match="depths must be ≥ 1"):
        fit_fleet_cost([0, 4], [0, 1], [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="milliseconds must be > 0"):
        fit_fleet_cost([2, 4], [0, 1], [1.0, 0.0])
    with pytest.raises(InvalidInputError, match="reapplied"):
        fit_fleet_cost([2, 4], [0, -1], [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="per_input"):
        FleetCycleCost(1.0, -0.1, 0.0, 0.9)
    with pytest.raises(InvalidInputError, match="fixed"):
        FleetCycleCost(0.0, 0.1, 0.0, 0.9)


@pytest.mark.parametrize("depths", [[1, 2], [0, 8], [2.5, 8], []])
def test_study(fleet: ec.ThermostatFleet, depths: Any) -> None:
    with pytest.raises(InvalidInputError, match="depths"):
        fleet_depth_study(fleet, [fleet.nominal_power] * 20, depths)
