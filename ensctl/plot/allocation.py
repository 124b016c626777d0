"""A mix of arms: shares of cycles and of time, and its throughput beside single arms and bound."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from ensctl.plot.axes import axes_for, legend_above, quiet_frame
from ensctl.plot.names import plot_name
from ensctl.plot.palette import BLUE, ORANGE
from ensctl.scheduling.allocation import Allocation

_SHOWN = 1e-9
_MOST_ARMS = 12
_LONGEST_NAME = 18


def allocation(result: Allocation, *, ax: Axes | None = None) -> tuple[Artist, ...]:
    """Draw the arms of a mix as bars: share of cycles, and share of time that they take.

    Parameters
    ----------
    result : Allocation
        What :func:`ensctl.scheduling.allocate` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.artist.Artist
        Bars of cycle shares, bars of time shares (two for each arm in use, at most twelve arms),
        then a text for each arm: its cycle and the throughput it has on its own.  The title says
        what the mix, the best single arm and the bound yield.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> from ensctl.plot import allocation
    >>> from matplotlib.figure import Figure
    >>> mix = scheduling.allocate([scheduling.Drafter("E", 0.6, 0.2)], 4)
    >>> len(allocation(mix, ax=Figure().subplots()))
    3
    """
    ax = axes_for(ax, (6.4, 3.0))
    quiet_frame(ax)
    arms = result.arms
    used = np.flatnonzero(result.shares > _SHOWN)
    # The largest shares where there are too many; in the order of the arms.
    used = np.sort(used[np.argsort(-result.shares[used], kind="stable")][:_MOST_ARMS])
    shares = result.shares[used]
    times = result.shares * arms.cycles
    spent = times[used] / times.sum()
    places = np.arange(used.size, dtype=np.float64)
    cycle_bars = ax.barh(places - 0.19, shares, 0.36, color=BLUE, label="share of cycles")
    time_bars = ax.barh(
        places + 0.19,
        spent,
        0.36,
        color=ORANGE,
        hatch="//",
        edgecolor="white",
        linewidth=0.0,
        label="share of time",
    )
    artists: list[Artist] = [*cycle_bars, *time_bars]
    alone = arms.mean_lengths / arms.cycles
    for place, arm in enumerate(used.tolist()):
        artists.append(
            ax.annotate(
                f"cycle {arms.cycles[arm]:.3g} {arms.unit}, alone {alone[arm]:.4g}",
                (float(max(shares[place], spent[place])), place),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
            )
        )
    ax.set_yticks(places, [plot_name(arms.names[arm], _LONGEST_NAME) for arm in used.tolist()])
    ax.invert_yaxis()
    # Room to the right for what is written beside the longest bar.
    ax.set_xlim(0.0, 1.9)
    ax.set_xticks(np.linspace(0.0, 1.0, 6))
    ax.set_xlabel("share (of 1)")
    ax.grid(False, axis="y")
    legend_above(ax)
    ax.set_title(_sentence(result), loc="left", fontsize="small", pad=24)
    return tuple(artists)


def _sentence(result: Allocation) -> str:
    parts = [f"{result.throughput:.5g} units per {_single(result.arms.unit)} and stream"]
    if result.best_single is None:
        parts.append("no single arm is allowed")
    else:
        name = plot_name(result.best_single.name, _LONGEST_NAME)
        parts.append(f"best single {name}: {result.best_single.throughput:.5g}")
    parts.append(f"bound {result.upper_bound:.5g}")
    head, *rest = parts
    return f"{head};\n" + "; ".join(rest)


def _single(unit: str) -> str:
    """One of a unit that is named in the plural."""
    return unit.removesuffix("es") if unit.endswith("sses") else unit
