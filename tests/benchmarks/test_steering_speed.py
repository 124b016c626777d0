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


def jittered_circle(order, horizon, seed=0):
    """Real reachability matrix and real state matrix of order/2 rotations."""
    rng = np.random.default_rng(seed)
    pairs = order // 2
    angles = np.pi * (np.arange(pairs) + 0.5 + 0.5 * rng.uniform(-1, 1, pairs)) / pairs
    powers = np.outer(angles, np.arange(horizon)[::-1])
    reach = np.vstack([np.cos(powers), np.sin(powers)])
    cosine, sine = sparse.diags_array(np.cos(angles)), sparse.diags_array(np.sin(angles))
    state = sparse.bmat([[cosine, -sine], [sine, cosine]], format="csr")
    return reach, state, np.concatenate([np.ones(pairs), np.zeros(pairs)])


def raw_program(state, gain, horizon, bound):
    """The obvious formulation: states as variables, one equation per step."""
    size = gain.size
    target = cp.Parameter(size)
    states, inputs = cp.Variable((size, horizon + 1)), cp.Variable(horizon)
    constraints = [
        states[:, 0] == 0,
        states[:, 1:] == state @ states[:, :-1] + cp.outer(gain, inputs),
        states[:, horizon] == target,
        cp.abs(inputs) <= bound,
    ]
    return cp.Problem(cp.Minimize(cp.sum_squares(inputs)), constraints), target, inputs


@pytest.fixture(scope="module")
def circle(sized):
    order, horizon = sized(50, smoke=10), sized(200, smoke=40)
    reach, state, gain = jittered_circle(order, horizon)
    system = lq(reach)
    rng = np.random.default_rng(1)
    targets = [rng.standard_normal(order) for _ in range(6)]
    # Reachable for every target, and active for every target.
    peaks = [smallest_peak(system.basis, system.coordinates(d)).value for d in targets]
    free = [np.abs(system.least_norm(d)).max() for d in targets]
    bound = 1.05 * max(peaks)
    assert bound < min(free)
    return reach, state, gain, system, targets, bound


def test_resolve(circle, ratio_table, timed, sized):
    reach, state, gain, system, targets, bound = circle
    size = reach.shape[1]
    limits = box(-bound, bound, size)

    def newton(target):
        return newton_box(system.basis, system.coordinates(target), limits)

    program = compile_program(
        Problem(Objective.ENERGY, system, system.coordinates(targets[0]), limits)
    )

    def preconditioned(solver):
        coordinates, inputs = cp.Parameter(reach.shape[0]), cp.Variable(size)
        problem = cp.Problem(
            cp.Minimize(cp.sum_squares(inputs)),
            [system.basis.T @ inputs == coordinates, cp.abs(inputs) <= bound],
        )
        assert problem.is_dcp(dpp=True)

        def solve(target):
            coordinates.value = system.coordinates(target)
            problem.solve(solver=solver)

        return solve

    def raw(solver):
        problem, parameter, _ = raw_program(state, gain, size, bound)

        def solve(target):
            parameter.value = target
            problem.solve(solver=solver)

        return solve

    def seconds(solve, repeat):
        turn = itertools.cycle(targets)
        return timed(lambda: solve(next(turn)), repeat=repeat)

    ours = seconds(newton, 60)
    name = f"bounded energy, N = {reach.shape[0]}, H = {size}, active bounds, vs"
    for solver in ("CLARABEL", "OSQP"):
        obvious = seconds(preconditioned(solver), 12)
        ratio_table.add(f"{name} LQ-preconditioned DPP cvxpy, {solver}", ours, obvious, at_most=0.2)
    obvious = seconds(program.solve_target, 12) if hasattr(program, "solve_target") else None
    for solver in ("CLARABEL", "OSQP"):
        obvious = seconds(raw(solver), 6)
        ratio_table.add(f"{name} raw sparse cvxpy, {solver}", ours, obvious, at_most=0.02)

    for target in targets:
        found = newton(target)
        assert found.status.success
        assert limits.contains(found.inputs)
        clarabel = program.solve(system.coordinates(target), solver="CLARABEL")
        energy = float(found.inputs @ found.inputs)
        assert energy == pytest.approx(2.0 * clarabel.certificate.value, rel=1e-6)
        assert np.abs(reach @ found.inputs - target).max() < 1e-10
