"""Poles from shift invariance and the order from singular values."""

from __future__ import annotations

import numpy as np
import pytest

from ensctl import Ensemble, aggregate_output
from ensctl.estimation.order_selection import gap_after, select_order
from ensctl.estimation.pencil import pencil_poles, response_space


def test_free_response_is_a_sum_of_exponentials() -> None:
    lam = np.array([-0.5, 0.3, 0.9])
    y = np.sum(lam[:, None] ** np.arange(30), axis=0)
    space = response_space(y, np.zeros(30), 8)
    assert select_order(space, 6).order == 3
    np.testing.assert_allclose(np.sort(pencil_poles(space.vectors, 3).real), lam, atol=1e-11)


def test_an_input_of_low_rank_takes_only_its_own_part() -> None:
    u = np.eye(1, 40)[0]
    y = aggregate_output(Ensemble([0.2, 0.8], c=1.0), u)[:-1]
    space = response_space(y, u, 10)
    # 31 windows, one of which holds the impulse.
    assert space.columns == 30
    np.testing.assert_allclose(np.sort(pencil_poles(space.vectors, 2).real), [0.2, 0.8], atol=1e-10)


def test_white_noise_shows_its_standard_deviation() -> None:
    rng = np.random.default_rng(1)
    space = response_space(0.3 * rng.standard_normal(4000), rng.choice([-1.0, 1.0], 4000), 10)
    np.testing.assert_allclose(space.values, 0.3, rtol=0.12)
    selection = select_order(space, 5)
    assert selection.order == 0 and selection.gap == np.inf


@pytest.mark.parametrize(("order", "gap"), [(1, 2.0), (2, 5.0), (3, np.inf)])
def test_gap(order: int, gap: float) -> None:
    assert gap_after(np.array([10.0, 5.0, 1.0]), order) == gap
