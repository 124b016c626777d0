"""Real inputs on complex members: the equivalent form, its singular values and its verdict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.analysis.controllability import controllability
from ensctl.analysis.real_inputs import expand_for_real_inputs
from ensctl.ensemble.ensemble import Ensemble

_PART = st.integers(-2, 2).map(lambda k: k / 2)
_NUMBER = st.builds(complex, _PART, _PART)


def _real_map(lam: np.ndarray, gains: np.ndarray, horizon: int) -> np.ndarray:
    """Rows Re and Im of every member: what a real input does."""
    steps = np.hstack([lam[:, None] ** k * gains for k in range(horizon)])
    return np.vstack([steps.real, steps.imag])


def _form_map(lam: np.ndarray, gains: np.ndarray, horizon: int) -> np.ndarray:
    form = expand_for_real_inputs(lam, gains)
    return np.hstack([form.lam[:, None] ** k * form.gains for k in range(horizon)])


def test_members_count_as_documented() -> None:
    lam = np.array([0.5, 0.3 + 0.1j, 0.3 - 0.1j, 0.2j, 0.4, 0.3 + 0.1j])
    gains = np.array([1.0, 1 + 2j, 1 - 2j, 1.0, 1j, 1 + 2j])[:, None]
    form = expand_for_real_inputs(lam, gains)
    assert form.members.tolist() == [0, 1, 2, 3, 3, 4, 4, 5, 5]
    np.testing.assert_array_equal(form.lam[3:5], [0.2j, -0.2j])
    np.testing.assert_array_equal(form.unscaled_gains[5:7, 0], [1j, -1j])
    np.testing.assert_allclose(form.gains[3], 1 / np.sqrt(2), rtol=1e-15)


def test_real_members_stay_as_they_are() -> None:
    lam, gains = np.array([0.5, 0.2]), np.array([[1.0, 2.0], [3.0, 4.0]])
    form = expand_for_real_inputs(lam, gains)
    np.testing.assert_array_equal(form.lam, lam)
    np.testing.assert_array_equal(form.gains, gains)


@given(st.lists(st.tuples(_NUMBER, _NUMBER, _NUMBER), min_size=1, max_size=5))
def test_singular_values_of_unpaired_members_are_those_of_the_real_map(
    rows: list[tuple[complex, complex, complex]],
) -> None:
    lam = np.array([row[0] for row in rows]) + 4j
    gains = np.array([row[1:] for row in rows])
    # Im λ > 0 everywhere: every member counts twice, as in the real map.
    ours = np.linalg.svd(_form_map(lam, gains, 4), compute_uv=False)
    real = np.linalg.svd(_real_map(lam, gains, 4), compute_uv=False)
    np.testing.assert_allclose(ours, real, atol=1e-12 * max(real[0], 1.0))


def test_a_conjugate_pair_has_the_singular_values_of_both_members() -> None:
    lam = np.array([0.5 + 0.2j, 0.5 - 0.2j, 0.7])
    gains = np.array([1 + 1j, 1 - 1j, 2.0])[:, None]
    stacked = np.hstack([lam[:, None] ** k * gains for k in range(4)])
    np.testing.assert_allclose(_form_map(lam, gains, 4), stacked, rtol=1e-15)


@given(st.lists(st.tuples(_NUMBER, _NUMBER), min_size=1, max_size=5))
def test_rank_of_the_verdict_is_the_rank_of_the_real_map(
    rows: list[tuple[complex, complex]],
) -> None:
    lam = np.array([row[0] for row in rows])
    gains = np.array([row[1] for row in rows])
    verdict = controllability(Ensemble(lam, gains), real_inputs=True)
    form = expand_for_real_inputs(lam, gains[:, None])
    horizon = 2 * lam.size
    reached = np.linalg.matrix_rank(_real_map(lam, gains[:, None], horizon), tol=1e-9)
    assert verdict.rank == reached
    assert verdict.dimension == form.lam.size


def test_turning_robots_need_their_turn_rates_apart_up_to_sign() -> None:
    turning = np.exp(1j * np.array([0.3, 0.7, 1.1]))
    assert controllability(Ensemble(turning), real_inputs=True).reachable
    mirrored = np.append(turning, np.conj(turning[0]))
    # As conjugates with equal real gains they are one pair; with other gains they are locked.
    assert controllability(Ensemble(mirrored), real_inputs=True).reachable
    verdict = controllability(Ensemble(mirrored, [1, 1, 1, 2]), real_inputs=True)
    assert not verdict.reachable
    assert verdict.locked == ((0, 3),)
    assert "up to conjugation" in verdict.reasons[0]
    assert controllability(Ensemble(mirrored, [1, 1, 1, 2])).reachable


def test_a_real_member_with_a_complex_gain_moves_along_it_only() -> None:
    verdict = controllability(Ensemble([0.5, 0.2], [1j, 1.0]), real_inputs=True)
    assert (verdict.rank, verdict.dimension, verdict.locked) == (2, 3, ((0,),))
    assert "member 0 has a real λ = 0.5 and complex weights" in verdict.reasons[0]


@pytest.mark.parametrize("lam", [[0.3, 0.3], [0.3, 0.9], [0.3 + 1j, 0.3 - 1j]])
def test_a_conjugate_closed_set_has_the_same_verdict_either_way(lam: list[complex]) -> None:
    ens = Ensemble(lam)
    assert controllability(ens).reachable == controllability(ens, real_inputs=True).reachable
