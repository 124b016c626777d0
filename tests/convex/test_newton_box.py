"""The Newton method for boxes: optimality conditions, closed forms, hard cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.convex import (
    Objective,
    Problem,
    box,
    lq,
    newton_box,
    optimality_certificate,
    smallest_peak,
    soft_newton_box,
    soft_system,
)
from ensctl.errors import InvalidInputError
from ensctl.status import Status

seeds = st.integers(0, 2**32 - 1)


def random_problem(seed, *, one_sided=False):
    """Orthonormal rows, a target, and limits between 1 and 1.5 times what is needed."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 10))
    size = count + int(rng.integers(1, 40))
    system = lq(rng.standard_normal((count, size)))
    lower = -rng.uniform(0.1, 1.0, size)
    upper = rng.uniform(0.1, 1.0, size)
    inside = lower + (upper - lower) * rng.uniform(0.0, 1.0, size)
    if one_sided:
        lower[rng.random(size) < 0.3] = -np.inf
        upper[rng.random(size) < 0.3] = np.inf
    scale = 10.0 ** rng.uniform(-6, 6)
    limits = box(scale * lower, scale * upper, size)
    return system, scale * (system.basis.T @ inside), limits


@given(seeds, st.booleans())
def test_optimality_conditions(seed, one_sided):
    """u = clip(Qη) and Qᵀu = c are necessary and sufficient."""
    system, target, limits = random_problem(seed, one_sided=one_sided)
    found = newton_box(system.basis, target, limits)
    assert found.status is Status.OPTIMAL
    assert limits.contains(found.inputs)
    size = np.linalg.norm(found.inputs)
    assert np.linalg.norm(system.basis.T @ found.inputs - target) <= 1e-14 * (1 + 9 * size)
    clipped = limits.nearest(system.basis @ found.multipliers)
    assert np.linalg.norm(clipped - found.inputs) <= 1e-10 * size
    problem = Problem(Objective.ENERGY, system, target, limits)
    certificate = optimality_certificate(problem, found.inputs, found.multipliers, tolerance=1e-9)
    assert certificate.verified


@given(seeds)
def test_no_limits_give_the_least_norm_solution(seed):
    system, target, limits = random_problem(seed)
    found = newton_box(system.basis, target, box(-np.inf, np.inf, limits.size))
    assert found.iterations == 0
    assert found.inputs == pytest.approx(system.basis @ target, rel=1e-12, abs=0)


@given(seeds)
def test_limits_only_cost(seed):
    """Energy is at least ‖c‖² and does not rise when the limits are widened."""
    system, target, limits = random_problem(seed)
    tight = newton_box(system.basis, target, limits).inputs
    wide = newton_box(system.basis, target, limits.scaled(0.5)).inputs
    assert target @ target <= (wide @ wide) * (1 + 1e-12)
    assert wide @ wide <= (tight @ tight) * (1 + 1e-12)


@given(seeds)
def test_a_warm_start_changes_nothing_but_the_work(seed):
    system, target, limits = random_problem(seed)
    cold = newton_box(system.basis, target, limits)
    warm = newton_box(system.basis, target, limits, start=cold.multipliers)
    assert warm.iterations <= 1
    assert np.linalg.norm(warm.inputs - cold.inputs) <= 1e-10 * np.linalg.norm(cold.inputs)


def test_water_filling_closed_form():
    """One row a > 0, 0 ≤ u ≤ h: u_k = min(h_k, θ a_k) with θ from Σ a_k u_k = d."""
    row = np.array([[1.0, 2.0, 3.0, 4.0]])
    upper = np.array([1.0, 0.5, 0.9, 0.1])
    system = lq(row)
    # With entries 2, 3 and 4 at their limits, entry 1 makes up for the rest: θ = .4, 2θ > .5.
    target = np.array([0.4 + 1.0 + 2.7 + 0.4])
    found = newton_box(system.basis, system.coordinates(target), box(0.0, upper, 4))
    assert found.inputs == pytest.approx([0.4, 0.5, 0.9, 0.1], abs=1e-15)
    assert (found.inputs[1:] == upper[1:]).all()


