"""What results look like in a notebook: HTML fragments for ``_repr_html_``."""

from __future__ import annotations

from ensctl.analysis.conditioning import Conditioning
from ensctl.analysis.controllability import Controllability
from ensctl.analysis.observability import Observability
from ensctl.reporting.document import Document
from ensctl.reporting.html import document_as_fragment
from ensctl.reporting.summary import advice_section, summary_section
from ensctl.reporting.verdicts import (
    exact_verdict_card,
    observability_card,
    practical_verdict_card,
)


def conditioning_html(conditioning: Conditioning) -> str:
    """Both verdicts, the summary and the advice of a :class:`Conditioning`."""
    cards = (exact_verdict_card(conditioning.verdict), practical_verdict_card(conditioning))
    sections = (summary_section(conditioning), advice_section(conditioning))
    return document_as_fragment(Document("", "", cards, sections, ""))


def controllability_html(verdict: Controllability) -> str:
    """A :class:`Controllability` as a card."""
    return document_as_fragment(Document("", "", (exact_verdict_card(verdict),), (), ""))


def observability_html(verdict: Observability) -> str:
    """An :class:`Observability` as a card."""
    return document_as_fragment(Document("", "", (observability_card(verdict),), (), ""))
