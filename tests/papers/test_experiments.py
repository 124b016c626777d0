"""The falsification experiments: their outcomes, their numbers, and that they can fail."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from ensctl import drafting
from ensctl.drafting import Convention
from ensctl.errors import InvalidInputError
from ensctl.papers import (
    Experiment,
    Outcome,
    Paper,
    correlation_test,
    memory_test,
    pooling_test,
    root_law_test,
    throughput_test,
    vandermonde_test,
    verify_cost_test,
)
from ensctl.papers.experiment import deviation_of, mean_of, ratio_of, share_of
from ensctl.papers.experiments import _EXPERIMENTS
from ensctl.papers.experiments_pooling import even_cost

_SMALL = 40_000


def _measured(result: Experiment) -> dict[str, float]:
    return {entry.label: entry.measured.value for entry in result.measurements}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_papers_own_test_passes_under_one_reading_only(seed: int) -> None:
    result = throughput_test(200_000, seed)
    assert result.outcome is Outcome.DEPENDS
    assert "accepted: falsified" in result.sentence
    assert "committed: stands" in result.sentence
    assert "with_bonus: falsified" in result.sentence
    measured = _measured(result)
    # Counted literally; from the closed form α(1 − α^K)/(1 − α)/C.
    for depth, value in {3: 1.1792, 4: 1.2665, 5: 1.2941, 6: 1.2868}.items():
        assert measured[f"K = {depth}, accepted"] == pytest.approx(value, abs=0.012)
    for entry in result.measurements:
        assert entry.agrees is ("committed" in entry.label)


def test_a_wrong_throughput_is_falsified_under_every_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drafting, "throughput", lambda *a, **k: 3.0)
    assert throughput_test(_SMALL).outcome is Outcome.FALSIFIED


def test_too_few_cycles_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafting, "throughput", lambda *a, **k: 1.3)
    assert "open" in throughput_test(100).sentence


def test_root_law_stands_and_would_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    result = root_law_test(_SMALL)
    assert result.outcome is Outcome.STANDS
    assert _measured(result)["N = 5"] == pytest.approx(5**-0.5, abs=0.006)
    # The paper's closing words, a 1/N reduction of the standard error, are what data refute.
    monkeypatch.setattr(drafting, "mean_standard_deviation", lambda s, n, r=0.0: s / n)
    assert root_law_test(_SMALL).outcome is Outcome.FALSIFIED


def test_correlation_leaves_a_floor() -> None:
    result = correlation_test(_SMALL)
    assert result.outcome is Outcome.STANDS
    measured = _measured(result)
    assert measured["N = 50"] == pytest.approx(math.sqrt((1 + 49 * 0.15) / 50), abs=0.008)
    assert min(measured.values()) > math.sqrt(0.15)
    # Correlation too small for the sample breaks nothing.
    assert correlation_test(2_000, correlation=1e-4).outcome is Outcome.OPEN


def test_no_distinct_set_is_singular_though_float_says_so() -> None:
    result = vandermonde_test(20)
    assert result.outcome is Outcome.STANDS
    measured = _measured(result)
    assert all(value == 0 for label, value in measured.items() if "float64" not in label)
    assert measured["distinct, N = 20, float64 rank"] > 0.9
    assert measured["distinct, N = 40, float64 rank"] == 1.0


def test_singular_distinct_set_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("ensctl.papers.experiments_vandermonde")
    original = module.log_determinant
    monkeypatch.setattr(module, "log_determinant", lambda lam: original(np.full(lam.size, 0.5)))
    assert vandermonde_test(2).outcome is Outcome.FALSIFIED


def test_pooling_gains_at_the_printed_cost_and_loses_at_twice_that() -> None:
    result = pooling_test(_SMALL)
    assert result.outcome is Outcome.DEPENDS and result.paper is Paper.A
    assert all(entry.agrees for entry in result.measurements)
    gains = list(_measured(result).values())
    assert gains[0] == pytest.approx(1.525390625 / 1.346153846, abs=0.02)
    assert gains[1] < 1.0 < gains[2] < gains[0] and gains[3] < 1.0 < gains[4] < 1.04


def test_even_cost_is_where_the_gain_is_one() -> None:
    from ensctl.papers import formulas

    cost = even_cost()
    assert formulas.relative_gain(0.5, cost, 2) == pytest.approx(1.0, abs=1e-10)
    assert (
        formulas.relative_gain(0.5, cost - 0.01, 2)
        > 1
        > formulas.relative_gain(0.5, cost + 0.01, 2)
    )


def test_pooling_formula_that_is_wrong_is_falsified(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("ensctl.papers.experiments_pooling")
    monkeypatch.setattr(module.drafting, "pooled_acceptance", lambda alphas, r=0.0, count=1: 0.6)
    assert pooling_test(20_000).outcome is Outcome.FALSIFIED


def test_memory_makes_the_formula_too_high_and_totals_vary_more() -> None:
    result = memory_test(_SMALL)
    assert result.outcome is Outcome.STANDS
    by_kind: dict[str, list[Any]] = {"i.i.d.": [], "with memory": [], "variance": []}
    for entry in result.measurements:
        by_kind[next(kind for kind in by_kind if kind in entry.label)].append(entry)
    assert all(entry.below for entry in by_kind["i.i.d."])
    assert all(entry.agrees for entry in by_kind["with memory"])
    assert all(1.3 < entry.measured.value < 2.2 for entry in by_kind["variance"])


def test_without_memory_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafting, "MarkovRenewal", lambda u, v: drafting.IID(0.7))
    assert memory_test(_SMALL).outcome is Outcome.OPEN


def test_dear_verification_shortens_the_best_depth() -> None:
    result = verify_cost_test(200_000)
    assert result.outcome is Outcome.STANDS
    assert [entry.label for entry in result.measurements] == [
        "S at k* = 7, g = 0",
        "S at k* = 6, g = 0.05",
        "S at k* = 5, g = 0.1",
        "S at k* = 4, g = 0.3",
    ]
    assert all(entry.agrees for entry in result.measurements)


def test_results_are_plain_data_and_short_text() -> None:
    import json

    result = root_law_test(2_000)
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert content["schema"] == 1 and content["kind"] == "paper_experiment"
    assert content["measurements"][2]["label"] == "N = 5"
    for run in (throughput_test(2_000), memory_test(2_000), pooling_test(2_000), result):
        lines = str(run).splitlines()
        assert len(lines) <= 12 and max(map(len, lines)) <= 100
        assert len(run.measurements) <= len(lines) or lines[-1].endswith(" more")


def test_same_seed_same_numbers_other_seed_others() -> None:
    first, again, other = (root_law_test(2_000, seed) for seed in (0, 0, 1))
    assert _measured(first) == _measured(again) != _measured(other)


@pytest.mark.parametrize("experiment", _EXPERIMENTS)
def test_samples_and_seeds_that_make_no_sense_are_refused(experiment: Callable[..., Any]) -> None:
    with pytest.raises(InvalidInputError):
        experiment(0)
    with pytest.raises(InvalidInputError, match="seed"):
        experiment(100, -1)


@pytest.mark.parametrize("experiment", _EXPERIMENTS)
def test_the_smallest_sample_runs(experiment: Callable[..., Any]) -> None:
    assert isinstance(experiment(100), Experiment)


def test_estimates_against_closed_forms() -> None:
    values = np.array([0.0, 1.0, 1.0, 2.0])
    mean = mean_of(values, 2.0)
    assert mean.value == 0.5
    assert mean.std_error == pytest.approx(math.sqrt(0.5) / 2 / 2)
    # 0 of n: upper end 1 − .025^{1/n}.
    share = share_of(0, 100)
    assert share.low == 0.0
    assert share.high == pytest.approx(1 - 0.025**0.01)
    assert share_of(100, 100).low == pytest.approx(0.025**0.01)
    ratio = ratio_of(mean_of(values), mean_of(values))
    assert ratio.value == 1.0
    assert ratio.std_error == pytest.approx(math.sqrt(2) * math.sqrt(0.5) / 2)
    normal = np.random.default_rng(0).standard_normal(200_000)
    deviation = deviation_of(normal)
    # se(σ̂) = σ/√(2n) for normal data.
    assert deviation.std_error == pytest.approx(1 / math.sqrt(400_000), rel=0.02)
    assert deviation.covers(1.0)


def test_conventions_are_all_three() -> None:
    labels = {entry.label.split(", ")[1] for entry in throughput_test(500).measurements}
    assert labels == {rule.value for rule in Convention}
