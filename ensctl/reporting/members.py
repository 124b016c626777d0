"""Section about members: λ, gain, and what it costs to move each one alone."""

from __future__ import annotations

import math

import numpy as np

from ensctl.analysis.conditioning import Conditioning
from ensctl.formatting import number_text, power_text
from ensctl.reporting.document import Column, Figure, Section, Table

_HARDEST = 12
_WORTH_FOLDING = 3
_COLUMNS = (
    Column("member"),
    Column("λ", numeric=True),
    Column("‖b‖", numeric=True),
    Column("energy alone", numeric=True),
    Column("relative error", numeric=True),
    Column("remark"),
)


def members_section(conditioning: Conditioning) -> Section:
    """Members in the order of the energy they cost, the hardest first."""
    ens = conditioning.ensemble
    energy = conditioning.log10_energy_per_member
    order = np.argsort(-energy, kind="stable").tolist()
    gains = np.linalg.norm(ens.gains, axis=1)
    remarks = _remarks(conditioning)
    rows = tuple(
        (
            ens.label(member),
            number_text(ens.lam[member].item(), 10),
            f"{gains[member]:.6g}",
            power_text(float(energy[member])),
            _error(float(energy[member]), float(conditioning.energy_error_bounds[member])),
            remarks.get(member, ""),
        )
        for member in order
    )
    caption = "Members, the hardest to move alone first"
    table = Table(caption, _COLUMNS, rows)
    if len(rows) > _HARDEST + _WORTH_FOLDING:
        more = f"{len(rows) - _HARDEST} easier members are not shown here"
        table = Table(caption, _COLUMNS, rows[:_HARDEST], more, rows)
    figures = (
        Figure("lam-plane", _lam_caption(conditioning)),
        Figure(
            "member-energies",
            "Energy that moves one member to 1 and leaves the others at 0; triangles at the upper "
            "edge mark members that cannot be moved alone.",
        ),
    )
    return Section("members", "Members", (*figures, table))


def _remarks(conditioning: Conditioning) -> dict[int, str]:
    remarks: dict[int, list[str]] = {}
    verdict, nearest = conditioning.verdict, conditioning.nearest
    for group in verdict.locked:
        for member in group:
            remarks.setdefault(member, []).append(f"locked with {len(group) - 1} more")
    for member in verdict.dead:
        remarks.setdefault(member, []).append("dead: b = 0")
    if nearest is not None and nearest.gap > 0:
        for member, other in (nearest.members, nearest.members[::-1]):
            label = conditioning.ensemble.label(other)
            remarks.setdefault(member, []).append(f"nearest pair, with {label}")
    return {member: "; ".join(words) for member, words in remarks.items()}


def _error(log10_energy: float, bound: float) -> str:
    return f"{bound:.1e}" if math.isfinite(log10_energy) else "–"


def _lam_caption(conditioning: Conditioning) -> str:
    marked = "dead (×), locked (squares) and nearest to locked (diamonds) members are marked"
    if np.iscomplexobj(conditioning.ensemble.lam):
        return f"λ in the complex plane with the unit circle; {marked}."
    return f"Real λ against the size of the gains, |λ| ≥ 1 shaded; {marked}."
