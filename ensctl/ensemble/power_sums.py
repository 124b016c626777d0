"""What the ways to sum powers share: coefficients in, values with an error bound out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

EPS = float(np.finfo(float).eps)
# What is left out of a sum is kept below this fraction of it.
_TAIL = 2.0**-60


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Values Σ_c B_ic Σ_k a_kcs λ_i^k, (N, S), and a bound on the error of every one of them."""

    values: Array
    error_bound: float


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments Σ_i w_iq λ_i^k, (steps, Q), and a bound on the error of column q, (Q,)."""

    values: Array
    error_bound: Array


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients a_kcs of λ^k for channels c and scenarios s, with one scale per column.

    Attributes
    ----------
    columns : (H, m·S)
        Columns divided by a power of two each, so that no entry exceeds 1 in modulus.
    scale : (m, S)
        What they were divided by.
    envelope : (H,)
        Largest modulus in each row of ``columns``.
    """

    columns: Array
    scale: Array
    envelope: Array

    @classmethod
    def of(cls, coefs: Array) -> Coefficients:
        """From a_kcs, (H, m, S)."""
        flat = coefs.reshape(len(coefs), -1)
        largest = np.abs(flat).max(axis=0)
        scale = np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1020, 1020))
        columns = flat / scale
        return cls(columns, scale.reshape(coefs.shape[1:]), np.abs(columns).max(axis=1))

    @property
    def shape(self) -> tuple[int, int]:
        """Channels m and scenarios S."""
        return self.scale.shape[0], self.scale.shape[1]

    def cut(self, radius: float) -> Coefficients:
        """Without the powers that cannot be seen by members with |λ| ≤ radius."""
        steps = visible_steps(self.envelope, radius)
        return Coefficients(self.columns[:steps], self.scale, self.envelope[:steps])

    def combined(self, rows: Array, gains: Array) -> Array:
        """Σ_c B_ic rows_cs as (n, S), from rows (m·S, n) and gains (n, m) or (1, m)."""
        channels, scenarios = self.shape
        parts = rows.reshape(channels, scenarios, -1)
        total = None
        for c in range(channels):
            part = parts[c].T * (gains[:, c, None] * self.scale[c])
            total = part if total is None else total + part
        return np.asarray(total)

    def gain(self, gains: Array) -> float:
        """Largest factor by which :meth:`combined` enlarges an error of 1 in every row."""
        return float((np.abs(gains).max(axis=0) @ self.scale).max())


def shared_gains(gains: Array) -> Array:
    """Gains as (1, m) where all members have the same, else as they are."""
    return gains[:1] if np.all(gains == gains[0]) else gains


def visible_steps(envelope: Array, radius: float) -> int:
    """Smallest K ≥ 1 with Σ_{k≥K} e_k ρ^k ≤ 2^-60 Σ_k e_k ρ^k."""
    terms = envelope * powers_up_to(radius, envelope.size)
    rest = np.cumsum(terms[::-1])[::-1]
    return max(1, int(np.count_nonzero(rest > _TAIL * rest[0])))


def powers_up_to(radius: float, steps: int) -> Array:
    """radius^k for k < steps, inf where it overflows."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.power(radius, np.arange(steps, dtype=float)))
