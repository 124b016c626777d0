"""Guaranteed mixes: worst cases found by search are never below the guarantee."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from ensctl import scheduling
from ensctl.drafting import LinearCost
from ensctl.errors import InvalidInputError


@pytest.mark.parametrize(("kappa", "value"), [(2, 1.4630471511), (3, 1.4270930690)])
def test_length_ellipsoid_reference(kappa: float, value: float) -> None:
    arms = scheduling.arms_from_arrays([2.6, 2.4, 2.0], [1.8, 1.6, 1.3])
    uncertain = scheduling.LengthEllipsoid([0.30, 0.15, 0.05], kappa)
    plan = scheduling.allocate(arms, uncertainty=uncertain)
    assert plan.throughput == pytest.approx(value, abs=1e-10)
    assert abs(plan.gap) < 1e-9


def test_length_ellipsoid_solves_its_secular_equation() -> None:
    """Σ((L_i − T C_i)₊/σ_i)² = κ² at the optimum T of a diagonal Σ."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        lengths, cycles = rng.uniform(2, 4, 6), rng.uniform(1, 2, 6)
        sigma, kappa = rng.uniform(0.1, 0.4, 6), 2.5
        arms = scheduling.arms_from_arrays(lengths, cycles)
        found = scheduling.allocate(arms, uncertainty=scheduling.LengthEllipsoid(sigma, kappa))
        excess = np.maximum(lengths - found.throughput * cycles, 0) / sigma
        assert excess @ excess == pytest.approx(kappa**2, rel=1e-7)


def test_length_ellipsoid_with_covariance_and_constraint_holds_at_its_worst_point() -> None:
    rng = np.random.default_rng(3)
    root = rng.standard_normal((5, 5)) * 0.1
    covariance = root @ root.T + 0.01 * np.eye(5)
    lengths, cycles = rng.uniform(2, 4, 5), rng.uniform(1, 2, 5)
    arms = scheduling.arms_from_arrays(lengths, cycles)
    plan = scheduling.allocate(
        arms,
        uncertainty=scheduling.LengthEllipsoid(covariance, 1.5),
        constraints=[scheduling.MeanCycleCap(float(np.median(cycles)))],
    )
    assert abs(plan.gap) < 1e-7
    y = plan.shares / (plan.shares @ cycles)
    worst = lengths - 1.5 * covariance @ y / np.sqrt(y @ covariance @ y)
    assert worst @ y == pytest.approx(plan.throughput, rel=1e-9)


def _two() -> list[scheduling.Drafter]:
    return [
        scheduling.Drafter("E", 0.70, LinearCost(0.2, 1.2)),
        scheduling.Drafter("N", 0.62, LinearCost(0.15, 1.1)),
    ]


@pytest.mark.parametrize(("kappa", "value"), [(1, 1.40387898), (2, 1.36924545)])
def test_acceptance_ellipsoid_reference(kappa: float, value: float) -> None:
    uncertain = scheduling.AcceptanceEllipsoid({"E": 0.08, "N": 0.02}, kappa)
    plan = scheduling.allocate(_two(), [2, 3, 4], off=False, uncertainty=uncertain)
    assert plan.throughput == pytest.approx(value, abs=5e-9)
    assert abs(plan.gap) < 1e-9
    # The guarantee holds on the whole boundary of the ellipse, and is attained on it.
    y = plan.shares / (plan.shares @ plan.arms.cycles)
    values = []
    for angle in np.linspace(0, 2 * np.pi, 4001):
        alpha = {
            "E": 0.70 + kappa * 0.08 * np.cos(angle),
            "N": 0.62 + kappa * 0.02 * np.sin(angle),
        }
        pairs = zip(plan.arms.drafters, plan.arms.depths, strict=True)
        lengths = [sum(alpha[name] ** j for j in range(k + 1)) for name, k in pairs]
        values.append(float(np.dot(lengths, y)))
    assert min(values) >= plan.throughput - 1e-12
    assert min(values) == pytest.approx(plan.throughput, abs=1e-6)


