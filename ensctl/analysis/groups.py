"""Members with equal λ, and what their gains let a broadcast input do with them, exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.exact_rank import dependent_rows, independent_rows, left_null_space

Array = NDArray[Any]


@dataclass(frozen=True)
class LockedGroup:
    """Members with equal λ and linearly dependent gains: they cannot be moved independently.

    Attributes
    ----------
    value : float or complex
        The λ they share.
    members : tuple of int
        The members, in ascending order.  Members of the same λ that can be moved alone, and members
        with zero gain, are left out.  Under real inputs a member that counts twice at this λ
        appears twice.
    rank : int
        How many of their directions the inputs move.
    gains : (n, m)
        Their gain rows.
    """

    value: float | complex
    members: tuple[int, ...]
    rank: int
    gains: Array = field(repr=False, compare=False)

    @property
    def directions(self) -> Array:
        """Left null space of the gain rows, (n − rank, n): Σ w_i x_i evolves untouched by inputs.

        One vector a row, columns as in ``members``; Σ w_i B_i = 0.  The count is exact, the entries
        are rounded once.  Computed on access, O(n²) memory.
        """
        return left_null_space(self.gains)


@dataclass(frozen=True)
class GroupStructure:
    """The exact structure of (λ, B) that decides reachability.

    Attributes
    ----------
    locked : tuple of LockedGroup
        Groups of equal λ whose gains are dependent, by their first member.
    dead : tuple of int
        Rows with zero gain.
    rank : int
        Dimension that some horizon reaches: the sum of the ranks of all groups.
    """

    locked: tuple[LockedGroup, ...]
    dead: tuple[int, ...]
    rank: int


def group_structure(lam: Array, gains: Array) -> GroupStructure:
    """Group equal λ and rank the gains of each group, exactly.

    Parameters
    ----------
    lam : (N,)
        Eigenvalues, exact doubles; equality is ==.
    gains : (N, m)
        Gain rows.

    Returns
    -------
    GroupStructure

    Notes
    -----
    (Λ, B) is reachable if and only if the rows {B_i : λ_i = z} are linearly independent for every
    z (Popov–Belevitch–Hautus for diagonal Λ).  O(N log N), plus rational elimination of the groups
    with more than one member when m > 1.
    """
    alive = np.any(gains != 0, axis=1)
    dead = tuple(np.flatnonzero(~alive).tolist())
    rows = np.flatnonzero(alive)
    if rows.size == 0:
        return GroupStructure((), dead, 0)
    rows = rows[np.argsort(lam[rows], kind="stable")]
    sorted_lam = lam[rows]
    starts = np.flatnonzero(np.concatenate([[True], sorted_lam[1:] != sorted_lam[:-1]]))
    sizes = np.diff(np.append(starts, rows.size))
    shared = np.flatnonzero(sizes > 1)
    rank = int(starts.size - shared.size)
    locked = []
    for k in shared:
        group = rows[starts[k] : starts[k] + sizes[k]]
        independent, found = _locked_group(lam, gains, group)
        rank += independent
        if found is not None:
            locked.append(found)
    locked.sort(key=lambda group: group.members[0])
    return GroupStructure(tuple(locked), dead, rank)


def controllable_rank(lam: Array, gains: Array) -> int:
    """Dimension of the reachable subspace for a long enough horizon, exactly."""
    return group_structure(lam, gains).rank


def _locked_group(lam: Array, gains: Array, rows: Array) -> tuple[int, LockedGroup | None]:
    value = lam[rows[0]].item()
    own = gains[rows]
    if gains.shape[1] == 1:
        return 1, LockedGroup(value, tuple(rows.tolist()), 1, own)
    rank = len(independent_rows(own))
    if rank == rows.size:
        return rank, None
    involved = list(dependent_rows(own))
    members = tuple(rows[involved].tolist())
    free = rows.size - len(involved)
    return rank, LockedGroup(value, members, rank - free, own[involved])
