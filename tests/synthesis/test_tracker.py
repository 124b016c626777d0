"""The tracker against one dense least-squares problem, and its cost-to-go identity."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.synthesis.lqr import lqr
from ensctl.synthesis.tracker import lq_tracker
from ensctl.synthesis.tracker_policy import tracked_signal


@st.composite
def _ensembles(draw: st.DrawFn) -> Ensemble:
    size, channels, outputs = (draw(st.integers(1, n)) for n in (5, 2, 2))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    lam = rng.uniform(-1.1, 1.1, size)
    if draw(st.booleans()):
        lam = lam + 0.3j * rng.uniform(-1, 1, size)
    b, c = rng.standard_normal((size, channels)), rng.standard_normal((outputs, size))
    return Ensemble(lam, b, c, rng.standard_normal((outputs, channels)))


@given(_ensembles(), st.sampled_from(["output", "state"]), st.integers(1, 8))
def test_inputs_solve_the_dense_least_squares_problem(
    ens: Ensemble, track: str, steps: int
) -> None:
    rng = np.random.default_rng(steps)
    count = ens.outputs if track == "output" else ens.size
    reference = rng.standard_normal((count, steps + 1))
    x0 = rng.standard_normal(ens.size)
    policy = lq_tracker(ens, steps, reference, Q=2.0, R=0.5, terminal=3.0, track=track)
    run = policy.run(x0)
    matrix, target = _dense(ens, track, reference, x0, (2.0, 0.5, 3.0))
    inputs = np.linalg.lstsq(matrix, target, rcond=None)[0]
    assert np.allclose(run.inputs.T.ravel(), inputs, rtol=1e-9, atol=1e-9)
    cost = np.linalg.norm(matrix @ inputs - target) ** 2
    assert run.cost == pytest.approx(cost, rel=1e-9, abs=1e-12)
    assert policy.cost_to_go(x0) == pytest.approx(cost, rel=1e-9, abs=1e-9)
    assert run.gradient < 1e-12 and policy.gradient < 1e-12 and policy.cost_gap < 1e-12


def _dense(
    ens: Ensemble,
    track: str,
    reference: np.ndarray,
    x0: np.ndarray,
    weights: tuple[float, float, float],
) -> tuple[np.ndarray, np.ndarray]:
    """The cost as ‖M u − h‖², u = (u_0, …, u_{H−1}) channel by channel."""
    E, F = tracked_signal(ens, track)
    steps, m = reference.shape[1] - 1, ens.channels
    effect = np.zeros((ens.size, steps * m), complex)
    free = x0.astype(complex)
    rows, targets = [], []
    for t in range(steps + 1):
        weight = np.sqrt(weights[0] if t < steps else weights[2])
        row = E @ effect
        if t < steps:
            row[:, t * m : (t + 1) * m] += F
        rows.append(weight * row)
        targets.append(weight * (reference[:, t] - E @ free))
        if t < steps:
            effect = ens.lam[:, None] * effect
            effect[:, t * m : (t + 1) * m] += ens.gains
            free = ens.lam * free
    rows.append(np.sqrt(weights[1]) * np.eye(steps * m))
    targets.append(np.zeros(steps * m))
    return np.vstack(rows), np.concatenate(targets)


def test_long_horizon_gain_is_the_regulator() -> None:
    ens = Ensemble([1.1, 0.5, -0.4])
    policy = lq_tracker(ens, 200, 0.0, track="state")
    assert np.allclose(policy.gains[0], lqr(ens).gain, rtol=1e-12)
    assert not np.any(policy.feedforward)


def test_a_disturbance_costs_more_than_was_predicted() -> None:
    ens = Ensemble([0.5, 0.9])
    policy = lq_tracker(ens, 10, np.ones(11), Q=10.0)
    run = policy.run(0.0, disturbance=np.full((2, 10), -0.1))
    assert run.cost > run.predicted_cost and run.states.shape == (2, 11)
    assert np.allclose(policy.input(3, run.states[:, 3]), run.inputs[:, 3])


def test_large_population_over_a_long_horizon() -> None:
    ens = Ensemble(np.linspace(0.1, 0.95, 60))
    wave = np.sin(np.arange(201) / 10.0)
    policy = lq_tracker(ens, 200, wave, Q=1e4, R=1e-2)
    assert policy.gradient < 1e-11 and policy.cost_gap < 1e-11
    assert np.max(np.abs(policy.run().errors)) < 0.05


def test_bad_input() -> None:
    ens = Ensemble([0.5, 0.9])
    with pytest.raises(InvalidInputError, match="reference must be a number or have shape"):
        lq_tracker(ens, 10, np.ones(10))
    with pytest.raises(InvalidInputError, match="track must be"):
        lq_tracker(ens, 10, 0.0, track="mean")
    with pytest.raises(InvalidInputError, match="R must be positive definite"):
        lq_tracker(ens, 10, 0.0, R=0.0)
    with pytest.raises(InvalidInputError, match="horizon"):
        lq_tracker(ens, 0, 0.0)
    policy = lq_tracker(ens, 3, 0.0)
    with pytest.raises(InvalidInputError, match="below the horizon"):
        policy.input(3, 0.0)
    with pytest.raises(InvalidInputError, match="disturbance"):
        policy.run(disturbance=[1.0, 2.0, 3.0])


def test_a_member_that_runs_away_is_an_error_of_precision() -> None:
    with pytest.raises(PrecisionError):
        lq_tracker(Ensemble([3.0, 0.5], [0.0, 1.0]), 1000, 0.0, track="state")


def test_content_is_json() -> None:
    policy = lq_tracker(Ensemble([0.5, 0.9]), 4, 1.0)
    assert json.loads(json.dumps(policy.to_dict()))["kind"] == "tracking_policy"
    assert str(policy).startswith("optimal tracking of the output over 4 steps")
