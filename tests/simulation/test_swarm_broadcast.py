"""Two broadcast inputs, robots told apart by λ and gains: smooth curves and nothing else."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import ensctl as ec
from ensctl.simulation import BroadcastSwarm

RING = np.exp(2j * np.pi * np.arange(120) / 120)


@pytest.fixture
def swarm() -> BroadcastSwarm:
    gains = np.random.default_rng(0).uniform(0.8, 1.2, 120)
    return BroadcastSwarm(np.linspace(-0.9, 0.9, 120), gains / gains.mean(), np.zeros(120))


def test_equal_gains_form_a_ring_to_many_digits() -> None:
    start = np.random.default_rng(1).standard_normal((120, 2))
    swarm = BroadcastSwarm(np.linspace(-0.9, 0.9, 120), 1.0, start)
    plan = swarm.steer_to(RING, 200)
    assert plan.rms_error < 1e-8
    assert np.abs(plan.final_positions - plan.points).max() < 1e-7
    assert plan.peak < 10.0


def test_inputs_do_what_the_recursion_says(swarm: BroadcastSwarm) -> None:
    plan = swarm.steer_to(RING, 30)
    states = np.zeros((120, 2))
    for u in plan.inputs.T:
        states = swarm.lam[:, None] * states + swarm.gains[:, None] * u
    assert np.abs(states @ [1, 1j] - plan.final_positions).max() < 1e-12 * plan.peak
    assert plan.trajectories().shape == (120, 31)
    miss = np.abs(plan.final_positions - plan.points)
    assert plan.rms_error == pytest.approx(np.sqrt(np.mean(miss**2)))


def test_a_larger_ridge_asks_for_smaller_inputs(swarm: BroadcastSwarm) -> None:
    plans = [swarm.steer_to(RING, 60, ridge=ridge) for ridge in (1e-3, 1e-8, 1e-13)]
    assert plans[0].energy < plans[1].energy < plans[2].energy
    assert plans[0].rms_error > plans[1].rms_error > plans[2].rms_error


def test_scattered_points_are_out_of_reach() -> None:
    swarm = BroadcastSwarm(np.linspace(-0.9, 0.9, 120), 1.0, np.zeros(120))
    rng = np.random.default_rng(3)
    goal = rng.standard_normal(120) + 1j * rng.standard_normal(120)
    assert swarm.steer_to(goal, 60).rms_error > 0.5


def test_points_are_given_in_the_order_of_lam() -> None:
    swarm = BroadcastSwarm([0.5, -0.5, 0.0], 1.0, [0, 0, 0])
    assert swarm.steer_to([1, 2, 3], 5).points.tolist() == [3, 1, 2]
    kept = swarm.steer_to([1, 2, 3], 5, assign=False)
    assert kept.points.tolist() == [1, 2, 3]
    assert kept.assignment.tolist() == [0, 1, 2]


def test_data_and_text(swarm: BroadcastSwarm) -> None:
    plan = swarm.steer_to(RING, 30)
    content = json.loads(json.dumps(plan.to_dict(), allow_nan=False))
    assert (content["schema"], content["robots"]) == (1, 120)
    assert len(content["inputs"]) == 2 and len(content["inputs"][0]) == 30
    assert len(str(plan).splitlines()) <= 12
    assert swarm.to_ensemble().size == len(swarm) == 120


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (([1.1, 0.5], 1.0, [0, 1]), "lam must be within"),
        (([0.2j, 0.5], 1.0, [0, 1]), "lam must be real"),
        (([0.2, 0.5], [1.0, 0.0], [0, 1]), "gains must not be 0, got 0 for robot 1"),
        (([0.2, 0.5], 1.0, [0, 1, 2]), "positions must have 2 entries"),
        (([0.2, 0.5], 1.0, [0, math.nan]), "positions must be finite"),
    ],
)
def test_wrong_robots_are_refused(arguments: tuple[Any, ...], named: str) -> None:
    with pytest.raises(ec.InvalidInputError, match=named):
        BroadcastSwarm(*arguments)


def test_wrong_tasks_are_refused(swarm: BroadcastSwarm) -> None:
    for points, horizon, options in (
        (RING[:5], 30, {}),
        (RING, 0, {}),
        (RING, 30, {"ridge": 0.0}),
        (RING, 30, {"ridge": 1.0}),
    ):
        with pytest.raises(ec.InvalidInputError):
            swarm.steer_to(points, horizon, **options)
    for inputs in (np.zeros(4), np.full((2, 3), math.nan)):
        with pytest.raises(ec.InvalidInputError, match="inputs must be finite rows"):
            swarm.trajectories(inputs)
