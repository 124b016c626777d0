"""Receding quadratic programs: optimality conditions recomputed here, closed forms, hard cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.convex.mpc_interior import interior_multipliers
from ensctl.convex.mpc_program import receding_program, solve_receding
from ensctl.errors import InvalidInputError
from ensctl.status import Status

seeds = st.integers(0, 2**32 - 1)


def _case(seed: int) -> tuple[Any, Any, Any, Any, Any]:
    """Box, slew and soft rows that are feasible, an ill-conditioned P, and a large q."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 30)), int(rng.integers(0, 10))
    G = rng.standard_normal((n, n))
    P = 10.0 ** rng.uniform(-2, 2) * G.T @ G + 1e-3 * np.eye(n)
    change = np.eye(n) - np.eye(n, k=-1)
    A = np.vstack([np.eye(n), -np.eye(n), change, -change, rng.standard_normal((k, n))])
    b = np.concatenate([np.ones(2 * n), np.full(2 * n, 0.3), rng.standard_normal(k)])
    softness = np.concatenate([np.zeros(4 * n), np.full(k, 10.0 ** rng.uniform(-4, 0))])
    return P, A, b, softness, P @ rng.standard_normal(n) * rng.uniform(0.1, 20.0)


@settings(max_examples=40)
@given(seeds)
def test_optimality_conditions(seed: int) -> None:
    P, A, b, softness, q = _case(seed)
    found = solve_receding(receding_program(P, A, softness), q, b)
    u, z = found.inputs, found.multipliers
    assert found.status is Status.OPTIMAL
    size = 1.0 + np.linalg.norm(q)
    assert np.linalg.norm(P @ u + q + A.T @ z) <= 1e-8 * size
    excess = A @ u - b - softness * z
    assert excess.max() <= 1e-8
    assert z.min() >= -1e-8 * max(1.0, z.max())
    assert np.abs(excess * z).max() <= 1e-8 * max(1.0, z.max())


@settings(max_examples=30)
@given(seeds)
def test_start_does_not_change_the_answer(seed: int) -> None:
    P, A, b, softness, q = _case(seed)
    program = receding_program(P, A, softness)
    cold = solve_receding(program, q, b)
    assert solve_receding(program, q, b, start=cold.multipliers).inputs == pytest.approx(
        cold.inputs, abs=1e-7
    )
    wrong = np.random.default_rng(seed).uniform(0.0, 1.0, b.size)
    assert solve_receding(program, q, b, start=wrong).inputs == pytest.approx(cold.inputs, abs=1e-7)


def test_own_answer_as_start_needs_one_linear_system() -> None:
    P, A, b, softness, q = _case(3)
    program = receding_program(P, A, softness)
    cold = solve_receding(program, q, b)
    if np.linalg.matrix_rank(A[cold.multipliers > 0.0]) == np.sum(cold.multipliers > 0.0):
        assert solve_receding(program, q, b, start=cold.multipliers).iterations == 1


def test_agrees_with_clarabel() -> None:
    import cvxpy as cp

    for seed in range(5):
        P, A, b, softness, q = _case(seed)
        hard, soft = softness == 0.0, softness > 0.0
        u = cp.Variable(q.size)
        cost = 0.5 * cp.quad_form(u, cp.psd_wrap(P)) + q @ u
        if soft.any():
            over = cp.pos(A[soft] @ u - b[soft])
            cost += cp.sum(cp.multiply(0.5 / softness[soft], cp.square(over)))
        cp.Problem(cp.Minimize(cost), [A[hard] @ u <= b[hard]]).solve(solver="CLARABEL")
        found = solve_receding(receding_program(P, A, softness), q, b)
        assert found.inputs == pytest.approx(u.value, abs=1e-5)


def test_diagonal_box_is_a_clip() -> None:
    rows = np.vstack([np.eye(4), -np.eye(4)])
    program = receding_program(2.0 * np.eye(4), rows, np.zeros(8))
    q = np.array([-6.0, -1.0, 1.0, 6.0])
    found = solve_receding(program, q, np.ones(8))
    assert found.inputs == pytest.approx([1.0, 0.5, -0.5, -1.0])
    assert found.free_inputs == pytest.approx([3.0, 0.5, -0.5, -3.0])


def test_dependent_active_rows_and_free_rows() -> None:
    rows = np.array([[1.0], [1.0], [1.0]])
    program = receding_program(np.eye(1), rows, np.zeros(3))
    found = solve_receding(program, np.array([-3.0]), np.array([1.0, 1.0, np.inf]))
    assert found.status is Status.OPTIMAL
    assert found.inputs == pytest.approx([1.0])
    assert found.multipliers.sum() == pytest.approx(2.0) and found.multipliers[2] == 0.0


def test_no_rows() -> None:
    program = receding_program(np.eye(2), np.zeros((0, 2)), np.zeros(0))
    assert solve_receding(program, np.array([1.0, 2.0]), np.zeros(0)).inputs == pytest.approx(
        [-1.0, -2.0]
    )
    multipliers, steps = interior_multipliers(
        np.eye(2), np.ones(2), np.eye(2), np.full(2, np.inf), np.zeros(2)
    )
    assert steps == 0 and not multipliers.any()


def test_wrong_data_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="positive definite"):
        receding_program(np.diag([1.0, -1.0]), np.zeros((0, 2)), np.zeros(0))
    with pytest.raises(InvalidInputError, match="softness must be ≥ 0"):
        receding_program(np.eye(1), np.eye(1), np.array([-1.0]))
    with pytest.raises(InvalidInputError, match="must be"):
        receding_program(np.eye(2), np.eye(1), np.zeros(1))
