"""Bounded inputs with a terminal cost in place of the terminal equality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box
from ensctl.convex.newton_box import BoxSolution, newton_box

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SoftSystem:
    """R = A Σ Vᵀ prepared for one softness ρ: re-solves share it.

    Attributes
    ----------
    basis : (n, N) float64
        V Σ (Σ² + ρ)^{-1/2}.
    left : (N, N) float64
        A (Σ² + ρ)^{-1/2}.
    penalty : (N,) float64
        ρ/(σ² + ρ).
    """

    basis: Array
    left: Array
    penalty: Array


def soft_system(matrix: Array, softness: float) -> SoftSystem:
    """Prepare min ½‖u‖² + ‖R u − d‖²/(2ρ), l ≤ u ≤ h, for many d, l and h.

    Parameters
    ----------
    matrix : (N, n) float64
        R, N ≤ n, of any rank.
    softness : float
        ρ > 0; the smaller, the closer to R u = d.

    Returns
    -------
    SoftSystem

    Notes
    -----
    The dual is min Σ φ_k(g_k) + (ρ/2)‖L^{-T}η‖² − cᵀη, with the errors weighted by L as they
    should be.  In singular vectors of R every number of it lies in [0, 1] whatever κ(R) is.
    """
    from scipy.linalg import svd

    left, sigma, right = svd(matrix, full_matrices=False)
    norm = np.sqrt(sigma**2 + softness)
    return SoftSystem(right.T * (sigma / norm), left / norm, softness / norm**2)


def soft_newton_box(
    system: SoftSystem, target: Array, limits: Box, *, start: Array | None = None
) -> BoxSolution:
    """Minimise ½‖u‖² + ‖R u − d‖²/(2ρ) subject to l ≤ u ≤ h; always feasible.

    Parameters
    ----------
    system : SoftSystem
    target : (N,) float64
        d.
    limits : Box
    start : (N,), optional
        ``multipliers`` of a neighbouring problem.

    Returns
    -------
    BoxSolution
        ``multipliers`` are those of R u = d: y = (d − R u)/ρ and u = clip(Rᵀy).

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import box, soft_newton_box, soft_system
    >>> soft = soft_system(np.ones((1, 2)), 1.0)
    >>> soft_newton_box(soft, np.array([3.0]), box(-np.inf, [0.5, np.inf], 2)).inputs
    array([0.5 , 1.25])
    """
    inner = None if start is None else np.linalg.solve(system.left, start)
    found = newton_box(
        system.basis, system.left.T @ target, limits, start=inner, penalty=system.penalty
    )
    return BoxSolution(
        found.status,
        found.inputs,
        system.left @ found.multipliers,
        found.residual,
        found.iterations,
    )
