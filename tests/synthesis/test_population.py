"""Steering huge populations: exact references, optimality, chunks, weights, bad input, dask."""

import json
import runpy
import sys
import tracemalloc

import mpmath as mp
import numpy as np
import pytest

import ensctl as ec
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, MissingDependencyError
from ensctl.synthesis.population import steer_population, steer_population_arrays


def members(size, lo, hi):
    """The members of tests/reference/make_population_reference.py."""
    i = np.arange(size)
    lam = lo + (hi - lo) * (((i * 40503) % 65536) / 65536.0)
    b = 1.0 + ((i * 7919) % 1024) / 1024.0
    target = lam / (0.25 + lam * lam) + ((i * 104729) % 64) / 256.0
    weights = 0.5 + ((i * 31) % 16) / 16.0
    return lam, b, target, weights


def obvious(lam, b, target, horizon, weights, ridge, x0=0.0):
    """The same problem by one dense least-squares call."""
    root = np.sqrt(np.broadcast_to(weights, lam.shape))
    powers = np.vander(lam, horizon)
    rows = np.vstack([(root * b)[:, None] * powers, np.sqrt(ridge) * np.eye(horizon)])
    right = np.concatenate([root * (target - lam**horizon * x0), np.zeros(horizon)])
    return np.linalg.lstsq(rows, right, rcond=None)[0]


