"""All singular values to full relative accuracy, against a dense SVD and multiprecision."""

import math
import time

import mpmath as mp
import numpy as np
import pytest

from ensctl.vandermonde.singular_values import singular_values


def node_sets(order):
    rng = np.random.default_rng(0)
    disk = np.sqrt(rng.random(order)) * np.exp(2j * np.pi * rng.random(order))
    return {
        "real, linspace(-0.9, 0.9)": np.linspace(-0.9, 0.9, order),
        "real, linspace(0.1, 0.9)": np.linspace(0.1, 0.9, order),
        "disk, uniform": disk,
        "disk, radius 0.9": 0.9 * disk,
    }


@pytest.mark.parametrize("kind", list(node_sets(1)))
def test_against_numpy_svd(kind, ratio_table, timed, sized):
    order = sized(200, smoke=20)
    lam, gain = node_sets(order)[kind], np.ones(order)
    matrix = lam[:, None] ** np.arange(order)
    ours = timed(lambda: singular_values(lam, gain, order), repeat=9)
    obvious = timed(lambda: np.linalg.svd(matrix, compute_uv=False), repeat=9)
    ratio_table.add(f"all σ, {kind}, N = H = {order}, vs numpy svd", ours, obvious, at_most=40.0)
    sigma = singular_values(lam, gain, order)
    assert sigma.rank == order
    assert sigma.relative_error_bound < 1e-8


def test_against_multiprecision(ratio_table, timed, sized):
    """mpmath needs 2 log10 κ + 16 digits for the eigenvalues of V V^T."""
    order = sized(100, smoke=12)
    lam, gain = np.linspace(0.1, 0.9, order), np.ones(order)
    ours = timed(lambda: singular_values(lam, gain, order))
    sigma = singular_values(lam, gain, order)
    start = time.perf_counter()
    with mp.workdps(math.ceil(2 * sigma.log10_cond) + 16):
        nodes = [mp.mpf(float(x)) for x in lam]
        matrix = mp.matrix([[x**j for j in range(order)] for x in nodes])
        smallest = mp.sqrt(min(mp.eigsy(matrix * matrix.T, eigvals_only=True)))
        log10 = float(mp.log10(smallest))
    obvious = time.perf_counter() - start
    ratio_table.add(f"all σ, real, N = H = {order}, vs mpmath", ours, obvious, at_most=0.01)
    assert sigma.log10[-1] == pytest.approx(log10, abs=1e-12)


def test_thousand_members(ratio_table, timed, sized):
    order = sized(1000, smoke=60)
    lam, gain = np.linspace(0.0, 1.0, order), np.ones(order)
    ours = timed(lambda: singular_values(lam, gain, order), repeat=1)
    matrix = lam[:, None] ** np.arange(order)
    obvious = timed(lambda: np.linalg.svd(matrix, compute_uv=False), repeat=1)
    ratio_table.add(f"all σ, [0, 1], N = H = {order}, vs numpy svd", ours, obvious)
    assert singular_values(lam, gain, order).rank == order
