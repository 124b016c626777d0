"""Minimum-norm solutions: energies against references, each inside its own bound."""

import math

import mpmath as mp
import numpy as np
import pytest

from ensctl.vandermonde.factorization import factorize
from ensctl.vandermonde.infinite import infinite_factor, one_minus_product
from ensctl.vandermonde.infinite_energies import log10_infinite_energies
from ensctl.vandermonde.minimum_norm import minimum_norm, worst_target


def from_hex(pairs):
    return np.array([complex(float.fromhex(re), float.fromhex(im)) for re, im in pairs])


def test_energies_of_the_reference_sets_lie_within_their_bounds(reference):
    trusted = 0
    for case in reference("ensembles")["cases"]:
        factors = factorize(from_hex(case["lam"]), from_hex(case["b"]), case["H"])
        for kind, entry in case["min_energy"].items():
            target = np.array([float.fromhex(value) for value in entry["target"]])
            result = minimum_norm(factors, target[:, None])
            norm = mp.ldexp(mp.mpf(float(result.norm[0])), int(result.exponents[0]))
            error = abs(norm / mp.sqrt(mp.mpf(entry["energy"])) - 1)
            assert error <= result.relative_error_bound[0], (case["name"], kind)
            if kind == "random":
                assert result.relative_error_bound[0] <= 1e-11
                assert error <= 2e-14
                trusted += 1
    assert trusted == 17


def test_solution_meets_the_target_and_has_the_stated_norm():
    rng = np.random.default_rng(3)
    lam = rng.uniform(-0.9, 0.9, 6) + 1j * rng.uniform(-0.3, 0.3, 6)
    b, horizon = rng.standard_normal(6), 11
    target = rng.standard_normal((6, 2)) + 1j * rng.standard_normal((6, 2))
    result = minimum_norm(factorize(lam, b, horizon), target)
    u = result.coefficients * 2.0**result.exponents
    reached = (b[:, None] * lam[:, None] ** np.arange(horizon)) @ u
    np.testing.assert_allclose(reached, target, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(u, axis=0), result.norm * 2.0**result.exponents)
    shortest = np.linalg.pinv(b[:, None] * lam[:, None] ** np.arange(horizon)) @ target
    np.testing.assert_allclose(u, shortest, rtol=1e-6, atol=1e-8 * np.abs(shortest).max())


def test_zero_target_costs_nothing():
    result = minimum_norm(factorize(np.array([0.1, 0.5]), np.ones(2), 3), np.zeros((2, 1)))
    assert result.norm[0] == 0.0
    assert result.relative_error_bound[0] == 0.0
    assert result.log10_norm_squared[0] == -math.inf


@pytest.mark.parametrize("size", [2, 8, 20, 30])
def test_worst_target_costs_one_over_sigma_min_squared(size, reference):
    lam = np.linspace(0.1, 0.9, size)
    factors = factorize(lam, np.ones(size), size)
    target = worst_target(
        factors.left, factors.pivots, factors.pivot_exponents, factors.row_order, factors.right
    )
    assert np.isrealobj(target)
    assert np.linalg.norm(target) == pytest.approx(1.0, rel=1e-14)
    result = minimum_norm(factors, target[:, None])
    with mp.workdps(2 * size + 30):
        v = mp.matrix(size, size)
        for i in range(size):
            for j in range(size):
                v[i, j] = mp.mpf(float(lam[i])) ** j
        smallest = min(mp.eigh(v * v.T, eigvals_only=True))
    assert result.log10_norm_squared[0] == pytest.approx(float(-mp.log10(smallest)), abs=1e-11)


def test_infinite_energies_of_thirty_members():
    """max (W_∞^{-1})_ii in 200-digit arithmetic; numpy.linalg.inv loses every digit."""
    lam = np.linspace(0.1, 0.9, 30)
    log10 = log10_infinite_energies(lam, np.ones(30))
    with mp.workdps(200):
        node = [mp.mpf(float(x)) for x in lam]
        reference = []
        for i in range(30):
            blaschke = mp.mpf(1)
            for k in range(30):
                if k != i:
                    blaschke *= (node[i] - node[k]) / (1 - node[i] * node[k])
            reference.append(float(mp.log10((1 - node[i] ** 2) / blaschke**2)))
    np.testing.assert_allclose(log10, reference, rtol=0, atol=1e-13)


def test_infinite_factor_reproduces_the_gramian():
    rng = np.random.default_rng(9)
    lam = 0.95 * np.sqrt(rng.random(7)) * np.exp(2j * np.pi * rng.random(7))
    b = rng.standard_normal(7)
    factor = infinite_factor(lam, b)
    scaled = factor.left * (factor.pivots * 2.0**factor.pivot_exponents)
    gramian = b[:, None] * b / (1 - lam[:, None] * lam.conj())
    rows = factor.row_order
    np.testing.assert_allclose(scaled @ scaled.conj().T, gramian[np.ix_(rows, rows)], rtol=1e-12)
    assert np.abs(factor.left).max() <= 1 + 1e-12


def test_one_minus_product_keeps_its_digits_next_to_the_unit_circle():
    x = np.array([1 - 2.0**-50, 0.6 + 0.8j, 1 - 2.0**-40 + 2.0**-30 * 1j])
    got = one_minus_product(x, x)
    for value, z in zip(got, x.astype(complex), strict=True):
        with mp.workdps(60):
            reference = complex(1 - mp.mpc(z) * mp.conj(mp.mpc(z)))
        assert value == pytest.approx(reference, rel=1e-15)
