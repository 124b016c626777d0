"""Every kind of result can be drawn, on the axes that are given, and says what it must."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import ensctl as ec
from ensctl.analysis.horizon_sweep import HorizonSweep
from ensctl.plot import horizon_sweep, lam_plane, member_energies, singular_values

ENSEMBLES = {
    "real": ec.Ensemble([0.2, 0.5, 0.8]),
    "complex": ec.Ensemble([0.5 + 0.2j, 0.5 - 0.2j, -0.3j]),
    "locked": ec.Ensemble([0.3, 0.3, 0.9]),
    "dead": ec.Ensemble([0.1, 0.5, 0.9], [1.0, 0.0, 1.0]),
    "all dead": ec.Ensemble([0.1, 0.5], 0.0),
    "one member": ec.Ensemble([0.5]),
    "zero": ec.Ensemble([0.0]),
    "unstable": ec.Ensemble([-1.5, 0.5, 2.0]),
    "wide gains": ec.Ensemble([0.1, 0.2, 0.3, 0.4], [1.0, 1e-17, 1e5, 0.0]),
    "two channels": ec.Ensemble([0.3, 0.3, 0.9], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    "names": ec.Ensemble([0.2, 0.2, 0.8], names=["a$b", "x" * 60, "λ"]),
    "large": ec.Ensemble(np.linspace(0.0, 0.99, 300)),
}


def _axes() -> Axes:
    return Figure(layout="constrained").subplots()


def _rendered(ax: Axes) -> bytes:
    buffer = io.BytesIO()
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    figure.savefig(buffer, format="png", dpi=40)
    return buffer.getvalue()


def _labels(ax: Axes) -> str:
    legend = ax.get_legend()
    return "" if legend is None else " | ".join(text.get_text() for text in legend.get_texts())


@pytest.mark.parametrize("kind", ENSEMBLES)
def test_lam_plane_draws_every_kind_on_the_given_axes(kind: str) -> None:
    ens, ax = ENSEMBLES[kind], _axes()
    result = ec.controllability(ens)
    artists = lam_plane(ens, ax=ax, verdict=result)
    _belongs_to(ax, artists)
    assert ax.get_xlabel() and "(" in ax.get_ylabel()
    assert ("locked" in _labels(ax)) == bool(result.locked)
    assert ("dead" in _labels(ax)) == bool(result.dead)


@pytest.mark.parametrize("kind", [kind for kind in ENSEMBLES if kind != "large"])
@pytest.mark.parametrize("draw", [singular_values, member_energies])
def test_conditioning_plots_draw_every_kind(kind: str, draw: Callable[..., Any]) -> None:
    ax = _axes()
    _belongs_to(ax, draw(ec.conditioning(ENSEMBLES[kind]), ax=ax))
    assert ax.get_xlabel() and "(" in ax.get_ylabel()


def test_members_keep_their_place() -> None:
    ax = _axes()
    members = lam_plane(ec.Ensemble([0.5 + 0.2j, -0.1 - 0.7j]), ax=ax)[0]
    assert np.array_equal(members.get_xydata(), [[0.5, 0.2], [-0.1, -0.7]])
    ax = _axes()
    members = lam_plane(ec.Ensemble([0.2, 0.8], [3.0, 4.0]), ax=ax)[0]
    assert np.array_equal(members.get_xydata(), [[0.2, 3.0], [0.8, 4.0]])


def test_nearest_pair_is_marked_unless_it_is_locked() -> None:
    for lam, marked in (([0.3, 0.31, 0.9], True), ([0.3, 0.3, 0.9], False)):
        result = ec.conditioning(ec.Ensemble(lam))
        ax = _axes()
        lam_plane(result.ensemble, ax=ax, verdict=result.verdict, nearest=result.nearest)
        assert ("nearest to locked" in _labels(ax)) == marked


def test_singular_values_of_any_size_and_exact_zeros() -> None:
    result = ec.conditioning(ec.Ensemble(np.linspace(0.1, 0.9, 5)))
    log10 = np.array([2.0, -5.0, -100.0, -298.0, -np.inf])
    ax = _axes()
    above, below, floor, zeros = singular_values(
        replace(result, log10_singular_values=log10), ax=ax
    )
    assert np.array_equal(above.get_ydata(), [2.0, -5.0])
    assert np.array_equal(below.get_ydata(), [-100.0, -298.0])
    assert np.allclose(floor.get_ydata(), 2.0 + np.log10(2.0**-52))
    assert np.size(zeros.get_xdata()) == 1
    assert "exactly zero (1)" in _labels(ax)
    _rendered(ax)


def test_infinite_energies_are_marked_and_counted() -> None:
    ax = _axes()
    result = ec.conditioning(ec.Ensemble([0.3, 0.3, 0.9]))
    moved, stuck = member_energies(result, ax=ax)
    assert np.size(moved.get_xdata()) == 1
    assert np.array_equal(stuck.get_xdata(), [0.3, 0.3])
    assert "cannot be moved alone (2)" in _labels(ax)


@pytest.mark.parametrize(
    "energies", [[5.0, 4.0, 3.0], [np.inf, 4.0, 3.0], [np.inf] * 3, [3e5, 1.0, -3e5]]
)
def test_horizon_sweep_draws_any_energies(energies: list[float]) -> None:
    log10 = np.array(energies)
    sweep = HorizonSweep(np.array([3, 6, 12]), log10 / 2, log10, 1e-14)
    ax = _axes()
    artists = horizon_sweep(sweep, ax=ax)
    _belongs_to(ax, artists)
    assert len(artists) == (3 if np.isinf(log10).any() else 2)
    assert ("infinite" in _labels(ax)) == bool(np.isinf(log10).any())


def test_one_horizon_can_be_drawn() -> None:
    ax = _axes()
    horizon_sweep(HorizonSweep(np.array([3]), np.array([2.0]), np.array([1.0]), 0.0), ax=ax)
    assert _rendered(ax).startswith(b"\x89PNG")


def test_without_axes_a_new_figure_is_opened_and_rcparams_stay() -> None:
    from matplotlib import pyplot

    before, settings = pyplot.get_fignums(), dict(matplotlib.rcParams)
    lam_plane(ENSEMBLES["real"])
    assert len(pyplot.get_fignums()) == len(before) + 1
    assert dict(matplotlib.rcParams) == settings
    pyplot.close(pyplot.get_fignums()[-1])


def test_with_axes_pyplot_is_not_touched() -> None:
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    lam_plane(ENSEMBLES["real"], ax=_axes())
    assert pyplot.get_fignums() == before


def test_something_else_than_axes_is_refused() -> None:
    with pytest.raises(ec.InvalidInputError, match="ax must be a matplotlib Axes"):
        lam_plane(ENSEMBLES["real"], ax=Figure())  # type: ignore[arg-type]


def test_results_find_their_plot() -> None:
    ax = _axes()
    _belongs_to(ax, ec.conditioning(ENSEMBLES["real"]).plot(ax=ax))


def _belongs_to(ax: Axes, artists: tuple[Artist, ...]) -> None:
    assert isinstance(artists, tuple) and artists
    assert all(artist.axes is ax for artist in artists)
    assert _rendered(ax).startswith(b"\x89PNG")
