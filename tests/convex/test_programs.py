"""Compiled programs: worked numbers, every kind of limit, re-solving, and honest outcomes."""

from dataclasses import replace

import cvxpy
import numpy as np
import pytest

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
    infeasibility_certificate,
    lq,
    moduli,
    newton_box,
    slew_rows,
    stack_matrix,
    stack_vector,
    unstack,
)
from ensctl.errors import InvalidInputError
from ensctl.status import Status

LAM = np.array([0.3, 0.6, 0.9])
TARGET = np.array([1.0, 0.0, 0.5])


def reach(lam, horizon):
    return lam[:, None] ** np.arange(horizon)[::-1]


def everywhere(size):
    return box(-np.inf, np.inf, size)


def worked(objective, horizon=6, **parts):
    system = lq(reach(LAM, horizon))
    parts = {"domain": everywhere(horizon), **parts}
    return Problem(objective, system, system.coordinates(TARGET), **parts)


@pytest.mark.parametrize(
    ("horizon", "energy", "fuel", "peak"),
    [
        (3, 14.108705, 22.666667, 10.833333),
        (4, 8.203259, 13.62963, 5.443886),
        (6, 5.134121, 9.8738, 2.468502),
        (10, 3.858708, 9.309892, 1.525033),
    ],
)
@pytest.mark.parametrize("solver", [None, "CLARABEL", "OSQP"])
def test_worked_example(horizon, energy, fuel, peak, solver):
    """λ = (.3, .6, .9), b = 1, x_f = (1, 0, .5): least ‖u‖₂, ‖u‖₁ and ‖u‖_∞ to all digits."""
    norms = {
        Objective.ENERGY: (2, energy),
        Objective.FUEL: (1, fuel),
        Objective.PEAK: (np.inf, peak),
    }
    for objective, (order, expected) in norms.items():
        result = compile_program(worked(objective, horizon)).solve(solver=solver)
        assert result.status is Status.OPTIMAL
        assert np.linalg.norm(result.inputs, order) == pytest.approx(expected, abs=6e-7)
        assert np.abs(reach(LAM, horizon) @ result.inputs - TARGET).max() < 1e-13
        assert result.certificate.verified
        assert result.certificate.gap < 1e-8
    assert np.count_nonzero(compile_program(worked(Objective.FUEL, horizon)).solve().inputs) <= 3


@pytest.mark.parametrize("order", [4, 8, 10, 12, 15])
@pytest.mark.parametrize("objective", list(Objective))
def test_alternating_targets(order, objective):
    """λ = linspace(.1, .9, N), H = 2N, d = ±1: where raw programs fail from N = 8."""
    matrix, target = reach(np.linspace(0.1, 0.9, order), 2 * order), (-1.0) ** np.arange(order)
    system = lq(matrix)
    problem = Problem(objective, system, system.coordinates(target), everywhere(2 * order))
    result = compile_program(problem).solve()
    assert result.status is Status.OPTIMAL
    floor = 2.0**-52 * (np.abs(matrix) @ np.abs(result.inputs)).max()
    assert np.abs(matrix @ result.inputs - target).max() < 10 * floor
    assert result.certificate.gap < 1e-8


def reference_value(problem, matrix, target):
    """The same problem as cvxpy users write it, for well-conditioned data."""
    u = cvxpy.Variable(matrix.shape[1])

    def sizes(expression):
        half = expression.shape[0] // 2
        return cvxpy.norm(cvxpy.vstack([expression[:half], expression[half:]]), axis=0)

    parts = sizes(u) if problem.stacked else cvxpy.abs(u)
    cost = {
        Objective.ENERGY: 0.5 * cvxpy.sum_squares(u),
        Objective.FUEL: cvxpy.sum(parts),
        Objective.PEAK: cvxpy.max(parts),
    }[problem.objective]
    constraints = []
    if problem.stacked:
        constraints.append(parts <= problem.domain.radius)
    else:
        constraints += [u >= problem.domain.lower, u <= problem.domain.upper]
    blocks = [(matrix @ u - target, problem.terminal)]
    blocks += [(rows.matrix @ u - rows.target, rows.region) for rows in problem.limits]
    inside = {
        Zero: lambda error, region: error == 0,
        Below: lambda error, region: error <= 0,
        Within: lambda error, region: cvxpy.abs(error) <= region.radius,
        WithinDiscs: lambda error, region: sizes(error) <= region.radius,
        Ball: lambda error, region: cvxpy.norm(error) <= region.radius,
    }
    for error, region in blocks:
        if isinstance(region, Quadratic):
            cost = cost + cvxpy.sum_squares(error) / (2 * region.softness)
        else:
            constraints.append(inside[type(region)](error, region))
    program = cvxpy.Problem(cvxpy.Minimize(cost), constraints)
    program.solve(solver="CLARABEL")
    return program.status, program.value


