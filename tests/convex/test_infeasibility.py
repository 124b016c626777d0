"""Proofs of infeasibility: never for a feasible problem, exact where float64 cannot decide."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.convex import (
    Ball,
    Below,
    Rows,
    Within,
    WithinDiscs,
    Zero,
    box,
    discs,
    exact_margin,
    infeasibility_certificate,
    lq,
    newton_box,
    smallest_peak,
    stack_matrix,
    stack_vector,
)
from ensctl.convex.infeasibility import float_margin

seeds = st.integers(0, 2**32 - 1)


def ones(size, target):
    """Σ u_k = d."""
    matrix = np.ones((1, size))
    return lq(matrix), Rows(matrix, np.array([target]), Zero())


@given(seeds)
def test_nothing_proves_a_feasible_problem_infeasible(seed):
    rng = np.random.default_rng(seed)
    count, half = 2 * int(rng.integers(1, 4)), int(rng.integers(6, 10))
    stacked = bool(rng.integers(2))
    size = 2 * half if stacked else half
    matrix, u = rng.standard_normal((count, size)), rng.standard_normal(size)
    system, error = lq(matrix), 0.1 * rng.standard_normal(count)
    radius = np.abs(error)
    region = [
        Zero(),
        Within(radius),
        WithinDiscs(np.hypot(*np.split(radius, 2)) * (1 + 1e-15)),
        Ball(float(np.linalg.norm(error)) * (1 + 1e-15)),
    ][int(rng.integers(4))]
    shift = 0.0 if isinstance(region, Zero) else error
    terminal = Rows(matrix, matrix @ u - shift, region, rounding=1e-14)
    # u sits on many limits at once.
    domain = (
        discs(np.hypot(*np.split(u, 2)) * (1 + 1e-15), half)
        if stacked
        else box(np.minimum(u, 0.0), np.maximum(u, 0.0), size)
    )
    limit = Rows(np.eye(size)[:2], u[:2].copy(), Below())
    for _ in range(20):
        eta = rng.standard_normal(count)
        proof = infeasibility_certificate(
            terminal, system, eta, domain,
            limits=(limit,), multipliers=(-rng.random(2),),
        )  # fmt: skip
        assert not proof.verified
        assert proof.arithmetic == "none"


@pytest.mark.parametrize("size", [3, 7, 10])
def test_one_ulp_decides(size):
    """Σ u_k = n ū is feasible for |u| ≤ ū and infeasible one ulp below, by rational arithmetic."""
    peak = 0.1
    target = float(Fraction(peak) * size)
    if Fraction(target) > Fraction(peak) * size:
        target = float(np.nextafter(target, 0.0))
    system, terminal = ones(size, target)
    eta = system.factor.T @ [1.0]
    feasible = infeasibility_certificate(terminal, system, eta, box(-peak, peak, size))
    assert not feasible.verified
    below = np.nextafter(peak, 0.0)
    for _ in range(3):
        below = np.nextafter(below, 0.0)
    proof = infeasibility_certificate(terminal, system, eta, box(-below, below, size))
    assert proof.verified
    assert proof.arithmetic == "rational"
    assert exact_margin((terminal,), proof.exact, box(-below, below, size)) > 0
    # Without rational arithmetic the same candidate proves nothing.
    assert not infeasibility_certificate(
        terminal, system, eta, box(-below, below, size), exact=False
    ).verified


def test_the_wrong_direction_proves_nothing():
    system, terminal = ones(5, 1.0)
    limits = box(-0.1, 0.1, 5)
    eta = system.factor.T @ [1.0]
    assert infeasibility_certificate(terminal, system, eta, limits).verified
    assert not infeasibility_certificate(terminal, system, -eta, limits).verified
    assert not infeasibility_certificate(terminal, system, np.array([0.0]), limits).verified
    assert not infeasibility_certificate(terminal, system, np.array([np.nan]), limits).verified


def test_proof_is_about_the_true_powers(steering):
    """Near the limit, with κ = 6e9, rounded powers and exact ones decide differently."""
    order, horizon = 15, 30
    data = steering(np.linspace(0.1, 0.9, order), 1.0, (-1.0) ** np.arange(order), horizon)
    system = lq(data.matrix)
    coordinates = system.coordinates(data.target)
    peak = smallest_peak(system.basis, coordinates).value
    limits = box(-peak * (1 - 1e-6), peak * (1 - 1e-6), horizon)
    found = newton_box(system.basis, coordinates, limits)
    proof = infeasibility_certificate(data.rows, system, found.multipliers, limits)
    assert proof.arithmetic == "rational"
    assert proof.verified
    assert exact_margin((data.rows,), proof.exact, limits) > 0
    # The same multipliers in float64, rounded on the way to R, prove nothing.
    assert not infeasibility_certificate(
        data.rows, system, found.multipliers, limits, exact=False
    ).verified


@given(seeds)
def test_error_bound_covers_the_float_margin(seed):
    """true margin ≥ float margin − bound, with rounded powers against true ones."""
    rng = np.random.default_rng(seed)
    order, horizon = int(rng.integers(2, 6)), int(rng.integers(6, 20))
    lam = rng.uniform(-1, 1, order)
    matrix = lam[:, None] ** np.arange(horizon)[::-1]

    def exact():
        rows = [[Fraction(float(z)) ** (horizon - 1 - k) for k in range(horizon)] for z in lam]
        return rows, [Fraction(float(d)) for d in target]

    target = rng.standard_normal(order)
    rows = Rows(matrix, target, Zero(), rounding=4 * horizon * 2.0**-52, exact=exact)
    limits = box(-rng.uniform(0, 1, horizon), rng.uniform(0, 1, horizon), horizon)
    y = 10.0 ** rng.uniform(0, 6) * rng.standard_normal(order)
    margin, bound = float_margin((rows,), (y,), limits)
    true = exact_margin((rows,), (y.tolist(),), limits)
    assert true >= Fraction(margin) - Fraction(bound)
    assert float(true) == pytest.approx(margin, abs=1e-10 * np.abs(y).max())
    assert bound <= 1e-10 * np.abs(y).max()


def test_unlimited_inputs_have_to_be_absorbed_exactly():
    """u_0 free, u_1 ≤ 1: u_0 + u_1 = 3 and u_0 − u_1 = 0.5 has no solution."""
    matrix = np.array([[0.1, 0.1], [0.3, -0.3]])
    target = np.array([0.3, 0.15])
    system = lq(matrix)
    terminal = Rows(matrix, target, Zero())
    limits = box([-np.inf, -1.0], [np.inf, 1.0], 2)
    found = newton_box(system.basis, system.coordinates(target), limits)
    assert found.status.name == "INFEASIBLE"
    proof = infeasibility_certificate(terminal, system, found.multipliers, limits)
    assert proof.verified
    assert proof.arithmetic == "rational"
    gradient = [sum(Fraction(float(matrix[i, 0])) * proof.exact[0][i] for i in range(2))]
    assert gradient == [0]


def test_limits_take_part():
    """u_0 + u_1 = 1 with rows u_0 ≤ .4, u_1 ≤ .5, nothing else bounded."""
    matrix = np.ones((1, 2))
    terminal, system = Rows(matrix, np.array([1.0]), Zero()), lq(matrix)
    limit = Rows(np.eye(2), np.array([0.4, 0.5]), Below())
    free = box(-np.inf, np.inf, 2)
    eta, multipliers = system.factor.T @ [1.0], (np.array([-1.0, -1.0]),)
    proof = infeasibility_certificate(
        terminal, system, eta, free, limits=(limit,), multipliers=multipliers
    )
    assert proof.verified
    assert proof.margin / proof.eta[0] == pytest.approx(0.1, rel=1e-9)
    roomy = replace(limit, target=np.array([0.4, 0.7]))
    assert not infeasibility_certificate(
        terminal, system, eta, free, limits=(roomy,), multipliers=multipliers
    ).verified


def test_complex_moduli():
    """|u| ≤ ū: unreachable iff |d| > ū Σ|a_k|; proved on both sides of a relative 1e-12."""
    rng = np.random.default_rng(2)
    row = rng.standard_normal((1, 6)) + 1j * rng.standard_normal((1, 6))
    matrix, target = stack_matrix(row), stack_vector(np.array([3.0 + 4.0j]))
    system, terminal = lq(matrix), Rows(matrix, target, Zero())
    needed = 5.0 / np.abs(row).sum()
    eta = system.factor.T @ target
    below = infeasibility_certificate(terminal, system, eta, discs(needed * (1 - 1e-12), 6))
    assert below.verified
    above = infeasibility_certificate(terminal, system, eta, discs(needed * (1 + 1e-12), 6))
    assert not above.verified


def test_exact_margin_of_a_disc_rounds_to_the_safe_side():
    """Σ ū|g| with irrational |g|: the margin returned is a lower bound of the true one."""
    rows = Rows(np.array([[1.0, 1.0]]), np.array([1.5]), Zero())
    margin = exact_margin((rows,), ([1.0],), discs(1.0, 1))
    # True margin 3/2 − √2.
    assert margin > 0
    assert (Fraction(3, 2) - margin) ** 2 >= 2
    assert float(margin) == pytest.approx(1.5 - math.sqrt(2.0), rel=1e-14)


def test_exact_margin_without_a_proof():
    rows = Rows(np.array([[1.0, 1.0]]), np.array([5.0]), Zero())
    assert exact_margin((rows,), ([1.0],), box([-1.0, -np.inf], [1.0, np.inf], 2)) == -math.inf
    below = Rows(np.eye(2), np.zeros(2), Below())
    assert exact_margin((below,), ([1.0, 0.0],), box(-1.0, 1.0, 2)) == -math.inf
