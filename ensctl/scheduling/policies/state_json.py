"""States as JSON-safe data and back: frozen dataclasses of numbers, texts and tuples."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, get_args, get_origin, get_type_hints

from ensctl.errors import InvalidInputError
from ensctl.serialization import SCHEMA, versioned

KIND = "policy_state"
# Of counts and seeds; these are floats too.
_MOST = 2**128


def encode(state: Any) -> dict[str, Any]:
    """The fields of a state, headed by the schema and the name of its class."""
    content = {field.name: getattr(state, field.name) for field in fields(state)}
    return versioned(KIND, {"state": type(state).__name__, **content})


def decode(kind: type, content: Any) -> Any:
    """Rebuild a state of class ``kind`` from what :func:`encode` made.

    Raises
    ------
    InvalidInputError
        Not such data, of another class or schema, or a field that does not fit.
    """
    if not isinstance(content, Mapping) or content.get("kind") != KIND:
        raise InvalidInputError(f"state must be a mapping of kind {KIND!r}, as to_dict gives it")
    if content.get("schema") != SCHEMA:
        raise InvalidInputError(f"state must have schema {SCHEMA}, got {content.get('schema')!r}")
    if content.get("state") != kind.__name__:
        raise InvalidInputError(f"state must be a {kind.__name__}, got {content.get('state')!r}")
    rest = {key: value for key, value in content.items() if key not in ("schema", "kind", "state")}
    return _value(kind, rest, "state")


def _value(kind: Any, content: Any, name: str) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        if not isinstance(content, Mapping) or set(content) != set(hints):
            raise InvalidInputError(f"{name} must have the fields {', '.join(hints)}")
        values = {key: _value(hint, content[key], f"{name}.{key}") for key, hint in hints.items()}
        return kind(**values)
    if get_origin(kind) is tuple:
        if not isinstance(content, list | tuple):
            raise InvalidInputError(f"{name} must be a list, got {content!r}")
        inner = get_args(kind)
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(_value(inner[0], item, f"{name}[{i}]") for i, item in enumerate(content))
        if len(inner) != len(content):
            raise InvalidInputError(f"{name} must have {len(inner)} entries, got {len(content)}")
        pairs = zip(inner, content, strict=True)
        return tuple(_value(hint, item, f"{name}[{i}]") for i, (hint, item) in enumerate(pairs))
    if isinstance(kind, types.UnionType):
        choices = [choice for choice in get_args(kind) if choice is not type(None)]
        return None if content is None else _value(choices[0], content, name)
    if kind is float and isinstance(content, int | float) and not isinstance(content, bool):
        try:
            number = float(content)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise InvalidInputError(f"{name} must be finite, got {content!r}")
        return number
    if kind is int and isinstance(content, int) and abs(content) > _MOST:
        raise InvalidInputError(f"{name} must be at most 2¹²⁸, got more")
    if isinstance(content, kind) and (kind is bool or not isinstance(content, bool)):
        return content
    raise InvalidInputError(f"{name} must be {kind.__name__}, got {content!r}")


def require_alike(state: Any, pattern: Any, name: str) -> None:
    """Refuse a decoded state whose lists are not as long as those of ``pattern``."""
    if isinstance(pattern, tuple):
        if len(state) != len(pattern):
            raise InvalidInputError(f"{name} must have {len(pattern)} entries, got {len(state)}")
        for i, (item, wanted) in enumerate(zip(state, pattern, strict=True)):
            require_alike(item, wanted, f"{name}[{i}]")
    elif is_dataclass(pattern):
        for field in fields(pattern):
            mine, wanted = getattr(state, field.name), getattr(pattern, field.name)
            require_alike(mine, wanted, f"{name}.{field.name}")


def require_number(value: float, name: str, low: float, high: float = math.inf) -> None:
    """Refuse a number of a decoded state outside [low, high]."""
    if not low <= value <= high:
        raise InvalidInputError(f"state.{name} must be from {low:g} to {high:g}, got {value!r}")


@lru_cache(maxsize=64)
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)
