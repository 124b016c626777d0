"""The shifted grid of roots of unity that turns a Vandermonde matrix into a Cauchy matrix.

For y_j = exp(2πi (j + θ)/H) and the unitary F_mj = y_j^{-m}/√H,

    (A F)_ij = α_i β_j / (λ_i − y_j),   α_i = b_i (λ_i^H e^{−2πiθ} − 1)/√H,   β_j = y_j,

for A_ij = b_i λ_i^j (J. Demmel, SIAM J. Matrix Anal. Appl. 21 (1999) 562–580, section on
Vandermonde matrices).  The shift θ is free; it is chosen so that no λ_i comes near a grid point,
hence no limit formulas and no cancellation in α.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.doubledouble import ComplexDD, normalised, power

Array = NDArray[Any]

# Exponent gap beyond which one of λ^H and 1 no longer changes a 106-bit sum.
_NEGLIGIBLE_BITS = 110


@dataclass(frozen=True)
class CauchyGenerators:
    """The scaled Cauchy matrix α_i β_j/(λ_i − y_j), with nothing rounded away.

    Attributes
    ----------
    nodes : (N,) complex128
        λ, exact.
    grid_hi, grid_lo : (H,) complex128
        y = hi + lo to 100 bits.
    alpha, alpha_exponent : (N,) complex128, (N,) int64
        Row generators α = mantissa · 2^exponent, relative error a few ε.
    beta, beta_exponent : (H,) complex128, (H,) int64
        Column generators.
    shift : float
        θ.
    """

    nodes: Array
    grid_hi: Array
    grid_lo: Array
    alpha: Array
    alpha_exponent: Array
    beta: Array
    beta_exponent: Array
    shift: float


def cauchy_generators(lam: Array, b: Array, horizon: int) -> CauchyGenerators:
    """Transform A_ij = b_i λ_i^j (N × H) into scaled Cauchy form by a unitary DFT.

    Parameters
    ----------
    lam : (N,) float64 or complex128
        Nodes, taken as exact.
    b : (N,) float64 or complex128
        Row scalings, taken as exact.
    horizon : int
        Number of columns H ≥ 1.

    Returns
    -------
    CauchyGenerators
        Generators with entrywise relative error of a few ε.

    Notes
    -----
    O(N log H + H) array operations and 2√H sine–cosine pairs in 128-bit arithmetic.
    """
    nodes = np.asarray(lam, dtype=complex)
    shift = _grid_shift(nodes, horizon)
    grid = _grid(horizon, shift)
    offset = _turn(-shift)
    powers, exponent = power(nodes, horizon)
    rotated = powers * ComplexDD.from_complex(
        np.full(nodes.shape, offset.hi[0]), np.full(nodes.shape, offset.lo[0])
    )
    minus_one = ComplexDD.from_complex(np.full(nodes.shape, -1.0 + 0j))
    near = np.abs(exponent) <= _NEGLIGIBLE_BITS
    difference = rotated.scaled(np.where(near, exponent, 0)) + minus_one
    large = exponent > _NEGLIGIBLE_BITS
    factor = np.where(near, difference.hi, np.where(large, rotated.hi, -1.0))
    factor_exponent = np.where(large, exponent, 0)
    alpha, alpha_exponent = normalised(factor)
    gain, gain_exponent = normalised(np.asarray(b, dtype=complex))
    alpha, extra = normalised(alpha * gain / math.sqrt(horizon))
    return CauchyGenerators(
        nodes=nodes,
        grid_hi=grid.hi,
        grid_lo=grid.lo,
        alpha=alpha,
        alpha_exponent=alpha_exponent + factor_exponent + gain_exponent + extra,
        beta=grid.hi.copy(),
        beta_exponent=np.zeros(horizon, dtype=np.int64),
        shift=shift,
    )


def _grid_shift(nodes: Array, horizon: int) -> float:
    """Midpoint of the largest gap that the nodes near the unit circle leave modulo one step."""
    modulus = np.abs(nodes)
    with np.errstate(divide="ignore"):
        near_circle = np.abs(np.log(modulus)) * horizon < math.log(64.0)
    if not np.any(near_circle):
        return 0.5
    position = np.sort(np.mod(horizon * np.angle(nodes[near_circle]) / (2 * np.pi), 1.0))
    gaps = np.diff(position, append=position[0] + 1.0)
    widest = int(np.argmax(gaps))
    return float((position[widest] + 0.5 * gaps[widest]) % 1.0)


def _grid(horizon: int, shift: float) -> ComplexDD:
    """exp(2πi (j + θ)/H), j = 0 … H−1, from two tables of about √H entries."""
    block = math.isqrt(horizon - 1) + 1
    fine = _turn([(j, shift, horizon) for j in range(block)])
    coarse = _turn([(j * block, 0.0, horizon) for j in range(-(-horizon // block))])
    row, column = np.divmod(np.arange(horizon), block)
    return ComplexDD.from_complex(coarse.hi[row], coarse.lo[row]) * ComplexDD.from_complex(
        fine.hi[column], fine.lo[column]
    )


def _turn(fractions: float | list[tuple[int, float, int]]) -> ComplexDD:
    """exp(2πi f) in double-double for f = (j + θ)/H given as triples, or one plain number f."""
    import flint

    triples = fractions if isinstance(fractions, list) else [(0, fractions, 1)]
    saved = flint.ctx.prec
    flint.ctx.prec = 160
    try:
        values = [
            flint.acb(2 * (flint.arb(j) + flint.arb(theta)) / count).exp_pi_i()
            for j, theta, count in triples
        ]
        hi = np.array([complex(float(v.real.mid()), float(v.imag.mid())) for v in values])
        lo = np.array(
            [
                complex(float((v.real - h.real).mid()), float((v.imag - h.imag).mid()))
                for v, h in zip(values, hi.tolist(), strict=True)
            ]
        )
    finally:
        flint.ctx.prec = saved
    return ComplexDD.from_complex(hi, lo)
