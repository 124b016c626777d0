"""The public API is explicit, complete and the same for people, machines and type checkers."""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

import ensctl


def test_all_has_no_duplicates() -> None:
    assert len(ensctl.__all__) == len(set(ensctl.__all__))


@pytest.mark.parametrize("name", ensctl.__all__)
def test_public_name_resolves_and_is_documented(name: str) -> None:
    value = getattr(ensctl, name)
    assert name in dir(ensctl)
    if name != "__version__":
        assert (inspect.getdoc(value) or "").strip(), f"ensctl.{name} has no docstring"


@pytest.mark.parametrize("name", sorted(ensctl._DEFINED_IN))
def test_public_name_is_defined_where_the_table_says(name: str) -> None:
    assert getattr(ensctl, name).__module__ == ensctl._DEFINED_IN[name]


def test_type_checkers_see_the_table(sources: dict[str, Path]) -> None:
    seen = {}
    for block in ast.parse(sources["ensctl"].read_text(encoding="utf-8")).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for statement in block.body:
                assert isinstance(statement, ast.ImportFrom)
                for alias in statement.names:
                    assert alias.asname == alias.name, f"{alias.name} is not re-exported by 'as'"
                    seen[alias.name] = statement.module
    modules = {name: home.rpartition(".")[0] for name, home in ensctl._MODULES.items()}
    assert seen == ensctl._DEFINED_IN | modules


def test_no_function_or_class_shares_its_name_with_a_room(sources: dict[str, Path]) -> None:
    top = {name.split(".")[1] for name in sources if "." in name}
    assert not top & set(ensctl._DEFINED_IN)


@pytest.mark.parametrize("name", sorted(ensctl._DEFINED_IN))
def test_public_name_is_the_object_even_where_a_module_shares_it(name: str) -> None:
    room, _, module = ensctl._DEFINED_IN[name].rpartition(".")
    importlib.import_module(f"{room}.{module}")
    assert not inspect.ismodule(getattr(ensctl, name))
    if room != "ensctl":
        assert getattr(importlib.import_module(room), name) is getattr(ensctl, name)


def test_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = ensctl.no_such_thing


def test_no_public_callable_takes_arbitrary_keywords(public_callables: dict[str, Any]) -> None:
    def takes_any(value: Any) -> bool:
        if inspect.isclass(value) and issubclass(value, enum.Enum):
            # Looking a member up is the only call, and Python gives it that signature.
            return False
        function = value.__init__ if inspect.isclass(value) else value
        if not inspect.isfunction(function):
            return False
        parameters = inspect.signature(function).parameters.values()
        return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)

    assert public_callables
    assert [name for name, function in public_callables.items() if takes_any(function)] == []
