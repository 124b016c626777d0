"""Least-norm inputs in a box by a dual semismooth Newton method with exact line search.

    min ½‖u‖²  subject to  Qᵀu = c,  l ≤ u ≤ h

has the dual  min_η Σ_k φ_k(g_k) − cᵀη,  g = Qη, with φ_k' = clip to [l_k, h_k]: convex, piecewise
quadratic, N variables however many inputs.  u = clip(Qη), so the limits hold exactly, and a dual
that falls without bound is a proof of infeasibility.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.breakpoints import exact_step
from ensctl.convex.domains import Box
from ensctl.convex.phase_one import box_phase_one
from ensctl.errors import InvalidInputError
from ensctl.status import Status

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Added to the Newton matrix, whose eigenvalues lie in [0, 1].
_REGULARISATION = 1e-13
# Residual, relative to max(‖c‖, ‖u‖), at which the equations hold to rounding.
_ROUNDING = 64.0 * _EPS
_ACCEPTED = 1e-11
# Relative duality gap at which a feasible point from the linear program counts as optimal.
_GAP = 1e-8
# Exponents of two of targets whose squares, and sums of them, stay in float64, and of any.
_COMFORTABLE = 300
_EXTREME = 1000


@dataclass(frozen=True, eq=False)
class BoxSolution:
    """What the Newton method found.

    Attributes
    ----------
    status : Status
        ``OPTIMAL``, ``INFEASIBLE`` or ``PRECISION_LIMITED``; with a penalty ``OPTIMAL`` or
        ``ITERATION_LIMIT``.
    inputs : (n,) float64
        u, inside the box exactly; when infeasible, the last iterate.
    multipliers : (N,) float64
        η of Qᵀu = c; when infeasible, η with cᵀη > Σ max(l_k g_k, h_k g_k), g = Qη.  That is
        about Q and c as given: check it against the true rows with
        :func:`ensctl.convex.infeasibility_certificate` before claiming infeasibility.
    residual : float
        ‖Qᵀu + Wη − c‖ / max(‖c‖, ‖u‖); W = 0 unless there is a penalty.
    iterations : int
    """

    status: Status
    inputs: Array
    multipliers: Array
    residual: float
    iterations: int


def newton_box(
    basis: Array,
    target: Array,
    limits: Box,
    *,
    start: Array | None = None,
    penalty: Array | None = None,
    max_iterations: int = 200,
) -> BoxSolution:
    """Minimise ½‖u‖² + ½ Σ_j e_j²/w_j, e = c − Qᵀu, subject to l ≤ u ≤ h.

    Parameters
    ----------
    basis : (n, N) float64
        Q with singular values at most 1; orthonormal columns from :func:`ensctl.convex.lq`.
    target : (N,) float64
        c.
    limits : Box
        l and h, ±inf allowed.
    start : (N,), optional
        η of a neighbouring problem; c, the answer without limits, when not given.
    penalty : (N,), optional
        w ≥ 0; entries 0, and all of them when not given, ask for Qᵀu = c.
    max_iterations : int
        Usually 3 to 20 are needed.

    Returns
    -------
    BoxSolution

    Raises
    ------
    InvalidInputError
        Shapes that do not go together.
    SolverError
        The linear program that settles a stall failed.

    Notes
    -----
    Each iteration costs O(f N²) for f free inputs, plus one sort of 2n breakpoints.  When the
    method stalls (hardly any free inputs, very near the limit of what is feasible) a linear
    program decides between infeasible and ``PRECISION_LIMITED``.

    Source: Qi and Sun, A nonsmooth version of Newton's method, Math. Programming 58 (1993)
    353–367; Li and Swetits, A Newton method for convex regression, data smoothing, and quadratic
    programming with bounded constraints, SIAM J. Optim. 3 (1993) 466–488.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import box, newton_box
    >>> Q = np.full((4, 1), 0.5)
    >>> newton_box(Q, np.array([1.0]), box([-1, -1, -1, -1], [0.2, 1, 1, 1], 4)).inputs.round(6)
    array([0.2, 0.6, 0.6, 0.6])
    >>> newton_box(Q, np.array([1.0]), box(-0.4, 0.4, 4)).status.name
    'INFEASIBLE'
    """
    if basis.shape != (limits.size, target.size):
        raise InvalidInputError(
            f"basis must have shape ({limits.size}, {target.size}) to go with limits and target, "
            f"got {basis.shape}"
        )
    largest = float(np.abs(target).max(initial=0.0))
    if 0.0 < largest < math.inf and abs(math.frexp(largest)[1]) > _COMFORTABLE:
        return _in_other_units(basis, target, limits, start, penalty, max_iterations)
    weight = np.zeros(target.size) if penalty is None else penalty
    eta = target.copy() if start is None else start.copy()
    best = _evaluate(basis, target, limits, weight, eta)
    iterations = 0
    while best.relative > _ROUNDING and iterations < max_iterations:
        iterations += 1
        direction = _newton_direction(basis, best, weight)
        slope = basis @ direction
        if _proves_infeasible(target, limits, weight, best.eta, best.gradient):
            return _ended(Status.INFEASIBLE, best, best.eta, iterations)
        if _proves_infeasible(target, limits, weight, direction, slope):
            return _ended(Status.INFEASIBLE, best, direction, iterations)
        step = exact_step(
            -float(best.residual @ direction),
            best.gradient,
            slope,
            limits.lower,
            limits.upper,
            float(weight @ direction**2),
        )
        if not np.isfinite(step):
            break
        moved = _evaluate(basis, target, limits, weight, best.eta + step * direction)
        if best.relative <= min(best.accepted, moved.relative):
            break
        best = moved
    best = _polished(basis, target, limits, weight, best)
    if best.relative <= best.accepted:
        return _ended(Status.OPTIMAL, best, best.eta, iterations)
    if weight.any():
        return _ended(Status.ITERATION_LIMIT, best, best.eta, iterations)
    return _decided_by_lp(basis, target, limits, best, iterations)


def _in_other_units(
    basis: Array,
    target: Array,
    limits: Box,
    start: Array | None,
    penalty: Array | None,
    max_iterations: int,
) -> BoxSolution:
    """Solve for u divided by a power of two: squares of the numbers as given leave float64."""
    exponent = math.frexp(float(np.abs(target).max()))[1]
    unit = 2.0 ** min(max(exponent, -_EXTREME), _EXTREME)
    found = newton_box(
        basis,
        target / unit,
        limits.scaled(unit),
        start=None if start is None else start / unit,
        penalty=penalty,
        max_iterations=max_iterations,
    )
    return replace(
        found, inputs=limits.nearest(unit * found.inputs), multipliers=unit * found.multipliers
    )


@dataclass(frozen=True, eq=False)
class _Iterate:
    """η with everything that follows from it."""

    eta: Array
    gradient: Array
    inputs: Array
    free: Array
    residual: Array
    relative: float
    accepted: float


def _evaluate(basis: Array, target: Array, limits: Box, weight: Array, eta: Array) -> _Iterate:
    gradient = basis @ eta
    inputs = limits.nearest(gradient)
    residual = target - basis.T @ inputs - weight * eta
    scale = max(_norm(target), _norm(inputs)) or 1.0
    free = (gradient > limits.lower) & (gradient < limits.upper)
    accepted = _ACCEPTED
    if weight.any():
        # Any target can be afforded, so large multipliers are right, and g is rounded to ε ‖η‖.
        accepted = max(_ACCEPTED, _ROUNDING * _norm(eta) / scale)
    return _Iterate(eta, gradient, inputs, free, residual, _norm(residual) / scale, accepted)


def _newton_direction(basis: Array, at: _Iterate, weight: Array) -> Array:
    from scipy.linalg.lapack import dpotrf, dpotrs

    rows = basis[at.free]
    matrix = rows.T @ rows
    shift = _REGULARISATION
    while True:
        matrix.flat[:: matrix.shape[0] + 1] += weight + shift
        factor, info = dpotrf(matrix, lower=1)
        if info == 0:
            return dpotrs(factor, at.residual, lower=1)[0]
        weight, shift = np.zeros_like(weight), 10.0 * shift


def _polished(basis: Array, target: Array, limits: Box, weight: Array, at: _Iterate) -> _Iterate:
    """Newton steps of full length while they help: exact for the free set that was found."""
    for _ in range(3):
        if at.relative <= _EPS:
            break
        direction = _newton_direction(basis, at, weight)
        moved = _evaluate(basis, target, limits, weight, at.eta + direction)
        if not moved.relative < at.relative:
            break
        at = moved
    if 2.0 * _EPS < at.relative <= at.accepted and at.free.any() and not weight.any():
        return _corrected(basis, target, limits, at)
    return at


def _corrected(basis: Array, target: Array, limits: Box, at: _Iterate) -> _Iterate:
    """Free inputs moved by least squares: for free rows of Q too ill conditioned for Newton."""
    from scipy.linalg import lstsq

    for _ in range(2):
        change = lstsq(basis[at.free].T, at.residual, lapack_driver="gelsy", check_finite=False)[0]
        inputs = at.inputs.copy()
        inputs[at.free] += change
        inputs = limits.nearest(inputs)
        residual = target - basis.T @ inputs
        relative = _norm(residual) / max(_norm(target), _norm(inputs))
        if not relative < at.relative:
            break
        at = replace(at, inputs=inputs, residual=residual, relative=relative)
    return at


def _proves_infeasible(
    target: Array, limits: Box, weight: Array, eta: Array, gradient: Array
) -> bool:
    """True when cᵀη exceeds max gᵀu over the box by more than rounding can explain."""
    if np.any(weight * eta):
        return False
    reach = limits.support(gradient)
    if not np.isfinite(reach):
        return False
    gain = float(target @ eta)
    spread = np.where(gradient > 0, limits.upper, limits.lower)
    spread = np.abs(np.where(np.isfinite(spread), spread, 0.0))
    rounding = (
        4.0
        * _EPS
        * (
            eta.size * float(np.abs(target) @ np.abs(eta))
            + (eta.size + gradient.size) * (_norm(eta) * _norm(spread))
        )
    )
    return gain - reach > rounding


def _decided_by_lp(
    basis: Array, target: Array, limits: Box, at: _Iterate, iterations: int
) -> BoxSolution:
    """Settle a stall: a proof of infeasibility, or a feasible point with a small duality gap."""
    found = box_phase_one(basis, target, limits)
    eta, none = found.multipliers, np.zeros(target.size)
    if _proves_infeasible(target, limits, none, eta, basis @ eta):
        return _ended(Status.INFEASIBLE, at, eta, iterations)
    inputs = found.inputs
    miss = _norm(basis.T @ inputs - target) / (max(_norm(target), _norm(inputs)) or 1.0)
    if miss > at.relative:
        return _ended(Status.PRECISION_LIMITED, at, at.eta, iterations)
    energy = 0.5 * float(inputs @ inputs)
    bound = float(at.eta @ target - at.inputs @ (at.gradient - 0.5 * at.inputs))
    close = miss <= _ACCEPTED and energy - bound <= _GAP * energy
    status = Status.OPTIMAL if close else Status.PRECISION_LIMITED
    return BoxSolution(status, inputs, at.eta, miss, iterations)


def _ended(status: Status, at: _Iterate, multipliers: Array, iterations: int) -> BoxSolution:
    return BoxSolution(status, at.inputs, multipliers, at.relative, iterations)


def _norm(vector: Array) -> float:
    return float(np.sqrt(vector @ vector))
