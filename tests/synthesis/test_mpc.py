"""Receding-horizon control: closed forms, limits that hold exactly, estimates, honest reports."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensctl as ec
from ensctl.errors import InvalidInputError
from ensctl.estimation.estimator import AggregateEstimator

seeds = st.integers(0, 2**32 - 1)


def _ensemble(seed: int, *, channels: int = 1, outputs: int = 1, d: float = 0.0) -> ec.Ensemble:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 8))
    return ec.Ensemble(
        rng.uniform(-0.9, 1.0, size),
        rng.uniform(0.5, 2.0, (size, channels)),
        rng.uniform(0.5, 2.0, (outputs, size)),
        d,
    )


@given(seeds, st.sampled_from([(1, 1), (2, 1), (1, 2), (3, 2)]), st.sampled_from([0.0, -0.7]))
def test_plan_is_what_the_population_does(seed: int, shape: tuple[int, int], d: float) -> None:
    ens = _ensemble(seed, channels=shape[0], outputs=shape[1], d=d)
    rng = np.random.default_rng(seed)
    x, horizon = rng.standard_normal(ens.size), 12
    mpc = ec.MPC(ens, horizon, ec.Limits(u_max=0.3))
    _, state = mpc.step(mpc.init(), reference=rng.standard_normal((shape[1], horizon)), x=x)
    simulated = np.atleast_2d(ec.aggregate_output(ens, state.plan, x))
    if d == 0.0:
        assert mpc.first_output == 1
        assert state.outputs == pytest.approx(simulated[:, 1:], abs=1e-12)
    else:
        assert mpc.first_output == 0
        assert state.outputs == pytest.approx(simulated[:, :-1], abs=1e-12)


@given(seeds)
def test_without_limits_it_is_the_least_squares_input(seed: int) -> None:
    ens = _ensemble(seed)
    rng = np.random.default_rng(seed)
    x, r, horizon = rng.standard_normal(ens.size), rng.standard_normal(10), 10
    mpc = ec.MPC(ens, horizon, input_weight=0.1, slew_weight=0.5, output_weight=2.0)
    _, state = mpc.step(mpc.init(0.4), reference=r, x=x)
    g = [float((ens.c @ (ens.lam**k * ens.b[:, 0])).item()) for k in range(horizon)]
    G = np.array([[g[k - j] if k >= j else 0.0 for j in range(horizon)] for k in range(horizon)])
    free = np.array([float((ens.c @ (ens.lam ** (k + 1) * x)).item()) for k in range(horizon)])
    change = np.eye(horizon) - np.eye(horizon, k=-1)
    matrix = np.vstack([np.sqrt(2) * G, np.sqrt(0.1) * np.eye(horizon), np.sqrt(0.5) * change])
    right = np.concatenate([np.sqrt(2) * (r - free), np.zeros(horizon), np.zeros(horizon)])
    right[2 * horizon] = np.sqrt(0.5) * 0.4
    expected = np.linalg.lstsq(matrix, right, rcond=None)[0]
    assert state.plan[0] == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_state_target_is_the_finite_horizon_regulator() -> None:
    """The first input is that of the Riccati recursion."""
    ens = ec.Ensemble([0.5, 0.9, 1.1], [1.0, 0.4, 0.7])
    A, B = np.diag(ens.lam), ens.gains
    Q, R, Z, horizon = np.eye(3) * 0.5, 0.3, np.eye(3) * 4.0, 15
    P = Q + Z
    for _ in range(horizon - 1):
        K = (B.T @ P @ A) / (R + B.T @ P @ B)
        P = Q + A.T @ P @ (A - B @ K)
    K = (B.T @ P @ A) / (R + B.T @ P @ B)
    mpc = ec.MPC(
        ens, horizon, output_weight=0.0, state_weight=0.5, terminal_weight=4.0, input_weight=R
    )
    x = np.array([1.0, -2.0, 0.5])
    u, state = mpc.step(mpc.init(), x=x)
    assert u == pytest.approx(float(-(K @ x).item()), rel=1e-10)
    assert state.tracking_error == 0.0
    # A target that is an equilibrium of its own is a shift of the origin.
    rest = np.array([0.0, 0.0, 0.0])
    moved, _ = mpc.step(mpc.init(), x=x, target=rest)
    assert moved == u


@settings(max_examples=12)
@given(seeds)
def test_limits_hold_exactly_and_every_step_is_optimal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ens = _ensemble(seed)
    u_max, slew = rng.uniform(0.1, 1.0), rng.uniform(0.05, 0.5)
    limits = ec.Limits(u_max=u_max, u_min=-0.5 * u_max, slew_max=slew, output_max=1.0)
    mpc = ec.MPC(ens, 15, limits)
    plant, state = ec.Simulator(ens, rng.standard_normal(ens.size)), mpc.init()
    last = 0.0
    for _ in range(8):
        u, state = mpc.step(state, reference=5.0 * rng.standard_normal(), x=plant.state.x)
        plant.step(u)
        assert -0.5 * u_max <= u <= u_max
        assert abs(u - last) <= slew
        assert state.status.success and state.residual <= 1e-9
        last = u


def test_reference_out_of_reach_is_tracked_as_near_as_possible_and_reported() -> None:
    ens = ec.Ensemble([0.2, 0.5, 0.8], c=1.0)
    gain = float(np.sum(1.0 / (1.0 - ens.lam)))
    mpc = ec.MPC(ens, 20, ec.Limits(u_max=0.5), input_weight=1e-6)
    plant, state = ec.Simulator(ens), mpc.init()
    for _ in range(60):
        u, state = mpc.step(state, reference=100.0, x=plant.state.x)
        plant.step(u)
    assert u == 0.5
    assert plant.output == pytest.approx(0.5 * gain, rel=1e-5)
    assert state.out_of_reach and state.at_limits
    assert "as near as they allow" in state.message and "limits" in str(state)
    u, state = mpc.step(state, reference=0.4 * gain, x=plant.state.x)
    for _ in range(40):
        u, state = mpc.step(state, reference=0.4 * gain, x=plant.state.x)
        plant.step(u)
    assert not state.out_of_reach
    assert plant.output == pytest.approx(0.4 * gain, rel=1e-4)


def test_soft_output_limits_never_stop_it() -> None:
    ens = ec.Ensemble([0.9, 0.95], c=1.0)
    mpc = ec.MPC(ens, 20, ec.Limits(u_max=0.1, output_max=1.0), soft_weight=1e6)
    plant, state = ec.Simulator(ens, 10.0), mpc.init()
    _, state = mpc.step(state, reference=0.9, x=plant.state.x)
    assert state.output_excess > 1.0 and state.status.success
    for _ in range(120):
        u, state = mpc.step(state, reference=2.0, x=plant.state.x)
        plant.step(u)
    assert plant.output == pytest.approx(1.0, abs=1e-3)
    assert state.output_excess <= 1e-3


def test_foreseen_disturbances_are_met_in_time() -> None:
    """With a slow input a step that is foreseen costs less than half of one that is not."""
    ens = ec.Ensemble([0.3, 0.7], np.column_stack([[1.0, 1.0], [0.5, 1.0]]), c=1.0)
    mpc = ec.MPC(ens, 15, ec.Limits(slew_max=0.1), disturbances=1, input_weight=1e-8)
    v = np.where(np.arange(80) < 25, 0.0, 0.5)

    def cost(preview: bool) -> float:
        plant, state, errors = ec.Simulator(ens), mpc.init(), []
        for t in range(50):
            seen = v[t : t + 15] if preview else v[t]
            u, state = mpc.step(state, x=plant.state.x, disturbance=seen)
            plant.step([u, v[t]])
            errors.append(plant.output**2)
        return sum(errors)

    assert cost(True) < 0.5 * cost(False)


def test_compressed_model_gives_the_inputs_of_the_full_one() -> None:
    fleet = ec.families.equispaced(3000, 0.1, 0.95)
    small = fleet.compress(100)
    assert small.size < 100
    limits = ec.Limits(u_max=0.2)
    full, reduced = ec.MPC(fleet, 20, limits), ec.MPC(small, 20, limits)
    plant, one, other = ec.Simulator(fleet), full.init(), reduced.init()
    for t in range(25):
        r = 1.0 if t < 12 else -0.5
        u, one = full.step(one, reference=r, x=plant.state.x)
        v, other = reduced.step(other, reference=r, x=plant.state.x)
        assert v == pytest.approx(u, abs=1e-8)
        plant.step(u)


@pytest.mark.parametrize("measured", ["previous", "current"])
def test_from_the_aggregate_alone(measured: str) -> None:
    ens = ec.Ensemble([0.2, 0.5, 0.8], c=1.0)
    estimator = AggregateEstimator(ens, process_noise=1e-8, measurement_noise=1e-6)
    mpc = ec.MPC(
        ens,
        20,
        ec.Limits(u_max=0.5),
        input_weight=1e-4,
        estimator=estimator,
        measured=measured,
    )
    plant, state = ec.Simulator(ens, [0.5, 0.3, -1.0]), mpc.init()
    y: Any = None
    for t in range(60):
        if measured == "current":
            y = plant.output
        u, state = mpc.step(state, reference=2.0, output=np.nan if t == 20 else y)
        y = plant.step(u)
    assert plant.output == pytest.approx(2.0, abs=1e-3)
    assert state.estimate is not None and state.estimate.t == (60 if measured == "current" else 59)


def test_large_population_from_its_aggregate_through_a_compressed_model() -> None:
    rng = np.random.default_rng(0)
    fleet = ec.Ensemble(rng.uniform(0.3, 0.9, 20_000), rng.uniform(0.5, 1.0, 20_000))
    small = fleet.compress(60)
    estimator = AggregateEstimator(small, process_noise=1e-10, measurement_noise=1e-8, x0_cov=1e-4)
    mpc = ec.MPC(small, 20, ec.Limits(u_max=0.5), input_weight=1e-6, estimator=estimator)
    plant, state = ec.Simulator(fleet, 0.3), mpc.init()
    y: Any = None
    for _ in range(50):
        u, state = mpc.step(state, reference=1.0, output=y)
        y = plant.step(u) + 1e-4 * rng.standard_normal()
    assert plant.output == pytest.approx(1.0, abs=1e-3)


def test_conjugate_pairs() -> None:
    ens = ec.families.oscillators(3, damping=0.1, dt=0.5)
    mpc = ec.MPC(ens, 30, ec.Limits(u_max=2.0), input_weight=1e-4)
    plant, state = ec.Simulator(ens), mpc.init()
    for _ in range(60):
        u, state = mpc.step(state, reference=0.5, x=plant.state.x)
        plant.step(u)
    assert plant.output == pytest.approx(0.5, abs=1e-3)
    by_states = ec.MPC(ens, 30, output_weight=0.0, state_weight=1.0)
    _, state = by_states.step(by_states.init(), x=plant.state.x)
    direct = by_states._horizon.states
    assert direct is not None and np.isrealobj(state.plan)


def test_step_is_pure_and_results_are_data() -> None:
    ens = ec.Ensemble([0.2, 0.5])
    mpc = ec.MPC(ens, 5, ec.Limits(u_max=0.5))
    start = mpc.init()
    u, after = mpc.step(start, reference=1.0, x=[0.0, 0.0])
    again, _ = mpc.step(start, reference=1.0, x=[0.0, 0.0])
    assert u == again and start.step == 0 and after.step == 1
    assert "No step" in start.message and len(str(start).splitlines()) == 1
    assert len(str(after).splitlines()) <= 12
    with pytest.raises(ValueError):
        after.plan[0, 0] = 1.0
    assert json.loads(json.dumps(after.to_dict()))["kind"] == "mpc_state"


_ENS = ec.Ensemble([0.2, 0.5])
_WIDE = ec.Ensemble([0.2, 0.5], np.ones((2, 2)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ec.MPC(_ENS, 0), "horizon must be an integer ≥ 1"),
        (lambda: ec.MPC("x", 5), "ens must be an Ensemble"),
        (lambda: ec.MPC(_ENS, 5, limits=3), "limits must be Limits"),
        (lambda: ec.MPC(_ENS, 5, ec.Limits(state_max=1.0)), "state_max cannot be limited"),
        (lambda: ec.MPC(_ENS, 5, ec.Limits(u_max=[1, 2, 3, 4, 5])), "same at every step"),
        (lambda: ec.MPC(_ENS, 5, output_weight=-1.0), "output_weight must be ≥ 0"),
        (lambda: ec.MPC(_ENS, 5, output_weight=0.0), "say what to track"),
        (lambda: ec.MPC(_ENS, 5, input_weight=0.0), "input_weight or slew_weight must be > 0"),
        (lambda: ec.MPC(_ENS, 5, soft_weight=0.0), "soft_weight must be > 0"),
        (lambda: ec.MPC(_ENS, 5, disturbances=1), "disturbances must leave an input"),
        (lambda: ec.MPC(_ENS, 5, measured="now"), "measured must be"),
        (lambda: ec.MPC(ec.Ensemble([0.2], d=1.0), 5, measured="current"), "feed-through"),
        (lambda: ec.MPC(ec.Ensemble([0.2 + 0.1j]), 5), "closed under conjugation"),
        (
            lambda: ec.MPC(_ENS, 5, estimator=AggregateEstimator(_WIDE, measurement_noise=1.0)),
            "estimator must be of the same ensemble",
        ),
        (lambda: ec.MPC(_ENS, 5, ec.Limits(u_max=1, slew_max=1)).init(2.0), "within the limits"),
        (lambda: ec.MPC(_ENS, 5).init(np.inf), "u must be finite"),
    ],
)
def test_wrong_configurations_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        make()


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({}, "x must be given"),
        ({"x": [0.0]}, "x must have 2 entries"),
        ({"x": [0.0, np.nan]}, "x must be finite"),
        ({"x": [0.0, 0.0], "output": 1.0}, "x must be given, and no output"),
        ({"x": [0.0, 0.0], "reference": np.inf}, "reference must be finite"),
        ({"x": [0.0, 0.0], "reference": [1.0, 2.0]}, "reference must be a scalar"),
        ({"x": [0.0, 0.0], "target": [1.0]}, "target must have 2 entries"),
    ],
)
def test_wrong_steps_are_refused(given_: dict[str, Any], message: str) -> None:
    mpc = ec.MPC(_ENS, 5)
    with pytest.raises(InvalidInputError, match=message):
        mpc.step(mpc.init(), **given_)


def test_wrong_measurements_are_refused() -> None:
    mpc = ec.MPC(_ENS, 5, estimator=AggregateEstimator(_ENS, measurement_noise=1.0))
    with pytest.raises(InvalidInputError, match="output must be finite"):
        mpc.step(mpc.init(), output=np.inf)
    with pytest.raises(InvalidInputError, match="x must be left out"):
        mpc.step(mpc.init(), x=[0.0, 0.0])
    with pytest.raises(InvalidInputError, match="output must have 1 entries"):
        mpc.step(mpc.init(), output=[1.0, 2.0])
    other = ec.MPC(_ENS, 5)
    with pytest.raises(InvalidInputError, match="state must come from init"):
        mpc.step(other.init())
