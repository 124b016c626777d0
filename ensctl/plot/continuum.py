"""A plan for a continuum: its error with the bound, its end states, and what accuracy costs."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ensctl.files import write_whole
from ensctl.plot.axes import axes_for, legend_above, quiet_frame
from ensctl.plot.palette import BLUE, GREY, ORANGE, PURPLE, Mark
from ensctl.plot.steering_figure import require_picture
from ensctl.synthesis.continuum_curve import AccuracyEnergyCurve
from ensctl.synthesis.continuum_plan import ContinuumPlan
from ensctl.synthesis.continuum_region import Arc

_SIZE = (7.2, 6.4)
_POINTS = 1201
_METADATA: dict[str, dict[str, str | None]] = {
    ".svg": {"Date": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
}
_PEAK = Mark(PURPLE, "D", 5.0, filled=False)
_NOTHING = Mark(GREY, "v", 6.0, filled=True)


def continuum_plan(plan: ContinuumPlan, *, ax: Axes | None = None) -> tuple[Line2D, ...]:
    """Draw target(λ) − x_H(λ) over the region, with its bound and its peaks.

    Parameters
    ----------
    plan : ContinuumPlan
        What :func:`ensctl.continuum` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        The error (its modulus on an arc), the peaks, the bound (and its negative on an interval).

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import continuum_plan
    >>> plan = ec.continuum("sin(6*x)", (0.1, 0.9), 8)
    >>> len(continuum_plan(plan, ax=Figure().subplots()))
    4
    """
    ax = axes_for(ax, (6.4, 3.2))
    quiet_frame(ax)
    lam, places = _points(plan)
    errors = plan.errors(lam)
    at_peaks = plan.errors(plan.peaks)
    plane = np.iscomplexobj(errors)
    name = "|target − x|" if plane else "target − x"
    drawn, marked = (np.abs(errors), np.abs(at_peaks)) if plane else (errors, at_peaks)
    artists: list[Line2D] = []
    artists += ax.plot(places, drawn, color=BLUE, linewidth=1.3, label=name)
    artists += ax.plot(
        _place(plan, plan.peaks), marked, label="peak", zorder=4, clip_on=False, **_PEAK.style
    )
    kind = "bound, proved" if plan.rigorous else "bound, estimated"
    for sign in (1.0,) if plane else (1.0, -1.0):
        artists.append(
            ax.axhline(
                sign * plan.sup_error_bound,
                color=GREY,
                linestyle="--",
                linewidth=1.2,
                label=kind if sign > 0 else None,
            )
        )
    ax.set_xlim(places[0], places[-1])
    ax.set_xlabel(_axis(plan))
    ax.set_ylabel("error (unit of x)")
    legend_above(ax)
    return tuple(artists)


def continuum_states(plan: ContinuumPlan, *, ax: Axes | None = None) -> tuple[Line2D, ...]:
    """Draw the end state x_H(λ) over the region, on its target.

    Parameters
    ----------
    plan : ContinuumPlan
        What :func:`ensctl.continuum` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        Target and end state; real and imaginary parts of both on an arc.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import continuum_states
    >>> plan = ec.continuum("sin(6*x)", (0.1, 0.9), 8)
    >>> len(continuum_states(plan, ax=Figure().subplots()))
    2
    """
    ax = axes_for(ax, (6.4, 3.2))
    quiet_frame(ax)
    lam, places = _points(plan)
    target = plan.targets(lam)
    state = target - plan.errors(lam)
    artists: list[Line2D] = []
    parts = [("", target, state)]
    if np.iscomplexobj(target) or np.iscomplexobj(state):
        parts = [("Re ", target.real, state.real), ("Im ", target.imag, state.imag)]
    for rank, (part, wanted, reached) in enumerate(parts):
        artists += ax.plot(
            places, wanted, color=GREY, linewidth=3.0, alpha=0.6, label=f"{part}target"
        )
        artists += ax.plot(
            places,
            reached,
            color=(BLUE, ORANGE)[rank],
            linestyle=("-", "--")[rank],
            linewidth=1.3,
            label=f"{part}x after {plan.horizon} steps",
        )
    ax.set_xlim(places[0], places[-1])
    ax.set_xlabel(_axis(plan))
    ax.set_ylabel("state (unit of x)")
    legend_above(ax)
    return tuple(artists)


def accuracy_energy(curve: AccuracyEnergyCurve, *, ax: Axes | None = None) -> tuple[Artist, ...]:
    """Draw least energy against the uniform error allowed, coarse on the left.

    Parameters
    ----------
    curve : AccuracyEnergyCurve
        What :func:`ensctl.accuracy_energy_curve` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.artist.Artist
        The curve, the best error, and marks at tolerances that cost nothing if there are any.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import accuracy_energy
    >>> curve = ec.accuracy_energy_curve("sin(6*x)", (0.1, 0.9), 8, [0.1, 0.01])
    >>> len(accuracy_energy(curve, ax=Figure().subplots()))
    2
    """
    ax = axes_for(ax, (6.4, 3.6))
    quiet_frame(ax)
    solved = np.isfinite(curve.energies) & (curve.energies > 0)
    ax.set_xscale("log")
    artists: list[Artist] = []
    if solved.any():
        ax.set_yscale("log")
    artists += ax.plot(
        curve.tolerances[solved],
        curve.energies[solved],
        color=BLUE,
        marker="o",
        markersize=4,
        label="least energy",
    )
    if curve.best_error > 0:
        artists.append(
            ax.axvline(
                curve.best_error, color=PURPLE, linestyle="--", linewidth=1.2, label="best error"
            )
        )
    free = curve.energies == 0
    if free.any() and solved.any():
        floor = np.full(int(free.sum()), float(curve.energies[solved].min()))
        artists += ax.plot(
            curve.tolerances[free], floor, label="no input needed", clip_on=False, **_NOTHING.style
        )
    ax.invert_xaxis()
    ax.set_xlabel("largest error allowed over all λ (unit of x)")
    ax.set_ylabel("energy Σu² (input²)")
    legend_above(ax)
    return tuple(artists)


def save_continuum_figure(plan: ContinuumPlan, path: str | Path) -> Path:
    """Draw end states and error one above the other and write the picture, whole or not at all.

    Parameters
    ----------
    plan : ContinuumPlan
        What :func:`ensctl.continuum` returned.
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

    Examples
    --------
    >>> import ensctl as ec, pathlib, tempfile
    >>> from ensctl.plot import save_continuum_figure
    >>> plan = ec.continuum("sin(6*x)", (0.1, 0.9), 8)
    >>> save_continuum_figure(plan, pathlib.Path(tempfile.mkdtemp(), "plan.svg")).name
    'plan.svg'
    """
    from matplotlib import style

    file = Path(path)
    require_picture(file)
    suffix = file.suffix.lower()
    buffer = io.BytesIO()
    with style.context("default"), matplotlib.rc_context({"svg.hashsalt": "continuum"}):
        figure = Figure(figsize=_SIZE, layout="compressed")
        above, below = figure.subplots(2, 1)
        continuum_states(plan, ax=above)
        continuum_plan(plan, ax=below)
        figure.savefig(buffer, format=suffix[1:], dpi=150, metadata=_METADATA[suffix])
    write_whole(file, buffer.getvalue())
    return file


def _points(plan: ContinuumPlan) -> tuple[np.ndarray, np.ndarray]:
    """λ, dense at the ends where errors swing fastest, and where they are drawn."""
    lam = plan.region.at(plan.region.chebyshev(_POINTS))
    return lam, _place(plan, lam)


def _place(plan: ContinuumPlan, lam: np.ndarray) -> np.ndarray:
    region = plan.region
    if not isinstance(region, Arc):
        return np.asarray(lam)
    t = region.parameter(lam)
    return np.asarray(0.5 * (region.start + region.end) + 0.5 * t * (region.end - region.start))


def _axis(plan: ContinuumPlan) -> str:
    return "angle of λ (radians)" if isinstance(plan.region, Arc) else "λ"
