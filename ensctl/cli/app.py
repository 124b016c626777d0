"""The commands under one name, and failures as exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from ensctl import __version__
from ensctl.cli.check_command import check
from ensctl.cli.continuum_command import continuum
from ensctl.cli.demo_command import demo
from ensctl.cli.depth_command import depth
from ensctl.cli.design_command import design
from ensctl.cli.number_tokens import CommandWithNumbers
from ensctl.cli.plan_command import plan
from ensctl.cli.replay_command import replay
from ensctl.cli.report_command import report
from ensctl.cli.reproduce_command import reproduce
from ensctl.cli.simulate_command import simulate
from ensctl.cli.steer_command import steer
from ensctl.cli.streams import colour_is_refused, give_up_stdout, message, use_utf8
from ensctl.cli.swarm_command import swarm
from ensctl.errors import EnsctlError, InvalidInputError, MissingDependencyError

WRONG_VALUE = 1
ANSWER_IS_NO = 3

app = typer.Typer(
    name="ensctl",
    help="Control of a population that hears one broadcast input.",
    epilog="Exit codes: 0 fine, 1 a value or file is wrong, 2 the command line is wrong, "
    "3 the answer is no.  Every command has examples: ensctl check --help.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# From the first look to the verdict, to inputs, to a server's drafter, to the papers.
_COMMANDS = (
    (demo, "A population of thermostats: its λ file and its report."),
    (check, "Exact and practical verdict: reachable or not, and why."),
    (report, "Verdicts, conditioning, energies, distances and advice."),
    (design, "Members to choose so that one input tells them apart."),
    (steer, "The best input for a target, or the proof that there is none."),
    (continuum, "One input for every λ of an interval at once."),
    (simulate, "Final states or the aggregate under given inputs."),
    (swarm, "Robots that write a word, steered by one scalar speed."),
    (depth, "How many units to draft, from α or from a server's own log."),
    (plan, "The draft depth for every load, as the engine's configuration."),
    (replay, "Policies that learn drafter and depth, against traces."),
    (reproduce, "Two papers' printed numbers beside recomputed ones."),
)


def _json_schema(command: Callable[..., None]) -> str:
    """The paragraph on JSON at the end of the docstring of the command's module."""
    text = sys.modules[command.__module__].__doc__ or ""
    return " ".join(text[text.index("JSON (schema") :].replace("``", "").split())


for _command, _line in _COMMANDS:
    app.command(cls=CommandWithNumbers, short_help=_line, epilog=_json_schema(_command))(_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ensctl {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Control of a population that hears one broadcast input."""


def run(arguments: Sequence[str] | None) -> int:
    """Run the command line and return its exit code; a failure is one line on stderr."""
    use_utf8(sys.stdout, sys.stderr)
    try:
        code = _called(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is None:
            # Help or a version on a full disk: data report their own errors.
            return give_up_stdout(error)
        message(f"{error.filename}: {(error.strerror or type(error).__name__).lower()}")
        return WRONG_VALUE
    return code


def _called(arguments: Sequence[str] | None) -> int:
    try:
        app(
            args=None if arguments is None else list(arguments),
            prog_name="ensctl",
            color=False if colour_is_refused() else None,
        )
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except (InvalidInputError, MissingDependencyError) as error:
        message(str(error))
        return WRONG_VALUE
    except EnsctlError as error:
        message(str(error))
        return ANSWER_IS_NO
    except MemoryError:
        message("not enough memory for a set of this size; take fewer λ or a shorter horizon")
        return WRONG_VALUE
    return 0