@pytest.mark.parametrize("ratio", [0.5, 0.9, 0.999999, 1.000001, 1.1])
@pytest.mark.parametrize("seed", range(6))
def test_scaled_boxes_on_both_sides_of_the_limit(seed, ratio):
    rng = np.random.default_rng(seed)
    system = lq(rng.standard_normal((6, 25)))
    target = system.coordinates(rng.standard_normal(6))
    shape = box(-rng.uniform(0.2, 2.0, 25), rng.uniform(0.2, 2.0, 25), 25)
    needed = smallest_peak(system.basis, target, shape)
    assert needed.verified
    limits = shape.scaled(1.0 / (ratio * needed.value))
    found = newton_box(system.basis, target, limits)
    assert found.status is (Status.OPTIMAL if ratio > 1 else Status.INFEASIBLE)
    assert limits.contains(found.inputs)
    if ratio < 1:
        gradient = system.basis @ found.multipliers
        assert target @ found.multipliers > limits.support(gradient)


def test_limits_that_fix_everything():
    """As many rows as free inputs, and fewer: the Newton matrix is singular."""
    basis = np.eye(5)[:, :3]
    target = np.array([0.5, -1.0, 1.0])
    exact = box([0.5, -1.0, 1.0, -1.0, -1.0], [0.5, -1.0, 1.0, 1.0, 1.0], 5)
    found = newton_box(basis, target, exact)
    assert found.status is Status.OPTIMAL
    assert (found.inputs == [0.5, -1.0, 1.0, 0.0, 0.0]).all()
    touching = box(-1.0, 1.0, 5)
    assert newton_box(basis, target, touching).status is Status.OPTIMAL
    below = box(-1.0, np.nextafter(1.0, 0.0), 5)
    assert newton_box(basis, 2.0 * target, below).status is Status.INFEASIBLE


def test_a_target_only_one_input_reaches():
    """u ≥ 0 and d = the column of the last input: its multipliers are infinite."""
    lam = np.linspace(0.1, 0.9, 4)
    system = lq(lam[:, None] ** np.arange(8)[::-1])
    target = system.coordinates(np.ones(4))
    found = newton_box(system.basis, target, box(0.0, 2.0, 8))
    # Rounding of c decides whether this is feasible at all: any verdict but a wrong input is fine.
    assert found.status in (Status.OPTIMAL, Status.PRECISION_LIMITED)
    assert found.inputs == pytest.approx(np.eye(8)[-1], abs=1e-6)


def test_zero_target():
    found = newton_box(np.eye(3)[:, :2], np.zeros(2), box(-1.0, 1.0, 3))
    assert found.status is Status.OPTIMAL
    assert not found.inputs.any()
    away = newton_box(np.eye(3)[:, :2], np.zeros(2), box([0, 0, 1], [1, 1, 2], 3))
    assert (away.inputs == [0, 0, 1]).all()


def test_shapes_are_checked():
    with pytest.raises(InvalidInputError, match=r"basis must have shape \(4, 2\)"):
        newton_box(np.eye(3)[:, :2], np.zeros(2), box(-1.0, 1.0, 4))


@given(seeds, st.floats(-12, 3))
def test_soft_conditions(seed, log_softness):
    """y = (d − R u)/ρ and u = clip(Rᵀy), whatever the conditioning of R is."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 8))
    lam = np.linspace(-0.9, 0.9, count + 1)[1:]
    matrix = lam[:, None] ** np.arange(2 * count + 3)[::-1]
    target = rng.standard_normal(count)
    limits = box(-0.3, 0.3, matrix.shape[1])
    softness = 10.0**log_softness
    found = soft_newton_box(soft_system(matrix, softness), target, limits)
    assert found.status is Status.OPTIMAL
    assert limits.contains(found.inputs)
    error = matrix @ found.inputs - target
    # Free inputs are differences of terms as large as y.
    rounding = 1e-13 * (1.0 + np.abs(found.multipliers).max())
    assert error == pytest.approx(-softness * found.multipliers, abs=rounding, rel=0)

    def cost(u):
        return 0.5 * (u @ u) + np.sum((matrix @ u - target) ** 2) / (2 * softness)

    for _ in range(20):
        other = limits.nearest(found.inputs + 0.1 * rng.standard_normal(limits.size))
        assert cost(found.inputs) <= cost(other) * (1 + 1e-9)


def test_soft_without_limits_is_tikhonov():
    rng = np.random.default_rng(0)
    matrix, target = rng.standard_normal((4, 9)), rng.standard_normal(4)
    soft = soft_system(matrix, 0.25)
    found = soft_newton_box(soft, target, box(-np.inf, np.inf, 9))
    expected = matrix.T @ np.linalg.solve(matrix @ matrix.T + 0.25 * np.eye(4), target)
    assert found.inputs == pytest.approx(expected, rel=1e-12)
    again = soft_newton_box(soft, target, box(-np.inf, np.inf, 9), start=found.multipliers)
    assert again.inputs == pytest.approx(expected, rel=1e-12)
