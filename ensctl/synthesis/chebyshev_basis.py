"""Polynomials in Chebyshev form on an interval, and exact ways to and from powers of λ.

p(λ) = Σ c_k T_k(t), λ = m + h t.  Powers are what an input is made of (u_{H−1−k} is the
coefficient of λ^k); Chebyshev coefficients are what float64 can evaluate: those of powers may be
(1+√2)^n times larger and cancel.  Conversions are done in rational arithmetic, since m, h and
float64 coefficients are rationals, and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Exact = list[Fraction]


def clenshaw(coefficients: Array, t: Array) -> Array:
    """Σ c_k T_k(t)."""
    from numpy.polynomial.chebyshev import chebval

    return np.asarray(chebval(np.asarray(t), np.asarray(coefficients)))


def clenshaw_rounding(coefficients: Array) -> float:
    """What rounding may add to Σ c_k T_k(t) in float64, |t| ≤ 1, over all orders of summation.

    Clenshaw's recurrence errs by at most 4(n+1)² ε Σ|c_k| (Smoktunowicz, BIT 42 (2002) 600–610,
    gives O(n²) in the worst case; at |t| < 1 it is O(n)).
    """
    n = len(coefficients)
    return 4.0 * (n + 1) ** 2 * 2.0**-53 * float(np.abs(coefficients).sum())


def from_powers(powers: Sequence[Fraction], centre: Fraction, half: Fraction) -> Exact:
    """Chebyshev coefficients of Σ a_k λ^k on centre ± half, exactly."""
    # Integers over one common denominator: a Fraction would look for common factors every time.
    common = math.lcm(*(Fraction(a).denominator for a in powers))
    grain = math.lcm(centre.denominator, half.denominator)
    middle, reach = 2 * int(centre * grain), int(half * grain)
    c, unit = [0], 1
    for a in reversed(powers):
        out = [middle * value for value in c] + [0]
        for k, value in enumerate(c):
            out[k + 1] += reach * value * (2 if k == 0 else 1)
            if k > 0:
                out[k - 1] += reach * value
        unit *= 2 * grain
        c = out
        c[0] += int(a * common) * unit
    return [Fraction(value, common * unit) for value in c[: max(1, len(powers))]]


def times_lam(c: Exact, centre: Fraction, half: Fraction) -> Exact:
    """Chebyshev coefficients of λ p(λ): t T_k = (T_{k+1} + T_{k−1})/2."""
    out = [centre * value for value in c] + [Fraction(0)]
    for k, value in enumerate(c):
        if k == 0:
            out[1] += half * value
        else:
            out[k + 1] += half * value / 2
            out[k - 1] += half * value / 2
    return out


def to_exact_powers(coefficients: Array, centre: float, half: float) -> Exact:
    """Coefficients of powers of λ from Chebyshev ones, exactly."""
    c = [Fraction(float(value)) for value in coefficients]
    m, h = Fraction(centre), Fraction(half)
    # T_k(t) in powers of t has integer coefficients; t = (λ − m)/h comes last.
    in_t = [Fraction(0)] * len(c)
    before, current = [1], [0, 1]
    for k, value in enumerate(c):
        table = before if k == 0 else current
        for power, weight in enumerate(table):
            if weight:
                in_t[power] += weight * value
        if k >= 1:
            following = [0, *(2 * weight for weight in current)]
            for power, weight in enumerate(before):
                following[power] -= weight
            before, current = current, following
    out: Exact = [Fraction(0)]
    for value in reversed(in_t):
        # out ← out·(λ − m)/h + value
        shifted = [Fraction(0), *(x / h for x in out)]
        for power, x in enumerate(out):
            shifted[power] -= m * x / h
        shifted[0] += value
        out = shifted
    return out[: len(c)]


def exact_floats(values: Array) -> Exact:
    """float64 numbers as rationals."""
    return [Fraction(float(value)) for value in values]


def nearest_floats(values: Exact) -> Array:
    """Rationals as float64; infinite where they pass its range."""
    out = np.empty(len(values))
    for k, value in enumerate(values):
        try:
            out[k] = float(value)
        except OverflowError:
            out[k] = math.inf if value > 0 else -math.inf
    return out
