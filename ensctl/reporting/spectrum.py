"""Sections about singular values: the values, and the theorems that bound them."""

from __future__ import annotations

import math

from ensctl.analysis.conditioning import Conditioning
from ensctl.formatting import power_text
from ensctl.reporting.document import Column, Figure, Paragraph, Section, Table
from ensctl.vandermonde.bounds.bound import Bound

_HEAD = 6
_WORTH_FOLDING = 3
_LOG10_EPS = -52 * math.log10(2.0)
_QUANTITIES = {
    "cond_1": "κ₁",
    "cond_2": "κ₂",
    "sigma_min": "σ_min",
    "sigma_max": "σ_max",
    "inverse_norm_1": "‖R⁻¹‖₁",
    "directions": "practical directions",
}
_RELATIONS = {"lower": "≥", "upper": "≤", "equal": "=", "asymptotic": "~"}


def singular_values_section(conditioning: Conditioning) -> Section:
    """All singular values with their common error bound."""
    log10 = conditioning.log10_singular_values.tolist()
    rows = tuple(_row(k, value, log10[0]) for k, value in enumerate(log10, start=1))
    columns = (
        Column("k", numeric=True),
        Column("σ_k", numeric=True),
        Column("σ_k/σ_1", numeric=True),
        Column("in float64"),
    )
    caption = "Singular values of the steering map"
    table = Table(caption, columns, rows)
    left_out = len(rows) - 2 * _HEAD
    if left_out > _WORTH_FOLDING:
        brief = (*rows[:_HEAD], ("…", "…", "…", ""), *rows[-_HEAD:])
        more = f"{left_out} values between them are not shown here"
        table = Table(caption, columns, brief, more, rows)
    accuracy = (
        f"Every non-zero σ is right within {conditioning.relative_error_bound:.1e} relative, "
        f"however small; those marked as below the floor would be noise in a float64 "
        f"singular value decomposition of the matrix."
    )
    return Section(
        "singular-values",
        "Singular values",
        (
            Paragraph(accuracy),
            Figure(
                "singular-values",
                "Singular values in descending order on a log axis; below the dashed line "
                "(ε·σ₁) a float64 matrix holds noise only.",
            ),
            table,
        ),
    )


def bounds_section(conditioning: Conditioning) -> Section:
    """Theorems whose conditions this set meets, beside the computed value."""
    if not conditioning.bounds:
        text = "No theorem of the collection has conditions that this set and horizon meet."
        return Section("bounds", "Bounds from theorems", (Paragraph(text),))
    columns = (
        Column("bound", numeric=True),
        Column("computed", numeric=True),
        Column("theorem and condition"),
        Column("source"),
    )
    rows = tuple(_bound_row(bound, conditioning) for bound in conditioning.bounds)
    table = Table("Theorems that apply to these λ, gains and this horizon", columns, rows)
    return Section("bounds", "Bounds from theorems", (table,))


def _row(k: int, log10: float, largest: float) -> tuple[str, str, str, str]:
    if log10 == -math.inf:
        return str(k), "0", "0", "exactly zero"
    place = "above the floor" if log10 >= largest + _LOG10_EPS else "below the floor"
    return str(k), power_text(log10, 6), power_text(log10 - largest, 4), place


def _bound_row(bound: Bound, conditioning: Conditioning) -> tuple[str, str, str, str]:
    statement = (
        f"{_QUANTITIES[bound.quantity]} {_RELATIONS[bound.kind]} {power_text(bound.log10_value)}"
    )
    return (
        statement,
        _computed(bound, conditioning),
        f"{bound.name}: {bound.condition}",
        bound.source,
    )


def _computed(bound: Bound, conditioning: Conditioning) -> str:
    log10 = conditioning.log10_singular_values
    if bound.quantity == "cond_2":
        return power_text(conditioning.log10_cond)
    if bound.quantity == "sigma_max":
        return power_text(float(log10[0]))
    if bound.quantity == "sigma_min":
        return power_text(float(log10[-1]))
    return "–"
