"""The phase map: regions of equal best depth over acceptance and drafting cost."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import BoundaryNorm, ListedColormap
from numpy.typing import NDArray

from ensctl.drafting.phase_map import PhaseMap
from ensctl.plot.axes import axes_for
from ensctl.plot.palette import GREY

Array = NDArray[Any]

# First depths of the colours; deeper ones share a colour, as a step matters less there.
_STEPS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128, 256)
# More cells than this on a side cannot be seen.
_RESOLUTION = 400
_OFF = "#E8E8E8"
# A region has room for its name when it reaches this share of the map around its inmost point.
_ROOM = 0.03
# Points on a side of the map among which the inmost one is sought.
_POINTS = 120
# Contours of fewer cells cross them anyhow.
_SMOOTH = 8


def depth_map(phases: PhaseMap, *, ax: Axes | None = None) -> QuadMesh:
    """Draw the best depth over α and drafting cost, lines between the regions labelled.

    Parameters
    ----------
    phases : PhaseMap
        What :func:`ensctl.drafting.phase_map` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    matplotlib.collections.QuadMesh
        The coloured cells; where drafting does not pay they are grey.

    Examples
    --------
    >>> from ensctl.drafting import phase_map
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import depth_map
    >>> depth_map(phase_map([0.5, 0.7, 0.9], [0.02, 0.1]), ax=Figure().subplots()).get_array().size
    6
    """
    ax = axes_for(ax, (6.4, 4.4))
    alphas, columns = _thinned(phases.alphas)
    costs, rows = _thinned(phases.draft_costs)
    depth = phases.depth[np.ix_(rows, columns)]
    steps = [step for step in _STEPS if step <= max(int(depth.max()), 1)]
    edges = [-0.5, *(step - 0.5 for step in steps), max(int(depth.max()), steps[-1]) + 0.5]
    colours = colormaps["viridis"](np.linspace(0.15, 1.0, len(steps)))
    palette = ListedColormap([_OFF, *colours])
    mesh = ax.pcolormesh(
        _edges(alphas),
        _edges(costs),
        depth,
        cmap=palette,
        norm=BoundaryNorm(edges, palette.N),
        rasterized=True,
    )
    if min(depth.shape) >= _SMOOTH and depth.min() < depth.max():
        levels = [edge for edge in edges[1:-1] if depth.min() < edge < depth.max()]
        ax.contour(alphas, costs, depth, levels=levels, colors=GREY, linewidths=0.6)
    names = ["off", *(_name(first, last) for first, last in _spans(steps, int(depth.max())))]
    for name, low, high in zip(names, edges, edges[1:], strict=False):
        place, room = _inmost((depth > low) & (depth < high), _edges(alphas), _edges(costs))
        if room >= _ROOM:
            dark = low > 0 and low < edges[len(edges) // 2]
            ax.text(
                *place,
                name,
                ha="center",
                va="center",
                fontsize="small",
                color="white" if dark else "black",
            )
    middles = [0.5 * (low + high) for low, high in pairwise(edges)]
    figure = ax.get_figure(root=True)
    if figure is not None:
        bar = figure.colorbar(mesh, ax=ax, ticks=middles, spacing="uniform")
        bar.ax.set_yticklabels(names)
        bar.ax.tick_params(length=0)
        bar.set_label("best depth K (units)")
    # Cells around the smallest values would reach below what there is.
    ax.set_ylim(bottom=max(0.0, ax.get_ylim()[0]))
    ax.set_xlabel("acceptance α (probability)")
    ax.set_ylabel(_cost_label(phases.fixed))
    return mesh


def _inmost(region: Array, across: Array, up: Array) -> tuple[tuple[float, float], float]:
    """The point of a region that is farthest from its border, and how far as a share of the map.

    Cells between the edges ``across`` and ``up`` may be of any size.
    """
    from scipy.ndimage import distance_transform_edt

    shares = (np.arange(_POINTS) + 0.5) / _POINTS
    x, y = (low + shares * (high - low) for low, high in (across[[0, -1]], up[[0, -1]]))
    seen = region[np.ix_(np.searchsorted(up, y) - 1, np.searchsorted(across, x) - 1)]
    inside = distance_transform_edt(np.pad(seen, 1))[1:-1, 1:-1]
    row, column = np.unravel_index(int(np.argmax(inside)), inside.shape)
    return (float(x[column]), float(y[row])), float(inside[row, column]) / _POINTS


def _cost_label(fixed: float) -> str:
    if fixed == 1.0:
        return "cost of a drafted unit (verifier passes)"
    return f"cost of a drafted unit (fixed cost {fixed:g})"


def _spans(steps: list[int], deepest: int) -> list[tuple[int, int]]:
    ends = [*(step - 1 for step in steps[1:]), max(deepest, steps[-1])]
    return list(zip(steps, ends, strict=True))


def _name(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _thinned(values: Array) -> tuple[Array, Array]:
    """Sorted distinct values, few enough to be seen, and where they stand."""
    distinct, where = np.unique(values, return_index=True)
    step = -(-distinct.size // _RESOLUTION)
    return distinct[::step], where[::step]


def _edges(centres: Array) -> Array:
    """Borders of cells around their centres."""
    if centres.size == 1:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    middles = 0.5 * (centres[1:] + centres[:-1])
    first, last = 2 * centres[0] - middles[0], 2 * centres[-1] - middles[-1]
    return np.concatenate([[first], middles, [last]])