def test_lower_ends_are_the_worst_corner() -> None:
    uncertain = scheduling.LowerAcceptance({"E": 0.6, "N": 0.55})
    rule = [scheduling.MeanCycleCap(1.5)]
    plan = scheduling.allocate(_two(), 4, constraints=rule, uncertainty=uncertain)
    y = plan.shares / (plan.shares @ plan.arms.cycles)
    for e, n in product((0.6, 0.7, 0.8), (0.55, 0.65)):
        alphas = {"E": e, "N": n, "off": 0.0}
        pairs = zip(plan.arms.drafters, plan.arms.depths, strict=True)
        lengths = [sum(alphas[name] ** j for j in range(k + 1)) for name, k in pairs]
        assert float(np.dot(lengths, y)) >= plan.throughput - 1e-12
    assert "lower ends" in plan.objective


def test_no_uncertainty_left_is_the_plain_mix() -> None:
    plain = scheduling.allocate(_two(), 4).throughput
    for uncertain in (
        scheduling.LengthEllipsoid(np.zeros(9), 3.0),
        scheduling.LengthEllipsoid(np.full(9, 0.1), 0.0),
        scheduling.AcceptanceEllipsoid({"E": 0.1}, 0.0),
        scheduling.LowerAcceptance({}),
    ):
        assert scheduling.allocate(_two(), 4, uncertainty=uncertain).throughput == pytest.approx(
            plain, rel=1e-9
        )


def test_switching_against_every_support() -> None:
    """All supports of one to three arms, each with its best shares by a fine grid."""
    rng = np.random.default_rng(5)
    lengths, cycles = rng.uniform(1.5, 4, 4), rng.uniform(1, 3, 4)
    cap, cost, period = 1.9, 2.0, 50
    arms = scheduling.arms_from_arrays(lengths, cycles)
    plan = scheduling.allocate(
        arms,
        constraints=[scheduling.MeanCycleCap(cap)],
        switching=scheduling.Switching(cost, period),
    )
    best = max(
        (length / cycle for length, cycle in zip(lengths, cycles, strict=True) if cycle <= cap),
    )
    grid = np.linspace(0, 1, 2001)[1:-1]
    for i in range(4):
        for j in range(i):
            mean = grid * cycles[i] + (1 - grid) * cycles[j] + 2 * cost / period
            value = (grid * lengths[i] + (1 - grid) * lengths[j]) / mean
            best = max(best, float(np.max(value, where=mean <= cap, initial=0.0)))
    assert plan.throughput >= best - 1e-9
    assert plan.throughput == pytest.approx(best, rel=2e-3)
    assert plan.upper_bound >= plan.throughput


def test_dear_switching_ends_mixing() -> None:
    arms = scheduling.arms_from_arrays([1.0, 2.0], [1.0, 2.2], depths=[0, 3])
    rule = [scheduling.MeanCycleCap(1.6)]
    arms = scheduling.arms_from_arrays([1.0, 3.0], [1.0, 2.2], depths=[0, 3])
    cheap = scheduling.allocate(arms, constraints=rule, switching=scheduling.Switching(0.0, 10))
    free = scheduling.allocate(arms, constraints=rule)
    assert cheap.throughput == pytest.approx(free.throughput, rel=1e-7)
    dear = scheduling.allocate(arms, constraints=rule, switching=scheduling.Switching(50.0, 10))
    assert dear.mix == {"off": 1.0}


@pytest.mark.parametrize(
    ("uncertain", "match"),
    [
        (scheduling.LengthEllipsoid([0.1], 1), r"std must be \(9,\)"),
        (scheduling.LengthEllipsoid(-np.ones(9), 1), "std must be ≥ 0"),
        (scheduling.LengthEllipsoid(np.triu(np.ones((9, 9))), 1), "symmetric"),
        (scheduling.LengthEllipsoid(-np.eye(9), 1), "semidefinite"),
        (scheduling.AcceptanceEllipsoid({"X": 0.1}, 1), "which is no drafter"),
        (0.5, "uncertainty must be"),
    ],
)
def test_wrong_uncertainty_is_named(uncertain: Any, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        scheduling.allocate(_two(), 4, uncertainty=uncertain)
    with pytest.raises(InvalidInputError):
        scheduling.AcceptanceEllipsoid({"E": 0.0}, 1)
    with pytest.raises(InvalidInputError):
        scheduling.LengthEllipsoid([0.1], -1)
    with pytest.raises(InvalidInputError):
        scheduling.LowerAcceptance({"E": 1.5})
    with pytest.raises(InvalidInputError):
        scheduling.Switching(-1.0, 10)