def distance(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


def swarm(size, lo=-0.9, hi=0.9, seed=0):
    rng = np.random.default_rng(seed)
    lam = rng.uniform(lo, hi, size)
    return lam, rng.uniform(0.5, 1.5, size), np.tanh(3 * lam)


@pytest.mark.reference
@pytest.mark.parametrize("number", [0, 1, 2])
def test_inputs_agree_with_exact_arithmetic(reference, number):
    case = reference("population")["cases"][number]
    lam, b, target, weights = members(case["size"], case["lo"], case["hi"])
    exact = np.array([float(value) for value in case["inputs"]])
    horizon = case["horizon"]
    plan = steer_population_arrays(lam, b, target, horizon, weights, case["ridge"], x0=case["x0"])
    assert plan.method == "moments"
    assert distance(plan.inputs, exact) < 2e-11
    assert distance(plan.inputs, exact) < plan.error < 1e-9
    full = steer_population_arrays(
        lam, b, target, horizon, weights, case["ridge"], x0=case["x0"], terms=horizon
    )
    assert distance(full.inputs, exact) < 1e-10


def test_too_few_terms_cost_digits_and_the_error_says_how_many(reference):
    case = reference("population")["cases"][0]
    lam, b, target, weights = members(case["size"], case["lo"], case["hi"])
    exact = np.array([float(value) for value in case["inputs"]])
    plan = steer_population_arrays(lam, b, target, 60, weights, case["ridge"], terms=40)
    assert 1e-5 < distance(plan.inputs, exact) < plan.error < 1.0
    assert "raise the ridge" in str(plan)


def test_result_does_not_depend_on_the_chunk():
    lam, b, target = swarm(70_000)
    ens = Ensemble(lam, b)
    plans = [steer_population(ens, target, 80, chunk=size) for size in (2048, 5000, 30_000, 10**6)]
    for plan in plans[1:]:
        assert distance(plan.inputs, plans[0].inputs) <= 1e-12
        assert plan.weighted_error == pytest.approx(plans[0].weighted_error, rel=1e-12)


def test_errors_are_those_of_a_simulation():
    lam, b, target = swarm(3000)
    weights = np.linspace(0.0, 2.0, lam.size)
    plan = steer_population(Ensemble(lam, b), target, 30, weights, 1e-4, x0=0.5)
    state = np.full(lam.size, 0.5)
    for u in plan.inputs:
        state = lam * state + b * u
    missed = state - target
    assert plan.weighted_error == pytest.approx((weights * missed**2).sum(), rel=1e-11)
    assert plan.rms_error == pytest.approx(np.sqrt((missed**2).mean()), rel=1e-11)
    assert plan.objective == pytest.approx(plan.weighted_error + 1e-4 * plan.energy, rel=1e-15)
    assert not plan.inputs.flags.writeable


def test_optimality_conditions_hold():
    lam, b, target = swarm(5000)
    weights = np.linspace(0.5, 2.0, lam.size)
    plan = steer_population(Ensemble(lam, b), target, 40, weights, 1e-2)
    rows = b[:, None] * np.vander(lam, 40)
    gradient = rows.T @ (weights * (rows @ plan.inputs - target)) + 1e-2 * plan.inputs
    assert np.abs(gradient).max() < 1e-12 * np.abs(rows.T @ (weights * target)).max()


@pytest.mark.parametrize("horizon", [1, 2, 7, 300])
def test_any_horizon_agrees_with_dense_least_squares(horizon):
    lam, b, target = swarm(4000, 0.1, 0.9, seed=horizon)
    plan = steer_population(Ensemble(lam, b), target, horizon, ridge=1e-2)
    dense = obvious(lam, b, target, horizon, 1.0, 1e-2)
    assert distance(plan.inputs, dense) < 1e-11
    assert plan.terms <= horizon


def test_unstable_members_are_steered_too():
    lam, b, target = swarm(4000, -1.02, 0.5)
    plan = steer_population(Ensemble(lam, b), target, 50, ridge=1e-2)
    assert distance(plan.inputs, obvious(lam, b, target, 50, 1.0, 1e-2)) < 1e-11


def test_complex_data_on_real_members_give_complex_inputs():
    lam, b, target = swarm(3000)
    b, target, x0 = b * np.exp(2j * lam), target * np.exp(1j * b), 0.3j
    plan = steer_population(Ensemble(lam, b), target, 25, ridge=1e-3, x0=x0)
    assert distance(plan.inputs, obvious(lam, b, target, 25, 1.0, 1e-3, x0)) < 1e-11


@pytest.mark.parametrize(
    "lam",
    [
        pytest.param(np.repeat([0.2, 0.5, 0.8], 700), id="three values"),
        pytest.param(np.full(2000, 0.5), id="one value"),
        pytest.param(np.linspace(0.1, 0.9, 5), id="fewer members than steps"),
        pytest.param(np.append(np.linspace(0.5, 0.50001, 3000), -0.9), id="an outlier"),
    ],
)
def test_few_directions_fall_back_to_qr(lam):
    target = np.sin(5 * lam)
    plan = steer_population(Ensemble(lam, 1.5), target, 20, ridge=1e-3)
    dense = obvious(lam, np.full(lam.size, 1.5), target, 20, 1.0, 1e-3)
    assert distance(plan.inputs, dense) < 1e-10
    assert plan.method == "tsqr" or plan.terms < 5


def test_nothing_to_do_costs_nothing():
    lam, b, _ = swarm(500)
    plan = steer_population(Ensemble(lam, b), 0.0, 10)
    assert np.all(plan.inputs == 0.0)
    assert plan.rms_error == 0.0
    weightless = steer_population(Ensemble(lam, b), 1.0, 10, weights=0.0)
    assert np.all(weightless.inputs == 0.0)


def test_known_interval_gives_the_same_inputs():
    lam, b, target = swarm(5000)
    plan = steer_population_arrays(lam, b, target, 40, ridge=1e-3)
    wider = steer_population_arrays(lam, b, target, 40, ridge=1e-3, interval=(-1.0, 1.0))
    assert wider.interval == (-1.0, 1.0)
    assert distance(wider.inputs, plan.inputs) < 1e-10


def test_single_precision_and_integers_are_read_as_they_are():
    lam = np.linspace(0.1, 0.9, 3000, dtype=np.float32)
    plan = steer_population_arrays(lam, 1, np.sign(lam - 0.5).astype(int), 20, ridge=1e-3)
    double = lam.astype(float)
    dense = obvious(double, np.ones(3000), np.sign(double - 0.5), 20, 1.0, 1e-3)
    assert distance(plan.inputs, dense) < 1e-11


def test_progress_counts_up_to_the_end():
    lam, b, target = swarm(40_000)
    seen = []
    steer_population(Ensemble(lam, b), target, 20, progress=lambda *now: seen.append(now))
    done = [step for step, _ in seen]
    assert done == sorted(done)
    assert seen[-1] == (6, 6)


def test_memory_is_that_of_the_arguments():
    lam, b, target = swarm(1_000_000)
    ens = Ensemble(lam, b)
    tracemalloc.start()
    try:
        steer_population(ens, target, 200)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6


def test_plan_as_text_and_data():
    lam, b, target = swarm(3000)
    plan = steer_population(Ensemble(lam, b), target, 20)
    lines = str(plan).splitlines()
    assert lines[0].startswith("3000 members end ")
    assert len(lines) <= 12
    data = plan.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert (data["schema"], data["kind"]) == (1, "population_plan")
    assert data["inputs"] == plan.inputs.tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"horizon": 0}, "horizon must be an integer ≥ 1"),
        ({"ridge": 0.0}, "ridge must be > 0"),
        ({"ridge": np.nan}, "ridge must be finite"),
        ({"chunk": 0}, "chunk must be an integer ≥ 1"),
        ({"terms": 11}, "terms must be at most the horizon 10"),
        ({"weights": -1.0}, "weights must be ≥ 0, got -1"),
        ({"weights": 1j}, "weights must be real"),
        ({"lam": np.array([0.1, np.nan])}, "lam must be finite"),
        ({"lam": np.array([0.1, 0.2j])}, "lam must be real"),
        ({"lam": np.array(0.5)}, r"lam must have shape \(N,\)"),
        ({"lam": np.array(["a", "b"])}, "lam must be numeric"),
        ({"b": np.ones(3)}, r"b must be a scalar or have shape \(2,\)"),
        ({"target": np.array([1.0, np.inf])}, "must be finite"),
        ({"interval": (0.3, 1.0)}, r"lam must lie in the interval \[0.3, 1\], got values from 0.1"),
        ({"interval": (1.0, 0.0)}, "interval must be two numbers"),
        ({"lam": np.array([0.1, 3.0]), "horizon": 1000}, "shorten the horizon"),
        ({"progress": 3}, "progress must be"),
    ],
)
def test_bad_input_is_named(change, message):
    call = {"lam": np.array([0.1, 0.5]), "b": 1.0, "target": np.ones(2), "horizon": 10, **change}
    with pytest.raises(InvalidInputError, match=message):
        steer_population_arrays(**call)


