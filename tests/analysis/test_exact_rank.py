"""Ranks, dependences and null spaces of gain rows, against rational elimination."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.analysis.exact_rank import dependent_rows, independent_rows, left_null_space
from ensctl.analysis.groups import controllable_rank, group_structure

_SMALL = st.integers(-3, 3).map(lambda k: k / 4)


def _matrices(complex_entries: bool) -> st.SearchStrategy[np.ndarray]:
    entry = st.builds(complex, _SMALL, _SMALL) if complex_entries else _SMALL
    shape = st.tuples(st.integers(1, 5), st.integers(1, 3))
    return shape.flatmap(
        lambda s: st.lists(entry, min_size=s[0] * s[1], max_size=s[0] * s[1]).map(
            lambda values: np.array(values).reshape(s)
        )
    )


def _rank_by_elimination(matrix: np.ndarray) -> int:
    """Gaussian elimination on pairs of fractions, written as plainly as possible."""
    rows = [[(Fraction(complex(z).real), Fraction(complex(z).imag)) for z in r] for r in matrix]
    rank = 0
    for column in range(matrix.shape[1]):
        pivot = next((k for k in range(rank, len(rows)) if any(rows[k][column])), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for k in range(rank + 1, len(rows)):
            factor = _divide(rows[k][column], rows[rank][column])
            rows[k] = [
                (a[0] - p[0], a[1] - p[1])
                for a, b in zip(rows[k], rows[rank], strict=True)
                for p in [_times(factor, b)]
            ]
        rank += 1
    return rank


def _times(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _divide(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    size = b[0] ** 2 + b[1] ** 2
    return _times(a, (b[0] / size, -b[1] / size))


@given(_matrices(False) | _matrices(True))
def test_rank_equals_plain_elimination(gains: np.ndarray) -> None:
    assert independent_rows(gains).size == _rank_by_elimination(gains)


@given(_matrices(False) | _matrices(True))
def test_null_space_has_the_exact_dimension_and_annihilates_the_rows(gains: np.ndarray) -> None:
    basis = left_null_space(gains)
    assert basis.shape == (gains.shape[0] - _rank_by_elimination(gains), gains.shape[0])
    assert np.abs(basis @ gains).max(initial=0.0) < 1e-14
    assert np.linalg.matrix_rank(basis) == basis.shape[0]


@given(_matrices(False) | _matrices(True))
def test_leaving_out_a_dependent_row_keeps_the_rank(gains: np.ndarray) -> None:
    rank = _rank_by_elimination(gains)
    dependent = dependent_rows(gains)
    for row in range(gains.shape[0]):
        kept = _rank_by_elimination(np.delete(gains, row, axis=0))
        assert (kept == rank) == (row in dependent)


def test_no_tolerance_is_involved() -> None:
    nearly = np.array([[1.0, 1.0], [1.0, np.nextafter(1.0, 2.0)]])
    assert independent_rows(nearly).size == 2
    assert independent_rows(np.array([[1e-300, 3e-300], [1e300, 3e300]])).size == 2
    assert independent_rows(np.array([[2.0**-1000, 3 * 2.0**-1000], [1.0, 3.0]])).size == 1


def test_directions_survive_extreme_gains() -> None:
    basis = left_null_space(np.array([[1e-300], [1e300]]))
    assert np.all(np.isfinite(basis)) and np.abs(basis).max() == 1.0
    basis = left_null_space(np.array([[1e-300, 1e-300], [1e300, 1e300]]))
    assert np.all(np.isfinite(basis)) and np.abs(basis).max() == 1.0


def test_a_member_with_gains_of_its_own_is_not_locked() -> None:
    gains = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    structure = group_structure(np.full(4, 0.3), gains)
    (group,) = structure.locked
    assert group.members == (0, 1) and group.rank == 1 and structure.dead == (3,)
    assert structure.rank == 2
    np.testing.assert_array_equal(group.directions, [[1.0, -0.5]])


def test_negative_zero_equals_zero() -> None:
    structure = group_structure(np.array([0.0, -0.0]), np.ones((2, 1)))
    assert structure.locked[0].members == (0, 1)
    structure = group_structure(np.array([complex(0.5, 0.0), complex(0.5, -0.0)]), np.ones((2, 1)))
    assert structure.rank == 1


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_many_equal_members(channels: int) -> None:
    gains = np.random.default_rng(7).normal(size=(500, channels))
    structure = group_structure(np.full(500, 0.25), gains)
    assert structure.rank == channels == controllable_rank(np.full(500, 0.25), gains)
    assert structure.locked[0].directions.shape == (500 - channels, 500)
