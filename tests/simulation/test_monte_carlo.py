"""Monte Carlo of drafters under a broadcast schedule, against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ensctl.drafting import IID, Beta, Convention, Drafter, LinearCost, MarkovRenewal, PerPosition
from ensctl.errors import InvalidInputError
from ensctl.simulation import simulate_drafting

# Published: α = .7, c_d = .1 at K = 3..6, committed; and simulated as "accepted" literally.
_COMMITTED = {3: 1.6846, 4: 1.8093, 5: 1.8487, 6: 1.8382}
_ACCEPTED = {3: 1.1792, 4: 1.2665, 5: 1.2941, 6: 1.2868}


@pytest.mark.parametrize("depth", [3, 4, 5, 6])
def test_the_minimal_next_experiment(depth: int) -> None:
    run = simulate_drafting(0.7, depth, cycles=40_000, count=5, seed=depth)
    for convention, table in (("committed", _COMMITTED), ("accepted", _ACCEPTED)):
        found = run.throughput(0.1, convention=convention)
        assert abs(found.value - table[depth]) < 4 * found.std_error + 5e-5
    # The papers' own criterion passes under one reading and fails under the other.
    assert abs(run.throughput(0.1, convention="committed").value - _COMMITTED[depth]) < 0.05
    assert abs(run.throughput(0.1, convention="accepted").value - _COMMITTED[depth]) > 0.05


@pytest.mark.parametrize(
    "model", [IID(0.7), PerPosition([0.9, 0.5, 0.7, 0.2]), Beta(2.0, 1.0), MarkovRenewal(0.8, 0.4)]
)
@pytest.mark.parametrize("convention", list(Convention))
def test_means_and_intervals(model: Any, convention: Convention) -> None:
    run = simulate_drafting(model, 4, cycles=50_000, count=2, seed=3)
    found = run.mean_length(convention)
    assert run.predicted_length(convention) == pytest.approx(
        model.expected_length(4, convention=convention)
    )
    assert abs(found.value - run.predicted_length(convention)) < 3.5 * found.std_error
    expected = math.sqrt(model.long_run_variance(4, convention=convention) / 100_000)
    assert found.std_error == pytest.approx(expected, rel=0.1)
    np.testing.assert_allclose(run.histogram() / 100_000, model.pmf(4), atol=0.008)


def test_spread_of_the_mean_falls_with_the_root_of_the_number() -> None:
    for number in (2, 5, 20):
        run = simulate_drafting(0.7, 5, cycles=40_000, count=number, seed=number)
        single = math.sqrt(IID(0.7).variance(5))
        assert run.single_deviation() == pytest.approx(single, rel=0.02)
        assert run.mean_deviation() == pytest.approx(single / math.sqrt(number), rel=0.02)
        assert abs(run.length_correlation()) < 0.02


@pytest.mark.parametrize("coupling", ["gaussian copula", "shared beta"])
def test_correlated_drafters_do_not_average_out(coupling: str) -> None:
    few = simulate_drafting(
        0.7, 5, cycles=30_000, count=5, correlation=0.3, coupling=coupling, seed=1
    )
    many = simulate_drafting(
        0.7, 5, cycles=30_000, count=40, correlation=0.3, coupling=coupling, seed=2
    )
    r = few.length_correlation()
    assert r > 0.1
    assert many.length_correlation() == pytest.approx(r, abs=0.02)
    floor = many.single_deviation() * math.sqrt(r)
    assert many.mean_deviation() > 0.95 * floor
    assert many.mean_deviation() > 2.0 * many.single_deviation() / math.sqrt(40)
    # The law of one drafter is the model's.
    assert abs(few.mean_length().value - few.predicted_length()) < 4 * few.mean_length().std_error


def test_shared_beta_is_beta() -> None:
    run = simulate_drafting(
        0.6, 4, cycles=200_000, count=2, correlation=0.2, coupling="shared beta", seed=0
    )
    model = run.models[0]
    assert isinstance(model, Beta)
    assert (model.a, model.b) == pytest.approx((2.4, 1.6))
    np.testing.assert_allclose(run.histogram() / 400_000, model.pmf(4), atol=0.004)
    first = run.accepted >= 1
    assert np.corrcoef(first)[0, 1] == pytest.approx(0.2, abs=0.01)


def test_heterogeneous_drafters_under_a_schedule() -> None:
    pool = [
        Drafter("a", 0.5, 0.1),
        Drafter("b", 0.9, 0.3),
        Drafter("c", MarkovRenewal(0.8, 0.3), 0),
    ]
    run = simulate_drafting(pool, 4, cycles=60_000, schedule=[0, 1, 1, 2], seed=5)
    assert run.accepted.shape == (1, 60_000)
    assert np.bincount(run.chosen).tolist() == [15_000, 30_000, 15_000]
    for i, drafter in enumerate(pool):
        one = run.mean_length(drafter=i)
        assert abs(one.value - drafter.acceptance.expected_length(4)) < 3.5 * one.std_error
        assert run.histogram(i).sum() == np.count_nonzero(run.chosen == i)
    lengths = np.array([d.acceptance.expected_length(4) for d in pool])
    costs = np.array([d.cost.cycle(4) for d in pool])
    shares = np.array([0.25, 0.5, 0.25])
    expected = float(shares @ lengths / (shares @ costs))
    found = run.throughput()
    assert abs(found.value - expected) < 3.5 * found.std_error


def test_a_mix_is_a_distribution_over_drafters() -> None:
    run = simulate_drafting([0.5, 0.9], 3, cycles=40_000, mix=[0.25, 0.75], seed=0)
    assert np.mean(run.chosen) == pytest.approx(0.75, abs=0.01)
    found = run.mean_length()
    exact = 0.25 * IID(0.5).expected_length(3) + 0.75 * IID(0.9).expected_length(3)
    assert abs(found.value - exact) < 3.5 * found.std_error
    with pytest.raises(InvalidInputError, match="no mean over drafters"):
        run.mean_deviation()


def test_intervals_cover_as_often_as_they_say() -> None:
    truth = MarkovRenewal(0.85, 0.4).expected_length(5)
    hits = sum(
        simulate_drafting(MarkovRenewal(0.85, 0.4), 5, cycles=3000, seed=seed)
        .mean_length()
        .covers(truth)
        for seed in range(200)
    )
    assert 178 <= hits <= 199


def test_off_emits_one_unit_per_cycle() -> None:
    run = simulate_drafting(0.7, 0, cycles=100, seed=0)
    assert run.mean_length().value == 1.0 and run.mean_length("accepted").value == 0.0
    assert run.throughput(LinearCost(0.1)).value == 1.0
    assert run.histogram().tolist() == [100]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"drafters": []}, "at least one entry"),
        ({"drafters": 1.5}, "drafters"),
        ({"depth": -1}, "depth"),
        ({"depth": 40_000}, "depth"),
        ({"cycles": 0}, "cycles"),
        ({"cycles": 10**12}, "at most"),
        ({"drafters": [0.5, 0.5], "count": 3}, "count must be 2"),
        ({"drafters": [0.5, 0.5], "schedule": [0, 2]}, "from 0 to 1, got 2"),
        ({"drafters": [0.5, 0.5], "schedule": [0.3, 0.7]}, "goes into mix"),
        ({"drafters": [0.5, 0.5], "mix": [0.3, 0.6]}, "sum to one"),
        ({"drafters": [0.5, 0.5], "mix": [1.0]}, "2 entries"),
        ({"schedule": [0], "mix": [1.0]}, "not both"),
        ({"correlation": 1.0}, "correlation"),
        ({"correlation": -0.1}, "correlation"),
        ({"coupling": "t copula"}, "coupling"),
        ({"drafters": MarkovRenewal(0.8, 0.4), "correlation": 0.2}, "independent cycles"),
        (
            {"drafters": [0.5, 0.6], "correlation": 0.2, "coupling": "shared beta"},
            "one number",
        ),
        ({"seed": "x"}, "rng"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"drafters": 0.7, "depth": 4, "cycles": 100} | arguments
    with pytest.raises(InvalidInputError, match=message):
        simulate_drafting(given.pop("drafters"), given.pop("depth"), **given)


def test_text_data_and_refusals_of_a_result() -> None:
    run = simulate_drafting(0.7, 4, cycles=1000, count=3, seed=0)
    assert "3 drafters, K = 4, 1000 cycles" in str(run) and "committed" in str(run)
    assert run.to_dict()["mean_length"]["committed"]["value"] > 2
    with pytest.raises(InvalidInputError, match="cost"):
        run.throughput()
    with pytest.raises(InvalidInputError, match="below 3"):
        run.mean_length(drafter=3)
    with pytest.raises(InvalidInputError, match="two drafters"):
        simulate_drafting(0.7, 4, cycles=10, seed=0).length_correlation()
