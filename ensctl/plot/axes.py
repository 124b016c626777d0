"""Axes shared by all plots: a new figure when none is given, and axes in powers of ten."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.legend import Legend
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, ScalarFormatter
from numpy.typing import NDArray

from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.plot.names import plot_name
from ensctl.plot.palette import GREY

Array = NDArray[Any]

_SIDE = 0.2
# Columns of a legend above, and how much wider than the axes before their layout it may be.
_MOST_COLUMNS, _WIDEST = 4, 1.12
# Powers of ten from which numbers on an axis carry their own exponent.
_SMALL, _LARGE = -4, 5


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
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(_WholeNumbers())


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
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.01)}
    for columns in range(_MOST_COLUMNS, 0, -1):
        legend = _legend(ax, ncols=columns, borderaxespad=0.0, **place)
        if legend is None:
            return
        if legend.get_window_extent().width <= _WIDEST * ax.get_window_extent().width:
            return


def legend_beside(ax: Axes) -> None:
    """A frameless legend to the right of the axes."""
    _legend(ax, loc="center left", bbox_to_anchor=(1.01, 0.5), labelspacing=0.8)


def short_label(ens: Ensemble, member: int) -> str:
    """The name of a member, or its number where there are no names, cut to fit a plot."""
    if ens.names is None:
        return str(member)
    return plot_name(ens.names[member])


def towards_middle(ax: Axes, x: float) -> Literal["left", "center", "right"]:
    """How text beside ``x`` is aligned so that it stays off the sides of the axes."""
    low, high = ax.get_xlim()
    share = (x - low) / (high - low)
    return "left" if share < _SIDE else "right" if share > 1.0 - _SIDE else "center"


class _WholeNumbers(ScalarFormatter):
    """Each number with its own exponent: one at the end of the axis would lie on the legend."""

    def __init__(self) -> None:
        super().__init__(useOffset=False)
        self.set_scientific(False)
        self._power = 0

    def set_locs(self, locs: list[float]) -> None:
        """Take the places of all ticks."""
        largest = float(np.max(np.abs(locs), initial=0.0))
        self._power = math.floor(math.log10(largest)) if largest else 0
        super().set_locs(locs)

    def __call__(self, x: float, pos: int | None = None) -> str:
        if _SMALL < self._power < _LARGE:
            return super().__call__(x, pos)
        digits, power = f"{x:.6e}".split("e")
        return self.fix_minus(f"{float(digits):g}e{int(power)}") if x else "0"


def _legend(ax: Axes, **outside: Any) -> Legend | None:
    """Without a layout engine nobody makes room outside the axes: the legend stays inside."""
    handles, labels = ax.get_legend_handles_labels()
    figure = ax.get_figure(root=True)
    if handles and (figure is None or figure.get_layout_engine() is None):
        ax.legend(handles, labels, loc="best", fontsize="small")
    elif handles:
        return ax.legend(
            handles,
            labels,
            frameon=False,
            fontsize="small",
            handletextpad=0.5,
            columnspacing=1.4,
            **outside,
        )
    return None


def _power_of_ten(exponent: float, position: int | None = None) -> str:
    return rf"$10^{{{round(exponent)}}}$"
