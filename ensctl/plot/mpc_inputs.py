"""The plan behind the last step of a receding-horizon controller."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ensctl.plot.axes import axes_for, legend_above, quiet_frame
from ensctl.plot.palette import GREY, distinct
from ensctl.synthesis.mpc_state import MPCState

_LIMIT: dict[str, Any] = {"color": GREY, "linestyle": "--", "linewidth": 1.2, "zorder": 1}


def mpc_plan(state: MPCState, *, ax: Axes | None = None) -> tuple[Line2D, ...]:
    """Draw the inputs planned at the last step, held over each step, with their limits.

    Parameters
    ----------
    state : MPCState
        From :meth:`ensctl.MPC.step`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        One line for each input, then the finite limits, as far as there are any.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import mpc_plan
    >>> mpc = ec.MPC(ec.Ensemble([0.3, 0.6]), 10, ec.Limits(u_max=0.5))
    >>> u, state = mpc.step(mpc.init(), reference=1.0, x=[0.0, 0.0])
    >>> len(mpc_plan(state, ax=Figure().subplots()))
    3
    """
    ax = axes_for(ax, (6.4, 3.2))
    quiet_frame(ax)
    lines: list[Line2D] = []
    start = max(state.step - 1, 0)
    for channel, values in enumerate(state.plan):
        held = np.append(values, values[-1:])
        label = "u" if len(state.plan) == 1 else f"input {channel}"
        lines += ax.plot(
            start + np.arange(held.size),
            held,
            drawstyle="steps-post",
            **distinct(channel),
            label=f"planned {label}",
        )
    limits = np.unique(np.concatenate([state.upper, state.lower]))
    for rank, limit in enumerate(limits[np.isfinite(limits)][::-1]):
        lines.append(ax.axhline(float(limit), label="limits" if not rank else None, **_LIMIT))
    ax.set_xlabel("time (steps)")
    ax.set_ylabel("input u (unit of u)")
    legend_above(ax)
    return tuple(lines)
