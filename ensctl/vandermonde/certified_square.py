"""Square single-channel systems diag(b)·[λ_i^k] u = d by interpolation in ball arithmetic."""

from __future__ import annotations

import numpy as np

from ensctl.vandermonde.balls import Ball, balls
from ensctl.vandermonde.certified_rows import ChannelRows


def is_square(problem: ChannelRows) -> bool:
    """Whether A is N × N with one channel, so that A u = d has one solution."""
    return problem.gains.shape[1] == 1 and problem.horizon == problem.size


def interpolate(problem: ChannelRows, target: list[Ball]) -> list[Ball]:
    """u with b_i Σ_k λ_i^k u_k = d_i: coefficients of the polynomial through (λ_i, d_i/b_i).

    Newton's divided differences and the conversion to monomials (Å. Björck and V. Pereyra, Math.
    Comp. 24 (1970) 893–903), at the current precision; O(N²).  Nodes are taken in ascending order
    of real part, which for real nodes keeps the balls narrow.

    Parameters
    ----------
    problem : ChannelRows
        Square, with distinct nodes and non-zero gains.
    target : list of balls
        d.

    Returns
    -------
    list of balls
        u_k, k = 0..N−1.
    """
    from flint import acb, acb_poly, arb_poly

    order = np.argsort(problem.lam, kind="stable")
    nodes = balls(problem.lam[order])
    values = [target[i] / b for i, b in zip(order, balls(problem.gains[order, 0]), strict=True)]
    is_complex = any(isinstance(item, acb) for item in nodes + values)
    polynomial = acb_poly if is_complex else arb_poly
    coefficients = polynomial.interpolate(nodes, values, "newton").coeffs()
    # Leading coefficients that are exactly zero are left out by the library.
    return coefficients + [nodes[0] * 0] * (problem.size - len(coefficients))
