"""Weak duality: bounds that hold for every multiplier, certificates that catch every defect."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.convex import (
    Ball,
    Below,
    Objective,
    Problem,
    Quadratic,
    Rows,
    Within,
    WithinDiscs,
    Zero,
    box,
    compile_program,
    discs,
    dual_bound,
    lq,
    newton_box,
    optimality_certificate,
    primal_residual,
    slew_rows,
)

seeds = st.integers(0, 2**32 - 1)


def feasible_problem(seed):
    """A problem of any kind with a u that meets everything."""
    rng = np.random.default_rng(seed)
    stacked = bool(rng.integers(2))
    count, half = 2 * int(rng.integers(1, 4)), int(rng.integers(6, 10))
    size = 2 * half if stacked else half
    system = lq(rng.standard_normal((count, size)))
    u = rng.standard_normal(size)
    error = 0.1 * rng.standard_normal(count)
    radius = np.abs(error) + 0.01
    terminal = [
        Zero(),
        Within(radius),
        WithinDiscs(np.hypot(*np.split(radius, 2))),
        Ball(float(np.linalg.norm(error)) + 0.01),
        Quadratic(0.3),
    ][int(rng.integers(5))]
    target = system.factor @ (system.basis.T @ u) - (0.0 if isinstance(terminal, Zero) else error)
    domain = (
        discs(np.hypot(*np.split(u, 2)) + rng.uniform(0, 1, half), half)
        if stacked
        else box(u - rng.uniform(0, 1, size), u + rng.uniform(0, 1, size), size)
    )
    matrix = rng.standard_normal((3, size))
    slew = slew_rows(1e3 * np.abs(u).max(), half, stacked=stacked)
    limits = (Rows(matrix, matrix @ u + rng.uniform(0, 1, 3), Below()), slew)
    objective = list(Objective)[int(rng.integers(3))]
    coordinates = system.coordinates(target)
    return Problem(objective, system, coordinates, domain, terminal, limits), u, rng


@given(seeds)
def test_every_multiplier_gives_a_lower_bound(seed):
    problem, u, rng = feasible_problem(seed)
    assert primal_residual(problem, u) < 1e-12
    cost = problem.input_cost(u) + problem.terminal_cost(u)
    for _ in range(20):
        eta = 10.0 ** rng.uniform(-2, 2) * rng.standard_normal(problem.coordinates.size)
        multipliers = tuple(rng.standard_normal(rows.count) for rows in problem.limits)
        assert dual_bound(problem, eta, multipliers).value <= cost + 1e-9 * abs(cost)


@given(seeds)
def test_gap_is_the_sum_of_its_parts(seed):
    """f − D = (u against the Lagrangian) + (slack of rows), when no term is negative."""
    problem, u, rng = feasible_problem(seed)
    eta = 0.01 * rng.standard_normal(problem.coordinates.size)
    multipliers = tuple(-0.01 * rng.random(rows.count) for rows in problem.limits)
    found = optimality_certificate(problem, u, eta, multipliers)
    assert found.gap <= found.dual_residual + found.complementarity + 1e-9
    assert not found.verified


@pytest.mark.parametrize(
    ("objective", "norm", "dual_norm"),
    [(Objective.FUEL, 1, np.inf), (Objective.PEAK, np.inf, 1)],
)
def test_norm_bound(objective, norm, dual_norm):
    """‖u‖_p ≥ ηᵀd/‖Rᵀη‖_q for any η, whatever its scale."""
    lam = np.array([0.3, 0.6, 0.9])
    system = lq(lam[:, None] ** np.arange(6)[::-1])
    coordinates = system.coordinates(np.array([1.0, 0.0, 0.5]))
    problem = Problem(objective, system, coordinates, box(-np.inf, np.inf, 6))
    rng = np.random.default_rng(0)
    best = {1: 9.8738, np.inf: 2.468502}[norm]
    for _ in range(50):
        eta = 1e3 * rng.standard_normal(3)
        expected = coordinates @ eta / np.linalg.norm(system.basis @ eta, dual_norm)
        if expected > 0:
            assert dual_bound(problem, eta).value == pytest.approx(expected, rel=1e-9)
        assert expected <= best + 1e-6


@pytest.fixture(scope="module")
def solved():
    rng = np.random.default_rng(4)
    system = lq(rng.standard_normal((4, 15)))
    coordinates = system.coordinates(rng.standard_normal(4))
    bound = 0.7 * np.abs(system.basis @ coordinates).max()
    problem = Problem(Objective.ENERGY, system, coordinates, box(-bound, bound, 15))
    return problem, newton_box(system.basis, coordinates, problem.domain)


def test_optimum_is_certified(solved):
    problem, found = solved
    certificate = optimality_certificate(problem, found.inputs, found.multipliers, tolerance=1e-12)
    assert certificate.verified
    assert certificate.lower_bound == pytest.approx(certificate.value, rel=1e-12)


def test_a_worse_input_is_not_certified(solved):
    problem, found = solved
    null = np.eye(15) - problem.system.basis @ problem.system.basis.T
    free = np.flatnonzero(np.abs(found.inputs) < 0.9 * problem.domain.upper)
    step = null[:, free[0]] * 1e-3
    step[np.abs(found.inputs) >= problem.domain.upper] = 0.0
    other = problem.domain.nearest(found.inputs + step)
    certificate = optimality_certificate(problem, other, found.multipliers)
    assert not certificate.verified


def test_wrong_multipliers_are_not_certified(solved):
    problem, found = solved
    certificate = optimality_certificate(problem, found.inputs, 1.01 * found.multipliers)
    assert certificate.primal_residual < 1e-14
    assert certificate.gap > 1e-6
    assert not certificate.verified


def test_one_ulp_outside_the_domain_is_not_certified(solved):
    problem, found = solved
    other = found.inputs.copy()
    k = int(np.argmax(other))
    other[k] = np.nextafter(problem.domain.upper[k], np.inf)
    certificate = optimality_certificate(problem, other, found.multipliers)
    assert certificate.primal_residual == math.inf
    assert not certificate.verified


def test_missing_the_target_is_not_certified(solved):
    problem, found = solved
    moved = replace(problem, coordinates=problem.coordinates * (1 + 1e-5))
    assert not optimality_certificate(moved, found.inputs, found.multipliers).verified


def test_tolerances_are_measured_against_themselves():
    """A tolerance of 1e-9 that is missed by half is missed, however large R and d are."""
    system = lq(np.array([[1.0, 0.0, 0.0]]))
    problem = Problem(
        Objective.ENERGY,
        system,
        system.coordinates(np.array([1.0])),
        box(-np.inf, np.inf, 3),
        Within(np.array([1e-9])),
    )
    assert primal_residual(problem, np.array([1.0 + 1.5e-9, 0, 0])) == pytest.approx(0.5, rel=1e-3)
    assert primal_residual(problem, np.array([1.0 + 0.9e-9, 0, 0])) == 0.0


def test_wrong_signs_are_dropped_not_trusted():
    system = lq(np.array([[1.0, 1.0]]))
    rows = Rows(np.eye(2), np.array([0.4, 1.0]), Below())
    problem = Problem(
        Objective.ENERGY, system, system.coordinates(np.array([1.0])), box(-9.0, 9.0, 2), Zero(),
        (rows,),
    )  # fmt: skip
    found = compile_program(problem).solve()
    assert found.inputs == pytest.approx([0.4, 0.6], abs=1e-9)
    assert found.certificate is not None
    right = dual_bound(problem, found.eta, found.multipliers)
    wrong = dual_bound(problem, found.eta, tuple(-y for y in found.multipliers))
    assert wrong.value < right.value - 1e-3
