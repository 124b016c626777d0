"""Measured survival of drafts beside the models fitted to it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ensctl.drafting.acceptance import AcceptanceModel, as_acceptance
from ensctl.drafting.counters import Counters
from ensctl.drafting.fitting.intervals import share_estimate
from ensctl.errors import InvalidInputError
from ensctl.plot.axes import axes_for, legend_above, quiet_frame
from ensctl.plot.names import plot_name
from ensctl.plot.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION

_LONGEST_NAME = 24
_LINES = (
    (ORANGE, "--", "s"),
    (GREEN, "-.", "^"),
    (VERMILLION, ":", "D"),
    (PURPLE, (0, (5, 1)), "v"),
    (GREY, (0, (1, 1)), "x"),
)


def survival_fit(
    counters: Counters,
    models: Mapping[str, AcceptanceModel | float],
    *,
    level: float = 0.95,
    ax: Axes | None = None,
) -> tuple[Artist, ...]:
    """Draw the share of drafts with at least j units kept, measured and fitted.

    Parameters
    ----------
    counters : Counters
        One window with counts per position.
    models : mapping of str to AcceptanceModel or float
        Models by the name they get in the legend; a number α is IID(α).
    level : float
        Coverage of the error bars, in (0, 1); they take drafts as independent.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.artist.Artist
        The measured points with their error bars, then one line per model.

    Raises
    ------
    InvalidInputError
        The counters have no counts per position.

    Examples
    --------
    >>> from ensctl.drafting import Counters
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import survival_fit
    >>> window = Counters(100, 300, 147, (70, 49, 28), depth=3)
    >>> len(survival_fit(window, {"i.i.d.": 0.7}, ax=Figure().subplots()))
    2
    """
    shares = counters.survival()
    if shares is None:
        raise InvalidInputError(
            "counters must have accepted_per_position and at least one draft; this window has not"
        )
    ax = axes_for(ax, (6.4, 3.6))
    quiet_frame(ax)
    depth = len(shares) - 1
    positions = np.arange(1, depth + 1)
    measured = np.array(shares[1:])
    ranges = [
        share_estimate(share * counters.drafts, counters.drafts, level=level)
        for share in shares[1:]
    ]
    reach = np.array([[one.value - one.low, one.high - one.value] for one in ranges]).T
    artists: list[Artist] = [
        ax.errorbar(
            positions,
            measured,
            yerr=np.maximum(reach, 0.0),
            color=BLUE,
            linestyle="none",
            marker="o",
            markersize=6,
            capsize=3,
            label=f"measured, {counters.drafts:g} drafts",
        ).lines[0]
    ]
    for (name, model), (colour, dashes, shape) in zip(models.items(), cycle(_LINES), strict=False):
        curve = as_acceptance(model, f"models[{name!r}]").survival(depth)[1:]
        artists += ax.plot(
            positions,
            curve,
            color=colour,
            linestyle=dashes,
            marker=shape,
            markersize=4,
            label=plot_name(name, _LONGEST_NAME),
        )
    ax.set_ylim(0.0, 1.04)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True))
    ax.set_xlabel("position j in the draft (units)")
    ax.set_ylabel("drafts with ≥ j units kept (share)")
    legend_above(ax)
    return tuple(artists)
