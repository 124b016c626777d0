"""The float64 kernel against high-precision references, beside what numpy.linalg.svd gives."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.vandermonde.singular_values import (
    SingularValues,
    singular_values,
    singular_values_of_channels,
)


def from_hex(pairs):
    values = np.array([complex(float.fromhex(re), float.fromhex(im)) for re, im in pairs])
    return values if np.any(values.imag) else values.real


def exact(sigma: SingularValues) -> list:
    pairs = zip(sigma.mantissa, sigma.exponent, strict=True)
    return [mp.ldexp(mp.mpf(float(m)), int(e)) for m, e in pairs]


def largest_relative_error(sigma: SingularValues, reference: list) -> float:
    assert sigma.rank == len(reference)
    with mp.workdps(60):
        return float(
            max(
                (abs(a / mp.mpf(b) - 1) for a, b in zip(exact(sigma), reference, strict=True)),
                default=0,
            )
        )


def reference_singular_values(lam, gains, horizon, digits=400) -> list:
    """Eigenvalues of A A* in ``digits``-digit arithmetic (A A* squares κ: twice the digits)."""
    gains = np.asarray(gains).reshape(len(lam), -1)
    with mp.workdps(digits):
        columns = horizon * gains.shape[1]
        a = mp.matrix(len(lam), columns)
        for i, node in enumerate(lam):
            for channel in range(gains.shape[1]):
                entry = mp.mpmathify(complex(gains[i, channel]))
                for j in range(horizon):
                    a[i, channel * horizon + j] = entry
                    entry *= mp.mpmathify(complex(node))
        if len(lam) > columns:
            a = a.T
        eigenvalues = mp.eigh(a * a.H, eigvals_only=True)
        return sorted((mp.sqrt(abs(value)) for value in eigenvalues), reverse=True)


def case_names():
    return [
        "linspace(0.1,0.9,5)",
        "linspace(0.1,0.9,10)",
        "linspace(0.1,0.9,20)",
        "linspace(0.1,0.9,30)",
        "linspace(0,1,25)",
        "linspace(-0.9,0.9,20) H=60",
        "chebyshev(24)*0.95",
        "roots of unity 16",
        "0.5*roots of unity 20",
        "random disk 20 H=40",
        "random disk 20 wild gains",
        "one ulp pair",
        "gain 1e-17",
        "thermal time constants 12 H=48",
        "oscillators zoh 8 pairs H=64",
        "unstable mix H=30",
        "cluster 0.9 + 1e-6 k (6)",
    ]


@pytest.mark.parametrize("name", case_names())
def test_every_singular_value_of_the_reference_sets(name, reference):
    case = next(c for c in reference("ensembles")["cases"] if c["name"] == name)
    lam, b = from_hex(case["lam"]), from_hex(case["b"])

    sigma = singular_values(lam, b, case["H"])

    error = largest_relative_error(sigma, case["sigma"])
    assert error <= 1e-14
    assert error <= sigma.relative_error_bound <= 1e-10
    assert sigma.log10_cond == pytest.approx(float(mp.log10(mp.mpf(case["cond"]))), rel=1e-14)

    matrix = b[:, None] * lam[:, None] ** np.arange(case["H"])
    dense = np.linalg.svd(matrix, compute_uv=False)
    with mp.workdps(60):
        dense_error = float(
            max(
                abs(mp.mpf(float(d)) / mp.mpf(s) - 1)
                for d, s in zip(dense, case["sigma"], strict=True)
            )
        )
    # What is gained: a dense SVD loses κ·ε unless κ comes from the row scaling alone.
    if sigma.log10_cond > 6 and np.ptp(np.abs(b)) == 0:
        assert dense_error > 1e3 * error


def test_names_cover_the_reference_file(reference):
    assert [case["name"] for case in reference("ensembles")["cases"]] == case_names()


def test_issac_97_challenge():
    """κ2 of the 256 × 256 Hilbert matrix is κ2(A)² for Gauss–Legendre nodes, b = √weights.

    Source: ISSAC'97 Systems Challenge, problem 1; 1.7659543e389 recomputed in high precision.
    """
    nodes, weights = np.polynomial.legendre.leggauss(256)
    sigma = singular_values((nodes + 1) / 2, np.sqrt(weights / 2), 256)
    log10 = 2 * sigma.log10_cond
    assert math.floor(log10) == 389
    assert 10 ** (log10 - 389) == pytest.approx(1.7659543, rel=3e-8)


def test_condition_numbers_of_the_published_two_norm_tables(reference):
    rows = reference("published_vandermonde")["rows"]
    checked = 0
    for row in rows:
        if row["norm"] != "2":
            continue
        lam, b, squared = published_set(row)
        if lam is None:
            continue
        sigma = singular_values(lam, b, row["H"])
        if row["quantity"] == "-log sigma_min":
            got, rel = -sigma.log10[-1] * math.log(10), 2e-8
            want = row["value_recomputed"]
        else:
            got, rel = (2 if squared else 1) * sigma.log10_cond, 3e-9
            want = float(mp.log10(mp.mpf(row["value_recomputed"])))
        assert float(got) == pytest.approx(float(want), rel=rel, abs=3e-9), row["nodes"]
        checked += 1
    assert checked >= 50


def published_set(row):
    n, nodes = row["N"], row["nodes"]
    if nodes == "linspace(-1,1,n)":
        return np.linspace(-1, 1, n), np.ones(n), False
    if nodes.startswith("(0:99)/99"):
        return np.arange(n) / 99, np.ones(n), False
    if "Gauss-Legendre" in nodes and n <= 16:
        x, w = np.polynomial.legendre.leggauss(n)
        return (x + 1) / 2, np.sqrt(w / 2), True
    if nodes.startswith("r*exp"):
        radius = float(nodes.split("r=")[1])
        return radius * np.exp(2j * np.pi * np.arange(n) / n), np.ones(n), False
    if nodes.startswith("exp(2 pi i k/"):
        count = int(nodes.split("k/")[1].split(")")[0])
        return np.exp(2j * np.pi * np.arange(n) / count), np.ones(n), False
    return None, None, False


KINDS = ("real", "disk", "circle", "cluster", "magnitudes", "gains", "ulp", "near grid")


def random_set(kind, size, horizon, rng):
    b = np.ones(size)
    if kind == "real":
        lam = rng.uniform(-1.2, 1.2, size)
    elif kind == "disk":
        lam = np.sqrt(rng.random(size)) * np.exp(2j * np.pi * rng.random(size))
    elif kind == "circle":
        lam = np.exp(2j * np.pi * rng.random(size))
    elif kind == "cluster":
        lam = rng.uniform(-1, 1) + 10.0 ** -rng.integers(1, 13) * rng.standard_normal(size)
    elif kind == "magnitudes":
        lam = rng.standard_normal(size) * 10.0 ** rng.integers(-6, 7, size)
    elif kind == "gains":
        lam = rng.uniform(-1, 1, size) + 1j * rng.uniform(-1, 1, size)
        b = 10.0 ** rng.uniform(-20, 20, size) * np.exp(2j * np.pi * rng.random(size))
    elif kind == "ulp":
        lam = rng.uniform(-1, 1, size)
        for i in range(1, size):
            if rng.random() < 0.5:
                lam[i] = np.nextafter(lam[i - 1], 2)
    else:
        turns = rng.integers(0, horizon, size) / horizon
        turns = turns + 10.0 ** -rng.integers(3, 15, size) * rng.standard_normal(size)
        radius = 1 + 10.0 ** -rng.integers(8, 16) * rng.standard_normal(size)
        lam = radius * np.exp(2j * np.pi * turns)
    return lam, b


@settings(max_examples=200, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    size=st.integers(1, 6),
    horizon=st.integers(1, 14),
    seed=st.integers(0, 2**32 - 1),
)
def test_random_sets_stay_within_their_own_bound(kind, size, horizon, seed):
    """κ up to about 1e100; the bound that comes with the values holds for every one of them."""
    lam, b = random_set(kind, size, horizon, np.random.default_rng(seed))
    if len(set(lam.tolist())) < size:
        return
    sigma = singular_values(lam, b, horizon)
    error = largest_relative_error(sigma, reference_singular_values(lam, b, horizon))
    assert error <= 2e-14
    assert error <= sigma.relative_error_bound


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e120])
def test_extreme_nodes(scale):
    lam = scale * np.array([1.0, -2.0, 3.5])
    sigma = singular_values(lam, np.ones(3), 3)
    error = largest_relative_error(
        sigma, reference_singular_values(lam, np.ones(3), 3, digits=2600)
    )
    assert error <= sigma.relative_error_bound <= 1e-12


def test_growth_beyond_float64_is_carried_by_exponents():
    lam = np.array([0.5, 3.0, -40.0])
    sigma = singular_values(lam, np.ones(3), 400)
    reference = reference_singular_values(lam, np.ones(3), 400, digits=1500)
    assert largest_relative_error(sigma, reference) <= sigma.relative_error_bound
    assert sigma.values[0] == math.inf
    assert sigma.log10[0] == pytest.approx(399 * math.log10(40.0), rel=1e-3)


def test_equal_nodes_are_one_node_with_the_norm_of_their_gains():
    lam, b = np.array([0.3, 0.3, 0.9, 0.3]), np.array([1.0, 2.0, 1.0, -2.0])
    sigma = singular_values(lam, b, 6)
    merged = singular_values(np.array([0.3, 0.9]), np.array([3.0, 1.0]), 6)
    assert sigma.count == 4
    assert sigma.rank == 2
    np.testing.assert_allclose(sigma.values[:2], merged.values, rtol=1e-14)
    assert list(sigma.values[2:]) == [0.0, 0.0]
    assert sigma.log10_cond == math.inf
    assert sigma.log10_cond_of_range == pytest.approx(merged.log10_cond, rel=1e-14)


def test_zero_gains_and_signed_zeros():
    sigma = singular_values(np.array([0.0, -0.0, 0.5]), np.array([1.0, 1.0, 0.0]), 3)
    assert sigma.rank == 1
    np.testing.assert_allclose(sigma.values, [math.sqrt(2.0), 0.0, 0.0], rtol=1e-15)
    nothing = singular_values(np.array([0.1, 0.2]), np.zeros(2), 3)
    assert nothing.rank == 0
    assert list(nothing.values) == [0.0, 0.0]


def test_more_members_than_steps():
    lam = np.linspace(-0.9, 0.9, 12)
    sigma = singular_values(lam, np.ones(12), 4)
    assert sigma.count == sigma.rank == 4
    dense = np.linalg.svd(np.vander(lam, 4), compute_uv=False)
    np.testing.assert_allclose(sigma.values, dense, rtol=1e-12)


def test_infinite_horizon_is_half_a_hilbert_matrix():
    """λ_i = (3−2i)/(2i+1), b_i = 2/(2i+1) has W_∞ = ½ Hilbert(N); rounding λ changes κ by ε κ."""
    i = np.arange(1, 6)
    sigma = singular_values((3 - 2 * i) / (2 * i + 1), 2 / (2 * i + 1), math.inf)
    assert 2 * sigma.log10_cond == pytest.approx(math.log10(476607.25024256081), rel=1e-11)


@pytest.mark.parametrize("complex_set", [False, True])
def test_infinite_horizon_against_high_precision(complex_set):
    rng = np.random.default_rng(11)
    lam = rng.uniform(-0.999, 0.999, 6)
    if complex_set:
        lam = lam * np.exp(2j * np.pi * rng.random(6))
    b = rng.standard_normal(6)
    sigma = singular_values(lam, b, math.inf)
    with mp.workdps(200):
        node = [mp.mpmathify(complex(x)) for x in lam]
        w = mp.matrix(6, 6)
        for i in range(6):
            for j in range(6):
                product = mp.mpf(float(b[i])) * mp.mpf(float(b[j]))
                w[i, j] = product / (1 - node[i] * mp.conj(node[j]))
        reference = sorted((mp.sqrt(x) for x in mp.eigh(w, eigvals_only=True)), reverse=True)
    assert largest_relative_error(sigma, reference) <= min(1e-14, sigma.relative_error_bound)


@pytest.mark.parametrize("complex_set", [False, True])
def test_several_channels(complex_set):
    rng = np.random.default_rng(5)
    lam, gains = rng.uniform(-1, 1, 6), rng.standard_normal((6, 2))
    lam[3] = lam[2]
    if complex_set:
        lam = lam * np.exp(0.5j)
    sigma = singular_values_of_channels(lam, gains, 5, 6)
    reference = reference_singular_values(lam, gains, 5)
    assert largest_relative_error(sigma, reference) <= min(1e-13, sigma.relative_error_bound)


def test_thousand_nodes_on_the_unit_interval():
    """κ = 10^900.26 (400-digit arithmetic, given in the project's theory notes)."""
    sigma = singular_values(np.linspace(0, 1, 1000), np.ones(1000), 1000)
    assert sigma.log10_cond == pytest.approx(900.2556, abs=5e-5)
    assert sigma.rank == 1000


@pytest.mark.parametrize("circle", [True, False])
def test_flat_spectrum_of_order_above_the_dense_limit(circle):
    """Roots of unity have σ = √N each; jittered ones stay within their proven interval."""
    n = 100
    turns = np.arange(n) / n + (0 if circle else 0.1 / n) * np.sin(np.arange(n))
    sigma = singular_values(np.exp(2j * np.pi * turns), np.ones(n), 4 * n)
    if circle:
        np.testing.assert_allclose(sigma.values, math.sqrt(4 * n), rtol=1e-13)
    else:
        gap = np.diff(turns).min()
        assert sigma.values[-1] ** 2 >= 4 * n - 1 / gap
        assert sigma.values[0] ** 2 <= 4 * n - 1 + 1 / gap
