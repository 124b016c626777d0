"""Double-double powers and the shifted grid against multiprecision."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.vandermonde.doubledouble import normalised, power, two_product, two_sum
from ensctl.vandermonde.factorization import factorize
from ensctl.vandermonde.grid import cauchy_generators

normal = st.floats(-1e100, 1e100, allow_subnormal=False)


@given(a=normal, b=normal)
def test_two_sum_is_exact(a, b):
    s, e = two_sum(np.array([a]), np.array([b]))
    assert Fraction(float(s[0])) + Fraction(float(e[0])) == Fraction(a) + Fraction(b)


@given(a=st.floats(1e-100, 1e100), b=st.floats(1e-100, 1e100))
def test_two_product_is_exact(a, b):
    p, e = two_product(np.array([a]), np.array([b]))
    assert Fraction(float(p[0])) + Fraction(float(e[0])) == Fraction(a) * Fraction(b)


@pytest.mark.parametrize("exponent", [0, 1, 2, 7, 1000, 10**6])
def test_powers_have_a_hundred_bits(exponent):
    bases = np.array([0.3, -0.999999, 1 + 1e-9, 2e200, 1e-310, 0.6 + 0.8j, 3j, 0.0])
    mantissa, binary = power(bases, exponent)
    for k, base in enumerate(bases):
        with mp.workdps(60):
            truth = mp.mpmathify(complex(base)) ** exponent
            got = mp.mpmathify(complex(mantissa.hi[k])) + mp.mpmathify(complex(mantissa.lo[k]))
            got = got * mp.mpf(2) ** int(binary[k])
            assert abs(got - truth) <= abs(truth) * mp.mpf(2) ** -98 * max(exponent, 1)


def test_normalised_is_exact_for_subnormals():
    values = np.array([5e-324, 1e-310 - 3e-320j, 0.0, 1e300])
    mantissa, exponent = normalised(values)
    np.testing.assert_array_equal(np.ldexp(mantissa.real, exponent), values.real)
    np.testing.assert_array_equal(np.ldexp(mantissa.imag, exponent), values.imag)


@pytest.mark.parametrize("horizon", [1, 2, 3, 17, 100])
def test_grid_and_generators(horizon):
    lam = np.exp(2j * np.pi * np.arange(5) / 5)
    generators = cauchy_generators(lam, np.ones(5), horizon)
    with mp.workdps(50):
        for j in (0, horizon // 2, horizon - 1):
            truth = mp.expjpi(2 * (j + mp.mpf(generators.shift)) / horizon)
            got = mp.mpmathify(complex(generators.grid_hi[j])) + mp.mpmathify(
                complex(generators.grid_lo[j])
            )
            assert abs(got - truth) < mp.mpf(2) ** -98


def test_factors_multiply_to_the_transformed_matrix():
    rng = np.random.default_rng(2)
    lam = rng.uniform(-1, 1, 5) + 1j * rng.uniform(-1, 1, 5)
    b, horizon = rng.standard_normal(5), 8
    factors = factorize(lam, b, horizon)
    d = factors.pivots * 2.0**factors.pivot_exponents
    product = (factors.left * d) @ factors.right
    grid = np.exp(2j * np.pi * (np.arange(horizon) + factors.shift) / horizon)
    transform = grid[None, :] ** -np.arange(horizon)[:, None] / np.sqrt(horizon)
    matrix = (b[:, None] * lam[:, None] ** np.arange(horizon)) @ transform
    expected = matrix[np.ix_(factors.row_order, factors.column_order)]
    np.testing.assert_allclose(product, expected, atol=1e-13 * np.abs(expected).max())
    assert np.abs(factors.left).max() <= 1 + 1e-12
    assert np.abs(factors.right).max() <= 1 + 1e-12
