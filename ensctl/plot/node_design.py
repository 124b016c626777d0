"""A chosen set of λ above the obvious ones on the same region, or in the plane."""

from __future__ import annotations

import io
import math
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ensctl.analysis.node_design_result import NodeDesign
from ensctl.analysis.node_regions import Annulus, Circle, Disk, Rates
from ensctl.files import write_whole
from ensctl.plot.axes import Array, axes_for, legend_above, quiet_frame
from ensctl.plot.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, Mark
from ensctl.plot.steering_figure import require_picture

# No date: the same design gives the same bytes.
_METADATA: dict[str, dict[str, str | None]] = {
    ".svg": {"Date": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
}
_CRITERIA = {
    "condition": "κ₂",
    "condition_inf": "κ∞",
    "worst_energy": "energy",
    "mean_energy": "energy",
    "log_determinant": "ln det",
    "gap": "gap",
}
_CHOSEN = Mark(BLUE, "o", 7.0)
_FIXED = Mark(VERMILLION, "s", 10.0, filled=False)
_OTHERS = (
    Mark(ORANGE, "|", 12.0, filled=False),
    Mark(GREEN, "D", 5.0, filled=False),
    Mark(PURPLE, "x", 6.0),
    Mark(GREY, "^", 6.0, filled=False),
)
_IN_PLANE = (
    Mark(ORANGE, "s", 8.0, filled=False),
    Mark(GREEN, "D", 7.0, filled=False),
    Mark(PURPLE, "x", 6.0),
    Mark(GREY, "^", 6.0, filled=False),
)


def node_design(design: NodeDesign, *, ax: Axes | None = None) -> tuple[Line2D, ...]:
    """Draw chosen members beside the obvious choices, each with its criterion.

    Real members stand in rows, the chosen ones on top; complex ones in the plane with the unit
    circle and the border of the region.

    Parameters
    ----------
    design : NodeDesign
        What :func:`ensctl.choose_nodes` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        The chosen members, the fixed ones if there are any, then each comparison.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import node_design
    >>> design = ec.choose_nodes(3, ec.Interval(-1.0, 1.0))
    >>> len(node_design(design, ax=Figure().subplots()))
    4
    """
    in_plane = np.iscomplexobj(design.lam) or any(
        np.iscomplexobj(one.lam) for one in design.comparisons
    )
    if in_plane:
        return _plane(design, axes_for(ax, (6.4, 5.2)))
    return _rows(design, axes_for(ax, (6.8, 2.8)))


def save_node_design_figure(design: NodeDesign, path: str | Path) -> Path:
    """Draw a design and write the picture, whole or not at all.

    Parameters
    ----------
    design : NodeDesign
        What :func:`ensctl.choose_nodes` returned.
    path : str or Path
        Ends in .svg, .png or .pdf.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InvalidInputError
        Another suffix, or the file cannot be written.

    Notes
    -----
    rcParams are those of a fresh matplotlib while drawing and are put back afterwards.

    Examples
    --------
    >>> import ensctl as ec, pathlib, tempfile
    >>> from ensctl.plot import save_node_design_figure
    >>> design = ec.choose_nodes(2, ec.Interval(-1.0, 1.0))
    >>> save_node_design_figure(design, pathlib.Path(tempfile.mkdtemp(), "design.svg")).name
    'design.svg'
    """
    file = Path(path)
    require_picture(file)
    suffix = file.suffix.lower()
    buffer = io.BytesIO()
    with style.context("default"), matplotlib.rc_context({"svg.hashsalt": "design"}):
        size = (7.2, 5.0) if np.iscomplexobj(design.lam) else (7.2, 3.0)
        figure = Figure(figsize=size, layout="compressed")
        node_design(design, ax=figure.subplots())
        figure.savefig(buffer, format=suffix[1:], dpi=150, metadata=_METADATA[suffix])
    write_whole(file, buffer.getvalue())
    return file


def _rows(design: NodeDesign, ax: Axes) -> tuple[Line2D, ...]:
    quiet_frame(ax)
    ax.grid(False, axis="y")
    rows = len(design.comparisons)
    artists = ax.plot(design.lam, np.full(design.lam.size, rows), **_CHOSEN.style)
    judged = _CRITERIA.get(design.criterion, design.criterion)
    labels = [f"chosen\n{judged} {design.value_text(design.log10_value)}"]
    if design.fixed:
        kept = design.lam[: design.fixed]
        artists += ax.plot(kept, np.full(kept.size, rows), label="fixed", **_FIXED.style)
    for place, one in enumerate(design.comparisons):
        height = rows - 1 - place
        artists += ax.plot(
            one.lam.real, np.full(one.lam.size, height), **_OTHERS[place % len(_OTHERS)].style
        )
        labels.append(f"{one.name}\n{judged} {design.value_text(one.log10_value)}")
    ax.set_yticks(range(rows, -1, -1), labels, fontsize="small")
    ax.set_ylim(-0.6, rows + 0.6)
    _unit_ends(ax, design)
    ax.set_xlabel("λ (per step)")
    legend_above(ax)
    return tuple(artists)


def _unit_ends(ax: Axes, design: NodeDesign) -> None:
    """The borders of stability, where they are in sight."""
    everything = np.concatenate([design.lam, *(one.lam.real for one in design.comparisons)])
    low, high = float(everything.min()), float(everything.max())
    margin = 0.06 * (high - low) or 0.1
    ax.set_xlim(low - margin, high + margin)
    for edge in (-1.0, 1.0):
        if low - margin < edge < high + margin:
            ax.axvline(edge, color=GREY, linewidth=1.0, zorder=1)


def _plane(design: NodeDesign, ax: Axes) -> tuple[Line2D, ...]:
    quiet_frame(ax)
    ax.set_aspect("equal")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=5))
    turn = np.exp(2j * np.pi * np.linspace(0.0, 1.0, 361))
    ax.plot(turn.real, turn.imag, color=GREY, linewidth=1.2, label="|λ| = 1", zorder=1)
    for border in _borders(design, turn):
        ax.plot(border.real, border.imag, color=GREY, linestyle=":", linewidth=1.2, zorder=1)
    artists: list[Line2D] = []
    for place, one in enumerate(design.comparisons):
        artists += ax.plot(
            one.lam.real,
            one.lam.imag,
            label=f"{one.name}: {design.value_text(one.log10_value)}",
            **_IN_PLANE[place % len(_IN_PLANE)].style,
        )
    first = ax.plot(
        design.lam.real,
        design.lam.imag,
        label=f"chosen: {design.value_text(design.log10_value)}",
        zorder=3,
        **_CHOSEN.style,
    )
    if design.fixed:
        kept = design.lam[: design.fixed]
        first += ax.plot(kept.real, kept.imag, label="fixed", zorder=4, **_FIXED.style)
    ax.set_xlabel("Re λ (per step)")
    ax.set_ylabel("Im λ (per step)")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize="small")
    return (*first, *artists)


def _borders(design: NodeDesign, turn: Array) -> list[Array]:
    region = design.region
    inside = region.region if isinstance(region, Rates) else region
    if not isinstance(inside, Disk | Circle | Annulus):
        return []
    radii = (inside.inner, inside.outer) if isinstance(inside, Annulus) else (inside.radius,)
    borders = [inside.center + radius * turn for radius in radii if radius > 0]
    if isinstance(region, Rates):
        return [np.exp(border * region.dt) for border in borders]
    # The unit circle is there already.
    return [b for b, r in zip(borders, radii, strict=False) if not math.isclose(r, 1.0)]
