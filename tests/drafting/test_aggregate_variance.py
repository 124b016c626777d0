"""Averages of correlated estimates against quadratic forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ensctl import drafting
from ensctl.errors import InvalidInputError


@pytest.mark.parametrize("r", [-0.2, 0.0, 0.3, 1.0])
def test_mean_of_exchangeable_estimates_is_the_quadratic_form(r: float) -> None:
    size, sigma = 5, 0.3
    covariance = sigma**2 * (np.full((size, size), r) + (1 - r) * np.eye(size))
    weights = np.full(size, 1 / size)
    expected = math.sqrt(weights @ covariance @ weights)
    assert drafting.mean_standard_deviation(sigma, size, r) == pytest.approx(expected, rel=1e-13)


def test_correlation_leaves_a_floor() -> None:
    assert drafting.mean_standard_deviation(1.0, 10**9, 0.25) == pytest.approx(0.5, rel=1e-8)
    assert drafting.mean_standard_deviation(0.3, 5) / 0.3 == pytest.approx(0.4472, abs=5e-5)


def test_optimal_weights_satisfy_the_stationarity_condition() -> None:
    rng = np.random.default_rng(2)
    factor = rng.standard_normal((6, 6))
    covariance = factor @ factor.T + np.eye(6)
    best = drafting.optimal_weights(covariance)
    assert best.weights.sum() == pytest.approx(1.0, rel=1e-13)
    # Σw is the same in every entry: no exchange of weight lowers the variance.
    np.testing.assert_allclose(covariance @ best.weights, best.std**2, rtol=1e-11)
    assert best.gain >= 1


def test_independent_estimates_are_weighted_by_their_precision() -> None:
    best = drafting.optimal_weights([1.0, 4.0])
    np.testing.assert_allclose(best.weights, [0.8, 0.2], rtol=1e-15)
    assert best.std == pytest.approx(math.sqrt(0.8), rel=1e-15)


@pytest.mark.parametrize(
    ("covariance", "match"),
    [
        ([[1.0, 0.5], [0.2, 1.0]], "symmetric"),
        ([[1.0, 1.0], [1.0, 1.0]], "positive definite"),
        ([1.0, 0.0], "positive definite"),
        ([[1.0, 0.5]], r"must be \(N, N\)"),
    ],
)
def test_wrong_covariances_are_named(covariance: object, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        drafting.optimal_weights(covariance)  # type: ignore[arg-type]


def test_a_correlation_no_group_can_have_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"correlation must be ≥ -0\.25"):
        drafting.mean_standard_deviation(1.0, 5, -0.3)
