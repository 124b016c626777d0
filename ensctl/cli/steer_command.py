"""``ensctl steer``: the best broadcast input for a target, or the proof that there is none.

JSON (schema 1): ``schema``, ``kind`` ("steering_plan"), ``status``, ``success``, ``message``,
``objective``, ``limits``, ``horizon``, ``dt``, ``target``, ``x0``, ``inputs`` (null without a
plan), ``energy``, ``fuel``, ``peak``, ``terminal_error``, ``float_floor`` (what rounding alone
leaves of the error), ``members``, ``solver``, ``certificate`` and ``advice`` (what would make an
infeasible task feasible, or null).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ensctl.cli.member_values import read_ends
from ensctl.cli.population import (
    Format,
    Gains,
    Json,
    Lam,
    NoColor,
    RealInputs,
    numbers,
    read_horizon,
    read_population,
)
from ensctl.cli.streams import data, message, painted
from ensctl.cli.waiting import waiting
from ensctl.errors import InvalidInputError

if TYPE_CHECKING:
    from ensctl.synthesis.plan import SteeringPlan
    from ensctl.synthesis.terminal import Rms, TerminalCost

NO_PLAN = 3
_SUFFIXES = (".json", ".csv")
_PICTURES = (".png", ".svg", ".pdf")


def _number_option(name: str, metavar: str, text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar=metavar, help=text)
    return option


Steps = Annotated[str, typer.Option("--horizon", "-H", metavar="STEPS", help="Number of steps.")]
Target = Annotated[
    str,
    typer.Option(
        "--target",
        "-t",
        metavar="X|FILE",
        help="State to reach: numbers, comma separated; one number for all members; or a CSV or "
        "JSON file with one number a line, or columns target and x0; - is stdin.",
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--x0",
        metavar="X|FILE",
        help="Initial state, given like the target.  [default: that of the target's file, or 0]",
    ),
]
Goal = Annotated[
    str,
    typer.Option(
        "--objective", metavar="COST", help="energy (Σ|u|²), fuel (Σ|u|) or peak (max|u|)."
    ),
]
UMax = Annotated[str | None, _number_option("--u-max", "U", "Largest |u|; with --u-min largest u.")]
UMin = Annotated[str | None, _number_option("--u-min", "U", "Smallest u (real inputs).")]
SlewMax = Annotated[str | None, _number_option("--slew-max", "U", "Largest |u change| per step.")]
StateMax = Annotated[str | None, _number_option("--state-max", "X", "Largest |x| on the way.")]
OutputMax = Annotated[str | None, _number_option("--output-max", "Y", "Largest |y| on the way.")]
Tol = Annotated[
    str | None, _number_option("--tol", "X", "Largest error of each member at the end.")
]
RmsTol = Annotated[
    str | None, _number_option("--rms", "X", "Largest root mean square error at the end.")
]
Price = Annotated[
    str | None,
    _number_option("--terminal-cost", "W", "Price of Σ|error|² at the end instead of a demand."),
]
Solver = Annotated[
    str | None,
    typer.Option("--solver", metavar="NAME", help="CLARABEL, OSQP or HIGHS.  [default: chosen]"),
]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the plan: .json (everything), .csv (the inputs, one step a line), .png, .svg "
        "or .pdf (a picture).  Can be given several times; - prints the inputs as CSV.",
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE", help="Draw inputs and states: the same as -o with a picture."
    ),
]


def steer(
    lam: Lam,
    target: Target,
    horizon: Steps,
    x0: Start = None,
    objective: Goal = "energy",
    u_max: UMax = None,
    u_min: UMin = None,
    slew_max: SlewMax = None,
    state_max: StateMax = None,
    output_max: OutputMax = None,
    tol: Tol = None,
    rms: RmsTol = None,
    terminal_cost: Price = None,
    gains: Gains = None,
    real_inputs: RealInputs = False,
    solver: Solver = None,
    output: Output = None,
    plot: Picture = None,
    file_format: Format = None,
    as_json: Json = False,
    no_color: NoColor = False,
) -> None:
    """The broadcast input that steers a population to a target at least cost within limits.

    Prints what it costs and how closely it ends.  Exit code 3, with the reason and what would
    help: no input does it; then no file is written.

    The population is given as numbers λ (complex ones as 0.5+0.2j), as one file (.csv, .json or
    .toml), or as - for stdin.

    \b
    Examples:
      ensctl steer 0.3 0.6 0.9 --target 1,0,0.5 --horizon 6
      ensctl steer -0.5 0.5 --target -1,0.5 -H 8 --u-max 1.5 -o - > inputs.csv
      ensctl steer fleet.csv --target t.csv --horizon 40 --u-max 1.5 --objective fuel -o plan.json
      ensctl steer fleet.csv --target 1 --tol 0.01 -H 96 --slew-max 0.2 -o plan.svg
    """
    from ensctl.synthesis.limits import Limits
    from ensctl.synthesis.steer import steer as find_plan

    steps = _steps(horizon)
    closeness = _closeness(tol, rms, terminal_cost)
    places = [Path(name) for name in output or [] if name != "-"]
    inputs_on_stdout = "-" in (output or []) and not as_json
    _require_writable(places, plot)
    limits = Limits(
        u_max=_values(u_max, "u_max"),
        u_min=_values(u_min, "u_min"),
        slew_max=_values(slew_max, "slew_max"),
        state_max=_values(state_max, "state_max"),
        output_max=_values(output_max, "output_max"),
    )
    ens = read_population(lam, gains, file_format)
    ends = read_ends(target, x0, ens)
    with waiting(f"steering {ens.size} members"):
        plan = find_plan(
            ens,
            ends.target,
            steps,
            x0=ends.x0,
            objective=objective,
            limits=limits,
            tol=closeness,
            real_inputs=True if real_inputs else None,
            solver=solver,
            throw=False,
        )
    _answer(plan, inputs_on_stdout=inputs_on_stdout, as_json=as_json, colour=not no_color)
    if not plan.success:
        raise typer.Exit(NO_PLAN)
    for place in [*places, *([plot] if plot is not None else [])]:
        message(f"wrote {_written(plan, place)}")


def _written(plan: SteeringPlan, place: Path) -> Path:
    if place.suffix.lower() in _SUFFIXES:
        return Path(plan.to_file(place))
    from ensctl.plot import save_steering_figure

    return Path(save_steering_figure(plan, place))


def _answer(plan: SteeringPlan, *, inputs_on_stdout: bool, as_json: bool, colour: bool) -> None:
    """stdout carries one thing: the summary, the inputs, or JSON."""
    advice = "" if plan.success else plan.advice
    if as_json:
        content = {**plan.to_dict(), "advice": advice or None}
        data(json.dumps(content, indent=1, ensure_ascii=False))
    elif not inputs_on_stdout:
        head, *rest = str(plan).splitlines()
        rest += [advice] if advice else []
        data("\n".join([painted(head, good=plan.success, allowed=colour), *rest]))
    elif plan.success:
        data(plan.to_csv())
    else:
        # A program that reads inputs must not find a sentence in their place.
        message(f"{plan.message}; {advice}" if advice else plan.message)


def _closeness(
    tol: str | None, rms: str | None, terminal_cost: str | None
) -> complex | list[complex] | Rms | TerminalCost | None:
    """How closely the target has to be met, of three ways to say it."""
    from ensctl.arguments import as_scalar
    from ensctl.synthesis.terminal import Rms, TerminalCost

    if sum(given is not None for given in (tol, rms, terminal_cost)) > 1:
        raise typer.BadParameter("--tol, --rms and --terminal-cost exclude each other")
    if rms is not None:
        return Rms(as_scalar(numbers(rms, "rms"), "rms", above=0.0))
    if terminal_cost is not None:
        price = as_scalar(numbers(terminal_cost, "terminal_cost"), "terminal_cost", above=0.0)
        return TerminalCost(price)
    return _values(tol, "tol")


def _values(text: str | None, name: str) -> complex | list[complex] | None:
    return None if text is None else numbers(text, name)


def _steps(text: str) -> int:
    steps = read_horizon(text)
    if not isinstance(steps, int):
        raise InvalidInputError(f"horizon must be an integer ≥ 1, got {text.strip()!r}")
    return steps


def _require_writable(places: list[Path], plot: Path | None) -> None:
    """Refuse files that cannot be written, before any work is done for them."""
    from ensctl.files import require_folder

    for place in places:
        if place.suffix.lower() not in (*_SUFFIXES, *_PICTURES):
            raise InvalidInputError(
                f"output must end in {', '.join((*_SUFFIXES, *_PICTURES))}, got {place.name!r}"
            )
    if plot is not None:
        from ensctl.plot.steering_figure import require_picture

        require_picture(plot)
    for place in [*places, *([plot] if plot is not None else [])]:
        require_folder(place)
