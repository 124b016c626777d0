"""Limits on rows bound inputs that have none of their own, and make proofs possible."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.convex import (
    Below,
    Objective,
    Problem,
    Rows,
    Within,
    WithinDiscs,
    Zero,
    box,
    compile_program,
    discs,
    infeasibility_certificate,
    lq,
)
from ensctl.convex.implied_bounds import implied_bounds

LAM, HORIZON = np.array([0.3, 0.6, 0.9]), 6
FREE = box(-np.inf, np.inf, HORIZON)


def state_rows(radius):
    """|x_{i,t}| ≤ radius, t = 1 … H."""
    matrix = np.zeros((3, HORIZON, HORIZON))
    for t in range(HORIZON):
        matrix[:, t, : t + 1] = LAM[:, None] ** np.arange(t + 1)[::-1]
    return Rows(
        matrix.reshape(-1, HORIZON),
        np.zeros(3 * HORIZON),
        Within(np.full(3 * HORIZON, radius)),
        1e-13,
    )


@pytest.mark.parametrize("objective", list(Objective))
def test_a_target_beyond_the_state_limit_is_proved_infeasible(objective):
    """|x_{1,H}| ≤ 1/2 and x_{1,H} = 1, no limit on inputs."""
    matrix = LAM[:, None] ** np.arange(HORIZON)[::-1]
    system, target = lq(matrix), np.array([1.0, 0.0, 0.5])
    limits = (state_rows(0.5),)
    problem = Problem(objective, system, system.coordinates(target), FREE, limits=limits)
    result = compile_program(problem).solve()
    assert result.status.name == "INFEASIBLE"
    assert result.infeasibility.verified
    proof = infeasibility_certificate(
        Rows(matrix, target, Zero(), 1e-15), system, result.eta, FREE,
        limits=limits, multipliers=result.multipliers,
    )  # fmt: skip
    assert proof.verified
    assert proof.arithmetic == "float64"


def test_without_bounds_on_inputs_the_multipliers_are_handed_on():
    """One-sided limits bound nothing: x_H ≤ 1/2 and x_H = 1 with rounded rows."""
    matrix = LAM[:, None] ** np.arange(HORIZON)[::-1]
    system = lq(matrix)
    limit = Rows(matrix[:1], np.array([0.5]), Below(), 1e-13)
    c = system.coordinates(np.array([1.0, 0.0, 0.5]))
    result = compile_program(Problem(Objective.ENERGY, system, c, FREE, limits=(limit,))).solve()
    assert result.status.name == "PRECISION_LIMITED"
    assert result.inputs is None
    assert result.infeasibility is None
    # Given the true rows these multipliers prove it.
    exact = Rows(matrix, np.array([1.0, 0.0, 0.5]), Zero())
    proof = infeasibility_certificate(
        exact, system, result.eta, FREE,
        limits=(Rows(matrix[:1], np.array([0.5]), Below()),), multipliers=result.multipliers,
    )  # fmt: skip
    assert proof.verified
    assert proof.arithmetic == "rational"


@given(st.integers(0, 2**32 - 1))
def test_every_input_within_the_rows_is_within_the_bounds(seed):
    rng = np.random.default_rng(seed)
    size, stacked = 6, bool(rng.integers(2))
    count = 2 * int(rng.integers(3, 6))
    matrix = rng.standard_normal((count, size)) * 10.0 ** rng.uniform(-3, 3, (count, 1))
    u = rng.standard_normal(size)
    target = matrix @ u + rng.standard_normal(count) * 10.0 ** rng.uniform(-6, 0)
    error = matrix @ u - target
    region = (
        WithinDiscs(np.hypot(*np.split(error, 2)) * (1 + 1e-12))
        if rng.integers(2)
        else Within(np.abs(error) * (1 + 1e-12))
    )
    domain = discs(np.inf, size // 2) if stacked else box(-np.inf, np.inf, size)
    found = implied_bounds((Rows(matrix, target, region, 1e-13),), domain)
    if found is not None:
        assert found.contains(u)
        assert found.bounded.all()


def test_rows_that_do_not_determine_the_inputs_bound_nothing():
    rows = Rows(np.ones((3, 2)), np.zeros(3), Within(np.ones(3)))
    assert implied_bounds((rows,), box(-np.inf, np.inf, 2)) is None
    below = Rows(np.eye(2), np.zeros(2), Below())
    assert implied_bounds((below,), box(-np.inf, np.inf, 2)) is None
    unknown = Rows(np.eye(2), np.zeros(2), Within(np.ones(2)), rounding=np.inf)
    assert implied_bounds((unknown,), box(-np.inf, np.inf, 2)) is None


def test_unknown_rounding_proves_nothing_and_says_nothing():
    """0 · inf: entries that vanish, rows that take no part, and rows that do."""
    matrix = np.array([[1.0, 0.0], [0.0, 1.0]])
    limits, system = box(-0.1, 0.1, 2), lq(matrix)
    for target in (np.array([1.0, 0.0]), np.array([1.0, 2.0])):
        proof = infeasibility_certificate(
            Rows(matrix, target, Zero(), rounding=np.inf), system, np.array([1.0, 0.0]), limits
        )
        assert not proof.verified
    idle = Rows(matrix, np.zeros(2), Within(np.ones(2)), rounding=np.inf)
    eta = system.factor.T @ np.array([1.0, 0.0])
    proof = infeasibility_certificate(
        Rows(matrix, np.array([1.0, 0.0]), Zero()), system, eta, limits,
        limits=(idle,), multipliers=(np.zeros(2),),
    )  # fmt: skip
    assert proof.verified
    assert proof.margin == pytest.approx(0.9)


def test_true_rows_stand_in_for_floats_of_unknown_rounding(steering):
    """A limit without true rows rules out rational numbers, not the true rows of the target."""
    lam, target = np.array([0.3j, 0.6]), np.array([1.0, 0.5, 0.0, 0.0])
    task = steering(lam, 1.0, target, 6)
    matrix, target = task.matrix[:3], target[:3]
    true = lambda: tuple(part[:3] for part in task.rows.exact())  # noqa: E731
    terminal = Rows(matrix, target, Zero(), rounding=np.inf, exact=true)
    system, limits = lq(matrix), box(-0.3, 0.3, 6)
    limit = Rows(np.eye(6)[:1], np.zeros(1), Within(np.ones(1)), rounding=1e-13)
    problem = Problem(Objective.ENERGY, system, system.coordinates(target), limits, limits=(limit,))
    result = compile_program(problem).solve()
    assert result.status.name == "INFEASIBLE"
    proof = infeasibility_certificate(
        terminal, system, result.eta, limits, limits=(limit,), multipliers=result.multipliers
    )
    assert proof.verified
    assert proof.arithmetic == "float64"
