"""192 feasibility decisions on both sides of the exact limit: no wrong verdict, every no proved."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from ensctl.convex import box, exact_margin, infeasibility_certificate, lq, newton_box
from ensctl.status import Status

RATIOS = (0.9, 0.99, 0.999, 1.001, 1.01, 1.05, 1.2, 1.5)


def smallest_bound(basis, coordinates):
    """min t, |u| ≤ t, as the textbook writes it, by HiGHS at its tightest tolerances."""
    size, count = basis.shape
    eye, ones = np.eye(size), np.ones((size, 1))
    scale = np.linalg.norm(coordinates)
    found = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=np.block([[eye, -ones], [-eye, -ones]]),
        b_ub=np.zeros(2 * size),
        A_eq=np.hstack([basis.T, np.zeros((count, 1))]),
        b_eq=coordinates / scale,
        bounds=[(None, None)] * (size + 1),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0
    return scale * found.fun


def problem(kind, order, horizon, seed):
    rng = np.random.default_rng(seed)
    if kind == "circle":
        pairs = order // 2
        jitter = 0.5 * rng.uniform(-1, 1, pairs)
        lam = np.exp(1j * np.pi * (np.arange(pairs) + 0.5 + jitter) / pairs)
        return lam, 1.0, rng.standard_normal(order), horizon
    if kind == "alternating":
        return np.linspace(0.1, 0.9, order), 1.0, (-1.0) ** np.arange(order), horizon
    if kind == "symmetric":
        lam = np.linspace(-0.9, 0.9, order)
        return lam, rng.uniform(0.5, 2.0, order), rng.standard_normal(order), horizon
    return rng.uniform(-1.0, 1.0, order), 1.0, rng.standard_normal(order), horizon


PROBLEMS = [
    *[("circle", order, horizon, order) for order, horizon in
      [(4, 9), (6, 20), (8, 16), (10, 40), (12, 30), (16, 50), (20, 50), (20, 60)]],
    *[("alternating", order, 2 * order, 0) for order in (4, 6, 8, 10, 12, 15)],
    *[("symmetric", order, 3 * order, order) for order in (3, 5, 8, 10, 12)],
    *[("random", order, horizon, 100 + order) for order, horizon in
      [(2, 30), (3, 5), (5, 9), (7, 30), (9, 20)]],
]  # fmt: skip


@pytest.mark.parametrize("case", PROBLEMS, ids=lambda case: f"{case[0]}-{case[1]}-{case[2]}")
def test_decisions(case, steering):
    data = steering(*problem(*case))
    system = lq(data.matrix)
    coordinates = system.coordinates(data.target)
    exact_bound = smallest_bound(system.basis, coordinates)
    size = data.matrix.shape[1]
    for ratio in RATIOS:
        limits = box(-ratio * exact_bound, ratio * exact_bound, size)
        found = newton_box(system.basis, coordinates, limits)
        assert limits.contains(found.inputs)
        if ratio > 1.0:
            assert found.status is Status.OPTIMAL, ratio
            assert found.residual < 1e-13
            floor = 2.0**-52 * (np.abs(data.matrix) @ np.abs(found.inputs)).max()
            assert np.abs(data.matrix @ found.inputs - data.target).max() < 10 * floor
        else:
            assert found.status is Status.INFEASIBLE, ratio
            proof = infeasibility_certificate(data.rows, system, found.multipliers, limits)
            assert proof.verified, ratio
            # Once more, without any rounding, about the true matrix.
            parts = proof.exact or ([Fraction(float(y)) for y in proof.eta],)
            assert exact_margin((data.rows,), parts, limits) > 0


def test_there_are_192_decisions():
    assert len(PROBLEMS) * len(RATIOS) == 192
