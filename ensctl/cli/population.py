"""What a call is about: λ given as numbers, as a file or on stdin, with gains and a horizon."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ensctl.cli.number_tokens import is_number
from ensctl.cli.standard_input import STDIN, text_of
from ensctl.errors import InvalidInputError

if TYPE_CHECKING:
    from ensctl.ensemble.ensemble import Ensemble

# Described in the help text of each command, where it reads better than in a list of arguments.
Lam = Annotated[list[str], typer.Argument(metavar="λ|FILE|-", hidden=True)]
Gains = Annotated[
    str | None,
    typer.Option(
        "--gains",
        "-b",
        metavar="B",
        help="Gains b, comma separated; one number stands for all members.  [default: 1, or those "
        "of the file]",
    ),
]
Horizon = Annotated[
    str | None,
    typer.Option("--horizon", "-H", metavar="STEPS", help="Number of steps, or inf."),
]
RealInputs = Annotated[
    bool,
    typer.Option("--real-inputs", help="Inputs are real: complex λ count as two dimensions."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FMT", help="csv, json or toml.  [default: suffix or content]"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON (schema 1, below) instead of text.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="Never colour the verdict.")]


def read_population(tokens: list[str], gains: str | None, file_format: str | None) -> Ensemble:
    """Make the ensemble that the arguments describe.

    Raises
    ------
    InvalidInputError
        Neither numbers only nor a single file, or what the file holds is wrong.
    """
    from ensctl.ensemble.ensemble import Ensemble

    pieces = [piece for token in tokens for piece in token.split(",") if piece.strip()]
    if pieces and all(is_number(piece) for piece in pieces):
        lam = [_number(piece) for piece in pieces]
        return Ensemble(lam, 1.0 if gains is None else numbers(gains, "gains"))
    if len(tokens) != 1:
        wrong = next((piece for piece in pieces if not is_number(piece)), "")
        raise InvalidInputError(
            f"lam must be numbers only or one file, got {wrong.strip()!r} among others; write "
            f"complex numbers as 0.5+0.2j"
        )
    ens = _read_file(tokens[0], file_format)
    if gains is None:
        return ens
    return Ensemble(ens.lam, numbers(gains, "gains"), ens.c, ens.d, dt=ens.dt, names=ens.names)


def numbers(text: str, name: str) -> complex | list[complex]:
    """Comma separated numbers: one stands for itself, several are a list.

    Raises
    ------
    InvalidInputError
        A piece is not a number.
    """
    pieces = text.split(",")
    wrong = [piece for piece in pieces if not is_number(piece)]
    if wrong:
        raise InvalidInputError(
            f"{name} must be numbers separated by commas, got {wrong[0].strip()!r} in {text!r}"
        )
    values = [_number(piece) for piece in pieces]
    return values[0] if len(values) == 1 else values


def read_horizon(text: str | None) -> int | float | None:
    """A number of steps, ``math.inf``, or None when it was not given.

    Raises
    ------
    InvalidInputError
        Not an integer ≥ 1 and not inf.
    """
    if text is None:
        return None
    word = text.strip().lower()
    if word in ("inf", "infinite"):
        return math.inf
    try:
        steps = int(word)
    except ValueError:
        steps = 0
    if steps < 1:
        raise InvalidInputError(f"horizon must be an integer ≥ 1 or inf, got {text.strip()!r}")
    return steps


def _read_file(token: str, file_format: str | None) -> Ensemble:
    from ensctl.ensemble.ensemble import Ensemble
    from ensctl.ensemble.parsing import parse_ensemble

    if token == STDIN:
        return parse_ensemble(text_of(token), format=file_format, source=token)
    if not Path(token).exists():
        raise InvalidInputError(
            f"lam must be numbers or a file, got {token!r}: not a number, and no such file; write "
            f"complex numbers as 0.5+0.2j"
        )
    return Ensemble.from_file(token, format=file_format)


def _number(text: str) -> complex:
    try:
        return float(text)
    except ValueError:
        return complex(text.strip())
