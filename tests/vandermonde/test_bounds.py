"""Every theorem against singular values in high precision: it holds, and is attained where it says.

Each set of nodes is drawn to meet the conditions of the theorem and nothing more.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from ensctl.vandermonde import bounds
from ensctl.vandermonde.inverse_norm import norm_condition
from tests.vandermonde.bound_truth import SLACK, holds, singular_values, truth_of


def _ones(count):
    return np.ones(count)


def _random(seed):
    rng = np.random.default_rng(seed)
    return rng, int(rng.integers(2, 9))


def _random_gains(rng, count):
    return rng.standard_normal(count) * 10.0 ** rng.uniform(-3, 3, count)


def _disk(rng, count, radius=1.0):
    return (
        radius * np.sqrt(rng.uniform(0, 1, count)) * np.exp(2j * np.pi * rng.uniform(0, 1, count))
    )


@pytest.mark.parametrize("seed", range(12))
def test_gautschi_brackets_the_norm_of_the_inverse(seed):
    rng, count = _random(seed)
    lam = 2.0 * rng.standard_normal(count) if seed % 2 else _disk(rng, count, 2.0)
    b = _random_gains(rng, count)
    upper, lower = bounds.gautschi_upper(lam, b), bounds.gautschi_lower(lam, b)
    assert holds(upper, lam, b, count)
    assert holds(lower, lam, b, count)
    assert upper.log10_value - lower.log10_value <= (count - 1) * math.log10(2) + SLACK


@pytest.mark.parametrize(
    "lam",
    [
        np.linspace(0, 1, 12),
        -np.geomspace(0.1, 4, 9),
        # Exact multiples of 3 + 4i, with 0 among them.
        np.arange(7) * (3 + 4j) / 32,
    ],
)
def test_gautschi_is_attained_on_a_ray(lam):
    b = np.linspace(1, 3, lam.size)
    bound = bounds.gautschi_upper(lam, b)
    truth = norm_condition(lam, b).log10_inverse_norm
    assert truth <= bound.log10_value <= truth + SLACK
    assert "attained" in bound.condition


def test_gautschi_is_not_attained_off_a_ray():
    lam = np.array([-0.5, 0.25, 1.0])
    bound = bounds.gautschi_upper(lam)
    assert bound.log10_value > norm_condition(lam).log10_inverse_norm + 0.01
    assert "attained" not in bound.condition


@pytest.mark.parametrize("count", [2, 3, 6, 9])
def test_symmetric_nodes_have_an_exact_inverse_norm(count):
    positive = np.sort(np.random.default_rng(count).uniform(0.1, 3, count // 2))
    middle = [0.0] if count % 2 else []
    lam = np.concatenate([-positive[::-1], middle, positive])
    b = np.random.default_rng(1).uniform(0.5, 2, count)
    bound = bounds.gautschi_symmetric(lam, b)
    assert bound.kind == "equal"
    assert bound.log10_value == pytest.approx(norm_condition(lam, b).log10_inverse_norm, abs=1e-13)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("extra", [0, 1, 7, math.inf])
def test_smallest_singular_value_is_bracketed_for_any_nodes(seed, extra):
    rng, count = _random(seed)
    lam = rng.uniform(-0.9, 0.9, count) if seed % 2 else _disk(rng, count, 0.95)
    b = _random_gains(rng, count)
    horizon = count + extra
    assert holds(bounds.gautschi_sigma_min_lower(lam, b, horizon), lam, b, horizon)
    if extra == 0:
        assert holds(bounds.gautschi_sigma_min_upper(lam, b), lam, b, horizon)
        assert holds(bounds.gautschi_sigma_min_upper(np.abs(lam), b), np.abs(lam), b, horizon)
    if extra != math.inf:
        assert holds(bounds.tightest_cluster(lam, b, horizon), lam, b, horizon)
        members = rng.permutation(count)[: rng.integers(1, count + 1)]
        bound = bounds.cluster_sigma_min(lam, b, horizon, members)
        assert holds(bound, lam, b, horizon)


def test_smallest_singular_value_on_a_ray_is_known_within_a_factor_n():
    lam = np.linspace(0, 1, 40)
    lower = bounds.gautschi_sigma_min_lower(lam, 1.0, 40)
    upper = bounds.gautschi_sigma_min_upper(lam)
    assert 0 < upper.log10_value - lower.log10_value < math.log10(40)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_cluster_bound_shrinks_like_a_power_of_the_width(size):
    def bound(width):
        lam = np.concatenate([0.5 + width * np.arange(size), [0.9, -0.3, 0.1]])
        return bounds.cluster_sigma_min(lam, 1.0, 20, range(size))

    ratio = bound(1e-4).log10_value - bound(1e-6).log10_value
    assert ratio == pytest.approx(2 * (size - 1), abs=1e-3)


def test_tightest_cluster_finds_the_close_members():
    lam = np.array([0.9, 0.5, 0.1, 0.5 + 1e-9, -0.7])
    bound = bounds.tightest_cluster(lam, 1.0, 40)
    assert bound.condition.startswith("members 1 and 3;")
    truth = truth_of(bound, lam, _ones(5), 40)
    assert truth <= bound.log10_value <= truth + 1.0


def test_divided_differences_over_all_nodes_are_near_thetruth_of():
    # H = N: the last row of the inverse, which is not its largest one.
    lam = np.linspace(0, 1, 10)
    bound = bounds.cluster_sigma_min(lam, 1.0, 10, range(10))
    truth = truth_of(bound, lam, _ones(10), 10)
    assert truth <= bound.log10_value <= truth + 1.5


@pytest.mark.parametrize("seed", range(12))
def test_beckermann_and_gautschi_inglese_hold_for_real_nodes(seed):
    rng, count = _random(seed)
    lam = rng.standard_normal(count) * rng.choice([0.5, 1.0, 3.0])
    b = 1e5 * rng.choice([-1.0, 1.0], count)
    positive = np.abs(lam)
    assert holds(bounds.beckermann_real(lam, b), lam, b, count)
    assert holds(bounds.beckermann_nonnegative(positive, b), positive, b, count)
    assert holds(bounds.gautschi_inglese(positive, b), positive, b, count)
    symmetric = np.concatenate([-positive, [0.0], positive])[:: 1 if seed % 2 else -1]
    bound = bounds.gautschi_inglese(symmetric)
    assert bound.value == pytest.approx(2.0 ** (symmetric.size / 2))
    assert holds(bound, symmetric, _ones(symmetric.size), symmetric.size)


def test_beckermann_is_attained_by_the_smallest_sets():
    assert bounds.beckermann_real([-1.0, 1.0]).value == pytest.approx(1.0, rel=1e-12)
    assert bounds.beckermann_nonnegative([0.7]).value == pytest.approx(1.0, rel=1e-12)


# Smallest κ₂ found by optimisation over unrestricted real nodes (b = 1, H = N = 2 … 8).
_OPTIMAL_REAL = [1, 3.146, 5.861, 14.52, 31.30, 76.41, 171.9]
_OPTIMAL_NONNEGATIVE = [2.414, 12.75, 70.58, 394.6, 2229, 12681, 72494]


@pytest.mark.parametrize("count", range(2, 9))
def test_beckermann_lies_below_the_optimal_condition_numbers(count):
    nodes = np.arange(count, dtype=float)
    real, nonnegative = bounds.beckermann_real(nodes), bounds.beckermann_nonnegative(nodes)
    assert real.value <= _OPTIMAL_REAL[count - 2]
    assert nonnegative.value <= _OPTIMAL_NONNEGATIVE[count - 2]
    # They are of the right order, so that a slip in an exponent cannot hide.
    assert real.value >= _OPTIMAL_REAL[count - 2] / 2
    assert nonnegative.value >= _OPTIMAL_NONNEGATIVE[count - 2] / 2


def _spread_over_the_line(count):
    """Real nodes and gains with nearly the smallest κ₂: tangents of equispaced angles.

    The tangent takes the line to the circle, and rows of equal norm take away the large powers.
    """
    lam = np.tan(np.pi * ((np.arange(count) + 0.5) / count - 0.5))
    norm = np.sqrt(np.sum((lam[:, None] ** np.arange(count)) ** 2, axis=1))
    return lam, 1.0 / norm


@pytest.mark.parametrize("count", range(3, 11))
def test_any_gains_condition_bounds_hold_where_gains_help_most(count):
    lam, b = _spread_over_the_line(count)
    for bound in (
        bounds.beckermann_row_scaled(lam, b, count),
        bounds.beckermann_townsend_condition(lam, b, count),
    ):
        assert holds(bound, lam, b, count)
    # These gains do beat the bound for equal gains once N is large enough, so they are needed.
    if count == 10:
        assert truth_of(bound, lam, b, count) < bounds.beckermann_real(lam).log10_value


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("horizon", [3, 5, 8, 30])
def test_any_gains_condition_bounds_hold_at_any_horizon(seed, horizon):
    rng, count = _random(seed)
    lam, b = rng.uniform(-1.2, 1.2, count), _random_gains(rng, count)
    assert holds(bounds.beckermann_townsend_condition(lam, b, horizon), lam, b, horizon)
    if horizon <= count:
        assert holds(bounds.beckermann_row_scaled(lam, b, horizon), lam, b, horizon)


@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-4])
@pytest.mark.parametrize("count", [7, 10, 12])
def test_practical_directions_are_bounded_where_there_are_most(count, tolerance):
    lam, b = _spread_over_the_line(count)
    bound = bounds.beckermann_townsend(lam, b, count, tolerance=tolerance)
    assert holds(bound, lam, b, count, tolerance)


# Directions of 1000 equispaced nodes on [0, 1], H = 10⁴, counted in high precision.
@pytest.mark.parametrize(
    ("tolerance", "counted"), [(1e-6, 24), (1e-10, 37), (1e-16, 56), (1e-30, 97)]
)
def test_practical_directions_of_a_large_population(tolerance, counted):
    bound = bounds.beckermann_townsend(np.linspace(0, 1, 1000), 1.0, 10_000, tolerance=tolerance)
    assert counted <= round(bound.value) <= 8 * counted
    other = bounds.beckermann_townsend(np.linspace(-9, 1, 5000), 2.0, 10_000, tolerance=tolerance)
    assert other.value == bound.value


def _circle(rng, count):
    return np.exp(2j * np.pi * (np.arange(count) + 0.8 * rng.uniform(0, 1, count)) / count)


@pytest.mark.parametrize("seed", range(10))
def test_large_sieve_holds_on_the_circle(seed):
    rng, count = _random(seed)
    lam, b = _circle(rng, count), rng.uniform(0.5, 2, count)
    horizon = int(1 / bounds.wrap_gap(lam)) + int(rng.integers(0, 30))
    assert holds(bounds.large_sieve_sigma_max(lam, b, horizon), lam, b, horizon)
    assert holds(bounds.large_sieve_sigma_min(lam, b, horizon), lam, b, horizon)


def test_large_sieve_is_attained_by_roots_of_unity():
    count = 6
    lam = np.exp(2j * np.pi * np.arange(count) / count)
    lower = bounds.large_sieve_sigma_min(lam, 1.0, 4 * count - 1)
    upper = bounds.large_sieve_sigma_max(lam, 1.0, 4 * count + 1)
    assert lower.log10_value == pytest.approx(
        truth_of(lower, lam, _ones(count), 4 * count - 1), abs=1e-12
    )
    assert upper.log10_value == pytest.approx(
        truth_of(upper, lam, _ones(count), 4 * count + 1), abs=1e-12
    )


def test_large_sieve_is_sharper_than_printed():
    # H − 1/Δ, as printed, would give √3 here, and H + 1 − 1/Δ is the truth, 4.
    lam = np.array([1, 1j, -1, -1j])
    assert bounds.large_sieve_sigma_min(lam, 1.0, 7).value ** 2 == pytest.approx(4.0, rel=1e-12)
    assert singular_values(lam, _ones(4), 7)[-1] == pytest.approx(math.log10(2.0), abs=1e-14)


@pytest.mark.parametrize("factor", [1 - 2.0**-51, 1 + 2.0**-51])
def test_large_sieve_accounts_for_the_distance_from_the_circle(factor):
    lam = factor * np.exp(2j * np.pi * np.arange(4) / 4)
    exact = np.array([1, 1j, -1, -1j])
    lower = bounds.large_sieve_sigma_min(lam, 1.0, 203)
    upper = bounds.large_sieve_sigma_max(lam, 1.0, 201)
    assert holds(lower, lam, _ones(4), 203)
    assert holds(upper, lam, _ones(4), 201)
    assert lower.log10_value < bounds.large_sieve_sigma_min(exact, 1.0, 203).log10_value
    assert upper.log10_value > bounds.large_sieve_sigma_max(exact, 1.0, 201).log10_value


def test_wrap_gap_goes_around_the_circle():
    assert bounds.wrap_gap([2.0]) == 1.0
    angles = np.array([0.01, 0.5, 0.98])
    assert bounds.wrap_gap(3 * np.exp(2j * np.pi * angles)) == pytest.approx(0.03, abs=1e-15)


@pytest.mark.parametrize("radius", [0.3, 0.9, 1.0, 1.7])
@pytest.mark.parametrize(("count", "horizon"), [(5, 5), (5, 15), (5, 3), (5, 13), (1, 4)])
def test_scaled_roots_of_unity_have_an_exact_condition_number(count, radius, horizon):
    lam = radius * np.exp(2j * np.pi * (np.arange(count) / count + 0.1))
    bound = bounds.scaled_roots_of_unity(count, radius, horizon)
    assert bound.log10_value == pytest.approx(
        truth_of(bound, lam, _ones(count), horizon), abs=1e-13
    )


def test_scaled_roots_of_unity_at_infinite_horizon():
    lam = 0.5 * np.exp(2j * np.pi * np.arange(6) / 6)
    bound = bounds.scaled_roots_of_unity(6, 0.5, math.inf)
    assert bound.value == pytest.approx(32.0)
    assert bound.log10_value == pytest.approx(truth_of(bound, lam, _ones(6), math.inf), abs=1e-13)
    assert bounds.scaled_roots_of_unity(2000, 0.1, 2000).log10_value == pytest.approx(1999.0)


@pytest.mark.parametrize("seed", range(10))
def test_blaschke_products_bracket_the_smallest_singular_value(seed):
    rng, count = _random(seed)
    lam = rng.uniform(-1, 1, count) if seed % 2 else _disk(rng, count)
    b = np.sqrt(1 - np.abs(lam) ** 2) if seed % 3 else _random_gains(rng, count)
    lower, upper = bounds.blaschke_sigma_min_lower(lam, b), bounds.blaschke_sigma_min_upper(lam, b)
    assert holds(lower, lam, b, math.inf)
    assert holds(upper, lam, b, math.inf)
    assert holds(upper, lam, b, count + 2)
    assert upper.log10_value - lower.log10_value <= 0.5 * math.log10(count) + SLACK


def test_blaschke_products_of_unit_rows_are_pseudo_hyperbolic_distances():
    lam = np.array([0.5, -0.25, 0.125])
    b = np.sqrt(1 - lam**2)
    products = [math.prod(abs((x - y) / (1 - x * y)) for y in lam if y != x) for x in lam]
    lower, upper = bounds.blaschke_sigma_min_lower(lam, b), bounds.blaschke_sigma_min_upper(lam, b)
    assert upper.value == pytest.approx(min(products), rel=1e-12)
    assert lower.value == pytest.approx(sum(d**-2 for d in products) ** -0.5, rel=1e-12)


@pytest.mark.parametrize(
    ("growth", "nodes", "relative_error"),
    [
        (bounds.equispaced_growth, lambda n: np.linspace(-1, 1, n), 1.5),
        (bounds.equispaced_unit_growth, lambda n: np.linspace(0, 1, n), 0.6),
        (
            bounds.chebyshev_growth,
            lambda n: np.cos(np.pi * (2 * np.arange(n) + 1) / (2 * n)),
            0.3,
        ),
    ],
)
def test_growth_formulas_tend_to_thetruth_of(growth, nodes, relative_error):
    for count in (10, 20, 40, 80, 160):
        truth = norm_condition(nodes(count)).log10_cond
        bound = growth(count)
        assert bound.kind == "asymptotic"
        assert abs(10.0 ** (truth - bound.log10_value) - 1) < relative_error / count
