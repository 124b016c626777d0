"""Meeting the target to rounding from a point that meets it to a solver's tolerance.

Repeated: the smallest change of the inputs that can move makes Qᵀu = c hold, and the domain is
restored exactly.  An input on the rim of its disc moves along the rim, which leaves the disc by
the square of the change only, so the repetition converges like Newton's method.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Discs
from ensctl.convex.problem import Objective, Problem
from ensctl.convex.regions import Below, Within, WithinDiscs, Zero
from ensctl.convex.rows import Rows
from ensctl.convex.stacking import moduli

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
_ROUNDS = 12
# Residual, relative to max(‖c‖, ‖u‖), below which another round gains nothing.
_SETTLED = 4.0 * _EPS


def settled(problem: Problem, inputs: Array, closeness: float, *, hold: bool) -> Array:
    """u in its domain with Qᵀu = c to rounding, as near to ``inputs`` as that allows.

    Parameters
    ----------
    problem : Problem
        With Qᵀu = c as terminal region.
    inputs : (n,) float64
        u within the tolerance of some solver.
    closeness : float
        Relative to max|u|: entries within it of a limit stay there, and for fuel those within it
        of zero stay zero.
    hold : bool
        Whether rows of ``problem.limits`` that are active stay where they are.

    Returns
    -------
    (n,) float64

    Notes
    -----
    A few least-squares problems of O(n (N + active rows)²).
    """
    from scipy.linalg import lstsq

    basis, domain = problem.system.basis, problem.domain
    size = float(np.linalg.norm(problem.coordinates))
    best = domain.nearest(inputs)
    near = closeness * float(problem.sizes(best).max(initial=0.0))
    if problem.objective is Objective.FUEL:
        zero = problem.sizes(best) <= near
        best = np.where(np.tile(zero, 2) if problem.stacked else zero, 0.0, best)
    miss = problem.coordinates - basis.T @ best
    for _ in range(_ROUNDS):
        if np.linalg.norm(miss) <= _SETTLED * max(size, float(np.linalg.norm(best))):
            break
        moves = _moves(problem, best, near)
        system, right = [moves(basis.T)], [miss]
        for rows in problem.limits if hold else ():
            matrix, ends = _held_rows(rows, best, near)
            system.append(moves(matrix))
            right.append(ends)
        matrix = np.vstack(system)
        if not matrix.shape[1]:
            break
        change = lstsq(matrix, np.concatenate(right), lapack_driver="gelsy", check_finite=False)[0]
        moved = domain.nearest(best + _spread(problem, best, near, change))
        missed = problem.coordinates - basis.T @ moved
        if not np.linalg.norm(missed) < np.linalg.norm(miss):
            break
        best, miss = moved, missed
    return best


def _kinds(problem: Problem, inputs: Array, near: float) -> tuple[Array, Array]:
    """Real entries that move freely, and complex inputs that move along the rim of their disc."""
    domain, sizes = problem.domain, problem.sizes(inputs)
    resting = (sizes == 0.0) & (problem.objective is Objective.FUEL)
    if isinstance(domain, Discs):
        rim = (sizes >= domain.radius - near) & (sizes > 0.0)
        return np.tile(~rim & ~resting & (domain.radius > 0.0), 2), rim
    inside = (inputs > domain.lower + near) & (inputs < domain.upper - near)
    return inside & ~resting, np.zeros(0, dtype=bool)


def _moves(problem: Problem, inputs: Array, near: float) -> Any:
    """The map from a matrix of rows in u to one in the changes that are possible."""
    free, rim = _kinds(problem, inputs, near)
    if not rim.any():
        return lambda matrix: matrix[:, free]
    half = rim.size
    real, imag = inputs[:half][rim], inputs[half:][rim]
    size = np.hypot(real, imag)

    def reduced(matrix: Array) -> Array:
        along = matrix[:, half:][:, rim] * (real / size) - matrix[:, :half][:, rim] * (imag / size)
        return np.hstack([matrix[:, free], along])

    return reduced


def _spread(problem: Problem, inputs: Array, near: float, change: Array) -> Array:
    """The change of u from the changes that are possible."""
    free, rim = _kinds(problem, inputs, near)
    found = np.zeros(inputs.size)
    count = int(free.sum())
    found[free] = change[:count]
    if rim.any():
        half = rim.size
        real, imag = inputs[:half][rim], inputs[half:][rim]
        size = np.hypot(real, imag)
        found[:half][rim] = -change[count:] * (imag / size)
        found[half:][rim] = change[count:] * (real / size)
    return found


def _held_rows(rows: Rows, inputs: Array, near: float) -> tuple[Array, Array]:
    """Active rows, linearised and divided by their norms, and the change each should see."""
    error, norms, region = rows.error(inputs), rows.norms, rows.region
    reach = near * norms
    if isinstance(region, WithinDiscs):
        half = region.radius.size
        size = moduli(error)
        norms = np.hypot(norms[:half], norms[half:])
        active = (size >= region.radius - near * norms) & (norms > 0.0) & (size > 0.0)
        index = np.flatnonzero(active)
        real, imag = error[index] / size[index], error[index + half] / size[index]
        matrix = real[:, None] * rows.dense(index) + imag[:, None] * rows.dense(index + half)
        return matrix / norms[index, None], (region.radius - size)[index] / norms[index]
    if isinstance(region, Zero):
        aim = np.zeros(error.shape)
    elif isinstance(region, Below):
        aim = np.where(error >= -reach, 0.0, np.nan)
    elif isinstance(region, Within):
        aim = np.where(
            np.abs(error) >= region.radius - reach, np.copysign(region.radius, error), np.nan
        )
    else:
        aim = np.full(error.shape, np.nan)
    index = np.flatnonzero(np.isfinite(aim) & (norms > 0.0))
    return rows.dense(index) / norms[index, None], (aim - error)[index] / norms[index]
