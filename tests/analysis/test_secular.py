"""Smallest eigenvalues of rank-one and rank-m updates against dense factorisations."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from ensctl.analysis.block_secular import smallest_eigenvalues_of_block
from ensctl.analysis.secular import smallest_eigenvalues


def _by_many_digits(diagonal: np.ndarray, b: np.ndarray) -> float:
    with mpmath.workdps(80):
        vector = mpmath.matrix([mpmath.mpf(x) for x in b])
        matrix = mpmath.diag([mpmath.mpf(x) for x in diagonal]) + vector * vector.T
        return float(min(mpmath.eigsy(matrix, eigvals_only=True)))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_rank_one_updates_over_many_decades(size: int) -> None:
    rng = np.random.default_rng(size)
    for case in range(12):
        diagonal = 10.0 ** rng.uniform(-12, 1, size)
        if case % 3 == 0 and size > 1:
            diagonal[1] = diagonal[0] * (1 + 1e-15)
        # Powers of two keep b² exact.
        b = 2.0 ** rng.integers(-26, 7, size)
        ours = smallest_eigenvalues(diagonal[None, :], b**2)[0]
        assert abs(ours / _by_many_digits(diagonal, b) - 1) < 1e-14


def test_ties_and_zeros() -> None:
    weights = np.ones(3)
    # Two equal d: a combination of both is orthogonal to b.
    assert smallest_eigenvalues(np.array([[0.25, 0.25, 1.0]]), weights)[0] == 0.25
    assert smallest_eigenvalues(np.zeros((1, 3)), weights)[0] == 0.0
    only = smallest_eigenvalues(np.array([[0.0, 1.0]]), np.array([1.0, 1.0]))[0]
    # The roots of μ² − 3μ + 1.
    assert abs(only - (3 - np.sqrt(5)) / 2) < 1e-15


def test_a_dominant_weight_pushes_the_eigenvalue_to_its_limit() -> None:
    # The eigenvalue stays below d_2 and tends to it as b_1 → ∞.
    ours = smallest_eigenvalues(np.array([[0.0, 1.0]]), np.array([1e40, 1e-10]))[0]
    assert abs(ours - 1.0) < 1e-15


@pytest.mark.parametrize("channels", [1, 2, 3])
@pytest.mark.parametrize("complex_gains", [False, True])
def test_rank_m_updates_against_dense_singular_values(channels: int, complex_gains: bool) -> None:
    rng = np.random.default_rng(channels)
    for size in range(1, 12):
        gains = rng.normal(size=(size, channels)) * 10.0 ** rng.uniform(-3, 1, (size, 1))
        if complex_gains:
            gains = gains + 1j * rng.normal(size=(size, channels))
        diagonals = 10.0 ** rng.uniform(-12, 1, (20, size))
        ours = np.sqrt(smallest_eigenvalues_of_block(diagonals, gains))
        for root, diagonal in zip(ours, diagonals, strict=True):
            pencil = np.hstack([np.diag(np.sqrt(diagonal)), gains])
            dense = np.linalg.svd(pencil, compute_uv=False)[-1]
            assert abs(root - dense) <= 1e-14 * (np.linalg.norm(gains, 2) + 4.0)


def test_one_channel_agrees_with_itself() -> None:
    rng = np.random.default_rng(0)
    diagonals, b = rng.uniform(0, 1, (50, 20)), rng.normal(size=20)
    np.testing.assert_allclose(
        smallest_eigenvalues_of_block(diagonals, b[:, None]),
        smallest_eigenvalues(diagonals, b**2),
        rtol=1e-12,
    )
