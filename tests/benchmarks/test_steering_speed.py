"""Re-solving bounded minimum-energy steering: the Newton method against two ways of cvxpy.

Members on the unit circle in real form (N/2 angles, a cosine and a sine row each).  Angles are
jittered: equispaced ones give an input that no bound touches.  Every timed call solves for another
target, as a user who steers again and again would.
"""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from ensctl.convex import Objective, Problem, box, compile_program, lq, newton_box, smallest_peak

# Targets are scaled so that each needs a peak of 1.
BOUND = 1.05


def jittered_circle(order, horizon, seed=0):
    """Real reachability matrix, real state matrix and gains of order/2 rotations."""
    rng = np.random.default_rng(seed)
    pairs = order // 2
    angles = np.pi * (np.arange(pairs) + 0.5 + 0.5 * rng.uniform(-1, 1, pairs)) / pairs
    powers = np.outer(angles, np.arange(horizon)[::-1])
    reach = np.vstack([np.cos(powers), np.sin(powers)])
    cosine, sine = sparse.diags_array(np.cos(angles)), sparse.diags_array(np.sin(angles))
    state = sparse.block_array([[cosine, -sine], [sine, cosine]], format="csr")
    return reach, state, np.concatenate([np.ones(pairs), np.zeros(pairs)])


@pytest.fixture(scope="module")
def circle(sized):
    reach, state, gain = jittered_circle(sized(50, smoke=10), sized(200, smoke=40))
    system = lq(reach)
    rng = np.random.default_rng(1)
    targets = []
    for _ in range(8):
        target = rng.standard_normal(gain.size)
        targets.append(target / smallest_peak(system.basis, system.coordinates(target)).value)
    return reach, state, gain, system, targets


def preconditioned(system, size, solver):
    """What a careful user writes: Qᵀu = c, |u| ≤ ū, c a parameter."""
    coordinates, inputs = cp.Parameter(system.basis.shape[1]), cp.Variable(size)
    constraints = [system.basis.T @ inputs == coordinates, cp.abs(inputs) <= BOUND]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(inputs)), constraints)
    assert problem.is_dcp(dpp=True)

    def solve(target):
        coordinates.value = system.coordinates(target)
        problem.solve(solver=solver)

    return solve


def raw(state, gain, horizon, solver):
    """The obvious formulation: states as variables, one equation per step."""
    target = cp.Parameter(gain.size)
    states, inputs = cp.Variable((gain.size, horizon + 1)), cp.Variable(horizon)
    constraints = [
        states[:, 0] == 0,
        states[:, 1:] == state @ states[:, :-1] + cp.outer(gain, inputs),
        states[:, horizon] == target,
        cp.abs(inputs) <= BOUND,
    ]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(inputs)), constraints)
    assert problem.is_dcp(dpp=True)

    def solve(new_target):
        target.value = new_target
        problem.solve(solver=solver)

    return solve


def test_resolve_with_active_bounds(circle, ratio_table, timed):
    reach, state, gain, system, targets = circle
    size = reach.shape[1]
    limits = box(-BOUND, BOUND, size)
    program = compile_program(
        Problem(Objective.ENERGY, system, system.coordinates(targets[0]), limits)
    )

    def newton(target):
        return newton_box(system.basis, system.coordinates(target), limits)

    def seconds(solve, repeat):
        turn = itertools.cycle(targets)
        return timed(lambda: solve(next(turn)), repeat=repeat)

    ours = seconds(newton, 80)
    name = f"bounded energy, N = {gain.size}, H = {size}, vs"
    ways = [
        (f"{name} LQ-preconditioned DPP cvxpy, CLARABEL",
         preconditioned(system, size, "CLARABEL"), 16, 0.2),
        (f"{name} LQ-preconditioned DPP cvxpy, OSQP",
         preconditioned(system, size, "OSQP"), 16, 0.2),
        (f"{name} our certified program", lambda d: program.solve(system.coordinates(d)), 16, None),
        (f"{name} raw sparse cvxpy, CLARABEL", raw(state, gain, size, "CLARABEL"), 8, 0.02),
        (f"{name} raw sparse cvxpy, OSQP", raw(state, gain, size, "OSQP"), 8, 0.02),
    ]  # fmt: skip
    for what, solve, repeat, at_most in ways:
        ratio_table.add(what, ours, seconds(solve, repeat), at_most=at_most)

    for target in targets:
        found = newton(target)
        assert found.status.success
        assert limits.contains(found.inputs)
        assert (np.abs(found.inputs) == BOUND).sum() > size // 10
        assert np.abs(reach @ found.inputs - target).max() < 1e-12 * np.abs(target).max() * size
        clarabel = program.solve(system.coordinates(target), solver="CLARABEL")
        assert clarabel.status.success
        energy = float(found.inputs @ found.inputs)
        assert energy == pytest.approx(2.0 * clarabel.certificate.value, rel=1e-6)
