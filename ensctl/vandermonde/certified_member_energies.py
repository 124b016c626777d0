"""Certified energies of all unit targets: the diagonal of the inverse Gramian."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.balls import Ball, ball, conjugate, refine, squared_moduli
from ensctl.vandermonde.certified_elimination import eliminate, row_products
from ensctl.vandermonde.certified_rank import require_full_row_rank
from ensctl.vandermonde.certified_results import (
    CertifiedEnergies,
    check_rtol,
    energies_from_balls,
)
from ensctl.vandermonde.certified_rows import ChannelRows, channel_rows

Array = NDArray[Any]


def certified_member_energies(
    lam: Array,
    gains: Array,
    horizon: int | float,
    *,
    rtol: float = 1e-16,
    bits: int | None = None,
) -> CertifiedEnergies:
    """The diagonal of (A A*)^{-1}: energy to move one member to 1 and leave the others at 0.

    Parameters
    ----------
    lam, gains, horizon, rtol, bits
        As in :func:`~ensctl.vandermonde.certified_solve.certified_energies`.

    Returns
    -------
    CertifiedEnergies
        One energy per row.

    Raises
    ------
    NotReachableError
        The rows are dependent.
    PrecisionError
        131,072 bits do not suffice.

    Notes
    -----
    The columns x of L^{-*} have a displacement of their own, λ̄_i X_ij − X_ij λ̄_j = p_i J g_j*
    with p = 0 at first and p_i ← p_i − (x_i/d)(λ̄_i + φ)/(1 + |f|) g_k, so that all N energies
    Σ_k |x_ik|²/d_k cost O(N² m) operations, about twice one elimination.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.vandermonde.certified_member_energies import certified_member_energies
    >>> certified_member_energies(np.array([0.5, 0.25]), np.ones(2), 2).values
    array([17., 20.])
    """
    problem = channel_rows(lam, gains, horizon)
    require_full_row_rank(problem)
    check_rtol(rtol)
    return refine(
        lambda: energies_from_balls(_inverse_diagonal(problem), rtol),
        "the energy of each member",
        bits,
    )


def _inverse_diagonal(problem: ChannelRows) -> list[Ball]:
    """Σ_k |x_ik|²/d_k for every row i, x_k being column k of L^{-*}."""
    done: list[int] = []
    turned: list[Ball] = []
    width = problem.gains.shape[1] * (1 if problem.horizon == math.inf else 2)
    generators: list[list[Ball]] = [[] for _ in range(width)]
    energies = [ball(0)] * problem.size
    equal = _EqualNodes(problem.lam)
    for step in eliminate(problem, problem.size):
        node = conjugate(step.node)
        entries = []
        if done:
            sums = row_products(generators, step.signed_conjugate)
            entries = [
                equal.entry(i, step.row) if equal.holds(i, step.row) else s / (lam - node)
                for i, s, lam in zip(done, sums, turned, strict=True)
            ]
        done.append(step.row)
        turned.append(node)
        entries.append(ball(1))
        inverse = 1 / step.pivot
        # The new entry is a real 1 beside entries that may be complex.
        moduli = [*squared_moduli(entries[:-1]), ball(1)]
        for i, modulus in zip(done, moduli, strict=True):
            energies[i] += modulus * inverse
        factor = inverse * step.scale
        weights = [
            x * (factor * (lam + step.phase)) for x, lam in zip(entries, turned, strict=True)
        ]
        for column, mine in zip(generators, step.generator, strict=True):
            column.append(ball(0))
            column[:] = [p - w * mine for p, w in zip(column, weights, strict=True)]
        equal.update(step.row, done, entries, step.rows, step.multipliers)
    return energies


class _EqualNodes:
    """X_ij for λ_i = λ_j, i eliminated and j not, which the displacement does not determine."""

    def __init__(self, lam: Array) -> None:
        _, place = np.unique(lam + 0.0, return_inverse=True)
        groups: dict[int, list[int]] = {}
        for i, group in enumerate(place.ravel().tolist()):
            groups.setdefault(group, []).append(i)
        self._partners = {
            i: [j for j in members if j != i]
            for members in groups.values()
            if len(members) > 1
            for i in members
        }
        self._entries: dict[tuple[int, int], Ball] = {}

    def holds(self, i: int, j: int) -> bool:
        return (i, j) in self._entries

    def entry(self, i: int, j: int) -> Ball:
        return self._entries[i, j]

    def update(
        self,
        row: int,
        done: list[int],
        entries: list[Ball],
        rows: list[int],
        multipliers: list[Ball],
    ) -> None:
        """X_ij ← X_ij − x_i l̄_j; row i of X is zero until i is eliminated."""
        if not self._partners:
            return
        left = dict(zip(rows, multipliers, strict=True))
        self._entries = {pair: x for pair, x in self._entries.items() if pair[1] != row}
        for j in self._partners.get(row, ()):
            if j in left:
                self._entries[row, j] = ball(0)
        column = dict(zip(done, entries, strict=True))
        for i, j in self._entries:
            self._entries[i, j] -= column[i] * conjugate(left[j])
