"""Numbers in files: text to float or complex and back, without losing a bit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ensctl.arguments import Array

_LONGEST = 40


def parse_number(text: str) -> float | complex:
    """A finite real or complex number as Python writes it, such as 0.5, -1e-3 or 0.5+0.2j.

    ``i`` stands for ``j`` too, as spreadsheets write it.

    Raises
    ------
    ValueError
        Not a number, or not finite; the message says what was got.
    """
    word = text.strip()
    if not word:
        raise ValueError("got nothing")
    number = _number(word)
    if number is None:
        hint = "; write 0.5, not 0,5" if _number(word.replace(",", ".", 1)) is not None else ""
        raise ValueError(f"got {shortened(word)}{hint}")
    if not _finite(number):
        raise ValueError(f"got {shortened(word)}, which is not finite")
    return number


def is_number(text: str) -> bool:
    """Whether text reads as a number, finite or not."""
    return _number(text.strip()) is not None


def parse_column(cells: Sequence[str]) -> list[float | complex] | Array | None:
    """All the numbers of a column at once; None where a cell is wrong and has to be found."""
    try:
        if not any("_" in cell for cell in cells):
            reals = np.array(list(map(float, cells)))
            return reals if np.all(np.isfinite(reals)) else None
        return None
    except ValueError:
        numbers = [_number(cell.strip()) for cell in cells]
    found = [number for number in numbers if number is not None and _finite(number)]
    return found if len(found) == len(cells) else None


def from_data(value: Any) -> float | complex:
    """A number from JSON or TOML: a number, a string, or a table with re and im.

    Raises
    ------
    ValueError
        Not a number, or not finite.
    """
    if isinstance(value, str):
        return parse_number(value)
    if isinstance(value, dict) and set(value) == {"re", "im"}:
        real, imag = from_data(value["re"]), from_data(value["im"])
        if isinstance(real, float) and isinstance(imag, float):
            return complex(real, imag)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"got {shortened(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"got {shortened(number)}, which is not a finite double")
    return number


def number_cell(value: float | complex) -> str:
    """The shortest text that reads back as the same double or doubles."""
    return repr(value).strip("()")


def shortened(value: Any) -> str:
    """What was got, in one line that is not long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _number(word: str) -> float | complex | None:
    if "_" in word:
        return None
    try:
        return float(word)
    except ValueError:
        pass
    try:
        return complex(word[:-1] + "j" if word.endswith(("i", "I")) else word)
    except ValueError:
        return None


def _finite(number: float | complex) -> bool:
    return math.isfinite(number.real) and math.isfinite(number.imag)
