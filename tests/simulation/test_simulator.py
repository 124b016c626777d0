"""One input at a time: agrees with the whole sequence, keeps its state explicit."""

import numpy as np
import pytest

from ensctl.ensemble.aggregate_propagation import aggregate_output
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.process_noise import ProcessNoise
from ensctl.ensemble.trajectories import trajectory
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.simulation.simulator import (
    Simulator,
    initial_simulation_state,
    simulation_step,
)


@pytest.fixture
def fleet():
    rng = np.random.default_rng(6)
    return Ensemble(
        rng.uniform(-1.0, 1.0, 50), rng.standard_normal((50, 2)), rng.standard_normal((3, 50)), 0.5
    )


def test_steps_make_up_the_aggregate_output(fleet):
    inputs = np.random.default_rng(0).standard_normal((2, 60))
    sim = Simulator(fleet, 1.0)
    outputs = [sim.step(u) for u in inputs.T]
    expected = aggregate_output(fleet, inputs, 1.0)
    np.testing.assert_allclose(np.column_stack([*outputs, sim.output]), expected, atol=1e-12)
    assert sim.state.step == 60


@pytest.mark.parametrize("lam", [[0.5, -0.9], [0.5j, -0.9]])
def test_noise_and_quantisation_as_in_the_trajectory(lam):
    ens = Ensemble(lam)
    inputs = np.random.default_rng(1).standard_normal(20)
    states = trajectory(
        ens, inputs, noise=ProcessNoise([0.1, 0.2], np.random.default_rng(3)), resolution=0.25
    )
    sim = Simulator(ens, noise=ProcessNoise([0.1, 0.2], np.random.default_rng(3)), resolution=0.25)
    for t, u in enumerate(inputs):
        np.testing.assert_array_equal(sim.state.x, states[:, t])
        sim.step(u)


def test_pure_step_leaves_the_state_alone():
    ens = Ensemble([0.5, -1.0], c=1.0)
    start = initial_simulation_state(ens, [1.0, 2.0])
    first, y = simulation_step(ens, start, 3.0)
    again, same = simulation_step(ens, start, 3.0)
    assert y == same == 3.0
    assert (start.step, first.step) == (0, 1)
    np.testing.assert_array_equal(start.x, [1.0, 2.0])
    np.testing.assert_array_equal(first.x, [3.5, 1.0])
    np.testing.assert_array_equal(first.x, again.x)
    assert not first.x.flags.writeable


def test_restore_goes_back():
    sim = Simulator(Ensemble([0.5, 0.9]))
    sim.step(1.0)
    kept = sim.state
    ahead = [sim.step(u) for u in (1.0, -2.0, 0.5)]
    sim.restore(kept)
    assert [sim.step(u) for u in (1.0, -2.0, 0.5)] == ahead


def test_feedback_stabilises():
    """u = −y with c b = 1 on one integrator: x halves under a gain of one half."""
    sim = Simulator(Ensemble([1.0]), 8.0)
    for _ in range(3):
        sim.step(-0.5 * sim.output)
    assert sim.output == 1.0


def test_output_shape_follows_c():
    assert isinstance(Simulator(Ensemble([0.5])).step(1.0), float)
    assert isinstance(Simulator(Ensemble([0.5j])).step(1.0), complex)
    assert Simulator(Ensemble([0.5], c=[[1.0]])).step(1.0).shape == (1,)


def test_complex_inputs_make_complex_states():
    sim = Simulator(Ensemble([0.5], c=1.0))
    sim.step(1j)
    assert sim.output == 1j


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Simulator(Ensemble([0.5])).step([1.0, 2.0]), "u must be a number"),
        (lambda: Simulator(Ensemble([0.5])).step(np.nan), "u must be finite"),
        (lambda: Simulator(Ensemble([0.5], [[1.0, 2.0]])).step(1.0), r"shape \(2,\)"),
        (lambda: Simulator(Ensemble([0.5]), [1.0, 2.0]), "x0 must be"),
        (lambda: Simulator(Ensemble([0.5]), resolution=-1.0), "resolution must be > 0"),
        (
            lambda: Simulator(
                Ensemble([0.5]), noise=ProcessNoise([1.0, 2.0], np.random.default_rng())
            ),
            "std must be",
        ),
        (
            lambda: Simulator(Ensemble([0.5])).restore(Simulator(Ensemble([0.5, 1.0])).state),
            "state must have one entry for each of the 1 members",
        ),
    ],
)
def test_wrong_calls_are_named(call, words):
    with pytest.raises(InvalidInputError, match=words):
        call()


def test_overflow_is_named_and_the_state_kept():
    sim = Simulator(Ensemble([1e200], names=["hot"]), 1e100)
    sim.step(0.0)
    with pytest.raises(PrecisionError, match=r"hot leaves the float64 range .* at step 2"):
        sim.step(0.0)
    assert sim.state.step == 1
