"""Small files that are named after what is in them and import from where a thing is defined."""

from __future__ import annotations

import ast
from pathlib import Path

LONGEST = 400
MEANINGLESS = {"base", "common", "core", "helper", "helpers", "misc", "tools", "util", "utils"}


def test_no_file_is_long(sources: dict[str, Path]) -> None:
    lengths = {
        name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in sources.items()
    }
    assert lengths
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_no_module_has_a_name_that_says_nothing(sources: dict[str, Path]) -> None:
    assert [name for name in sources if set(name.split(".")) & MEANINGLESS] == []


def test_every_module_says_what_is_in_it(sources: dict[str, Path]) -> None:
    assert [name for name, path in sources.items() if not ast.get_docstring(_tree(path))] == []


def test_the_package_does_not_use_its_own_lazy_names(sources: dict[str, Path]) -> None:
    # Through the lazy names a low room could reach a high one where the layer contract is blind.
    found = []
    rooms = {name.split(".")[1] for name in sources if "." in name}
    for name, path in sources.items():
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Import):
                found += [name for alias in node.names if alias.name == "ensctl"]
            elif isinstance(node, ast.ImportFrom) and node.module == "ensctl":
                allowed = {"__version__"} | rooms
                found += [name for alias in node.names if alias.name not in allowed]
    assert found == []


def test_every_folder_is_a_package(sources: dict[str, Path]) -> None:
    folders = {path.parent for path in sources.values()}
    assert [folder.name for folder in folders if not (folder / "__init__.py").exists()] == []


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
