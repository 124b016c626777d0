"""Negative numbers as arguments: ``-0.5`` is a λ, ``--jsn`` is a misspelt option."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

_DIGITS = frozenset("0123456789")
_NON_FINITE = ("inf", "nan")


def is_number(text: str) -> bool:
    """Whether a token reads as a real or complex number, finite or not."""
    try:
        complex(text.strip())
    except ValueError:
        return False
    return True


class CommandWithNumbers(TyperCommand):
    """A command whose arguments may be negative numbers or lists of numbers.

    The parser takes every token that begins with a dash for an option.  A leading space, which
    number parsing ignores, makes it an argument; only tokens that are numbers get one.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the tokens of one call."""
        return list(super().parse_args(ctx, [_as_argument(token) for token in args]))


def _as_argument(token: str) -> str:
    begins_like_an_option = token.startswith("-") and token != "-"
    if begins_like_an_option and _looks_numeric(token):
        return f" {token}"
    return token


def _looks_numeric(token: str) -> bool:
    # complex("-j") is a number, yet -j is how options look.
    has_digits = bool(_DIGITS & set(token)) or token.lower().lstrip("-").startswith(_NON_FINITE)
    return has_digits and all(is_number(piece) for piece in token.split(","))
