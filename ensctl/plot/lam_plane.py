"""The λ of an ensemble: in the complex plane, or against the gains when all are real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ensctl.analysis.controllability import Controllability
from ensctl.analysis.distances import NearestPair
from ensctl.ensemble.ensemble import Ensemble
from ensctl.formatting import listed
from ensctl.plot.axes import (
    axes_for,
    decades,
    legend_beside,
    quiet_frame,
    short_label,
    towards_middle,
)
from ensctl.plot.palette import DEAD, GREY, LOCKED, MEMBER, NEAREST, Mark

Array = NDArray[Any]

# Above this ratio of gains the axis carries powers of ten.
_WIDE_GAINS = 1e3
# As many groups get a label of their own; the legend counts the rest.
_LABELS = 3


@dataclass(frozen=True)
class _Special:
    """Members of one meaning: where they are marked, and what the legend and the labels say."""

    mark: Mark
    meaning: str
    groups: tuple[tuple[int, ...], ...]

    @property
    def members(self) -> list[int]:
        return [member for group in self.groups for member in group]


def lam_plane(
    ens: Ensemble,
    *,
    ax: Axes | None = None,
    verdict: Controllability | None = None,
    nearest: NearestPair | None = None,
) -> tuple[Line2D, ...]:
    """Draw λ in the complex plane with the unit circle; real λ against the size of their gains.

    Parameters
    ----------
    ens : Ensemble
        The population.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.
    verdict : Controllability, optional
        Marks its locked members.
    nearest : NearestPair, optional
        Marks the pair that is nearest to locked.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        The members first, then what marks dead, locked and nearly locked ones.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import lam_plane
    >>> artists = lam_plane(ec.Ensemble([0.2, 0.5, 0.8]), ax=Figure().subplots())
    >>> len(artists)
    1
    """
    ax = axes_for(ax, (6.4, 2.8) if not np.iscomplexobj(ens.lam) else (6.4, 4.6))
    quiet_frame(ax)
    if np.iscomplexobj(ens.lam):
        x, y = ens.lam.real, ens.lam.imag
        _plane(ax, float(np.abs(ens.lam).max()))
    else:
        x, y = ens.lam, _gain_axis(ax, np.linalg.norm(ens.gains, axis=1))
        _line(ax, x)
    specials = _specials(ens, verdict, nearest)
    alive = np.setdiff1d(
        np.arange(ens.size), [m for s in specials if s.mark is DEAD for m in s.members]
    )
    size = {"markersize": MEMBER.size if ens.size <= 200 else 3.0}
    artists: list[Line2D] = list(
        ax.plot(x[alive], y[alive], label=_counted(alive.size), **{**MEMBER.style, **size})
    )
    for special in specials:
        chosen = special.members
        artists += ax.plot(x[chosen], y[chosen], label=special.meaning, **special.mark.style)
    for rank, (special, group) in enumerate(_labelled(specials)):
        _label(ax, ens, special, group, (float(x[group[0]]), float(y[group[0]])), rank)
    legend_beside(ax)
    return tuple(artists)


def _specials(
    ens: Ensemble, verdict: Controllability | None, nearest: NearestPair | None
) -> list[_Special]:
    found = []
    dead = np.flatnonzero(~np.any(ens.gains, axis=1))
    if dead.size:
        groups = tuple((int(member),) for member in dead)
        found.append(_Special(DEAD, f"dead, b = 0 ({dead.size})", groups))
    locked = () if verdict is None else verdict.locked
    if locked:
        count = sum(len(group) for group in locked)
        found.append(
            _Special(LOCKED, f"locked: same λ\n({count} in {_groups(len(locked))})", locked)
        )
    if nearest is not None:
        pair = nearest.members
        if not any(set(pair) <= set(group) for group in locked):
            meaning = f"nearest to locked\n(gap {nearest.gap:.3g})"
            found.append(_Special(NEAREST, meaning, (tuple(sorted(pair)),)))
    return found


def _labelled(specials: list[_Special]) -> list[tuple[_Special, tuple[int, ...]]]:
    return [(special, group) for special in specials for group in special.groups[:_LABELS]]


def _label(
    ax: Axes,
    ens: Ensemble,
    special: _Special,
    group: tuple[int, ...],
    place: tuple[float, float],
    rank: int,
) -> None:
    """Name the members of a group beside it, alternately above and below."""
    names = [short_label(ens, member) for member in group]
    above = rank % 2 == 0
    ax.annotate(
        listed(names, 3),
        place,
        xytext=(0, (14 + 10 * (rank // 2)) * (1 if above else -1)),
        textcoords="offset points",
        ha=towards_middle(ax, place[0]),
        va="bottom" if above else "top",
        fontsize="small",
        arrowprops={"arrowstyle": "-", "color": special.mark.colour, "linewidth": 0.8},
    )


def _plane(ax: Axes, radius: float) -> None:
    # An artist rather than a patch: it must not widen the view of a small set.
    ax.add_artist(Circle((0, 0), 1.0, fill=False, edgecolor=GREY, linewidth=1.2, zorder=1))
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    limit = 1.15 * (radius if 0 < radius < 0.25 else max(1.0, radius))
    ax.margins(0.0)
    ax.update_datalim([(-limit, -limit), (limit, limit)])
    ax.autoscale_view()
    ax.set_aspect("equal", adjustable="box")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=5))
    ax.yaxis.set_major_locator(MaxNLocator(nbins=5))
    ax.set_xlabel("Re λ (per step)")
    ax.set_ylabel("Im λ (per step)")


def _line(ax: Axes, lam: Array) -> None:
    low, high = float(lam.min()), float(lam.max())
    margin = 0.06 * (high - low) or 0.1 * max(abs(low), 0.1)
    low, high = low - margin, high + margin
    ax.set_xlim(low, high)
    for edge in (-1.0, 1.0):
        if low < edge < high:
            ax.axvline(edge, color=GREY, linewidth=1.2, zorder=1)
            ax.axvspan(
                edge, high if edge > 0 else low, color=GREY, alpha=0.12, linewidth=0, zorder=0
            )
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6))
    ax.set_xlabel("λ (per step)")


def _gain_axis(ax: Axes, gains: Array) -> Array:
    """Prepare the vertical axis and return the height of each member on it."""
    alive = gains[gains > 0]
    if alive.size and alive.max() > _WIDE_GAINS * alive.min():
        with np.errstate(divide="ignore"):
            height = np.log10(gains)
        low, high = decades(ax.yaxis, height)
        height = np.where(gains > 0, height, low)
        ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    else:
        height = gains
        top = float(gains.max()) or 1.0
        ax.set_ylim(0.0 if alive.size == gains.size else -0.2 * top, 1.4 * top)
        ax.yaxis.set_major_locator(MaxNLocator(nbins=4))
    ax.set_ylabel("gain ‖b‖ (state per input)")
    return height


def _counted(count: int) -> str:
    return "1 member" if count == 1 else f"{count} members"


def _groups(count: int) -> str:
    return "1 group" if count == 1 else f"{count} groups"
