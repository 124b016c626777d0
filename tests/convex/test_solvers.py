"""Declared backends: abilities, what their words mean, what is said when they are missing."""

from types import SimpleNamespace

import cvxpy
import pytest

from ensctl.convex import BACKENDS, Ability
from ensctl.convex import solvers as declared
from ensctl.errors import InvalidInputError, MissingDependencyError, SolverError
from ensctl.status import Status


def names(backends):
    return [backend.name for backend in backends]


def test_the_best_able_solver_comes_first():
    assert names(declared.able_backends(Ability.LP)) == ["HIGHS", "CLARABEL", "OSQP"]
    assert names(declared.able_backends(Ability.QP)) == ["CLARABEL", "OSQP"]
    assert names(declared.able_backends(Ability.SOCP)) == ["CLARABEL"]
    assert names(declared.able_backends(Ability.QP, "osqp")) == ["OSQP"]


def test_abilities_are_those_of_cvxpy():
    """A declared ability that cvxpy denies would fail at the first solve."""
    variable = cvxpy.Variable(2)
    programs = {
        Ability.LP: (cvxpy.sum(variable), [variable >= 1]),
        Ability.QP: (cvxpy.sum_squares(variable), [variable >= 1]),
        Ability.SOCP: (cvxpy.sum(variable), [cvxpy.norm(variable) <= 1]),
    }
    for backend in BACKENDS.values():
        for ability in backend.abilities:
            cost, constraints = programs[ability]
            problem = cvxpy.Problem(cvxpy.Minimize(cost), constraints)
            options = backend.settings(10.0, 1000)
            problem.solve(solver=backend.cvxpy_name, **options)
            assert problem.status == "optimal", (backend.name, ability)


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=list(BACKENDS))
def test_almost_is_not_optimal(backend):
    good = [word for word, status in backend.statuses.items() if status is Status.OPTIMAL]
    assert len(good) == 1
    for word, status in backend.statuses.items():
        if "almost" in word.lower() or "inaccurate" in word.lower():
            assert status is Status.INACCURATE
    assert backend.status("a word nobody has heard of") is Status.SOLVER_FAILED


def test_words_of_highs():
    def word(status, message=""):
        return BACKENDS["HIGHS"].native(SimpleNamespace(status=status, message=message))

    assert word(0) == "optimal"
    assert word(1, "Time limit reached.") == "time limit"
    assert word(1, "Iteration limit reached.") == "iteration limit"
    assert word(4) == "numerical difficulties"


def test_unknown_solver():
    with pytest.raises(InvalidInputError, match="one of CLARABEL, OSQP, HIGHS, got 'MOSEK'"):
        declared.able_backends(Ability.LP, "MOSEK")
    with pytest.raises(InvalidInputError, match="got 3"):
        declared.able_backends(Ability.LP, 3)


def test_solver_that_is_not_able():
    with pytest.raises(SolverError, match="HIGHS cannot solve second-order cone programs") as info:
        declared.able_backends(Ability.SOCP, "HIGHS")
    assert info.value.solver == "HIGHS"


def test_solver_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(declared, "find_spec", lambda name: None if name == "osqp" else object())
    assert names(declared.able_backends(Ability.QP)) == ["CLARABEL"]
    with pytest.raises(MissingDependencyError, match="solver OSQP is not installed; install osqp"):
        declared.able_backends(Ability.QP, "OSQP")
    monkeypatch.setattr(declared, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="install clarabel or osqp"):
        declared.able_backends(Ability.QP)
