"""Finite and infinite horizon Gramians, entry by entry from their closed form.

W_ij = β_ij S_ij with β_ij = Σ_c b_ic conj(b_jc) and S_ij = Σ_{k<H} q^k = (1 − q^H)/(1 − q),
q = λ_i conj(λ_j).  λ^H, q and 1 − q are formed in double-double, so nothing is lost near q = 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.unit_circle import on_or_outside_unit_circle
from ensctl.arguments import as_horizon, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.vandermonde.doubledouble import ComplexDD, normalised, power

Array = NDArray[Any]

# Pairs (i, j) handled at once: bounds the memory of the double-double temporaries.
_PAIRS = 1 << 15
# Above this |λ|² no longer fits; gains are carried with exponents and have no such limit.
_LARGEST_LAM = 2.0**490
# Entries whose double-double error bound is above this are recomputed with more digits.
_TRUSTED = 8e-14
# Beyond 2^110 the 1 in 1 − q^H is invisible to 106 bits.
_NEGLIGIBLE_BITS = 110


def gramian(
    ens: Ensemble,
    horizon: int | float | None = None,
    *,
    kind: Literal["reachability", "observability"] = "reachability",
) -> Array:
    """The H-step Gramian, W_ij = Σ_c b_ic conj(b_jc) (1 − q^H)/(1 − q) with q = λ_i conj(λ_j).

    Parameters
    ----------
    ens : Ensemble
        The population.
    horizon : int or math.inf, optional
        Number of steps H ≥ 1, or math.inf when all |λ| < 1; None means N.  Finite horizons allow
        |λ| ≥ 1.
    kind : {"reachability", "observability"}
        W = Σ_{k<H} Λ^k B B* Λ*^k, or W = Σ_{k<H} Λ*^k C* C Λ^k.

    Returns
    -------
    (N, N) float64 or complex128, read-only
        Exactly Hermitian.  Units of (state/input)² or (output/state)².

    Raises
    ------
    InvalidInputError
        A wrong horizon or kind, or an infinite horizon with |λ| ≥ 1.
    PrecisionError
        An entry exceeds the float64 range.

    Notes
    -----
    Each entry is within 1e-13 relative of its true value unless it underflows; for several channels
    relative to |B_i||B_j||S_ij| 2^-100 besides, which matters only for orthogonal gain rows.
    O(N² (m + 1)) double-double operations.  The entries are accurate; a factorisation of W in
    float64 still squares the condition number, so use ``conditioning`` for singular values.

    Examples
    --------
    >>> import math
    >>> import ensctl as ec
    >>> ec.gramian(ec.Ensemble([0.5, 1.0]), 2)
    array([[1.25, 1.5 ],
           [1.5 , 2.  ]])
    >>> ec.gramian(ec.Ensemble([0.5, -0.5]), math.inf)
    array([[1.33333333, 0.8       ],
           [0.8       , 1.33333333]])
    """
    require_ensemble(ens)
    steps = ens.size if horizon is None else as_horizon(horizon, infinite=True)
    if kind == "reachability":
        lam, rows = ens.lam, ens.gains
    elif kind == "observability":
        lam, rows = np.conj(ens.lam), np.conj(ens.output_weights.T)
    else:
        raise InvalidInputError(f"kind must be 'reachability' or 'observability', got {kind!r}")
    _check_lam(ens, steps)
    real = not (np.iscomplexobj(lam) or np.iscomplexobj(rows))
    result = np.zeros((ens.size, ens.size), dtype=float if real else complex)
    powers = None if steps == math.inf else power(lam, int(steps))
    scaled, shift = _normalised_rows(rows)
    for i, j in _upper_pairs(ens.size):
        sums, exponent = _geometric_sums(lam, powers, steps, i, j)
        weights = _weights(scaled, i, j)
        entries = _scaled(sums * weights, exponent + shift[i] + shift[j])
        result[i, j] = entries.real if real else entries
    if not np.all(np.isfinite(result)):
        raise PrecisionError(
            f"the Gramian has entries beyond the float64 range (1.8e308) at horizon {steps}; "
            f"shorten the horizon, or use ensctl.conditioning, which carries exponents"
        )
    return read_only(_hermitian(result))


def _check_lam(ens: Ensemble, steps: int | float) -> None:
    if steps == math.inf:
        outside = np.flatnonzero(on_or_outside_unit_circle(ens.lam))
        if outside.size:
            first = int(outside[0])
            raise InvalidInputError(
                f"horizon must be finite here: {ens.label(first)} has |λ| = "
                f"{abs(ens.lam[first]):.6g} ≥ 1; give a number of steps"
            )
    huge = np.flatnonzero(np.abs(ens.lam) >= _LARGEST_LAM)
    if huge.size:
        first = int(huge[0])
        raise PrecisionError(
            f"{ens.label(first)} has |λ| = {abs(ens.lam[first]):.3g}, beyond 2^490: |λ|² leaves "
            f"the float64 range; rescale time or drop this member"
        )


def _upper_pairs(size: int) -> Iterator[tuple[Array, Array]]:
    """Index pairs i ≤ j in batches of bounded size."""
    rows_at_once = max(1, _PAIRS // size)
    for start in range(0, size, rows_at_once):
        i, j = np.triu_indices(min(rows_at_once, size - start), k=0, m=size - start)
        yield i + start, j + start


def _geometric_sums(
    lam: Array, powers: tuple[ComplexDD, Array] | None, steps: int | float, i: Array, j: Array
) -> tuple[Array, Array]:
    """S_ij as mantissa and binary exponent, to 9e-14 relative (typically 3e-16).

    ``powers`` is λ^H, None for an infinite horizon.
    """
    nodes = ComplexDD.from_complex(lam)
    ratio = _pick(nodes, i) * _conjugate(_pick(nodes, j))
    gap = _one_minus(ratio)
    size_of_gap = np.abs(gap.hi)
    bound = _quotient(2.0**-102 * np.maximum(1.0, np.abs(ratio.hi)), size_of_gap)
    if powers is None:
        numerator, exponent = np.ones(i.size, dtype=complex), np.zeros(i.size, dtype=np.int64)
    else:
        numerator, exponent, error = _one_minus_power(powers, int(steps), i, j)
        bound = bound + error
    doubtful = ~(bound <= _TRUSTED)
    sums = np.divide(numerator, gap.hi, out=np.zeros_like(numerator), where=~doubtful)
    close = doubtful & (size_of_gap * steps < 0.5)
    if np.any(close):
        sums[close] = _sum_by_doubling(ratio, close, int(steps))
    for k in np.flatnonzero(doubtful & ~close):
        sums[k] = _sum_with_more_digits(lam[i[k]], lam[j[k]], steps)
    return sums, np.where(doubtful, 0, exponent)


def _one_minus_power(
    powers: tuple[ComplexDD, Array], steps: int, i: Array, j: Array
) -> tuple[Array, Array, Array]:
    """1 − q^H as mantissa and binary exponent, with a bound of its relative error."""
    mantissa, shift = powers
    end = _pick(mantissa, i) * _conjugate(_pick(mantissa, j))
    exponent = shift[i] + shift[j]
    invisible = exponent > _NEGLIGIBLE_BITS
    within = np.clip(exponent, -1000, _NEGLIGIBLE_BITS)
    difference = _one_minus(end.scaled(within)).hi
    relative = _quotient(np.abs(_ldexp(end.hi, within)), np.abs(difference))
    return (
        np.where(invisible, -end.hi, difference),
        np.where(invisible, exponent, 0),
        steps * 2.0**-100 * np.where(invisible, 1.0, relative),
    )


def _sum_by_doubling(ratio: ComplexDD, where: Array, steps: int) -> Array:
    """Σ_{k<H} q^k by S_2k = S_k (1 + q^k), S_{k+1} = 1 + q S_k; no cancellation for H|1−q| < 1."""
    base = _pick(ratio, where)
    one = ComplexDD.from_complex(np.ones(base.re[0].size))
    total, reached = one, base
    for bit in bin(steps)[3:]:
        total = total * (one + reached)
        reached = reached * reached
        if bit == "1":
            total = one + base * total
            reached = reached * base
    return total.hi


def _sum_with_more_digits(a: complex, b: complex, steps: int | float) -> complex:
    """Σ_{k<H} (a conj(b))^k from the exact rational q, with as many digits as it takes."""
    import mpmath

    a, b = complex(a), complex(b)
    re = Fraction(a.real) * Fraction(b.real) + Fraction(a.imag) * Fraction(b.imag)
    im = Fraction(a.imag) * Fraction(b.real) - Fraction(a.real) * Fraction(b.imag)
    if re == 1 and im == 0:
        return complex(steps)
    if im * re == 0 and abs(re + im) == 1:
        # The other roots of unity among Gaussian rationals: −1, i and −i.
        q = complex(re, im)
        return complex(sum(q**k for k in range(int(steps) % 4)))
    bits = 256
    while True:
        with mpmath.workprec(bits):
            q = mpmath.mpc(
                mpmath.mpf(re.numerator) / re.denominator, mpmath.mpf(im.numerator) / im.denominator
            )
            end = 0 if steps == math.inf else q ** int(steps)
            smallest = min(abs(1 - q), abs(1 - end))
            if smallest > mpmath.ldexp(max(1, abs(end)) * min(steps, 2**60), 80 - bits):
                return complex((1 - end) / (1 - q))
        bits *= 2


def _normalised_rows(rows: Array) -> tuple[Array, Array]:
    """Rows divided by a power of two each, so that products neither overflow nor underflow."""
    mantissa, exponent = normalised(rows)
    exponent = np.where(rows == 0, -5000, exponent)
    largest = np.max(exponent, axis=1)
    # A row of zeros keeps exponent 0: its products are 0 anyway.
    largest = np.where(largest == -5000, 0, largest)
    return _ldexp(mantissa, np.maximum(exponent - largest[:, None], -2000)), largest


def _weights(rows: Array, i: Array, j: Array) -> Array:
    """Σ_c b_ic conj(b_jc), accumulated in double-double."""
    total = ComplexDD.from_complex(np.zeros(i.size))
    for channel in range(rows.shape[1]):
        column = ComplexDD.from_complex(rows[:, channel])
        total = total + _pick(column, i) * _conjugate(_pick(column, j))
    return total.hi


def _hermitian(upper: Array) -> Array:
    """Copy the upper triangle below the diagonal, conjugated; the diagonal becomes real."""
    i, j = np.triu_indices(upper.shape[0], k=1)
    upper[j, i] = np.conj(upper[i, j])
    if np.iscomplexobj(upper):
        np.fill_diagonal(upper, upper.diagonal().real)
    return upper


def _quotient(a: Array, b: Array) -> Array:
    """a/b, inf where b = 0."""
    return np.divide(a, b, out=np.full(a.shape, np.inf), where=b != 0)


def _one_minus(z: ComplexDD) -> ComplexDD:
    one = ComplexDD.from_complex(np.ones(z.re[0].shape))
    return one + ComplexDD((-z.re[0], -z.re[1]), (-z.im[0], -z.im[1]))


def _conjugate(z: ComplexDD) -> ComplexDD:
    return ComplexDD(z.re, (-z.im[0], -z.im[1]))


def _pick(z: ComplexDD, index: Array) -> ComplexDD:
    return ComplexDD((z.re[0][index], z.re[1][index]), (z.im[0][index], z.im[1][index]))


def _scaled(values: Array, exponent: Array) -> Array:
    return _ldexp(values, np.clip(exponent, -5000, 5000))


def _ldexp(values: Array, exponent: Array) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        if not np.iscomplexobj(values):
            return np.ldexp(values, exponent)
        result = np.empty(np.broadcast_shapes(values.shape, exponent.shape), dtype=complex)
        result.real = np.ldexp(values.real, exponent)
        result.imag = np.ldexp(values.imag, exponent)
        return result
