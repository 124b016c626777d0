"""Pole-placement gains by their closed form, in double-double numbers with explicit exponents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.doubledouble import (
    ComplexDD,
    binary_exponent,
    multiply,
    normalised,
    two_sum,
)

Array = NDArray[Any]
Real = tuple[Array, Array]

_ROUNDING = 2.0**-53


@dataclass(frozen=True, eq=False)
class LambdaGroups:
    """The distinct λ of a population with one input, and how often each is beyond its reach.

    Attributes
    ----------
    values : (n,)
        Distinct λ, ascending.
    group : (N,) int
        Which value each member has.
    live : (n,) bool
        Whether some member of that λ has a gain other than zero.
    kept : (n,) int
        How many copies of λ stay closed-loop poles whatever the feedback.
    """

    values: Array
    group: Array
    live: Array
    kept: Array


def lambda_groups(lam: Array, b: Array) -> LambdaGroups:
    """Group members by λ, exactly: n equal λ with one input keep n − 1 poles, n if all b are 0."""
    values, group, counts = np.unique(lam, return_inverse=True, return_counts=True)
    live = np.zeros(values.size, dtype=bool)
    live[group[b != 0]] = True
    return LambdaGroups(values, group, live, counts - live)


def closed_under_conjugation(values: Array) -> bool:
    """Whether the numbers are, as a multiset, their own conjugates, exactly."""
    return Counter(values.tolist()) == Counter(np.conj(values).tolist())


def placement_residues(lam: Array, poles: Array) -> tuple[Array, Array]:
    """r_i = Π_j(λ_i − μ_j)/Π_{j≠i}(λ_i − λ_j) = m_i 2^{e_i}, relative error ≤ 12·2^-53 (real 4).

    Differences of doubles are exact as pairs of doubles, their products carry 2^-100, and the
    exponents are kept apart, so nothing cancels, overflows or underflows.

    Parameters
    ----------
    lam : (n,)
        Distinct λ.
    poles : (n,)
        Poles μ.

    Returns
    -------
    mantissa : (n,)
        m, real where λ is real and the poles are closed under conjugation.
    exponent : (n,) int64
        e.
    """
    if np.isrealobj(lam) and np.isrealobj(poles):
        return _residues(_difference, _real_product, lam, poles)
    mantissa, exponent = _residues(
        _complex_difference, lambda a, b: a * b, lam.astype(complex), poles.astype(complex)
    )
    if closed_under_conjugation(poles) and closed_under_conjugation(lam):
        mantissa = _symmetric(mantissa, lam)
    return mantissa, exponent


def member_gains(
    groups: LambdaGroups, b: Array, mantissa: Array, exponent: Array
) -> tuple[Array, float]:
    """Gains k with Σ_{λ_i = λ_g} b_i k_i = r_g and least norm, and a bound of their relative error.

    k_i = r_g conj(b_i)/Σ|b|² over the members of the group, r/b for a member of its own.
    """
    size = b.size
    reach = np.cumsum(groups.live) - 1
    gains = np.zeros(size, dtype=np.result_type(b, mantissa))
    live = np.flatnonzero(b != 0)
    index = reach[groups.group[live]]
    scaled, b_exponent = normalised(b[live])
    # A group shares one exponent, so that squares of gains neither overflow nor vanish.
    shared = np.full(groups.values.size, np.iinfo(np.int64).min)
    np.maximum.at(shared, groups.group[live], b_exponent)
    shared_exponent = shared[groups.group[live]]
    relative = _shifted(scaled, b_exponent - shared_exponent)
    power = np.zeros(groups.values.size)
    np.add.at(power, groups.group[live], np.abs(relative) ** 2)
    alone = np.bincount(groups.group[live], minlength=groups.values.size)[groups.group[live]] == 1
    with np.errstate(over="ignore", under="ignore"):
        weight = np.conj(relative) / power[groups.group[live]]
        weight[alone] = 1.0 / relative[alone]
        gains[live] = _shifted(mantissa[index] * weight, exponent[index] - shared_exponent)
    real = np.isrealobj(gains)
    largest = int(np.max(groups.kept)) + 1
    return gains, ((6 if real else 18) + (largest + 3 if largest > 1 else 0)) * _ROUNDING


def _residues(difference: Any, product: Any, lam: Array, poles: Array) -> tuple[Array, Array]:
    over, over_exponent = _products(difference, product, lam, poles, np.zeros((), dtype=bool))
    own = np.eye(lam.size, dtype=bool)
    under, under_exponent = _products(difference, product, lam, lam, own)
    over_hi, over_lo = _halves(over)
    under_hi, under_lo = _halves(under)
    zero = over_hi == 0
    safe = np.where(zero, 1.0, over_hi)
    correction = np.where(zero, 0.0, over_lo / safe) - under_lo / under_hi
    quotient = np.where(zero, 0.0, (over_hi / under_hi) * (1.0 + correction))
    mantissa, shift = normalised(quotient)
    return mantissa, over_exponent - under_exponent + shift


def _products(
    difference: Any, product: Any, lam: Array, points: Array, left_out: Array
) -> tuple[Any, Array]:
    """Π_j (λ_i − points_j) over the factors not left out: mantissas and exponents."""
    skip = np.broadcast_to(left_out, (lam.size, points.size))
    result, exponent = difference(np.ones_like(lam), 0.0), np.zeros(lam.size, dtype=np.int64)
    for j, point in enumerate(points):
        factor = difference(np.where(skip[:, j], point + 1.0, lam), point)
        factor = _one_where(skip[:, j], factor)
        result = product(result, factor)
        shift = binary_exponent(_halves(result)[0])
        result = _scaled(result, -shift)
        exponent = exponent + shift
    return result, exponent


def _difference(a: Array, b: Any) -> Real:
    return two_sum(a, -np.asarray(b, dtype=float))


def _complex_difference(a: Array, b: Any) -> ComplexDD:
    other = np.asarray(b, dtype=complex)
    return ComplexDD(two_sum(a.real, -other.real), two_sum(a.imag, -other.imag))


def _real_product(a: Real, b: Real) -> Real:
    return multiply(a, b)


def _halves(value: Any) -> tuple[Array, Array]:
    return (value.hi, value.lo) if isinstance(value, ComplexDD) else value


def _scaled(value: Any, exponent: Array) -> Any:
    if isinstance(value, ComplexDD):
        return value.scaled(exponent)
    return np.ldexp(value[0], exponent), np.ldexp(value[1], exponent)


def _one_where(mask: Array, value: Any) -> Any:
    if isinstance(value, ComplexDD):
        return ComplexDD.from_complex(np.ones(mask.shape)).where(mask, value)
    return np.where(mask, 1.0, value[0]), np.where(mask, 0.0, value[1])


def _shifted(values: Array, exponent: Array) -> Array:
    shift = np.clip(exponent, -(2**20), 2**20).astype(np.int32)
    if np.iscomplexobj(values):
        return np.asarray(np.ldexp(values.real, shift) + 1j * np.ldexp(values.imag, shift))
    return np.asarray(np.ldexp(values, shift))


def _symmetric(mantissa: Array, lam: Array) -> Array:
    """Make residues of conjugate λ exact conjugates: rounding is all that keeps them apart."""
    place = {value: k for k, value in enumerate(lam.tolist())}
    partner = np.array([place[value.conjugate()] for value in lam.tolist()])
    upper = np.where(np.imag(lam) >= 0, mantissa, np.conj(mantissa[partner]))
    symmetric = np.where(np.imag(lam) == 0, upper.real, upper)
    return symmetric if np.any(symmetric.imag) else symmetric.real.copy()
