"""Double-double arithmetic on arrays: 106-bit powers and sums from pairs of float64.

A real number is an unevaluated sum hi + lo with |lo| ≤ ulp(hi)/2.  The building blocks are the
error-free transformations of Knuth (sum) and Dekker–Veltkamp (product); see Hida, Li and Bailey,
"Algorithms for quad-double precision floating point arithmetic", ARITH-15 (2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_SPLITTER = float(2**27 + 1)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return (s, e) with s = fl(a + b) and s + e = a + b exactly."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return (p, e) with p = fl(a b) and p + e = a b exactly (|a|, |b| < 2^995, no underflow)."""
    p = a * b
    a_hi, a_lo = _split(a)
    b_hi, b_lo = _split(b)
    return p, ((a_hi * b_hi - p) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo


def add(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    """Sum of two double-doubles, absolute error ≤ 2^-104 (|a| + |b|)."""
    s, e = two_sum(a[0], b[0])
    t, f = two_sum(a[1], b[1])
    s, e = _quick_two_sum(s, e + t)
    return _quick_two_sum(s, e + f)


def multiply(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    """Product of two double-doubles, relative error ≤ 2^-102."""
    p, e = two_product(a[0], b[0])
    return _quick_two_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


@dataclass(frozen=True)
class ComplexDD:
    """Complex numbers whose real and imaginary parts are double-doubles (arrays of one shape)."""

    re: tuple[Array, Array]
    im: tuple[Array, Array]

    @classmethod
    def from_complex(cls, hi: Array, lo: Array | float = 0.0) -> ComplexDD:
        """Take hi + lo, two complex128 arrays with |lo| ≪ |hi|, as they are."""
        hi = np.asarray(hi, dtype=complex)
        lo = np.broadcast_to(np.asarray(lo, dtype=complex), hi.shape)
        return cls((hi.real.copy(), lo.real.copy()), (hi.imag.copy(), lo.imag.copy()))

    @property
    def hi(self) -> Array:
        """The leading complex128 part (correctly rounded up to one unit in the last place)."""
        return np.asarray(self.re[0] + 1j * self.im[0])

    @property
    def lo(self) -> Array:
        """The trailing complex128 part."""
        return np.asarray(self.re[1] + 1j * self.im[1])

    def __mul__(self, other: ComplexDD) -> ComplexDD:
        minus_im = (-self.im[0], -self.im[1])
        return ComplexDD(
            add(multiply(self.re, other.re), multiply(minus_im, other.im)),
            add(multiply(self.re, other.im), multiply(self.im, other.re)),
        )

    def __add__(self, other: ComplexDD) -> ComplexDD:
        return ComplexDD(add(self.re, other.re), add(self.im, other.im))

    def scaled(self, exponent: Array) -> ComplexDD:
        """Multiply by 2**exponent (exact unless the result leaves the float64 range)."""
        return ComplexDD(
            (np.ldexp(self.re[0], exponent), np.ldexp(self.re[1], exponent)),
            (np.ldexp(self.im[0], exponent), np.ldexp(self.im[1], exponent)),
        )

    def where(self, mask: Array, other: ComplexDD) -> ComplexDD:
        """Take self where ``mask`` holds and ``other`` elsewhere."""
        return ComplexDD(
            (np.where(mask, self.re[0], other.re[0]), np.where(mask, self.re[1], other.re[1])),
            (np.where(mask, self.im[0], other.im[0]), np.where(mask, self.im[1], other.im[1])),
        )


def binary_exponent(z: Array) -> Array:
    """Exponent e with 1/2 ≤ max(|Re z|, |Im z|) 2^-e < 1 (0 where z = 0), as int64."""
    z = np.asarray(z)
    size = np.maximum(np.abs(z.real), np.abs(z.imag)) if np.iscomplexobj(z) else np.abs(z)
    return np.frexp(size)[1].astype(np.int64)


def normalised(z: Array) -> tuple[Array, Array]:
    """Split z = m 2^e with max(|Re m|, |Im m|) in [1/2, 1), or m = 0 (exact, subnormals too)."""
    exponent = binary_exponent(z)
    if np.iscomplexobj(z):
        # Two steps, because 2^-e overflows on its own for subnormal z.
        mantissa = np.ldexp(z.real, -exponent) + 1j * np.ldexp(z.imag, -exponent)
    else:
        mantissa = np.ldexp(z, -exponent)
    return mantissa, exponent


def power(z: Array, exponent: int) -> tuple[ComplexDD, Array]:
    """Return z**exponent = m 2^e with a double-double mantissa m, for any magnitude.

    Parameters
    ----------
    z : (N,) float64 or complex128
        Bases, taken as exact.
    exponent : int
        Exponent ≥ 0.

    Returns
    -------
    m : ComplexDD
        Mantissas with max(|Re|, |Im|) in [1/4, 1), or 0.
    e : (N,) int64
        Binary exponents.

    Notes
    -----
    Binary powering: relative error ≤ about 2^-101 · exponent; log2(exponent) array steps.
    """
    base_hi, base_exponent = normalised(np.asarray(z, dtype=complex))
    base = ComplexDD.from_complex(base_hi)
    result = ComplexDD.from_complex(np.ones_like(base_hi))
    result_exponent = np.zeros(base_hi.shape, dtype=np.int64)
    remaining = exponent
    while remaining:
        if remaining & 1:
            result, shift = _renormalised(result * base)
            result_exponent = result_exponent + base_exponent + shift
        remaining >>= 1
        if remaining:
            base, shift = _renormalised(base * base)
            base_exponent = 2 * base_exponent + shift
    return result, result_exponent


def _renormalised(z: ComplexDD) -> tuple[ComplexDD, Array]:
    shift = binary_exponent(z.hi)
    return z.scaled(-shift), shift


def _split(a: Array) -> tuple[Array, Array]:
    t = _SPLITTER * a
    hi = t - (t - a)
    return hi, a - hi


def _quick_two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    s = a + b
    return s, b - (s - a)
