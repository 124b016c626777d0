"""One number for each member: as numbers on the command line, or from a CSV or JSON file.

**CSV.**  A header with the columns ``target`` and, each optional, ``x0`` and ``name``, then one
member a line in the order of the population; complex numbers as 0.5+0.2j.  Without a header: one
number a line.  Empty lines and lines that start with # are skipped.

**JSON.**  A list of numbers, or an object with lists (or one number for all) as ``target`` and
``x0``.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensctl.cli.number_tokens import is_number
from ensctl.cli.population import numbers
from ensctl.cli.standard_input import STDIN, text_of
from ensctl.errors import FormatError, InvalidInputError

if TYPE_CHECKING:
    from ensctl.ensemble.ensemble import Ensemble

_QUANTITIES = ("target", "x0")
Values = complex | list[complex]


@dataclass(frozen=True)
class Ends:
    """Where the members shall end and where they start.

    Attributes
    ----------
    target, x0 : number or list of numbers
        One number stands for all members.
    """

    target: Values
    x0: Values


def read_ends(target: str, x0: str | None, ens: Ensemble) -> Ends:
    """Read both ends; a start state given by itself goes before that of the target's file.

    Raises
    ------
    InvalidInputError
        Neither numbers nor a file, or what the file holds is wrong.
    """
    ending = _read(target, "target", ens)
    start = ending if x0 is None else _read(x0, "x0", ens)
    return Ends(ending["target"], start.get("x0", 0.0))


def _read(text: str, wanted: str, ens: Ensemble) -> dict[str, Values]:
    if all(is_number(piece) for piece in text.split(",")):
        return {wanted: numbers(text, wanted)}
    if text != STDIN and not Path(text).exists():
        raise InvalidInputError(
            f"{wanted} must be numbers separated by commas or a file, got {text!r}, which is "
            f"neither; write complex numbers as 0.5+0.2j"
        )
    content = text_of(text)
    as_json = content.lstrip().startswith(("{", "["))
    found = _from_json(content, wanted, text) if as_json else _from_csv(content, wanted, text, ens)
    if wanted not in found:
        raise FormatError(f"has no {wanted}; name the numbers {wanted!r}", text)
    for quantity, values in found.items():
        if isinstance(values, list) and len(values) != ens.size:
            raise FormatError(
                f"{quantity} must have one number for each of {ens.size} members, got "
                f"{len(values)}; give them in the order of the population",
                text,
            )
    return found


def _from_json(content: str, wanted: str, source: str) -> dict[str, Values]:
    try:
        data = json.loads(content)
    except ValueError as error:
        raise FormatError(f"is not JSON: {error}; mend it", source) from None
    if not isinstance(data, dict):
        return {wanted: _json_values(data, wanted, source)}
    return {
        quantity: _json_values(data[quantity], quantity, source)
        for quantity in _QUANTITIES
        if quantity in data
    }


def _json_values(value: Any, quantity: str, source: str) -> Values:
    from ensctl.ensemble.number_cells import from_data

    try:
        return [from_data(item) for item in value] if isinstance(value, list) else from_data(value)
    except ValueError as error:
        raise FormatError(f"{quantity} must be numbers, {error}", source) from None


def _from_csv(content: str, wanted: str, source: str, ens: Ensemble) -> dict[str, Values]:
    rows = _rows(content)
    if not rows:
        raise FormatError(f"is empty; give one {wanted} a line, or a column {wanted}", source)
    line, head = rows[0]
    if is_number(head[0]):
        columns, rows = [wanted], rows
    else:
        columns, rows = [cell.lower() for cell in head], rows[1:]
        _require_known(columns, line, source)
    found: dict[str, Values] = {}
    for k, column in enumerate(columns):
        cells = [(number, _cell(row, k, len(columns), number, source)) for number, row in rows]
        if column == "name":
            _require_names(cells, ens, source)
        else:
            found[column] = [_csv_value(cell, column, number, source) for number, cell in cells]
    return found


def _rows(content: str) -> list[tuple[int, list[str]]]:
    """Lines with content, counted from 1, as cells."""
    rows = []
    separator = ""
    # Universal newlines; splitlines would also split at characters that may be part of a name.
    for number, line in enumerate(io.StringIO(content, newline=None), start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            separator = separator or ("\t" if "\t" in text else ";" if ";" in text else ",")
            cells = next(csv.reader([text], delimiter=separator))
            rows.append((number, [cell.strip() for cell in cells]))
    return rows


def _require_known(columns: list[str], line: int, source: str) -> None:
    known = (*_QUANTITIES, "name")
    for k, column in enumerate(columns):
        if column not in known:
            raise FormatError(
                f"column {column!r} is unknown; known columns are {', '.join(known)}; rename or "
                f"remove it",
                source,
                line,
            )
        if column in columns[:k]:
            raise FormatError(f"column {column!r} stands twice; keep one", source, line)


def _require_names(cells: list[tuple[int, str]], ens: Ensemble, source: str) -> None:
    """Numbers in another order than the members would steer every member to a wrong place."""
    if ens.names is None:
        return
    for (line, cell), name in zip(cells, ens.names, strict=False):
        if cell != name.strip():
            raise FormatError(
                f"name must be {name!r} as in the population, got {cell!r}; put the lines in its "
                f"order",
                source,
                line,
            )


def _cell(row: list[str], k: int, expected: int, line: int, source: str) -> str:
    if len(row) != expected:
        raise FormatError(
            f"has {len(row)} cells where {expected} are expected; mend the line", source, line
        )
    return row[k]


def _csv_value(cell: str, column: str, line: int, source: str) -> complex:
    from ensctl.ensemble.number_cells import parse_number

    try:
        return parse_number(cell)
    except ValueError as error:
        raise FormatError(f"{column} must be a number, {error}", source, line) from None
