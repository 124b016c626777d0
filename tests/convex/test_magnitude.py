"""Numbers of any size, programs that can be copied, and tolerances that are barely active."""

import copy
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ensctl.convex import (
    Ball,
    Objective,
    Problem,
    Rows,
    Within,
    box,
    compile_program,
    discs,
    lq,
    newton_box,
    optimality_certificate,
)
from ensctl.convex.magnitude import in_units, unit_of
from ensctl.convex.scaling import natural_scale, scales_to_try

SCALES = [1e-300, 1e-170, 1e160, 1e250, 1e300]


def worked(objective, scale=1.0, limit=4.0, terminal=None):
    system = lq(np.array([0.3, 0.6, 0.9])[:, None] ** np.arange(6)[::-1])
    parts = {} if terminal is None else {"terminal": terminal}
    domain = box(-limit * scale, limit * scale, 6)
    return Problem(
        objective, system, system.coordinates(np.array([scale, 0.0, 0.5 * scale])), domain, **parts
    )


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("objective", list(Objective))
def test_the_optimum_scales(objective, scale):
    usual = compile_program(worked(objective)).solve()
    result = compile_program(worked(objective, scale)).solve()
    assert result.status.name == "OPTIMAL"
    np.testing.assert_allclose(result.inputs / scale, usual.inputs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("scale", SCALES)
def test_tolerances_and_newton_scale(scale):
    result = compile_program(worked(Objective.FUEL, scale, terminal=Ball(0.1 * scale))).solve()
    assert result.status.name == "OPTIMAL"
    problem = worked(Objective.ENERGY, scale)
    found = newton_box(problem.system.basis, problem.coordinates, problem.domain)
    assert found.status.name == "OPTIMAL"
    assert problem.domain.contains(found.inputs)
    assert optimality_certificate(problem, found.inputs, found.multipliers).verified
    tight = worked(Objective.ENERGY, scale, limit=2.4)
    assert newton_box(tight.system.basis, tight.coordinates, tight.domain).status.name == (
        "INFEASIBLE"
    )
    assert compile_program(tight).solve().status.name == "INFEASIBLE"


def test_one_program_serves_every_magnitude():
    program = compile_program(worked(Objective.PEAK))
    usual = program.solve()
    for scale in SCALES:
        new = worked(Objective.PEAK, scale)
        result = program.solve(new.coordinates, domain=new.domain)
        assert result.status.name == "OPTIMAL"
        np.testing.assert_allclose(result.inputs / scale, usual.inputs, rtol=1e-7, atol=1e-7)


def test_units_are_exact_and_ordinary_problems_keep_theirs():
    assert unit_of(worked(Objective.FUEL)) == 1.0
    problem = worked(Objective.FUEL, 1e200)
    unit = unit_of(problem)
    assert np.array_equal(in_units(problem, unit).coordinates * unit, problem.coordinates)
    exact = Rows(
        np.eye(6), np.full(6, 1e200), Within(np.ones(6)),
        exact=lambda: ([[Fraction(1)] * 6] * 6, [Fraction(10) ** 200] * 6),
    )  # fmt: skip
    posed = in_units(replace(problem, limits=(exact,)), unit)
    assert posed.limits[0].exact()[1][0] * Fraction(unit) == Fraction(10) ** 200


def test_nothing_to_meet_has_a_scale():
    system = lq(np.zeros((0, 4)))
    for terminal in (Within(np.zeros(0)), Ball(1.0)):
        problem = Problem(Objective.FUEL, system, np.zeros(0), box(-1.0, 1.0, 4), terminal=terminal)
        assert natural_scale(problem) == 1.0


def barely(count, horizon, limit, terminal):
    lam = np.linspace(0.1, 0.9, count)
    system = lq(lam[:, None] ** np.arange(horizon)[::-1])
    target = (-1.0) ** np.arange(count)
    domain = box(-limit, limit, horizon)
    return Problem(Objective.ENERGY, system, system.coordinates(target), domain, terminal=terminal)


@pytest.mark.parametrize("share", [0.89, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("count", [4, 5, 6])
def test_tolerances_just_below_the_target_are_solved(share, count):
    """Best RMS 0.815, 0.838, 0.887 with |u| ≤ 1: feasible, by inputs far from the least norm."""
    problem = barely(count, 2 * count, 1.0, Ball(share * np.sqrt(count)))
    result = compile_program(problem).solve()
    assert result.status.name == "OPTIMAL"
    assert np.linalg.norm(problem.terminal_error(result.inputs)) <= share * np.sqrt(count) + 1e-9
    # A program compiled for other numbers ends the same way.
    other = compile_program(replace(problem, terminal=Ball(0.5 * np.sqrt(count))))
    again = other.solve(terminal=problem.terminal)
    assert again.status is result.status
    assert again.certificate.value == pytest.approx(result.certificate.value, rel=1e-5)


def test_one_tolerance_for_each_member():
    problem = barely(8, 16, 100.0, Within(np.full(8, 0.99)))
    assert compile_program(problem).solve().status.name == "OPTIMAL"


def test_scales_to_try_are_distinct():
    scales = scales_to_try(barely(5, 10, 1.0, Ball(0.95 * np.sqrt(5))))
    ratios = [max(a / b, b / a) for i, a in enumerate(scales) for b in scales[:i]]
    assert len(scales) >= 4
    assert min(ratios) > 3.0


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_used_programs_can_be_copied(duplicate):
    rows = Rows(
        np.ones((1, 6)), np.zeros(1), Within(np.array([9.0])),
        exact=lambda: ([[Fraction(1)] * 6], [Fraction(0)]),
    )  # fmt: skip
    program = compile_program(replace(worked(Objective.ENERGY), limits=(rows,)))
    assert program.solve(domain=box(-2.4, 2.4, 6)).status.name == "INFEASIBLE"
    first = program.solve()
    twin = duplicate(program)
    assert twin.problem.limits[0].exact() == rows.exact()
    np.testing.assert_allclose(twin.solve().inputs, first.inputs, atol=1e-9)
    # They share nothing that a solve changes.
    twin.solve(2.0 * program.problem.coordinates, domain=box(-9.0, 9.0, 6))
    np.testing.assert_allclose(program.solve().inputs, first.inputs, atol=1e-9)


def test_discs_of_extreme_size():
    for scale in SCALES:
        limits = discs(scale, 1)
        assert limits.contains(limits.nearest(np.array([3.0 * scale, 4.0 * scale])))
