"""``ensctl continuum``: one input for every λ of an interval, and what is promised for all.

JSON (schema 1): ``schema``, ``kind`` ("continuum_plan"), ``message``, ``target``, ``region``,
``horizon``, ``objective``, ``tolerance``, ``u_max``, ``inputs``, ``energy``, ``fuel``, ``peak``,
``sup_error`` with ``sup_error_bound``, ``bound_method``, ``rigorous``, ``float_floor``,
``lower_bound`` (no input comes nearer) and ``peaks`` (where the error is largest).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ensctl.cli.population import Json, NoColor, numbers, read_horizon
from ensctl.cli.standard_input import STDIN, as_file
from ensctl.cli.streams import data, message, painted
from ensctl.cli.waiting import waiting
from ensctl.errors import InvalidInputError

_FILES = (".json", ".csv", ".html")
_PICTURES = (".png", ".svg", ".pdf")

Formula = Annotated[
    str,
    typer.Option(
        "--target",
        "-t",
        metavar="FORMULA|FILE",
        help='State to reach as a formula in x, such as "sin(6*x)" (+ - * / **, abs, cos, exp, '
        "log, sin, sqrt, tanh), or a CSV file of samples λ,target; - is stdin.",
    ),
]
Where = Annotated[
    str,
    typer.Option("--interval", "-i", metavar="LOW:HIGH", help="The λ, for example 0.1:0.9."),
]
Steps = Annotated[str, typer.Option("--horizon", "-H", metavar="STEPS", help="Number of steps.")]
Within = Annotated[
    str | None,
    typer.Option(
        "--tolerance", metavar="X", help="Largest error; without it the error is made least."
    ),
]
Gain = Annotated[
    str, typer.Option("--gain", metavar="FORMULA", help="Gain b(x): a number or a formula.")
]
Start = Annotated[
    str, typer.Option("--x0", metavar="FORMULA", help="Initial state: a number or a formula.")
]
Goal = Annotated[
    str | None,
    typer.Option(
        "--objective",
        metavar="COST",
        help="error, energy (Σ|u|²) or peak (max|u|).  [default: energy with --tolerance]",
    ),
]
UMax = Annotated[str | None, typer.Option("--u-max", metavar="U", help="Largest |u|.")]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the plan: .json (everything), .csv (the inputs), .html (a page), .png, .svg "
        "or .pdf (a picture).  Can be given several times; - prints the inputs as CSV.",
    ),
]


def continuum(
    target: Formula,
    interval: Where,
    horizon: Steps,
    tolerance: Within = None,
    gain: Gain = "1",
    x0: Start = "0",
    objective: Goal = None,
    u_max: UMax = None,
    output: Output = None,
    as_json: Json = False,
    no_color: NoColor = False,
) -> None:
    """One input that brings every λ of an interval near its target at once.

    Prints how far the worst λ misses, with a bound, and what it costs.  Exit code 3, with the
    best error and the smallest horizon that does it: the tolerance is out of reach; then no file
    is written.

    \b
    Examples:
      ensctl continuum --target "sin(6*x)" --interval 0.1:0.9 --horizon 10
      ensctl continuum -t "sin(6*x)" -i 0.1:0.9 -H 10 --tolerance 1e-2 -o plan.json -o plan.png
      ensctl continuum -t "abs(x)" -i -1:1 -H 33 --json
      ensctl continuum -t samples.csv -i 0:0.9 -H 12 --u-max 2 -o - > inputs.csv
    """
    from ensctl.synthesis.continuum import continuum as find_plan

    steps = read_horizon(horizon)
    if not isinstance(steps, int):
        raise InvalidInputError(f"horizon must be an integer ≥ 1, got {horizon.strip()!r}")
    places = [Path(name) for name in output or [] if name != "-"]
    _require_writable(places)
    region = _interval(interval)
    goal, weight, start = (
        _function(text, name) for text, name in ((target, "target"), (gain, "gain"), (x0, "x0"))
    )
    with waiting(f"seeking {steps} inputs"):
        plan = find_plan(
            goal,
            region,
            steps,
            _positive(tolerance, "tolerance"),
            gain=weight,
            x0=start,
            objective=objective,
            u_max=_positive(u_max, "u_max"),
        )
    if as_json:
        data(json.dumps(plan.to_dict(), indent=1, ensure_ascii=False))
    elif "-" in (output or []):
        data(plan.to_csv())
    else:
        head, *rest = str(plan).splitlines()
        data("\n".join([painted(head, good=True, allowed=not no_color), *rest]))
    for place in places:
        message(f"wrote {_written(plan, place)}")


def _written(plan: Any, place: Path) -> Path:
    suffix = place.suffix.lower()
    if suffix in _PICTURES:
        from ensctl.plot import save_continuum_figure

        return Path(save_continuum_figure(plan, place))
    if suffix == ".html":
        from ensctl.files import write_whole
        from ensctl.reporting import continuum_page

        write_whole(place, continuum_page(plan))
        return place
    return Path(plan.to_file(place))


def _interval(text: str) -> tuple[float, float]:
    parts = text.split(":")
    try:
        low, high = (float(part) for part in parts)
    except ValueError:
        raise InvalidInputError(
            f"interval must be LOW:HIGH, for example 0.1:0.9, got {text.strip()!r}"
        ) from None
    return low, high


def _positive(text: str | None, name: str) -> float | None:
    from ensctl.arguments import as_scalar

    return None if text is None else as_scalar(numbers(text, name), name, above=0.0)


def _function(text: str, name: str) -> Any:
    """A formula, or the samples of a CSV file."""
    token = text.strip()
    if token == STDIN or token.lower().endswith((".csv", ".txt")):
        from ensctl.synthesis.continuum_samples import read_samples

        with as_file(token) as path:
            return read_samples(path, name)
    return text


def _require_writable(places: list[Path]) -> None:
    from ensctl.files import require_folder

    for place in places:
        if place.suffix.lower() not in (*_FILES, *_PICTURES):
            raise InvalidInputError(
                f"output must end in {', '.join((*_FILES, *_PICTURES))}, got {place.name!r}"
            )
        require_folder(place)
