"""When two ensembles are the same, and when an ensemble is its own conjugate: exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensctl.arguments import Array

if TYPE_CHECKING:
    from ensctl.ensemble.ensemble import Ensemble


def same_content(one: Ensemble, other: Ensemble) -> bool:
    """Whether all numbers, shapes and names are equal; +0.0 and −0.0 are."""
    if one is other:
        return True
    return (
        one.dt == other.dt
        and one.names == other.names
        and np.array_equal(one.lam, other.lam)
        and np.array_equal(one.b, other.b)
        and np.array_equal(one.c, other.c)
        and np.array_equal(one.feedthrough, other.feedthrough)
    )


def content_hash(ens: Ensemble) -> int:
    """A hash that is equal for ensembles with the same content."""
    arrays = (ens.lam, ens.b, ens.c, ens.feedthrough)
    return hash((ens.dt, ens.names, *((values.shape, _bytes(values)) for values in arrays)))


def closed_under_conjugation(lam: Array, gains: Array) -> bool:
    """Whether the multiset {(λ_i, B_i)} equals {(λ̄_i, B̄_i)}; O(N log N), no tolerance."""
    if not (np.iscomplexobj(lam) or np.iscomplexobj(gains)):
        return True
    members = np.column_stack([lam, gains]).astype(np.complex128)
    members = members[np.any(members.imag != 0, axis=1)]
    # Adding +0.0 turns −0.0, which sorts like it but need not be, into +0.0.
    real, imag = members.real + 0.0, members.imag + 0.0
    return np.array_equal(_sorted_rows(real, imag), _sorted_rows(real, 0.0 - imag))


def _sorted_rows(real: Array, imag: Array) -> Array:
    rows = np.hstack([real, imag])
    ordered: Array = rows[np.lexsort(rows.T)]
    return ordered


def _bytes(values: Array) -> bytes:
    # Equal numbers have to give equal bytes: −0.0 becomes +0.0, real becomes complex only by need.
    return (values + 0.0).tobytes()
