"""The CSV form of an ensemble: a header and one member a line, or one λ a line."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

import numpy as np

from ensctl.arguments import Array
from ensctl.ensemble.csv_header import Column, parse_header
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.keyed_data import number_lists
from ensctl.ensemble.number_cells import is_number, parse_column, parse_number, shortened
from ensctl.errors import FormatError

_DIRECTIVE = re.compile(r"#\s*(dt|d)\s*=\s*(.*)$")
_NOTHING = ' \t,;"'

# A line with its number, counted from 1, and its cells.
_Row = tuple[int, list[str]]


def parse_csv(text: str, source: str) -> Ensemble:
    """Make an ensemble from CSV text; see :mod:`ensctl.ensemble.parsing` for the columns.

    Raises
    ------
    FormatError
        Names ``source`` and the line.
    """
    lines, settings = _content(text, source)
    if not lines:
        raise FormatError("has no λ; give one λ a line, or columns lam, b, c, name", source)
    separator = _separator(lines[0][1])
    rows = [(number, _cells(line, separator, number, source)) for number, line in lines]
    first, head = rows[0]
    if is_number(head[0]):
        columns, members = [Column("lam", "", None, "")], rows
        _require_single_cells(rows, source)
    else:
        columns, members = parse_header(head, first, source), rows[1:]
    if not members:
        raise FormatError("has a header and no members; add one line for each", source, first)
    return _from_columns(columns, members, settings, source)


def _content(text: str, source: str) -> tuple[list[tuple[int, str]], dict[str, Any]]:
    """Numbered lines with content, and what comments say of d and dt."""
    settings: dict[str, Any] = {}
    lines = []
    # splitlines would also split at characters that may be part of a name.
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        if line.lstrip().startswith("#"):
            directive = _DIRECTIVE.match(line.strip())
            if directive is None:
                continue
            key, value = directive.groups()
            if key in settings:
                raise FormatError(f"{key} stands twice; keep one", source, number)
            settings[key] = _setting(key, value, number, source)
        elif line.strip(_NOTHING):
            lines.append((number, line))
    return lines, settings


def _setting(key: str, text: str, number: int, source: str) -> Any:
    try:
        value = number_lists(json.loads(text), key) if "[" in text else parse_number(text)
    except ValueError as error:
        raise FormatError(f"{key} must be a number, {error}", source, number) from None
    if key == "dt" and not (isinstance(value, float) and value > 0):
        raise FormatError(f"dt must be a number > 0, got {shortened(text)}", source, number)
    return value


def _separator(line: str) -> str:
    return "\t" if "\t" in line.strip() else ";" if ";" in line else ","


def _cells(line: str, separator: str, number: int, source: str) -> list[str]:
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line.strip()], delimiter=separator, strict=True))
    except csv.Error as error:
        raise FormatError(
            f"cannot be split into cells: {error}; check its quotes", source, number
        ) from None


def _require_single_cells(rows: list[_Row], source: str) -> None:
    for number, cells in rows:
        if len(cells) != 1:
            raise FormatError(
                f"has {len(cells)} cells and no header says what they are; put one λ on a line "
                f"(with a decimal point), or start with a header such as lam,b",
                source,
                number,
            )


def _from_columns(
    columns: list[Column], rows: list[_Row], settings: dict[str, Any], source: str
) -> Ensemble:
    for number, cells in rows:
        if len(cells) != len(columns):
            raise FormatError(
                f"has {_counted(len(cells))} where the header has {len(columns)}; mend the line",
                source,
                number,
            )
    names = None
    table: dict[tuple[str, int | None], Array] = {}
    for k, column in enumerate(columns):
        cells = [row[k] for _, row in rows]
        if column.quantity == "name":
            names = cells
            continue
        values = _numbers(column, cells, [number for number, _ in rows], source)
        key = (column.quantity, column.index)
        if not column.part:
            table[key] = values
            continue
        # Assigned part by part: a sum would turn −0.0 into +0.0.
        part = table.setdefault(key, np.zeros(len(rows), dtype=np.complex128))
        if column.part == "re":
            part.real = values
        else:
            part.imag = values
    gains = _block(table, "b")
    return Ensemble(
        table["lam", None],
        1.0 if gains is None else gains.T,
        _block(table, "c"),
        settings.get("d", 0.0),
        dt=settings.get("dt", 1.0),
        names=names,
    )


def _block(table: dict[tuple[str, int | None], Array], quantity: str) -> Array | None:
    """Columns of b or c: (N,), or (how many, N) if they are numbered, or None."""
    if (quantity, None) in table:
        return table[quantity, None]
    indices = sorted(index for name, index in table if name == quantity and index is not None)
    return np.array([table[quantity, index] for index in indices]) if indices else None


def _numbers(column: Column, cells: list[str], lines: list[int], source: str) -> Array:
    values = parse_column(cells)
    if values is None or (column.part and np.iscomplexobj(values)):
        for cell, number in zip(cells, lines, strict=True):
            kind = "a real number" if column.part else "a number"
            try:
                value = parse_number(cell)
            except ValueError as error:
                raise FormatError(
                    f"{column.text or 'λ'} must be {kind}, {error}; mend or remove the line",
                    source,
                    number,
                ) from None
            if column.part and isinstance(value, complex):
                raise FormatError(
                    f"{column.text} must be {kind}, got {shortened(cell.strip())}; mend the line",
                    source,
                    number,
                )
    return np.asarray(values)


def _counted(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"
