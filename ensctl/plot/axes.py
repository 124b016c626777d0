"""Axes shared by all plots: a new figure when none is given, and axes in powers of ten."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.plot.palette import GREY

Array = NDArray[Any]

_LONGEST_NAME = 16


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return ``ax``, or the axes of a new pyplot figure of ``size`` inches."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=size, layout="compressed")[1]
    if not isinstance(ax, Axes):
        raise InvalidInputError(
            f"ax must be a matplotlib Axes, got {type(ax).__name__}; make one with plt.subplots()"
        )
    return ax


def quiet_frame(ax: Axes) -> None:
    """Two spines and a faint grid: the data come first."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color=GREY, alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def decades(axis: Axis, log10_values: Array) -> tuple[float, float]:
    """Label an axis that carries log10 values as powers of ten; return its limits.

    Values of any size fit, since only their logarithm is drawn.
    """
    finite = log10_values[np.isfinite(log10_values)]
    if finite.size == 0:
        axis.set_ticks([])
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    margin = 0.08 * (high - low) + 0.15
    low, high = math.floor(low - margin), math.ceil(high + margin)
    axis.set_major_locator(MaxNLocator(nbins=7, integer=True, min_n_ticks=2))
    axis.set_major_formatter(FuncFormatter(_power_of_ten))
    if high - low <= 4:
        tens = np.arange(low, high)[:, None]
        axis.set_minor_locator(FixedLocator((tens + np.log10(np.arange(2, 10))).ravel().tolist()))
    return float(low), float(high)


def legend_above(ax: Axes) -> None:
    """A frameless legend above the axes, where it hides nothing."""
    _legend(ax, loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=4, borderaxespad=0.0)


def legend_beside(ax: Axes) -> None:
    """A frameless legend to the right of the axes."""
    _legend(ax, loc="center left", bbox_to_anchor=(1.01, 0.5), labelspacing=0.8)


def short_label(ens: Ensemble, member: int) -> str:
    """The name of a member, or its number where there are no names, cut to fit a plot."""
    if ens.names is None:
        return str(member)
    name = ens.names[member]
    # A dollar sign would switch to formula mode.
    text = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    return text.replace("$", r"\$")


def _legend(ax: Axes, **outside: Any) -> None:
    """Without a layout engine nobody makes room outside the axes: the legend stays inside."""
    handles, labels = ax.get_legend_handles_labels()
    figure = ax.get_figure(root=True)
    if handles and (figure is None or figure.get_layout_engine() is None):
        ax.legend(handles, labels, loc="best", fontsize="small")
    elif handles:
        ax.legend(
            handles,
            labels,
            frameon=False,
            fontsize="small",
            handletextpad=0.5,
            columnspacing=1.4,
            **outside,
        )


def _power_of_ten(exponent: float, position: int | None = None) -> str:
    return rf"$10^{{{round(exponent)}}}$"
