"""Where the poles of rounded gains really are, and how far gains and arithmetic move them.

The closed loop Λ − b kᵀ has the characteristic polynomial Π(z − λ_i) (1 + Σ b_i k_i/(z − λ_i)).
For the doubles k it is built in ball arithmetic and its roots are isolated; eigenvalues of the
closed-loop matrix in float64 would show the error of the eigenvalue solver instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.balls import precision

Array = NDArray[Any]

# Bits that are tried; isolating 100 badly placed roots takes seconds from 1024 bits on.
_BITS = (128, 256, 512, 1024, 2048, 4096)
_MOST_BITS_OF_LARGE = 512
_LARGE = 64
_LARGEST = 128
_ROOT_RADIUS = 1e-13
_TOLERANCE = 1e-14


@dataclass(frozen=True, eq=False)
class PoleSensitivity:
    """First-order answers to "what if the gains, or the matrix, are slightly off?".

    Attributes
    ----------
    gain : (n,)
        |δμ_j| ≤ gain_j η when every gain is off by a relative η; inf for a repeated pole.
    condition : (n,)
        |δμ_j| ≤ condition_j ‖E‖₂ when the closed loop in balanced coordinates, Λ − s σ sᵀ with
        s_i = √|b_i k_i| and phases σ, is off by E; inf for a repeated pole.
    """

    gain: Array
    condition: Array


def pole_sensitivity(lam: Array, residues: Array, poles: Array) -> PoleSensitivity:
    """Sensitivities of distinct poles from products of differences.

    With r_i = b_i k_i: gain_j = Σ_i |r_i| Π_{l≠i}|μ_j − λ_l| / Π_{l≠j}|μ_j − μ_l|.  Balancing
    scales the eigenvectors b_i/(μ_j − λ_i) and k_i/(μ_j − λ_i) to equal moduli for every pole at
    once, so condition_j = Σ|r_i|/|μ_j − λ_i|² · Π_l|μ_j − λ_l| / Π_{l≠j}|μ_j − μ_l|.

    Parameters
    ----------
    lam : (n,)
        Distinct λ.
    residues : (n,)
        log2 |r_i|.
    poles : (n,)
        Poles μ.
    """
    to_lam = _log2(poles[:, None] - lam[None, :])
    to_poles = _log2(poles[:, None] - poles[None, :])
    np.fill_diagonal(to_poles, 0.0)
    between = to_poles.sum(axis=1)
    gain = _log2_sum(residues[None, :] + _products_without_one(to_lam))
    # A pole that is a λ decouples: balancing makes its eigenvectors equal.
    apart = ~np.any(np.isneginf(to_lam), axis=1)
    condition = np.where(apart, 0.0, between)
    condition[apart] = _log2_sum(residues[None, :] - 2.0 * to_lam[apart])
    condition[apart] += to_lam[apart].sum(axis=1)
    repeated = np.isneginf(between)
    between[repeated] = condition[repeated] = 0.0
    with np.errstate(over="ignore", under="ignore"):
        found = np.exp2(gain - between), np.maximum(np.exp2(condition - between), 1.0)
    for values in found:
        values[repeated] = np.inf
    return PoleSensitivity(*found)


def achieved_poles(lam: Array, weights: list[Any], poles: Array) -> Array | None:
    """The roots of Π(z − λ_i) (1 + Σ w_i/(z − λ_i)), each beside the pole it was meant to be.

    Parameters
    ----------
    lam : (n,)
        Distinct λ.
    weights : list of (Fraction, Fraction)
        Real and imaginary parts of w_i = Σ b k over the members of λ_i, exact.
    poles : (n,)
        The poles asked for.

    Returns
    -------
    (n,) or None
        Correct to 1e-13 of max(1, |μ|); None where 4096 bits (512 when n > 64) do not separate
        the roots, and for n > 128, where it is not tried.
    """
    if poles.size == 0:
        return poles.copy()
    most = _MOST_BITS_OF_LARGE if lam.size > _LARGE else _BITS[-1]
    for bits in _BITS:
        if bits > most or lam.size > _LARGEST:
            return None
        with precision(bits):
            polynomial = _characteristic(lam, weights)
            if _same_exactly(polynomial, _monic(poles)):
                return poles.copy()
            try:
                roots = polynomial.roots(tol=_TOLERANCE)
            except ValueError:
                continue
            if all(_narrow(root) for root in roots):
                real = all(c.imag == 0 for c in polynomial.coeffs())
                return _matched(_as_numbers(roots, real), poles)
    return None


def exact_products(b: Array, k: Array, group: Array, count: int) -> list[tuple[Fraction, Fraction]]:
    """Σ b_i k_i over each group, as exact rational real and imaginary parts."""
    sums = [[Fraction(0), Fraction(0)] for _ in range(count)]
    for i, g in enumerate(group.tolist()):
        if g < 0:
            continue
        p, q = complex(b[i]), complex(k[i])
        br, bi, kr, ki = map(Fraction, (p.real, p.imag, q.real, q.imag))
        sums[g][0] += br * kr - bi * ki
        sums[g][1] += br * ki + bi * kr
    return [(re, im) for re, im in sums]


def _characteristic(lam: Array, weights: list[Any]) -> Any:
    from flint import acb, acb_poly, arb, fmpq

    def ball(part: Fraction) -> Any:
        return arb(fmpq(part.numerator, part.denominator))

    pairs = [
        (acb_poly([-acb(complex(z)), 1]), acb_poly([acb(ball(re), ball(im))]))
        for z, (re, im) in zip(lam, weights, strict=True)
    ]
    # (P, S) stands for P (1 + S/P): halves are multiplied out, neighbours first.
    while len(pairs) > 1:
        merged = [
            (p * q, p * t + q * s) for (p, s), (q, t) in zip(pairs[::2], pairs[1::2], strict=False)
        ]
        pairs = merged + pairs[len(merged) * 2 :]
    return pairs[0][0] + pairs[0][1]


def _monic(poles: Array) -> Any:
    from flint import acb, acb_poly

    product = acb_poly([1])
    for pole in poles:
        product *= acb_poly([-acb(complex(pole)), 1])
    return product


def _same_exactly(one: Any, other: Any) -> bool:
    return all((p - q).is_zero() for p, q in zip(one.coeffs(), other.coeffs(), strict=True))


def _narrow(root: Any) -> bool:
    size = max(1.0, float(abs(root).upper()))
    return float(max(root.real.rad(), root.imag.rad())) <= _ROOT_RADIUS * size


def _as_numbers(roots: list[Any], real: bool) -> Array:
    numbers = []
    for root in roots:
        # An isolated root of a real polynomial that touches the real axis lies on it.
        imag = 0.0 if real and root.imag.contains(0) else float(root.imag.mid())
        numbers.append(complex(float(root.real.mid()), imag))
    return np.array(numbers)


def _matched(roots: Array, poles: Array) -> Array:
    from scipy.optimize import linear_sum_assignment

    distance = np.abs(poles[:, None] - roots[None, :])
    ordered = roots[linear_sum_assignment(distance)[1]]
    return ordered if np.any(ordered.imag) else ordered.real.copy()


def _log2(values: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log2(np.abs(values)))


def _products_without_one(logs: Array) -> Array:
    """Row by row, the log of the product without the i-th factor."""
    zero = np.isneginf(logs)
    finite = np.where(zero, 0.0, logs)
    remaining = zero.sum(axis=1, keepdims=True) - zero
    return np.where(remaining == 0, finite.sum(axis=1, keepdims=True) - finite, -np.inf)


def _log2_sum(logs: Array) -> Array:
    top = np.max(logs, axis=1, keepdims=True)
    safe = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log2(np.sum(np.exp2(logs - safe), axis=1)) + safe[:, 0])
