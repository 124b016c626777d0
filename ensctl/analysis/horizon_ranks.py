"""Rank of the H-step matrix [B ΛB … Λ^{H−1}B] for every H at once, by arithmetic modulo primes.

Dyadic rationals map into the field of p elements for odd p, and Gaussian ones too when p ≡ 1 mod 4
(i becomes a square root of −1).  A rank modulo p never exceeds the true rank, so a rank that meets
its upper bound min(rank, m H) is proved by one prime.  Otherwise random primes are added until the
probability that all of them missed a dimension is below 2^-100.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Products of residues are reduced with a float64 quotient, which needs p < 2^50.
_PRIME_BITS = 50
# There are more than 2^42 primes ≡ 1 mod 4 between 2^49 and 2^50.
_LOG2_PRIMES = 42.0
_SEED = 20_240_229
_FAILURE_BITS = 100.0


def horizon_ranks(lam: Array, gains: Array, rank: int) -> Array:
    """Exact rank of the H-step matrix for H = 0 … N.

    Parameters
    ----------
    lam : (N,)
        Eigenvalues, exact doubles.
    gains : (N, m)
        Gain rows.
    rank : int
        The rank for a long horizon, from :func:`~ensctl.analysis.groups.group_structure`.

    Returns
    -------
    (N + 1,) int
        ``ranks[H]``; constant from H = N on.

    Notes
    -----
    The polynomial rows p with Σ_c p_c(λ_i) b_ic = 0 for all i form a module; the degrees δ of a
    row-reduced basis are the controllability indices, and rank(H) = Σ_c min(H, δ_c).  The basis is
    built one point at a time (Beckermann and Labahn, SIAM J. Matrix Anal. Appl. 15 (1994)
    804–823), keeping only its values at the points to come: O(m² N²) operations for each prime.
    """
    size, channels = gains.shape
    horizons = np.arange(size + 1)
    limit = np.minimum(rank, channels * horizons)
    if channels == 1:
        return limit
    best = np.zeros(size + 1, dtype=int)
    generator = random.Random(_SEED)
    for _ in range(_primes_needed(lam, gains)):
        degrees = _indices_modulo(lam, gains, _random_prime(generator))
        best = np.maximum(best, np.minimum.outer(horizons, degrees).sum(axis=1))
        if np.array_equal(best, limit):
            break
    return best


def _indices_modulo(lam: Array, gains: Array, prime: int) -> Array:
    """Controllability indices of (Λ, B) modulo ``prime``, (m,)."""
    nodes = _residues(lam, prime)
    values = _residues(gains.T, prime)
    degrees = np.zeros(values.shape[0], dtype=int)
    for i in range(nodes.size):
        nonzero = np.flatnonzero(values[:, i])
        if nonzero.size == 0:
            continue
        pivot = nonzero[np.argmin(degrees[nonzero])]
        inverse = pow(int(values[pivot, i]), -1, prime)
        for row in nonzero[nonzero != pivot]:
            factor = np.full(1, int(values[row, i]) * inverse % prime)
            ahead = values[row, i + 1 :] - _product(factor, values[pivot, i + 1 :], prime)
            values[row, i + 1 :] = ahead + np.where(ahead < 0, prime, 0)
        shift = nodes[i + 1 :] - nodes[i]
        shift += np.where(shift < 0, prime, 0)
        values[pivot, i + 1 :] = _product(shift, values[pivot, i + 1 :], prime)
        degrees[pivot] += 1
    return degrees


def _product(a: Array, b: Array, prime: int) -> Array:
    """a b mod prime for residues in [0, prime), prime < 2^50 (int64; wrapped products cancel)."""
    quotient = (a.astype(float) * b / prime).astype(np.int64)
    remainder = a * b - quotient * np.int64(prime)
    remainder += np.where(remainder < 0, prime, 0)
    return np.asarray(remainder - np.where(remainder >= prime, prime, 0))


def _residues(values: Array, prime: int) -> Array:
    if not np.iscomplexobj(values):
        return _real_residues(values, prime)
    root = np.full(1, _square_root_of_minus_one(prime))
    real, imag = _real_residues(values.real, prime), _real_residues(values.imag, prime)
    total = real + _product(root, imag, prime)
    return np.asarray(total - np.where(total >= prime, prime, 0))


def _real_residues(values: Array, prime: int) -> Array:
    mantissa, exponent = np.frexp(values)
    integers = np.ldexp(mantissa, 53).astype(np.int64) % prime
    distinct, place = np.unique(exponent, return_inverse=True)
    powers = np.array([pow(2, int(e) - 53, prime) for e in distinct], dtype=np.int64)
    return _product(integers, powers[place].reshape(values.shape), prime)


def _square_root_of_minus_one(prime: int) -> int:
    base = 2
    while pow(base, (prime - 1) // 2, prime) == 1:
        base += 1
    return pow(base, (prime - 1) // 4, prime)


def _random_prime(generator: random.Random) -> int:
    """A prime ≡ 1 mod 4 between 2^49 and 2^50."""
    from flint import fmpz

    while True:
        candidate = generator.randrange(1 << (_PRIME_BITS - 1), 1 << _PRIME_BITS, 4) | 1
        if fmpz(candidate).is_prime():
            return candidate


def _primes_needed(lam: Array, gains: Array) -> int:
    """How many random primes bring the failure probability below 2^-100.

    A prime fails only if it divides one of at most 2m minors (one at each corner of the rank as a
    function of H).  Times a power of two, such a minor is a Gaussian integer whose norm is bounded
    by Hadamard's inequality; an integer of k bits has at most k/49 prime factors above 2^49.
    """
    size, channels = gains.shape
    per_step = _integer_bits(lam)
    per_row = np.max([_integer_bits(gains[:, c]) for c in range(channels)], axis=0)
    bits = 2.0 * float(np.sum(size * per_step + 2 * per_row + math.log2(2 * channels * size)))
    log2_bad = math.log2(2 * channels * bits / (_PRIME_BITS - 1))
    gained = _LOG2_PRIMES - log2_bad
    return math.ceil(_FAILURE_BITS / gained) if gained > 1 else int(_FAILURE_BITS)


def _integer_bits(values: Array) -> Array:
    """Bits of the integers that values become when multiplied by a power of two: bound, (N,)."""
    parts = np.stack([np.real(values), np.imag(values)])
    _, exponent = np.frexp(parts)
    exponent = np.where(parts == 0, 0, exponent)
    highest = np.maximum(exponent.max(axis=0), 0)
    lowest = np.minimum(exponent.min(axis=0) - 53, 0)
    return np.asarray(highest - lowest + 1.0)
