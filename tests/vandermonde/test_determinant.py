"""The determinant against the product formula in high precision, and its exceptional cases."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.errors import InvalidInputError
from ensctl.vandermonde.determinant import LogDeterminant, log_determinant

_EPS = 2.0**-52


def _exact(lam, b):
    nodes = [mpmath.mpmathify(complex(z)) for z in lam]
    product = mpmath.fprod(mpmath.mpmathify(complex(z)) for z in b)
    for i, first in enumerate(nodes):
        product *= mpmath.fprod(second - first for second in nodes[i + 1 :])
    return product


def _relative_error(det: LogDeterminant, truth) -> float:
    found = mpmath.mpmathify(complex(det.phase)) * mpmath.mpf(det.mantissa)
    return float(abs(mpmath.ldexp(1, det.exponent) * found / truth - 1))


@pytest.mark.parametrize("seed", range(24))
def test_every_digit_of_random_determinants_is_right(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 60))
    lam = rng.standard_normal(size) * np.exp(rng.integers(0, 60) * rng.standard_normal(size))
    b = rng.standard_normal(size) * np.exp(60.0 * rng.standard_normal(size))
    if seed % 2:
        lam = lam * np.exp(1j * rng.uniform(0.0, 1e-3, size))
    if seed % 3 == 0:
        b = b * np.exp(1j * rng.uniform(0.0, 6.0, size))
    det = log_determinant(lam, b)
    with mpmath.workdps(80):
        truth = _exact(lam, b)
        log_error = abs(mpmath.log(abs(truth)) - det.log_abs)
        log10_error = abs(mpmath.log10(abs(truth)) - det.log10_abs)
        assert _relative_error(det, truth) <= 2 * _EPS
    assert log_error <= 2 * np.spacing(abs(det.log_abs)) + _EPS
    assert log10_error <= 2 * np.spacing(abs(det.log10_abs)) + _EPS
    assert abs(abs(det.phase) - 1.0) <= 2 * _EPS
    assert isinstance(det.phase, complex) == (seed % 2 == 1 or seed % 3 == 0)


def test_nodes_one_ulp_apart_lose_no_digit():
    lam = [0.3, 0.1 + 0.2, 0.9, np.nextafter(0.9, 1.0)]
    with mpmath.workdps(80):
        truth = _exact(lam, [1.0] * 4)
        assert _relative_error(log_determinant(lam), truth) <= 2 * _EPS


def test_integer_nodes_give_the_product_of_factorials():
    # det of nodes 1 … N is Π_{k<N} k!.
    size = 2000
    det = log_determinant(np.arange(1.0, size + 1.0))
    truth = math.fsum(math.lgamma(k + 1.0) for k in range(size))
    assert det.phase == 1.0
    assert det.log_abs == pytest.approx(truth, rel=1e-14)
    assert det.value == math.inf


def test_roots_of_unity_give_the_determinant_of_the_fourier_matrix():
    size = 16
    det = log_determinant(np.exp(2j * np.pi * np.arange(size) / size))
    assert det.log_abs == pytest.approx(size / 2 * math.log(size), rel=1e-14)


def test_two_thousand_complex_nodes_do_not_overflow():
    rng = np.random.default_rng(0)
    nodes = rng.uniform(-1, 1, 2000) + 1j * rng.uniform(-1, 1, 2000)
    det = log_determinant(nodes)
    gaps = [np.log(np.abs(nodes[k + 1 :] - nodes[k])) for k in range(1999)]
    assert det.log_abs == pytest.approx(math.fsum(np.concatenate(gaps)), rel=1e-13)


@pytest.mark.parametrize(
    ("lam", "b"),
    [([0.3, 0.3, 0.9], 1.0), ([0.0, -0.0], 1.0), ([0.1, 0.2], [1.0, 0.0]), ([1j, 2.0, 1j], 1.0)],
)
def test_singular_matrices_have_no_logarithm(lam, b):
    det = log_determinant(lam, b)
    assert (det.log_abs, det.log10_abs, det.phase, det.value) == (-math.inf, -math.inf, 0.0, 0.0)


def test_values_outside_the_float_range_are_zero_or_infinite():
    assert log_determinant([1e308, -1.7e308]).value == -math.inf
    assert log_determinant([1e308, -1.7e308]).log10_abs == pytest.approx(math.log10(2.7) + 308)
    assert log_determinant([1e308j, -1e308j]).value == complex(0.0, -math.inf)
    assert log_determinant([0.0, 5e-324, 1e-323]).value == 0.0


@given(st.integers(2, 7), st.integers(0, 10**6))
def test_swapping_two_nodes_changes_the_sign(size, seed):
    rng = np.random.default_rng(seed)
    nodes = rng.permutation(np.linspace(-1, 1, size))
    swapped = nodes.copy()
    swapped[[0, -1]] = swapped[[-1, 0]]
    det, other = log_determinant(nodes), log_determinant(swapped)
    assert other.phase == -det.phase
    assert other.log_abs == det.log_abs


@pytest.mark.parametrize(
    ("lam", "b", "message"),
    [
        ([0.1, math.nan], 1.0, "lam must be finite"),
        ([], 1.0, "lam must have at least one entry"),
        ([[0.1, 0.2]], 1.0, "lam must be one-dimensional"),
        ([0.1, 0.2], [1.0, 2.0, 3.0], "b must have 2 entries"),
    ],
)
def test_wrong_arguments_are_named(lam, b, message):
    with pytest.raises(InvalidInputError, match=message):
        log_determinant(lam, b)
