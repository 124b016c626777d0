"""All states at all steps: in memory, in files, in blocks, and refused where they do not fit."""

import numpy as np
import pytest

from ensctl.ensemble import propagation_memory
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.process_noise import ProcessNoise
from ensctl.ensemble.propagation import final_state
from ensctl.ensemble.propagation_memory import available_memory, check_memory
from ensctl.ensemble.trajectories import trajectory, trajectory_chunks
from ensctl.errors import InvalidInputError, PrecisionError


@pytest.fixture
def fleet():
    rng = np.random.default_rng(4)
    return Ensemble(rng.uniform(-1.0, 1.0, 200), rng.standard_normal((200, 2)))


def test_closed_form_of_a_constant_input():
    """x_t = (1 − λ^t)/(1 − λ) for u = 1."""
    lam = np.array([0.0, 0.5, -0.5, 0.9])
    states = trajectory(Ensemble(lam), np.ones(30))
    steps = np.arange(31)
    expected = (1.0 - lam[:, None] ** steps) / (1.0 - lam[:, None])
    np.testing.assert_allclose(states, expected, rtol=1e-14)
    assert states.shape == (4, 31) and not states.flags.writeable


def test_last_state_is_the_final_state(fleet):
    inputs = np.random.default_rng(0).standard_normal((2, 80))
    states = trajectory(fleet, inputs, 1.0)
    np.testing.assert_array_equal(states[:, 0], 1.0)
    np.testing.assert_allclose(states[:, -1], final_state(fleet, inputs, 1.0), atol=1e-12)


@pytest.mark.parametrize("steps", [1, 7, 81, 1000, None])
def test_blocks_make_up_the_trajectory(fleet, steps):
    inputs = np.random.default_rng(0).standard_normal((2, 80))
    chunks = list(trajectory_chunks(fleet, inputs, 1.0, steps=steps))
    np.testing.assert_array_equal(
        np.hstack([chunk.states for chunk in chunks]), trajectory(fleet, inputs, 1.0)
    )
    assert [chunk.start for chunk in chunks] == list(range(0, 81, steps or 81))


def test_noise_is_the_same_in_blocks(fleet):
    inputs = np.zeros((2, 30))
    whole = trajectory(fleet, inputs, noise=ProcessNoise(0.1, np.random.default_rng(8)))
    noise = ProcessNoise(0.1, np.random.default_rng(8))
    parts = [chunk.states for chunk in trajectory_chunks(fleet, inputs, steps=4, noise=noise)]
    np.testing.assert_array_equal(np.hstack(parts), whole)


def test_file_holds_the_same_states(fleet, tmp_path):
    inputs = np.random.default_rng(0).standard_normal((2, 20))
    path = tmp_path / "states.npy"
    mapped = trajectory(fleet, inputs, 1.0, out=path)
    assert isinstance(mapped, np.memmap) and not mapped.flags.writeable
    np.testing.assert_array_equal(mapped, trajectory(fleet, inputs, 1.0))
    np.testing.assert_array_equal(np.load(path), mapped)
    assert list(tmp_path.iterdir()) == [path]


def test_file_without_a_folder_is_refused(fleet, tmp_path):
    with pytest.raises(InvalidInputError, match="folder"):
        trajectory(fleet, np.ones((2, 5)), out=tmp_path / "nowhere" / "states.npy")


def test_failed_file_leaves_nothing_behind(tmp_path):
    with pytest.raises(PrecisionError):
        trajectory(Ensemble([1.0]), np.full(100, 1e307), out=tmp_path / "states.npy")
    assert list(tmp_path.iterdir()) == []


def test_too_large_for_the_disk(fleet, tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 100})
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage)
    with pytest.raises(InvalidInputError, match=r"room for 9\.6 kB, got 100 bytes"):
        trajectory(fleet, np.ones((2, 5)), out=tmp_path / "states.npy")


def test_too_large_for_memory_names_numbers_and_alternatives():
    ens = Ensemble(np.full(1000, 0.5))
    with pytest.raises(InvalidInputError) as refused:
        trajectory(ens, np.ones(999), max_bytes=4e6)
    message = str(refused.value)
    for words in ("1000 members over 999 steps", "8 MB", "4 MB", "aggregate_output", "out="):
        assert words in message


def test_available_memory_is_the_default_limit(monkeypatch):
    assert available_memory() > 1e6
    monkeypatch.setattr(propagation_memory, "available_memory", lambda: 1000.0)
    check_memory(800, "this", "less")
    with pytest.raises(InvalidInputError, match="this takes 801 bytes and 1 kB is available; less"):
        check_memory(801, "this", "less")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda e: trajectory(e, np.ones((2, 0))), "at least one step"),
        (lambda e: trajectory(e, np.ones(5)), "inputs must have shape"),
        (lambda e: trajectory_chunks(e, np.ones((2, 5)), steps=0), "steps must be an integer"),
        (lambda e: trajectory_chunks(e, np.full((2, 5), np.nan)), "inputs must be finite"),
    ],
)
def test_wrong_calls_are_named(fleet, call, words):
    with pytest.raises(InvalidInputError, match=words):
        call(fleet)


def test_overflow_is_named():
    with pytest.raises(PrecisionError, match="unstable"):
        trajectory(Ensemble([2.0]), np.ones(2000))
    with pytest.raises(PrecisionError, match="member 0 leaves the float64 range"):
        list(trajectory_chunks(Ensemble([1.0]), np.full(100, 1e307)))
