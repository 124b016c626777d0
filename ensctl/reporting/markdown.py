"""A document as GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
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

# What Markdown or embedded HTML would take for markup in running text.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")


def document_as_markdown(document: Document) -> str:
    """Return the document as Markdown; names and numbers are escaped; ends in a newline."""
    parts = [f"# {escaped(document.title)}", escaped(document.subtitle)]
    parts.append(_verdicts(document.verdicts))
    parts += [_section(section) for section in document.sections]
    parts += ["---", escaped(document.provenance)]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Running text with every character that Markdown would interpret escaped."""
    return _SPECIAL.sub(r"\\\1", text)


def _verdicts(verdicts: tuple[Verdict, ...]) -> str:
    table = [
        _row(verdict.question for verdict in verdicts),
        _rule(["---"] * len(verdicts)),
        "| " + " | ".join(f"**{escaped(verdict.answer)}**" for verdict in verdicts) + " |",
    ]
    sentences = [
        f"**{escaped(verdict.question)}**\n\n" + _bullets(Bullets(verdict.sentences))
        for verdict in verdicts
    ]
    return "\n\n".join(["\n".join(table), *sentences])


def _section(section: Section) -> str:
    blocks = [_RENDERERS[type(block)](block) for block in section.blocks]
    return "\n\n".join([f"## {escaped(section.title)}", *(block for block in blocks if block)])


def _paragraph(block: Paragraph) -> str:
    return escaped(block.text)


def _bullets(block: Bullets) -> str:
    return "\n".join(f"- {escaped(item)}" for item in block.items)


def _table(block: Table) -> str:
    lines = [
        f"*{escaped(block.caption)}*\n",
        _row(column.heading for column in block.columns),
        _rule("---:" if column.numeric else "---" for column in block.columns),
        *(_row(row) for row in block.rows),
    ]
    return "\n".join(lines) + (f"\n\n{escaped(block.more)}" if block.more else "")


def _figure(block: Figure) -> str:
    return ""


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def _rule(dashes: Iterable[str]) -> str:
    return "|" + "|".join(f" {dash} " for dash in dashes) + "|"


_RENDERERS: dict[type, Callable[[Any], str]] = {
    Paragraph: _paragraph,
    Bullets: _bullets,
    Table: _table,
    Figure: _figure,
}
