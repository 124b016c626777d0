"""Floors, polling, horizons and trackers against dense algebra and brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ensctl import scheduling
from ensctl.errors import InfeasibleError, InvalidInputError, NotIdentifiableError


@pytest.mark.parametrize(
    ("drifts", "floors"),
    [
        ([0.5, 0.9, 0.99], [1.22723753, 0.7258777546, 0.1760782952]),
        ([0.9, 0.99, 0.999], [0.5380427213, 0.2086246926, 0.05564389875]),
    ],
)
def test_floor_reference(drifts: list[float], floors: list[float]) -> None:
    found = scheduling.identifiability_floor(drifts, np.ones(3))
    np.testing.assert_allclose(found.floors, floors, rtol=5e-9)


def test_floor_is_the_limit_of_least_squares() -> None:
    drifts, mix, sigma = np.array([0.3, 0.6, 0.85]), np.array([0.2, 0.5, 0.3]), 0.7
    totals = mix * drifts ** np.arange(400)[:, None]
    covariance = sigma**2 * np.linalg.inv(totals.T @ totals)
    found = scheduling.identifiability_floor(drifts, mix, sigma)
    np.testing.assert_allclose(found.floors, np.sqrt(np.diag(covariance)), rtol=1e-9)
    assert "never known better" in str(found)
    assert found.to_dict()["schema"] == 1


def test_floor_names_what_totals_do_not_show() -> None:
    with pytest.raises(NotIdentifiableError, match="drafters 0 and 2 drift alike"):
        scheduling.identifiability_floor([0.5, 0.9, 0.5], [1, 1, 1])
    with pytest.raises(NotIdentifiableError, match="gives drafter 1 no weight"):
        scheduling.identifiability_floor([0.5, 0.9], [1, 0])
    with pytest.raises(InvalidInputError, match="drifts must be"):
        scheduling.identifiability_floor([0.5, 1.0], [1, 1])


def test_polling_beats_mixing_for_independent_streams() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        mix, variances = rng.dirichlet(np.ones(4)), rng.uniform(0.1, 2, 4)
        assert scheduling.polling_or_mixing(mix, variances, float(mix @ variances)).polling
    # A mix whose members' noise cancels is the exception.
    assert not scheduling.polling_or_mixing([0.5, 0.5], [1.0, 1.0], 0.1).polling
    with pytest.raises(InvalidInputError, match="sum to one"):
        scheduling.polling_or_mixing([0.5, 0.6], [1, 1], 1)


def _by_brute_force(gains: np.ndarray, cost: float, current: int | None) -> float:
    best = -np.inf
    for arms in product(range(gains.shape[1]), repeat=gains.shape[0]):
        before = arms[0] if current is None else current
        switches = sum(a != b for a, b in zip((before, *arms), arms, strict=False))
        value = sum(gains[h, arm] for h, arm in enumerate(arms)) - cost * switches
        best = max(best, value)
    return best


@pytest.mark.parametrize("current", [None, 0, 2])
@pytest.mark.parametrize("cost", [0.0, 0.3, 5.0])
def test_horizon_is_the_best_of_all_schedules(cost: float, current: int | None) -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        gains = rng.standard_normal((5, 3))
        found = scheduling.schedule_horizon(gains, cost, current=current)
        assert found.value == pytest.approx(_by_brute_force(gains, cost, current), abs=1e-12)
        loose = [scheduling.CoupledBudget(np.ones(3), 5.0)]
        program = scheduling.schedule_horizon(gains, cost, current=current, budgets=loose)
        assert program.value == pytest.approx(found.value, abs=1e-9)
        assert not program.fractional


def test_budget_couples_the_cycles() -> None:
    gains = np.tile([0.0, 1.0], (10, 1))
    budget = scheduling.CoupledBudget([0.0, 1.0], 4.0, "speculation")
    found = scheduling.schedule_horizon(gains, 0.1, budgets=[budget])
    assert found.shares[:, 1].sum() == pytest.approx(4.0)
    # The same share in every cycle keeps the budget without a single switch.
    assert found.value == pytest.approx(4.0)
    assert found.fractional
    with pytest.raises(InfeasibleError, match="speculation"):
        scheduling.schedule_horizon(
            gains, 0.1, budgets=[scheduling.CoupledBudget([1.0, 1.0], 4.0, "speculation")]
        )


@pytest.mark.parametrize(
    ("gains", "options", "match"),
    [
        ([1.0], {}, r"gains must be \(H, n\)"),
        ([[1.0, np.nan]], {}, "gains must be finite"),
        ([[1.0, 2.0]], {"switch_cost": -1}, "switch_cost"),
        ([[1.0, 2.0]], {"current": 2}, "current must be < 2"),
        ([[1.0, 2.0]], {"budgets": [3]}, r"budgets\[0\]"),
        ([[1.0, 2.0]], {"budgets": [scheduling.CoupledBudget([1.0], 1)]}, "use of budget"),
    ],
)
def test_wrong_horizons_are_named(gains: object, options: dict[str, object], match: str) -> None:
    arguments = {"switch_cost": 0.1, **options}
    with pytest.raises(InvalidInputError, match=match):
        scheduling.schedule_horizon(gains, **arguments)  # type: ignore[arg-type]


def test_tracker_agrees_with_a_dense_filter() -> None:
    rng = np.random.default_rng(3)
    drifts, means = np.array([0.5, 0.9, 0.99]), np.array([2.0, 3.0, 1.5])
    spreads, noise = np.array([0.2, 0.4, 0.3]), np.array([1.0, 2.0, 0.5])
    tracker = scheduling.DriftTracker(drifts, means, spreads, noise)
    state = tracker.init()
    mean, covariance = means.copy(), np.diag(spreads**2)
    for t in range(200):
        index, seen = t % 3, float(rng.normal(2, 1))
        row = np.eye(3)[index]
        gain = covariance @ row / (row @ covariance @ row + noise[index] / 8)
        mean = mean + gain * (seen - row @ mean)
        covariance = (np.eye(3) - np.outer(gain, row)) @ covariance
        mean = means + drifts * (mean - means)
        covariance = np.diag(drifts) @ covariance @ np.diag(drifts)
        covariance += np.diag((1 - drifts**2) * spreads**2)
        state = tracker.step(state, index, seen, streams=8)
    np.testing.assert_allclose(state.estimates, mean, rtol=1e-12)
    np.testing.assert_allclose(state.variances, np.diag(covariance), rtol=1e-12)
    assert state.step == 200


def test_tracker_forgets_what_it_does_not_see() -> None:
    tracker = scheduling.DriftTracker([0.9], 2.0, 0.5, 1.0)
    state = tracker.step(tracker.init(), 0, 3.0, streams=100)
    for _ in range(300):
        state = tracker.step(state, 0, float("nan"))
    assert state.estimates[0] == pytest.approx(2.0, abs=1e-9)
    assert state.variances[0] == pytest.approx(0.25, rel=1e-9)


def test_tracker_refuses_what_does_not_belong() -> None:
    tracker = scheduling.DriftTracker([0.9, 0.5], 2.0, 0.5, 1.0)
    other = scheduling.DriftTracker([0.9], 2.0, 0.5, 1.0).init()
    with pytest.raises(InvalidInputError, match="state must be"):
        tracker.step(other, 0, 2.0)
    with pytest.raises(InvalidInputError, match="drafter must be < 2"):
        tracker.step(tracker.init(), 2, 2.0)
    with pytest.raises(InvalidInputError, match="quality must be finite"):
        tracker.step(tracker.init(), 0, float("inf"))
    with pytest.raises(InvalidInputError, match="noise must be > 0"):
        scheduling.DriftTracker([0.9], 2.0, 0.5, 0.0)
