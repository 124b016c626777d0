"""A swarm in motion: an animation for notebooks, and GIF or MP4 files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.animation import FuncAnimation
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from ensctl.arguments import as_count, as_scalar
from ensctl.errors import InvalidInputError, MissingDependencyError
from ensctl.plot.axes import Array, axes_for
from ensctl.plot.palette import GREY
from ensctl.plot.swarm_files import whole_file
from ensctl.plot.swarm_picture import Plan, framed, robot_colours, robots
from ensctl.progress import Progress, progress_of

_WIDTH, _LEAST_HEIGHT, _MOST_HEIGHT = 6.4, 2.2, 6.4
_DPI = 80
_COLOURS, _NEARLY_WHITE = 64, 248
# Frames that stand still at both ends, as shares of all.
_FIRST, _LAST = 0.06, 0.2
_SUFFIXES = (".gif", ".mp4")


def animate(
    plan: Plan, *, frames: int = 100, fps: float = 25.0, ax: Axes | None = None
) -> FuncAnimation:
    """The robots on their way, as an animation that notebooks play with ``to_jshtml()``.

    Frames thin out towards the end of the horizon as H (1 − (1 − s)²), s = 0 … 1: the distance
    still to go falls like √(H − t), so that the shape appears at an even pace.

    Parameters
    ----------
    plan : SwarmPlan or BroadcastPlan
        A plan with speeds.
    frames : int
        Number of frames ≥ 2, the still ones at both ends included.
    fps : float
        Frames per second, > 0.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        Keep it: it stops when it is forgotten.

    Raises
    ------
    InvalidInputError
        An argument is out of range.
    NotReachableError, InfeasibleError, PrecisionError, SolverError
        The plan has no speeds; the message says why.

    Examples
    --------
    >>> from ensctl.plot import animate, text_points
    >>> from ensctl.simulation import Swarm
    >>> from matplotlib.figure import Figure
    >>> plan = Swarm.scattered(20).steer_to(text_points("I", 20))
    >>> "<script" in animate(plan, frames=3, ax=Figure().subplots()).to_jshtml()
    True
    """
    rate = as_scalar(fps, "fps", above=0.0)
    stage = _staged(plan, frames, ax)
    return FuncAnimation(
        _figure_of(stage.ax), stage.show, frames=stage.steps.size, interval=1000.0 / rate
    )


def save_animation(
    plan: Plan,
    path: str | Path,
    *,
    frames: int = 100,
    fps: float = 25.0,
    progress: Progress | bool | None = None,
) -> Path:
    """Write the robots on their way into a file, whole or not at all.

    Parameters
    ----------
    plan : SwarmPlan or BroadcastPlan
        A plan with speeds.
    path : str or Path
        Ends in .gif, or in .mp4 where the program ffmpeg is installed.
    frames, fps
        As for :func:`animate`.
    progress : callable or bool, optional
        Called with (frames written, frames); True draws a bar on stderr.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InvalidInputError
        Another suffix, an argument out of range, or the file cannot be written.
    MissingDependencyError
        .mp4 without ffmpeg.
    NotReachableError, InfeasibleError, PrecisionError, SolverError
        The plan has no speeds; the message says why.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ensctl.plot import save_animation, text_points
    >>> from ensctl.simulation import Swarm
    >>> plan = Swarm.scattered(20).steer_to(text_points("I", 20))
    >>> save_animation(plan, pathlib.Path(tempfile.mkdtemp(), "i.gif"), frames=4).stat().st_size > 0
    True
    """
    from matplotlib import style

    file = Path(path)
    require_animation(file)
    rate = as_scalar(fps, "fps", above=0.0)
    write = _write_gif if file.suffix.lower() == ".gif" else _write_mp4
    with style.context("default"):
        stage = _staged(plan, frames, None, alone=True)
        count = stage.steps.size
        with whole_file(file) as part, progress_of(progress, count, "frames") as report:
            write(stage, part, rate, report)
    return file


def require_animation(path: Path) -> None:
    """Refuse a file that cannot be an animation, before any work is done for it.

    Raises
    ------
    InvalidInputError
        The suffix is neither .gif nor .mp4.
    MissingDependencyError
        .mp4 without ffmpeg.
    """
    from matplotlib.animation import FFMpegWriter

    if path.suffix.lower() not in _SUFFIXES:
        raise InvalidInputError(f"path must end in .gif or .mp4, got {path.name!r}")
    if path.suffix.lower() == ".mp4" and not FFMpegWriter.isAvailable():
        raise MissingDependencyError(
            f"{path.name} needs the program ffmpeg, which is not installed; install it or save a "
            f".gif"
        )


@dataclass(frozen=True, eq=False)
class _Stage:
    """Axes with the robots on them, and what every frame shows."""

    ax: Axes
    dots: PathCollection
    label: Text
    path: Array
    steps: Array
    horizon: int

    def show(self, frame: int) -> tuple[Artist, ...]:
        places = self.path[:, frame]
        self.dots.set_offsets(np.column_stack([places.real, places.imag]))
        self.label.set_text(f"step {self.steps[frame]} of {self.horizon}")
        return self.dots, self.label


def _staged(plan: Plan, frames: int, ax: Axes | None, *, alone: bool = False) -> _Stage:
    """Set the robots on axes: those given, those of a new pyplot figure, or ``alone``."""
    steps = _shown_steps(plan.horizon, as_count(frames, "frames", minimum=2))
    path = plan.trajectories()[:, steps]
    if alone:
        figure = Figure(figsize=_figure_size(path), dpi=_DPI)
        stage = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    else:
        stage = axes_for(ax, _figure_size(path))
    framed(stage, path)
    dots = robots(stage, path[:, 0], robot_colours(plan))
    label = stage.text(0.01, 0.01, "", transform=stage.transAxes, color=GREY, fontsize="small")
    return _Stage(stage, dots, label, path, steps, plan.horizon)


def _write_gif(stage: _Stage, path: Path, fps: float, report: Callable[[int], None]) -> None:
    """One palette for all frames: a third of the size of a palette for each."""
    from PIL import Image

    canvas = FigureCanvasAgg(_figure_of(stage.ax))
    count = stage.steps.size
    pictures, palette = [], None
    # The last frame, in which no robots hide each other, chooses the palette.
    for done, frame in enumerate(reversed(range(count)), start=1):
        stage.show(frame)
        canvas.draw()
        picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
        palette = _palette(picture) if palette is None else palette
        pictures.append(picture.quantize(palette=palette, dither=Image.Dither.NONE))
        report(done)
    first, *rest = reversed(pictures)
    first.save(path, save_all=True, append_images=rest, duration=1000.0 / fps, loop=0)


def _palette(picture: Any) -> Any:
    """Few colours that serve a picture, with white kept white."""
    palette = picture.quantize(_COLOURS)
    entries = np.array(palette.getpalette()).reshape(-1, 3)
    entries[entries.min(axis=1) >= _NEARLY_WHITE] = 255
    palette.putpalette(entries.ravel().tolist())
    return palette


def _write_mp4(stage: _Stage, path: Path, fps: float, report: Callable[[int], None]) -> None:
    from matplotlib.animation import FFMpegWriter

    film = FuncAnimation(_figure_of(stage.ax), stage.show, frames=stage.steps.size)
    film.save(
        path,
        writer=FFMpegWriter(fps=max(1, round(fps))),
        dpi=_DPI,
        progress_callback=lambda frame, total: report(frame + 1),
    )


def _figure_of(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    if figure is None:
        raise InvalidInputError("ax must belong to a figure, got one that was removed from it")
    return figure


def _shown_steps(horizon: int, frames: int) -> Array:
    """The step of each frame: still at both ends, slower towards the end."""
    first, last = int(_FIRST * frames), int(_LAST * frames)
    share = np.linspace(0.0, 1.0, max(frames - first - last, 2))
    moving = np.rint(horizon * (1.0 - (1.0 - share) ** 2)).astype(int)
    still = np.concatenate([np.zeros(first, dtype=int), moving, np.full(last, horizon)])
    return still[-frames:]


def _figure_size(places: Array) -> tuple[float, float]:
    wide, tall = float(np.ptp(places.real)), float(np.ptp(places.imag))
    height = _WIDTH * tall / wide if wide > 0.0 else _MOST_HEIGHT
    return _WIDTH, float(np.clip(height, _LEAST_HEIGHT, _MOST_HEIGHT))
