"""Numbers in files: text to float or complex and back, without losing a bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def parse_number(text: str) -> float | complex:
    """A real or complex number as Python writes it, such as 0.5, -1e-3 or 0.5+0.2j.

    Raises
    ------
    ValueError
        Not a number, or not finite; the message says what was got.
    """
    word = text.strip().replace("i", "j") if text.strip().endswith("i") else text.strip()
    if not word:
        raise ValueError("got an empty cell")
    try:
        value: float | complex = float(word)
    except ValueError:
        try:
            value = complex(word.replace(" ", ""))
        except ValueError:
            raise ValueError(f"got {text.strip()!r}") from None
    if not (math.isfinite(complex(value).real) and math.isfinite(complex(value).imag)):
        raise ValueError(f"got {text.strip()!r}, which is not finite")
    return value


def from_data(value: Any) -> float | complex:
    """A number from JSON or TOML: a number, a string, or a table with re and im.

    Raises
    ------
    ValueError
        Not a number, or not finite.
    """
    if isinstance(value, bool):
        raise ValueError(f"got {value}")
    if isinstance(value, int | float):
        if not math.isfinite(value):
            raise ValueError(f"got {value}, which is not finite")
        return float(value)
    if isinstance(value, str):
        return parse_number(value)
    if isinstance(value, dict) and set(value) == {"re", "im"}:
        re, im = from_data(value["re"]), from_data(value["im"])
        if isinstance(re, float) and isinstance(im, float):
            return complex(re, im)
    raise ValueError(f"got {str(value)[:40]}")


def number_cell(value: Any) -> str:
    """The shortest text that reads back as the same double(s)."""
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, complex):
        return repr(number).strip("()")
    return repr(float(number))
