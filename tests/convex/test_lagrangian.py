"""min f(u) − qᵀu over a domain: below every sample, and attained."""

import math

import numpy as np
import pytest

from ensctl.convex import Objective, box, discs, moduli
from ensctl.convex.lagrangian import least

COST = {
    Objective.ENERGY: lambda sizes: 0.5 * (sizes**2).sum(axis=-1),
    Objective.FUEL: lambda sizes: sizes.sum(axis=-1),
    Objective.PEAK: lambda sizes: sizes.max(axis=-1),
}
BOXES = [
    ([-1.0, -2.0], [0.5, 1.0]),
    ([0.2, -1.0], [1.0, -0.3]),
    ([0.0, 0.0], [2.0, 0.0]),
]


@pytest.mark.parametrize("objective", list(Objective))
@pytest.mark.parametrize("limits", BOXES)
@pytest.mark.parametrize("seed", range(4))
def test_box_against_a_grid(objective, limits, seed):
    gradient = 2.0 * np.random.default_rng(seed).standard_normal(2)
    axes = [np.unique(np.append(np.linspace(a, b, 401), np.clip(0.0, a, b)))
            for a, b in zip(*limits, strict=True)]  # fmt: skip
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    values = COST[objective](np.abs(grid)) - grid @ gradient
    found = least(objective, box(*limits, 2), gradient)
    assert found.shrink == 1.0
    assert found.value <= values.min() + 1e-12
    assert found.value == pytest.approx(values.min(), abs=0.02)


@pytest.mark.parametrize("objective", list(Objective))
@pytest.mark.parametrize("seed", range(4))
def test_discs_against_samples(objective, seed):
    rng = np.random.default_rng(seed)
    gradient = 2.0 * rng.standard_normal(4)
    limits = discs([0.7, 1.5], 2)
    # The best direction is that of the gradient: only the radii are searched.
    radii = np.stack(np.meshgrid(np.linspace(0, 0.7, 300), np.linspace(0, 1.5, 300)), -1)
    radii = radii.reshape(-1, 2)
    values = COST[objective](radii) - radii @ moduli(gradient)
    found = least(objective, limits, gradient)
    assert found.value <= values.min() + 1e-12
    assert found.value == pytest.approx(values.min(), abs=0.02)
    anywhere = np.stack([limits.nearest(u) for u in rng.standard_normal((300, 4))])
    sizes = np.stack([moduli(u) for u in anywhere])
    assert found.value <= (COST[objective](sizes) - anywhere @ gradient).min() + 1e-12


def test_dual_norms_without_limits():
    """Fuel needs ‖q‖_∞ ≤ 1 and peak ‖q‖_1 ≤ 1; ``shrink`` gets there."""
    free = box(-np.inf, np.inf, 2)
    assert least(Objective.FUEL, free, np.array([1.0, -0.5])).value == 0.0
    assert least(Objective.PEAK, free, np.array([0.5, -0.5])).value == 0.0
    fuel = least(Objective.FUEL, free, np.array([2.0, -4.0]))
    assert (fuel.value, fuel.shrink) == (-math.inf, 0.25)
    peak = least(Objective.PEAK, free, np.array([2.0, -3.0]))
    assert (peak.value, peak.shrink) == (-math.inf, 0.2)
    everywhere = discs(np.inf, 1)
    assert least(Objective.FUEL, everywhere, np.array([3.0, 4.0])).shrink == 0.2
    assert least(Objective.PEAK, everywhere, np.array([3.0, 4.0])).shrink == 0.2


def test_one_sided_limits_only_count_where_they_are_missing():
    half = box([0.0, 0.0], [np.inf, np.inf], 2)
    assert least(Objective.FUEL, half, np.array([-5.0, 1.0])).value == 0.0
    assert least(Objective.PEAK, half, np.array([-5.0, 1.0])).value == 0.0
    assert least(Objective.PEAK, half, np.array([-5.0, 1.1])).value == -math.inf
