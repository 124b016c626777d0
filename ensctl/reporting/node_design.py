"""A design of λ as a document: verdict, members, comparison, bound, tolerance, conditioning."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ensctl import __version__
from ensctl.analysis.conditioning import Conditioning, conditioning
from ensctl.analysis.node_criteria import LARGER_IS_BETTER, MEANING
from ensctl.analysis.node_design_result import NodeDesign
from ensctl.analysis.node_tolerance import CORNERS
from ensctl.errors import InvalidInputError
from ensctl.files import require_folder, write_whole
from ensctl.formatting import horizon_text, number_text, pow10, power_text
from ensctl.reporting.document import (
    Block,
    Bullets,
    Column,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    Tone,
    Verdict,
)
from ensctl.reporting.html import document_as_fragment, document_as_page
from ensctl.reporting.verdicts import exact_verdict_card, practical_verdict_card

_FLAT, _TALL = (7.2, 3.0), (7.2, 5.0)


def node_design_html(design: NodeDesign) -> str:
    """A :class:`NodeDesign` as a fragment for a notebook.

    Parameters
    ----------
    design : NodeDesign
        What :func:`ensctl.choose_nodes` returned.

    Returns
    -------
    str
        One ``<div>``.

    Examples
    --------
    >>> import ensctl as ec
    >>> from ensctl.reporting import node_design_html
    >>> "condition number" in node_design_html(ec.choose_nodes(2, ec.Interval(-1.0, 1.0)))
    True
    """
    return document_as_fragment(
        Document("", "", (_card(design),), (_comparison(design), _members(design)), "")
    )


def save_node_design(design: NodeDesign, path: str | os.PathLike[str]) -> Path:
    """Write a design as one HTML page with its picture and the conditioning of its members.

    Parameters
    ----------
    design : NodeDesign
        What :func:`ensctl.choose_nodes` returned.
    path : str or path
        Ends in .html.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InvalidInputError
        Another suffix, or the file cannot be written.

    Examples
    --------
    >>> import ensctl as ec, pathlib, tempfile
    >>> from ensctl.reporting import save_node_design
    >>> design = ec.choose_nodes(2, ec.Interval(-1.0, 1.0))
    >>> save_node_design(design, pathlib.Path(tempfile.mkdtemp(), "design.html")).name
    'design.html'
    """
    place = Path(path)
    if place.suffix.lower() != ".html":
        raise InvalidInputError(f"path must end in .html, got {place.name!r}")
    require_folder(place)
    from ensctl.plot import node_design, to_svg

    in_plane = np.iscomplexobj(design.lam)
    drawing = to_svg(
        lambda ax: node_design(design, ax=ax),
        _TALL if in_plane else _FLAT,
        name="node-design",
        title="Chosen members beside the obvious choices",
    )
    write_whole(place, document_as_page(design_document(design), {"node-design": drawing}))
    return place


def design_document(design: NodeDesign) -> Document:
    """Everything about a design, with both verdicts about its members."""
    state = conditioning(design.ensemble, design.horizon)
    return Document(
        title=f"{design.lam.size} members chosen for one input",
        subtitle=f"λ in the region {design.region}; {horizon_text(design.horizon)}",
        verdicts=(_card(design), exact_verdict_card(state.verdict), practical_verdict_card(state)),
        sections=(
            _comparison(design, drawn=True),
            _members(design),
            _tolerance(design),
            _conditioning(state),
        ),
        provenance=f"ensctl {__version__}; {design.method}",
    )


def _card(design: NodeDesign) -> Verdict:
    value = design.value_text(design.log10_value)
    sentences = [f"{MEANING[design.criterion].capitalize()}: {value}."]
    if design.bound is not None:
        sentences.append(
            f"No set of this kind gets {'above' if _larger(design) else 'below'} "
            f"{design.value_text(design.bound.log10_value)} ({design.bound.name}: "
            f"{design.bound.condition})."
        )
    attained = design.bound is not None and design.log10_to_bound < 1e-6
    return Verdict(
        "Is this the best set?",
        "yes" if attained or "best there is" in design.method else "best found",
        Tone.YES,
        tuple(sentences),
    )


def _larger(design: NodeDesign) -> bool:
    return design.criterion in LARGER_IS_BETTER


def _comparison(design: NodeDesign, *, drawn: bool = False) -> Section:
    rows = [("chosen", design.value_text(design.log10_value), "1")]
    for one in design.comparisons:
        factor = power_text(design.log10_gain_over(one))
        rows.append((one.name, design.value_text(one.log10_value), factor))
    table = Table(
        f"{MEANING[design.criterion]} of {design.lam.size} members",
        (Column("set"), Column("value", numeric=True), Column("times worse", numeric=True)),
        tuple(rows),
    )
    blocks: list[Block] = [table]
    if drawn:
        blocks.insert(0, Figure("node-design", "Chosen members and the obvious choices."))
    return Section("comparison", "Beside the obvious choices", tuple(blocks))


def _members(design: NodeDesign) -> Section:
    slopes = design.tolerance.slopes
    rows = tuple(
        (
            str(i),
            number_text(lam, 10),
            number_text(design.b[i].item(), 6),
            "fixed" if i < design.fixed else "chosen",
            f"{slopes[i]:.3g}",
        )
        for i, lam in enumerate(design.lam.tolist())
    )
    columns = (
        Column("member", numeric=True),
        Column("λ", numeric=True),
        Column("b", numeric=True),
        Column("how"),
        Column("|∂ ln criterion/∂λ|", numeric=True),
    )
    return Section("members", "Members", (Table("λ and gains", columns, rows),))


def _tolerance(design: NodeDesign) -> Section:
    found = design.tolerance
    by = "ln det W smaller by" if design.criterion == "log_determinant" else "times worse"
    rows = tuple(
        (f"{size:.0e}", f"{worst:.4g}")
        for size, worst in zip(found.sizes, found.worst, strict=True)
    )
    table = Table(
        f"worst of {CORNERS} random corners",
        (Column("error of every λ", numeric=True), Column(by, numeric=True)),
        rows,
    )
    text = f"The criterion stays within 10 % while every λ is right to {found.allowed:.2g}."
    return Section("tolerance", "How exactly to build it", (Paragraph(text), table))


def _conditioning(state: Conditioning) -> Section:
    lines = (
        f"κ₂ = {power_text(state.log10_cond)} in {horizon_text(state.horizon)}, each σ within "
        f"{state.relative_error_bound:.1e} relative.",
        f"The worst unit target costs Σ|u|² = {power_text(state.log10_worst_energy)}.",
        f"float64 inputs leave a terminal error of {state.float_floor:.2g} on it.",
        f"Distance to uncontrollability: {state.distance.value:.4g}.",
    )
    extra = tuple(str(bound) for bound in state.bounds if pow10(bound.log10_value) > 0)
    return Section("conditioning", "Conditioning of the members", (Bullets(lines + extra),))
