"""A document as HTML: one file without external resources, or a fragment for a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ensctl.reporting.document import Document

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).with_name("templates")


def document_as_page(document: Document, drawings: Mapping[str, str]) -> str:
    """Return a whole page; ``drawings`` has one SVG element for each figure that is to appear."""
    return _render("page.html.j2", document, drawings)


def document_as_fragment(document: Document) -> str:
    """Return one ``<div>`` without figures that fits into any page, for ``_repr_html_``."""
    return _render("fragment.html.j2", document, {})


def _render(template: str, document: Document, drawings: Mapping[str, str]) -> str:
    from markupsafe import Markup

    # The drawings are ours and escaped already; everything else is escaped by the template.
    svg = {name: Markup(text) for name, text in drawings.items()}
    return _environment().get_template(template).render(document=document, drawings=svg)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
