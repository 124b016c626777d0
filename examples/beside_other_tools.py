"""The same inputs given to numpy, python-control, cvxpy and ensctl: the table of the README.

Every row asks one question, says what a neighbouring tool answers, what ensctl answers, and what is
true.  Nothing here is a bug of the others: they are general tools that work in float64 on matrices,
where these questions have no answer.

Run: python examples/beside_other_tools.py
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import control
import cvxpy as cp
import numpy as np

import ensctl as ec


class Row(NamedTuple):
    """One question, three answers."""

    question: str
    tool: str
    answer: str
    ensctl: str
    truth: str
    ensctl_is_right: bool
    tool_is_right: bool


def main() -> list[Row]:
    """Ask all questions."""
    return [
        _reachable_at_20(),
        _reachable_one_ulp_apart(),
        _condition_at_30(),
        _poles_of_20(),
        _poles_of_twins(),
        _regulator_of_twins(),
        _complex_members(),
        _least_energy_input(),
        _bounded_input(),
    ]


def _equispaced(size: int) -> ec.Ensemble:
    return ec.Ensemble(np.linspace(0.1, 0.9, size))


def _reachable_at_20() -> Row:
    ens = _equispaced(20)
    rank = int(np.linalg.matrix_rank(control.ctrb(np.diag(ens.lam), np.ones((20, 1)))))
    ours = ec.controllability(ens)
    return Row(
        "rank of 20 members, λ = linspace(.1, .9, 20)",
        "numpy rank of control.ctrb",
        str(rank),
        str(ours.rank),
        "20: all λ differ",
        ours.rank == 20,
        rank == 20,
    )


def _reachable_one_ulp_apart() -> Row:
    lam = [0.3, 0.1 + 0.2]
    rank = int(np.linalg.matrix_rank(control.ctrb(np.diag(lam), np.ones((2, 1)))))
    ours = ec.controllability(ec.Ensemble(lam))
    return Row(
        "rank of λ = (.3, .1 + .2), one ulp apart",
        "numpy rank of control.ctrb",
        str(rank),
        f"{ours.rank}, κ = {ec.conditioning(ec.Ensemble(lam)).cond:.2e}",
        "2, κ = 3.93e+16",
        ours.rank == 2,
        rank == 2,
    )


def _condition_at_30() -> Row:
    ens = _equispaced(30)
    theirs = float(np.linalg.cond(ec.ctrb(ens)))
    ours = ec.conditioning(ens).cond
    return Row(
        "κ of 30 members, λ = linspace(.1, .9, 30)",
        "numpy.linalg.cond",
        f"{theirs:.2e}",
        f"{ours:.4e}",
        "6.5272e+27 (60-digit arithmetic)",
        math.isclose(ours, 6.5272e27, rel_tol=1e-4),
        math.isclose(theirs, 6.5272e27, rel_tol=0.1),
    )


def _largest_exact_gain(lam: np.ndarray, poles: np.ndarray) -> float:
    """max |Π_j(λ_i − μ_j)/Π_{j≠i}(λ_i − λ_j)| in fractions."""
    nodes, wanted = [Fraction(v) for v in lam.tolist()], [Fraction(v) for v in poles.tolist()]
    gains = [
        math.prod((node - mu for mu in wanted), start=Fraction(1))
        / math.prod((node - other for other in nodes if other != node), start=Fraction(1))
        for node in nodes
    ]
    return float(max(map(abs, gains)))


def _quietly(call: Callable[[], object]) -> str:
    """The answer as text, or the error's name; warnings are counted as part of the answer."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = str(call())
        except (ValueError, np.linalg.LinAlgError) as error:
            return f"{type(error).__name__}: {str(error)[:40]}"
    return answer + (" (with a warning)" if caught else ", no warning")


def _poles_of_20() -> Row:
    ens, poles = _equispaced(20), np.linspace(-0.5, 0.5, 20)
    a, b = np.diag(ens.lam), np.ones((20, 1))
    theirs = _quietly(lambda: f"max|K| = {np.abs(control.place(a, b, poles)).max():.3g}")
    ours = float(np.abs(ec.place(ens, poles).gains).max())
    exact = _largest_exact_gain(ens.lam, poles)
    return Row(
        "gains that place 20 poles, linspace(−.5, .5, 20)",
        "control.place",
        theirs,
        f"max|K| = {ours:.4g}",
        f"max|K| = {exact:.4g} (fractions)",
        math.isclose(ours, exact, rel_tol=1e-12),
        False,
    )


