"""What only a real process shows: pipes, start-up, colour, the console entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_CALL = [sys.executable, "-c", "import sys; from ensctl.cli import main; sys.exit(main())"]


@pytest.fixture
def process(repository: Path) -> Callable[..., Any]:
    def call(*arguments: str, **options: Any) -> Any:
        environment = {**os.environ, "PYTHONPATH": str(repository), **options.pop("env", {})}
        return subprocess.run(
            [*_CALL, *arguments], capture_output=True, env=environment, check=False, **options
        )

    return call


def test_exit_code_and_utf8_whatever_the_locale(process: Callable[..., Any]) -> None:
    for locale in ({"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}):
        run = process("check", "0.3", "0.3", env=locale)
        assert run.returncode == 3
        assert "λ = 0.3" in run.stdout.decode("utf-8")
        assert run.stderr == b""


def test_no_colour_in_a_pipe(process: Callable[..., Any]) -> None:
    assert b"\x1b" not in process("check", "0.2").stdout


def test_closed_pipe_is_silent(process: Callable[..., Any], repository: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as stdout:
        run = subprocess.run(
            [*_CALL, "report", "0.2", "0.5"],
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=environment,
            check=False,
        )
    assert run.returncode == 141
    assert run.stderr == b""


def test_help_loads_nothing_heavy(process: Callable[..., Any]) -> None:
    run = process("--help")
    assert run.returncode == 0 and b"check" in run.stdout
    heavy = {"numpy", "scipy", "jinja2", "rich", "cvxpy", "matplotlib"}
    code = f"import ensctl.cli.app, sys; print({heavy} & set(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "set()"


def test_every_command_has_help_with_examples(process: Callable[..., Any]) -> None:
    commands = ("check", "report", "steer", "simulate", "swarm", "design", "continuum", "depth")
    commands += ("plan", "replay", "reproduce", "demo")
    for command in commands:
        text = process(command, "--help").stdout.decode()
        assert "Examples:" in text and f"\n    ensctl {command}" in text


def test_version(process: Callable[..., Any]) -> None:
    from ensctl import __version__

    assert process("--version").stdout.decode() == f"ensctl {__version__}\n"
