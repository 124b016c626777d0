"""Where the members of a compressed ensemble sit, and how weights are carried over to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ensctl.arguments import Array
from ensctl.ensemble.angle_sums import chebyshev_sums
from ensctl.ensemble.blocked_powers import blocked_moments
from ensctl.ensemble.chebyshev_count import chebyshev_count, remembered
from ensctl.ensemble.unit_circle_sums import on_unit_circle, unit_circle_moments


@dataclass(frozen=True)
class SameNodes:
    """The members themselves: there are too few of them to gain anything."""

    points: Array
    method: str = "exact"
    truncation: float = 0.0

    def carry(self, lam: Array, weights: Array) -> Array:
        """The weights as they are."""
        return weights


@dataclass(frozen=True)
class ChebyshevNodes:
    """The r zeros z_q of T_r on an interval: exact for polynomials of degree < r."""

    interval: tuple[float, float]
    count: int
    truncation: float
    method: str = "chebyshev"

    @cached_property
    def points(self) -> Array:
        """z_q, descending, inside the interval."""
        lo, hi = self.interval
        angles = (np.arange(self.count) + 0.5) * (np.pi / self.count)
        inner = lo + (hi - lo) * np.cos(angles / 2) ** 2
        return np.asarray(np.clip(inner, lo, hi))

    def carry(self, lam: Array, weights: Array) -> Array:
        """ω_q = (τ_0 + 2 Σ_{j<r} τ_j cos jθ_q)/r with τ_j = Σ_i w_i T_j(s_i), (K, N) → (K, r)."""
        from scipy.fft import dct

        if np.iscomplexobj(weights):
            return np.asarray(self.carry(lam, weights.real) + 1j * self.carry(lam, weights.imag))
        moments = chebyshev_sums(lam, weights, self.interval, self.count)
        return np.asarray(dct(moments, type=3, axis=1) / self.count)


@dataclass(frozen=True)
class CircleNodes:
    """r equispaced points ρ e^{2πiq/r}: exact for λ^k, k < r."""

    radius: float
    count: int
    truncation: float
    method: str = "fourier"

    @cached_property
    def points(self) -> Array:
        """z_q in the order of their angles."""
        return np.asarray(self.radius * np.exp(2j * np.pi * np.arange(self.count) / self.count))

    def carry(self, lam: Array, weights: Array) -> Array:
        """ω_q = (1/r) Σ_{k<r} h_k ρ^{−k} e^{−2πiqk/r} with h_k = Σ_i w_i λ_i^k."""
        # Dividing first keeps every power of size one.
        sums = power_moments(lam / self.radius, weights, self.count)
        return np.asarray(np.fft.fft(sums, axis=1) / self.count)


Nodes = SameNodes | ChebyshevNodes | CircleNodes


def choose_nodes_for(lam: Array, horizon: int, tol: float) -> Nodes:
    """Chebyshev nodes on the tight interval for real λ, a circle for complex λ, or λ itself.

    All powers λ^k, k ≤ H, are matched: inputs use k < H, free responses k = H too.
    """
    largest = float(np.abs(lam).max())
    powers = horizon + 1
    memory = remembered(largest, powers)
    # What is forgotten, in the population and at the nodes.
    forgotten = 0.0 if memory == powers else 2.0 * largest**memory
    if np.iscomplexobj(lam):
        radius = 1.0 if on_unit_circle(lam) else largest
        found: CircleNodes | ChebyshevNodes = CircleNodes(radius, memory, forgotten)
    else:
        interval = (float(lam.min()), float(lam.max()))
        # Terms beyond r are lost and come back as aliases: twice the tail.
        count = chebyshev_count(interval, memory, tol / 2.0)
        exact = count == memory or interval[0] == interval[1]
        found = ChebyshevNodes(interval, count, forgotten + (0.0 if exact else tol))
    return found if found.count < lam.size else SameNodes(lam)


def power_moments(lam: Array, weights: Array, count: int) -> Array:
    """Σ_i w_i λ_i^k for k < count, weights (K, N) → (K, count)."""
    sums = unit_circle_moments if on_unit_circle(lam) else blocked_moments
    return sums(lam, weights.T, count).values.T


def power_rounding(points: Array, sizes: Array, horizon: int) -> float:
    """ε Σ_q |ω_q| max_{k≤H} k|z_q|^k: what rounding of the nodes does to the powers.

    Relative to max|z|^H where that exceeds 1.
    """
    modulus = np.abs(points)
    modulus = modulus / max(1.0, float(modulus.max()))
    with np.errstate(divide="ignore", under="ignore"):
        steps = np.minimum(np.where(modulus < 1.0, -1.0 / np.log(modulus), math.inf), horizon)
        growth = steps * modulus**steps
    return float(np.finfo(float).eps * (sizes @ growth))
