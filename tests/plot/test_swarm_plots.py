"""A swarm drawn and in motion: what is shown is where the robots are."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import ensctl as ec
from ensctl.plot.shapes import text_points
from ensctl.plot.swarm_animation import animate, save_animation
from ensctl.plot.swarm_files import save_swarm_picture
from ensctl.plot.swarm_picture import swarm_picture
from ensctl.simulation import BroadcastPlan, BroadcastSwarm, Swarm, SwarmPlan

Plan = SwarmPlan | BroadcastPlan


@pytest.fixture(scope="module")
def word() -> SwarmPlan:
    return Swarm.scattered(30, seed=1).steer_to(text_points("L", 30))


@pytest.fixture(scope="module")
def ring() -> BroadcastPlan:
    swarm = BroadcastSwarm(np.linspace(-0.9, 0.9, 40), 1.0, np.zeros(40))
    return swarm.steer_to(np.exp(2j * np.pi * np.arange(40) / 40), 30)


@pytest.fixture(scope="module")
def refused() -> SwarmPlan:
    swarm = Swarm.scattered(5, seed=1)
    return swarm.steer_to(swarm.positions + 1.0, 30, 1e-3, throw=False)


def _axes() -> Axes:
    return Figure().subplots()


@pytest.mark.parametrize("kind", ["word", "ring"])
def test_picture_shows_start_paths_and_end(kind: str, request: pytest.FixtureRequest) -> None:
    plan: Plan = request.getfixturevalue(kind)
    ax = _axes()
    start, paths, end = swarm_picture(plan, ax=ax)
    path = plan.trajectories()
    assert all(artist.axes is ax for artist in (start, paths, end))
    assert np.allclose(start.get_offsets() @ [1, 1j], path[:, 0])
    assert np.allclose(end.get_offsets() @ [1, 1j], path[:, -1])
    assert len(paths.get_segments()) == plan.swarm.size
    assert len(np.unique(end.get_facecolors(), axis=0)) == plan.swarm.size
    assert ax.get_aspect() == 1.0


def test_last_frame_is_the_final_position(word: SwarmPlan) -> None:
    ax = _axes()
    film = animate(word, frames=20, ax=ax)
    dots = ax.collections[0]
    film._func(0)
    assert np.allclose(dots.get_offsets() @ [1, 1j], word.swarm.positions)
    film._func(19)
    assert np.allclose(dots.get_offsets() @ [1, 1j], word.final_positions)
    assert ax.texts[0].get_text() == f"step {word.horizon} of {word.horizon}"
    assert "<script" in film.to_jshtml()


def test_animation_does_not_touch_pyplot_when_axes_are_given(word: SwarmPlan) -> None:
    from matplotlib import pyplot

    before, settings = pyplot.get_fignums(), dict(matplotlib.rcParams)
    animate(word, frames=3, ax=_axes()).to_jshtml()
    assert pyplot.get_fignums() == before
    assert dict(matplotlib.rcParams) == settings
    film = animate(word, frames=3)
    assert len(pyplot.get_fignums()) == len(before) + 1
    film.to_jshtml()
    pyplot.close("all")


@pytest.mark.parametrize("kind", ["word", "ring"])
def test_gif_has_its_frames(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    from PIL import Image

    plan: Plan = request.getfixturevalue(kind)
    seen: list[tuple[int, int]] = []
    path = save_animation(
        plan, tmp_path / "a.gif", frames=12, fps=20, progress=lambda *parts: seen.append(parts)
    )
    assert seen[-1] == (12, 12)
    with Image.open(path) as film:
        total = 0
        for frame in range(film.n_frames):
            film.seek(frame)
            total += film.info["duration"]
        # Frames that stand still are one frame of longer duration.
        assert total == 12 * 50
        assert film.info["loop"] == 0
        # White is white.
        assert film.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert [file.name for file in tmp_path.iterdir()] == ["a.gif"]


def test_mp4_needs_ffmpeg(word: SwarmPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", lambda: False)
    with pytest.raises(ec.MissingDependencyError, match="ffmpeg"):
        save_animation(word, tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []


def test_pictures_are_repeatable_bytes(word: SwarmPlan, tmp_path: Path) -> None:
    for suffix, head in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        first = save_swarm_picture(word, tmp_path / f"a{suffix}").read_bytes()
        assert first.startswith(head)
        assert save_swarm_picture(word, tmp_path / f"a{suffix}").read_bytes() == first


def test_wrong_files_and_numbers_are_refused(word: SwarmPlan, tmp_path: Path) -> None:
    for call in (
        lambda: save_animation(word, tmp_path / "a.png"),
        lambda: save_animation(word, tmp_path / "none" / "a.gif"),
        lambda: save_animation(word, tmp_path / "a.gif", fps=0.0),
        lambda: save_swarm_picture(word, tmp_path / "a.gif"),
        lambda: save_swarm_picture(word, tmp_path / "none" / "a.png"),
        lambda: animate(word, frames=1, ax=_axes()),
        lambda: swarm_picture(word, ax=Figure()),  # type: ignore[arg-type]
    ):
        with pytest.raises(ec.InvalidInputError):
            call()
    assert list(tmp_path.iterdir()) == []


def test_a_refused_plan_says_why_instead_of_a_picture(refused: SwarmPlan, tmp_path: Path) -> None:
    for call in (
        lambda: swarm_picture(refused, ax=_axes()),
        lambda: animate(refused, ax=_axes()),
        lambda: save_animation(refused, tmp_path / "a.gif"),
    ):
        with pytest.raises(ec.InfeasibleError, match="infeasible, proved"):
            call()


def test_one_robot_can_be_drawn() -> None:
    plan = Swarm([1.0], 0.0, [0.0]).steer_to([0.0], 4)
    ax = _axes()
    artists = swarm_picture(plan, ax=ax)
    ax.figure.canvas.draw()
    assert artists
