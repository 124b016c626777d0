"""Elimination of the Gramian of diag(b)·Vandermonde rows in ball arithmetic, O(N² m).

A has N rows and m H columns, row i being b_ic λ_i^k (c = 1..m channels, k = 0..H−1).  Its Gramian

    W_ij = (Σ_c b_ic b̄_jc) Σ_{k<H} (λ_i λ̄_j)^k,       W − Λ W Λ* = G J G*,

with G = [B, Λ^H B] and J = diag(I, −I) (G = B and J = I for H = ∞), is never formed.  A pivot d at
node f = |f| φ̄ with multipliers l leaves a Schur complement of the same kind, with

    l_i d (1 − λ_i f̄) = g_i J g_k*,
    g_i ← g_i − l_i (1 + λ_i φ)/(1 + |f|) g_k,      W_ii ← W_ii − |l_i|² d.

This is a form of the generalised Schur algorithm, T. Kailath and A. H. Sayed, SIAM Review
37 (1995) 297–386, with the free phase chosen so that nothing is singular at f = 0 or |f| = 1.
Entries with λ_i λ̄_j = 1 exactly, which the displacement does not determine, are updated one by one
like the diagonal: nodes on the unit circle, ±1 and reciprocal pairs need no other algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ensctl.errors import InvalidInputError
from ensctl.vandermonde.balls import (
    Ball,
    Undecided,
    ball,
    balls,
    conjugate,
    conjugates,
    squared_moduli,
)
from ensctl.vandermonde.certified_rows import ChannelRows


@dataclass(frozen=True, eq=False)
class EliminationStep:
    """One pivot of W = L D L*.

    Attributes
    ----------
    row : int
        The pivot's row k.
    pivot : arb
        d, certainly positive.
    rows : list of int
        The rows that remain, in the order of ``multipliers``.
    multipliers : list of balls
        l_i for those rows.
    node, phase, scale : balls
        λ_k, its conjugate phase φ (1 at the origin), and 1/(1 + |λ_k|).
    generator, signed_conjugate : list of balls
        g_k and J g_k* of the pivot's row.
    """

    row: int
    pivot: Ball
    rows: list[int]
    multipliers: list[Ball]
    node: Ball
    phase: Ball
    scale: Ball
    generator: list[Ball]
    signed_conjugate: list[Ball]


def eliminate(problem: ChannelRows, rank: int) -> Iterator[EliminationStep]:
    """The first ``rank`` steps of L D L* with diagonal pivoting, at the current precision.

    Pivots are chosen by the largest diagonal entry; any choice is valid, so overlapping balls do
    not matter.

    Raises
    ------
    Undecided
        A pivot is not certainly positive.
    InvalidInputError
        Something certainly non-zero remains: the rank is larger.
    """
    nodes, rows = balls(problem.lam), list(range(problem.size))
    generators = _generators(problem, nodes)
    negative_from = problem.gains.shape[1]
    diagonal = [_initial_entry(problem, nodes, i, i) for i in rows]
    tied = {
        (i, j): _initial_entry(problem, nodes, i, j)
        for i, partners in problem.reciprocal.items()
        for j in partners
        if i != j
    }
    for _ in range(min(rank, problem.size)):
        at = _largest(diagonal)
        row, pivot, node = rows.pop(at), diagonal.pop(at), nodes.pop(at)
        if not pivot > 0:
            raise Undecided
        own = [column.pop(at) for column in generators]
        signed = conjugates(own)
        signed = signed[:negative_from] + [-entry for entry in signed[negative_from:]]
        entries = _pivot_column(nodes, node, generators, signed, rows, row, tied)
        inverse = 1 / pivot
        multipliers = [entry * inverse for entry in entries]
        modulus = abs(node)
        phase = conjugate(node) / modulus if not node.is_zero() else ball(1)
        scale = 1 / (1 + modulus)
        yield EliminationStep(row, pivot, list(rows), multipliers, node, phase, scale, own, signed)
        weights = [x * (1 + lam * phase) for x, lam in zip(multipliers, nodes, strict=True)]
        for column, mine in zip(generators, own, strict=True):
            step = mine * scale
            column[:] = [x - w * step for x, w in zip(column, weights, strict=True)]
        moduli = squared_moduli(entries)
        diagonal = [x - y * inverse for x, y in zip(diagonal, moduli, strict=True)]
        _update_tied(tied, row, rows, entries, multipliers)
    if any(entry > 0 for entry in diagonal):
        raise InvalidInputError(
            f"rank must be the rank of the rows, got {rank}, which is too small"
        )


def _pivot_column(
    nodes: list[Ball],
    node: Ball,
    generators: list[list[Ball]],
    signed: list[Ball],
    rows: list[int],
    row: int,
    tied: dict[tuple[int, int], Ball],
) -> list[Ball]:
    """W_ik of the current Schur complement for the remaining rows i."""
    sums = row_products(generators, signed)
    turned = conjugate(node)
    known = {i: tied[i, row] for i in rows if (i, row) in tied} if tied else {}
    if not known:
        return [s / (1 - lam * turned) for s, lam in zip(sums, nodes, strict=True)]
    return [
        known[i] if i in known else s / (1 - lam * turned)
        for i, s, lam in zip(rows, sums, nodes, strict=True)
    ]


def row_products(columns: list[list[Ball]], vector: list[Ball]) -> list[Ball]:
    """Σ_q columns[q][i] · vector[q] for every row i."""
    first = vector[0]
    sums = [x * first for x in columns[0]]
    for column, factor in zip(columns[1:], vector[1:], strict=True):
        sums = [s + x * factor for s, x in zip(sums, column, strict=True)]
    return sums


def _update_tied(
    tied: dict[tuple[int, int], Ball],
    row: int,
    rows: list[int],
    entries: list[Ball],
    multipliers: list[Ball],
) -> None:
    """Schur complement of the entries that are kept one by one."""
    if not tied:
        return
    for pair in [pair for pair in tied if row in pair]:
        del tied[pair]
    place = {i: at for at, i in enumerate(rows)}
    for i, j in tied:
        tied[i, j] = tied[i, j] - entries[place[i]] * conjugate(multipliers[place[j]])


def _generators(problem: ChannelRows, nodes: list[Ball]) -> list[list[Ball]]:
    """Columns of [B, Λ^H B]; of B alone for an infinite horizon."""
    channels = [balls(column) for column in problem.gains.T]
    if problem.horizon == math.inf:
        return channels
    powers = [node**problem.horizon for node in nodes]
    return channels + [
        [power * gain for power, gain in zip(powers, column, strict=True)] for column in channels
    ]


def _initial_entry(problem: ChannelRows, nodes: list[Ball], i: int, j: int) -> Ball:
    """W_ij by the geometric sum; real for i = j."""
    gains_i, gains_j = balls(problem.gains[i]), balls(problem.gains[j])
    if i == j:
        product = sum(squared_moduli(gains_i), ball(0))
        ratio = squared_moduli([nodes[i]])[0]
    else:
        pairs = zip(gains_i, conjugates(gains_j), strict=True)
        product = sum((x * y for x, y in pairs), ball(0))
        ratio = nodes[i] * conjugate(nodes[j])
    if j in problem.reciprocal.get(i, ()):
        return product * ball(problem.horizon)
    if problem.horizon == math.inf:
        return product / (1 - ratio)
    return product * (1 - ratio**problem.horizon) / (1 - ratio)


def _largest(diagonal: list[Ball]) -> int:
    best = 0
    for at, entry in enumerate(diagonal):
        if entry > diagonal[best]:
            best = at
    return best
