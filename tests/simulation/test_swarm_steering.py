"""Plans: exact ends, exact bounds, least energy, proofs of refusal, tolerances that hold."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ensctl as ec
from ensctl.simulation import RmsMultiple, Swarm


def map_of(swarm: Swarm, horizon: int) -> Any:
    """v → displacements in the plane, (2N, H), as the definition has it."""
    angles = swarm.headings[:, None] + swarm.turn_rates[:, None] * np.arange(horizon)
    return np.vstack([np.cos(angles), np.sin(angles)])


def stacked(places: Any) -> Any:
    return np.concatenate([places.real, places.imag])


@pytest.fixture
def swarm() -> Swarm:
    return Swarm.scattered(8, seed=2)


@pytest.fixture
def points() -> Any:
    rng = np.random.default_rng(5)
    return rng.uniform(-1, 1, 8) + 1j * rng.uniform(-1, 1, 8)


@pytest.mark.parametrize("horizon", [16, 17, 32, 33])
def test_without_a_limit_it_is_the_least_norm_solution(
    swarm: Swarm, points: Any, horizon: int
) -> None:
    plan = swarm.steer_to(points, horizon, assign=False)
    matrix = map_of(swarm, horizon)
    direct = np.linalg.lstsq(matrix, stacked(points - swarm.positions), rcond=None)[0]
    assert np.abs(plan.inputs - direct).max() < 1e-11 * np.abs(direct).max()
    assert plan.condition == pytest.approx(np.linalg.cond(matrix), rel=1e-10)
    assert plan.minimum_energy == pytest.approx(direct @ direct, rel=1e-10)
    assert plan.energy_ratio == pytest.approx(1.0)
    assert plan.rms_error < 1e-13
    assert plan.certificate.verified


def test_a_single_robot_goes_anywhere_in_two_steps() -> None:
    plan = Swarm([math.pi / 2], 0.0, [0]).steer_to([3 - 2j], 2)
    assert plan.inputs == pytest.approx([3.0, -2.0])


def test_bounded_plan_is_the_one_of_steer(swarm: Swarm, points: Any) -> None:
    horizon, limit = 36, 0.22
    plan = swarm.steer_to(points, horizon, limit, assign=False)
    steered = ec.steer(
        swarm.to_ensemble(),
        swarm.body_frame(points, horizon),
        horizon,
        x0=swarm.body_frame(swarm.positions, 0),
        limits=ec.Limits(u_max=limit),
        real_inputs=True,
    )
    assert plan.peak == limit
    assert np.count_nonzero(np.abs(plan.inputs) == limit) >= 2
    assert np.abs(plan.inputs - steered.inputs).max() < 1e-8
    assert plan.energy == pytest.approx(steered.energy, rel=1e-9)


def test_a_multiple_of_the_rms_speed_is_resolved(swarm: Swarm, points: Any) -> None:
    free = swarm.steer_to(points, 64)
    plan = swarm.steer_to(points, 64, RmsMultiple(2.0))
    assert plan.v_max == pytest.approx(2.0 * free.rms_speed)
    assert plan.peak <= plan.v_max
    assert plan.minimum_energy == pytest.approx(free.energy)


def test_too_slow_is_refused_with_weights_that_prove_it(swarm: Swarm, points: Any) -> None:
    horizon, limit = 36, 0.1
    plan = swarm.steer_to(points, horizon, limit, throw=False)
    assert plan.status is ec.Status.INFEASIBLE and not plan.success
    weights, displacement = plan.certificate.eta, stacked(plan.points - swarm.positions)
    reach = limit * np.abs(weights @ map_of(swarm, horizon)).sum()
    assert plan.certificate.verified
    assert weights @ displacement - reach == pytest.approx(plan.certificate.margin, rel=1e-9)
    assert plan.certificate.margin > 0
    # The speed that the message asks for is a bound that weak duality gives.
    needed = float(weights @ displacement) / (reach / limit)
    assert f"{needed:.6g}" in plan.message
    for read in ("inputs", "energy", "peak", "rms_error", "final_positions", "lam_tolerance"):
        with pytest.raises(ec.InfeasibleError, match="infeasible, proved"):
            getattr(plan, read)
    with pytest.raises(ec.InfeasibleError) as caught:
        swarm.steer_to(points, horizon, limit)
    assert caught.value.certificate.verified


def test_weights_of_a_feasible_task_prove_nothing(swarm: Swarm, points: Any) -> None:
    from ensctl.simulation.swarm_certificate import speed_certificate

    plan = swarm.steer_to(points, 36, assign=False)
    rng = np.random.default_rng(0)
    for _ in range(20):
        weights = rng.standard_normal(8) + 1j * rng.standard_normal(8)
        proof, speed = speed_certificate(swarm, plan.points, 36, plan.peak, weights)
        assert not proof.verified
        assert speed <= plan.peak


def test_robots_go_where_the_sum_of_squares_is_least() -> None:
    swarm = Swarm([0.5, 1.5, 2.5], 0.0, [0, 10, 20])
    plan = swarm.steer_to([21, 1, 11], 12)
    assert plan.assignment.tolist() == [1, 2, 0]
    assert np.array_equal(plan.points, [1, 11, 21])
    kept = swarm.steer_to([21, 1, 11], 12, assign=False)
    assert np.array_equal(kept.points, [21, 1, 11])
    assert plan.energy < kept.energy


@pytest.mark.parametrize("count", [50, 200])
def test_a_quarter_of_jitter_keeps_the_condition_number_below_three(count: int) -> None:
    for seed in range(3):
        swarm = Swarm.scattered(count, jitter=0.25, seed=seed)
        plan = swarm.steer_to(swarm.positions + 1.0, 4 * count)
        assert plan.condition <= 3.0


def test_energy_is_about_twice_the_squared_distances_over_the_horizon() -> None:
    swarm = Swarm.scattered(100, jitter=0.0, seed=3)
    plan = swarm.steer_to(swarm.positions[::-1] + 0.5j, 800)
    assert plan.condition < 1.5
    asked = 2.0 * np.sum(np.abs(plan.points - swarm.positions) ** 2) / 800
    assert plan.energy == pytest.approx(asked, rel=0.05)


def test_the_tolerance_of_turn_rates_is_what_a_simulation_shows() -> None:
    swarm = Swarm.scattered(60, seed=1)
    rng = np.random.default_rng(7)
    goal = rng.uniform(-1, 1, 60) + 1j * rng.uniform(-0.5, 0.5, 60)
    plan = swarm.steer_to(goal, 240)
    signs = rng.choice([-1.0, 1.0], 60)
    height = np.ptp(goal.imag)
    for change in (
        swarm.turn_rates * plan.turn_rate_tolerance * signs,
        plan.lam_tolerance * signs,
    ):
        other = Swarm(swarm.turn_rates + change, swarm.headings, swarm.positions)
        miss = np.abs(other.final_positions(plan.inputs) - plan.points)
        assert np.sqrt(np.mean(miss**2)) == pytest.approx(0.01 * height, rel=0.05)


def test_more_robots_than_the_horizon_allows_names_the_horizon_that_is_needed() -> None:
    swarm = Swarm.scattered(10, jitter=0.0)
    with pytest.raises(ec.NotReachableError, match=r"19 steps are too few for 10 .* at least 20"):
        swarm.steer_to(np.zeros(10), 19)
    plan = swarm.steer_to(np.zeros(10), 19, throw=False)
    assert plan.status is ec.Status.NOT_REACHABLE
    assert plan.rule.steps == 20 and plan.condition == math.inf
    assert swarm.steer_to(np.zeros(10)).horizon == 20


@pytest.mark.parametrize("rates", [[0.5, 0.5, 1.0], [0.5, -0.5, 1.0], [0.0, 0.5, 1.0]])
def test_locked_robots_are_named(rates: list[float]) -> None:
    with pytest.raises(ec.NotReachableError, match="cannot be placed freely") as caught:
        Swarm(rates, 0.0, [0, 1, 2]).steer_to([1, 2, 3], 50)
    assert caught.value.members in ((0, 1), (0,))


def test_nearly_locked_robots_are_refused_with_the_horizon_they_need() -> None:
    swarm = Swarm([0.5, 0.5 + 2e-15, 1.5], 0.0, [0, 1, 2])
    with pytest.raises(ec.PrecisionError, match="robots 0 and 1 turn so nearly alike"):
        swarm.steer_to([1, 2, 3], 12)
    with pytest.raises(ec.InvalidInputError, match="because robots 0 and 1 are"):
        swarm.steer_to([1, 2, 3])


def test_below_the_rule_the_plan_says_which_horizon_is_better() -> None:
    swarm = Swarm([0.5, 0.52, 1.5], 0.0, [0, 1, 2])
    plan = swarm.steer_to([1, 2, 3], 12)
    assert plan.rule.steps == math.ceil(2.0 * math.pi / 0.02)
    assert f"{plan.rule.steps} steps or more would be well conditioned" in plan.message
    assert plan.condition > 10 * swarm.steer_to([1, 2, 3], 2 * plan.rule.steps).condition


@pytest.mark.parametrize(
    ("points", "options", "named"),
    [
        ([1, 2], {}, "got 2, fewer points than robots"),
        ([1, 2, 3, 4], {}, "got 4, more points than robots"),
        ([1, 2, math.nan], {}, "points must be finite"),
        ([], {}, "points must be"),
        ([1, 2, 3], {"horizon": 0}, "horizon must be an integer ≥ 1, got 0"),
        ([1, 2, 3], {"horizon": 12.5}, "horizon must be"),
        ([1, 2, 3], {"horizon": 10**9}, "fit in 8 GiB"),
        ([1, 2, 3], {"v_max": 0.0}, "v_max must be > 0"),
        ([1, 2, 3], {"v_max": math.inf}, "v_max must be finite"),
    ],
)
def test_wrong_tasks_are_refused(points: Any, options: dict[str, Any], named: str) -> None:
    with pytest.raises(ec.InvalidInputError, match=named):
        Swarm([0.5, 1.5, 2.5], 0.0, [0, 1, 2]).steer_to(points, **options)


@pytest.mark.parametrize("factor", [0.99, math.nan, "fast"])
def test_wrong_multiples_are_refused(factor: Any) -> None:
    with pytest.raises(ec.InvalidInputError, match="factor"):
        RmsMultiple(factor)


def test_nobody_has_to_move() -> None:
    swarm = Swarm.scattered(5, seed=1)
    plan = swarm.steer_to(swarm.positions, 20, RmsMultiple(1.5))
    assert plan.success and plan.energy == 0.0 and plan.energy_ratio == 1.0
    assert plan.turn_rate_tolerance == math.inf
    json.dumps(plan.to_dict(), allow_nan=False)


def test_text_data_and_files(swarm: Swarm, points: Any, tmp_path: Path) -> None:
    plan = swarm.steer_to(points, 36, 0.15)
    lines = str(plan).splitlines()
    assert lines[0].startswith("optimal, certified") and len(lines) <= 12
    assert "turn-rate tolerance" in str(plan) and "condition number" in str(plan)
    content = json.loads(plan.to_file(tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert (content["schema"], content["kind"], content["success"]) == (1, "swarm_plan", True)
    again = Swarm(content["turn_rates"], content["headings"], content["positions"])
    assert np.array_equal(again.final_positions(content["inputs"]), plan.final_positions)
    speeds = np.loadtxt(plan.to_file(tmp_path / "v.csv"), delimiter=",", skiprows=1)[:, 1]
    assert np.array_equal(speeds, plan.inputs)
    with pytest.raises(ec.InvalidInputError, match=r"\.json or \.csv"):
        plan.to_file(tmp_path / "plan.txt")
    refused = swarm.steer_to(points, 36, 0.1, throw=False)
    json.dumps(refused.to_dict(), allow_nan=False)
    assert str(refused) == refused.message


def test_other_outcomes_have_their_own_errors(swarm: Swarm, points: Any) -> None:
    plan = swarm.steer_to(points, 36)
    for status, error in (
        (ec.Status.PRECISION_LIMITED, ec.PrecisionError),
        (ec.Status.INACCURATE, ec.SolverError),
    ):
        with pytest.raises(error):
            _ = replace(plan, status=status, _inputs=None).inputs


@pytest.mark.slow
def test_six_hundred_robots() -> None:
    """κ, residuals, and the factors 1.7 (feasible) and 1.5 (not) of 600 robots in 2400 steps."""
    swarm = Swarm.scattered(600, jitter=0.25, seed=3)
    rng = np.random.default_rng(1)
    goal = rng.uniform(-2, 2, 600) + 1j * rng.uniform(-0.7, 0.7, 600)
    plan = swarm.steer_to(goal, 2400, RmsMultiple(1.7))
    assert plan.condition <= 3.0
    assert plan.rms_error <= 1e-10
    assert plan.peak <= plan.v_max
    assert 1.0 < plan.energy_ratio < 1.3
    assert plan.certificate.verified
    refused = swarm.steer_to(goal, 2400, RmsMultiple(1.5), throw=False)
    assert refused.status is ec.Status.INFEASIBLE
    assert refused.certificate.verified
