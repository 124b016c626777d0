"""Repair advice: what each change makes of the condition number, and κ against sampling time."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.lines import Line2D

from ensctl.analysis.repair_result import Repair
from ensctl.analysis.sampling_curve import SamplingCurve
from ensctl.formatting import power_text
from ensctl.plot.axes import axes_for, decades, legend_above, quiet_frame
from ensctl.plot.palette import BEYOND, BLUE, GREEN, GREY, ORANGE, PURPLE

_NAMES = {
    "move": "move λ",
    "drop": "drop members",
    "merge": "merge members",
    "resample": "change dt",
    "channel": "add inputs",
    "horizon": "more steps",
}


def repair(advice: Repair, *, ax: Axes | None = None) -> BarContainer:
    """Draw κ₂ before and after each change, with the target as a line.

    Parameters
    ----------
    advice : Repair
        What :func:`ensctl.repair` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    matplotlib.container.BarContainer
        One bar for the population as it is, then one for each option.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import repair
    >>> advice = ec.repair(ec.Ensemble([0.2, 0.5, 0.51, 0.8]), 200.0, allow=["drop", "merge"])
    >>> len(repair(advice, ax=Figure().subplots()))
    3
    """
    ax = axes_for(ax, (6.8, 3.2))
    quiet_frame(ax)
    ax.grid(False, axis="y")
    values = np.array([advice.log10_cond, *(option.log10_cond for option in advice.options)])
    finite = values[np.isfinite(values)]
    low, high = decades(ax.xaxis, np.append(finite, [0.0, advice.log10_target]))
    low = 0.0
    ends = np.where(np.isfinite(values), values, high)
    colours = [GREY] + [GREEN if option.reached else ORANGE for option in advice.options]
    places = np.arange(values.size)[::-1]
    bars = ax.barh(places, ends, color=colours, height=0.62)
    for bar, option in zip(bars[1:], advice.options, strict=True):
        # Told apart without colour as well.
        bar.set_hatch("" if option.reached else "//")
    for place, value, end in zip(places, values, ends, strict=True):
        ax.annotate(
            power_text(float(value)),
            (float(end), float(place)),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            # The number stays legible where the line of the target runs through it.
            bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5},
        )
    ax.axvline(
        advice.log10_target,
        color=PURPLE,
        linestyle="--",
        linewidth=1.6,
        label=f"target {power_text(advice.log10_target)}",
    )
    names = ["as it is", *(_NAMES[option.kind] for option in advice.options)]
    ax.set_yticks(places, names)
    # Room for the number behind the longest bar.
    ax.set_xlim(low, high + 0.14 * (high - low))
    ax.set_xlabel("condition number κ₂")
    legend_above(ax)
    return bars


def sampling_curve(curve: SamplingCurve, *, ax: Axes | None = None) -> tuple[Line2D, ...]:
    """Draw κ₂ against the sampling time, with the best one marked.

    Parameters
    ----------
    curve : SamplingCurve
        What :func:`ensctl.sampling_curve` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        The curve, the best sampling time, and marks where members become equal if they do.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import sampling_curve
    >>> curve = ec.sampling_curve([-0.2, -1.0, -3.0])
    >>> len(sampling_curve(curve, ax=Figure().subplots()))
    2
    """
    ax = axes_for(ax, (6.4, 3.4))
    quiet_frame(ax)
    low, high = decades(ax.yaxis, curve.log10_cond)
    shown = np.where(np.isfinite(curve.log10_cond), curve.log10_cond, np.nan)
    artists = ax.plot(curve.dts, shown, color=BLUE, marker=".", label="κ₂")
    best = int(np.argmin(curve.log10_cond))
    artists += ax.plot(
        [curve.dts[best]],
        [shown[best]],
        color=PURPLE,
        marker="D",
        markersize=8,
        markerfacecolor="none",
        markeredgewidth=1.6,
        linestyle="none",
        label=f"best: dt = {curve.best_dt:.3g}",
    )
    equal = ~np.isfinite(curve.log10_cond)
    if equal.any():
        top = np.full(int(equal.sum()), high)
        artists += ax.plot(curve.dts[equal], top, label="infinite", clip_on=False, **BEYOND.style)
    ax.set_xscale("log")
    ax.set_ylim(low, high)
    ax.set_xlabel("sampling time dt (unit of 1/rate)")
    ax.set_ylabel("condition number κ₂")
    legend_above(ax)
    return tuple(artists)
