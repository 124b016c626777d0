"""The package as the contract tests see it: its files, its modules and its public objects."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ensctl


@pytest.fixture(scope="session")
def sources(repository: Path) -> dict[str, Path]:
    """Dotted module name → file, for every module of the package."""
    found = {}
    for path in sorted((repository / "ensctl").rglob("*.py")):
        parts = path.relative_to(repository).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@pytest.fixture(scope="session")
def public_objects() -> dict[str, Any]:
    """Dotted name → public function or class, those of public modules such as families included."""
    found: dict[str, Any] = {}
    for name in ensctl.__all__:
        value = getattr(ensctl, name)
        if inspect.ismodule(value):
            found.update(_functions_and_classes(value, f"ensctl.{name}"))
        elif callable(value):
            found[f"ensctl.{name}"] = value
    return found


@pytest.fixture(scope="session")
def public_callables(public_objects: dict[str, Any]) -> dict[str, Any]:
    """Dotted name → public function, class, or public method of a public class."""
    found = dict(public_objects)
    for name, value in public_objects.items():
        if inspect.isclass(value):
            found.update(_methods(value, name))
    return found


def _functions_and_classes(module: ModuleType, dotted: str) -> Iterator[tuple[str, Any]]:
    """The names in ``__all__``; without one, the public names defined in the module itself."""
    defined = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    for name in getattr(module, "__all__", defined):
        value = getattr(module, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            yield f"{dotted}.{name}", value


def _methods(owner: type, dotted: str) -> Iterator[tuple[str, Any]]:
    for base in owner.__mro__:
        if not base.__module__.startswith("ensctl"):
            continue
        for name, attribute in vars(base).items():
            function = getattr(attribute, "__func__", attribute)
            if not name.startswith("_") and inspect.isfunction(function):
                yield f"{dotted}.{name}", function
