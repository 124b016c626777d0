"""Which theorems apply is decided exactly, what applies holds, and the rest is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.errors import InvalidInputError
from ensctl.serialization import jsonable
from ensctl.vandermonde import bounds
from ensctl.vandermonde.bounds import applicable_bounds
from tests.vandermonde.bound_truth import holds


@st.composite
def _ensembles(draw):
    """Small sets of each kind, with a horizon near N."""
    count = draw(st.integers(1, 5))
    grid = st.integers(-12, 12)
    numbers = draw(st.lists(st.tuples(grid, grid), min_size=count, max_size=count, unique=True))
    x, y = np.array(numbers, dtype=float).T / 8
    kind = draw(st.sampled_from(["real", "non-negative", "symmetric", "plane", "disk", "circle"]))
    lam = {
        "real": x + y / 32,
        "non-negative": np.abs(x + y / 32),
        "symmetric": np.concatenate([-np.abs(x + y / 32), np.abs(x + y / 32)]),
        "plane": x + 1j * y,
        "disk": (x + 1j * y) / 2.5,
        "circle": np.exp(2j * np.pi * (x + y / 32) / 4),
    }[kind]
    lam = np.unique(lam + 0.0)
    signs = draw(st.sampled_from(["ones", "signs", "free", "zero"]))
    b = np.ones(lam.size)
    if signs == "signs":
        b[::2] = -1.0
    elif signs == "free":
        b = np.linspace(1.0, 3.0, lam.size)
    elif signs == "zero":
        b[0] = 0.0
    inside = bool(np.all(np.abs(lam) < 1))
    extra = draw(st.sampled_from([-1, 0, 1, 6, math.inf] if inside else [-1, 0, 1, 6]))
    return lam, b, max(1, lam.size + extra)


@given(_ensembles())
def test_all_applicable_bounds_hold(ensemble):
    lam, b, horizon = ensemble
    for bound in applicable_bounds(lam, b, horizon):
        if np.any(b == 0):
            # What is left says nothing about the smallest singular value except that it is small.
            assert bound.quantity in ("cond_2", "directions")
            continue
        tolerance = float(bound.name.rsplit(" ", 1)[1]) if bound.quantity == "directions" else None
        assert holds(bound, lam, b, horizon, tolerance), bound


def _names(lam, b, horizon):
    return {bound.name for bound in applicable_bounds(lam, b, horizon)}


def test_conditions_are_decided_exactly():
    lam = np.linspace(0.1, 0.9, 6)
    names = _names(lam, 1.0, 6)
    assert {"Beckermann, non-negative nodes", "Gautschi–Inglese"} <= names
    tiny = lam.copy()
    tiny[0] = -5e-324
    assert names - _names(tiny, 1.0, 6) == {"Beckermann, non-negative nodes", "Gautschi–Inglese"}
    assert "Beckermann, real nodes" not in _names(lam + 0j + 5e-324j, 1.0, 6)
    gains = np.ones(6)
    gains[3] = np.nextafter(1.0, 2.0)
    assert not {name for name in _names(lam, gains, 6) if name.startswith("Beckermann, ")} - {
        "Beckermann, any gains"
    }
    # 3 + 4i and 5 have equal moduli; 3 + 4i with one ulp more has not.
    complex_gains = np.array([5, 3 + 4j, 4 - 3j, -5j, 5, -5])
    assert "Beckermann, real nodes" in _names(lam, complex_gains, 6)
    complex_gains[1] += 1j * np.spacing(4.0)
    assert "Beckermann, real nodes" not in _names(lam, complex_gains, 6)


def test_exact_comparison_with_the_circle_uses_the_doubles():
    verdicts = set()
    for x, y in ((0.6, 0.8), (0.28, 0.96), (0.8, 0.6), (1.0, 0.0)):
        inside = Fraction(x) ** 2 + Fraction(y) ** 2 < 1
        verdicts.add(inside)
        names = _names([x + 1j * y, 0.5], 1.0, math.inf)
        assert ("Blaschke products, lower" in names) == inside
    assert verdicts == {True, False}


def test_bounds_that_say_nothing_are_left_out():
    lam = np.exp(2j * np.pi * np.arange(50) / 50)
    found = applicable_bounds(lam, 1.0, 200)
    assert {bound.name for bound in found if bound.quantity == "sigma_min"} == {
        "Gautschi, σ_min from below",
        "Large sieve, lower",
    }
    assert bounds.tightest_cluster(lam, 1.0, 200).value > math.sqrt(200)


def test_repeated_nodes_leave_only_what_stillholds():
    assert _names([0.3, 0.3, 0.9], 1.0, 3) == set()
    many = np.repeat(np.linspace(-1, 1, 60), 2)
    assert {bound.quantity for bound in applicable_bounds(many, 1.0, 120)} == {
        "cond_2",
        "directions",
    }


def test_horizon_decides_which_theorems_apply():
    lam = [0.2, 0.5, 0.8, -0.4]
    quantities = {
        horizon: {bound.quantity for bound in applicable_bounds(lam, 1.0, horizon)}
        for horizon in (2, 4, 9, math.inf)
    }
    assert quantities[2] == set()
    assert quantities[4] == {"inverse_norm_1", "sigma_min", "cond_2"}
    assert quantities[9] == {"sigma_min"}
    assert quantities[math.inf] == {"sigma_min"}


_REFUSALS = [
    (lambda: bounds.gautschi_upper([0.3, 0.3]), "lam and b must have distinct λ"),
    (lambda: bounds.gautschi_lower([0.3, 0.4], [1.0, 0.0]), "non-zero b"),
    (lambda: bounds.gautschi_symmetric([0.3, 0.4]), "symmetric about 0"),
    (lambda: bounds.gautschi_sigma_min_lower([0.3, 0.4], 1.0, 1), "horizon must be at least N = 2"),
    (lambda: bounds.gautschi_inglese([-0.3, 0.4]), "non-negative or symmetric"),
    (lambda: bounds.gautschi_inglese([0.4]), "at least two entries"),
    (lambda: bounds.beckermann_real([1j, 0.4]), "lam must be real"),
    (lambda: bounds.beckermann_real([0.1, 0.4], [1.0, 2.0]), "b must have entries of one modulus"),
    (lambda: bounds.beckermann_nonnegative([-0.1, 0.4]), "real and non-negative"),
    (lambda: bounds.beckermann_row_scaled([0.1, 0.4, 0.5], 1.0, 4), "between 3 and N = 3"),
    (lambda: bounds.beckermann_townsend([0.1], 1.0, 1), "horizon must be at least 2"),
    (lambda: bounds.beckermann_townsend([0.1], 1.0, 5, tolerance=0.0), "tolerance must be > 0"),
    (lambda: bounds.beckermann_townsend_condition([1j], 1.0, 5), "lam must be real"),
    (lambda: bounds.large_sieve_sigma_min([1, 1j], 1.0, 2), "horizon must exceed"),
    (lambda: bounds.large_sieve_sigma_min([0.9, 1j], 1.0, 9), "lie on the unit circle"),
    (lambda: bounds.large_sieve_sigma_max([1, 1], 1.0, 9), "arguments that differ"),
    (lambda: bounds.wrap_gap([0.0, 1.0]), "lam must be non-zero"),
    (lambda: bounds.scaled_roots_of_unity(3, 1.0, math.inf), "radius must be below 1"),
    (lambda: bounds.blaschke_sigma_min_upper([1.0, 0.5]), "inside the unit circle"),
    (lambda: bounds.blaschke_sigma_min_lower([1.2j, 0.5]), "inside the unit circle"),
    (lambda: bounds.cluster_sigma_min([0.1, 0.2], 1.0, 2, [0, 0]), "members must be distinct"),
    (lambda: bounds.cluster_sigma_min([0.1, 0.2], 1.0, 2, [0, 2]), "indices from 0 to 1"),
    (lambda: bounds.equispaced_growth(1), "count must be an integer ≥ 2"),
    (lambda: applicable_bounds([0.1, 1e160], 1.0, 2), r"\|λ\| < 2\^500"),
    (lambda: applicable_bounds([0.1, 0.2], 1.0, 0), "horizon must be an integer ≥ 1"),
]


@pytest.mark.parametrize(("call", "message"), _REFUSALS)
def test_a_theorem_is_refused_when_its_condition_fails(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_a_bound_reads_as_a_sentence_and_travels_as_json():
    bound = bounds.beckermann_nonnegative(np.linspace(0, 1, 600))
    assert str(bound).startswith("κ₂(A) ≥ ")
    assert bound.value == math.inf
    assert bound.log10_value == pytest.approx(2 * 599 * math.log10(1 + math.sqrt(2)), abs=3)
    content = json.loads(json.dumps(jsonable(bound)))
    assert content["log10_value"] == bound.log10_value
    assert "Beckermann" in content["source"]


def test_thousands_of_nodes_and_steps_need_little_memory():
    lam = np.linspace(0, 1, 2000)
    found = {bound.name: bound for bound in applicable_bounds(lam, 1.0, 2000)}
    exact_growth = bounds.equispaced_unit_growth(2000).log10_value - math.log10(2000.0)
    assert found["Gautschi, upper"].log10_value == pytest.approx(exact_growth, abs=1e-3)