def terminal_regions(target, stacked):
    spread = 0.1 * np.abs(target).max()
    regions = [Zero(), Within(np.full(target.size, spread)), Ball(2 * spread), Quadratic(0.5)]
    if stacked:
        regions.append(WithinDiscs(np.full(target.size // 2, spread)))
    return regions


def limited_problem(seed, stacked, terminal_index, objective):
    """Limits of every kind between .6 and 1.3 of what the least-norm input needs."""
    rng = np.random.default_rng(seed)
    matrix, target = rng.standard_normal((3, 10)), rng.standard_normal(3)
    if stacked:
        matrix = stack_matrix(matrix + 1j * rng.standard_normal((3, 10)))
        target = stack_vector(target + 1j * rng.standard_normal(3))
    system = lq(matrix)
    free = system.least_norm(target)
    peak = (moduli(free) if stacked else np.abs(free)).max()
    bound = peak * rng.uniform(0.6, 1.3)
    domain = discs(bound, 10) if stacked else box(-bound, bound, 10)
    rows = rng.standard_normal((4, matrix.shape[1]))
    limits = (
        slew_rows(peak * rng.uniform(0.8, 1.6), 10, stacked=stacked, previous=[0.0]),
        Rows(rows, np.abs(rows @ free) * rng.uniform(0.6, 1.3), Below()),
    )
    terminal = terminal_regions(target, stacked)[terminal_index]
    coordinates = system.coordinates(target)
    return Problem(objective, system, coordinates, domain, terminal, limits), matrix, target


CASES = [
    *[(seed, False, index) for seed in range(3) for index in range(4)],
    *[(seed, True, index) for seed in range(3) for index in range(5)],
]


@pytest.mark.parametrize("objective", list(Objective))
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_combination_against_cvxpy(case, objective):
    problem, matrix, target = limited_problem(*case, objective)
    status, value = reference_value(problem, matrix, target)
    result = compile_program(problem).solve()
    if status == "optimal":
        assert result.status is Status.OPTIMAL
        assert result.certificate.value == pytest.approx(value, rel=1e-5)
        assert problem.domain.contains(result.inputs)
    else:
        assert status == "infeasible"
        assert result.status is Status.INFEASIBLE
        assert result.inputs is None
        assert result.infeasibility.verified


@pytest.mark.parametrize("case", CASES[::4], ids=str)
def test_resolving_equals_solving_afresh(case):
    problem, _, target = limited_problem(*case, Objective.ENERGY)
    program = compile_program(problem)
    rng = np.random.default_rng(9)
    for factor in (1.0, 30.0, 1e-3):
        moved = factor * (target + 0.05 * rng.standard_normal(target.size))
        coordinates = problem.system.coordinates(moved)
        domain = problem.domain.scaled(1.0 / (1.3 * factor))
        slew, rows = problem.limits
        limits = (
            replace(
                slew,
                target=factor * slew.target,
                region=type(slew.region)(1.3 * factor * slew.region.radius),
            ),
            replace(rows, target=1.3 * factor * rows.target),
        )
        again = program.solve(coordinates, domain=domain, limits=limits)
        fresh = compile_program(
            replace(problem, coordinates=coordinates, domain=domain, limits=limits)
        ).solve()
        assert again.status is fresh.status
        if again.status is Status.OPTIMAL:
            assert again.certificate.value == pytest.approx(fresh.certificate.value, rel=1e-7)


def test_box_energy_agrees_with_newton():
    problem = worked(Objective.ENERGY, 10, domain=box(-1.6, 1.6, 10))
    found = newton_box(problem.system.basis, problem.coordinates, problem.domain)
    result = compile_program(problem).solve()
    assert result.inputs == pytest.approx(found.inputs, abs=1e-6)
    assert result.certificate.value == pytest.approx(0.5 * found.inputs @ found.inputs, rel=1e-9)
    assert problem.domain.contains(result.inputs)
    assert (np.abs(result.inputs) == 1.6).any()


def test_complex_fuel_closed_form():
    """One complex row: everything goes through the largest |a_k|."""
    rng = np.random.default_rng(1)
    row = rng.standard_normal((1, 6)) + 1j * rng.standard_normal((1, 6))
    system = lq(stack_matrix(row))
    coordinates = system.coordinates(stack_vector(np.array([3.0 + 4.0j])))
    problem = Problem(Objective.FUEL, system, coordinates, discs(np.inf, 6))
    result = compile_program(problem).solve()
    assert result.status is Status.OPTIMAL
    assert result.certificate.value == pytest.approx(5.0 / np.abs(row).max(), rel=1e-7)
    assert row @ unstack(result.inputs) == pytest.approx(3.0 + 4.0j, abs=1e-12)


def test_slew_and_channels():
    """Two channels side by side, |u_{k+1} − u_k| ≤ s within each, from a given start."""
    rows = slew_rows([0.1, 0.2], 6, channels=2, previous=[1.0, -1.0])
    u = np.array([1.05, -0.9, 1.1, -0.75, 1.2, -0.6])
    assert rows.error(u) == pytest.approx([0.05, 0.1, 0.05, 0.15, 0.1, 0.15])
    assert rows.region.radius == pytest.approx([0.1, 0.2] * 3)
    assert slew_rows(0.5, 6, channels=2).count == 4
    turned = slew_rows(0.5, 3, stacked=True)
    assert turned.error(stack_vector(np.array([1.0, 1j, -1.0]))) == pytest.approx(
        stack_vector(np.array([1j - 1.0, -1.0 - 1j]))
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1.0, 4), "finite and ≥ 0"),
        ((np.inf, 4), "finite and ≥ 0"),
        (([1.0, 2.0], 4), r"scalar, \(1,\) or \(3, 1\), got shape \(2,\)"),
        ((1.0, 1), "one step only"),
    ],
)
def test_bad_slew(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        slew_rows(*arguments)


def test_states_that_start_outside_their_limits():
    """A row no input can satisfy is proved infeasible, although the target is reachable."""
    row = Rows(np.zeros((1, 6)), np.array([-1.0]), Below())
    result = compile_program(worked(Objective.ENERGY, limits=(row,))).solve()
    assert result.status is Status.INFEASIBLE
    assert result.infeasibility.verified


def test_nothing_to_do():
    problem = replace(worked(Objective.PEAK), coordinates=np.zeros(3))
    result = compile_program(problem).solve()
    assert result.status is Status.OPTIMAL
    assert not result.inputs.any()
    assert result.certificate.verified
    wide = replace(worked(Objective.PEAK), terminal=Within(np.array([1.0, 1.0, 1.0])))
    assert not compile_program(wide).solve().inputs.any()


def test_infeasibility_of_the_true_rows(steering):
    """A program's multipliers prove infeasibility of the exact powers, fuel and slew included."""
    data = steering(LAM, 1.0, TARGET, 6)
    system = lq(data.matrix)
    limits = (slew_rows(0.5, 6),)
    problem = Problem(
        Objective.FUEL, system, system.coordinates(TARGET), box(-3.0, 3.0, 6), Zero(), limits
    )
    result = compile_program(problem).solve()
    assert result.status is Status.INFEASIBLE
    proof = infeasibility_certificate(
        data.rows, system, result.eta, problem.domain,
        limits=limits, multipliers=result.multipliers,
    )  # fmt: skip
    assert proof.verified


@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize("objective", list(Objective))
def test_every_program_is_dpp(objective, stacked):
    for index in range(4 + stacked):
        problem, _, _ = limited_problem(0, stacked, index, objective)
        assert compile_program(problem).model.program.is_dcp(dpp=True)