def test_ensembles_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInputError, match="ens must have one input channel, got 2"):
        steer_population(Ensemble([0.1, 0.5], np.ones((2, 2))), 1.0, 10)
    with pytest.raises(InvalidInputError, match=r"lam must be real.*terminal cost"):
        steer_population(Ensemble([0.1, 0.5j]), 1.0, 10)
    with pytest.raises(InvalidInputError, match="ens must be an Ensemble"):
        steer_population(np.ones(3), 1.0, 10)
    with pytest.raises(InvalidInputError, match="target must have 2 entries, got 3"):
        steer_population(Ensemble([0.1, 0.5]), np.ones(3), 10)


def test_dask_arrays_without_dask_are_named(monkeypatch):
    class Lazy:
        __dask_graph__ = None

    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'ensctl\[cluster\]'"):
        steer_population_arrays(Lazy(), 1.0, 1.0, 10)


def test_dask_blocks_give_what_arrays_give():
    array = pytest.importorskip("dask.array", reason="dask (extra cluster) is not installed")
    lam, b, target = swarm(50_000)
    plan = steer_population_arrays(lam, b, target, 60, ridge=1e-4)
    lazy = array.from_array(lam, chunks=7000)
    found = steer_population_arrays(
        lazy, b, array.tanh(3 * lazy).rechunk(11_000), 60, array.ones(50_000), 1e-4
    )
    assert found.size == 50_000
    assert distance(found.inputs, plan.inputs) < 1e-10
    few = array.from_array(np.repeat([0.2, 0.5, 0.8], 700), chunks=500)
    assert steer_population_arrays(few, 1.0, few, 20, ridge=1e-3).method == "tsqr"
    with pytest.raises(InvalidInputError, match="weights must be ≥ 0"):
        steer_population_arrays(lazy, b, target, 60, -array.ones(50_000))


def test_example_steers_its_members(repository):
    pytest.importorskip("dask.array", reason="dask (extra cluster) is not installed")
    example = runpy.run_path(str(repository / "examples" / "cluster_population.py"))
    result = example["main"](members=10**5, workers=0)
    assert (result.members, result.blocks, result.method) == (100_000, 1, "moments")
    assert result.rms_error < 0.01
    assert result.input_error < 1e-9


@pytest.mark.slow
def test_a_cluster_gives_what_one_process_gives():
    array = pytest.importorskip("dask.array", reason="dask (extra cluster) is not installed")
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    lam, b, target = swarm(200_000)
    plan = steer_population_arrays(lam, b, target, 60, ridge=1e-4)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster),
    ):
        columns = [array.from_array(values, chunks=50_000) for values in (lam, b, target)]
        found = steer_population_arrays(*columns, 60, ridge=1e-4)
        with pytest.raises(InvalidInputError, match="lam must lie in the interval"):
            steer_population_arrays(*columns, 60, ridge=1e-4, interval=(0.0, 1.0))
    assert distance(found.inputs, plan.inputs) < 1e-10


def test_scalars_for_every_column():
    lam = np.linspace(0.1, 0.9, 100)
    plan = ec.steer_population_arrays(lam, 1.0, 1.0, 5)
    same = ec.steer_population(ec.Ensemble(lam), np.ones(100), 5)
    np.testing.assert_allclose(plan.inputs, same.inputs, rtol=1e-9)


@pytest.mark.parametrize("kind", ["gap", "tail"])
def test_the_error_estimate_covers_large_misfits(kind):
    """Targets no input comes near: rounding of the factorisation is amplified by what is missed."""
    if kind == "gap":
        lam = np.r_[np.linspace(-1, -0.99, 100), np.linspace(0.99, 1, 100)]
        target = np.sign(np.sin(50 * np.arange(200)))
    else:
        lam = np.r_[np.linspace(0.1, 0.2, 199), 0.99]
        target = np.sin(50 * np.arange(200))
    plan = ec.steer_population(ec.Ensemble(lam), target, 20)
    with mp.workdps(80):
        rows = mp.matrix([[mp.mpf(float(z)) ** (19 - k) for k in range(20)] for z in lam])
        right = mp.matrix([mp.mpf(float(t)) for t in target])
        gram = rows.T * rows + mp.mpf(1e-8) * mp.eye(20)
        truth = np.array([float(v) for v in mp.lu_solve(gram, rows.T * right)])
    error = np.linalg.norm(plan.inputs - truth) / np.linalg.norm(truth)
    assert error <= plan.error
