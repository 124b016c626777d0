"""Real inputs on complex members, written as an equivalent ensemble with complex inputs.

A real input moves x and x̄ together: a complex member is a pair of rows (λ, B) and (λ̄, B̄).  With
gains divided by √2 the pair has the singular values of the real 2-row map [Re R; Im R].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class RealInputForm:
    """Rows that complex inputs steer exactly as real inputs steer the ensemble.

    Attributes
    ----------
    lam : (n,)
        λ of each row; n counts real dimensions.
    gains : (n, m)
        Gains with the factor 1/√2 where a member became two rows: the same singular values.
    unscaled_gains : (n, m)
        The same without the factor, exact: for ranks, which do not depend on it.
    members : (n,) int
        The member behind each row.
    """

    lam: Array
    gains: Array
    unscaled_gains: Array
    members: Array


def expand_for_real_inputs(lam: Array, gains: Array) -> RealInputForm:
    """Count members in real dimensions, as real inputs do.

    Parameters
    ----------
    lam : (N,)
        Eigenvalues.
    gains : (N, m)
        Gain rows.

    Returns
    -------
    RealInputForm
        A real λ with real gains is one row.  Two members (λ, B) and (λ̄, B̄), matched as a multiset,
        are one row each, as they are.  Any other member becomes two rows (λ, B/√2), (λ̄, B̄/√2).

    Notes
    -----
    Equality is exact.  O(m N log N).
    """
    doubled = _unmatched(lam, gains)
    copies = np.where(doubled, 2, 1)
    members = np.repeat(np.arange(lam.size), copies)
    second = np.concatenate([[False], members[1:] == members[:-1]])
    rows_lam = np.where(second, np.conj(lam[members]), lam[members])
    unscaled = np.where(second[:, None], np.conj(gains[members]), gains[members])
    scale = np.where(doubled[members], 1.0 / math.sqrt(2.0), 1.0)
    return RealInputForm(
        lam=read_only(rows_lam),
        gains=read_only(unscaled * scale[:, None]),
        unscaled_gains=read_only(unscaled),
        members=read_only(members),
    )


def _unmatched(lam: Array, gains: Array) -> Array:
    """Members that are not real and whose conjugate is not among the others (boolean)."""
    doubled = np.zeros(lam.size, dtype=bool)
    imaginary = np.column_stack([np.imag(lam), np.imag(gains)])
    rows = np.flatnonzero(np.any(imaginary != 0, axis=1))
    if rows.size == 0:
        return doubled
    # The sign of the first imaginary part that is not zero says which of a pair a member is.
    imaginary = imaginary[rows]
    leading = imaginary[np.arange(rows.size), np.argmax(imaginary != 0, axis=1)]
    upper = leading > 0
    # Adding 0.0 makes −0.0 and +0.0 sort alike.
    key = (
        np.column_stack(
            [
                np.real(lam[rows]),
                np.real(gains[rows]),
                np.where(upper[:, None], imaginary, -imaginary),
            ]
        )
        + 0.0
    )
    order = np.lexsort((~upper, *key.T))
    key, upper, rows = key[order], upper[order], rows[order]
    starts = np.concatenate([[True], np.any(key[1:] != key[:-1], axis=1)])
    group = np.cumsum(starts) - 1
    ups = np.bincount(group, weights=upper).astype(int)
    downs = np.bincount(group, weights=~upper).astype(int)
    # Within a group the upper ones come first; the earliest of each side are matched.
    rank = np.arange(rows.size) - np.flatnonzero(starts)[group]
    rank_on_side = np.where(upper, rank, rank - ups[group])
    doubled[rows[rank_on_side >= np.minimum(ups, downs)[group]]] = True
    return doubled
