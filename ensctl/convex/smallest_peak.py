"""How small the limits may be: the smallest τ for which some u in τ · shape meets the target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box, Discs, Domain, discs
from ensctl.convex.lq import lq
from ensctl.convex.phase_one import HIGHS_TOLERANCES
from ensctl.convex.problem import Objective, Problem
from ensctl.convex.programs import compile_program
from ensctl.convex.stacking import moduli
from ensctl.errors import InvalidInputError, SolverError

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class SmallestPeak:
    """τ* enclosed: attained from above, proved from below.

    Attributes
    ----------
    value : float
        τ that ``inputs`` attains, ≥ τ*; inf when no multiple of the shape suffices.
    lower_bound : float
        ηᵀc / max{ηᵀQᵀz : z in the shape} ≤ τ*, by weak duality.
    inputs : (n,) float64 or None
        u in value · shape with Qᵀu = c to rounding; None when ``value`` is inf.
    eta : (N,) float64
        The multipliers of the lower bound.
    """

    value: float
    lower_bound: float
    inputs: Array | None
    eta: Array

    @property
    def gap(self) -> float:
        """value/lower_bound − 1; 0 when both are 0 or both infinite."""
        if self.value == self.lower_bound:
            return 0.0
        return self.value / self.lower_bound - 1.0 if self.lower_bound > 0.0 else math.inf

    @property
    def verified(self) -> bool:
        """True when the two bounds agree to 1e-7."""
        return abs(self.gap) <= 1e-7


def smallest_peak(basis: Array, target: Array, shape: Domain | None = None) -> SmallestPeak:
    """The smallest τ with Qᵀu = c, u in τ · shape.

    With the default shape −1 ≤ u ≤ 1 this is the smallest peak max|u_k|; limits ū are feasible
    exactly when ū ≥ τ*.

    Parameters
    ----------
    basis : (n, N) float64
        Q.
    target : (N,) float64
        c.
    shape : Box or Discs, optional
        Finite limits with l ≤ 0 ≤ h, or discs for stacked complex inputs.

    Returns
    -------
    SmallestPeak

    Raises
    ------
    InvalidInputError
        A shape that is not finite or leaves out zero.
    SolverError
        No solver found the optimum.

    Notes
    -----
    Boxes: a linear program in z = u/τ with simple bounds, maximising 1/τ, whose vertex is then
    solved for exactly; τ is right to rounding.  Discs: a second-order cone program.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import lq, smallest_peak
    >>> lam, d = np.array([0.3, 0.6, 0.9]), np.array([1.0, 0.0, 0.5])
    >>> system = lq(lam[:, None] ** np.arange(6)[::-1])
    >>> round(smallest_peak(system.basis, system.coordinates(d)).value, 6)
    2.468502
    """
    chosen = Box(-np.ones(basis.shape[0]), np.ones(basis.shape[0])) if shape is None else shape
    _check_shape(chosen, basis.shape[0])
    scale = float(np.linalg.norm(target))
    if scale == 0.0:
        return SmallestPeak(0.0, 0.0, np.zeros(basis.shape[0]), np.zeros(target.size))
    if isinstance(chosen, Box):
        return _of_box(basis, target / scale, chosen, scale)
    return _of_discs(basis, target, chosen)


def _check_shape(shape: Domain, size: int) -> None:
    if shape.size != size:
        raise InvalidInputError(f"shape must have {size} real entries, got {shape.size}")
    if not shape.bounded.all():
        raise InvalidInputError("shape must have finite limits; scale the finite ones only")
    if not shape.contains(np.zeros(size)):
        raise InvalidInputError("shape must contain zero (lower ≤ 0 ≤ upper) to be scaled")


def _of_box(basis: Array, target: Array, shape: Box, scale: float) -> SmallestPeak:
    from scipy.optimize import linprog

    size, count = basis.shape
    found = linprog(
        np.append(np.zeros(size), -1.0),
        A_eq=np.column_stack([basis.T, -target]),
        b_eq=np.zeros(count),
        bounds=np.vstack([np.column_stack([shape.lower, shape.upper]), [0.0, np.inf]]),
        method="highs",
        options=HIGHS_TOLERANCES,
    )
    if found.status != 0:
        raise SolverError(
            f"HiGHS stopped without the smallest peak: {found.message}", "HIGHS", str(found.status)
        )
    eta = np.asarray(found.eqlin.marginals)
    lower = _lower_bound(basis, target, shape, eta)
    inputs = _vertex(basis, target, shape, found.x[:size], float(found.x[size]))
    if inputs is None:
        return SmallestPeak(math.inf, scale * lower, None, eta)
    limit = np.where(inputs > 0.0, shape.upper, -shape.lower)
    moving = inputs != 0.0
    with np.errstate(divide="ignore"):
        value = float(np.max(np.abs(inputs[moving]) / limit[moving], initial=0.0))
    return SmallestPeak(scale * value, scale * lower, scale * inputs, eta)


def _vertex(basis: Array, target: Array, shape: Box, point: Array, rate: float) -> Array | None:
    """u = z/α of the basic solution next to (z, α); None when α vanishes."""
    from scipy.linalg import lstsq

    near = 1e-9 * (shape.upper - shape.lower)
    low, high = point <= shape.lower + near, point >= shape.upper - near
    held = np.where(low, shape.lower, np.where(high, shape.upper, point))
    free = ~(low | high)
    system = np.column_stack([basis[free].T, -target])
    miss = rate * target - basis.T @ held
    change = lstsq(system, miss, lapack_driver="gelsy", check_finite=False)[0]
    held[free] += change[:-1]
    rate += float(change[-1])
    return held / rate if rate > 1e-9 else None


def _of_discs(basis: Array, target: Array, shape: Discs) -> SmallestPeak:
    # u = radius · w: the smallest peak of w, for a system with its columns scaled.
    spread = np.tile(shape.radius, 2)
    system = lq(basis.T * spread)
    everywhere = discs(np.inf, shape.radius.size)
    problem = Problem(Objective.PEAK, system, system.coordinates(target), everywhere)
    found = compile_program(problem).solve()
    if found.inputs is None or found.eta is None:
        raise SolverError(
            f"no solver found the smallest peak: {found.native_status}",
            found.solver,
            found.native_status,
        )
    eta = system.multipliers(found.eta)
    value = float(moduli(found.inputs).max())
    return SmallestPeak(value, _lower_bound(basis, target, shape, eta), spread * found.inputs, eta)


def _lower_bound(basis: Array, target: Array, shape: Domain, eta: Array) -> float:
    gain, reach = float(target @ eta), shape.support(basis @ eta)
    if gain <= 0.0:
        return 0.0
    noise = target.size * _EPS * float(np.abs(target) @ np.abs(eta))
    return gain / reach if reach > noise else math.inf
