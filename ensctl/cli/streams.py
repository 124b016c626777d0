"""stdout for data, stderr for messages; colour only where a person watches."""

from __future__ import annotations

import os
import sys
from typing import TextIO

import typer

# What a shell reports for a program whose reader went away (128 + SIGPIPE).
READER_WENT_AWAY = 141


def use_utf8(*streams: TextIO) -> None:
    """Write UTF-8 whatever the locale says: λ and σ are part of the text."""
    for stream in streams:
        encoding = (stream.encoding or "").lower().replace("-", "")
        reconfigure = getattr(stream, "reconfigure", None)
        if encoding != "utf8" and reconfigure is not None:
            reconfigure(encoding="utf-8")


def data(text: str) -> None:
    """Write to stdout and flush, so that a reader that went away is noticed here."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered would fail again when the interpreter closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(READER_WENT_AWAY) from None


def message(text: str) -> None:
    """Write one line to stderr, headed by the name of the program."""
    typer.echo("ensctl: " + " ".join(text.split()), err=True)


def painted(text: str, *, good: bool, allowed: bool = True) -> str:
    """Colour a verdict when stdout is a terminal and nobody objects (NO_COLOR, TERM=dumb)."""
    objection = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if not allowed or objection or not sys.stdout.isatty():
        return text
    return typer.style(text, fg=typer.colors.GREEN if good else typer.colors.RED, bold=True)
