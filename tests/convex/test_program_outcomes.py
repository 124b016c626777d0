"""What compiled programs refuse, and how they end when a solver does not do its job."""

from dataclasses import replace

import cvxpy
import numpy as np
import pytest

from ensctl.convex import (
    Ball,
    Below,
    Objective,
    Problem,
    Rows,
    box,
    compile_program,
    lq,
    slew_rows,
)
from ensctl.convex.model import checked_dpp
from ensctl.convex.solvers import CLARABEL
from ensctl.errors import InvalidInputError, MissingDependencyError, SolverError
from ensctl.status import Status


def everywhere(size):
    return box(-np.inf, np.inf, size)


def worked(objective, **parts):
    """λ = (.3, .6, .9), b = 1, x_f = (1, 0, .5), H = 6."""
    system = lq(np.array([0.3, 0.6, 0.9])[:, None] ** np.arange(6)[::-1])
    parts = {"domain": everywhere(6), **parts}
    return Problem(objective, system, system.coordinates(np.array([1.0, 0.0, 0.5])), **parts)


def test_programs_that_are_not_dpp_are_refused():
    first, second, variable = cvxpy.Parameter(), cvxpy.Parameter(), cvxpy.Variable()
    product = cvxpy.Problem(cvxpy.Minimize(variable**2), [first * second * variable >= 1])
    with pytest.raises(InvalidInputError, match="program must be DPP"):
        checked_dpp(product)


def test_structure_cannot_change():
    program = compile_program(worked(Objective.ENERGY, domain=box(-9.0, 9.0, 6)))
    with pytest.raises(InvalidInputError, match="domain must have the structure"):
        program.solve(domain=everywhere(6))
    with pytest.raises(InvalidInputError, match="terminal must have the structure"):
        program.solve(terminal=Ball(0.1))
    with pytest.raises(InvalidInputError, match="limits must have the structure"):
        program.solve(limits=(slew_rows(0.1, 6),))
    with pytest.raises(InvalidInputError, match="coordinates must have 3 entries"):
        program.solve(np.zeros(4))


def test_mismatched_problems_are_refused():
    with pytest.raises(InvalidInputError, match="domain must have 6 real entries, got 5"):
        worked(Objective.ENERGY, domain=everywhere(5))
    row = Rows(np.zeros((1, 5)), np.zeros(1), Below())
    with pytest.raises(InvalidInputError, match=r"limits\[0\].matrix must have shape \(1, 6\)"):
        worked(Objective.ENERGY, limits=(row,))
    with pytest.raises(InvalidInputError, match="terminal must be an equality, a tolerance"):
        compile_program(worked(Objective.ENERGY, terminal=Below()))


def test_solvers_are_named_in_errors(monkeypatch):
    program = compile_program(worked(Objective.ENERGY))
    with pytest.raises(SolverError, match="HIGHS cannot solve quadratic programs"):
        program.solve(solver="HIGHS")
    with pytest.raises(InvalidInputError, match="got 'GUROBI'"):
        program.solve(solver="GUROBI")
    monkeypatch.setattr("ensctl.convex.solvers.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="solver OSQP is not installed"):
        program.solve(solver="OSQP")


def test_iteration_and_time_limits_are_statuses():
    problem = worked(Objective.ENERGY, domain=box(-2.5, 2.5, 6))
    stopped = compile_program(problem).solve(solver="CLARABEL", max_iterations=1)
    assert stopped.status is Status.ITERATION_LIMIT
    assert stopped.native_status == "MaxIterations"
    assert stopped.inputs is None
    late = compile_program(problem).solve(time_limit=1e-9)
    assert late.status is Status.TIME_LIMIT


def test_inaccurate_is_never_success(monkeypatch):
    """A solver that says "almost": the next is tried, and its word is not passed on."""
    program = compile_program(worked(Objective.ENERGY, domain=box(-2.6, 2.6, 6)))
    words = dict(CLARABEL.statuses, Solved=Status.INACCURATE)
    almost = replace(CLARABEL, statuses=words)
    monkeypatch.setattr(
        "ensctl.convex.programs.able_backends", lambda ability, solver=None: (almost,)
    )
    alone = program.solve()
    assert alone.status is Status.INACCURATE
    assert not alone.status.success
    # The residuals are there, however small they are.
    assert alone.certificate.worst < 1e-6
    assert alone.native_status == "Solved"


def test_the_next_solver_is_tried(monkeypatch):
    words = dict(CLARABEL.statuses, Solved=Status.INACCURATE)
    monkeypatch.setattr(
        "ensctl.convex.solvers._PREFERRED",
        {ability: tuple(replace(b, statuses=words) if b is CLARABEL else b for b in order)
         for ability, order in _preferred().items()},
    )  # fmt: skip
    result = compile_program(worked(Objective.ENERGY, domain=box(-2.6, 2.6, 6))).solve()
    assert result.status is Status.OPTIMAL
    assert result.solver == "OSQP"


def _preferred():
    from ensctl.convex import solvers

    return solvers._PREFERRED


def test_a_sloppy_answer_is_not_optimal(monkeypatch):
    """ "Solved" to 1e-2 fails the certificate: OSQP at loose settings, nothing restored."""
    from ensctl.convex import programs, solvers

    loose = replace(solvers.OSQP, options={"eps_abs": 1e-1, "eps_rel": 1e-1, "polishing": False})
    monkeypatch.setattr(programs, "able_backends", lambda ability, solver=None: (loose,))
    monkeypatch.setattr(programs, "candidates", lambda problem, u: [problem.domain.nearest(u)])
    monkeypatch.setattr(programs, "settled_candidates", lambda problem, found: iter(()))
    result = compile_program(worked(Objective.ENERGY, domain=box(-2.6, 2.6, 6))).solve()
    assert result.native_status == "solved"
    assert result.status is Status.INACCURATE
    assert result.certificate.worst > 1e-6


def test_infeasible_without_a_proof_is_not_infeasible(monkeypatch):
    """A solver that cries infeasible on a feasible problem is not believed."""
    words = dict(CLARABEL.statuses, Solved=Status.INFEASIBLE)
    liar = replace(CLARABEL, statuses=words)

    def backends(ability, solver="the search for a proof"):
        return (CLARABEL,) if solver == "the search for a proof" else (liar,)

    monkeypatch.setattr("ensctl.convex.programs.able_backends", backends)
    result = compile_program(worked(Objective.ENERGY, domain=box(-2.6, 2.6, 6))).solve()
    assert result.status is Status.INACCURATE
    assert result.infeasibility is None
