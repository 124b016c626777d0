"""Which rows are active: a primal–dual interior point method for small dense quadratic programs.

    min ½uᵀPu + qᵀu  subject to  A u + s − δ z = b,  s ≥ 0, z ≥ 0

where z are the multipliers: a soft row (δ > 0) may be exceeded by δ z at the cost δ z²/2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_MOST_STEPS = 60
# Complementarity, relative to where it started, at which the active rows are clear.
_FINISHED = 1e-13
_TO_THE_BOUNDARY = 0.995


def interior_multipliers(
    hessian: Array, linear: Array, rows: Array, bounds: Array, softness: Array
) -> tuple[Array, int]:
    """Multipliers of A u ≤ b by Mehrotra's predictor–corrector method.

    Parameters
    ----------
    hessian : (n, n)
        P, positive definite.
    linear : (n,)
        q.
    rows : (k, n)
        A.
    bounds : (k,)
        b; +inf is no limit.
    softness : (k,)
        δ ≥ 0.

    Returns
    -------
    multipliers : (k,) float64
        z, exactly 0 for rows that are not active.
    steps : int
        Newton steps made.

    Notes
    -----
    O(k n²) for each of 8 to 20 steps.
    Source: S. Mehrotra, SIAM J. Optim. 2 (1992) 575–601.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex.mpc_interior import interior_multipliers
    >>> A, b = np.array([[1.0], [-1.0]]), np.array([2.0, 2.0])
    >>> z, steps = interior_multipliers(np.eye(1), np.array([-3.0]), A, b, np.zeros(2))
    >>> z.round(9)
    array([1., 0.])
    """
    from scipy.linalg import cho_factor, cho_solve

    used = np.flatnonzero(np.isfinite(bounds))
    multipliers = np.zeros(bounds.size)
    if not used.size:
        return multipliers, 0
    A, b, delta = rows[used], bounds[used], softness[used]
    u = np.zeros(linear.size)
    s = np.maximum(b - A @ u, 1.0)
    z = np.full(used.size, max(float(np.abs(linear).max(initial=0.0)), 1e-300))
    first = float(s @ z) / used.size
    steps = 0
    while steps < _MOST_STEPS and float(s @ z) / used.size > _FINISHED * first:
        steps += 1
        dual = hessian @ u + linear + A.T @ z
        primal = A @ u + s - delta * z - b
        # Without a division by z, which falls to nothing where a row is far from its limit.
        soft_slack = s + delta * z
        weight = z / soft_slack
        try:
            factor = cho_factor(hessian + (A.T * weight) @ A, lower=True)
        except np.linalg.LinAlgError:
            break

        def move(
            complement: Array,
            z: Array = z,
            dual: Array = dual,
            primal: Array = primal,
            soft_slack: Array = soft_slack,
            weight: Array = weight,
            factor: Any = factor,
        ) -> tuple[Array, Array, Array]:
            shifted = (z * primal - complement) / soft_slack
            du = cho_solve(factor, -dual - A.T @ shifted)
            dz = weight * (A @ du) + shifted
            return du, dz, delta * dz - primal - A @ du

        _, dz, ds = move(s * z)
        length = min(_longest(s, ds), _longest(z, dz))
        mean = float(s @ z) / used.size
        predicted = float((s + length * ds) @ (z + length * dz)) / used.size
        du, dz, ds = move(s * z + ds * dz - mean * (predicted / mean) ** 3)
        length = min(1.0, _TO_THE_BOUNDARY * min(_longest(s, ds), _longest(z, dz)))
        u, s, z = u + length * du, s + length * ds, z + length * dz
    relative = z / (float(z.max()) or 1.0)
    active = relative > s / (float(s.max()) or 1.0)
    multipliers[used] = np.where(active, z, 0.0)
    return multipliers, steps


def _longest(values: Array, change: Array) -> float:
    """Largest step, at most 1, that keeps values ≥ 0."""
    falling = change < 0.0
    if not falling.any():
        return 1.0
    return float(min(1.0, (-values[falling] / change[falling]).min()))
