"""From the numbers of a report to its document."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from ensctl import __version__
from ensctl.ensemble.ensemble import Ensemble
from ensctl.formatting import horizon_text, number_text
from ensctl.reporting.conventions import conventions_section
from ensctl.reporting.document import Document
from ensctl.reporting.horizons import horizon_section
from ensctl.reporting.members import members_section
from ensctl.reporting.spectrum import bounds_section, singular_values_section
from ensctl.reporting.summary import advice_section, observability_section, summary_section
from ensctl.reporting.verdicts import exact_verdict_card, practical_verdict_card

if TYPE_CHECKING:
    from ensctl.reporting.report import Report


def report_document(report: Report) -> Document:
    """Arrange a report: the two verdicts, the summary, then what stands behind them."""
    result = report.conditioning
    return Document(
        title=title(report.ensemble),
        subtitle=subtitle(report),
        verdicts=(
            exact_verdict_card(report.controllability),
            practical_verdict_card(result, report.practicality),
        ),
        sections=(
            summary_section(result, report.practicality),
            advice_section(result),
            members_section(result),
            singular_values_section(result),
            horizon_section(report.sweep),
            bounds_section(result),
            observability_section(report.observability),
            conventions_section(),
        ),
        provenance=(
            f"ensctl {__version__}; λ, b and c as exact doubles, "
            f"SHA-256 {fingerprint(report.ensemble)[:16]}"
        ),
    )


def overview_document(report: Report) -> Document:
    """The short form for a notebook cell: verdicts, summary and advice."""
    whole = report_document(report)
    return Document(whole.title, whole.subtitle, whole.verdicts, whole.sections[:2], "")


def title(ens: Ensemble) -> str:
    """What the report is about."""
    members = "1 member" if ens.size == 1 else f"{ens.size} members"
    channels = "one input" if ens.channels == 1 else f"{ens.channels} inputs"
    return f"Conditioning report: {members}, {channels}"


def subtitle(report: Report) -> str:
    """Where the λ lie, and what was asked."""
    lam = report.ensemble.lam
    if np.iscomplexobj(lam):
        size = np.abs(lam)
        place = f"complex λ, |λ| from {size.min():.6g} to {size.max():.6g}"
    else:
        place = f"real λ from {number_text(float(lam.min()))} to {number_text(float(lam.max()))}"
    inputs = "; real inputs" if report.controllability.real_inputs else ""
    target = "" if report.target is None else "; one target judged"
    return f"{place}; horizon {horizon_text(report.horizon)}{inputs}{target}."


def fingerprint(ens: Ensemble) -> str:
    """SHA-256 of λ, b and c, so that a report can be matched with its data."""
    digest = hashlib.sha256()
    for array in (ens.lam, ens.gains, ens.output_weights):
        # Adding 0 makes −0.0 and +0.0, which are equal, look equal.
        digest.update((np.ascontiguousarray(array, dtype=np.complex128) + 0).tobytes())
    return digest.hexdigest()
