"""A step of receding-horizon control against writing the same program down at every step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import ensctl as ec

_WEIGHT = 1e-2


def _rebuilt(ens: ec.Ensemble, horizon: int, u_max: float, solver: str) -> Callable[..., Any]:
    import cvxpy as cp

    def solve(x: Any, reference: Any) -> float:
        states = cp.Variable((ens.size, horizon + 1))
        inputs = cp.Variable(horizon)
        dynamics = [states[:, 0] == x, cp.abs(inputs) <= u_max]
        dynamics += [
            states[:, k + 1] == cp.multiply(ens.lam, states[:, k]) + ens.b * inputs[k]
            for k in range(horizon)
        ]
        outputs = states[:, 1:].T @ ens.c
        cost = cp.sum_squares(outputs - reference) + _WEIGHT * cp.sum_squares(inputs)
        cp.Problem(cp.Minimize(cost), dynamics).solve(solver=solver)
        return float(inputs.value[0])

    return solve


def _condensed_rebuilt(ens: ec.Ensemble, horizon: int, u_max: float) -> Callable[..., Any]:
    """The kindest rebuild: the condensed matrices are kept, only the problem is new."""
    import cvxpy as cp

    lags = np.subtract.outer(np.arange(horizon), np.arange(horizon))
    response = np.array([ens.c @ (ens.lam**k * ens.b) for k in range(horizon)])
    forced = np.where(lags >= 0, response[np.maximum(lags, 0)], 0.0)
    free = np.array([ens.c * ens.lam ** (k + 1) for k in range(horizon)])

    def solve(x: Any, reference: Any) -> float:
        inputs = cp.Variable(horizon)
        error = forced @ inputs - (reference - free @ x)
        cost = cp.sum_squares(error) + _WEIGHT * cp.sum_squares(inputs)
        cp.Problem(cp.Minimize(cost), [cp.abs(inputs) <= u_max]).solve(solver="OSQP")
        return float(inputs.value[0])

    return solve


def test_step_against_rebuilding_the_problem(
    ratio_table: Any, timed: Callable[..., float], sized: Callable[..., int]
) -> None:
    size, horizon, steps = sized(50, smoke=8), sized(50, smoke=10), sized(20, smoke=3)
    ens = ec.Ensemble(np.linspace(0.1, 0.95, size), np.linspace(1.0, 0.5, size), c=1.0 / size)
    u_max = 0.3
    mpc = ec.MPC(ens, horizon, ec.Limits(u_max=u_max), input_weight=_WEIGHT)
    signal = 2.0 * np.sin(np.arange(steps + horizon) / 4.0)
    plant, state, seen, active = ec.Simulator(ens), mpc.init(), [], 0
    for t in range(steps):
        seen.append((plant.state.x, signal[t : t + horizon]))
        u, state = mpc.step(state, reference=signal[t : t + horizon], x=plant.state.x)
        assert state.status.success and abs(u) <= u_max
        active += state.at_limits
        plant.step(u)
    assert active >= steps // 2

    def ours() -> list[float]:
        state, inputs = mpc.init(), []
        for x, reference in seen:
            u, state = mpc.step(state, reference=reference, x=x)
            inputs.append(u)
        return inputs

    time_of_ours = timed(ours)
    rivals = {
        "OSQP": _rebuilt(ens, horizon, u_max, "OSQP"),
        "Clarabel": _rebuilt(ens, horizon, u_max, "CLARABEL"),
        "condensed, OSQP": _condensed_rebuilt(ens, horizon, u_max),
    }
    for name, solve in rivals.items():

        def theirs(solve: Callable[..., Any] = solve) -> list[float]:
            return [solve(x, reference) for x, reference in seen]

        ratio_table.add(
            f"MPC, {steps} steps, N = {size}, H = {horizon}: cvxpy rebuilt, {name}",
            time_of_ours,
            timed(theirs, repeat=3),
            # Keeping the condensed matrices is half of what MPC does: no target.
            at_most=None if "condensed" in name else 0.1,
        )
        assert np.allclose(ours(), theirs(), atol=2e-2)


def test_fleet_step(
    ratio_table: Any, timed: Callable[..., float], sized: Callable[..., int]
) -> None:
    """A controller of 16 groups against one step of the fleet it controls."""
    houses = sized(100_000, smoke=1000)
    fleet = ec.ThermostatFleet.draw(houses, seed=1)
    plant, controller = ec.duty_model(fleet), ec.FleetController(ec.reduced_duty_model(fleet))
    start = controller.init()
    _, state = controller.step(start, 0.95 * fleet.nominal_power)
    z = np.zeros(houses)
    step = timed(lambda: controller.step(state, 0.95 * fleet.nominal_power, fleet.nominal_power))
    ratio_table.add(
        f"fleet controller, a step: a step of the {houses} houses",
        step,
        timed(lambda: plant.step(z, 0.1, 0.5)),
    )
    u, _ = controller.step(state, 0.95 * fleet.nominal_power, fleet.nominal_power)
    assert abs(u) <= controller.u_max
