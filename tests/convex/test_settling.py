"""Targets met to rounding, limits kept exactly: what a cone solver's answer is turned into."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.convex import (
    Objective,
    Problem,
    Rows,
    WithinDiscs,
    compile_program,
    discs,
    lq,
    optimality_certificate,
    stack_matrix,
    stack_vector,
)
from ensctl.convex.settling import settled

EPS = 2.0**-52
seeds = st.integers(0, 2**32 - 1)


def complex_problem(lam, target, horizon, objective, radius, state_max=None):
    lam, target = np.asarray(lam), np.asarray(target)
    powers = lam[:, None] ** np.arange(horizon)[::-1]
    system = lq(stack_matrix(powers))
    limits = ()
    if state_max is not None:
        matrix = np.zeros((horizon, horizon), dtype=complex)
        for t in range(horizon):
            matrix[t, : t + 1] = lam[0] ** np.arange(t + 1)[::-1]
        bound = WithinDiscs(np.full(horizon, state_max))
        limits = (Rows(stack_matrix(matrix), np.zeros(2 * horizon), bound, 1e-13),)
    domain = discs(radius, horizon)
    c = system.coordinates(stack_vector(target))
    return Problem(objective, system, c, domain, limits=limits)


LAM, TARGET = [-0.06 + 0.65j, 0.4 - 0.47j, -0.11 + 0.82j], [0.8 + 0.1j, -1.2 + 0.9j, 0.1]


@pytest.mark.parametrize("objective", list(Objective))
@pytest.mark.parametrize("radius", [1.34, 1.5, np.inf])
def test_cone_programs_meet_the_target_to_rounding(objective, radius):
    problem = complex_problem(LAM, TARGET, 9, objective, radius)
    result = compile_program(problem).solve()
    assert result.status.name == "OPTIMAL"
    assert result.certificate.equality_residual <= 64 * EPS
    assert problem.domain.contains(result.inputs)


@pytest.mark.parametrize("objective", list(Objective))
def test_active_state_limits_do_not_cost_the_target(objective):
    free = compile_program(complex_problem(LAM, TARGET, 9, objective, 2.0)).solve()
    wide = complex_problem(LAM, TARGET, 9, objective, 2.0, state_max=1e9)
    peak = np.hypot(*np.split(wide.limits[0].error(free.inputs), 2)).max()
    problem = complex_problem(LAM, TARGET, 9, objective, 2.0, state_max=0.9 * peak)
    result = compile_program(problem).solve()
    assert result.status.name == "OPTIMAL"
    assert result.certificate.equality_residual <= 64 * EPS
    states = np.hypot(*np.split(problem.limits[0].error(result.inputs), 2))
    assert states.max() <= 0.9 * peak * (1 + 1e-6)
    assert states.max() >= 0.9 * peak * (1 - 1e-6)


def test_a_target_missed_by_more_than_rounding_is_not_verified():
    problem = complex_problem(LAM, TARGET, 9, Objective.FUEL, 1.34)
    result = compile_program(problem).solve()
    off = problem.domain.nearest(result.inputs * (1 + 1e-9))
    certificate = optimality_certificate(problem, off, result.eta, result.multipliers)
    assert certificate.worst < 1e-6
    assert certificate.equality_residual > 1e-11
    assert not certificate.verified


@given(seeds)
def test_settling_returns_to_the_target_from_nearby(seed):
    """Inputs off by 1e-8, a third of them on the rim of their discs."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((3, 12)) + 1j * rng.standard_normal((3, 12))
    u = rng.standard_normal(12) + 1j * rng.standard_normal(12)
    system = lq(stack_matrix(matrix))
    radius = np.abs(u) * np.where(np.arange(12) % 3 == 0, 1.0, 2.0)
    c = system.coordinates(stack_vector(matrix @ u))
    problem = Problem(Objective.ENERGY, system, c, discs(radius, 12))
    near = stack_vector(u) + 1e-8 * rng.standard_normal(24)
    found = settled(problem, near, 1e-7, hold=True)
    assert np.linalg.norm(system.basis.T @ found - c) <= 64 * EPS * np.linalg.norm(u)
    assert np.abs(found - stack_vector(u)).max() < 1e-6
    assert problem.domain.contains(found)


@given(seeds)
def test_the_nearest_point_is_in_the_disc_in_exact_numbers(seed):
    rng = np.random.default_rng(seed)
    radius = 10.0 ** rng.uniform(-3, 3, 40)
    angle, stretch = rng.uniform(0, 2 * np.pi, 40), rng.choice([1 - 2e-16, 1.0, 1 + 2e-16, 3.0], 40)
    u = radius * stretch * np.exp(1j * angle)
    limits = discs(radius, 40)
    found = limits.nearest(stack_vector(u))
    assert limits.contains(found)
    assert np.all(np.abs(found[:40] + 1j * found[40:]) <= radius)
    for re, im, r in zip(found[:40], found[40:], radius, strict=True):
        assert Fraction(float(re)) ** 2 + Fraction(float(im)) ** 2 <= Fraction(float(r)) ** 2
    np.testing.assert_allclose(np.hypot(found[:40], found[40:]), np.minimum(np.abs(u), radius))
    assert np.array_equal(limits.nearest(found), found)


def test_one_ulp_outside_is_outside():
    """fl|u| = 1 for (0.6, 0.8) rounded up: np.hypot does not see it, exact squares do."""
    inside, above = np.array([0.6, 0.8]), np.array([0.6, np.nextafter(0.8, 1.0)])
    limits = discs(1.0, 1)
    squares = Fraction(float(above[0])) ** 2 + Fraction(float(above[1])) ** 2
    assert squares > 1
    assert not limits.contains(above)
    assert limits.contains(limits.nearest(inside))
    assert limits.contains(np.array([1.0, 0.0]))
    assert np.array_equal(limits.nearest(np.array([0.0, -1.0])), [0.0, -1.0])
    assert discs(5e-324, 1).contains(discs(5e-324, 1).nearest(np.array([3.0, 4.0])))
