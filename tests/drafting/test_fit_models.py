"""Fitted acceptance models: what they recover, what they predict, and which one is chosen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.drafting import (
    IID,
    AcceptanceFit,
    AcceptanceModel,
    Beta,
    Counters,
    CycleTraces,
    MarkovRenewal,
    Mixture,
    fit_acceptance,
    fit_lengths,
    read_traces,
    replay_cycles,
    replay_depth,
)
from ensctl.errors import EnsctlError, InvalidInputError, NotIdentifiableError

RUNS = ("gsm8k_ngram", "cnn_ngram", "gsm8k_eagle", "cnn_eagle")


def exact(model: AcceptanceModel, depth: int, drafts: float = 1e5) -> Counters:
    """Counters without sampling error."""
    positions = tuple((drafts * model.survival(depth)[1:]).tolist())
    return Counters(
        drafts, depth * drafts, sum(positions), accepted_per_position=positions, depth=depth
    )


def measured(reference: Callable[[str], Any], run: str) -> tuple[Counters, list[float]]:
    found = reference("drafting_trace_lengths")["runs"][run]
    positions = tuple(found["accepted_per_position"])
    drafts = found["drafts"]
    counters = Counters(drafts, 3 * drafts, sum(positions), accepted_per_position=positions)
    return counters, found["lengths"]


@pytest.mark.reference
@pytest.mark.parametrize("run", ["gsm8k_ngram", "cnn_ngram"])
def test_renewal_fitted_at_three_predicts_every_depth(
    reference: Callable[[str], Any], run: str
) -> None:
    counters, lengths = measured(reference, run)
    fit = fit_acceptance(counters)
    assert fit.kind == "markov_renewal"
    assert "i.i.d. is not enough" in fit.reason
    for depth, length in enumerate(lengths, start=1):
        assert fit.expected_length(depth).value == pytest.approx(length, rel=0.005)


@pytest.mark.reference
@pytest.mark.parametrize("run", ["gsm8k_eagle", "cnn_eagle"])
def test_neural_drafter_is_iid(reference: Callable[[str], Any], run: str) -> None:
    counters, _ = measured(reference, run)
    fit = fit_acceptance(counters)
    assert fit.kind == "iid"
    assert "i.i.d. is as good" in fit.reason


@pytest.mark.parametrize("task", ["gsm8k", "cnn"])
def test_every_split_of_real_requests(real_data: Callable[[str], Path], task: str) -> None:
    traces = read_traces(real_data(f"drafting/acceptance_traces/{task}.jsonl"))["ngram"]
    rng = np.random.default_rng(7)
    depths = (1, 2, 5, 9, 15)
    for _ in range(2):
        order = rng.permutation(len(traces))
        middle = len(order) // 2
        half = [traces[i] for i in order[:middle]]
        other = [traces[i] for i in order[middle:]]
        cycles = replay_cycles(half, 3)
        fit = fit_acceptance(cycles.counters())
        spread = fit_acceptance(cycles, "markov_renewal")
        assert fit.kind == "markov_renewal"
        for depth in depths:
            predicted = fit.expected_length(depth).value
            own = replay_depth(half, depth).mean_acceptance_length()
            held_out = replay_depth(other, depth).mean_acceptance_length()
            assert predicted == pytest.approx(own, rel=0.005)
            # Two halves of the requests differ by their own scatter, and by no more with a model.
            error = spread.expected_length(depth).std_error
            assert abs(predicted - held_out) < 0.005 * held_out + 3.0 * np.sqrt(2.0) * error


@pytest.mark.parametrize("task", ["gsm8k", "cnn"])
def test_choice_from_traces_and_windows(real_data: Callable[[str], Path], task: str) -> None:
    found = read_traces(real_data(f"drafting/acceptance_traces/{task}.jsonl"))
    for drafter, kind in (("ngram", "markov_renewal"), ("eagle", "iid")):
        cycles = replay_cycles(found[drafter], 3)
        for data in (cycles, cycles.windows(1000)):
            fit = fit_acceptance(data)
            assert fit.kind == kind
        lengths = [replay_depth(found[drafter], k).mean_acceptance_length() for k in (1, 6, 15)]
        if kind == "markov_renewal":
            likely = fit_acceptance(cycles)
            for depth, length in zip((1, 6, 15), lengths, strict=True):
                assert likely.expected_length(depth).value == pytest.approx(length, rel=0.005)


@settings(max_examples=30)
@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.integers(2, 8))
def test_renewal_is_recovered_from_its_counters(u: float, v: float, depth: int) -> None:
    fit = fit_acceptance(exact(MarkovRenewal(u, v), depth), "markov_renewal")
    assert fit.parameters["u"].value == pytest.approx(u, rel=1e-6)
    assert fit.parameters["v"].value == pytest.approx(v, rel=1e-6)
    for other in (1, 5, 12):
        expected = MarkovRenewal(u, v).expected_length(other)
        assert fit.expected_length(other).value == pytest.approx(expected, rel=1e-6)


@settings(max_examples=25)
@given(st.floats(0.05, 0.95), st.integers(2, 8))
def test_independent_counters_choose_iid(alpha: float, depth: int) -> None:
    fit = fit_acceptance(exact(IID(alpha), depth))
    assert fit.kind == "iid"
    assert fit.parameters["alpha"].value == pytest.approx(alpha)


def test_beta_and_mixture_are_recovered() -> None:
    beta = fit_acceptance(exact(Beta(2.0, 3.0), 6), "beta")
    assert beta.parameters["a"].value == pytest.approx(2.0, rel=1e-2)
    assert beta.parameters["b"].value == pytest.approx(3.0, rel=1e-2)
    truth = Mixture((0.3, 0.7), (IID(0.9), IID(0.3)))
    mixture = fit_acceptance(exact(truth, 6), "mixture")
    np.testing.assert_allclose(mixture.survival(6), truth.survival(6), atol=1e-4)


def test_sure_units_are_found() -> None:
    counters = Counters(1000, 4000, 2900, accepted_per_position=(1000, 1000, 600, 300))
    fit = fit_acceptance(counters, "delayed_geometric")
    assert "2 sure units" in fit.reason
    assert fit.parameters["alpha"].value == pytest.approx(900 / 1600)


@pytest.mark.parametrize("kind", ["beta", "mixture", "per_position", "delayed_geometric"])
def test_survival_is_never_extended(kind: str) -> None:
    fit = fit_acceptance(exact(MarkovRenewal(0.7, 0.3), 4), kind)
    assert not fit.extrapolates
    assert fit.expected_length(4).value > 1.0
    with pytest.raises(NotIdentifiableError, match="does not extend"):
        fit.expected_length(5)
    with pytest.raises(NotIdentifiableError, match="does not extend"):
        fit.survival(5)


def test_hazards_that_fit_neither_model() -> None:
    counters = Counters(1e5, 4e5, 1.95e5, accepted_per_position=(9e4, 8.5e4, 1e4, 1e4))
    fit = fit_acceptance(counters)
    assert fit.kind == "per_position"
    assert "neither" in fit.reason


def test_one_position_does_not_identify_dependence() -> None:
    counters = Counters(1000, 1000, 700, accepted_per_position=(700,))
    fit = fit_acceptance(counters)
    assert fit.kind == "iid"
    assert "not identifiable at K = 1" in fit.reason
    for kind in ("markov_renewal", "beta"):
        with pytest.raises(NotIdentifiableError):
            fit_acceptance(counters, kind)


def test_counters_without_positions() -> None:
    fit = fit_acceptance(Counters(1000, 5000, 2000, depth=5))
    assert fit.kind == "iid"
    assert "assumed" in fit.reason
    assert fit.expected_length(5).value == pytest.approx(3.0)
    with pytest.raises(NotIdentifiableError, match="per_position"):
        fit_acceptance(Counters(1000, 5000, 2000, depth=5), "beta")


def test_maximum_likelihood_from_a_trace_of_varied_depth() -> None:
    rng = np.random.default_rng(11)
    u, v = 0.8, 0.25
    runs, depths = [], []
    for _ in range(60):
        full, accepted = False, []
        depth = rng.integers(1, 6, 500)
        for k in depth:
            start = u * u + (1 - u) * v if full else v
            kept = 0
            while kept < k and rng.random() < (start if kept == 0 else u):
                kept += 1
            full = kept == k
            accepted.append(kept)
        runs.append(accepted)
        depths.append(depth)
    fit = fit_acceptance(CycleTraces.from_requests(runs, depths))
    assert fit.kind == "markov_renewal"
    for name, truth in (("u", u), ("v", v)):
        estimate = fit.parameters[name]
        assert abs(estimate.value - truth) < 4 * estimate.std_error < 0.03


@settings(max_examples=40)
@given(
    st.integers(1, 60),
    st.lists(st.floats(0, 1), min_size=1, max_size=5),
    st.sampled_from(
        ["auto", "iid", "markov_renewal", "per_position", "beta", "mixture", "delayed_geometric"]
    ),
)
def test_nothing_but_our_errors(drafts: int, shares: list[float], model: str) -> None:
    positions = tuple(np.floor(drafts * np.cumprod(shares)).tolist())
    counters = Counters(
        drafts, len(positions) * drafts, sum(positions), accepted_per_position=positions
    )
    try:
        fit = fit_acceptance(counters, model)
    except EnsctlError:
        return
    assert_well_formed(fit)


@settings(max_examples=20)
@given(st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=12))
def test_nothing_but_our_errors_from_traces(runs: list[list[int]]) -> None:
    try:
        fit = fit_acceptance(CycleTraces.from_requests(runs, 3))
    except EnsctlError:
        return
    assert_well_formed(fit)


def assert_well_formed(fit: AcceptanceFit) -> None:
    length = fit.expected_length(1)
    assert 1.0 <= length.low <= length.value <= length.high <= 2.0 + 1e-9
    assert len(str(fit).splitlines()) <= 12
    json.dumps(fit.to_dict())


def test_errors_name_the_argument() -> None:
    counters = exact(IID(0.5), 3)
    with pytest.raises(InvalidInputError, match="model must be one of"):
        fit_acceptance(counters, "best")
    with pytest.raises(InvalidInputError, match="tolerance"):
        fit_acceptance(counters, tolerance=0.0)
    with pytest.raises(InvalidInputError, match="max_depth"):
        fit_acceptance(counters, max_depth=0)


def test_lengths_at_two_depths_give_the_model() -> None:
    for truth in (IID(0.7), MarkovRenewal(0.8, 0.1), MarkovRenewal(0.5, 0.8)):
        lengths = [truth.expected_length(k) for k in (1, 3)]
        model, _ = fit_lengths([1, 3], lengths)
        for depth in (2, 4, 8):
            expected = truth.expected_length(depth)
            assert model.expected_length(depth) == pytest.approx(expected, rel=1e-5)
    assert isinstance(fit_lengths([1], [1.5])[0], IID)
    with pytest.raises(InvalidInputError, match="lengths"):
        fit_lengths([1, 3], [float("nan"), float("nan")])
    with pytest.raises(InvalidInputError, match="> 0"):
        fit_lengths([1, 3], [1.0, -1.0])
