"""Quadratic programs that are solved again and again with new data: receding horizons.

    min_u ½uᵀPu + qᵀu + Σ_j max(0, a_jᵀu − b_j)²/(2 δ_j)   subject to  a_jᵀu ≤ b_j  (δ_j = 0)

P and A stay, q and b change.  Rows with δ_j > 0 are soft: the program is feasible whenever the
hard rows are.  A neighbouring problem mostly has the same active rows, so the first thing tried
is the working set of the last solution: one small linear system.  What comes back is checked
against the optimality conditions of the data as given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.mpc_active_rows import RowKinds, at_active_rows, row_kinds, within_bounds
from ensctl.convex.mpc_interior import interior_multipliers
from ensctl.errors import InvalidInputError
from ensctl.status import Status

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Relative residual of the optimality conditions that counts as optimal.
_ACCEPTED = 1e-9
_ROUNDING = 8.0 * _EPS
# Rows this near their limit, relative to their scale, are not violated.
_VIOLATED = 1e-11
_MOST_SWAPS = 8


@dataclass(frozen=True, eq=False)
class RecedingProgram:
    """P and A with what is shared by all solves.

    Attributes
    ----------
    hessian : (n, n) float64
        P, positive definite.
    rows : (k, n) float64
        A.
    softness : (k,) float64
        δ ≥ 0; 0 is a hard row.
    """

    hessian: Array
    rows: Array
    softness: Array
    _factor: tuple[Array, bool]
    _kinds: RowKinds

    @property
    def reciprocal_condition(self) -> float:
        """An estimate of 1/κ₁ of P from its Cholesky factor, O(n²)."""
        from scipy.linalg.lapack import dpocon

        norm = float(np.abs(self.hessian).sum(axis=0).max(initial=0.0))
        return float(dpocon(self._factor[0], norm, uplo="L")[0]) if norm < np.inf else 0.0


@dataclass(frozen=True, eq=False)
class RecedingSolution:
    """What a solve found.

    Attributes
    ----------
    status : Status
        ``OPTIMAL`` when the optimality conditions hold to 1e-9, else ``INACCURATE``.
    inputs : (n,) float64
        u; hard rows that bound one input hold exactly.
    multipliers : (k,) float64
        z ≥ 0 of the rows; (a_jᵀu − b_j)/δ_j for an active soft row.
    free_inputs : (n,) float64
        The minimiser of the same cost without any rows.
    residual : float
        Largest of ‖Pu + q + Aᵀz‖/(‖Pu‖ + ‖q‖ + ‖Aᵀz‖) beyond what rounding of soft z explains, of
        a_jᵀu − b_j − δ_j z_j, alone and as modulus times z_j/max z, relative to the size of each
        row, and of −z_j/max z.
    iterations : int
        Linear systems solved.
    """

    status: Status
    inputs: Array
    multipliers: Array
    free_inputs: Array
    residual: float
    iterations: int


def receding_program(hessian: Array, rows: Array, softness: Array) -> RecedingProgram:
    """Prepare P, A and δ for many q and b.

    Parameters
    ----------
    hessian : (n, n) float64
        P, symmetric positive definite.
    rows : (k, n) float64
        A; k may be 0.
    softness : (k,) float64
        δ ≥ 0.

    Returns
    -------
    RecedingProgram

    Raises
    ------
    InvalidInputError
        Shapes that do not go together, δ < 0, or P is not positive definite to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex.mpc_program import receding_program, solve_receding
    >>> program = receding_program(np.eye(2), np.array([[1.0, 0.0]]), np.zeros(1))
    >>> solve_receding(program, np.array([-3.0, -1.0]), np.array([2.0])).inputs
    array([2., 1.])
    """
    from scipy.linalg import cho_factor

    size = hessian.shape[0]
    if hessian.shape != (size, size) or rows.shape != (softness.size, size):
        raise InvalidInputError(
            f"hessian, rows and softness must be (n, n), (k, n) and (k,), got {hessian.shape}, "
            f"{rows.shape} and {softness.shape}"
        )
    if np.any(softness < 0.0):
        raise InvalidInputError(f"softness must be ≥ 0, got {softness.min():g}")
    try:
        factor = cho_factor(hessian, lower=True)
    except np.linalg.LinAlgError:
        raise InvalidInputError(
            "hessian must be positive definite; give the inputs a larger weight"
        ) from None
    return RecedingProgram(hessian, rows, softness, factor, row_kinds(rows, softness))


def solve_receding(
    program: RecedingProgram, linear: Array, bounds: Array, *, start: Array | None = None
) -> RecedingSolution:
    """Minimise ½uᵀPu + qᵀu with the hard and soft rows A u ≤ b.

    Parameters
    ----------
    program : RecedingProgram
    linear : (n,) float64
        q.
    bounds : (k,) float64
        b; +inf is no limit.
    start : (k,), optional
        ``multipliers`` of a neighbouring problem; its positive ones are tried as active rows.

    Returns
    -------
    RecedingSolution

    Notes
    -----
    Rows enter and leave the working set until the optimality conditions hold (a semismooth Newton
    method, as in M. Hintermüller, K. Ito, K. Kunisch, SIAM J. Optim. 13 (2003) 865–888): O(w³)
    for w active rows each time.  If working sets come back, an interior point method finds the
    active rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex.mpc_program import receding_program, solve_receding
    >>> soft = receding_program(np.eye(1), np.ones((1, 1)), np.ones(1))
    >>> solve_receding(soft, np.array([-3.0]), np.array([1.0])).inputs
    array([2.])
    """
    free = _solved(program, -linear)
    limits = program.rows @ free - bounds
    scale = _row_scale(program, free, bounds)
    active = limits > _VIOLATED * scale if start is None else (start > 0.0) & np.isfinite(bounds)
    found, swaps = _swapped(program, linear, bounds, free, active, scale)
    if found.residual <= _ACCEPTED:
        return found
    if start is not None:
        cold, more = _swapped(
            program, linear, bounds, free, limits > _VIOLATED * scale, scale, swaps
        )
        swaps, found = more, _better(found, cold)
        if found.residual <= _ACCEPTED:
            return found
    multipliers, steps = interior_multipliers(
        program.hessian, linear, program.rows, bounds, program.softness
    )
    chosen = multipliers > 0.0
    inputs, refined = _at_rows(program, linear, bounds, free, chosen, multipliers)
    last = _checked(program, linear, bounds, free, inputs, refined, scale, swaps + steps)
    if last.residual <= _ACCEPTED:
        return last
    again, _ = _swapped(program, linear, bounds, free, refined > 0.0, scale, last.iterations)
    return _better(_better(found, last), again)


def _swapped(
    program: RecedingProgram,
    linear: Array,
    bounds: Array,
    free: Array,
    active: Array,
    scale: Array,
    done: int = 0,
) -> tuple[RecedingSolution, int]:
    """Exchange active rows until the signs are right, or a working set comes back."""
    seen: set[bytes] = set()
    best: RecedingSolution | None = None
    while True:
        done += 1
        inputs, multipliers = _at_rows(program, linear, bounds, free, active)
        found = _checked(program, linear, bounds, free, inputs, multipliers, scale, done)
        best = found if best is None else _better(best, found)
        seen.add(active.tobytes())
        if best.residual <= _ACCEPTED or len(seen) > _MOST_SWAPS:
            return best, done
        over = program.rows @ inputs - bounds > _VIOLATED * scale
        active = np.where(active, multipliers > 0.0, over)
        if active.tobytes() in seen:
            return best, done


def _at_rows(
    program: RecedingProgram,
    linear: Array,
    bounds: Array,
    free: Array,
    active: Array,
    guess: Array | None = None,
) -> tuple[Array, Array]:
    if not active.any():
        return free, np.zeros(bounds.size)
    return at_active_rows(
        program.hessian,
        linear,
        program.rows,
        bounds,
        program.softness,
        program._kinds,
        active,
        guess,
    )


def _checked(
    program: RecedingProgram,
    linear: Array,
    bounds: Array,
    free: Array,
    inputs: Array,
    multipliers: Array,
    scale: Array,
    iterations: int,
) -> RecedingSolution:
    inputs = within_bounds(program._kinds, inputs, bounds)
    pushed, bent = program.rows.T @ multipliers, program.hessian @ inputs
    norms = _norm(bent) + _norm(linear) + _norm(pushed)
    missed = _norm(bent + linear + pushed) - _soft_rounding(program, inputs, bounds, multipliers)
    stationarity = max(0.0, missed) / (norms or 1.0)
    residual = stationarity
    if bounds.size:
        excess = program.rows @ inputs - bounds - program.softness * multipliers
        weights = multipliers / (np.abs(multipliers).max() or 1.0)
        with np.errstate(invalid="ignore"):
            slack = np.where(weights == 0.0, 0.0, np.abs(excess) * np.abs(weights))
        wrong = np.maximum(np.maximum(excess, slack) / scale, -weights)
        residual = max(stationarity, float(wrong.max()))
    status = Status.OPTIMAL if residual <= _ACCEPTED else Status.INACCURATE
    return RecedingSolution(status, inputs, multipliers, free, residual, iterations)


def _soft_rounding(
    program: RecedingProgram, inputs: Array, bounds: Array, multipliers: Array
) -> float:
    """What rounding of (A u − b)/δ does to Aᵀz: it can exceed a small cost of the inputs."""
    active = np.flatnonzero((multipliers > 0.0) & program._kinds.soft)
    if not active.size:
        return 0.0
    rows = np.abs(program.rows[active])
    sizes = (rows @ np.abs(inputs) + np.abs(bounds[active])) / program.softness[active]
    return _ROUNDING * _norm(rows.T @ sizes)


def _better(one: RecedingSolution, other: RecedingSolution) -> RecedingSolution:
    return other if other.residual < one.residual else one


def _row_scale(program: RecedingProgram, free: Array, bounds: Array) -> Array:
    """The size of the numbers that meet in each row."""
    finite = np.where(np.isfinite(bounds), np.abs(bounds), 0.0)
    return np.maximum(np.abs(program.rows) @ np.abs(free), finite) + _EPS


def _solved(program: RecedingProgram, right: Array) -> Array:
    from scipy.linalg.lapack import dpotrs

    return np.asarray(dpotrs(program._factor[0], right, lower=1)[0])


def _norm(vector: Array) -> float:
    return float(np.sqrt(vector @ vector))
