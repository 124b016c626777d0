"""Results as JSON-safe data: versioned, complete, and never NaN.

Non-finite numbers become the strings "inf", "-inf" and "nan", complex numbers become
``{"re": …, "im": …}``, arrays become lists.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

SCHEMA = 1


def jsonable(value: Any) -> Any:
    """Convert numbers, arrays, dataclasses, enums and containers of them to JSON-safe data."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, complex):
        return {"re": jsonable(value.real), "im": jsonable(value.imag)}
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if dataclasses.is_dataclass(value):
        return {
            field.name: jsonable(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if not field.name.startswith("_")
        }
    raise TypeError(f"cannot convert {type(value).__name__} to JSON")


def versioned(kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``content`` as JSON-safe data headed by the schema number and the kind."""
    return {"schema": SCHEMA, "kind": kind, **jsonable(content)}
