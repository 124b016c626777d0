"""The numbers of a report on one page: summary, advice, observability."""

from __future__ import annotations

import math

import numpy as np

from ensctl.analysis.conditioning import Conditioning
from ensctl.analysis.observability import Observability
from ensctl.analysis.practicality import PracticalVerdict
from ensctl.formatting import horizon_text, number_text, power_text
from ensctl.reporting.document import Bullets, Column, Section, Table
from ensctl.reporting.verdicts import observability_sentences

_COLUMNS = (Column("number"), Column("value", numeric=True), Column("remark"))
_TOLERANCES = ((1e-3, "1e-3"), (1e-6, "1e-6"), (1e-10, "1e-10"), (2.0**-52, "2.2e-16"))

_Row = tuple[str, str, str]


def summary_section(
    conditioning: Conditioning, practicality: PracticalVerdict | None = None
) -> Section:
    """Every number once, with its accuracy or its meaning beside it."""
    rows = [
        *_size_rows(conditioning),
        *_spectrum_rows(conditioning),
        *_practical_rows("worst unit target", conditioning.practical),
        *_practical_rows("your target", practicality),
        *_distance_rows(conditioning),
    ]
    return Section("summary", "Summary", (summary_table(rows),))


def summary_table(rows: list[_Row]) -> Table:
    """The table of a summary."""
    return Table("All numbers in one table", _COLUMNS, tuple(rows))


def advice_section(conditioning: Conditioning) -> Section:
    """What to change, and what each change gains."""
    return Section("advice", "Advice", (Bullets((*conditioning.advice, *_where_to(conditioning))),))


def _where_to(conditioning: Conditioning) -> tuple[str, ...]:
    """Where better λ come from: finding them takes seconds, so a report names the calls."""
    ens = conditioning.ensemble
    if ens.size < 3 or np.iscomplexobj(ens.lam):
        return ()
    low, high = float(ens.lam.min()), float(ens.lam.max())
    if not low < high:
        return ()
    return (
        f"if λ can still be chosen: ensctl design --count {ens.size} --region {low:g}:{high:g} "
        f"finds members that one input tells apart best; ec.repair the smallest change",
    )


def observability_section(verdict: Observability) -> Section:
    """Whether the aggregate outputs show every member."""
    return Section(
        "observability",
        "Observability from the aggregate",
        (Bullets(observability_sentences(verdict)),),
    )


def _size_rows(conditioning: Conditioning) -> list[_Row]:
    ens, verdict = conditioning.ensemble, conditioning.verdict
    unit = " real" if verdict.real_inputs else ""
    shortest = "–" if verdict.min_horizon is None else horizon_text(verdict.min_horizon)
    never = verdict.total_rank < verdict.dimension
    unknown = "not reachable at any horizon" if never else "not computed"
    return [
        ("members N", str(ens.size), ""),
        ("input channels m", str(ens.channels), ""),
        ("horizon H", horizon_text(conditioning.horizon), ""),
        ("rank", f"{verdict.rank} of {verdict.dimension}{unit}", "exact"),
        ("shortest horizon", shortest, unknown if verdict.min_horizon is None else "exact"),
    ]


def _spectrum_rows(conditioning: Conditioning) -> list[_Row]:
    within = f"each σ right within {conditioning.relative_error_bound:.1e} relative"
    infinite = not math.isfinite(conditioning.log10_cond)
    rows = [
        (
            "condition number κ₂",
            power_text(conditioning.log10_cond),
            "not reachable: σ_min is exactly 0" if infinite else within,
        )
    ]
    if infinite and conditioning.verdict.rank > 0:
        rows.append(
            ("κ₂ of what is reachable", power_text(conditioning.log10_cond_of_range), within)
        )
    rows.append(
        ("worst energy", power_text(conditioning.log10_worst_energy), "1/σ_min², unit displacement")
    )
    counts = [conditioning.directions(tolerance) for tolerance, _ in _TOLERANCES]
    rows += [
        (
            f"directions above {text} σ₁",
            f"{count} of {conditioning.verdict.dimension}",
            "what float64 can tell from rounding" if tolerance == _TOLERANCES[-1][0] else "",
        )
        for count, (tolerance, text) in zip(counts, _TOLERANCES, strict=True)
    ]
    return rows


def _practical_rows(subject: str, verdict: PracticalVerdict | None) -> list[_Row]:
    if verdict is None:
        return []
    largest = f"largest displacement {verdict.target_size:.3g}"
    return [
        (f"{subject}: energy", power_text(verdict.log10_energy), "Σ|u|² of the cheapest input"),
        (f"{subject}: peak", power_text(verdict.log10_peak), "max|u| of the cheapest input"),
        (f"{subject}: float64 floor", power_text(verdict.log10_error), largest),
        (
            f"{subject}: λ-tolerance",
            power_text(verdict.log10_lam_tolerance),
            f"moves the end state by {verdict.tolerance:.3g} of that",
        ),
    ]


def _distance_rows(conditioning: Conditioning) -> list[_Row]:
    ens = conditioning.ensemble
    distance = conditioning.distance
    rows = [
        (
            "distance to uncontrollable",
            f"{distance.value:.6g}",
            f"Eising, at z = {number_text(distance.point)}; at least {distance.lower_bound:.6g}",
        )
    ]
    structured = conditioning.structured_distance
    if structured is not None:
        who = " and ".join(ens.label(member) for member in structured.members)
        how = "λ meet" if structured.kind == "gap" else "gain vanishes"
        rows.append(("structured distance", f"{structured.value:.6g}", f"{who}: {how}"))
    if conditioning.nearest is not None:
        i, j = conditioning.nearest.members
        at = " and ".join(number_text(value.item()) for value in np.asarray(ens.lam)[[i, j]])
        remark = f"{ens.label(i)} and {ens.label(j)}, λ = {at}"
        rows.append(("smallest gap of λ", f"{conditioning.nearest.gap:.6g}", remark))
    return rows
