"""Distances to uncontrollability: published values, brute-force grids, certificates."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from ensctl.analysis.distances import eising_distance, nearest_pair, structured_distance
from ensctl.analysis.eising_search import _moved
from ensctl.errors import InvalidInputError


def _tau(lam: ArrayLike, gains: ArrayLike, z: complex) -> float:
    shifted = np.diag(np.asarray(lam) - z)
    pencil = np.hstack([shifted, np.reshape(gains, (len(shifted), -1))])
    return float(np.linalg.svd(pencil, compute_uv=False)[-1])


def _disk(size: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.sqrt(rng.uniform(0, 1, size)) * np.exp(2j * np.pi * rng.uniform(0, 1, size))


@pytest.mark.parametrize(
    ("lam", "b", "value", "at_eigenvalues"),
    [
        ([0.2, 0.8], [1.0, 1.0], 0.3, 0.405),
        ([0.2, 0.8], [0.1, 1.0], 0.0512079, 0.0513),
        ([0.5, 0.51], [1.0, 1.0], 0.005, 0.00707),
        (np.linspace(0.1, 0.9, 5), np.ones(5), 0.1, 0.1083),
        (np.linspace(0.1, 0.9, 10), np.ones(10), 0.0444444, 0.0463),
    ],
)
def test_known_values(
    lam: list[float], b: list[float], value: float, at_eigenvalues: float
) -> None:
    # Eising distances computed with 60 digits, and what a search over eigenvalues would give.
    found = eising_distance(lam, b)
    assert abs(found.value - value) < 5e-8
    assert found.lower_bound <= found.value <= found.lower_bound * (1 + 2e-9)
    assert abs(_tau(lam, b, found.point) - found.value) < 1e-14
    only = min(_tau(lam, b, z) for z in lam)
    assert abs(only / at_eigenvalues - 1) < 0.01 and only > found.value


def test_a_pair_one_ulp_apart() -> None:
    found = eising_distance([0.3, 0.1 + 0.2], [1.0, 1.0])
    gap = (0.1 + 0.2) - 0.3
    assert abs(found.value / (gap / 2) - 1) < 1e-9
    assert found.lower_bound > 0.49 * gap
    with_a_third = eising_distance([0.3 + 0.1j, 0.3 + 0.1j + 2.0**-54, 0.5 + 0.2j], np.ones(3))
    assert abs(with_a_third.value / 2.0**-55 - 1) < 1e-6
    assert with_a_third.lower_bound > with_a_third.value * (1 - 1e-8)


def test_points_of_the_search_keep_what_is_below_an_ulp() -> None:
    hi, lo = np.array([0.3]), np.array([0.0])
    for half in (2.0**-56, 2.0**-80):
        hi, lo = (part[:, 0] for part in _moved(hi, lo, np.array([half]), np.array([1.0])))
    assert hi[0] == 0.3 and lo[0] == 2.0**-56 + 2.0**-80


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("channels", [1, 2])
def test_real_sets_against_a_grid(seed: int, channels: int) -> None:
    rng = np.random.default_rng(seed)
    lam = rng.uniform(-1, 1, 6)
    gains = rng.normal(size=(6, channels)) * 10.0 ** rng.uniform(-2, 0, (6, 1))
    found = eising_distance(lam, gains)
    grid = np.linspace(-1, 1, 4001)
    lowest = min(_tau(lam, gains, z) for z in grid)
    # τ changes by at most |Δz|.
    assert lowest - grid[1] + grid[0] <= found.value <= lowest + 1e-14
    assert abs(_tau(lam, gains, found.point) - found.value) < 1e-13


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("channels", [1, 2])
def test_complex_sets_against_a_grid(seed: int, channels: int) -> None:
    rng = np.random.default_rng(seed)
    lam = _disk(5, seed)
    gains = rng.normal(size=(5, channels)) + 1j * rng.normal(size=(5, channels))
    found = eising_distance(lam, gains)
    axis = np.linspace(-1, 1, 61)
    lowest = min(_tau(lam, gains, complex(x, y)) for x in axis for y in axis)
    assert lowest - np.sqrt(0.5) * (axis[1] - axis[0]) <= found.value <= lowest + 1e-14
    assert abs(_tau(lam, gains, found.point) - found.value) < 1e-13
    assert found.value * (1 - 1e-6) <= found.lower_bound <= found.value


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=6, unique=True),
    st.lists(st.integers(1, 16), min_size=6, max_size=6),
    st.integers(-30, 30),
)
def test_bounds_that_hold_for_every_set(
    places: list[int], strengths: list[int], exponent: int
) -> None:
    lam, b = np.array(places) / 16, np.array(strengths[: len(places)]) / 8
    found = eising_distance(lam, b)
    structured = structured_distance(lam, b)
    assert structured is not None
    assert 0 < found.lower_bound <= found.value <= structured.value * (1 + 1e-12)
    # Distances scale with the pair (exactly, by a power of two).
    scaled = eising_distance(np.ldexp(lam, exponent), np.ldexp(b, exponent))
    assert scaled.value == np.ldexp(found.value, exponent)


@pytest.mark.parametrize(
    ("lam", "gains"),
    [
        ([0.3, 0.3, 0.9], [1.0, 2.0, 3.0]),
        ([0.3, 0.5], [1.0, 0.0]),
        ([0.3, 0.3], [[1.0, 2.0], [2.0, 4.0]]),
    ],
)
def test_unreachable_sets_are_at_distance_zero(lam: list[float], gains: list[float]) -> None:
    found = eising_distance(lam, gains)
    assert found.value == 0.0 == found.lower_bound
    assert _tau(lam, gains, found.point) < 1e-15


def test_several_channels_unlock_equal_members() -> None:
    # [0 I] with z = 0.3 has σ_min = 1, and no z does better.
    found = eising_distance([0.3, 0.3], np.eye(2))
    assert abs(found.value - 1.0) < 1e-14 and found.lower_bound > 1 - 1e-8


def test_one_member() -> None:
    assert eising_distance([0.5], [2.0]).value == 2.0
    assert eising_distance([0.5 + 1j], [2.0]).lower_bound > 2 * (1 - 1e-8)


def test_tiny_gains_do_not_underflow_to_zero() -> None:
    found = eising_distance([0.5, 0.2], [1e-200, 1.0])
    assert 0 < found.value <= 1e-200


def test_fifty_members_are_quick_and_certified() -> None:
    rng = np.random.default_rng(11)
    cases = [
        (np.linspace(0.1, 0.9, 50), np.ones(50), 0.2),
        (rng.uniform(-0.9, 0.9, 50), rng.uniform(0.1, 2, 50), 0.2),
        (_disk(50, 12), np.ones(50), 1.0),
        (np.exp(2j * np.pi * np.arange(50) / 50), np.ones(50), 1.0),
    ]
    eising_distance([0.1j, 0.2], [1, 1])
    for lam, gains, seconds in cases:
        start = time.process_time()
        found = eising_distance(lam, gains)
        # Half a second of slack for a busy machine; measured 5 to 140 ms.
        assert time.process_time() - start < seconds + 0.5
        assert found.lower_bound >= found.value * (1 - 2e-9)


@pytest.mark.slow
def test_a_thousand_members_have_a_valid_lower_bound() -> None:
    equal_gaps = eising_distance(np.linspace(0, 1, 1000), np.ones(1000))
    assert 0.99 * equal_gaps.value < equal_gaps.lower_bound <= equal_gaps.value
    assert abs(equal_gaps.value - 0.5 / 999) < 1e-6
    rng = np.random.default_rng(13)
    found = eising_distance(_disk(1000, 14), rng.normal(size=(1000, 3)))
    assert 0.9 * found.value < found.lower_bound <= found.value


def test_structured_distance_names_the_members() -> None:
    by_gap = structured_distance([0.2, 0.8, 0.85], [1.0, 1.0, 1.0])
    assert by_gap is not None and by_gap.kind == "gap" and by_gap.members == (1, 2)
    assert abs(by_gap.value - 0.025) < 1e-15
    by_gain = structured_distance([0.2, 0.8], [0.1, 1.0])
    assert by_gain is not None and (by_gain.kind, by_gain.members) == ("gain", (0,))
    assert by_gain.value == 0.1
    assert structured_distance([0.2, 0.8], np.eye(2)) is None
    alone = structured_distance([0.2], [-3.0])
    assert alone is not None and alone.value == 3.0


def test_structured_distance_is_attained() -> None:
    lam, b = np.array([0.25, 0.5, 1.0]), np.ones(3)
    found = structured_distance(lam, b)
    assert found is not None
    i, j = found.members
    moved = lam.copy()
    moved[[i, j]] = lam[[i, j]].mean()
    assert np.abs(moved - lam).max() == found.value
    assert eising_distance(moved, b).value == 0.0


@pytest.mark.parametrize("size", [2, 3, 50])
@pytest.mark.parametrize("complex_lam", [False, True])
def test_nearest_pair_against_all_pairs(size: int, complex_lam: bool) -> None:
    lam = _disk(size, size) if complex_lam else np.random.default_rng(size).uniform(-1, 1, size)
    found = nearest_pair(lam)
    gaps = np.abs(lam[:, None] - lam[None, :]) + 10 * np.eye(size)
    assert found is not None
    assert found.members == divmod(int(np.argmin(gaps)), size)
    assert abs(found.gap - gaps.min()) <= 1e-15


def test_nearest_pair_of_repeated_and_single_members() -> None:
    for lam in ([0.3, 0.5, 0.3], [0.3j, 0.5, 0.3j]):
        found = nearest_pair(lam)
        assert found is not None and found.members == (0, 2) and found.gap == 0.0
    assert nearest_pair([0.3]) is None
    many = nearest_pair(np.full(100_000, 0.5 + 0.5j))
    assert many is not None and many.gap == 0.0


@pytest.mark.parametrize(
    ("lam", "gains", "message"),
    [
        ([0.2, 0.5], [1.0], "gains must have one row for each of the 2 λ, got shape .1,."),
        ([], [], "lam must have at least one entry"),
        ([np.nan], [1.0], "lam must be finite"),
        ([0.2], [np.inf], "gains must be finite"),
    ],
)
def test_wrong_arguments_are_named(lam: list[float], gains: list[float], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        eising_distance(lam, gains)
