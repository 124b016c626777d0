"""The accuracy–energy curve: what the next digit costs."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from ensctl.plot.axes import axes_for, legend_above, quiet_frame
from ensctl.plot.palette import BEYOND, BLUE
from ensctl.synthesis.tradeoff import Tradeoff

_UNITS = {"energy": "energy (input²)", "fuel": "fuel (input)", "peak": "peak (input)"}


def tradeoff_curve(curve: Tradeoff, *, ax: Axes | None = None) -> tuple[Artist, ...]:
    """Draw the least cost against the tolerance, coarse on the left.

    Parameters
    ----------
    curve : Tradeoff
        What :func:`ensctl.tradeoff` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.artist.Artist
        The curve, and marks at tolerances that were refused if there are any.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import tradeoff_curve
    >>> curve = ec.tradeoff(ec.Ensemble([0.3, 0.6]), [1, 0], 4, [0.1, 0.01])
    >>> len(tradeoff_curve(curve, ax=Figure().subplots()))
    1
    """
    ax = axes_for(ax, (6.4, 3.6))
    quiet_frame(ax)
    solved = np.array([status.success for status in curve.statuses])
    costs = np.where(solved & (curve.costs > 0), curve.costs, np.nan)
    artists: list[Artist] = []
    artists += ax.plot(
        curve.tolerances, costs, color=BLUE, marker="o", markersize=4, label="least cost, certified"
    )
    if not solved.all() and solved.any():
        top = np.full(np.count_nonzero(~solved), np.nanmax(costs))
        artists += ax.plot(
            curve.tolerances[~solved], top, label="refused", clip_on=False, **BEYOND.style
        )
    ax.set_xscale("log")
    if np.isfinite(costs).any():
        ax.set_yscale("log")
    ax.invert_xaxis()
    unit = "each member" if curve.kind == "member" else "RMS"
    ax.set_xlabel(f"terminal error allowed ({unit}, unit of the states)")
    ax.set_ylabel(_UNITS[curve.objective])
    legend_above(ax)
    return tuple(artists)
