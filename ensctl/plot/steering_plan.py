"""A steering plan: its inputs with their limits, and where they take the members."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ensctl.plot.axes import Array, axes_for, legend_above, quiet_frame, short_label
from ensctl.plot.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, TARGET, VERMILLION
from ensctl.synthesis.plan import SteeringPlan

_COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE)
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)))
_IMAGINARY: Any = (0, (2.5, 1.5))
_LIMIT = {"color": GREY, "linestyle": "--", "linewidth": 1.2, "zorder": 1}
# More lines than that are a carpet.
_MOST_LINES = 30
# So many members can be told apart by colour and dashes.
_NAMED = 6


def steering_plan(plan: SteeringPlan, *, ax: Axes | None = None) -> tuple[Line2D, ...]:
    """Draw the inputs of a plan against time, held over each step, with the limits on them.

    Parameters
    ----------
    plan : SteeringPlan
        What :func:`ensctl.steer` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        One line for each channel (two for complex inputs: real, then imaginary part), then the
        upper and the lower limit, as far as there are any.

    Raises
    ------
    InfeasibleError, NotReachableError, PrecisionError, SolverError
        The plan has no inputs; the message says why.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import steering_plan
    >>> plan = ec.steer(ec.Ensemble([0.3, 0.6]), [1, 0], 6, limits=ec.Limits(u_max=3.0))
    >>> len(steering_plan(plan, ax=Figure().subplots()))
    3
    """
    inputs = np.atleast_2d(plan.inputs)
    ax = axes_for(ax, (6.4, 3.2))
    quiet_frame(ax)
    artists: list[Line2D] = []
    for channel, values in enumerate(inputs):
        name = "input u" if len(inputs) == 1 else f"input u[{channel}]"
        artists += _channel(ax, values, name, channel)
    artists += _input_limits(ax, plan, len(inputs))
    _time_axis(ax, plan)
    ax.set_ylabel("input u (unit of u)")
    legend_above(ax)
    return tuple(artists)


def steering_states(plan: SteeringPlan, *, ax: Axes | None = None) -> tuple[Line2D, ...]:
    """Draw where a plan takes the members: x_0 … x_H, with the targets marked at the end.

    Parameters
    ----------
    plan : SteeringPlan
        What :func:`ensctl.steer` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        The trajectories, at most thirty (evenly chosen; the legend counts the rest; complex ones
        take two, real and imaginary part), then the targets, then the limits on states.

    Raises
    ------
    InfeasibleError, NotReachableError, PrecisionError, SolverError
        The plan has no inputs; the message says why.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import steering_states
    >>> plan = ec.steer(ec.Ensemble([0.3, 0.6]), [1, 0], 6)
    >>> len(steering_states(plan, ax=Figure().subplots()))
    3
    """
    states = plan.states()
    ax = axes_for(ax, (6.4, 3.2))
    quiet_frame(ax)
    time = np.arange(plan.horizon + 1)
    target = np.asarray(plan.target)
    parts = 2 if np.iscomplexobj(states) or np.iscomplexobj(target) else 1
    shown = _evenly(plan.ensemble.size, _MOST_LINES // parts)
    artists: list[Line2D] = []
    for rank, member in enumerate(shown.tolist()):
        style = _member_style(plan, member, rank, shown.size, parts)
        artists += ax.plot(time, states[member].real, **style)
        if parts == 2:
            imaginary = {**style, "color": ORANGE, "linestyle": _IMAGINARY}
            imaginary["label"] = "imaginary parts" if rank == 0 else None
            artists += ax.plot(time, states[member].imag, **imaginary)
    ends = target[shown] if parts == 1 else np.concatenate([target[shown].real, target[shown].imag])
    place = np.full(ends.size, plan.horizon)
    artists += ax.plot(place, ends, label="target", clip_on=False, zorder=4, **TARGET.style)
    artists += _state_limits(ax, plan)
    _time_axis(ax, plan)
    ax.set_ylabel("state x (unit of x)")
    legend_above(ax)
    return tuple(artists)


def _channel(ax: Axes, values: Array, name: str, channel: int) -> list[Line2D]:
    """One channel as stairs; the last value is repeated so that its step is seen."""
    held = np.append(values, values[-1])
    time = np.arange(held.size)
    style: dict[str, Any] = {
        "drawstyle": "steps-post",
        "color": _COLOURS[channel % len(_COLOURS)],
        "linestyle": _DASHES[channel % len(_DASHES)],
        "linewidth": 1.6,
    }
    if not np.iscomplexobj(held):
        return list(ax.plot(time, held, label=name, **style))
    solid = {**style, "linestyle": "-"}
    dashed = {**style, "linestyle": _IMAGINARY}
    if channel == 0:
        dashed["color"] = ORANGE if ax.name and values.ndim == 1 else style["color"]
    return [
        *ax.plot(time, held.real, label=f"Re {name}", **solid),
        *ax.plot(time, held.imag, label=f"Im {name}", **dashed),
    ]
