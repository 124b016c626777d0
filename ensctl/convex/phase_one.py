"""Is there any input in the box? A linear program with simple bounds decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box
from ensctl.errors import SolverError

Array = NDArray[Any]

# HiGHS accepts no tighter tolerances than these.
HIGHS_TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True, eq=False)
class PhaseOne:
    """The input in the box that comes closest to Qᵀu = c in the 1-norm.

    Attributes
    ----------
    distance : float
        ‖Qᵀu − c‖₁.
    inputs : (n,) float64
        u.
    multipliers : (N,) float64
        η, |η_j| ≤ 1; when ``distance`` > 0, cᵀη − Σ max(l_k g_k, h_k g_k) = distance up to the
        tolerance of the solver.
    """

    distance: float
    inputs: Array
    multipliers: Array


def box_phase_one(basis: Array, target: Array, limits: Box) -> PhaseOne:
    """Minimise ‖Qᵀu − c‖₁ over l ≤ u ≤ h with HiGHS.

    Parameters
    ----------
    basis : (n, N) float64
        Q.
    target : (N,) float64
        c.
    limits : Box

    Returns
    -------
    PhaseOne

    Raises
    ------
    SolverError
        HiGHS found no optimum of a program that always has one.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import box, box_phase_one
    >>> round(box_phase_one(np.full((4, 1), 0.5), np.array([1.0]), box(-0.4, 0.4, 4)).distance, 6)
    0.2
    """
    from scipy.optimize import linprog

    size, count = basis.shape
    scale = float(np.abs(target).max()) or 1.0
    scaled = limits.scaled(scale)
    cost = np.concatenate([np.zeros(size), np.ones(2 * count)])
    equations = np.hstack([basis.T, np.eye(count), -np.eye(count)])
    bounds = np.vstack(
        [
            np.column_stack([scaled.lower, scaled.upper]),
            np.tile([0.0, np.inf], (2 * count, 1)),
        ]
    )
    found = linprog(
        cost,
        A_eq=equations,
        b_eq=target / scale,
        bounds=bounds,
        method="highs",
        options=HIGHS_TOLERANCES,
    )
    if found.status != 0:
        raise SolverError(
            f"HiGHS stopped without an optimum of the feasibility program: {found.message}",
            "HIGHS",
            str(found.status),
        )
    inputs = limits.nearest(scale * found.x[:size])
    distance = float(np.abs(basis.T @ inputs - target).sum())
    return PhaseOne(distance, inputs, np.clip(found.eqlin.marginals, -1.0, 1.0))
