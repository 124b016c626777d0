"""Norms of the inverse against inversion in high precision, and closed forms."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from ensctl.errors import InvalidInputError
from ensctl.vandermonde.inverse_norm import norm_condition


def _norms(lam, b, order):
    """‖A‖, ‖A^{-1}‖ by inversion in the working precision."""
    size = len(lam)
    rows = [
        [mpmath.mpmathify(complex(gain)) * mpmath.mpmathify(complex(z)) ** k for k in range(size)]
        for z, gain in zip(lam, b, strict=True)
    ]
    matrix = mpmath.matrix(rows)
    kind = 1 if order == 1 else mpmath.inf
    return mpmath.mnorm(matrix, kind), mpmath.mnorm(matrix**-1, kind)


def _node_sets():
    rng = np.random.default_rng(7)
    yield "positive", rng.uniform(0, 1, 9), np.ones(9)
    yield "mixed signs, gains", rng.standard_normal(9), rng.standard_normal(9)
    yield "symmetric", np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0]), np.ones(7)
    yield "circle", np.exp(2j * np.pi * rng.uniform(0, 1, 8)), np.ones(8)
    yield (
        "plane, complex gains",
        rng.standard_normal(8) + 1j * rng.standard_normal(8),
        rng.standard_normal(8) * np.exp(1j * rng.uniform(0, 6, 8)),
    )
    yield "one ulp apart", np.array([0.3, 0.1 + 0.2, -0.7]), np.array([1.0, 1e-200, 1e200])


@pytest.mark.parametrize("order", [1, math.inf])
@pytest.mark.parametrize(("name", "lam", "b"), list(_node_sets()))
def test_norms_agree_with_inversion_in_high_precision(name, lam, b, order):
    found = norm_condition(lam, b, order=order)
    with mpmath.workdps(700):
        norm, inverse = _norms(lam, b, order)
        cond = float(norm * inverse)
        logs = [float(mpmath.log10(x)) for x in (norm, inverse, norm * inverse)]
    assert found.cond == pytest.approx(cond, rel=3e-16)
    assert [found.log10_norm, found.log10_inverse_norm, found.log10_cond] == pytest.approx(
        logs, rel=3e-16, abs=1e-16
    )


def test_roots_of_unity_reach_the_smallest_condition_numbers():
    # Exact nodes: the inverse of the 4 × 4 Fourier matrix has entries of modulus 1/4.
    for order in (1, math.inf):
        assert norm_condition([1, 1j, -1, -1j], order=order).cond == 4.0


def test_the_two_norms_of_the_same_matrix_differ():
    lam = np.linspace(-1, 1, 10)
    assert norm_condition(lam).cond != norm_condition(lam, order=math.inf).cond


def test_a_common_factor_of_the_gains_changes_nothing():
    lam = np.linspace(-0.9, 1, 12)
    scaled = norm_condition(lam, 2.0**600)
    assert scaled.cond == norm_condition(lam).cond
    assert scaled.log10_norm == pytest.approx(600 * math.log10(2) + math.log10(12), rel=1e-15)


@pytest.mark.parametrize("order", [1, math.inf])
def test_singular_matrices_have_infinite_condition(order):
    for lam, b in (([0.3, 0.3, 0.9], 1.0), ([0.1, 0.2], [1.0, 0.0])):
        found = norm_condition(lam, b, order=order)
        assert (found.log10_inverse_norm, found.log10_cond, found.cond) == (math.inf,) * 3
        assert math.isfinite(found.log10_norm)
    assert norm_condition([0.1, 0.2], 0.0, order=order).log10_norm == -math.inf


def test_numbers_beyond_float64_are_logarithms():
    found = norm_condition(np.linspace(0, 1, 400))
    assert found.cond == math.inf
    # κ₁ ~ √2/(12π)·8^N for these nodes, here within 0.2 %.
    expected = math.log10(math.sqrt(2) / (12 * math.pi)) + 400 * math.log10(8.0)
    assert found.log10_cond == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, 0.2], 1.0, 2), "order must be 1 or math.inf, got 2"),
        (([0.1, math.inf], 1.0, 1), "lam must be finite"),
        (([0.1, 0.2], [1.0], 1), "b must have 2 entries"),
    ],
)
def test_wrong_norm_arguments_are_named(arguments, message):
    lam, b, order = arguments
    with pytest.raises(InvalidInputError, match=message):
        norm_condition(lam, b, order=order)
