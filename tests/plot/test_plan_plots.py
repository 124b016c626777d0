"""Plots of plans and mixes: on the axes that are given, showing the numbers of the result."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ensctl.drafting import BatchCost, BatchTable, Estimate, LinearCost
from ensctl.errors import InvalidInputError
from ensctl.plot import allocation, plan_throughput
from ensctl.plot import plan_table as draw_table
from ensctl.scheduling import (
    Allocation,
    Drafter,
    MeanCycleCap,
    PlanTable,
    ShareFloor,
    allocate,
    plan_table,
)

_COST = BatchTable([1, 32, 64], [10, 14, 22], [0.8, 3.0, 9.0], [9, 12, 18])


def _axes() -> Axes:
    return Figure(layout="constrained").subplots()


def _render(ax: Axes) -> None:
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    figure.savefig(io.BytesIO(), format="png", dpi=40)


def _labels(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


PLANS = {
    "switching": plan_table(Estimate.normal(0.7, 0.02), _COST, 64, max_depth=5),
    "off everywhere": plan_table(0.05, _COST, 64, max_depth=5),
    "without off": plan_table(0.7, _COST, 64, max_depth=5, off=False),
    "one load": plan_table(0.7, _COST, [8], max_depth=5),
    "one stream": plan_table(0.7, _COST, 1, max_depth=5),
    "contexts": plan_table(0.7, BatchCost.h100_8b(), 512, np.arange(8) * 1000.0, max_depth=10),
}


@pytest.mark.parametrize("name", PLANS)
def test_every_kind_is_drawn(name: str) -> None:
    for draw in (draw_table, plan_throughput):
        ax = _axes()
        artists = draw(PLANS[name], ax=ax)
        assert artists and all(artist.axes is ax for artist in artists)
        assert "prefilling" in ax.get_xlabel() and ax.get_ylabel()
        _render(ax)


def test_steps_are_the_ranges() -> None:
    plan = PLANS["switching"]
    ax = _axes()
    line, *bands, marks = draw_table(plan, ax=ax)
    edges, depths = line.get_data()
    assert edges.tolist() == [part.first for part in plan.ranges()] + [65]
    assert depths.tolist()[:-1] == [part.depth for part in plan.ranges()]
    assert len(bands) == len(plan.switches)
    assert np.array_equal(marks.get_ydata(), plan.best_depths[0])
    assert _labels(ax) == ["planned", "either (hysteresis)", "best at this load"]
    assert plan.plot(ax=_axes())


def test_contexts_are_told_apart() -> None:
    plan = PLANS["contexts"]
    ax = _axes()
    lines = draw_table(plan, ax=ax)
    assert len(lines) == 5 and len({line.get_color() for line in lines}) == 5
    assert _labels(ax)[0] == "context 0" and _labels(ax)[-1] == "context 7000"


def test_throughput_shows_the_numbers() -> None:
    plan = PLANS["switching"]
    ax = _axes()
    band, line, single, off = plan_throughput(plan, ax=ax)
    assert line.get_ydata() == pytest.approx(plan.speedup[0])
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx((plan.high / plan.plain).max())
    depth, _ = plan.best_single
    assert single.get_ydata() == pytest.approx((plan.curves[0] / plan.plain[0][:, None])[:, depth])
    assert off.get_ydata()[0] == 1.0
    assert f"K = {depth} at every load" in _labels(ax)
    assert len(plan_throughput(PLANS["without off"], ax=_axes())) == 3


def _mixes() -> dict[str, Allocation]:
    pair = [
        Drafter("E", 0.6, LinearCost(0.2, 1.0, 0.2, off=1.0)),
        Drafter("N", 1 / 3, LinearCost(0.05, 1.0, 0.05, off=1.0)),
    ]
    many = [Drafter(f"a drafter with a long $name$ {i}", 0.5, 0.1 + 0.01 * i) for i in range(15)]
    return {
        "single": allocate(pair, 4),
        "no single": allocate(pair, 4, constraints=[ShareFloor("E", 1 / 3), MeanCycleCap(1.25)]),
        "many": allocate(many, 2, constraints=[ShareFloor(d.name, 1 / 16) for d in many]),
    }


@pytest.mark.parametrize("name", ["single", "no single", "many"])
def test_mixes_are_drawn(name: str) -> None:
    mix = _mixes()[name]
    ax = _axes()
    artists = allocation(mix, ax=ax)
    shown = min(len(mix.mix), 12)
    assert len(artists) == 3 * shown
    widths = [bar.get_width() for bar in artists[:shown]]
    largest = sorted(mix.mix.values(), reverse=True)[:shown]
    assert sorted(widths, reverse=True) == pytest.approx(largest)
    title = ax.get_title(loc="left")
    assert f"{mix.throughput:.5g}" in title and f"bound {mix.upper_bound:.5g}" in title
    assert ("best single" in title) == (mix.best_single is not None)
    _render(ax)


def test_shares_of_time_add_up() -> None:
    mix = _mixes()["no single"]
    artists = mix.plot(ax=_axes())
    shown = len(mix.mix)
    times = [bar.get_width() for bar in artists[shown : 2 * shown]]
    used = np.flatnonzero(mix.shares > 1e-9)
    expected = mix.shares[used] * mix.arms.cycles[used] / mix.mean_cycle
    assert sum(times) == pytest.approx(1.0) and times == pytest.approx(expected)


@pytest.mark.parametrize("draw", [draw_table, plan_throughput])
def test_axes_must_be_axes(draw: object) -> None:
    plan: PlanTable = PLANS["switching"]
    with pytest.raises(InvalidInputError, match="ax must be"):
        draw(plan, ax=3)  # type: ignore[operator]
