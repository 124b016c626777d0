"""Linear-fractional programs over mixes, after Charnes and Cooper, with a proof by weak duality.

maximise  min_k R_k·x / C·x   over shares x ≥ 0, Σx = 1, with side constraints that are homogeneous
in x.  With y = x/(C·x) it becomes a linear program,

    maximise w   subject to   w ≤ R_k·y − κ‖F y‖₂,   C·y = 1,   A y ≤ b,   y ≥ 0,

a second-order cone program where κ > 0 (A. Charnes, W. W. Cooper, Naval Res. Logist. Quart. 9,
1962).  Multipliers μ ≥ 0 (Σμ = 1) of the rewards, θ of C·y = 1, π ≥ 0 of the rows and ‖z‖₂ ≤ 1
of the cone bound every feasible mix: if Σμ_kR_k − κFᵀz − θC − Aᵀπ ≤ 0 then w ≤ θ + b·π.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class RatioProgram:
    """The data of a mix; all costs of cycles are positive.

    Attributes
    ----------
    rewards : (k, n) array
        R, one row for each case whose worst is maximised.
    cycles : (n,) array
        C > 0.
    rows : (q, n) array
        A, the side constraints.
    limits : (q,) array
        b.
    factor : (r, n) array
        F; no rows where there is no cone.
    kappa : float
        κ ≥ 0.
    """

    rewards: Array
    cycles: Array
    rows: Array
    limits: Array
    factor: Array
    kappa: float = 0.0

    def penalty(self, y: Array) -> float:
        """κ‖F y‖₂."""
        return self.kappa * float(np.linalg.norm(self.factor @ y)) if self.kappa else 0.0

    def value(self, y: Array) -> float:
        """min_k R_k·y less the penalty."""
        return float((self.rewards @ y).min()) - self.penalty(y)


@dataclass(frozen=True, eq=False)
class RatioSolution:
    """A mix and what proves it.

    Attributes
    ----------
    y : (n,) array, read-only
        x/(C·x), non-negative and with C·y = 1 to rounding.
    value : float
        The worst reward rate of y, recomputed from the data.
    upper_bound : float
        No mix is better; recomputed from the multipliers, so ``upper_bound − value`` is the gap.
    violation : float
        Largest A y − b, relative to the size of the terms in its row.
    reward_prices : (k,) array, read-only
        μ.
    row_prices : (q,) array, read-only
        π: how fast the value rises with b.
    time_price : float
        θ.
    """

    y: Array
    value: float
    upper_bound: float
    violation: float
    reward_prices: Array
    row_prices: Array
    time_price: float


@dataclass(frozen=True, eq=False)
class RowConflict:
    """Multipliers that prove that no mix meets all rows.

    π ≥ 0 and θ with Aᵀπ + θC ≥ 0 and b·π + θ < 0: then A y ≤ b and C·y = 1 cannot both hold for
    y ≥ 0.

    Attributes
    ----------
    row_prices : (q,) array, read-only
        π; rows with π = 0 have no part in the conflict.
    time_price : float
        θ.
    margin : float
        −(b·π + θ) > 0.
    """

    row_prices: Array
    time_price: float
    margin: float


def certified(
    program: RatioProgram, y: Array, rewards_mu: Array, rows_pi: Array, cone_z: Array | None = None
) -> RatioSolution:
    """Make y a mix exactly, the multipliers a bound exactly, and say how far apart they are.

    z is F y/‖F y‖₂, or ``cone_z`` where that gives the better bound: at F y = 0 nothing else does.
    """
    y = np.maximum(y, 0.0)
    y = y / float(program.cycles @ y)
    mu = np.maximum(rewards_mu, 0.0)
    mu = mu / mu.sum() if mu.sum() > 0 else np.full(mu.size, 1.0 / mu.size)
    pi = np.maximum(rows_pi, 0.0)
    reduced = mu @ program.rewards - pi @ program.rows
    # θ as small as the inequalities of all arms allow: whatever the solver returned, this is a
    # bound, since no arm has a positive reduced reward left.
    theta = min(
        float(((reduced - program.kappa * (program.factor.T @ z)) / program.cycles).max())
        for z in _directions(program, y, cone_z)
    )
    bound = theta + float(program.limits @ pi)
    return RatioSolution(
        read_only(y),
        program.value(y),
        bound,
        violation(program, y),
        read_only(mu),
        read_only(pi),
        theta,
    )


def _directions(program: RatioProgram, y: Array, cone_z: Array | None) -> list[Array]:
    """Candidates for z with ‖z‖₂ ≤ 1."""
    image = program.factor @ y
    norm = float(np.linalg.norm(image))
    found = [image / norm if norm > 0 else np.zeros_like(image)]
    if cone_z is not None:
        found.append(cone_z / max(1.0, float(np.linalg.norm(cone_z))))
    return found


def violation(program: RatioProgram, y: Array) -> float:
    """Largest violated row of A y ≤ b, relative to |A| y + |b|."""
    if program.limits.size == 0:
        return 0.0
    excess = program.rows @ y - program.limits
    size = np.abs(program.rows) @ y + np.abs(program.limits)
    return float(
        np.max(np.divide(excess, size, out=np.zeros_like(size), where=size > 0), initial=0)
    )


def conflict(program: RatioProgram, rows_pi: Array) -> RowConflict | None:
    """The proof of infeasibility in given multipliers, or None where they prove nothing."""
    pi = np.maximum(rows_pi, 0.0)
    theta = float(np.max(-(pi @ program.rows) / program.cycles))
    margin = -(float(program.limits @ pi) + theta)
    size = float(np.abs(program.limits) @ pi) + abs(theta)
    if margin <= 1e-12 * size:
        return None
    return RowConflict(read_only(pi), theta, margin)
