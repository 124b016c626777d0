"""Throughput of drafting against depth, with the best depth and what an uncertain α allows."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ensctl.drafting.cost import one_of
from ensctl.drafting.measured_depth import MeasuredDepth
from ensctl.drafting.optimum_result import DepthOptimum
from ensctl.plot.axes import axes_for, legend_above, quiet_frame
from ensctl.plot.palette import BLUE, GREY, ORANGE, Mark

_BEST = Mark(ORANGE, "D", 9.0)


def depth_curve(optimum: DepthOptimum, *, ax: Axes | None = None) -> tuple[Artist, ...]:
    """Draw the throughput of every depth around the best one.

    Parameters
    ----------
    optimum : DepthOptimum
        What :func:`ensctl.drafting.optimal_depth` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.artist.Artist
        The curve, the line of plain decoding, the mark of the best depth, and the band of the
        interval of α if there is one.

    Examples
    --------
    >>> from ensctl.drafting import optimal_depth
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import depth_curve
    >>> len(depth_curve(optimal_depth(0.7, 0.1), ax=Figure().subplots()))
    3
    """
    ax = axes_for(ax, (6.4, 3.6))
    quiet_frame(ax)
    deepest = max(optimum.depth, optimum.depth_high or 0)
    shown = min(optimum.curve.size, 3 * deepest + 5)
    depths = np.arange(shown)
    marker = "o" if shown <= 40 else ""
    counted = optimum.convention.name.lower().replace("_", " ")
    artists: list[Artist] = []
    artists += ax.plot(
        depths, optimum.curve[:shown], color=BLUE, marker=marker, markersize=4, label=counted
    )
    artists.append(
        ax.axhline(
            float(optimum.curve[0]),
            color=GREY,
            linestyle="--",
            linewidth=1.2,
            label="plain decoding",
        )
    )
    best = f"best K = {optimum.depth}"
    if optimum.depth_low is not None:
        best += f" ({optimum.depth_low} to {optimum.depth_high})"
    artists += ax.plot([optimum.depth], [optimum.throughput], label=best, **_BEST.style)
    if optimum.curve_low is not None and optimum.curve_high is not None:
        level = "interval" if optimum.level is None else f"{optimum.level:.0%} interval"
        artists.append(
            ax.fill_between(
                depths,
                optimum.curve_low[:shown],
                optimum.curve_high[:shown],
                color=BLUE,
                alpha=0.18,
                linewidth=0,
                label=level,
            )
        )
    ax.set_xlim(-0.5 - 0.01 * shown, shown - 0.5 + 0.01 * shown)
    highest = optimum.curve if optimum.curve_high is None else optimum.curve_high
    # Room for the mark of the best depth, which sits on the maximum.
    ax.set_ylim(0.0, 1.08 * float(highest[:shown].max()))
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
    ax.set_xlabel("draft depth K (units)")
    ax.set_ylabel(f"throughput (units per {one_of(optimum.unit)})")
    legend_above(ax)
    return tuple(artists)


def measured_depth(measured: MeasuredDepth, *, ax: Axes | None = None) -> tuple[Artist, ...]:
    """Draw the throughput of every depth as the counters of one engine predict it.

    Parameters
    ----------
    measured : MeasuredDepth
        One result of :func:`ensctl.drafting.measured_depths`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.artist.Artist
        As :func:`depth_curve`, with the band of the fitted acceptance.

    Examples
    --------
    >>> from ensctl.drafting import Counters, measured_depths
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import measured_depth
    >>> window = Counters(1000, 3000, 1650, accepted_per_position=(750, 540, 360))
    >>> len(measured_depth(measured_depths([window], 0.1)[0], ax=Figure().subplots()))
    4
    """
    return depth_curve(measured.optimum, ax=ax)
