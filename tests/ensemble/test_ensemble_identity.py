"""Equality, hashing, copies, and closure under conjugation: exact, without a tolerance."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.ensemble.ensemble import Ensemble

_LAM = [0.2, 0.5 + 0.1j, 0.8]


def test_equal_content_is_equal_and_hashes_alike() -> None:
    one = Ensemble(_LAM, [1, 2, 3], [4, 5, 6], 7, dt=2, names=["a", "b", "c"])
    other = Ensemble(
        np.array(_LAM), (1.0, 2.0, 3.0), [4, 5, 6], [[7]], dt=2.0, names=["a", "b", "c"]
    )
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other}) == 1


@pytest.mark.parametrize(
    "other",
    [
        Ensemble([0.2, 0.5 + 0.1j, np.nextafter(0.8, 1)]),
        Ensemble([0.5 + 0.1j, 0.2, 0.8]),
        Ensemble(_LAM, 2.0),
        Ensemble(_LAM, [[1.0], [1.0], [1.0]]),
        Ensemble(_LAM, c=1.0),
        Ensemble(_LAM, d=1.0),
        Ensemble(_LAM, dt=2.0),
        Ensemble(_LAM, names=["", "", ""]),
        Ensemble([0.2, 0.5 + 0.1j]),
    ],
)
def test_any_difference_makes_them_unequal(other: Ensemble) -> None:
    assert Ensemble(_LAM) != other
    assert hash(Ensemble(_LAM)) != hash(other)


def test_signed_zeros_are_equal_and_hash_alike() -> None:
    plus, minus = Ensemble([0.0, 0.0 + 1j], d=0.0), Ensemble([-0.0, complex(-0.0, 1)], d=-0.0)
    assert plus == minus
    assert hash(plus) == hash(minus)


def test_other_types_are_unequal() -> None:
    assert Ensemble([0.5]) != [0.5]
    assert Ensemble([0.5]) != 0.5


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_copies_are_equal_and_read_only(copied: object) -> None:
    ens = Ensemble(_LAM, [[1], [2j], [3]], [4, 5, 6], [[7]], dt=2, names=["a", "b", "c"])
    hash(ens)
    twin = copied(ens)  # type: ignore[operator]
    assert twin == ens
    assert hash(twin) == hash(ens)
    assert not any(values.flags.writeable for values in (twin.lam, twin.b, twin.c, twin.d))


def test_pickle_carries_no_hash() -> None:
    # Hashes of strings differ between processes.
    ens = Ensemble([0.2], names=["a"])
    before = pickle.dumps(ens)
    hash(ens)
    assert pickle.dumps(ens) == before


@pytest.mark.parametrize(
    ("lam", "b", "closed"),
    [
        ([0.2, 0.5], [1, 2], True),
        ([0.2, 0.5], [1j, 1], False),
        ([0.3 + 0.4j, 0.3 - 0.4j], [1, 1], True),
        ([0.3 + 0.4j, 0.3 - 0.4j], [1, 2], False),
        ([0.3 + 0.4j, 0.3 - 0.4j], [1 + 2j, 1 - 2j], True),
        ([0.3 + 0.4j, 0.3 - 0.4j], [1 + 2j, 1 + 2j], False),
        ([0.3 + 0.4j, 0.3 - 0.4j, 0.3 + 0.4j], [1, 1, 1], False),
        ([0.3 + 0.4j, 0.3 - 0.4j, 0.3 + 0.4j, 0.3 - 0.4j], [1, 2, 2, 1], True),
        ([0.3 + 0.4j, np.nextafter(0.3, 1) - 0.4j], [1, 1], False),
        ([0.3, 0.3, 0.3j, -0.3j], [1j, -1j, 2, 2], True),
        ([complex(0.0, 1), complex(-0.0, -1)], [1, complex(1, -0.0)], True),
        ([0.3 + 0.4j, 0.3 - 0.4j], [[1, 2j], [1, -2j]], True),
        ([0.3 + 0.4j, 0.3 - 0.4j], [[1, 2j], [1, 2j]], False),
    ],
)
def test_closed_under_conjugation(lam: list[complex], b: list[complex], closed: bool) -> None:
    assert Ensemble(lam, b).is_conjugate_closed is closed


@given(
    st.lists(
        st.tuples(
            st.complex_numbers(max_magnitude=1e9, allow_nan=False),
            st.complex_numbers(max_magnitude=1e9, allow_nan=False),
        ),
        min_size=1,
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_a_set_with_its_conjugates_is_closed_in_any_order(
    members: list[tuple[complex, complex]], random: object
) -> None:
    both = members + [(lam.conjugate(), b.conjugate()) for lam, b in members]
    random.shuffle(both)  # type: ignore[attr-defined]
    assert Ensemble(*map(list, zip(*both, strict=True))).is_conjugate_closed


@pytest.mark.slow
def test_a_million_conjugates_are_compared_quickly() -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=500_000) + 1j * rng.normal(size=500_000)
    assert Ensemble(np.concatenate([half, half.conj()[::-1]])).is_conjugate_closed
    assert not Ensemble(np.concatenate([half, half[::-1]])).is_conjugate_closed
