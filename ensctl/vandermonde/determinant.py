"""The determinant of diag(b)·Vandermonde by its product formula, for any magnitude."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_vector
from ensctl.vandermonde.doubledouble import ComplexDD, binary_exponent, multiply, two_sum

Array = NDArray[Any]
Pair = tuple[Array, Array]

_LN2 = math.log(2.0)
_LOG10_2 = math.log10(2.0)
# Differences of nodes beyond this size could overflow; they are formed from quarters.
_LARGE = 2.0**1000


@dataclass(frozen=True)
class LogDeterminant:
    """A determinant as logarithm and phase, and once more without the rounding of a logarithm.

    Attributes
    ----------
    log_abs : float
        log|det| (natural logarithm), within 2 ulp; −inf for a singular matrix.
    phase : float or complex
        det/|det|: ±1.0 for real data, a unit complex number otherwise; 0 for a singular matrix.
    mantissa, exponent : float, int
        |det| = mantissa · 2^exponent with 1/2 ≤ mantissa < 1 (0 and 0 for a singular matrix).
        A logarithm near −1e6 cannot hold more than ten digits of det; these hold all of them.
    """

    log_abs: float
    phase: float | complex
    mantissa: float
    exponent: int

    @property
    def log10_abs(self) -> float:
        """log10|det|; −inf for a singular matrix."""
        if self.mantissa == 0.0:
            return -math.inf
        return math.log10(self.mantissa) + self.exponent * _LOG10_2

    @property
    def value(self) -> float | complex:
        """det as a float64 or complex128: 0 or ±inf (times the phase) outside that range."""
        size = math.inf if self.exponent > 1024 else math.ldexp(self.mantissa, self.exponent)
        if size == math.inf and isinstance(self.phase, complex):
            # inf·0 is NaN: a vanishing part of the phase stays zero.
            parts = [part * size if part else 0.0 for part in (self.phase.real, self.phase.imag)]
            return complex(*parts)
        return self.phase * size


def log_determinant(lam: ArrayLike, b: ArrayLike = 1.0) -> LogDeterminant:
    """Determinant of the N × N matrix A_ij = b_i λ_i^j, j = 0 … N−1.

    det A = Π_i b_i · Π_{i<j} (λ_j − λ_i), always by the product: the matrix is never formed.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes, real or complex, taken as exact.
    b : scalar or (N,) array_like, default 1
        Row scalings, real or complex, taken as exact.

    Returns
    -------
    LogDeterminant
        Equal nodes or a zero b_i give log_abs = −inf and phase = 0.

    Raises
    ------
    InvalidInputError
        ``lam`` or ``b`` is not a finite vector, or their sizes differ.

    Notes
    -----
    Differences are exact (two float64) and products are kept in double-double mantissas with
    integer exponents, so mantissa · 2^exponent · phase has a relative error below
    2ε + N²·2^-100: full float64 accuracy for every N that fits in memory, without overflow.
    ``log_abs`` is that value's logarithm and is right to 2 ulp.  N vectorised steps, O(N²)
    operations, O(N) memory.

    Source: the classical product formula of A.-L. Cauchy and A.-T. Vandermonde.

    Examples
    --------
    >>> from ensctl.vandermonde.determinant import log_determinant
    >>> det = log_determinant([0.25, 0.5, 0.75])
    >>> det.value, det.phase
    (0.03125, 1.0)
    >>> log_determinant([0.5, 0.25, 0.75]).value
    -0.03125
    >>> log_determinant([0.3, 0.3, 0.9]).log_abs
    -inf
    """
    nodes = as_vector(lam, "lam")
    gains = as_vector(b, "b", size=nodes.size)
    if np.any(gains == 0) or np.unique(nodes + 0.0).size < nodes.size:
        return LogDeterminant(-math.inf, 0.0, 0.0, 0)
    if np.iscomplexobj(nodes) or np.iscomplexobj(gains):
        return _complex_determinant(nodes.astype(complex), gains.astype(complex))
    return _real_determinant(nodes, gains)


def _real_determinant(nodes: Array, gains: Array) -> LogDeterminant:
    product, exponent = _normalised_pair((gains, np.zeros_like(gains)))
    for offset in range(1, nodes.size):
        difference, extra = _difference(nodes[offset:], nodes[:-offset])
        factor, shift = _normalised_pair(difference)
        count = nodes.size - offset
        head = (product[0][:count], product[1][:count])
        head, carry = _normalised_pair(multiply(head, factor))
        product[0][:count], product[1][:count] = head
        exponent[:count] += shift + extra + carry
    total = int(np.sum(exponent))
    while product[0].size > 1:
        half = product[0].size // 2
        rest = (product[0][2 * half :], product[1][2 * half :])
        left = (product[0][:half], product[1][:half])
        right = (product[0][half : 2 * half], product[1][half : 2 * half])
        pair, carry = _normalised_pair(multiply(left, right))
        total += int(np.sum(carry))
        product = (np.concatenate([pair[0], rest[0]]), np.concatenate([pair[1], rest[1]]))
    value = float(product[0][0] + product[1][0])
    return _assemble(abs(value), math.copysign(1.0, value), total)


def _complex_determinant(nodes: Array, gains: Array) -> LogDeterminant:
    product, exponent = _normalised_complex(ComplexDD.from_complex(gains))
    for offset in range(1, nodes.size):
        real, extra = _difference(nodes.real[offset:], nodes.real[:-offset])
        imag, extra_imag = _difference(nodes.imag[offset:], nodes.imag[:-offset])
        # One exponent serves both parts: quarters for one mean quarters for the other.
        common = np.maximum(extra, extra_imag)
        real = (np.ldexp(real[0], extra - common), np.ldexp(real[1], extra - common))
        imag = (np.ldexp(imag[0], extra_imag - common), np.ldexp(imag[1], extra_imag - common))
        factor, shift = _normalised_complex(ComplexDD(real, imag))
        count = nodes.size - offset
        head, carry = _normalised_complex(_part(product, slice(count)) * factor)
        product = _joined(head, _part(product, slice(count, None)))
        exponent[:count] += shift + common + carry
    total = int(np.sum(exponent))
    while product.re[0].size > 1:
        half = product.re[0].size // 2
        left, right = _part(product, slice(half)), _part(product, slice(half, 2 * half))
        pair, carry = _normalised_complex(left * right)
        total += int(np.sum(carry))
        product = _joined(pair, _part(product, slice(2 * half, None)))
    real_part = float(product.re[0][0] + product.re[1][0])
    imag_part = float(product.im[0][0] + product.im[1][0])
    size = math.hypot(real_part, imag_part)
    return _assemble(size, complex(real_part / size, imag_part / size), total)


def _assemble(size: float, phase: float | complex, exponent: int) -> LogDeterminant:
    mantissa, shift = math.frexp(size)
    exponent += shift
    return LogDeterminant(math.log(mantissa) + exponent * _LN2, phase, mantissa, exponent)


def _difference(x: Array, y: Array) -> tuple[Pair, Array]:
    """x − y = (hi + lo)·2^extra, exact unless a node beyond 2^1000 forces quarters."""
    extra = np.where(np.maximum(np.abs(x), np.abs(y)) > _LARGE, 2, 0).astype(np.int64)
    return two_sum(np.ldexp(x, -extra), np.ldexp(-y, -extra)), extra


def _normalised_pair(pair: Pair) -> tuple[Pair, Array]:
    shift = binary_exponent(pair[0])
    return (np.ldexp(pair[0], -shift), np.ldexp(pair[1], -shift)), shift


def _normalised_complex(z: ComplexDD) -> tuple[ComplexDD, Array]:
    shift = binary_exponent(z.hi)
    return z.scaled(-shift), shift


def _part(z: ComplexDD, where: slice) -> ComplexDD:
    return ComplexDD((z.re[0][where], z.re[1][where]), (z.im[0][where], z.im[1][where]))


def _joined(first: ComplexDD, second: ComplexDD) -> ComplexDD:
    return ComplexDD(
        (np.concatenate([first.re[0], second.re[0]]), np.concatenate([first.re[1], second.re[1]])),
        (np.concatenate([first.im[0], second.im[0]]), np.concatenate([first.im[1], second.im[1]])),
    )
