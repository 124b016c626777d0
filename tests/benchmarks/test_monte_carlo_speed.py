"""Monte Carlo of draft cycles against drawing a geometric number for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ensctl.drafting import IID
from ensctl.simulation import cycle_histogram, simulate_drafting


@pytest.mark.parametrize(
    ("alpha", "depth"), [(0.5, 4), (0.7, 3), (0.7, 5), (0.7, 8), (0.9, 8), (0.9, 16)]
)
def test_histogram_of_cycle_lengths(
    ratio_table: Any,
    timed: Callable[..., float],
    sized: Callable[..., int],
    alpha: float,
    depth: int,
) -> None:
    """Without the histogram on the side of numpy, whose bincount would cost it more."""
    cycles = sized(20_000_000, smoke=20_000)
    rng = np.random.default_rng(0)
    ours = timed(lambda: cycle_histogram(alpha, depth, cycles, seed=1))
    obvious = timed(lambda: np.minimum(rng.geometric(1.0 - alpha, cycles) - 1, depth), repeat=3)
    ratio_table.add(
        f"histogram of {cycles / ours:.2g} cycles/s, α = {alpha}, K = {depth}: numpy geometric",
        ours,
        obvious,
        at_most=1 / 1.7,
    )
    found = cycle_histogram(alpha, depth, cycles, seed=1)
    deviation = np.sqrt(cycles * 0.25)
    assert found.cycles == cycles
    assert np.all(np.abs(found.counts - cycles * IID(alpha).pmf(depth)) < 5 * deviation)


def test_five_drafters_cycle_by_cycle(
    ratio_table: Any, timed: Callable[..., float], sized: Callable[..., int]
) -> None:
    """Every count is kept here, and means with their intervals are part of the work."""
    cycles = sized(200_000, smoke=1_000)
    rng = np.random.default_rng(0)
    ours = timed(lambda: simulate_drafting(0.7, 5, cycles=cycles, count=5, seed=1).mean_length())
    obvious = timed(lambda: np.minimum(rng.geometric(0.3, (5, cycles)), 6).mean())
    ratio_table.add(f"5 drafters × {cycles} cycles with interval: numpy mean alone", ours, obvious)
    run = simulate_drafting(0.7, 5, cycles=cycles, count=5, seed=1)
    assert abs(run.mean_length().value - run.predicted_length()) < 5 * run.mean_length().std_error
