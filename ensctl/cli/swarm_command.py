"""``ensctl swarm``: robots that write a word, from one broadcast speed signal.

JSON (schema 1): ``schema``, ``kind`` ("swarm_plan"), ``status``, ``success``, ``message``,
``robots``, ``horizon``, ``least_horizon``, ``rule_horizon``, ``v_max``, ``peak``, ``energy``,
``minimum_energy``, ``condition``, ``rms_error``, ``turn_rate_tolerance``, ``lam_tolerance``,
``turn_rates``, ``headings``, ``positions``, ``points``, ``assignment``, ``inputs`` (the speeds) and
``certificate``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ensctl.cli.population import Json, NoColor, read_horizon
from ensctl.cli.standard_input import as_file
from ensctl.cli.streams import data, message, painted
from ensctl.cli.waiting import waiting
from ensctl.errors import InvalidInputError

if TYPE_CHECKING:
    from ensctl.simulation.swarm_plan import SwarmPlan
    from ensctl.simulation.swarm_speed import RmsMultiple

NO_PLAN = 3
_NUMBERS, _STILLS, _FILMS = (".json", ".csv"), (".png", ".svg", ".pdf"), (".gif", ".mp4")

# A plan of 2000 robots takes a few minutes and a few gigabytes.
_MOST_ROBOTS = 2000

Text = Annotated[
    str | None, typer.Argument(metavar="TEXT", help="What the robots write.", show_default=False)
]
Image = Annotated[
    Path | None,
    typer.Option(
        "--image", metavar="FILE", help="A picture instead, - is stdin: its dark part is the shape."
    ),
]
Robots = Annotated[int, typer.Option("--robots", "-n", metavar="N", help="Number of robots.")]
Steps = Annotated[
    str | None,
    typer.Option(
        "--horizon",
        "-H",
        metavar="STEPS",
        help="Number of steps, 2 N at least.  [default: 2π over the smallest gap of the turn rates "
        "and their mirror images, about 4 N]",
    ),
]
Speed = Annotated[
    str | None,
    typer.Option(
        "--v-max",
        metavar="V|Kx",
        help="Largest |speed|: a number, letter height per step; or as 1.7x, a multiple of the rms "
        "speed without a limit.  [default: no limit]",
    ),
]
Jitter = Annotated[
    float,
    typer.Option(
        "--jitter", metavar="J", help="± share of the spacing of turn rates, 0 ≤ J < 0.5."
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="S", help="Of turn rates and start.")]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a film (.gif; .mp4 with ffmpeg), a picture (.png, .svg, .pdf), the plan (.json)"
        " or the speeds (.csv, one step a line).  Can be given several times.",
    ),
]


def swarm(
    text: Text = None,
    image: Image = None,
    robots: Robots = 600,
    horizon: Steps = None,
    v_max: Speed = None,
    jitter: Jitter = 0.25,
    seed: Seed = 0,
    output: Output = None,
    as_json: Json = False,
    no_color: NoColor = False,
) -> None:
    """Robots with their own turn rates and one common speed signal write a text or fill a picture.

    Robot i turns by its own ω_i every step and moves by the speed that all of them hear.  Letters
    have height 1.  Prints what the signal costs and which error of the turn rates it bears.  Exit
    code 3, with the reason: no signal does it; then no file is written.

    \b
    Examples:
      ensctl swarm "HELLO" --robots 600 -o hello.gif
      ensctl swarm "ENS" -n 300 --v-max 1.8x -o ens.png -o ens.json
      ensctl swarm --image logo.png -n 400 --horizon 2000 --json
    """
    from ensctl.plot.shapes import image_points, text_points
    from ensctl.simulation.swarm import Swarm

    if (text is None) == (image is None):
        raise typer.BadParameter("give either a TEXT or --image FILE")
    places = [Path(name) for name in output or []]
    _require_writable(places)
    limit = _speed_limit(v_max)
    steps = _steps(horizon)
    if not 1 <= robots <= _MOST_ROBOTS:
        raise InvalidInputError(
            f"robots must be from 1 to {_MOST_ROBOTS} (time grows with their cube), got {robots}"
        )
    blob = Swarm.scattered(robots, jitter=jitter, seed=seed)
    if image is None:
        points = text_points(text or "", robots)
    else:
        with as_file(image) as picture:
            points = image_points(picture, robots)
    with waiting(f"steering {robots} robots"):
        plan = blob.steer_to(points, steps, limit, throw=False)
    if as_json:
        data(json.dumps(plan.to_dict(), indent=1, ensure_ascii=False))
    else:
        head, *rest = str(plan).splitlines()
        data("\n".join([painted(head, good=plan.success, allowed=not no_color), *rest]))
    if not plan.success:
        raise typer.Exit(NO_PLAN)
    for place in places:
        with waiting(f"drawing {place}") as done:
            _writer(place, done)(plan, place)
        message(f"wrote {place}")


def _writer(place: Path, done: Callable[[int, int], None]) -> Callable[[SwarmPlan, Path], Path]:
    """What makes a file of this suffix."""
    from ensctl.plot.swarm_animation import save_animation
    from ensctl.plot.swarm_files import save_swarm_picture

    suffix = place.suffix.lower()
    if suffix in _NUMBERS:
        return lambda plan, path: plan.to_file(path)
    if suffix in _STILLS:
        return save_swarm_picture
    return lambda plan, path: save_animation(plan, path, progress=done)


def _require_writable(places: list[Path]) -> None:
    """Refuse files that cannot be written, before any work is done for them."""
    from ensctl.files import require_folder
    from ensctl.plot.swarm_animation import require_animation

    known = (*_FILMS, *_STILLS, *_NUMBERS)
    for place in places:
        suffix = place.suffix.lower()
        if suffix not in known:
            raise InvalidInputError(f"output must end in {', '.join(known)}, got {place.name!r}")
        if suffix in _FILMS:
            require_animation(place)
        require_folder(place)


def _speed_limit(text: str | None) -> float | RmsMultiple | None:
    """A speed, or as 1.7x a multiple of the rms speed without a limit."""
    from ensctl.simulation.swarm_speed import RmsMultiple

    if text is None:
        return None
    word = text.strip().lower()
    try:
        number = float(word.removesuffix("x"))
    except ValueError:
        raise InvalidInputError(
            f"v_max must be a speed such as 0.02, or a multiple such as 1.7x, got {text.strip()!r}"
        ) from None
    multiple = word.endswith("x")
    if not (number >= 1.0 if multiple else 0.0 < number < math.inf):
        raise InvalidInputError(
            f"v_max must be > 0, or a multiple ≥ 1x of the rms speed, got {text.strip()!r}"
        )
    return RmsMultiple(number) if multiple else number


def _steps(text: str | None) -> int | None:
    steps = read_horizon(text)
    if steps is not None and not isinstance(steps, int):
        raise InvalidInputError(f"horizon must be an integer ≥ 1, got {(text or '').strip()!r}")
    return steps
