"""Multipliers of an infeasibility proof, recomputed from exact rows.

A solver's multipliers are right to 1e-9 or so, and multipliers of R u = d lose log10 κ(R) digits on
the way from Qᵀu = c.  What float64 does know accurately is the gradient g = Qη + Σ M_jᵀy_j.
Multipliers with the same gradient in as many columns as there are rows are solved for in exact
rows, and the proof is then checked exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box, Domain
from ensctl.convex.exact_margin import exact_rows, margin_of_rows, to_fraction, to_rational
from ensctl.convex.lq import LQ
from ensctl.convex.rows import Rows
from ensctl.errors import PrecisionError
from ensctl.vandermonde.balls import Undecided, precision, refine

Array = NDArray[Any]
Rational = Any

# Gradients of unlimited inputs below this share of their terms are taken to be exactly zero.
_PINNED = 1e-7
# Multipliers of limits below this share of the largest are left out of the proof.
_DROPPED = 1e-12
# Bits to which multipliers are computed and then kept as they are.
_KEPT_BITS = 96


@dataclass(frozen=True, eq=False)
class ExactProof:
    """A positive margin with the rational multipliers it belongs to.

    Attributes
    ----------
    parts : tuple of tuples of Fraction
        Multipliers of each block, ½ ≤ max|y| ≤ 1.
    margin : Fraction
    """

    parts: tuple[tuple[Fraction, ...], ...]
    margin: Fraction


def exact_proof(
    blocks: tuple[Rows, ...],
    limit_parts: tuple[Array, ...],
    system: LQ,
    eta: Array,
    domain: Domain,
) -> ExactProof | None:
    """Turn candidate multipliers into exact ones with a positive margin, or return None.

    Unlimited inputs come first among the columns that are solved for: their gradient has to be
    zero exactly.

    Parameters
    ----------
    blocks : tuple of Rows
        Terminal rows, then limits.
    limit_parts : tuple of arrays
        Candidate multipliers of the limits.
    system : LQ
        Of the terminal rows.
    eta : (N,) float64
        Candidate multipliers of Qᵀu = c.
    domain : Box or Discs
    """
    used = _used_rows(eta, limit_parts)
    matrix, wanted, terms = _float_columns(blocks, limit_parts, system, eta, used)
    pinned = _pinned_columns(domain, wanted[:-1], terms[:-1])
    solved = _solved_rows(matrix, pinned, eta.size, limit_parts, used)
    anchors = _anchor_columns(matrix[solved], pinned, targets_first=bool(solved.all()))
    if anchors is None:
        return None
    rows, targets = exact_rows(blocks, used)
    candidates = np.concatenate(
        [y[index] for y, index in zip((eta, *limit_parts), used, strict=True)]
    )
    found = [to_rational(value) for value in candidates.tolist()]
    equations = [
        list(targets) if column == domain.size else [row[column] for row in rows]
        for column in anchors.tolist()
    ]
    right = [
        to_rational(0.0 if column < domain.size and pinned[column] else float(wanted[column]))
        - sum(found[k] * equation[k] for k in np.flatnonzero(~solved).tolist())
        for column, equation in zip(anchors.tolist(), equations, strict=True)
    ]
    unknown = np.flatnonzero(solved).tolist()
    solve = _solve_exactly if pinned.any() else _solve_to_bits
    solution = solve([[equation[k] for k in unknown] for equation in equations], right)
    if solution is None:
        return None
    for k, value in zip(unknown, solution, strict=True):
        found[k] = value
    return _proof(blocks, used, rows, targets, found, domain)


def _proof(
    blocks: tuple[Rows, ...],
    used: tuple[Array, ...],
    rows: list[list[Rational]],
    targets: list[Rational],
    found: list[Rational],
    domain: Domain,
) -> ExactProof | None:
    """Scale by a power of two and compute the margin."""
    from flint import fmpq

    largest = max(abs(to_fraction(y)) for y in found)
    if largest == 0:
        return None
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length() + 1
    factor = fmpq(1, 2**exponent) if exponent >= 0 else fmpq(2**-exponent)
    values = iter(found)
    parts = []
    for block, index in zip(blocks, used, strict=True):
        part = [to_rational(0.0)] * block.count
        for k in index.tolist():
            part[k] = factor * next(values)
        parts.append(part)
    margin = margin_of_rows(blocks, used, rows, targets, parts, domain)
    if margin is None or not margin > 0:
        return None
    return ExactProof(
        tuple(tuple(to_fraction(y) for y in part) for part in parts), to_fraction(margin)
    )


def _used_rows(eta: Array, limit_parts: tuple[Array, ...]) -> tuple[Array, ...]:
    """Indices of the rows of each block that take part."""
    largest = max(float(np.abs(y).max(initial=0.0)) for y in (eta, *limit_parts))
    return (
        np.arange(eta.size),
        *(np.flatnonzero(np.abs(y) > _DROPPED * largest) for y in limit_parts),
    )


def _float_columns(
    blocks: tuple[Rows, ...],
    limit_parts: tuple[Array, ...],
    system: LQ,
    eta: Array,
    used: tuple[Array, ...],
) -> tuple[Array, Array, Array]:
    """The used rows in float64, well conditioned, with their targets as last column.

    With them go the gradient and gain they should give, and the sizes of the terms of these.
    """
    basis = system.basis
    target = system.coordinates(blocks[0].target)
    parts = [np.column_stack([basis.T, target])]
    wanted = eta @ parts[0]
    terms = np.abs(eta) @ np.abs(parts[0])
    for rows, y, index in zip(blocks[1:], limit_parts, used[1:], strict=True):
        if index.size:
            block = np.column_stack([rows.dense(index), rows.target[index]])
            wanted = wanted + y[index] @ block
            terms = terms + np.abs(y[index]) @ np.abs(block)
            parts.append(block / np.linalg.norm(block, axis=1)[:, None])
    return np.vstack(parts), wanted, terms


def _pinned_columns(domain: Domain, gradient: Array, terms: Array) -> Array:
    """Inputs that lack a limit and whose gradient is zero as far as can be computed."""
    if isinstance(domain, Box):
        free = np.isinf(domain.lower) | np.isinf(domain.upper)
    else:
        free = np.tile(np.isinf(domain.radius), 2)
    return free & (np.abs(gradient) <= _PINNED * terms)


def _anchor_columns(matrix: Array, pinned: Array, *, targets_first: bool) -> Array | None:
    """As many independent columns as rows: pinned inputs, the targets, then any."""
    from scipy.linalg import qr

    if matrix.shape[0] > matrix.shape[1]:
        return None
    priority = np.append(np.where(pinned, 1e4, 1.0), 1e8 if targets_first else 1e2)
    norms = np.linalg.norm(matrix, axis=0)
    weighted = matrix * (priority / np.where(norms > 0.0, norms, 1.0))
    return qr(weighted, mode="r", pivoting=True)[1][: matrix.shape[0]]


def _solved_rows(
    matrix: Array,
    pinned: Array,
    count: int,
    limit_parts: tuple[Array, ...],
    used: tuple[Array, ...],
) -> Array:
    """Rows whose multipliers are solved for: the target's, and limits if more inputs are pinned.

    The other limits keep the multipliers they have.
    """
    from scipy.linalg import qr

    solved = np.zeros(matrix.shape[0], dtype=bool)
    solved[:count] = True
    needed = min(int(pinned.sum()), solved.size)
    if needed > count:
        sizes = np.concatenate(
            [np.abs(y[index]) for y, index in zip(limit_parts, used[1:], strict=True)]
        )
        weight = np.concatenate([np.full(count, 1e6), sizes / sizes.max()])
        order = qr(matrix[:, :-1][:, pinned].T * weight, mode="r", pivoting=True)[1]
        solved[order[:needed]] = True
    return solved


def _solve_exactly(matrix: list[list[Rational]], right: list[Rational]) -> list[Rational] | None:
    from flint import fmpq_mat

    try:
        solution = fmpq_mat(matrix).solve(fmpq_mat([[value] for value in right]))
    except ZeroDivisionError:
        return None
    return list(solution.entries())


def _solve_to_bits(matrix: list[list[Rational]], right: list[Rational]) -> list[Rational] | None:
    """The solution to a hundred bits or so, kept as dyadic rationals; None where it has none."""
    from flint import arb, arb_mat, fmpq

    def attempt() -> list[Rational]:
        balls = arb_mat([[arb(entry) for entry in row] for row in matrix])
        try:
            found = balls.solve(arb_mat([[arb(value)] for value in right])).entries()
        except ZeroDivisionError as error:
            raise Undecided from error
        largest = max(float(abs(entry.mid())) for entry in found)
        if max(float(entry.rad()) for entry in found) > largest * 2.0**-_KEPT_BITS:
            raise Undecided
        kept = []
        with precision(2 * _KEPT_BITS):
            for entry in found:
                mantissa, exponent = (+entry.mid()).mid().man_exp()
                kept.append(fmpq(mantissa) * fmpq(2) ** int(exponent))
        return kept

    try:
        return refine(attempt, "the multipliers of an infeasibility proof", 4 * _KEPT_BITS)
    except PrecisionError:
        return None
