"""Certified rank-revealing factor of diag(b)·Vandermonde rows with any number of channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError
from ensctl.vandermonde.balls import (
    HALF_ULP,
    Ball,
    Undecided,
    current_bits,
    is_certain,
    nearest,
    refine,
    scaled,
)
from ensctl.vandermonde.certified_elimination import EliminationStep, eliminate
from ensctl.vandermonde.certified_rank import certified_rank
from ensctl.vandermonde.certified_rows import ChannelRows, channel_rows

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CertifiedFactor:
    """P A A* P^T = L D L* with D > 0 descending in size (nearly) and |L| ≤ 1.

    Attributes
    ----------
    left : (N, r) float64 or complex128
        L, unit lower trapezoidal, rows in pivot order.
    pivots, pivot_exponents : (r,) float64, (r,) int64
        D = pivots · 2^pivot_exponents, 0.5 ≤ pivots < 1.
    row_order : (N,) int
        Row i of ``left`` belongs to node row_order[i].
    left_error_bound, pivot_error_bound : float
        Absolute for every entry of L, relative for every pivot; rounding to float64 included.
    bits : int
        Working precision that was enough.
    """

    left: Array
    pivots: Array
    pivot_exponents: Array
    row_order: Array
    left_error_bound: float
    pivot_error_bound: float
    bits: int

    @property
    def rank(self) -> int:
        """Number of pivots r."""
        return int(self.pivots.size)

    @property
    def roots(self) -> tuple[Array, Array]:
        """√D as mantissas and exponents: A and L √D have the same singular values."""
        odd = self.pivot_exponents % 2
        return np.sqrt(self.pivots * (1.0 + odd)), (self.pivot_exponents - odd) // 2


def certified_factor(
    lam: Array,
    gains: Array,
    horizon: int | float,
    *,
    rank: int | None = None,
    target_bits: int = 60,
    bits: int | None = None,
) -> CertifiedFactor:
    """Pivoted L D L* of A A* for the rows b_ic λ_i^k, k < horizon, every entry certified.

    A is N × m H with one block [b_ic λ_i^k] per channel c; the order of its columns does not
    matter.  L is well conditioned, so the singular values of A, which are those of L √D, follow
    from the factors to high relative accuracy whatever the condition number.

    Parameters
    ----------
    lam : (N,) float64 or complex128
        Nodes, taken as exact, any modulus.
    gains : (N,) or (N, m) float64 or complex128
        Row scalings b, taken as exact.
    horizon : int or math.inf
        H ≥ 1; math.inf needs every |λ| < 1.
    rank : int, optional
        Exact rank of A where the caller knows it: compared with the rank that is found without
        rounding (see :mod:`ensctl.vandermonde.certified_rank`).
    target_bits : int
        Radii are at most 2^-target_bits: absolute for L, relative for D.
    bits : int, optional
        First working precision; doubled until the radii are small enough.

    Returns
    -------
    CertifiedFactor

    Raises
    ------
    InvalidInputError
        Shapes or numbers that do not fit, or another rank.
    PrecisionError
        131,072 bits do not suffice.

    Notes
    -----
    O(N r m) ball operations at each precision.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.vandermonde.certified_gramian import certified_factor
    >>> factor = certified_factor(np.array([0.5, 0.25]), np.ones(2), 2)
    >>> factor.pivots * 2.0**factor.pivot_exponents  # 1 + λ² of the first, then det(A)²/(1 + λ²)
    array([1.25, 0.05])
    """
    problem = channel_rows(lam, gains, horizon)
    found = certified_rank(problem)
    if rank is not None and rank != found:
        raise InvalidInputError(f"rank must be the exact rank of the rows, {found}, got {rank}")
    return refine(lambda: _attempt(problem, found, target_bits), "the factor of A A*", bits)


def _attempt(problem: ChannelRows, rank: int, target_bits: int) -> CertifiedFactor:
    from flint import arb

    limit = arb(2) ** -target_bits
    steps: list[EliminationStep] = []
    for step in eliminate(problem, rank):
        narrow = is_certain(step.pivot, target_bits)
        if not (narrow and all(_radius(item) <= limit for item in step.multipliers)):
            raise Undecided
        steps.append(step)
    order = [step.row for step in steps]
    order += steps[-1].rows if steps else list(range(problem.size))
    place = {row: at for at, row in enumerate(order)}
    complex_data = np.iscomplexobj(problem.lam) or np.iscomplexobj(problem.gains)
    left = np.eye(problem.size, rank, dtype=complex if complex_data else float)
    for k, step in enumerate(steps):
        for row, item in zip(step.rows, step.multipliers, strict=True):
            left[place[row], k] = nearest(item)
    parts = [scaled(step.pivot) for step in steps]
    radius = 2.0**-target_bits
    return CertifiedFactor(
        left=left,
        pivots=np.array([mantissa for mantissa, _ in parts]),
        pivot_exponents=np.array([exponent for _, exponent in parts], dtype=np.int64),
        row_order=np.array(order, dtype=int),
        left_error_bound=1.5 * HALF_ULP + radius,
        pivot_error_bound=HALF_ULP + 2.0 * radius,
        bits=current_bits(),
    )


def _radius(item: Ball) -> Ball:
    return item.complex_rad().abs_upper() if hasattr(item, "complex_rad") else item.rad()