def _poles_of_twins() -> Row:
    lam, poles = [0.3, 0.3, 0.9], [0.1, 0.15, 0.2]
    a, b = np.diag(lam), np.ones((3, 1))
    theirs = _quietly(lambda: f"max|K| = {np.abs(control.place(a, b, poles)).max():.1g}")
    try:
        ec.place(ec.Ensemble(lam), poles)
        ours, refused = "gains", False
    except ec.NotReachableError as error:
        ours, refused = f"refused, members {error.members}", True
    return Row(
        "poles (.1, .15, .2) for λ = (.3, .3, .9)",
        "control.place",
        theirs,
        ours,
        "impossible: one .3 stays",
        refused,
        "Error" in theirs,
    )


def _regulator_of_twins() -> Row:
    lam = [1.2, 1.2, 0.9]
    a, b = np.diag(lam), np.ones((3, 1))
    theirs = _quietly(lambda: f"finite K = {control.dlqr(a, b, np.eye(3), 1.0)[0].round(2)}")
    try:
        ec.lqr(ec.Ensemble(lam), 1.0, 1.0)
        ours, refused = "gains", False
    except ec.NotReachableError as error:
        ours, refused = f"refused, members {error.members}", True
    return Row(
        "LQ regulator for λ = (1.2, 1.2, .9)",
        "control.dlqr",
        theirs,
        ours,
        "impossible: their difference grows",
        refused,
        "Error" in theirs,
    )


def _complex_members() -> Row:
    ens = ec.families.roots_of_unity(8)
    theirs = _quietly(
        lambda: (
            "complex"
            if np.iscomplexobj(control.ctrb(np.diag(ens.lam), np.ones((8, 1))))
            else "real"
        )
    )
    ours = ec.conditioning(ens).cond
    return Row(
        "κ of the 8th roots of unity",
        "control.ctrb",
        f"{theirs} matrix",
        f"κ = {ours:.6g}",
        "κ = 1",
        math.isclose(ours, 1.0, rel_tol=1e-12),
        "complex" in theirs,
    )


def _least_energy_input() -> Row:
    ens, target = _equispaced(12), (-1.0) ** np.arange(12)
    matrix = ec.reachability_matrix(ens, 24)
    u = cp.Variable(24)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(u)), [matrix @ u == target])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=cp.OSQP)
    ours = ec.min_energy(ens, target, 24)
    miss = float(np.abs(ec.final_state(ens, ours.inputs) - target).max())
    return Row(
        "least-energy input, 12 members, 24 steps",
        "cvxpy with OSQP, as typed",
        problem.status,
        f"found, ends {miss:.0e} from the target",
        "feasible: 12 members differ",
        miss < 1e-7,
        problem.status == "optimal",
    )


def _bounded_input() -> Row:
    ens, target = _equispaced(10), (-1.0) ** np.arange(10)
    least = ec.min_energy(ens, target, 20)
    limit = 1.2 * float(np.abs(least.inputs).max())
    matrix = ec.reachability_matrix(ens, 20)
    u = cp.Variable(20)
    rules = [matrix @ u == target, cp.abs(u) <= limit]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(u)), rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=cp.CLARABEL)
    plan = ec.steer(ens, target, 20, limits=ec.Limits(u_max=limit))
    theirs = problem.status
    if u.value is not None:
        theirs += f", misses by {np.abs(matrix @ u.value - target).max():.0e}"
    return Row(
        "the same for 10 members with a limit that the optimum keeps",
        "cvxpy with Clarabel, as typed",
        theirs,
        f"{plan.status.name.lower()}, ends {plan.terminal_error:.0e} from the target",
        "feasible",
        plan.success and plan.terminal_error < 1e-7,
        False,
    )


def _print(rows: list[Row]) -> None:
    for row in rows:
        print(row.question)
        print(f"  {row.tool + ':':32s} {row.answer}")
        print(f"  {'ensctl:':32s} {row.ensctl}")
        print(f"  {'true:':32s} {row.truth}")


if __name__ == "__main__":
    _print(main())
