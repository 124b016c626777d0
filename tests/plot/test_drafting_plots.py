"""Drafting plots: on the axes that are given, showing the numbers of the result and no others."""

from __future__ import annotations

import io

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ensctl.drafting import (
    Counters,
    Estimate,
    MarkovRenewal,
    TableCost,
    optimal_depth,
    phase_map,
)
from ensctl.errors import InvalidInputError
from ensctl.plot import depth_curve, depth_map, survival_fit


def _axes() -> Axes:
    return Figure(layout="constrained").subplots()


def _render(ax: Axes) -> None:
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    figure.savefig(io.BytesIO(), format="png", dpi=40)


def _labels(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize(
    "optimum",
    [
        optimal_depth(0.7, 0.1),
        optimal_depth(0.2, 0.5),
        optimal_depth(0.7, 0.1, 0),
        optimal_depth(1.0, 0.01, 500),
        optimal_depth(Estimate(0.7, 0.6, 0.8, 0.05), 0.1, convention="committed"),
        optimal_depth(MarkovRenewal(0.9, 0.4), TableCost([0, 1, 8], [10.0, 12.0, 20.0]), 8),
    ],
)
def test_depth_curve_draws_every_kind(optimum: object) -> None:
    ax = _axes()
    artists = depth_curve(optimum, ax=ax)
    assert all(artist.axes is ax for artist in artists)
    assert ax.get_xlabel() and "(" in ax.get_ylabel()
    _render(ax)


def test_depth_curve_shows_the_numbers() -> None:
    best = optimal_depth(Estimate(0.7, 0.6, 0.8, 0.05), 0.1)
    ax = _axes()
    curve, plain, mark, band = depth_curve(best, ax=ax)
    depths, rates = curve.get_data()
    assert np.array_equal(rates, best.curve[: depths.size])
    assert plain.get_ydata()[0] == best.curve[0]
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (best.depth, best.throughput)
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(best.curve_high[: depths.size].max())
    assert f"best K = {best.depth} ({best.depth_low} to {best.depth_high})" in _labels(ax)
    assert "95% interval" in _labels(ax)


def test_results_plot_themselves() -> None:
    ax = _axes()
    assert len(optimal_depth(0.7, 0.1).plot(ax=ax)) == 3
    ax = _axes()
    assert phase_map([0.5, 0.9], [0.1, 0.2]).plot(ax=ax).axes is ax


@pytest.mark.parametrize(
    ("alphas", "costs", "depth"),
    [
        (np.linspace(0, 1, 1000), np.linspace(0, 1, 700), 64),
        (np.linspace(0, 1, 30), np.linspace(0, 1, 30), 1),
        ([0.9, 0.5, 0.7], [0.2, 0.1], 8),
        ([0.7], np.linspace(0, 1, 5), 8),
        ([0.7], [0.1], 8),
        ([0.1, 0.2], [0.5, 0.9], 8),
        ([0.5, 0.5, 0.6], [0.1, 0.2], 400),
        ([1.0, 0.99], [0.0, 0.1], 400),
    ],
)
def test_depth_map_draws_every_grid(alphas: object, costs: object, depth: int) -> None:
    ax = _axes()
    mesh = depth_map(phase_map(alphas, costs, depth), ax=ax)
    assert mesh.axes is ax
    assert "(" in ax.get_xlabel() and "(" in ax.get_ylabel()
    _render(ax)


def test_depth_map_names_its_regions() -> None:
    grid = np.linspace(0, 1, 200)
    ax = _axes()
    depth_map(phase_map(grid, grid, overhead=1.0, off=1.0), ax=ax)
    names = {text.get_text() for text in ax.texts}
    assert "off" in names
    ax = _axes()
    depth_map(phase_map(grid, grid), ax=ax)
    assert {"off", "1", "2"} <= {text.get_text() for text in ax.texts}
    place = next(text for text in ax.texts if text.get_text() == "off").get_position()
    assert place[0] < place[1], "drafting does not pay where α < c"


def test_survival_fit_shows_shares_and_models() -> None:
    window = Counters(100, 300, 147, (70, 49, 28), depth=3)
    ax = _axes()
    models = {"i.i.d.": 0.7, "renewal": MarkovRenewal(0.6, 0.8), "cost $1": 0.5}
    measured, *lines = survival_fit(window, models, ax=ax)
    assert measured.get_ydata().tolist() == [0.7, 0.49, 0.28]
    assert lines[0].get_ydata() == pytest.approx([0.7, 0.49, 0.343])
    assert lines[1].get_ydata() == pytest.approx(MarkovRenewal(0.6, 0.8).survival(3)[1:])
    assert "i.i.d." in _labels(ax)
    _render(ax)
    many = {f"α = {k / 10}": k / 10 for k in range(11)}
    assert len(survival_fit(window, many, ax=_axes())) == 12


def test_bad_input_is_named() -> None:
    with pytest.raises(InvalidInputError, match="accepted_per_position"):
        survival_fit(Counters(10, 30, 12), {"i.i.d.": 0.7}, ax=_axes())
    with pytest.raises(InvalidInputError, match="models"):
        survival_fit(Counters(10, 10, 5, (5,), depth=1), {"bad": 1.7}, ax=_axes())
    for draw, result in [
        (depth_curve, optimal_depth(0.7, 0.1)),
        (depth_map, phase_map([0.5], [0.1])),
    ]:
        with pytest.raises(InvalidInputError, match="ax"):
            draw(result, ax="figure")


def test_nothing_global_changes() -> None:
    before = dict(matplotlib.rcParams)
    for draw, result in [
        (depth_curve, optimal_depth(0.7, 0.1)),
        (depth_map, phase_map([0.5, 0.9], [0.1, 0.2])),
    ]:
        draw(result, ax=_axes())
    assert dict(matplotlib.rcParams) == before
