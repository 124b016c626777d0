"""Boxes and discs: nearest points, support functions, exact membership."""

import numpy as np
import pytest

from ensctl.convex import box, discs
from ensctl.errors import InvalidInputError


def test_box_support_is_attained_at_a_corner():
    rng = np.random.default_rng(0)
    limits = box([-1.0, 0.0, -np.inf], [2.0, 0.5, 3.0], 3)
    gradient = np.array([1.5, -2.0, 0.25])
    assert limits.support(gradient) == 1.5 * 2.0 + 0.0 + 0.25 * 3.0
    inside = limits.nearest(rng.standard_normal((200, 3)) * 3)
    assert (inside @ gradient).max() <= limits.support(gradient)
    assert limits.support(np.array([0.0, 0.0, -1e-300])) == np.inf
    assert limits.support(np.zeros(3)) == 0.0


def test_disc_support_is_the_weighted_sum_of_moduli():
    limits = discs([1.0, 2.0, np.inf], 3)
    assert limits.support(np.array([3.0, 0.0, 0.0, 4.0, 1.0, 0.0])) == 5.0 + 2.0
    assert limits.support(np.array([0.0, 0.0, 1e-300, 0.0, 0.0, 0.0])) == np.inf


def test_nearest_never_leaves_by_one_ulp():
    rng = np.random.default_rng(1)
    limits = discs(rng.uniform(1e-3, 1e3, 5000), 5000)
    assert limits.contains(limits.nearest(1e3 * rng.standard_normal(10_000)))
    bounds = box(-rng.uniform(0, 1, 5000), rng.uniform(0, 1, 5000), 5000)
    assert bounds.contains(bounds.nearest(rng.standard_normal(5000)))


def test_nearest_disc_keeps_the_direction():
    limits = discs(1.0, 1)
    assert limits.nearest(np.array([3.0, 4.0])) == pytest.approx([0.6, 0.8], abs=1e-15)
    assert limits.nearest(np.array([0.3, 0.4])) == pytest.approx([0.3, 0.4], abs=0)
    assert (discs(0.0, 1).nearest(np.array([3.0, 4.0])) == 0.0).all()


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        (1.0, -1.0, "lower must be ≤ upper, got 1.0 > -1.0 at entry 0"),
        (np.nan, 1.0, "lower must be numbers"),
        ([0.0, 0.0, 0.0], 1.0, r"lower must have 2 entries, got shape \(3,\)"),
        (-1.0, "a", "upper must be real numbers"),
        (np.inf, np.inf, "lower must be < inf"),
    ],
)
def test_bad_boxes(lower, upper, message):
    with pytest.raises(InvalidInputError, match=message):
        box(lower, upper, 2)


def test_bad_discs():
    with pytest.raises(InvalidInputError, match="radius must be ≥ 0"):
        discs(-1.0, 2)


def test_limits_cannot_be_changed_afterwards():
    with pytest.raises(ValueError, match="read-only"):
        box(-1.0, 1.0, 2).lower[0] = 5.0
