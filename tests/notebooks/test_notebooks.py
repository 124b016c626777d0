"""Every notebook runs, is small, shows its outputs, and holds one idea rather than a library."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

_FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
_NOTEBOOKS = sorted(_FOLDER.glob("*.ipynb"))
_KILOBYTES, _WITH_ANIMATION = 100, 2000


def _read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_notebooks() -> None:
    assert len(_NOTEBOOKS) >= 8


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", _NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path) -> None:
    notebook = _read(path)
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(_FOLDER)}}
    )
    client.execute()


@pytest.mark.parametrize("path", _NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_readable_on_the_web(path: Path) -> None:
    notebook = _read(path)
    size = path.stat().st_size / 1000
    animated = "to_jshtml" in path.read_text(encoding="utf-8")
    assert size < (_WITH_ANIMATION if animated else _KILOBYTES)
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith("# ")
    shown = [cell for cell in _code(notebook) if cell.outputs]
    assert len(shown) >= 3
    errors = [out for cell in shown for out in cell.outputs if out.output_type == "error"]
    assert not errors
    # Nothing of the machine it ran on.
    assert "/tmp/" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", _NOTEBOOKS, ids=lambda path: path.stem)
def test_definitions_are_short(path: Path) -> None:
    for cell in _code(_read(path)):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                assert node.end_lineno is not None
                assert node.end_lineno - node.lineno < 5, node.name
