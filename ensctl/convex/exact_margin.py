"""Margins of infeasibility proofs in rational arithmetic (python-flint fmpq).

Floats are exact rationals, and the true rows λ^k b of a reachability matrix are rationals too, so
a positive margin here is a theorem about the data, not about rounded powers.  Square roots are
rounded to the safe side; everything else is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, isinf, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Discs, Domain
from ensctl.convex.regions import Ball, Below, Quadratic, Within, WithinDiscs, Zero
from ensctl.convex.rows import Rows

Array = NDArray[Any]
Rational = Any

# Significant bits kept of a square root.
_ROOT_BITS = 200


def exact_margin(
    blocks: Sequence[Rows], parts: Sequence[Sequence[Fraction | float]], domain: Domain
) -> Fraction | float:
    """Σ_j [y_jᵀt_j + floor_j(y_j)] − max gᵀu, g = Σ_j M_jᵀy_j: positive means infeasible.

    Parameters
    ----------
    blocks : sequence of Rows
        Rows with ``exact`` are taken from there, others from their floats.
    parts : sequence of sequences
        Multipliers of each block.
    domain : Box or Discs

    Returns
    -------
    Fraction or float
        A lower bound of the margin (the margin itself unless square roots are involved); −inf
        where an unlimited input or a multiplier of the wrong sign spoils the proof.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import Rows, Zero, box, exact_margin
    >>> rows = Rows(np.ones((1, 2)), np.array([1.0]), Zero())
    >>> exact_margin((rows,), ([1.0],), box(-0.25, 0.25, 2))
    Fraction(1, 2)
    """
    rational = [[to_rational(y) for y in part] for part in parts]
    used = [np.array([k for k, y in enumerate(part) if y != 0], dtype=int) for part in rational]
    rows, targets = exact_rows(blocks, used)
    margin = margin_of_rows(blocks, used, rows, targets, rational, domain)
    return -inf if margin is None else to_fraction(margin)


def exact_rows(
    blocks: Sequence[Rows], used: Sequence[Array]
) -> tuple[list[list[Rational]], list[Rational]]:
    """The rows with the given indices, block after block, and their right-hand sides."""
    rows: list[list[Rational]] = []
    targets: list[Rational] = []
    for block, index in zip(blocks, used, strict=True):
        if not index.size:
            continue
        if block.exact is not None:
            matrix, target = block.exact()
            rows += [[to_rational(entry) for entry in matrix[i]] for i in index]
            targets += [to_rational(target[i]) for i in index]
        else:
            rows += [[to_rational(entry) for entry in row] for row in block.dense(index).tolist()]
            targets += [to_rational(entry) for entry in block.target[index].tolist()]
    return rows, targets


def margin_of_rows(
    blocks: Sequence[Rows],
    used: Sequence[Array],
    rows: list[list[Rational]],
    targets: list[Rational],
    parts: Sequence[Sequence[Rational]],
    domain: Domain,
) -> Rational | None:
    """The margin from converted rows; None for −inf."""
    from flint import fmpq_mat

    multipliers = [part[i] for part, index in zip(parts, used, strict=True) for i in index.tolist()]
    if not multipliers:
        return None
    gradient = fmpq_mat([multipliers]) * fmpq_mat(rows)
    reach = _support(domain, list(gradient.entries()))
    if reach is None:
        return None
    margin = sum(y * t for y, t in zip(multipliers, targets, strict=True)) - reach
    for block, part in zip(blocks, parts, strict=True):
        floor = _FLOOR[type(block.region)](block.region, part)
        if floor is None:
            return None
        margin += floor
    return margin


def to_rational(value: float | Fraction) -> Rational:
    """A float or Fraction as fmpq, exactly."""
    from flint import fmpq

    return fmpq(*value.as_integer_ratio())


def to_fraction(value: Rational) -> Fraction:
    """An fmpq as Fraction."""
    return Fraction(int(value.p), int(value.q))


def _support(domain: Domain, gradient: list[Rational]) -> Rational | None:
    """max gᵀu over the domain, rounded up; None where it is infinite."""
    total = to_rational(0.0)
    if isinstance(domain, Discs):
        half = len(gradient) // 2
        for k, radius in enumerate(domain.radius.tolist()):
            squared = gradient[k] ** 2 + gradient[k + half] ** 2
            if squared != 0:
                if isinf(radius):
                    return None
                total += to_rational(radius) * _root_above(squared)
        return total
    for g, low, high in zip(gradient, domain.lower.tolist(), domain.upper.tolist(), strict=True):
        if g != 0:
            limit = high if g > 0 else low
            if isinf(limit):
                return None
            total += g * to_rational(limit)
    return total


def _within(region: Within, part: Sequence[Rational]) -> Rational:
    return -sum(to_rational(r) * abs(y) for r, y in zip(region.radius.tolist(), part, strict=True))


def _within_discs(region: WithinDiscs, part: Sequence[Rational]) -> Rational:
    half = len(part) // 2
    return -sum(
        to_rational(r) * _root_above(part[k] ** 2 + part[k + half] ** 2)
        for k, r in enumerate(region.radius.tolist())
    )


def _ball(region: Ball, part: Sequence[Rational]) -> Rational:
    return -to_rational(float(region.radius)) * _root_above(sum(y * y for y in part))


def _below(region: Below, part: Sequence[Rational]) -> Rational | None:
    return to_rational(0.0) if all(y <= 0 for y in part) else None


_FLOOR: dict[type, Callable[[Any, Sequence[Rational]], Rational | None]] = {
    Zero: lambda region, part: to_rational(0.0),
    Below: _below,
    Within: _within,
    WithinDiscs: _within_discs,
    Ball: _ball,
    Quadratic: lambda region, part: None,
}


def _root_above(value: Rational) -> Rational:
    """A rational ≥ √value, right to about 60 digits."""
    from flint import fmpq

    if value == 0:
        return value
    top, bottom = int(value.p), int(value.q)
    shift = max(0, _ROOT_BITS - (top * bottom).bit_length() // 2)
    return fmpq(isqrt((top * bottom) << (2 * shift)) + 1, bottom << shift)
