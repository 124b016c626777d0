"""The same steering problem given to ensctl and, as it stands, to cvxpy.

Minimise Σ u² subject to R u = d, with λ = linspace(0.1, 0.9, N), H = 2N and targets that
alternate between +1 and −1.  An input exists for every N.  The matrix R is so ill-conditioned that
solvers given R and d call the problem infeasible, or return an input that misses the target.

Run: python examples/beside_raw_cvxpy.py
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

import ensctl as ec

_RAW = ("OSQP", "CLARABEL", "SCS")
_CLOSE_ENOUGH = 1e-5


class Outcome(NamedTuple):
    """What one solver says, and how far its input ends from the target when simulated."""

    size: int
    solver: str
    says: str
    miss: float
    floor: float

    @property
    def verdict(self) -> str:
        """What the answer is worth, when 1e-5 of the targets' size is close enough."""
        if "infeasible" in self.says:
            return "wrong: it is feasible"
        if self.says != "optimal":
            return "gave up"
        return "right" if self.miss <= _CLOSE_ENOUGH else "wrong: misses the target"


def main(sizes: Sequence[int] = range(4, 16)) -> list[Outcome]:
    """Solve for each N with ensctl and with every raw solver that is installed."""
    solvers = [name for name in _RAW if name in cp.installed_solvers()]
    outcomes = []
    for size in sizes:
        ens = ec.Ensemble(np.linspace(0.1, 0.9, size))
        target = (-1.0) ** np.arange(size)
        plan = ec.steer(ens, target, 2 * size)
        miss = _miss(ens, plan.inputs, target)
        outcomes.append(Outcome(size, "ensctl", plan.status.name.lower(), miss, plan.float_floor))
        for solver in solvers:
            says, inputs = _raw(ec.reachability_matrix(ens, 2 * size), target, solver)
            miss = math.inf if inputs is None else _miss(ens, inputs, target)
            outcomes.append(Outcome(size, solver, says, miss, plan.float_floor))
    return outcomes


def _raw(matrix: Any, target: Any, solver: str) -> tuple[str, Any]:
    """The problem as a textbook writes it; status and input, or None without one."""
    inputs = cp.Variable(matrix.shape[1])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(inputs)), [matrix @ inputs == target])
    with warnings.catch_warnings():
        # cvxpy warns of inaccurate solutions; the status says so too.
        warnings.simplefilter("ignore")
        try:
            problem.solve(solver=solver)
        except cp.SolverError:
            return "solver error", None
    return problem.status, inputs.value


def _miss(ens: ec.Ensemble, inputs: Any, target: Any) -> float:
    """max_i |x_{i,H} − target_i| by the recursion itself."""
    state = np.zeros(ens.size)
    for u in inputs:
        state = ens.lam * state + ens.b * u
    return float(np.abs(state - target).max())


def _print(outcomes: list[Outcome]) -> None:
    print("λ = linspace(0.1, 0.9, N), H = 2N, targets +1, −1, +1, …: an input exists for every N")
    print(" N  solver    says                    misses by  rounding leaves  verdict")
    for outcome in outcomes:
        miss = "no input" if math.isinf(outcome.miss) else f"{outcome.miss:.1e}"
        print(
            f"{outcome.size:2d}  {outcome.solver:8s}  {outcome.says:22s}  {miss:>9s}"
            f"  {outcome.floor:15.1e}  {outcome.verdict}"
        )


if __name__ == "__main__":
    _print(main())
