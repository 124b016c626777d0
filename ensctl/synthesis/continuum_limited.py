"""Limited inputs, least peaks and arcs: cone programs on points that grow where the error peaks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.convex.uniform_program import UniformSolution, least_cost, least_error
from ensctl.errors import InfeasibleError, SolverError
from ensctl.formatting import horizon_text
from ensctl.synthesis.continuum_certificate import UniformCertificate
from ensctl.synthesis.continuum_errors import error_function
from ensctl.synthesis.continuum_jumps import Jump
from ensctl.synthesis.continuum_peaks import peaks
from ensctl.synthesis.continuum_plan import ContinuumPlan
from ensctl.synthesis.continuum_task import ContinuumTask

Array = NDArray[Any]

_ROUNDS = 12
# Relative excess of the error over that on the points, at which points are enough.
_ENOUGH = 2e-7
_MARGIN = 1e-6
_TRIES = 5
_BESIDE = 1e-5


def limited_plan(task: ContinuumTask, wish: Any, jump: Jump | None) -> ContinuumPlan:
    """The plan for |u| ≤ ū, for the least peak, or for an arc.

    Parameters
    ----------
    task : ContinuumTask
        Real or complex.
    wish : Wish
        What is to be made least.
    jump : Jump or None
        Of the target.

    Raises
    ------
    InfeasibleError
        The tolerance is below the best error with these limits; the certificate proves it.
    SolverError
        The points did not settle.
    """
    from ensctl.synthesis.continuum_solution import Found, _jump_note, finished

    best, points = _on_points(task, lambda r, g: least_error(r, g, wish.u_max))
    note = _jump_note(jump)
    if wish.tolerance is not None and best.lower_bound > wish.tolerance:
        raise _too_tight(task, wish, best, points, note)
    if wish.objective == "error":
        return finished(task, wish, Found(_powers(best), best.lower_bound), note)
    tolerance = wish.tolerance or 0.0
    aim = tolerance * (1.0 - _MARGIN)
    plan: ContinuumPlan | None = None
    for _ in range(_TRIES):
        found, _ = _on_points(
            task,
            lambda r, g, e=aim: least_cost(r, g, e, wish.objective, wish.u_max),
            points,
        )
        if found.inputs is None:
            break
        plan = finished(task, wish, Found(_powers(found), found.lower_bound), note)
        excess = plan.sup_error - tolerance
        if excess <= 0.0:
            return plan
        aim -= 1.5 * excess
    if plan is not None and plan.sup_error <= tolerance * (1.0 + 1e-5):
        return plan
    nearest = "" if plan is None else f" came nearer than {plan.sup_error:.6g} and"
    raise SolverError(
        f"the best error is {best.value:.6g}, but no solver{nearest} found the least "
        f"{wish.objective} within {tolerance:g}; take a larger tolerance or a longer horizon"
    )


def _on_points(
    task: ContinuumTask, solve: Any, points: Array | None = None
) -> tuple[UniformSolution, Array]:
    """Solve on points, add the peaks of the error that pass it, and again."""
    grid = task.region.chebyshev(max(401, 20 * task.horizon + 1) | 1)
    t = task.region.chebyshev(4 * task.horizon + 13) if points is None else points
    last: UniformSolution | None = None
    for _ in range(_ROUNDS):
        lam = task.region.at(t)
        rows = task.gains(lam)[:, None] * lam[:, None] ** np.arange(task.horizon)
        wanted = task.wanted(lam)
        solution: UniformSolution = solve(rows, wanted)
        if solution.inputs is None:
            # Points beside each other can stop a solver; what came before is measured anyway.
            return last or solution, t
        last = solution
        size = float(np.abs(wanted - rows @ solution.inputs).max())
        places, values = peaks(error_function(task, solution.inputs), grid, sections=30)
        passed = np.abs(values) > size * (1.0 + _ENOUGH) + 1e-14 * float(np.abs(wanted).max())
        if not np.any(passed):
            break
        t = _joined(t, places[passed])
    return last or solution, t


def _joined(t: Array, new: Array) -> Array:
    """Points with the new ones, each of which takes the place of one just beside it."""
    gap = np.abs(t[:, None] - new[None, :]).min(axis=1)
    return np.unique(np.concatenate([t[gap > _BESIDE], new]))


def _powers(solution: UniformSolution) -> Array:
    if solution.inputs is None:
        raise SolverError("no solver returned inputs")
    return np.asarray(solution.inputs)


def _too_tight(
    task: ContinuumTask, wish: Any, best: UniformSolution, points: Array, note: str
) -> InfeasibleError:
    lam = task.region.at(points)
    used = np.abs(best.weights) > 1e-9
    certificate = UniformCertificate(
        read_only(lam[used]),
        read_only(best.weights[used]),
        best.lower_bound,
        task.horizon,
    )
    limit = "" if wish.u_max is None else f" with |u| ≤ {wish.u_max:g}"
    return InfeasibleError(
        f"infeasible, proved: tolerance {wish.tolerance:g} is below the best error "
        f"{best.value:.6g} in {horizon_text(task.horizon)}{limit}; take a longer horizon, a larger "
        f"tolerance{' or a larger u_max' if limit else ''}{note}",
        certificate,
    )
