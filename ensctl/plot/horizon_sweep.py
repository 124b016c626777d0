"""Condition number and worst energy against the horizon."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from ensctl.analysis.horizon_sweep import HorizonSweep
from ensctl.plot.axes import Array, axes_for, decades, legend_above, quiet_frame
from ensctl.plot.palette import BEYOND, BLUE, ORANGE


def horizon_sweep(sweep: HorizonSweep, *, ax: Axes | None = None) -> tuple[Line2D, ...]:
    """Draw κ2 and the energy of the worst unit target against the number of steps.

    Parameters
    ----------
    sweep : HorizonSweep
        What :func:`ensctl.horizon_sweep` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        The line of κ2, the line of the energy, and the marks of infinite values if there are any.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import horizon_sweep
    >>> sweep = ec.horizon_sweep(ec.Ensemble([0.2, 0.5, 0.8]), [3, 6, 12])
    >>> len(horizon_sweep(sweep, ax=Figure().subplots()))
    2
    """
    ax = axes_for(ax, (6.4, 3.6))
    quiet_frame(ax)
    steps = np.asarray(sweep.horizons, dtype=float)
    lines = (
        (np.asarray(sweep.log10_worst_energy), "worst energy", ORANGE, "s", "--"),
        (np.asarray(sweep.log10_cond), "condition number κ₂", BLUE, "o", "-"),
    )
    low, high = decades(ax.yaxis, np.concatenate([line[0] for line in lines]))
    artists: list[Line2D] = []
    beyond = np.zeros(steps.size, dtype=bool)
    for height, label, colour, shape, dashes in lines:
        beyond |= height == np.inf
        shown = np.where(np.isfinite(height), height, np.nan)
        artists += ax.plot(
            steps, shown, label=label, color=colour, marker=shape, linestyle=dashes, markersize=5
        )
    if beyond.any():
        top = np.full(np.count_nonzero(beyond), high)
        artists += ax.plot(steps[beyond], top, label="infinite", clip_on=False, **BEYOND.style)
    ax.set_ylim(low, high)
    ax.set_xscale("log")
    ax.set_xlim(steps[0] / 1.08, steps[-1] * 1.08)
    ax.xaxis.set_major_locator(FixedLocator(_spread(steps)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, position: f"{round(value)}"))
    ax.set_xlabel("horizon H (steps)")
    ax.set_ylabel("κ₂ (no unit), energy (input²)")
    legend_above(ax)
    return tuple(artists)


def _spread(steps: Array) -> list[float]:
    """Horizons far enough apart for their labels."""
    least = (steps[-1] / steps[0]) ** (1 / 12)
    chosen: list[float] = []
    for step in steps:
        if not chosen or step >= least * chosen[-1]:
            chosen.append(float(step))
    return chosen
