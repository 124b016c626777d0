"""The 2N real equations of a swarm, well conditioned by construction.

With time counted from the middle of the horizon, τ = t − (H−1)/2, the displacement of robot i in
its own frame, e^{−jφ_i} d_i = e^{jω_i (H−1)/2} Σ_τ v_τ e^{jω_i τ}, splits: the even part of v makes
the cosines, the odd part the sines.  Two N × H/2 systems replace one of 2N × H.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.lq import LQ, lq
from ensctl.simulation.swarm_phases import phases, rotations

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SwarmSystem:
    """Σ_τ v_τ cos ω_i τ = Re D_i, Σ_τ v_τ sin ω_i τ = Im D_i as R = L Qᵀ, cosines first.

    Attributes
    ----------
    system : LQ
        Of the (2N, H) matrix.
    unwind : (N,) complex128
        e^{−jφ_i − jω_i (H−1)/2}: turns displacements in the plane into D.
    largest, smallest : float
        Singular values of the steering map v → displacements of all robots.
    """

    system: LQ
    unwind: Array
    largest: float
    smallest: float

    @property
    def condition(self) -> float:
        """κ₂ of the steering map."""
        return self.largest / self.smallest

    def right_side(self, displacements: Array) -> Array:
        """(Re D, Im D), (2N,), of displacements in the plane."""
        turned = self.unwind * displacements
        return np.concatenate([turned.real, turned.imag])

    def weights(self, multipliers: Array) -> Array:
        """Complex weights w in the plane, Re Σ w̄_i d_i, of multipliers (2N,) of R v = D."""
        half = multipliers.size // 2
        return np.asarray((multipliers[:half] + 1j * multipliers[half:]) * np.conj(self.unwind))


def swarm_system(turn_rates: Array, headings: Array, horizon: int) -> SwarmSystem:
    """Factorise the equations of a swarm.

    Parameters
    ----------
    turn_rates, headings : (N,) float64
        ω and φ, rad per step and rad.
    horizon : int
        H ≥ 2N.

    Returns
    -------
    SwarmSystem

    Raises
    ------
    PrecisionError
        Equations that are dependent to float64 rounding.

    Notes
    -----
    O(N² H).  Entries are right to 2 ε and rows are orthogonal but for what the gaps of {±ω_i}
    leave, so c = L^{-1} D carries a relative error of about κ ε.
    """
    middle = 0.5 * (horizon - 1)
    times = np.arange(horizon) - middle
    later = times[times >= 0.0]
    cos, sin = phases(turn_rates, later)
    # Orthonormal even and odd sequences: (δ_τ ± δ_−τ)/√2, and δ_0 where there is a middle step.
    pair = np.where(later > 0.0, np.sqrt(2.0), 1.0)
    even, odd = lq(cos * pair), lq(sin[:, later > 0.0] * pair[later > 0.0])
    sigma = np.concatenate([_singular_values(even), _singular_values(odd)])
    return SwarmSystem(
        system=_joined(even, odd, later, horizon),
        unwind=np.exp(-1j * headings) * np.conj(rotations(turn_rates, middle)),
        largest=float(sigma.max()),
        smallest=float(sigma.min()),
    )


def _singular_values(system: LQ) -> Array:
    from scipy.linalg import svdvals

    return np.asarray(svdvals(system.factor, check_finite=False))


def _joined(even: LQ, odd: LQ, later: Array, horizon: int) -> LQ:
    """One factorisation of both systems, over the sequence in time order."""
    count = even.factor.shape[0]
    moving = later > 0.0
    half = int(np.count_nonzero(moving))
    basis = np.zeros((horizon, 2 * count))
    basis[horizon - later.size :, :count] = even.basis
    basis[horizon - half :, count:] = odd.basis
    basis[horizon - half :] /= np.sqrt(2.0)
    basis[:half, :count] = basis[horizon - half :, :count][::-1]
    basis[:half, count:] = -basis[horizon - half :, count:][::-1]
    return LQ(
        basis,
        _block_diagonal(even.factor, odd.factor),
        _block_diagonal(even.inverse, odd.inverse),
        max(even.condition, odd.condition),
    )


def _block_diagonal(first: Array, second: Array) -> Array:
    count = first.shape[0]
    whole = np.zeros((2 * count, 2 * count))
    whole[:count, :count] = first
    whole[count:, count:] = second
    return whole
