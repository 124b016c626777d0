"""What is heavy is loaded where it is used, never by importing the package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "clarabel",
    "control",
    "cvxpy",
    "dask",
    "finufft",
    "flint",
    "highspy",
    "jinja2",
    "matplotlib",
    "mpmath",
    "numba",
    "osqp",
    "rich",
    "typer",
}


@pytest.mark.parametrize(
    "statement",
    [
        "import ensctl",
        "import ensctl; ensctl.Ensemble([0.2, 0.5, 0.8])",
        "import ensctl; ensctl.controllability(ensctl.Ensemble([0.2, 0.5, 0.8]))",
        "import ensctl; [getattr(ensctl, name) for name in ensctl.__all__]",
    ],
)
def test_nothing_heavy_is_loaded(statement: str, repository: Path) -> None:
    assert _loaded_by(statement, repository) & HEAVY == set()


def test_heavy_import_would_be_seen(repository: Path) -> None:
    assert "mpmath" in _loaded_by("import ensctl, mpmath", repository)


def _loaded_by(statement: str, folder: Path) -> set[str]:
    code = f"{statement}\nimport json, sys; print(json.dumps(list(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return {name.split(".")[0] for name in json.loads(run.stdout)}
