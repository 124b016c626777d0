"""The margin of an infeasibility proof in rational arithmetic (python-flint fmpq).

Floats are exact rationals, and the true rows λ^k b of a reachability matrix are rationals too, so
a positive margin here is a theorem about the data, not about rounded powers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box, Discs, Domain
from ensctl.convex.lq import LQ
from ensctl.convex.regions import Ball, Below, Quadratic, Within, WithinDiscs, Zero
from ensctl.convex.rows import Rows
from ensctl.errors import PrecisionError
from ensctl.vandermonde.balls import Undecided, precision, refine

Array = NDArray[Any]
Rational = Any

# Gradients of unlimited inputs below this share of their terms are taken to be exactly zero.
_PINNED = 1e-7
# Multipliers of rows below this share of the largest are left out of the proof.
_DROPPED = 1e-12
# Bits to which multipliers are computed and then kept as they are.
_KEPT_BITS = 96


@dataclass(frozen=True, eq=False)
class ExactProof:
    """A positive margin with the rational multipliers it belongs to.

    Attributes
    ----------
    parts : tuple of float64 arrays
        The multipliers of each block, rounded, max|y| = 1.
    margin : float
        Rounded, in the same scale.
    multipliers : tuple of Fraction
        The exact ones, block after block, in the same scale up to a power of two.
    """

    parts: tuple[Array, ...]
    margin: float
    multipliers: tuple[Fraction, ...]


def exact_proof(
    blocks: tuple[Rows, ...],
    limit_parts: tuple[Array, ...],
    system: LQ,
    eta: Array,
    domain: Domain,
) -> ExactProof | None:
    """Turn candidate multipliers into exact ones with a positive margin, or return None.

    The candidate is known by what is accurate in float64: the gradient g = Qη + Σ M_jᵀ y_j and
    the gain.  Multipliers y with the same gradient in as many columns as there are rows are
    computed from the exact rows; unlimited inputs come first and get g = 0 exactly.

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
    anchors = _anchor_columns(matrix[solved], pinned, targets_first=solved.all())
    if anchors is None:
        return None
    rows, targets = _exact_rows(blocks, used)
    candidates = np.concatenate(
        [y[index] for y, index in zip((eta, *limit_parts), used, strict=True)]
    )
    found = [_rational(value) for value in candidates.tolist()]
    equations = [
        list(targets) if column == domain.size else [row[column] for row in rows]
        for column in anchors.tolist()
    ]
    right = [
        _rational(0.0 if column < domain.size and pinned[column] else float(wanted[column]))
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
    return _checked(blocks, used, rows, targets, found, domain)


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
            chosen = rows.matrix[index]
            dense = chosen if isinstance(chosen, np.ndarray) else chosen.toarray()
            block = np.column_stack([dense, rows.target[index]])
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


def _exact_rows(
    blocks: tuple[Rows, ...], used: tuple[Array, ...]
) -> tuple[list[list[Rational]], list[Rational]]:
    rows: list[list[Rational]] = []
    targets: list[Rational] = []
    for block, index in zip(blocks, used, strict=True):
        if not index.size:
            continue
        if block.exact is not None:
            matrix, target = block.exact()
            rows += [[_rational(entry) for entry in matrix[i]] for i in index]
            targets += [_rational(target[i]) for i in index]
        else:
            chosen = block.matrix[index]
            dense = chosen if isinstance(chosen, np.ndarray) else chosen.toarray()
            rows += [[_rational(entry) for entry in row] for row in dense.tolist()]
            targets += [_rational(entry) for entry in block.target[index].tolist()]
    return rows, targets


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


def _checked(
    blocks: tuple[Rows, ...],
    used: tuple[Array, ...],
    rows: list[list[Rational]],
    targets: list[Rational],
    multipliers: list[Rational],
    domain: Domain,
) -> ExactProof | None:
    """The proof itself: every operation exact, square roots rounded to the safe side."""
    from flint import fmpq_mat

    pulled = fmpq_mat([multipliers]) * fmpq_mat(rows)
    margin = sum(y * t for y, t in zip(multipliers, targets, strict=True))
    parts, position = [], 0
    for block, index in zip(blocks, used, strict=True):
        part = [_rational(0.0)] * block.count
        for i in index.tolist():
            part[i] = multipliers[position]
            position += 1
        floor = _FLOOR[type(block.region)](block.region, part)
        if floor is None:
            return None
        margin += floor
        parts.append(part)
    reach = _support(domain, list(pulled.entries()))
    if reach is None or not margin > reach:
        return None
    exact = [_fraction(y) for part in parts for y in part]
    largest = max(abs(y) for y in exact)
    arrays = tuple(np.array([float(_fraction(y) / largest) for y in part]) for part in parts)
    return ExactProof(
        arrays,
        float(_fraction(margin - reach) / largest),
        tuple(y / largest for y in exact),
    )


def _support(domain: Domain, gradient: list[Rational]) -> Rational | None:
    """max gᵀu over the domain, rounded up; None where it is infinite."""
    total = _rational(0.0)
    if isinstance(domain, Discs):
        half = len(gradient) // 2
        for k, radius in enumerate(domain.radius.tolist()):
            squared = gradient[k] ** 2 + gradient[k + half] ** 2
            if squared != 0:
                if np.isinf(radius):
                    return None
                total += _rational(radius) * _root_above(squared)
        return total
    for g, low, high in zip(gradient, domain.lower.tolist(), domain.upper.tolist(), strict=True):
        if g != 0:
            limit = high if g > 0 else low
            if np.isinf(limit):
                return None
            total += g * _rational(limit)
    return total


def _within(region: Within, part: list[Rational]) -> Rational:
    return -sum(_rational(r) * abs(y) for r, y in zip(region.radius.tolist(), part, strict=True))


def _within_discs(region: WithinDiscs, part: list[Rational]) -> Rational:
    half = len(part) // 2
    return -sum(
        _rational(r) * _root_above(part[k] ** 2 + part[k + half] ** 2)
        for k, r in enumerate(region.radius.tolist())
    )


def _ball(region: Ball, part: list[Rational]) -> Rational:
    return -_rational(region.radius) * _root_above(sum(y * y for y in part))


def _below(region: Below, part: list[Rational]) -> Rational | None:
    return _rational(0.0) if all(y <= 0 for y in part) else None


_FLOOR: dict[type, Callable[[Any, list[Rational]], Rational | None]] = {
    Zero: lambda region, part: _rational(0.0),
    Below: _below,
    Within: _within,
    WithinDiscs: _within_discs,
    Ball: _ball,
    Quadratic: lambda region, part: None,
}


def _root_above(value: Rational) -> Rational:
    """A rational ≥ √value, right to about 60 digits."""
    from math import isqrt

    from flint import fmpq

    if value == 0:
        return value
    top, bottom = int(value.p), int(value.q)
    shift = max(0, 200 - (top * bottom).bit_length() // 2)
    return fmpq(isqrt((top * bottom) << (2 * shift)) + 1, bottom << shift)


def _rational(value: float | Fraction) -> Rational:
    from flint import fmpq

    return fmpq(*value.as_integer_ratio())


def _fraction(value: Rational) -> Fraction:
    return Fraction(int(value.p), int(value.q))
