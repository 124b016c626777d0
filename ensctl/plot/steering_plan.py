"""A steering plan: its inputs with their limits, and where they take the members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ensctl.plot.axes import Array, axes_for, legend_above, quiet_frame, short_label
from ensctl.plot.palette import GREY, PURPLE, Mark, distinct
from ensctl.synthesis.plan import SteeringPlan

_LIMIT: dict[str, Any] = {"color": GREY, "linestyle": "--", "linewidth": 1.2, "zorder": 1}
_TARGET = Mark(PURPLE, "D", 6.0, filled=False)
_IMAGINARY_TARGET = Mark(PURPLE, "s", 6.5, filled=False)
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
    for rank, (label, values) in enumerate(_series(inputs)):
        # The last value is repeated so that its step is seen too.
        held = np.append(values, values[-1])
        artists += ax.plot(
            np.arange(held.size), held, label=label, drawstyle="steps-post", **distinct(rank)
        )
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
    in_plane = np.iscomplexobj(states) or np.iscomplexobj(plan.target)
    shown = _evenly(plan.ensemble.size, _MOST_LINES // 2 if in_plane else _MOST_LINES)
    artists: list[Line2D] = []
    for style, values in _trajectories(plan, states, shown, in_plane):
        artists += ax.plot(np.arange(plan.horizon + 1), values, **style)
    for label, mark, ends in _targets(np.asarray(plan.target)[shown], in_plane):
        place = np.full(ends.size, plan.horizon)
        artists += ax.plot(place, ends, label=label, clip_on=False, zorder=4, **mark.style)
    artists += _state_limits(ax, plan)
    _time_axis(ax, plan)
    ax.set_ylabel("state x (unit of x)")
    legend_above(ax)
    return tuple(artists)


def _series(inputs: Array) -> list[tuple[str, Array]]:
    """What is drawn of (m, H) inputs: the channels, or their real and imaginary parts."""
    names = ["input u"] if len(inputs) == 1 else [f"input u[{k}]" for k in range(len(inputs))]
    if not np.iscomplexobj(inputs):
        return list(zip(names, inputs, strict=True))
    return [
        (f"{part} {name}", numbers)
        for name, values in zip(names, inputs, strict=True)
        for part, numbers in (("Re", values.real), ("Im", values.imag))
    ]


def _trajectories(
    plan: SteeringPlan, states: Array, shown: Array, in_plane: bool
) -> Iterator[tuple[dict[str, Any], Array]]:
    """How each line looks, with its values: few members have names, many are counted."""
    ens, crowd = plan.ensemble, _counted(plan, shown)
    for rank, member in enumerate(shown.tolist()):
        values, first = states[member], rank == 0
        if in_plane:
            yield {**_crowd(0), "label": f"Re x, {crowd}" if first else None}, values.real
            yield {**_crowd(1), "label": "Im x" if first else None}, values.imag
        elif shown.size > _NAMED:
            yield {**_crowd(0), "label": crowd if first else None}, values
        else:
            name = short_label(ens, member)
            label = name if ens.names is not None else f"member {name}"
            yield {**distinct(rank), "label": label}, values


def _targets(target: Array, in_plane: bool) -> list[tuple[str, Mark, Array]]:
    if not in_plane:
        return [("target", _TARGET, target)]
    return [
        ("Re target", _TARGET, target.real),
        ("Im target", _IMAGINARY_TARGET, target.imag),
    ]


def _crowd(rank: int) -> dict[str, Any]:
    return {**distinct(rank), "linewidth": 1.0, "alpha": 0.55}


def _counted(plan: SteeringPlan, shown: Array) -> str:
    size = plan.ensemble.size
    if shown.size < size:
        return f"{shown.size} of {size} members"
    return "1 member" if size == 1 else f"{size} members"


def _evenly(size: int, most: int) -> Array:
    """Members to draw: all, or ``most`` of them from the first to the last."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))


def _input_limits(ax: Axes, plan: SteeringPlan, channels: int) -> list[Line2D]:
    lower, upper = plan.limits.input_range(plan.horizon, channels)
    artists: list[Line2D] = []
    for bound in (upper, lower):
        # Channels share a line where they share a limit.
        for values in np.unique(bound.reshape(plan.horizon, channels).T, axis=0):
            if not np.any(np.isfinite(values)):
                continue
            held = np.append(values, values[-1])
            artists += ax.plot(
                np.arange(held.size),
                np.where(np.isfinite(held), held, np.nan),
                drawstyle="steps-post",
                label=None if artists else "limit",
                **_LIMIT,
            )
    return artists


def _state_limits(ax: Axes, plan: SteeringPlan) -> list[Line2D]:
    """The limit on |x| where it is one number for all members."""
    limit = plan.limits.state_max
    values = np.unique(np.asarray(limit, dtype=float)) if limit is not None else np.empty(0)
    if values.size != 1:
        return []
    return [
        ax.axhline(sign * float(values[0]), label="limit" if sign > 0 else None, **_LIMIT)
        for sign in (1, -1)
    ]


def _time_axis(ax: Axes, plan: SteeringPlan) -> None:
    ax.set_xlim(0, plan.horizon)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    dt = plan.ensemble.dt
    ax.set_xlabel("time (steps)" if dt == 1.0 else f"time (steps of {dt:g} s)")
