"""stdout for data, stderr for messages; colour only where a person watches."""

from __future__ import annotations

import os
import sys
from typing import TextIO

import typer

# What a shell reports for a program whose reader went away (128 + SIGPIPE).
READER_WENT_AWAY = 141
NOT_WRITTEN = 1


def use_utf8(*streams: TextIO | None) -> None:
    """Write UTF-8 whatever the locale says: λ and σ are part of the text."""
    for stream in streams:
        # A stream that was closed before the start is None.
        encoding = (getattr(stream, "encoding", "") or "").lower().replace("-", "")
        reconfigure = getattr(stream, "reconfigure", None)
        if encoding != "utf8" and reconfigure is not None:
            reconfigure(encoding="utf-8")


def data(text: str) -> None:
    """Write to stdout and flush, so that a full disk or a reader that went away is noticed here."""
    if sys.stdout is None:
        message("stdout is closed, nothing can be printed; send it to a file or a pipe")
        raise typer.Exit(NOT_WRITTEN)
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except OSError as error:
        raise typer.Exit(give_up_stdout(error)) from None


def give_up_stdout(error: OSError) -> int:
    """Say that stdout cannot be written, drop what is left for it, and return the exit code."""
    # What is still buffered would fail again when the interpreter closes the stream.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return READER_WENT_AWAY
    reason = (error.strerror or type(error).__name__).lower()
    message(f"stdout cannot be written: {reason}; choose another place")
    return NOT_WRITTEN


def message(text: str) -> None:
    """Write one line to stderr, headed by the name of the program."""
    typer.echo("ensctl: " + " ".join(text.split()), err=True)


def colour_is_refused() -> bool:
    """Whether the environment wants no colour (NO_COLOR, TERM=dumb)."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def painted(text: str, *, good: bool, allowed: bool = True) -> str:
    """Colour a verdict when stdout is a terminal and nobody objects."""
    if not allowed or colour_is_refused() or sys.stdout is None or not sys.stdout.isatty():
        return text
    return typer.style(text, fg=typer.colors.GREEN if good else typer.colors.RED, bold=True)
