"""A plan for a continuum as one HTML page: the promise, the inputs, error and states."""

from __future__ import annotations

from ensctl import __version__
from ensctl.reporting.document import (
    Column,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    Tone,
    Verdict,
)
from ensctl.reporting.html import document_as_page
from ensctl.synthesis.continuum_plan import ContinuumPlan

_WIDE = (7.2, 3.2)


def continuum_page(plan: ContinuumPlan) -> str:
    """One HTML page with inline plots and no external resources.

    Parameters
    ----------
    plan : ContinuumPlan
        What :func:`ensctl.continuum` returned.

    Returns
    -------
    str

    Examples
    --------
    >>> import ensctl as ec
    >>> from ensctl.reporting import continuum_page
    >>> "<svg" in continuum_page(ec.continuum("sin(6*x)", (0.1, 0.9), 6))
    True
    """
    from ensctl.plot import continuum_plan, continuum_states, to_svg

    drawings = {
        "continuum-states": to_svg(
            lambda ax: continuum_states(plan, ax=ax),
            _WIDE,
            name="continuum-states",
            title="End state and target over the region",
        ),
        "continuum-error": to_svg(
            lambda ax: continuum_plan(plan, ax=ax),
            _WIDE,
            name="continuum-error",
            title="Error over the region with its bound",
        ),
    }
    return document_as_page(continuum_document(plan), drawings)


def continuum_document(plan: ContinuumPlan) -> Document:
    """Arrange a plan: what is promised, the numbers, the pictures, the inputs."""
    proved = "proved" if plan.rigorous else "estimated"
    tone = Tone.YES if plan.rigorous else Tone.OPEN
    lines = str(plan).splitlines()
    return Document(
        title="One input for a continuum of members",
        subtitle=f"every λ of {plan.region.text}, {plan.horizon} steps",
        verdicts=(
            Verdict(
                "How far can any λ miss?",
                f"{plan.sup_error_bound:.4g}",
                tone,
                (lines[0] + ".", f"The bound is {proved}: {lines[1]}."),
            ),
        ),
        sections=(
            Section("summary", "Summary", (_numbers(plan),)),
            Section(
                "pictures",
                "States and errors",
                (
                    Figure("continuum-states", "End state over its target."),
                    Figure("continuum-error", "Error; no λ passes the dashed lines."),
                ),
            ),
            Section("inputs", "Inputs", (_inputs(plan),)),
            Section(
                "meaning",
                "What the numbers mean",
                (
                    Paragraph(
                        "x after H steps is λ^H x0 + b Σ u_k λ^(H−1−k): a polynomial of degree "
                        "H − 1 in λ times the gain. The sup error is the largest miss over all "
                        "λ; its bound includes what rounding leaves in float64."
                    ),
                ),
            ),
        ),
        provenance=f"ensctl {__version__}",
    )


def _numbers(plan: ContinuumPlan) -> Table:
    rows = [
        (
            "objective",
            plan.objective,
            "" if plan.tolerance is None else f"within {plan.tolerance:g}",
        ),
        ("sup error", f"{plan.sup_error:.8g}", "largest miss seen, at the peaks"),
        ("sup error bound", f"{plan.sup_error_bound:.8g}", plan.bound_method),
        ("lower bound", f"{plan.lower_bound:.8g}", f"no input has less {plan.objective}"),
        ("energy", f"{plan.energy:.8g}", "Σ|u|²"),
        ("fuel", f"{plan.fuel:.8g}", "Σ|u|"),
        ("peak", f"{plan.peak:.8g}", "max|u|"),
        ("float64 floor", f"{plan.float_floor:.3g}", "what rounding may leave"),
    ]
    columns = (Column("number"), Column("value", numeric=True), Column("remark"))
    return Table("All numbers in one table", columns, tuple(rows))


def _inputs(plan: ContinuumPlan) -> Table:
    rows = tuple((str(t), f"{u:.10g}") for t, u in enumerate(plan.inputs.tolist()))
    columns = (Column("step", numeric=True), Column("u", numeric=True))
    return Table("Inputs, rounded here; JSON and CSV carry every digit", columns, rows)
