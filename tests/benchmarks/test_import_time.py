"""What `import ensctl` costs, as a ratio to `import scipy.linalg`, each in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("statement", ["import ensctl", "import ensctl; ensctl.Ensemble([0.5])"])
def test_import_time(
    statement: str,
    ratio_table: Any,
    timed: Callable[..., float],
    sized: Callable[..., int],
    repository: Path,
) -> None:
    def run(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True, cwd=repository)

    repeat = sized(15, smoke=1)
    row = ratio_table.add(
        f"python -c '{statement}' against 'import scipy.linalg'",
        timed(lambda: run(statement), repeat),
        timed(lambda: run("import scipy.linalg"), repeat),
        at_most=1.3,
    )
    assert row.ratio > 0


def test_help_time(
    ratio_table: Any, timed: Callable[..., float], sized: Callable[..., int], repository: Path
) -> None:
    def run(*code: str) -> None:
        subprocess.run(
            [sys.executable, *code], check=True, cwd=repository, stdout=subprocess.DEVNULL
        )

    repeat = sized(15, smoke=1)
    call = "import sys; from ensctl.cli import main; sys.exit(main(['--help']))"
    row = ratio_table.add(
        "ensctl --help against 'import scipy.linalg'",
        timed(lambda: run("-c", call), repeat),
        timed(lambda: run("-c", "import scipy.linalg"), repeat),
        at_most=2.0,
    )
    assert row.ratio > 0
