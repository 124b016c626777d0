"""Compressed ensembles and Markov parameters: the same aggregate, from a few members."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.ensemble.angle_grid import AngleGrid
from ensctl.ensemble.chebyshev_count import chebyshev_count
from ensctl.ensemble.compression import CompressedEnsemble, compress
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.markov import markov_parameters, markov_response
from ensctl.errors import InvalidInputError


def simulated(ens, inputs, x0=0.0):
    """y_0 … y_H by the recursion, (p, H+1)."""
    u = np.atleast_2d(inputs)
    state = np.broadcast_to(x0, ens.size) + np.zeros(ens.size)
    outputs = []
    for t in range(u.shape[1]):
        outputs.append(ens.output_weights @ state + ens.feedthrough @ u[:, t])
        state = ens.lam * state + ens.gains @ u[:, t]
    outputs.append(ens.output_weights @ state)
    return np.array(outputs).T


def allowed(ens, inputs, x0=0.0):
    """Σ|m| ‖u‖₁ + Σ|c x0|, times the largest power."""
    sums = np.abs(ens.output_weights) @ np.abs(ens.gains)
    free = np.abs(ens.output_weights) @ np.broadcast_to(np.abs(x0), ens.size)
    u = np.atleast_2d(inputs)
    growth = max(1.0, float(np.abs(ens.lam).max()) ** u.shape[1])
    return (float(sums.max()) * float(np.abs(u).sum()) + float(free.max())) * growth


def circle(size, radius, seed=0):
    angles = np.random.default_rng(seed).uniform(-np.pi, np.pi, size)
    return radius * np.exp(1j * angles)


POPULATIONS = {
    "inside": np.random.default_rng(1).uniform(0.1, 0.9, 3000),
    "to the ends": np.random.default_rng(2).uniform(-1, 1, 3000),
    "slow": np.random.default_rng(3).uniform(0.999, 1.0, 3000),
    "unstable": np.random.default_rng(4).uniform(-1.01, 0.5, 3000),
    "clusters": np.repeat([-0.9, 0.2, 0.21], 1000),
    "one value": np.full(3000, 0.7),
    "circle": circle(3000, 1.0),
    "disk": circle(3000, 0.97) * np.sqrt(np.random.default_rng(5).uniform(size=3000)),
}


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize(("outputs", "channels"), [(1, 1), (2, 1), (1, 3), (2, 2)])
def test_response_and_free_response_are_kept(name, outputs, channels):
    rng = np.random.default_rng(7)
    lam, horizon = POPULATIONS[name], 200
    ens = Ensemble(
        lam,
        rng.normal(size=(lam.size, channels)),
        rng.normal(size=(outputs, lam.size)),
        rng.normal(size=(outputs, channels)),
        dt=0.5,
    )
    small = compress(ens, horizon)
    inputs, x0 = rng.normal(size=(channels, horizon)), rng.normal(size=lam.size)
    assert small.size <= (horizon + 1) * outputs
    assert (small.outputs, small.channels, small.dt) == (outputs, channels, 0.5)
    missed = simulated(small, inputs, small.project(x0)) - simulated(ens, inputs, x0)
    scale = allowed(ens, inputs, x0)
    assert np.abs(missed).max() <= small.error_bound * scale
    assert np.abs(missed).max() <= 1e-12 * scale
    impulse = markov_parameters(small, horizon) - markov_parameters(ens, horizon)
    assert np.abs(impulse).max() <= 1e-12 * allowed(ens, np.eye(1, horizon))


@given(
    st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=60),
    st.integers(1, 40),
    st.integers(0, 2**32 - 1),
)
def test_power_sums_are_kept_for_any_members(values, horizon, seed):
    rng = np.random.default_rng(seed)
    lam = np.array(values)
    ens = Ensemble(lam, rng.normal(size=lam.size), rng.normal(size=lam.size))
    small = compress(ens, horizon)
    products = ens.c * ens.b
    for k in range(horizon):
        kept = small.c * small.b @ small.lam**k
        assert abs(kept - products @ lam**k) <= 1e-12 * np.abs(products).sum()
    assert small.size <= min(lam.size, horizon + 1)


def test_smooth_weights_of_one_sign_do_not_cancel():
    rng = np.random.default_rng(0)
    for lam in (rng.uniform(-1, 1, 10_000), rng.beta(3, 3, 10_000), rng.uniform(0.1, 0.9, 10_000)):
        small = compress(Ensemble(lam, rng.uniform(0.5, 1.5, lam.size)), 1000)
        assert 1.0 - 1e-12 <= small.weight_ratio <= 1.05


def test_few_members_are_kept_as_they_are():
    ens = Ensemble([0.1, 0.5, 0.9], b=2.0, c=[1.0, 2.0, 3.0])
    small = compress(ens, 100)
    assert small.method == "exact"
    assert np.array_equal(small.lam, ens.lam)
    assert np.array_equal(small.b, [2.0, 4.0, 6.0])
    assert np.array_equal(small.project([1.0, 1.0, 2.0]), [1.0, 2.0, 6.0])
    assert (small.weight_ratio, small.error_bound) == (1.0, 0.0)
    silent = compress(Ensemble(np.linspace(0, 0.9, 500), c=0.0), 100)
    assert silent.weight_ratio == 1.0
    assert not np.any(silent.b)


def test_is_an_ensemble_in_every_respect():
    ens = Ensemble(np.linspace(0.1, 0.9, 2000))
    small = compress(ens, 500)
    assert isinstance(small, Ensemble)
    assert small.subset([0, 1]).size == 2
    assert small.dual().size == small.size
    for twin in (copy.deepcopy(small), pickle.loads(pickle.dumps(small))):
        assert isinstance(twin, CompressedEnsemble)
        assert twin == small
        assert np.array_equal(twin.project(1.0), small.project(1.0))
        assert not twin.lam.flags.writeable
    assert Ensemble(small.lam, small.b, small.c) == small
    assert "stands for 2000 members over 500 steps" in str(small)
    assert len(str(small).splitlines()) <= 12


def test_tolerance_buys_fewer_members():
    ens = Ensemble(np.linspace(-1, 1, 2000))
    coarse, fine = compress(ens, 400, 1e-4), compress(ens, 400, 1e-14)
    assert coarse.size < 0.7 * fine.size
    powers = np.arange(400)[:, None]
    for small in (coarse, fine):
        missed = (small.lam**powers) @ small.b - (ens.lam**powers).mean(axis=1)
        assert np.abs(missed).max() <= small.error_bound


@pytest.mark.parametrize("interval", [(-1.0, 1.0), (0.1, 0.9), (-0.2, 0.95), (0.99, 1.0)])
def test_terms_beyond_the_count_are_below_the_tolerance(interval):
    lo, hi = interval
    horizon, tol = 400, 1e-10
    count = chebyshev_count(interval, horizon, tol)
    degree = 800
    angles = (np.arange(degree) + 0.5) * np.pi / degree
    points = (lo + hi) / 2 + (hi - lo) / 2 * np.cos(angles)
    series = 2 / degree * np.cos(np.outer(np.arange(degree), angles))
    for k in (1, 50, horizon - 1):
        assert np.abs(series[count:] @ points**k).sum() <= tol + 1e-12
    assert np.abs(series[count // 3 :] @ points ** (horizon - 1)).sum() > 0.0


@pytest.mark.parametrize("count", [1, 2, 7, 60, 300])
def test_angle_grid_sums_and_series(count):
    rng = np.random.default_rng(count)
    angles = np.concatenate([rng.uniform(0, np.pi, 2000), [0.0, np.pi]])
    weights = rng.normal(size=(2, angles.size))
    grid = AngleGrid(count)
    bins, place = grid.zeros(2), grid.locate(angles)
    grid.accumulate(bins, *place, list(weights))
    cosines = np.cos(np.outer(np.arange(count), angles))
    assert np.allclose(grid.sums(bins), weights @ cosines.T, rtol=0, atol=1e-11)
    series = rng.normal(size=count)
    found = grid.evaluate(grid.cosine_table(series), *place)
    assert np.allclose(found, series @ cosines, rtol=0, atol=1e-12 * np.abs(series).sum())


def test_markov_parameters_by_hand():
    ens = Ensemble([0.5, -0.5], c=[1, 1], d=3)
    assert np.array_equal(markov_parameters(ens, 3), [3.0, 2.0, 0.0, 0.5])
    several = Ensemble([0.5, -0.5], np.eye(2), np.ones((1, 2)))
    assert markov_parameters(several, 4).shape == (1, 2, 5)


@pytest.mark.parametrize(("outputs", "channels"), [(1, 1), (2, 1), (2, 3)])
def test_markov_response_is_the_simulation(outputs, channels):
    rng = np.random.default_rng(9)
    ens = Ensemble(
        rng.uniform(-1, 1, 50) + 0j * rng.uniform(size=50),
        rng.normal(size=(50, channels)),
        rng.normal(size=(outputs, 50)),
        0.5,
    )
    parameters = markov_parameters(ens, 80)
    inputs, free = rng.normal(size=(channels, 60)), rng.normal(size=(outputs, 61))
    found = np.atleast_2d(markov_response(parameters, inputs, np.squeeze(free)))
    assert np.allclose(found, simulated(ens, inputs) + free, rtol=0, atol=1e-12)
    turned = markov_response(parameters, 1j * inputs)
    assert np.allclose(np.atleast_2d(turned), 1j * simulated(ens, inputs), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compress([0.5], 10), "ens must be an Ensemble"),
        (lambda: compress(Ensemble([0.5]), 0), "horizon must be an integer ≥ 1"),
        (lambda: compress(Ensemble([0.5]), 10, 0.0), "tol must be ≥ 1e-16"),
        (lambda: compress(Ensemble([3.0, 0.5]), 1000), r"\|λ\| = 3 and horizon = 1000; shorten"),
        (lambda: markov_parameters(Ensemble([2.0]), 5000), "shorten the horizon"),
        (lambda: compress(Ensemble([0.5]), 9).project([1, 2]), "x0 must have 1 entries"),
        (lambda: compress(Ensemble([0.5]), 9).project(np.nan), "x0 must be finite"),
        (lambda: markov_response(np.ones((2, 2)), [1.0]), "parameters must have shape"),
        (lambda: markov_response(np.ones(4), np.ones(4)), "inputs must have 1 channel"),
        (lambda: markov_response(np.ones(4), np.ones((2, 3))), "inputs must have 1 channel"),
        (lambda: markov_response(np.ones(4), [1.0, np.inf]), "inputs must be finite"),
        (lambda: markov_response(np.ones(4), [1.0], np.ones(3)), "free must be a scalar"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
