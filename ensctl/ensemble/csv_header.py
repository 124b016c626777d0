"""The header of a CSV file: which column holds what."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ensctl.ensemble.number_cells import shortened
from ensctl.ensemble.spelling import nearest_word
from ensctl.errors import FormatError

_COLUMN = re.compile(r"(?:(lam)|([bc])(?:_(\d{1,6}))?)(?:_(re|im))?", re.ASCII)
_KNOWN = ("lam", "lam_re", "lam_im", "b", "c", "name")
_ALIASES = {"λ": "lam", "lambda": "lam", "names": "name"}


@dataclass(frozen=True)
class Column:
    """What a column holds.

    Attributes
    ----------
    quantity : {"lam", "b", "c", "name"}
        What its numbers are.
    text : str
        The column as the file calls it.
    index : int or None
        Channel of b or output of c, where they are numbered.
    part : {"", "re", "im"}
        Whole numbers, or the part of complex numbers.
    """

    quantity: str
    text: str
    index: int | None
    part: str


def parse_header(cells: list[str], line: int, source: str) -> list[Column]:
    """Make columns from the cells of the header.

    Raises
    ------
    FormatError
        A column is unknown, stands twice, or misses its counterpart; or none holds λ.
    """
    columns = [_column(cell.strip(), k, line, source) for k, cell in enumerate(cells, start=1)]
    _require_lam(columns, line, source)
    for quantity in ("lam", "b", "c", "name"):
        _require_one_form([c for c in columns if c.quantity == quantity], line, source)
    return columns


def _column(cell: str, position: int, line: int, source: str) -> Column:
    if not cell:
        raise FormatError(
            f"column {position} has no name; name it, or remove the separator", source, line
        )
    if cell[0] in "0123456789+-.":
        raise FormatError(
            f"λ must be a number, or the first line a header such as lam,b, got {shortened(cell)}",
            source,
            line,
        )
    word = _ALIASES.get(cell.lower(), cell.lower())
    if word == "name":
        return Column("name", cell, None, "")
    found = _COLUMN.fullmatch(word)
    if not found:
        raise FormatError(
            f"column {shortened(cell)} is unknown{nearest_word(word, _KNOWN) or ';'} known columns "
            f"are {', '.join(_KNOWN)}; rename or remove it",
            source,
            line,
        )
    lam, quantity, index, part = found.groups()
    return Column(lam or quantity, cell, None if index is None else int(index), part or "")


def _require_lam(columns: list[Column], line: int, source: str) -> None:
    if not any(column.quantity == "lam" for column in columns):
        given = shortened(", ".join(column.text for column in columns))
        raise FormatError(
            f"has no column lam, got {given}; name the column that holds λ 'lam'", source, line
        )


def _require_one_form(columns: list[Column], line: int, source: str) -> None:
    """Each number of a member is given once and whole."""
    if not columns:
        return
    quantity = columns[0].quantity
    parts: dict[int | None, list[str]] = {}
    for column in columns:
        given = parts.setdefault(column.index, [])
        if column.part in given:
            raise FormatError(f"column {column.text!r} stands twice; keep one", source, line)
        given.append(column.part)
    for index, given in parts.items():
        if sorted(given) not in ([""], ["im", "re"]):
            base = quantity if index is None else f"{quantity}_{index}"
            raise FormatError(
                f"{base} must be one column {base}, or two columns {base}_re and {base}_im, got "
                f"{', '.join(f'{base}_{part}' if part else base for part in given)}",
                source,
                line,
            )
    if None in parts and len(parts) > 1:
        raise FormatError(
            f"columns of {quantity} must be all numbered or not at all; use {quantity}_0, "
            f"{quantity}_1, …",
            source,
            line,
        )
    if None not in parts and set(parts) != set(range(len(parts))):
        raise FormatError(
            f"columns of {quantity} must be numbered {quantity}_0, {quantity}_1, … without gaps, "
            f"got {', '.join(f'{quantity}_{index}' for index in parts)}",
            source,
            line,
        )
