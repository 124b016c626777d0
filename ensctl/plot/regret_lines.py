"""Regret of policies against the best fixed arm, over the cycles of a replay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from ensctl.errors import InvalidInputError
from ensctl.plot.axes import axes_for, legend_above, quiet_frame
from ensctl.plot.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from ensctl.scheduling.replay_policy import ReplayResult

_COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE)
_LINES = ("-", "--", "-.", ":")


def regret_curves(
    results: ReplayResult | Sequence[ReplayResult], *, ax: Axes | None = None
) -> tuple[Artist, ...]:
    """Draw tokens lost to the best fixed arm in hindsight against cycles, with standard errors.

    Parameters
    ----------
    results : ReplayResult or sequence of ReplayResult
        What :func:`ensctl.scheduling.replay` returned, of one policy or of several.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.artist.Artist
        The line of the best fixed arm, and for each policy its curve and, with several seeds,
        the band of one standard error.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import regret_curves
    >>> policy = scheduling.policies.KFUCB(scheduling.fixture_arms())
    >>> traces = scheduling.token_chain("iid", requests=20)
    >>> result = scheduling.replay(traces, policy, batch=4, cycles=100, seed=[0, 1])
    >>> len(regret_curves(result, ax=Figure().subplots()))
    3
    """
    several = [results] if isinstance(results, ReplayResult) else list(results)
    if not several or not all(isinstance(result, ReplayResult) for result in several):
        raise InvalidInputError("results must be one ReplayResult or some, as replay returns them")
    ax = axes_for(ax, (6.4, 3.6))
    quiet_frame(ax)
    artists: list[Artist] = [
        ax.axhline(0.0, color=GREY, linestyle="--", linewidth=1.2, label="best fixed arm")
    ]
    for i, result in enumerate(several):
        mean, error = result.regret()
        colour, line = _COLOURS[i % len(_COLOURS)], _LINES[i // len(_COLOURS) % len(_LINES)]
        name = result.policy.split(" ", 1)[0]
        label = f"{name} ({result.gain()})"
        artists += ax.plot(result.marks, mean, color=colour, linestyle=line, label=label)
        if np.all(np.isfinite(error)):
            low, high = mean - error, mean + error
            band = ax.fill_between(result.marks, low, high, color=colour, alpha=0.18, linewidth=0)
            artists.append(band)
    ax.set_xscale("log")
    ax.set_xlabel("cycles")
    ax.set_ylabel("regret (tokens)")
    legend_above(ax)
    return tuple(artists)
