"""Rank of the H-step matrix for every H, against exact rational ranks of the full matrix."""

from __future__ import annotations

import random

import numpy as np
import pytest
from flint import fmpq, fmpq_mat, fmpz
from hypothesis import given
from hypothesis import strategies as st

from ensctl.analysis.groups import controllable_rank
from ensctl.analysis.horizon_ranks import _indices_modulo, _product, _random_prime, horizon_ranks


def exact_rank(matrix: np.ndarray) -> int:
    """Rank over the (Gaussian) rationals, by elimination of the real embedding."""
    step = 1
    if np.iscomplexobj(matrix):
        matrix = np.block([[matrix.real, -matrix.imag], [matrix.imag, matrix.real]])
        step = 2
    entries = [fmpq(*value.as_integer_ratio()) for value in matrix.ravel().tolist()]
    rows, columns = matrix.shape
    return int(fmpq_mat(rows, columns, entries).rank()) // step


def h_step_matrix(lam: np.ndarray, gains: np.ndarray, horizon: int) -> np.ndarray:
    """[B ΛB … Λ^{H−1}B]; exact for small dyadic data."""
    return np.hstack([lam[:, None] ** k * gains for k in range(horizon)])


_ENTRY = st.integers(-2, 2).map(lambda k: k / 2)


@st.composite
def _ensembles(draw: st.DrawFn, complex_entries: bool) -> tuple[np.ndarray, np.ndarray]:
    size, channels = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    entry = st.builds(complex, _ENTRY, _ENTRY) if complex_entries else _ENTRY
    lam = np.array(draw(st.lists(entry, min_size=size, max_size=size)))
    flat = draw(st.lists(entry, min_size=size * channels, max_size=size * channels))
    return lam, np.array(flat).reshape(size, channels)


@given(_ensembles(False) | _ensembles(True))
def test_every_horizon_equals_the_rational_rank(data: tuple[np.ndarray, np.ndarray]) -> None:
    lam, gains = data
    size = lam.size
    total = controllable_rank(lam, gains)
    assert total == exact_rank(h_step_matrix(lam, gains, size))
    ranks = horizon_ranks(lam, gains, total)
    expected = [0] + [exact_rank(h_step_matrix(lam, gains, h)) for h in range(1, size + 1)]
    assert ranks.tolist() == expected


def test_a_channel_that_repeats_another_adds_nothing() -> None:
    lam = np.linspace(0.1, 0.9, 20)
    b = np.random.default_rng(1).normal(size=20)
    ranks = horizon_ranks(lam, np.column_stack([b, 2 * b, -b]), 20)
    np.testing.assert_array_equal(ranks, np.arange(21))


def test_generic_channels_share_the_work() -> None:
    rng = np.random.default_rng(2)
    ranks = horizon_ranks(rng.uniform(-1, 1, 50), rng.normal(size=(50, 3)), 50)
    np.testing.assert_array_equal(ranks, np.minimum(50, 3 * np.arange(51)))


def test_one_channel_that_hears_few_members() -> None:
    # Channel 0 reaches 3 members only: the indices are 3 and 7.
    gains = np.zeros((10, 2))
    gains[:3, 0] = 1.0
    gains[3:, 1] = 1.0
    ranks = horizon_ranks(np.linspace(0.1, 0.9, 10), gains, 10)
    horizons = np.arange(11)
    np.testing.assert_array_equal(ranks, np.minimum(horizons, 3) + np.minimum(horizons, 7))


def test_modular_rank_never_exceeds_the_true_one() -> None:
    # Modulo 5 these λ coincide, so the rank drops; it must not rise.
    lam, gains = np.array([1.0, 6.0, 11.0]), np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 4.0]])
    assert _indices_modulo(lam, gains, 5).sum() == 2
    assert horizon_ranks(lam, gains, 3)[-1] == 3


@pytest.mark.parametrize("seed", range(3))
def test_products_of_residues_are_right_at_the_end_of_the_range(seed: int) -> None:
    prime = _random_prime(random.Random(seed))
    assert prime % 4 == 1 and 2**49 < prime < 2**50 and fmpz(prime).is_prime()
    rng = np.random.default_rng(seed)
    a = np.concatenate([rng.integers(0, prime, 500), [prime - 1, prime - 1, 0, 1]])
    b = np.concatenate([rng.integers(0, prime, 500), [prime - 1, 1, prime - 1, 1]])
    expected = [int(x) * int(y) % prime for x, y in zip(a, b, strict=True)]
    assert _product(a, b, prime).tolist() == expected
