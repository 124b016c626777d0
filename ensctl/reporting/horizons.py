"""Section about the horizon: what more steps buy."""

from __future__ import annotations

import math

import numpy as np

from ensctl.analysis.horizon_sweep import HorizonSweep
from ensctl.formatting import power_text
from ensctl.reporting.document import Column, Figure, Section, Table

_POINTS = 8
# r²-cost factorisations: a sweep stays within a few of those that the report needs anyway.
_MOST_ELEMENTS = 3_000_000


def sweep_horizons(dimension: int, channels: int, horizon: int | float) -> list[int]:
    """Geometric horizons from the shortest useful one to eight times it, and the one asked for.

    Long horizons of large sets are left out: r (r + m H) ≤ 3e6 for r dimensions, unless asked for.
    """
    first = max(1, math.ceil(dimension / channels))
    last = 8 * first if horizon == math.inf else max(8 * first, int(horizon))
    points = first * np.power(last / first, np.linspace(0.0, 1.0, _POINTS))
    chosen = {
        steps
        for steps in (round(float(point)) for point in points)
        if dimension * (dimension + channels * steps) <= _MOST_ELEMENTS
    }
    if horizon != math.inf:
        chosen.add(int(horizon))
    return sorted(chosen or {first})


def horizon_section(sweep: HorizonSweep) -> Section:
    """κ and worst energy over the reachable directions at several horizons."""
    columns = (
        Column("horizon (steps)", numeric=True),
        Column("κ₂", numeric=True),
        Column("worst energy", numeric=True),
    )
    rows = tuple(
        (str(int(steps)), power_text(float(cond)), power_text(float(energy)))
        for steps, cond, energy in zip(
            sweep.horizons, sweep.log10_cond, sweep.log10_worst_energy, strict=True
        )
    )
    return Section(
        "horizon",
        "Horizon",
        (
            Figure(
                "horizon-sweep",
                "Condition number and energy of the worst unit target against the horizon, over "
                "the directions that can be reached.",
            ),
            Table("What more steps buy, over the directions that can be reached", columns, rows),
        ),
    )
