"""Tolerances that no input can meet, whatever its size: members that do not move, or not apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.exact_rank import independent_rows, left_null_space
from ensctl.errors import NotReachableError
from ensctl.formatting import listed
from ensctl.synthesis.steering_rows import SteeringRows

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)


def require_within_reach(rows: SteeringRows, radius: Array) -> None:
    """Refuse tolerances that the fixed motion of locked or dead members already breaks.

    For weights w with Σ w_i B_i = 0 over members of equal λ, inputs leave Σ w_i x_i alone, so
    |Σ w_i d_i| ≤ Σ |w_i| r_i is necessary.

    Parameters
    ----------
    rows : SteeringRows
        All rows.
    radius : (r,)
        Tolerance of each row.

    Raises
    ------
    NotReachableError
        Names the members.
    """
    d = rows.displacement
    alive = np.any(rows.gains != 0, axis=1)
    stuck = np.flatnonzero(~alive & (np.abs(d) > radius * (1.0 + 8.0 * _EPS)))
    if stuck.size:
        _refuse(rows, stuck, "cannot be moved (b = 0) and end further from the target than tol")
    if rows.real:
        plain = (np.imag(rows.lam) == 0) & ~np.any(np.imag(rows.gains) != 0, axis=1)
        off = np.flatnonzero(plain & (np.abs(np.imag(d)) > radius * (1.0 + 8.0 * _EPS)))
        if off.size:
            _refuse(rows, off, "stay real under real inputs, further from the target than tol")
    order = np.flatnonzero(alive)
    order = order[np.argsort(rows.lam[order], kind="stable")]
    values = rows.lam[order]
    starts = np.flatnonzero(values[1:] != values[:-1]) + 1
    for group in np.split(order, starts):
        if group.size < 2 or len(independent_rows(rows.gains[group])) == group.size:
            continue
        weights = left_null_space(rows.gains[group])
        fixed, allowed = np.abs(weights @ d[group]), np.abs(weights) @ radius[group]
        slack = 8.0 * _EPS * (np.abs(weights) @ np.abs(d[group]))
        if np.any(fixed > allowed + slack):
            _refuse(rows, group, "cannot be moved independently, and tol is too small for that")


def _refuse(rows: SteeringRows, which: Array, why: str) -> None:
    members = tuple(int(k) for k in np.unique(rows.members[which]))
    names = listed([rows.ensemble.label(k) for k in members])
    raise NotReachableError(f"{names} {why}; widen tol for them, or change gains or λ", members)
