"""Steering plans drawn: the inputs as they are held, limits where they are, ends on targets."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import ensctl as ec
from ensctl.plot import save_steering_figure, steering_plan, steering_states


def _rest(ens: ec.Ensemble, horizon: int) -> np.ndarray:
    """A target that a constant input of 0.1 reaches: every plan below is feasible."""
    return ec.reachability_matrix(ens, horizon) @ np.full(horizon * ens.channels, 0.1)


@cache
def _plan(kind: str) -> ec.SteeringPlan:
    real = ec.Ensemble([0.3, 0.6, 0.9])
    plane = ec.Ensemble([0.5 + 0.4j, -0.3j, 0.8])
    channels = ec.Ensemble([0.3, 0.3, 0.9], [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    many = ec.Ensemble(np.linspace(0.5, 0.9, 40), dt=30.0)
    named = ec.Ensemble([0.2, 0.8], names=["a$b", "x" * 60])
    if kind == "real":
        return ec.steer(real, [1, 0, 0.5], 6, limits=ec.Limits(u_max=2.6))
    if kind == "complex":
        return ec.steer(plane, [1, 1j, -0.5], 8, limits=ec.Limits(u_max=5.0))
    if kind == "two channels":
        return ec.steer(channels, [1, -1, 0.5], 6)
    if kind == "many":
        limits = ec.Limits(state_max=3.0)
        return ec.steer(many, _rest(many, 12), 12, limits=limits, tol=0.05)
    if kind == "names":
        return ec.steer(named, [1, 0], 4, limits=ec.Limits(u_min=-2.5))
    assert kind == "one step"
    return ec.steer(ec.Ensemble([0.3]), [1], 1, x0=3.0)


KINDS = ("real", "complex", "two channels", "many", "names", "one step")


def _axes() -> Axes:
    return Figure(layout="constrained").subplots()


def _labels(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draw", [steering_plan, steering_states])
def test_every_kind_is_drawn_on_the_given_axes(kind: str, draw: Callable[..., Any]) -> None:
    ax = _axes()
    artists = draw(_plan(kind), ax=ax)
    assert isinstance(artists, tuple) and artists
    assert all(artist.axes is ax for artist in artists)
    assert "steps" in ax.get_xlabel() and "(unit of" in ax.get_ylabel()
    figure, buffer = ax.get_figure(), io.BytesIO()
    assert isinstance(figure, Figure)
    figure.savefig(buffer, format="png", dpi=40)
    assert buffer.getvalue().startswith(b"\x89PNG")


def test_inputs_are_held_over_their_step() -> None:
    plan, ax = _plan("real"), _axes()
    line, upper, lower = steering_plan(plan, ax=ax)
    assert line.get_drawstyle() == "steps-post"
    assert np.array_equal(line.get_xdata(), np.arange(7))
    assert np.array_equal(line.get_ydata(), [*plan.inputs, plan.inputs[-1]])
    assert set(upper.get_ydata()) == {2.6} and set(lower.get_ydata()) == {-2.6}
    assert _labels(ax) == ["input u", "limit"]


def test_limits_step_by_step_and_one_sided() -> None:
    bound = np.linspace(3.0, 4.0, 6)
    ens = ec.Ensemble([0.3, 0.6, 0.9])
    plan = ec.steer(ens, [1, 0, 0.5], 6, limits=ec.Limits(u_max=bound))
    upper = steering_plan(plan, ax=_axes())[1]
    assert np.array_equal(upper.get_ydata(), [*bound, bound[-1]])
    line, lower = steering_plan(_plan("names"), ax=_axes())
    assert set(lower.get_ydata()) == {-2.5} and line.get_ydata().min() >= -2.5


def test_complex_inputs_are_drawn_in_parts() -> None:
    plan, ax = _plan("complex"), _axes()
    real, imaginary, upper, lower = steering_plan(plan, ax=ax)
    assert np.array_equal(real.get_ydata()[:-1], plan.inputs.real)
    assert np.array_equal(imaginary.get_ydata()[:-1], plan.inputs.imag)
    assert upper.get_ydata()[0] == -lower.get_ydata()[0] == 5.0
    assert _labels(ax) == ["Re input u", "Im input u", "limit"]


@pytest.mark.parametrize("kind", ["two channels", "complex"])
def test_lines_differ_in_more_than_colour(kind: str) -> None:
    first, second = steering_plan(_plan(kind), ax=_axes())[:2]
    assert first.get_color() != second.get_color()
    # Dashes are no part of the public interface of a line beside its style.
    assert (first.get_linestyle(), second.get_linestyle()) == ("-", "--")


def test_states_end_on_their_targets() -> None:
    plan, ax = _plan("real"), _axes()
    *members, targets = steering_states(plan, ax=ax)
    assert len(members) == 3
    for line, states in zip(members, plan.states(), strict=True):
        assert np.array_equal(line.get_ydata(), states)
    assert np.array_equal(targets.get_xdata(), [6, 6, 6])
    assert np.array_equal(targets.get_ydata(), plan.target)
    assert _labels(ax) == ["member 0", "member 1", "member 2", "target"]


def test_complex_states_are_drawn_in_parts() -> None:
    plan, ax = _plan("complex"), _axes()
    lines = steering_states(plan, ax=ax)
    assert len(lines) == 2 * 3 + 2
    assert np.array_equal(lines[-2].get_ydata(), plan.target.real)
    assert np.array_equal(lines[-1].get_ydata(), plan.target.imag)
    assert _labels(ax) == ["Re x, 3 members", "Im x", "Re target", "Im target"]


def test_of_many_members_thirty_are_drawn_and_the_rest_is_counted() -> None:
    plan, ax = _plan("many"), _axes()
    lines = steering_states(plan, ax=ax)
    trajectories = [line for line in lines if np.size(line.get_xdata()) == 13]
    assert len(trajectories) == 30
    # The first and the last member are among them.
    assert np.array_equal(trajectories[0].get_ydata(), plan.states()[0])
    assert np.array_equal(trajectories[-1].get_ydata(), plan.states()[-1])
    assert _labels(ax) == ["30 of 40 members", "target", "limit"]
    assert [line.get_ydata()[0] for line in lines[-2:]] == [3.0, -3.0]
    assert ax.get_xlabel() == "time (steps of 30 s)"


def test_plans_find_their_plot() -> None:
    ax = _axes()
    assert _plan("real").plot(ax=ax)[0].axes is ax


@pytest.mark.parametrize("draw", [steering_plan, steering_states])
def test_a_plan_without_inputs_raises_its_reason(draw: Callable[..., Any]) -> None:
    refused = ec.steer(
        ec.Ensemble([0.3, 0.6, 0.9]), [1, 0, 0.5], 6, limits=ec.Limits(u_max=2.0), throw=False
    )
    ax = _axes()
    with pytest.raises(ec.InfeasibleError, match="u_max=2"):
        draw(refused, ax=ax)
    assert not ax.lines


def test_rcparams_and_pyplot_stay(tmp_path: Path) -> None:
    from matplotlib import pyplot

    figures, settings = pyplot.get_fignums(), dict(matplotlib.rcParams)
    steering_plan(_plan("real"), ax=_axes())
    save_steering_figure(_plan("real"), tmp_path / "plan.svg")
    assert pyplot.get_fignums() == figures
    assert dict(matplotlib.rcParams) == settings


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_same_plan_gives_the_same_picture(tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    assert save_steering_figure(_plan("real"), first) == first
    with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 30.0}):
        save_steering_figure(_plan("real"), str(second))
    assert first.read_bytes() == second.read_bytes()
    assert sorted(item.name for item in tmp_path.iterdir()) == [first.name, second.name]


def test_pictures_follow_links_and_refuse_other_suffixes(tmp_path: Path) -> None:
    link = tmp_path / "link.png"
    os.symlink(tmp_path / "real.png", link)
    save_steering_figure(_plan("one step"), link)
    assert link.is_symlink() and (tmp_path / "real.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ec.InvalidInputError, match=r"plot must end in \.svg, \.png, \.pdf"):
        save_steering_figure(_plan("one step"), tmp_path / "plan.gif")
