"""A swarm as a still picture: where the robots start, their paths, and where they end."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection

from ensctl.plot.axes import Array, axes_for
from ensctl.plot.palette import BLUE, GREY
from ensctl.simulation.swarm_broadcast import BroadcastPlan
from ensctl.simulation.swarm_plan import SwarmPlan

Plan = SwarmPlan | BroadcastPlan

_SIZE = (7.2, 4.0)
# More paths than that are a carpet, and more corners than that cannot be seen.
_MOST_PATHS = 60
_MOST_CORNERS = 600
_MARGIN = 0.06
# Colours of the robots by turn rate (or λ): the lighter end of viridis vanishes on white.
_MAP, _LIGHTEST = "viridis", 0.82


def swarm_picture(plan: Plan, *, ax: Axes | None = None) -> tuple[Artist, ...]:
    """Draw the start of a swarm in grey, some of the paths faintly, and the end in colour.

    Colour tells the turn rate of a robot (λ for a broadcast swarm), dark for small.

    Parameters
    ----------
    plan : SwarmPlan or BroadcastPlan
        What ``Swarm.steer_to`` or ``BroadcastSwarm.steer_to`` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib artists
        Start, paths and end.

    Raises
    ------
    NotReachableError, InfeasibleError, PrecisionError, SolverError
        The plan has no speeds; the message says why.

    Examples
    --------
    >>> from ensctl.plot import swarm_picture, text_points
    >>> from ensctl.simulation import Swarm
    >>> from matplotlib.figure import Figure
    >>> plan = Swarm.scattered(30).steer_to(text_points("L", 30))
    >>> len(swarm_picture(plan, ax=Figure().subplots()))
    3
    """
    path = plan.trajectories()
    ax = axes_for(ax, _SIZE)
    framed(ax, path[:, [0, -1]])
    return (
        _start(ax, path[:, 0]),
        _paths(ax, path),
        robots(ax, path[:, -1], robot_colours(plan)),
    )


def robots(ax: Axes, places: Array, colours: Array) -> PathCollection:
    """Draw robots as dots in their colours."""
    size = float(np.clip(9000.0 / places.size, 5.0, 40.0))
    return ax.scatter(places.real, places.imag, s=size, c=colours, linewidths=0.0, zorder=3)


def robot_colours(plan: Plan) -> Array:
    """RGBA of each robot by the rank of its turn rate or λ, (N, 4)."""
    from matplotlib import colormaps

    trait = plan.swarm.turn_rates if isinstance(plan, SwarmPlan) else plan.swarm.lam
    rank = np.argsort(np.argsort(trait, kind="stable"), kind="stable")
    share = rank / max(rank.size - 1, 1)
    return np.asarray(colormaps[_MAP](_LIGHTEST * share))


def framed(ax: Axes, places: Array) -> float:
    """Hold all places at equal scales, without ticks (positions have no unit); width/height."""
    low = np.array([places.real.min(), places.imag.min()])
    high = np.array([places.real.max(), places.imag.max()])
    margin = _MARGIN * (float((high - low).max()) or 1.0)
    low, high = low - margin, high + margin
    ax.set_xlim(float(low[0]), float(high[0]))
    ax.set_ylim(float(low[1]), float(high[1]))
    ax.set_aspect("equal")
    ax.set_axis_off()
    return float((high[0] - low[0]) / (high[1] - low[1]))


def _start(ax: Axes, places: Array) -> PathCollection:
    return ax.scatter(places.real, places.imag, s=5.0, c=GREY, alpha=0.55, linewidths=0.0, zorder=2)


def _paths(ax: Axes, path: Array) -> LineCollection:
    chosen = np.unique(np.linspace(0, len(path) - 1, min(len(path), _MOST_PATHS)).astype(int))
    stride = -(-path.shape[1] // _MOST_CORNERS)
    corners = path[chosen][:, ::stride]
    segments = np.stack([corners.real, corners.imag], axis=-1)
    lines = LineCollection(list(segments), colors=BLUE, linewidths=0.5, alpha=0.12, zorder=1)
    ax.add_collection(lines)
    return lines
