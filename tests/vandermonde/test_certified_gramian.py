"""Certified factors: singular values against references and 60-digit SVDs, exact ranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from ensctl.errors import InvalidInputError
from ensctl.vandermonde.certified_gramian import CertifiedFactor, certified_factor
from ensctl.vandermonde.graded_svd import reduce_product, singular_values_of_product


def decoded(pairs: list[list[str]]) -> np.ndarray:
    values = np.array([complex(float.fromhex(re), float.fromhex(im)) for re, im in pairs])
    return values if values.imag.any() else values.real


def sigma(factor: CertifiedFactor) -> list[Any]:
    mantissa, exponent = factor.roots
    product = reduce_product(factor.left, mantissa, exponent, np.eye(factor.rank))
    values = singular_values_of_product(product)
    pairs = zip(values.mantissa, values.exponent, strict=True)
    return [mpmath.mpf(float(m)) * mpmath.mpf(2) ** int(e) for m, e in pairs]


def rows_of(lam: np.ndarray, gains: np.ndarray, horizon: int) -> Any:
    nodes = [mpmath.mpmathify(complex(x)) for x in lam]
    return mpmath.matrix(
        [
            [
                mpmath.mpmathify(complex(b)) * node**k
                for b in np.atleast_1d(row)
                for k in range(horizon)
            ]
            for node, row in zip(nodes, gains, strict=True)
        ]
    )


@pytest.mark.reference
def test_reference_sets(reference: Callable[[str], Any]) -> None:
    cases = reference("ensembles")["cases"]
    assert len(cases) == 17
    for case in cases:
        factor = certified_factor(decoded(case["lam"]), decoded(case["b"]), case["H"])
        for value, text in zip(sigma(factor), case["sigma"], strict=True):
            assert abs(value / mpmath.mpf(text) - 1) < 1e-14, case["name"]


@pytest.mark.parametrize("seed", range(6))
def test_two_channels_against_a_high_precision_svd(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lam = 0.9 + 1e-3 * rng.standard_normal(5)
    gains = rng.standard_normal((5, 2)) * 10.0 ** rng.integers(-6, 6, (5, 1))
    if seed % 2:
        lam = lam * np.exp(0.01j * rng.standard_normal(5))
        gains = gains + 1j * rng.standard_normal((5, 2))
    horizon = int(rng.integers(3, 9))
    factor = certified_factor(lam, gains, horizon)
    with mpmath.workdps(80):
        exact = mpmath.svd(rows_of(lam, gains, horizon), compute_uv=False)
        assert exact[0] / exact[4] > 1e5
        for value, true in zip(sigma(factor), exact, strict=True):
            assert abs(value / true - 1) < 2e-14


@pytest.mark.parametrize(
    ("lam", "channels", "horizon"),
    [
        ([2.0, 0.5, 1.0, -1.0, 0.0, -2.0, -0.5], 1, 7),
        ([2.0, 0.5, 2.0, 0.5, 1.0, 1.0, -1.0], 2, 5),
        ([1 + 1j, 0.5 + 0.5j, 0.5 - 0.5j, 1 - 1j, 1j, -1j], 1, 8),
        ([1j, 1j, -1j, 0.6 + 0.8j, 1.0, 0.0], 2, 4),
        ([0.9, -0.3, 0.9, 0.2 + 0.1j], 2, math.inf),
    ],
)
def test_the_factor_is_the_gramian(lam: list, channels: int, horizon: float) -> None:
    nodes = np.array(lam)
    gains = np.random.default_rng(3).standard_normal((nodes.size, channels))
    factor = certified_factor(nodes, gains, horizon)
    assert factor.rank == nodes.size
    ratio = np.multiply.outer(nodes, nodes.conj())
    if horizon == math.inf:
        sums = 1.0 / (1.0 - ratio)
    else:
        sums = sum(ratio**k for k in range(int(horizon)))
    gramian = ((gains @ gains.T) * sums)[np.ix_(factor.row_order, factor.row_order)]
    pivots = np.ldexp(factor.pivots, factor.pivot_exponents)
    product = factor.left @ np.diag(pivots) @ factor.left.conj().T
    assert np.allclose(product, gramian, rtol=0.0, atol=1e-14 * np.abs(gramian).max())
    assert np.abs(factor.left).max() <= 1.0


def test_every_entry_is_within_its_bound() -> None:
    lam, b, horizon = np.linspace(0.1, 0.9, 12), np.ones(12), 12
    factor = certified_factor(lam, b, horizon)
    with mpmath.workdps(120):
        rows = rows_of(lam, b, horizon)
        rest = rows * rows.H
        for k, at in enumerate(factor.row_order.tolist()):
            pivot = mpmath.mpf(float(factor.pivots[k])) * mpmath.mpf(2) ** int(
                factor.pivot_exponents[k]
            )
            assert abs(pivot / rest[at, at] - 1) <= factor.pivot_error_bound
            column = [rest[i, at] / rest[at, at] for i in range(12)]
            for i, row in enumerate(factor.row_order.tolist()[k:], start=k):
                assert abs(column[row] - float(factor.left[i, k])) <= factor.left_error_bound
            rest = rest - mpmath.matrix(column) * mpmath.matrix(column).H * rest[at, at]


@pytest.mark.parametrize(
    ("lam", "gains", "horizon", "rank"),
    [
        ([0.3, 0.3, 0.9], [1.0, 2.0, 1.0], 5, 2),
        ([0.3, 0.4, 0.9], [1.0, 0.0, 1.0], 5, 2),
        ([0.3, 0.4, 0.9], [1.0, 1.0, 1.0], 2, 2),
        ([0.3, 0.1 + 0.2], [1.0, 1.0], 2, 2),
        ([0.5, 0.5, 0.5], [[1.0, 2.0], [2.0, 4.0], [1.0, 0.0]], 9, 2),
        ([1j, 1j, 1.0], [[1.0, 1j], [1j, -1.0], [1.0, 1.0]], 4, 2),
        ([0.5, 0.25, 0.75], [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], 2, 2),
        ([0.5, 0.5], [0.0, 0.0], 3, 0),
    ],
)
def test_exact_ranks(lam: list, gains: list, horizon: int, rank: int) -> None:
    nodes, weights = np.array(lam), np.array(gains)
    factor = certified_factor(nodes, weights, horizon)
    assert factor.rank == rank
    assert factor.left.shape == (nodes.size, rank)
    assert certified_factor(nodes, weights, horizon, rank=rank).rank == rank
    with mpmath.workdps(60):
        exact = mpmath.svd(rows_of(nodes, weights, horizon), compute_uv=False)
    values = sigma(factor) if rank else []
    for value, true in zip(values, exact[:rank], strict=True):
        assert abs(value / true - 1) < 1e-14
    with pytest.raises(InvalidInputError, match="rank must be the exact rank"):
        certified_factor(nodes, weights, horizon, rank=rank + 1)


def test_magnitudes_beyond_float64() -> None:
    # |λ|^(2H) = 1e60000; the pivots are Σ_k λ1^2k and det² over it.
    factor = certified_factor(np.array([1e30, 2e-300]), np.array([1.0, 1e-200]), 1000)
    log10 = np.log10(factor.pivots) + factor.pivot_exponents * math.log10(2.0)
    assert log10 == pytest.approx([2.0 * 999 * 30, -400.0], abs=1e-9)


@pytest.mark.parametrize(
    ("lam", "gains", "horizon", "message"),
    [
        ([0.5, 0.25], [1.0], 3, "one row per λ"),
        ([], [], 3, "one row per λ"),
        ([0.5, math.nan], [1.0, 1.0], 3, "finite"),
        ([0.5], [math.inf], 3, "finite"),
        ([0.5], [1.0], 0, "horizon must be an integer"),
        ([0.5], [1.0], 2.5, "horizon must be an integer"),
        ([0.5, 1.0], [1.0, 1.0], math.inf, "λ = 1.0 at index 1"),
        # The modulus of this double is above 1 by less than one rounding of |λ|.
        ([0.6 + 0.8j], [1.0], math.inf, "at index 0"),
    ],
)
def test_wrong_calls(lam: list, gains: list, horizon: float, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        certified_factor(np.array(lam), np.array(gains), horizon)


def test_modulus_one_is_decided_exactly() -> None:
    inside = complex(math.nextafter(0.6, 0.0), 0.8)
    assert abs(inside) == 1.0
    gap = 1 - Fraction(inside.real) ** 2 - Fraction(inside.imag) ** 2
    factor = certified_factor(np.array([inside]), np.ones(1), math.inf)
    pivot = Fraction(float(factor.pivots[0])) * 2 ** int(factor.pivot_exponents[0])
    assert abs(pivot * gap - 1) <= factor.pivot_error_bound
