"""Planning a swarm against writing the same problem down for a cone solver, and against SVD."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ensctl.simulation import RmsMultiple, Swarm


def _task(robots: int) -> tuple[Swarm, Any]:
    rng = np.random.default_rng(1)
    goal = rng.uniform(-2, 2, robots) + 1j * rng.uniform(-0.7, 0.7, robots)
    return Swarm.scattered(robots, jitter=0.25, seed=3), goal


def _map(swarm: Swarm, horizon: int) -> Any:
    angles = swarm.headings[:, None] + swarm.turn_rates[:, None] * np.arange(horizon)
    return np.vstack([np.cos(angles), np.sin(angles)])


def test_least_energy(
    ratio_table: Any, timed: Callable[..., float], sized: Callable[..., int]
) -> None:
    robots = sized(600, smoke=20)
    swarm, goal = _task(robots)
    horizon = 4 * robots
    plan = swarm.steer_to(goal, horizon)

    def pseudo_inverse() -> Any:
        d = plan.points - swarm.positions
        matrix = _map(swarm, horizon)
        return np.linalg.pinv(matrix) @ np.concatenate([d.real, d.imag]), np.linalg.cond(matrix)

    ours = timed(lambda: swarm.steer_to(goal, horizon))
    ratio_table.add(
        f"swarm, κ and least energy, N = {robots}: pinv and cond", ours, timed(pseudo_inverse)
    )
    assert np.allclose(plan.inputs, pseudo_inverse()[0], rtol=1e-9, atol=1e-12)


def test_bounded_speed(
    ratio_table: Any, timed: Callable[..., float], sized: Callable[..., int]
) -> None:
    """Smaller than the swarm in the README, for which the cone solver takes minutes."""
    import cvxpy as cp

    robots = sized(100, smoke=10)
    swarm, goal = _task(robots)
    horizon = 4 * robots
    plan = swarm.steer_to(goal, horizon, RmsMultiple(1.8))
    d = plan.points - swarm.positions

    def as_written() -> Any:
        v = cp.Variable(horizon)
        equations = _map(swarm, horizon) @ v == np.concatenate([d.real, d.imag])
        cp.Problem(cp.Minimize(cp.sum_squares(v)), [equations, cp.abs(v) <= plan.v_max]).solve(
            solver="CLARABEL"
        )
        return v.value

    ours = timed(lambda: swarm.steer_to(goal, horizon, RmsMultiple(1.8)))
    ratio_table.add(
        f"swarm, bounded speed, N = {robots}: cvxpy with Clarabel", ours, timed(as_written)
    )
    speeds = as_written()
    assert plan.peak <= plan.v_max
    assert plan.energy <= float(speeds @ speeds) * (1.0 + 1e-6)


def test_readme_swarm(
    ratio_table: Any, timed: Callable[..., float], sized: Callable[..., int]
) -> None:
    """Bounded and certified against the least-energy plan without a limit, both ours."""
    robots = sized(600, smoke=20)
    swarm, goal = _task(robots)
    horizon = 4 * robots
    free = timed(lambda: swarm.steer_to(goal, horizon))
    bounded = timed(lambda: swarm.steer_to(goal, horizon, RmsMultiple(1.7)))
    refused = timed(lambda: swarm.steer_to(goal, horizon, RmsMultiple(1.4), throw=False))
    ratio_table.add(f"swarm, |v| ≤ 1.7 rms, N = {robots}: no limit", bounded, free, at_most=6.0)
    ratio_table.add(
        f"swarm, refused with proof, N = {robots}: no limit", refused, free, at_most=6.0
    )
    plan = swarm.steer_to(goal, horizon, RmsMultiple(1.7))
    assert plan.rms_error <= 1e-10
    assert plan.condition <= 3.0
