"""Drafted steering of a fleet: speed-up against depth, and how long cycles are."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ensctl.drafting.convention import Convention
from ensctl.plot.axes import axes_for, legend_above, quiet_frame
from ensctl.plot.palette import BLUE, GREY, ORANGE, VERMILLION, Mark
from ensctl.simulation.fleet_drafting_result import FleetDraftingRun
from ensctl.simulation.fleet_drafting_study import FleetDepthStudy

_CHOSEN = Mark(ORANGE, "D", 9.0)


def fleet_depth_speedup(study: FleetDepthStudy, *, ax: Axes | None = None) -> tuple[Line2D, ...]:
    """Draw the speed-up over the loop against K: measured, predicted, and with a flat cost.

    Parameters
    ----------
    study : FleetDepthStudy
        What :func:`ensctl.simulation.fleet_depth_study` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        Measured, predicted, flat, the chosen depth, and the line of the loop.

    Examples
    --------
    >>> import ensctl as ec
    >>> from ensctl.plot import fleet_depth_speedup
    >>> from ensctl.simulation import fleet_depth_study
    >>> from matplotlib.figure import Figure
    >>> fleet = ec.ThermostatFleet.draw(500, seed=1)
    >>> wanted = [0.95 * fleet.nominal_power] * 60
    >>> study = fleet_depth_study(fleet, wanted, (1, 2, 4), repeats=1, engine="numpy")
    >>> len(fleet_depth_speedup(study, ax=Figure().subplots()))
    5
    """
    ax = axes_for(ax, (6.4, 3.6))
    quiet_frame(ax)
    curve = study.predicted.curve / study.predicted.curve[0]
    flat = study.flat.curve / study.flat.curve[0]
    depths = np.arange(1, curve.size)
    lines = [
        *ax.plot(study.depths, study.speedup, "o", color=BLUE, markersize=6, label="measured"),
        *ax.plot(depths, curve[1:], color=BLUE, linewidth=1.4, label="a + b K + c J"),
        *ax.plot(
            depths, flat[1:], color=VERMILLION, linestyle="--", linewidth=1.2, label="flat cost"
        ),
        *ax.plot(
            [study.predicted.depth],
            [study.predicted.speedup],
            label=f"predicted K = {study.predicted.depth}",
            **_CHOSEN.style,
        ),
        ax.axhline(1.0, color=GREY, linestyle=":", linewidth=1.2, label="loop"),
    ]
    ax.set_ylim(bottom=0.0)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True))
    ax.set_xlabel("draft depth K (inputs)")
    ax.set_ylabel("speed-up over the loop")
    legend_above(ax)
    return tuple(lines)


def fleet_drafting_cycles(
    run: FleetDraftingRun, *, ax: Axes | None = None
) -> tuple[BarContainer, Artist]:
    """Draw how many inputs the cycles committed, beside independent tests of the same mean.

    Parameters
    ----------
    run : FleetDraftingRun
        What :func:`ensctl.fleet_drafting_run` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    bars : matplotlib.container.BarContainer
        Share of cycles of each length L = 1 … K.
    points : matplotlib.artist.Artist
        Shares with acceptance α of every test, where α is that of the run.

    Examples
    --------
    >>> import ensctl as ec
    >>> from ensctl.plot import fleet_drafting_cycles
    >>> from matplotlib.figure import Figure
    >>> fleet = ec.ThermostatFleet.draw(500, seed=1)
    >>> run = ec.fleet_drafting_run(fleet, [fleet.nominal_power] * 40, 4, engine="numpy")
    >>> len(fleet_drafting_cycles(run, ax=Figure().subplots())[0])
    4
    """
    ax = axes_for(ax, (6.4, 3.6))
    quiet_frame(ax)
    lengths = run.cycles.lengths(Convention.COMMITTED)
    deepest = int(run.cycles.drafted.max())
    places = np.arange(1, deepest + 1)
    shares = np.bincount(lengths, minlength=deepest + 1)[1:] / lengths.size
    alpha = run.counters().alpha().value
    geometric = alpha ** (places - 1) * np.where(places < deepest, 1.0 - alpha, 1.0)
    bars = ax.bar(places, shares, color=BLUE, width=0.7, label="cycles")
    points = ax.plot(
        places,
        geometric,
        "o",
        color=ORANGE,
        markersize=6,
        label=f"independent tests, α = {alpha:.3f}",
    )[0]
    ax.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True))
    ax.set_xlabel("committed inputs L of a cycle")
    ax.set_ylabel("share of cycles")
    legend_above(ax)
    return bars, points
