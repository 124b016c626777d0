"""Every public name is shown at work: in a doctest, an example, a notebook or the README."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path

import pytest

import ensctl

_ROOMS = ("drafting", "scheduling", "papers", "simulation", "plot", "synthesis", "estimation")


@pytest.fixture(scope="module")
def shown(repository: Path) -> set[str]:
    """Every word of code that a reader finds."""
    texts = [(repository / "README.md").read_text(encoding="utf-8")]
    texts += [path.read_text(encoding="utf-8") for path in (repository / "examples").glob("*.py")]
    for path in (repository / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for path in (repository / "ensctl").rglob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        texts += [line for line in lines if line.lstrip().startswith((">>> ", "... "))]
    return set(re.findall(r"\w+", "\n".join(texts)))


@pytest.mark.parametrize("room", ["", *_ROOMS])
def test_public_names_are_shown(room: str, shown: set[str]) -> None:
    module = importlib.import_module(f"ensctl.{room}") if room else ensctl
    names = [name for name in module.__all__ if not name.startswith("__")]
    missing = [
        name
        for name in names
        if name not in shown and not _comes_out_of_a_call(getattr(module, name))
    ]
    assert missing == []


def _comes_out_of_a_call(value: object) -> bool:
    """Results and errors: what shows them is the function that returns or raises them."""
    if not inspect.isclass(value):
        return False
    if issubclass(value, BaseException):
        return True
    return "Parameters\n" not in inspect.cleandoc(value.__doc__ or "")
