"""Every public function and class says what it takes, what it returns, and shows it running."""

from __future__ import annotations

import enum
import inspect
import re
from typing import Any

_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
_ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)\s*(?::|$)", re.MULTILINE)


def test_sections_of_public_objects(public_objects: dict[str, Any]) -> None:
    assert public_objects
    problems = [
        f"{name}: {problem}"
        for name, value in public_objects.items()
        for problem in _problems(value)
    ]
    assert not problems, "\n" + "\n".join(problems)


def test_methods_and_properties_are_documented(public_objects: dict[str, Any]) -> None:
    classes = {name: value for name, value in public_objects.items() if inspect.isclass(value)}
    assert classes
    undocumented = [
        f"{name}.{attribute}"
        for name, owner in classes.items()
        for base in owner.__mro__
        if base.__module__.startswith("ensctl")
        for attribute, value in vars(base).items()
        if not attribute.startswith("_")
        and isinstance(value, property | staticmethod | classmethod | type(_problems))
        and not (inspect.getdoc(getattr(owner, attribute)) or "").strip()
    ]
    assert undocumented == []


def _problems(value: Any) -> list[str]:
    text = inspect.cleandoc(value.__doc__ or "")
    if not text:
        return ["no docstring"]
    sections = _sections(text)
    if inspect.isclass(value):
        return _class_problems(value, sections)
    problems = _parameter_problems(value, sections.get("Parameters", ""))
    returns = inspect.signature(value).return_annotation
    if returns not in (None, "None") and not {"Returns", "Yields"} & set(sections):
        problems.append("no Returns section")
    return problems + _example_problems(sections)


def _class_problems(owner: type, sections: dict[str, str]) -> list[str]:
    # An error is documented by its sentence, an enumeration by its members.
    if issubclass(owner, BaseException | enum.Enum):
        return []
    described = sections.get("Parameters", "") + "\n" + sections.get("Attributes", "")
    problems = _parameter_problems(owner, described)
    # A result has attributes only: the function that returns it shows it.
    return problems + (_example_problems(sections) if "Parameters" in sections else [])


def _parameter_problems(value: Any, described: str) -> list[str]:
    entries = {
        name.lstrip("*")
        for match in _ENTRY.finditer(described)
        for name in match.group(1).split(", ")
    }
    expected = [name for name in inspect.signature(value).parameters if not name.startswith("_")]
    return [f"parameter {name} is not described" for name in expected if name not in entries]


def _example_problems(sections: dict[str, str]) -> list[str]:
    if ">>> " not in sections.get("Examples", ""):
        return ["no Examples section with a doctest"]
    return []


def _sections(text: str) -> dict[str, str]:
    """Heading → body of a numpydoc docstring."""
    pieces = _HEADING.split(text)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))
