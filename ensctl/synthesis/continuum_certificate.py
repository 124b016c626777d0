"""The proof that no input comes nearer: a signed measure that no polynomial of the degree sees.

With w_i = 1/(b_i Π_{j≠i}(λ_i − λ_j)) on H + 1 points, Σ w_i b_i p(λ_i) = 0 for every p of degree
< H (a divided difference), so every input leaves an error of at least |Σ w_i g_i|/Σ|w_i|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.synthesis.continuum_task import ContinuumTask

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class UniformCertificate:
    """Points and weights that bound the error of every input from below.

    Attributes
    ----------
    lam : (m,) array
        Points λ_i of the region.
    weights : (m,) array
        w_i with Σ|w_i| = 1 and Σ w_i b_i λ_i^k = 0 for k < H (for inputs that are limited,
        u_max Σ_k |Σ_i w_i b_i λ_i^k| is taken off instead).
    best_error : float
        |Σ w_i g_i| less rounding: no input does better.
    horizon : int
        H.
    smallest_horizon : int or None
        The smallest horizon whose best error is within the tolerance, as far as it was looked for.
    """

    lam: Array
    weights: Array
    best_error: float
    horizon: int
    smallest_horizon: int | None = None

    @property
    def verified(self) -> bool:
        """Whether the bound is above rounding."""
        return self.best_error > 0.0


def alternation_certificate(
    task: ContinuumTask, points: Array, smallest_horizon: int | None
) -> UniformCertificate:
    """The certificate on the H + 1 points where the best error alternates."""
    lam = task.region.at(points)
    gains, wanted = task.gains(lam), task.wanted(lam)
    gaps = lam[:, None] - lam[None, :]
    np.fill_diagonal(gaps, 1.0)
    logs = -np.log(np.abs(gaps)).sum(axis=1) - np.log(np.abs(gains))
    signs = np.prod(np.sign(gaps), axis=1) * np.sign(gains)
    weights = signs * np.exp(logs - logs.max())
    weights /= np.abs(weights).sum()
    # Weights are right to some ε (H + 2) relative, values of the target to an ulp.
    doubt = 2.0 * _EPS * (lam.size + 2) * float(np.abs(weights) @ np.abs(wanted))
    best = max(0.0, abs(float(weights @ wanted)) - doubt)
    return UniformCertificate(
        read_only(lam), read_only(weights), best, task.horizon, smallest_horizon
    )
