"""A plan over loads: the depth it takes, and the throughput it promises beside off."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from ensctl.plot.axes import Array, axes_for, legend_above, quiet_frame
from ensctl.plot.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from ensctl.scheduling.plan_table_result import PlanTable

_COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE)
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
_MOST_CONTEXTS = 5
_MOST_TICKS = 9


def plan_table(plan: PlanTable, *, ax: Axes | None = None) -> tuple[Artist, ...]:
    """Draw the depth of a plan against the batch, as steps, with the range where memory holds.

    Parameters
    ----------
    plan : PlanTable
        What :func:`ensctl.scheduling.plan_table` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.artist.Artist
        One line for each context (at most five), then the bands between the batches at which a
        controller with memory switches up and back, then the best depth at each load.

    Examples
    --------
    >>> from ensctl.drafting import BatchTable
    >>> from ensctl.plot import plan_table as draw
    >>> from ensctl.scheduling import plan_table
    >>> from matplotlib.figure import Figure
    >>> plan = plan_table(0.7, BatchTable([1, 64], [10, 14], [1.0, 9.0], [9, 12]), 64, max_depth=5)
    >>> len(draw(plan, ax=Figure().subplots())) > 2
    True
    """
    ax = axes_for(ax, (6.4, 3.2))
    quiet_frame(ax)
    artists: list[Artist] = []
    shown = _contexts(plan)
    for rank, place in enumerate(shown):
        edges, depths = _steps(plan, place)
        label = "planned" if plan.contexts.size == 1 else f"context {plan.contexts[place]:g}"
        artists += ax.step(
            edges,
            depths,
            where="post",
            color=_COLOURS[rank],
            linestyle=_DASHES[rank % len(_DASHES)],
            linewidth=2.0,
            label=label,
        )
    if len(shown) == 1:
        artists += _waits(ax, plan)
        artists += ax.plot(
            plan.batches,
            plan.best_depths[0],
            linestyle="none",
            marker="o",
            markersize=3.0 if plan.batches.size > 20 else 5.0,
            markerfacecolor="none",
            markeredgecolor=GREY,
            markeredgewidth=0.8,
            label="best at this load",
            zorder=1,
        )
    ax.set_ylim(-0.4, float(plan.options.max()) + 0.4)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    _batch_axis(ax, plan)
    ax.set_ylabel("draft depth K (0 is off)")
    legend_above(ax)
    return tuple(artists)


def plan_throughput(plan: PlanTable, *, ax: Axes | None = None) -> tuple[Artist, ...]:
    """Draw what a plan promises over no drafter at all, with its interval, beside single depths.

    Parameters
    ----------
    plan : PlanTable
        What :func:`ensctl.scheduling.plan_table` returned; the first context is drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.artist.Artist
        The interval, the plan, the best single depth, and the line of serving without a drafter.
        Where the cost of off is not known throughput itself is drawn, without that line.

    Examples
    --------
    >>> from ensctl.drafting import BatchTable
    >>> from ensctl.plot import plan_throughput
    >>> from ensctl.scheduling import plan_table
    >>> from matplotlib.figure import Figure
    >>> plan = plan_table(0.7, BatchTable([1, 64], [10, 14], [1.0, 9.0], [9, 12]), 64, max_depth=5)
    >>> len(plan_throughput(plan, ax=Figure().subplots()))
    4
    """
    ax = axes_for(ax, (6.4, 3.2))
    quiet_frame(ax)
    known = bool(np.all(np.isfinite(plan.plain[0])))
    base = plan.plain[0] if known else np.ones(plan.batches.size)
    single, _ = plan.best_single
    column = int(np.flatnonzero(plan.options == single)[0])
    artists: list[Artist] = [
        ax.fill_between(
            plan.batches,
            plan.low[0] / base,
            plan.high[0] / base,
            color=BLUE,
            alpha=0.18,
            linewidth=0,
            label=f"{plan.level:.0%} interval",
        )
    ]
    few = plan.batches.size <= 40
    artists += ax.plot(
        plan.batches,
        plan.throughput[0] / base,
        color=BLUE,
        linewidth=2.0,
        marker="o" if few else "",
        markersize=4,
        label="plan",
    )
    artists += ax.plot(
        plan.batches,
        plan.curves[0, :, column] / base,
        color=ORANGE,
        linestyle=_DASHES[1],
        label=f"K = {single} at every load" if single else "off at every load",
    )
    if known:
        artists.append(
            ax.axhline(1.0, color=GREY, linestyle="--", linewidth=1.2, label="no drafter loaded")
        )
        ax.set_ylabel("throughput over no drafter (ratio)")
    else:
        ax.set_ylabel(f"throughput per stream (units per {plan.unit})")
    ax.set_ylim(bottom=0.0)
    _batch_axis(ax, plan)
    legend_above(ax)
    return tuple(artists)


def _contexts(plan: PlanTable) -> list[int]:
    size = plan.contexts.size
    return [int(i) for i in np.unique(np.linspace(0, size - 1, min(size, _MOST_CONTEXTS)).round())]


def _steps(plan: PlanTable, place: int) -> tuple[Array, Array]:
    """First batch of every range, and the last batch of all."""
    ranges = plan.ranges(float(plan.contexts[place]))
    edges = [part.first for part in ranges] + [ranges[-1].last + 1]
    depths = [part.depth for part in ranges]
    return np.array(edges), np.array([*depths, depths[-1]])


def _waits(ax: Axes, plan: PlanTable) -> list[Artist]:
    """Bands in which a controller with memory keeps the depth it has."""
    artists: list[Artist] = []
    for point in plan.switches:
        artists.append(
            ax.axvspan(
                point.falling,
                point.rising,
                color=GREY,
                alpha=0.18,
                linewidth=0,
                label=None if artists else "either (hysteresis)",
            )
        )
    return artists


def _batch_axis(ax: Axes, plan: PlanTable) -> None:
    """Batches by ratio, labelled as whole numbers where the depth changes and in powers of 2."""
    ax.set_xscale("log", base=2)
    last = plan.max_batch
    powers = 2 ** np.arange(int(np.log2(last)) + 1)
    ticks = powers[:: max(1, -(-powers.size // _MOST_TICKS))]
    ax.xaxis.set_major_locator(FixedLocator(ticks.tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.set_xlim(0.93, 1.07 * (last + 1))
    ax.set_xlabel("batch (scheduled requests, prefilling ones included)")
