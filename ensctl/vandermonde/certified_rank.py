"""Rank of the rows b_ic λ_i^k without rounding: by theory for one channel, else modulo primes.

The rank modulo a prime never exceeds the rank over the rationals, so full rank modulo one prime is
a proof.  A smaller rank is wrong only if both primes divide every larger minor, which does not
happen by chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ensctl.errors import NotReachableError
from ensctl.vandermonde.certified_rows import ChannelRows

# The two largest primes below 2^62 that are 1 modulo 4, each with a square root of −1.
_FIELDS = (
    (2**62 - 87, 4490822397581186023),
    (2**62 - 143, 3481184452870754207),
)


def certified_rank(problem: ChannelRows) -> int:
    """Rank of the N × m H matrix; O(N log N) for one channel, O(N³ m) word operations else."""
    count, limit = problem.size, int(min(problem.size, problem.columns))
    if problem.gains.shape[1] == 1:
        alive = problem.gains[:, 0] != 0
        return min(int(np.unique(problem.lam[alive] + 0.0).size), limit)
    best = 0
    for field in _FIELDS:
        best = max(best, _rank_modulo(problem, field, int(min(count, problem.horizon))))
        if best == limit:
            break
    return best


def require_full_row_rank(problem: ChannelRows) -> None:
    """Refuse rows that are linearly dependent: their Gramian has no inverse.

    Raises
    ------
    NotReachableError
        Fewer columns than rows, or dependent rows; ``members`` names rows that are zero or repeat
        a node where one channel makes them to blame.
    """
    if problem.columns < problem.size:
        raise NotReachableError(
            f"the {problem.size} rows have only {problem.columns} columns and are dependent; "
            f"take a horizon of at least {-(-problem.size // problem.gains.shape[1])}"
        )
    rank = certified_rank(problem)
    if rank == problem.size:
        return
    members = _blamed(problem)
    named = f" (rows {', '.join(map(str, members))})" if members else ""
    raise NotReachableError(
        f"the {problem.size} rows have rank {rank}, their Gramian is singular{named}; "
        "leave dependent rows out or lengthen the horizon",
        members,
    )


def _blamed(problem: ChannelRows) -> tuple[int, ...]:
    """Zero rows, and with one channel the rows that share a node."""
    zero = ~problem.gains.any(axis=1)
    if problem.gains.shape[1] > 1:
        return tuple(np.flatnonzero(zero).tolist())
    _, place, times = np.unique(problem.lam + 0.0, return_inverse=True, return_counts=True)
    return tuple(np.flatnonzero(zero | (times[place.ravel()] > 1)).tolist())


def _rank_modulo(problem: ChannelRows, field: tuple[int, int], horizon: int) -> int:
    # Powers beyond the N-th add nothing to the row rank (Cayley–Hamilton).
    from flint import nmod_mat

    prime = field[0]
    nodes = [_residue(value, field) for value in problem.lam]
    entries: list[int] = []
    for gains in problem.gains.T:
        current = [_residue(value, field) for value in gains]
        for _ in range(horizon):
            entries += current
            current = [x * y % prime for x, y in zip(current, nodes, strict=True)]
    rows = horizon * problem.gains.shape[1]
    return int(nmod_mat(rows, problem.size, entries, prime).rank())


def _residue(value: Any, field: tuple[int, int]) -> int:
    """A dyadic Gaussian number modulo a prime, by a square root of −1."""
    prime, root = field
    real, imag = _dyadic(float(value.real), prime), float(value.imag)
    return (real + _dyadic(imag, prime) * root) % prime if imag else real


def _dyadic(value: float, prime: int) -> int:
    numerator, denominator = value.as_integer_ratio()
    return numerator * pow(denominator, -1, prime) % prime
