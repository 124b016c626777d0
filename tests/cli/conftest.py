"""The command line, called as the console script calls it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from ensctl.cli import main


@dataclass(frozen=True)
class Outcome:
    """Exit code and both streams of one call."""

    code: int
    out: str
    err: str


@pytest.fixture
def ensctl(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """``ensctl("check", "0.2", stdin=b"...")`` → Outcome."""

    def call(*arguments: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = main(arguments)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
