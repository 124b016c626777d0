"""A document as plain text for terminals and logs."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from ensctl.reporting.document import (
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    Verdict,
)

WIDTH = 96
_GAP = "  "
_NARROWEST = 14


def document_as_text(document: Document) -> str:
    """Return the document in lines of at most 96 columns where words allow it."""
    head = [document.title, "=" * len(document.title), *_wrapped(document.subtitle), ""]
    parts = ["\n".join([*head, *_side_by_side(document.verdicts)])]
    parts += [_section(section) for section in document.sections]
    parts.append("\n".join(_wrapped(document.provenance)))
    return "\n\n".join(parts) + "\n"


def table_lines(table: Table) -> list[str]:
    """Headings, a rule, and the rows; numbers to the right, words wrapped where space is short."""
    cells = [tuple(column.heading for column in table.columns), *table.rows]
    widths = _fitted(table, [max(len(row[k]) for row in cells) for k in range(len(table.columns))])
    lines = []
    for number, row in enumerate(cells):
        lines += _row_lines(row, widths, table)
        if number == 0:
            lines.append(_GAP.join("-" * width for width in widths))
    return [*lines, *_wrapped(table.more)]


def _fitted(table: Table, widths: list[int]) -> list[int]:
    """Narrow the widest columns of words until the table fits; numbers are never broken."""
    words = [k for k, column in enumerate(table.columns) if not column.numeric]
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - WIDTH
    while excess > 0 and words:
        widest = max(words, key=lambda k: widths[k])
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
        excess -= 1
    return widths


def _section(section: Section) -> str:
    blocks = [_RENDERERS[type(block)](block) for block in section.blocks]
    body = "\n\n".join("\n".join(lines) for lines in blocks if lines)
    return f"{section.title}\n{'-' * len(section.title)}\n{body}"


def _side_by_side(verdicts: tuple[Verdict, ...]) -> list[str]:
    width = (WIDTH - 3 * (len(verdicts) - 1)) // max(len(verdicts), 1)
    columns = []
    for verdict in verdicts:
        lines = [verdict.question, verdict.answer.upper(), ""]
        for sentence in verdict.sentences:
            lines += _hanging(sentence, width)
        columns.append(lines)
    rows = zip_longest(*columns, fillvalue="")
    return [" │ ".join(cell.ljust(width) for cell in row).rstrip() for row in rows]


def _row_lines(row: tuple[str, ...], widths: list[int], table: Table) -> list[str]:
    columns = [
        [cell.rjust(width)] if column.numeric else _broken(cell, width)
        for cell, width, column in zip(row, widths, table.columns, strict=True)
    ]
    lines = []
    for pieces in zip_longest(*columns, fillvalue=""):
        cells = [piece.ljust(width) for piece, width in zip(pieces, widths, strict=True)]
        lines.append(_GAP.join(cells).rstrip())
    return lines


def _broken(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def _paragraph(block: Paragraph) -> list[str]:
    return _wrapped(block.text)


def _bullets(block: Bullets) -> list[str]:
    return [line for item in block.items for line in _hanging(item, WIDTH)]


def _table(block: Table) -> list[str]:
    return [block.caption, "", *table_lines(block)]


def _figure(block: Figure) -> list[str]:
    return []


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _hanging(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


_RENDERERS: dict[type, Callable[[Any], list[str]]] = {
    Paragraph: _paragraph,
    Bullets: _bullets,
    Table: _table,
    Figure: _figure,
}
