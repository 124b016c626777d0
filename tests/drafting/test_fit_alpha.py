"""α̂, hazards and their errors from counters, windows and traces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import Counters, CycleTraces, MarkovRenewal, alpha_estimate, hazard_estimates
from ensctl.drafting.fitting.renewal_chain import (
    alpha_inflation,
    cycle_law,
    first_acceptance,
    long_run_covariance,
    restart_acceptance,
)
from ensctl.errors import EnsctlError, InvalidInputError, NotIdentifiableError

PROBABILITY = st.floats(0.02, 0.98)


def window(drafts: float, *positions: float, **more: Any) -> Counters:
    depth = len(positions)
    return Counters(drafts, depth * drafts, sum(positions), accepted_per_position=positions, **more)


def test_alpha_is_accepted_over_tested() -> None:
    estimate = alpha_estimate(window(1000, 750, 540, 360), model="iid")
    assert estimate.value == pytest.approx(1650 / (1650 + 1000 - 360))
    spread = estimate.value * (1 - estimate.value)
    assert estimate.std_error == pytest.approx(math.sqrt(spread / 2290))
    # Ends of Wilson's interval are q standard errors of theirs away.
    for end in (estimate.low, estimate.high):
        deviation = abs(end - estimate.value) / math.sqrt(end * (1 - end) / 2290)
        assert deviation == pytest.approx(1.959964, rel=1e-6)


def test_snapshot_says_which_model_it_assumes() -> None:
    assert "Markov renewal" in alpha_estimate(window(1000, 750, 540, 360)).assumption
    single = alpha_estimate(window(1000, 700))
    assert "not identifiable" in single.assumption
    with pytest.raises(NotIdentifiableError, match="K = 1"):
        alpha_estimate(window(1000, 700), model="markov_renewal")
    with pytest.raises(NotIdentifiableError, match="snapshot"):
        alpha_estimate(window(1000, 700), model="blocks")


@given(PROBABILITY, PROBABILITY, st.integers(1, 8))
def test_restart_is_the_inverse_of_first_acceptance(u: float, v: float, depth: int) -> None:
    first = first_acceptance(u, v, depth)
    assert restart_acceptance(u, first, depth) == pytest.approx(v, rel=1e-9)
    w, full = u * u + (1 - u) * v, first * u ** (depth - 1)
    assert first == pytest.approx((1 - full) * v + full * w, rel=1e-9)


@given(PROBABILITY, PROBABILITY, st.integers(2, 8))
def test_long_run_variance_of_lengths_is_that_of_the_model(u: float, v: float, depth: int) -> None:
    counts = np.arange(depth + 1.0)[None, :]
    ours = long_run_covariance(u, v, depth, counts)[0, 0]
    assert ours == pytest.approx(MarkovRenewal(u, v).long_run_variance(depth), rel=1e-8)


def test_long_run_covariance_is_the_sum_over_lags() -> None:
    u, v, depth = 0.85, 0.2, 4
    w = u * u + (1 - u) * v
    laws = np.array([cycle_law(v, u, depth), cycle_law(w, u, depth)])
    share = first_acceptance(u, v, depth) * u ** (depth - 1)
    functions = np.array([np.arange(5.0), [1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0, 1.0]])
    law = cycle_law(first_acceptance(u, v, depth), u, depth)
    mean = functions @ law
    total = (functions * law) @ functions.T - np.outer(mean, mean)
    # State of the next cycle after X: full or not.
    state = np.zeros((5, 2))
    state[:4, 0], state[4, 1] = 1.0, 1.0
    assert law[-1] == pytest.approx(share)
    moved, transition = (functions * law) @ state, laws @ state
    for _ in range(400):
        lagged = moved @ (laws @ functions.T) - np.outer(mean, mean)
        total = total + lagged + lagged.T
        moved = moved @ transition
    np.testing.assert_allclose(long_run_covariance(u, v, depth, functions), total, rtol=1e-9)


@given(PROBABILITY, st.integers(1, 8))
def test_independent_trials_have_no_inflation(alpha: float, depth: int) -> None:
    assert alpha_inflation(alpha, alpha, depth) == pytest.approx(1.0, abs=1e-9)


def test_windows_use_batch_means() -> None:
    rng = np.random.default_rng(1)
    runs = [window(400, *np.sort(rng.integers(50, 350, 3))[::-1].astype(float)) for _ in range(12)]
    estimate = alpha_estimate(runs)
    assert "batch means over 12 windows" in estimate.assumption
    kept = np.array([run.accepted for run in runs])
    trials = kept + 400 - np.array([(run.accepted_per_position or (0,))[-1] for run in runs])
    share = kept.sum() / trials.sum()
    weights = trials / trials.sum()
    variance = np.sum((kept - share * trials) ** 2) / trials.sum() ** 2
    variance /= (1 - np.sum(weights**2)) * (1 - 1 / 16)
    assert estimate.std_error == pytest.approx(math.sqrt(variance), rel=1e-9)
    assert "Markov renewal" in alpha_estimate(runs[:9]).assumption
    assert "only 9" in alpha_estimate(runs[:9], model="blocks").assumption


def test_windows_that_drafted_nothing_are_left_out() -> None:
    idle = Counters(0, 0, 0, depth=3)
    runs = [window(100, 70, 50, 30), idle]
    assert alpha_estimate(runs, model="iid").value == alpha_estimate(runs[0], model="iid").value
    with pytest.raises(NotIdentifiableError, match="no step drafted"):
        alpha_estimate(idle)


@pytest.mark.parametrize(("kept", "value"), [(0.0, 0.0), (50.0, 1.0)])
def test_ends_have_an_interval(kept: float, value: float) -> None:
    estimate = alpha_estimate(window(50, kept, kept, kept))
    assert estimate.value == value
    assert estimate.high - estimate.low > 0.01
    assert 0 < estimate.std_error < 0.1


def test_counters_without_positions_give_alpha_by_the_length() -> None:
    alpha, depth = 0.7, 5
    accepted = 1e4 * sum(alpha**j for j in range(1, depth + 1))
    estimate = alpha_estimate(Counters(1e4, depth * 1e4, accepted, depth=depth))
    assert estimate.value == pytest.approx(alpha, abs=1e-9)
    assert "no positions" in estimate.assumption
    with_positions = alpha_estimate(
        window(1e4, *(1e4 * alpha**j for j in range(1, depth + 1))), model="iid"
    )
    # The mean length holds nearly all there is to know about α.
    assert 1.0 <= estimate.std_error / with_positions.std_error < 1.1
    windows = [Counters(1e3, 5e3, 2e3 + 40 * i, depth=5) for i in range(12)]
    assert "batch means over 12 windows" in alpha_estimate(windows).assumption


def test_what_counters_do_not_tell_is_an_error() -> None:
    with pytest.raises(NotIdentifiableError, match="give K"):
        alpha_estimate(Counters(100, 300, 200))
    varied = Counters(100, 250, 150, accepted_per_position=(80, 50, 20))
    with pytest.raises(NotIdentifiableError, match="depth varied"):
        alpha_estimate(varied)
    with pytest.raises(NotIdentifiableError, match="per_position"):
        hazard_estimates(Counters(100, 300, 200, depth=3))
    with pytest.raises(InvalidInputError, match="one model"):
        alpha_estimate([window(10, 5, model="a"), window(10, 5, model="b")])
    for data in (None, 3, "log", {"accepted": 1}, [1, 2], []):
        with pytest.raises(InvalidInputError, match="data must"):
            alpha_estimate(data)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="model must"):
        alpha_estimate(window(10, 5), model="best")
    with pytest.raises(InvalidInputError, match="level must"):
        alpha_estimate(window(10, 5), level=1.0)


def test_a_few_short_drafts_count_as_full() -> None:
    counters = Counters(1000, 2995, 1650, accepted_per_position=(750, 540, 360))
    assert "counted as full" in alpha_estimate(counters).method


def test_greenwood_for_varied_depth() -> None:
    tables = {3: {0: 20, 1: 10, 2: 6, 3: 14}, 1: {0: 9, 1: 21}}
    counters = Counters(80, 180, 85, depth=3, histogram_by_depth=tables)
    found = hazard_estimates(counters)
    np.testing.assert_array_equal(found.tested, [80, 30, 20])
    np.testing.assert_array_equal(found.kept, [51, 20, 14])
    hazards = np.array([51 / 80, 20 / 30, 14 / 20])
    assert [h.value for h in found.hazards] == pytest.approx(hazards.tolist())
    deaths, at_risk = np.array([29, 10, 6]), np.array([80, 30, 20])
    greenwood = np.cumprod(hazards) ** 2 * np.cumsum(deaths / (at_risk * (at_risk - deaths)))
    errors = [s.std_error for s in found.survival]
    assert errors == pytest.approx(np.sqrt(greenwood).tolist(), rel=1e-9)
    assert found.depth is None
    assert "K varied" in str(found)
    assert len(str(found).splitlines()) <= 12
    alpha = alpha_estimate(counters)
    assert alpha.value == pytest.approx(85 / (29 + 10 + 6 + 85))
    assert "depth varied" in alpha.assumption


def test_at_one_depth_kaplan_meier_is_the_share() -> None:
    found = hazard_estimates(window(1000, 750, 540, 360), model="iid")
    for survival, share in zip(found.survival, (0.75, 0.54, 0.36), strict=True):
        assert survival.value == pytest.approx(share)
        assert survival.std_error == pytest.approx(math.sqrt(share * (1 - share) / 1000))
    assert found.to_dict()["kind"] == "hazard_estimates"


def test_positions_never_tested_have_no_hazard() -> None:
    assert len(hazard_estimates(window(100, 40, 0, 0)).hazards) == 2


@given(
    st.integers(1, 200),
    st.lists(st.floats(0, 1), min_size=1, max_size=6),
    st.sampled_from(["auto", "iid", "markov_renewal", "blocks"]),
)
def test_nothing_but_our_errors(drafts: int, shares: list[float], model: str) -> None:
    positions = np.floor(drafts * np.cumprod(shares)).tolist()
    data = window(drafts, *positions)
    for function in (alpha_estimate, hazard_estimates):
        try:
            result = function(data, model=model)
        except EnsctlError:
            continue
        assert str(result)


def test_methods_of_counters_lead_here() -> None:
    counters = window(1000, 750, 540, 360)
    assert counters.alpha().value == alpha_estimate(counters).value
    assert counters.hazards().hazards == hazard_estimates(counters).hazards
    assert counters.fit("iid").kind == "iid"


def test_one_long_request_is_cut_into_stretches() -> None:
    rng = np.random.default_rng(4)
    run = MarkovRenewal(0.9, 0.2).sample(20_000, 4, rng)
    estimate = alpha_estimate(CycleTraces.from_requests([run], 4))
    assert "stretches" in estimate.assumption
    renewal = alpha_estimate(CycleTraces.from_requests([run], 4).counters())
    assert estimate.std_error == pytest.approx(renewal.std_error, rel=0.3)
