"""Energy that moves one member alone, for every member."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ensctl.analysis.conditioning import Conditioning
from ensctl.plot.axes import (
    Array,
    axes_for,
    decades,
    legend_above,
    quiet_frame,
    short_label,
    towards_middle,
)
from ensctl.plot.palette import BEYOND, MEMBER

# As many of the hardest members are named, if they are this share of the width apart.
_NAMED = 3
_APART = 0.08


def member_energies(conditioning: Conditioning, *, ax: Axes | None = None) -> tuple[Line2D, ...]:
    """Draw the energy per member: against λ when all are real, else against the member's number.

    Parameters
    ----------
    conditioning : Conditioning
        What :func:`ensctl.conditioning` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        The energies, then the marks of members that cannot be moved alone, as far as there are
        any.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import member_energies
    >>> result = ec.conditioning(ec.Ensemble([0.2, 0.5, 0.8]))
    >>> len(member_energies(result, ax=Figure().subplots()))
    1
    """
    ax = axes_for(ax, (6.4, 3.6))
    quiet_frame(ax)
    ens = conditioning.ensemble
    height = np.asarray(conditioning.log10_energy_per_member, dtype=float)
    exists = np.isfinite(height)
    against_lam = not np.iscomplexobj(ens.lam)
    place = ens.lam if against_lam else np.arange(ens.size, dtype=float)
    low, high = decades(ax.yaxis, height)
    style = {**MEMBER.style, "markersize": 5.0 if ens.size <= 80 else 3.0}
    artists: list[Line2D] = []
    if exists.any():
        artists += ax.plot(place[exists], height[exists], label="member moved alone", **style)
    stuck = height == np.inf
    if stuck.any():
        label = f"cannot be moved alone ({np.count_nonzero(stuck)})"
        top = np.full(np.count_nonzero(stuck), high)
        artists += ax.plot(place[stuck], top, label=label, clip_on=False, **BEYOND.style)
    for member in _hardest(place, np.where(exists, height, -np.inf), int(exists.sum())):
        ax.annotate(
            short_label(ens, member),
            (float(place[member]), float(height[member])),
            xytext=(0, 5),
            textcoords="offset points",
            ha=towards_middle(ax, float(place[member])),
            fontsize="small",
        )
    ax.set_ylim(low, high)
    if against_lam:
        ax.set_xlabel("λ (per step)")
    else:
        ax.set_xlabel("member (number)")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_ylabel("energy (input²)")
    legend_above(ax)
    return tuple(artists)


def _hardest(place: Array, height: Array, count: int) -> list[int]:
    """Those of the three hardest members that have room for a name."""
    if place.size == 1:
        return []
    apart = _APART * float(np.ptp(place))
    chosen: list[int] = []
    for member in np.argsort(-height, kind="stable")[: min(_NAMED, count)].tolist():
        if all(abs(place[member] - place[other]) > apart for other in chosen):
            chosen.append(member)
    return chosen
