"""The plots of a report, by the name of their place in the document, as inline SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ensctl.reporting.report import Report

_WIDE = (7.2, 3.4)
_FLAT = (7.2, 2.4)
_TALL = (7.2, 4.6)


def drawings(report: Report) -> dict[str, str]:
    """One SVG element for each figure of the report."""
    from ensctl.plot import horizon_sweep, lam_plane, member_energies, singular_values, to_svg

    result = report.conditioning
    ens = report.ensemble
    plane = _TALL if np.iscomplexobj(ens.lam) else _FLAT
    return {
        "lam-plane": to_svg(
            lambda ax: lam_plane(ens, ax=ax, verdict=result.verdict, nearest=result.nearest),
            plane,
            name="lam-plane",
            title=f"λ of {ens.size} members, locked and nearly locked ones marked",
        ),
        "member-energies": to_svg(
            lambda ax: member_energies(result, ax=ax),
            _WIDE,
            name="member-energies",
            title="Energy that moves each member alone",
        ),
        "singular-values": to_svg(
            lambda ax: singular_values(result, ax=ax),
            _WIDE,
            name="singular-values",
            title="Singular values on a log axis with the float64 floor",
        ),
        "horizon-sweep": to_svg(
            lambda ax: horizon_sweep(report.sweep, ax=ax),
            _WIDE,
            name="horizon-sweep",
            title="Condition number and worst energy against the horizon",
        ),
    }
