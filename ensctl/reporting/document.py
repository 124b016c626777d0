"""Documents as data: what a report says, before anybody decides how it looks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar


class Tone(Enum):
    """How a verdict comes out; renderers add the colour, never the meaning."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


@dataclass(frozen=True)
class Verdict:
    """One of the verdicts at the head of a report.

    Attributes
    ----------
    question : str
        What was asked.
    answer : str
        One or two words.
    tone : Tone
        Yes, no, or not decided.
    sentences : tuple of str
        Why, and with which numbers.
    """

    question: str
    answer: str
    tone: Tone
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Paragraph:
    """One or more sentences."""

    text: str
    kind: ClassVar[str] = "paragraph"


@dataclass(frozen=True)
class Bullets:
    """Sentences that stand side by side."""

    items: tuple[str, ...]
    kind: ClassVar[str] = "bullets"


@dataclass(frozen=True)
class Column:
    """Heading of a column; numbers are aligned to the right."""

    heading: str
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of text under headings.

    Attributes
    ----------
    caption : str
        What the rows are.
    columns : tuple of Column
        Headings.
    rows : tuple of tuple of str
        The rows everybody sees.
    more : str
        What is left out of ``rows``, in words; empty when they are complete.
    every_row : tuple of tuple of str
        All rows, for renderers that can fold them away; empty when ``rows`` are complete.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    more: str = ""
    every_row: tuple[tuple[str, ...], ...] = ()
    kind: ClassVar[str] = "table"


@dataclass(frozen=True)
class Figure:
    """A place for the plot of this name.

    Attributes
    ----------
    name : str
        Which plot.
    caption : str
        What to see in it, also for those who cannot see it.
    """

    name: str
    caption: str
    kind: ClassVar[str] = "figure"


Block = Paragraph | Bullets | Table | Figure


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A whole report.

    Attributes
    ----------
    title, subtitle : str
        What it is about.
    verdicts : tuple of Verdict
        Side by side at the top.
    sections : tuple of Section
        In reading order.
    provenance : str
        What produced it, from which data.
    """

    title: str
    subtitle: str
    verdicts: tuple[Verdict, ...]
    sections: tuple[Section, ...]
    provenance: str
