"""Singular values of the steering map on a log axis, with the float64 floor."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ensctl.analysis.conditioning import Conditioning
from ensctl.plot.axes import axes_for, decades, legend_above, quiet_frame
from ensctl.plot.palette import GREY, MEMBER, ZERO

_LOG10_EPS = math.log10(np.finfo(float).eps)


def singular_values(conditioning: Conditioning, *, ax: Axes | None = None) -> tuple[Line2D, ...]:
    """Draw σ_k against k; below ε·σ_1 a float64 matrix holds noise only.

    Parameters
    ----------
    conditioning : Conditioning
        What :func:`ensctl.conditioning` returned; values of any magnitude can be drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        The values above the floor, those below it, those that are exactly zero, and the floor,
        as far as there are any.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import singular_values
    >>> result = ec.conditioning(ec.Ensemble([0.2, 0.5, 0.8]))
    >>> len(singular_values(result, ax=Figure().subplots()))
    2
    """
    ax = axes_for(ax, (6.4, 3.6))
    quiet_frame(ax)
    height = np.asarray(conditioning.log10_singular_values, dtype=float)
    index = np.arange(1, height.size + 1)
    style = {**MEMBER.style, "markersize": 5.0 if height.size <= 80 else 3.0}
    artists: list[Line2D] = []
    exists = np.isfinite(height)
    if exists.any():
        floor = float(height[exists].max()) + _LOG10_EPS
        above = exists & (height >= floor)
        below = exists & (height < floor)
        low, high = decades(ax.yaxis, np.append(height[exists], floor))
        artists += ax.plot(index[above], height[above], label="σ", **style)
        if below.any():
            hollow = {**style, "markerfacecolor": "none", "markeredgewidth": 1.0}
            label = f"σ below the floor ({np.count_nonzero(below)})"
            artists += ax.plot(index[below], height[below], label=label, **hollow)
        artists.append(
            ax.axhline(
                floor,
                color=GREY,
                linestyle="--",
                linewidth=1.3,
                label="float64 floor ε·σ₁",
                zorder=1,
            )
        )
    else:
        low, high = decades(ax.yaxis, height)
    if not exists.all():
        bottom = np.full(np.count_nonzero(~exists), low)
        label = f"exactly zero ({bottom.size})"
        artists += ax.plot(index[~exists], bottom, label=label, clip_on=False, **ZERO.style)
    ax.set_ylim(low, high)
    ax.set_xlim(0.5 - 0.02 * height.size, height.size + 0.5 + 0.02 * height.size)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("k, in descending order")
    ax.set_ylabel("singular value σₖ (state per input)")
    legend_above(ax)
    return tuple(artists)
