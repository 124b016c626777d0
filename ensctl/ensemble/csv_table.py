"""The CSV form of an ensemble: a header and one member a line, or one λ a line."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import Any

from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.number_cells import parse_number
from ensctl.ensemble.spelling import nearest_word
from ensctl.errors import FormatError

_SEPARATORS = (",", ";", "\t")
_COLUMN = re.compile(r"(?:(lam)|([bc])(?:_(\d+))?)(?:_(re|im))?$")
_SUGGESTED = ("lam", "lam_re", "lam_im", "b", "c", "name")


@dataclass(frozen=True)
class _Column:
    """What a column holds: quantity, index of channel or output, and which part."""

    quantity: str
    index: int | None
    part: str


def parse_csv(text: str, source: str) -> Ensemble:
    """Make an ensemble from CSV text; see :mod:`ensctl.ensemble.parsing` for the columns.

    Raises
    ------
    FormatError
        Names ``source`` and the line.
    """
    lines, dt = _content(text, source)
    if not lines:
        raise FormatError("has no λ; give one λ a line, or columns lam, b, c, name", source)
    separator = max(_SEPARATORS, key=lines[0][1].count)
    rows = [(number, _cells(line, separator, number, source)) for number, line in lines]
    if _is_number(rows[0][1][0]):
        return Ensemble(_plain(rows, source), dt=dt)
    columns = _header(rows[0][1], rows[0][0], source)
    if len(rows) == 1:
        raise FormatError("has a header and no members; add one line for each", source, rows[0][0])
    return _from_columns(columns, rows[1:], dt, source)


def _content(text: str, source: str) -> tuple[list[tuple[int, str]], float]:
    """Numbered lines with content, and dt where a comment gives it."""
    dt = 1.0
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("#"):
            found = re.match(r"#\s*dt\s*=\s*(.+)$", stripped)
            if found:
                dt = _dt(found.group(1), number, source)
        elif stripped:
            lines.append((number, line))
    return lines, dt


def _dt(text: str, number: int, source: str) -> float:
    try:
        value = parse_number(text)
    except ValueError as error:
        raise FormatError(f"dt must be a number, {error}", source, number) from None
    if isinstance(value, complex) or value <= 0:
        raise FormatError(f"dt must be > 0, got {text.strip()}", source, number)
    return value


def _cells(line: str, separator: str, number: int, source: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, strict=True))]
    except csv.Error as error:
        raise FormatError(f"cannot be split into cells: {error}", source, number) from None


def _is_number(cell: str) -> bool:
    try:
        parse_number(cell)
    except ValueError as error:
        # nan and inf are numbers too: the line is data, and wrong.
        return "not finite" in str(error)
    return True


def _plain(rows: list[tuple[int, list[str]]], source: str) -> list[float | complex]:
    lam = []
    for number, cells in rows:
        if len(cells) != 1:
            raise FormatError(
                f"has {len(cells)} cells and no header says what they are; put one λ on a line, or "
                f"start with a header such as lam,b",
                source,
                number,
            )
        lam.append(_value(cells[0], "lam", number, source))
    return lam


def _header(cells: list[str], number: int, source: str) -> list[_Column]:
    columns = [_column(cell, number, source) for cell in cells]
    for k, column in enumerate(columns):
        if column in columns[:k]:
            raise FormatError(f"column {cells[k]!r} stands twice; keep one", source, number)
    for quantity in ("lam", "b", "c"):
        forms = {column.index is None for column in columns if column.quantity == quantity}
        whole = {column.part for column in columns if column.quantity == quantity}
        if len(forms) > 1 or ("" in whole and len(whole) > 1):
            raise FormatError(
                f"columns for {quantity} mix forms; use {quantity}, {quantity}_re and "
                f"{quantity}_im, or numbered ones",
                source,
                number,
            )
    if not any(column.quantity == "lam" for column in columns):
        raise FormatError(
            f"has no column lam, got {', '.join(cells)[:60]}; name the column that holds λ 'lam'",
            source,
            number,
        )
    return columns


def _column(cell: str, number: int, source: str) -> _Column:
    name = cell.lower()
    if name in ("name", "names"):
        return _Column("name", None, "")
    found = _COLUMN.match("lam" if name in ("λ", "lambda") else name)
    if not found:
        raise FormatError(
            f"column {cell!r} is unknown{nearest_word(name, _SUGGESTED)}; known are "
            f"{', '.join(_SUGGESTED)}",
            source,
            number,
        )
    lam, quantity, index, part = found.groups()
    return _Column(lam or quantity, None if index is None else int(index), part or "")


def _from_columns(
    columns: list[_Column], rows: list[tuple[int, list[str]]], dt: float, source: str
) -> Ensemble:
    table: dict[tuple[str, int | None], list[float | complex]] = {}
    names: list[str] = []
    for number, cells in rows:
        if len(cells) != len(columns):
            raise FormatError(
                f"has {len(cells)} cells where the header has {len(columns)}; complete the line",
                source,
                number,
            )
        sums: dict[tuple[str, int | None], float | complex] = {}
        for column, cell in zip(columns, cells, strict=True):
            if column.quantity == "name":
                names.append(cell)
                continue
            value = _value(cell, column.quantity, number, source)
            key = (column.quantity, column.index)
            if column.part and isinstance(value, complex):
                raise FormatError(
                    f"{column.quantity}_{column.part} must be real, got {cell!r}", source, number
                )
            sums[key] = _combined(sums.get(key), value, column.part)
        for key, value in sums.items():
            table.setdefault(key, []).append(value)
    lam = table[("lam", None)]
    b, c = _block(table, "b", source), _block(table, "c", source)
    gains: Any = 1.0 if b is None else b[0] if ("b", None) in table else list(zip(*b, strict=True))
    weights: Any = None if c is None else c[0] if ("c", None) in table else c
    return Ensemble(lam, gains, weights, dt=dt, names=names or None)


def _combined(
    before: float | complex | None, value: float | complex, part: str
) -> float | complex:
    if part == "im":
        return complex(0.0 if before is None else complex(before).real, complex(value).real)
    if part == "re" and before is not None:
        return complex(complex(value).real, complex(before).imag)
    return value


def _block(
    table: dict[tuple[str, int | None], list[float | complex]], quantity: str, source: str
) -> list[list[float | complex]] | None:
    """Columns of b or c by index; None where there are none."""
    indices = sorted(index for kind, index in table if kind == quantity and index is not None)
    if (quantity, None) in table:
        return [table[(quantity, None)]]
    if not indices:
        return None
    if indices != list(range(len(indices))):
        raise FormatError(
            f"columns {quantity}_0, {quantity}_1, … must be numbered without gaps, got "
            f"{', '.join(f'{quantity}_{k}' for k in indices)}",
            source,
        )
    return [table[(quantity, index)] for index in indices]


def _value(cell: str, quantity: str, number: int, source: str) -> float | complex:
    try:
        return parse_number(cell)
    except ValueError as error:
        raise FormatError(
            f"{quantity} must be a number, {error}; correct or remove the line", source, number
        ) from None
