"""Histograms of accepted counts from random bits have the law of independent cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ensctl.drafting import IID, Beta, MarkovRenewal, PerPosition
from ensctl.errors import InvalidInputError
from ensctl.simulation import cycle_histogram
from ensctl.simulation.monte_carlo_histogram import _from_bits

_CASES = [
    (IID(0.7), 5),
    (IID(0.5), 4),
    (IID(0.02), 12),
    (IID(0.999), 40),
    (Beta(0.4, 0.7), 8),
    (PerPosition([0.3, 1.0, 0.0, 0.5]), 4),
]


@pytest.mark.parametrize(("model", "depth"), _CASES)
@pytest.mark.parametrize("method", ["random bits", "multinomial"])
def test_chi_square_against_the_model(model: Any, depth: int, method: str) -> None:
    from scipy.special import chdtrc

    number = 4_000_000
    found = cycle_histogram(model, depth, number, seed=7, method=method)
    assert found.cycles == number and found.depth == depth
    expected = number * model.pmf(depth)
    large = expected > 10
    statistic = float(np.sum((found.counts[large] - expected[large]) ** 2 / expected[large]))
    assert chdtrc(large.sum() - 1, statistic) > 1e-3
    assert np.all(found.counts[expected == 0] == 0)


def test_thresholds_that_share_a_cell_are_told_apart() -> None:
    """All of S lies within one cell of 1/65536, so every count comes from the divided cell."""
    survival = np.array([1.0, 1.5e-5, 1.0e-5, 2.0e-6])
    counts = sum(_from_bits(survival, 2_000_000, np.random.default_rng(seed)) for seed in range(20))
    expected = -np.diff(np.append(survival, 0.0)) * 40_000_000
    assert np.all(np.abs(counts - expected)[1:] < 4 * np.sqrt(expected[1:]))


def test_very_deep_cycles_take_no_longer_than_their_depth() -> None:
    found = cycle_histogram(0.9999, 100_000, 1_000_000, seed=3)
    mean = found.mean_length("accepted")
    exact = IID(0.9999).expected_length(100_000, convention="accepted")
    assert abs(mean.value - exact) < 4 * mean.std_error


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_certain_outcomes(alpha: float) -> None:
    found = cycle_histogram(alpha, 3, 100_001, seed=0)
    assert found.counts[3 if alpha else 0] == 100_001
    assert found.mean_length().std_error == 0.0


def test_numbers_that_are_no_multiple_of_the_chunk() -> None:
    for number in (1, 3, 32_767, 32_769, 100_003):
        assert cycle_histogram(0.6, 4, number, seed=1).cycles == number
    assert cycle_histogram(0.6, 0, 5, seed=1).counts.tolist() == [5]


def test_mean_lengths_cover_the_closed_forms() -> None:
    found = cycle_histogram(0.7, 4, 10_000_000, seed=2)
    for convention, exact in (("committed", 2.533), ("accepted", 1.7731), ("with_bonus", 2.7731)):
        mean = found.mean_length(convention)
        assert abs(mean.value - exact) < 3 * mean.std_error
    np.testing.assert_allclose(found.survival(), 0.7 ** np.arange(5), atol=1e-3)
    assert "random bits" in str(found)
    assert found.to_dict()["method"] == "random bits"


def test_refusals() -> None:
    with pytest.raises(InvalidInputError, match="simulate_drafting"):
        cycle_histogram(MarkovRenewal(0.8, 0.4), 4, 10)
    with pytest.raises(InvalidInputError, match="method"):
        cycle_histogram(0.5, 4, 10, method="fast")
    with pytest.raises(InvalidInputError, match="cycles"):
        cycle_histogram(0.5, 4, 0)
