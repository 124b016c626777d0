"""Memory and caps against tables of all arms, guarantees of single arms, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ensctl import scheduling
from ensctl.drafting import Beta, LinearCost
from ensctl.errors import InfeasibleError, InvalidInputError


def _pool() -> list[scheduling.Drafter]:
    return [
        scheduling.Drafter("E", 0.6, LinearCost(0.2, 1.2, off=1.0, unit="ms")),
        scheduling.Drafter("N", 1 / 3, LinearCost(0.05, 1.05, off=1.0, unit="ms")),
    ]


_MEMORY: dict[str, Any] = {"memory": {"E": 1, "N": 1}, "memory_limit": 1}


def test_a_floor_decides_which_drafter_is_resident() -> None:
    plan = scheduling.allocate(_pool(), 4, constraints=[scheduling.ShareFloor("E", 0.2)], **_MEMORY)
    assert plan.resident == ("E",)
    with pytest.raises(InfeasibleError, match="share of cycles of"):
        both = [scheduling.ShareFloor("E", 0.2), scheduling.ShareFloor("N", 0.2)]
        scheduling.allocate(_pool(), 4, constraints=both, **_MEMORY)


def test_a_cap_that_removes_a_required_drafter_is_a_conflict() -> None:
    with pytest.raises(InfeasibleError, match=r"share of cycles of E ≥ 0\.2"):
        floor = [scheduling.ShareFloor("E", 0.2)]
        scheduling.allocate(_pool(), 4, cycle_cap=1.15, constraints=floor)


def test_numbers_by_arm_go_with_all_arms() -> None:
    use = np.arange(9.0)
    budget = [scheduling.MeanBudget("use", use, 3.0)]
    capped = scheduling.allocate(_pool(), 4, cycle_cap=1.6, constraints=budget)
    by_name = dict(zip(scheduling.make_arms(_pool(), 4).names, use.tolist(), strict=True))
    assert sum(by_name[arm] * share for arm, share in capped.mix.items()) <= 3 + 1e-12
    one = scheduling.allocate(_pool(), 4, constraints=budget, **_MEMORY)
    assert len(one.resident) == 1
    sure = scheduling.LengthEllipsoid(np.full(9, 0.1), 1)
    assert scheduling.allocate(_pool(), 4, cycle_cap=1.6, uncertainty=sure).throughput > 1
    uncertain = scheduling.AcceptanceEllipsoid({"E": 0.05, "N": 0.05}, 1)
    assert scheduling.allocate(_pool(), 4, uncertainty=uncertain, **_MEMORY).throughput > 1


@pytest.mark.parametrize(
    "uncertain",
    [
        scheduling.LengthEllipsoid(np.full(9, 0.3), 2),
        scheduling.AcceptanceEllipsoid({"E": 0.1, "N": 0.1}, 2),
    ],
)
def test_single_arms_are_guaranteed_like_the_mix(uncertain: Any) -> None:
    plan = scheduling.allocate(_pool(), 4, uncertainty=uncertain)
    assert plan.best_single is not None
    assert plan.best_single.throughput <= plan.throughput
    arm = plan.arms.names.index(plan.best_single.name)
    name, depth = plan.arms.drafters[arm], plan.arms.depths[arm]
    worst = float(plan.arms.mean_lengths[arm])
    if isinstance(uncertain, scheduling.LengthEllipsoid):
        worst -= 2 * 0.3
    elif depth:
        alpha = {"E": 0.6, "N": 1 / 3}[name] - 0.2
        worst = sum(alpha**j for j in range(depth + 1))
    assert plan.best_single.throughput == pytest.approx(worst / plan.arms.cycles[arm])
    assert "by mixing" not in str(plan) or "-" not in str(plan).split("by mixing")[0][-9:]


def test_acceptance_ellipsoid_counts_committed_units() -> None:
    uncertain = scheduling.AcceptanceEllipsoid({"E": 0.1}, 1)
    plan = scheduling.allocate(
        _pool()[:1], 4, off=False, uncertainty=uncertain, convention="committed"
    )
    arm = int(np.argmax(plan.shares))
    worst = sum(0.5**j for j in range(plan.arms.depths[arm]))
    assert plan.throughput == pytest.approx(worst / plan.arms.cycles[arm], rel=1e-9)


def test_drafters_that_are_certain_may_have_any_model() -> None:
    pool = [_pool()[0], scheduling.Drafter("B", Beta(2, 1), LinearCost(0.05, 1.05, unit="ms"))]
    uncertain = scheduling.AcceptanceEllipsoid({"E": 0.1}, 1)
    sure = scheduling.allocate(pool[1:], 4)
    assert scheduling.allocate(pool, 4, uncertainty=uncertain).throughput >= sure.throughput - 1e-9


@pytest.mark.parametrize("convention", ["committed", "accepted"])
def test_off_yields_one_unit_in_every_convention(convention: str) -> None:
    poor = scheduling.Drafter("W", 0.1, LinearCost(0.2, 2.0, off=1.0, unit="ms"))
    assert scheduling.allocate([poor], 4, convention=convention).mix == {"off": 1.0}


def test_nothing_accepted_is_told_without_a_ratio() -> None:
    none = scheduling.Drafter("W", 0.0, 0.1)
    plan = scheduling.allocate([none], [1], off=False, convention="accepted")
    assert plan.throughput == 0 and "by mixing" not in str(plan)


@pytest.mark.parametrize("kappa", [0.1, 1.0, 100.0, 1e6])
@pytest.mark.parametrize("seed", range(6))
def test_ellipsoids_without_full_rank_and_of_any_size(seed: int, kappa: float) -> None:
    """A bound within 1e-7 although ‖F y‖ may vanish at the optimum, at any unit of cost."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    root = rng.normal(size=(int(rng.integers(1, n + 1)), n)) * 10.0 ** rng.integers(-3, 1)
    cycles = np.exp(rng.uniform(-1, 1, n)) * rng.choice([1e-3, 1.0, 1e4])
    arms = scheduling.arms_from_arrays(1 + 3 * rng.random(n), cycles)
    cap = [scheduling.MeanCycleCap(float(np.mean(cycles)))]
    plan = scheduling.allocate(
        arms, constraints=cap, uncertainty=scheduling.LengthEllipsoid(root.T @ root, kappa)
    )
    assert -1e-9 <= plan.gap <= 1e-7
    assert plan.best_single is None or plan.best_single.throughput <= plan.throughput


def test_prices_of_slack_rows_are_zero_under_an_ellipsoid() -> None:
    slack = scheduling.MeanCycleCap(50.0)
    sure = scheduling.LengthEllipsoid(np.full(9, 0.3), 2)
    plan = scheduling.allocate(_pool(), 4, constraints=[slack], uncertainty=sure)
    assert plan.prices[0].price == 0 and "worth" not in str(plan)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"constraints": scheduling.MeanCycleCap(2)}, "constraints must be a list"),
        ({"regions": scheduling.Region("a", 1, {})}, "regions must be a list"),
        ({"regions": ["a"]}, r"regions\[0\] must be a Region"),
        ({"memory": ["E"], "memory_limit": 1}, "memory must map"),
        ({"switching": 5}, "switching must be a Switching"),
        (
            {"constraints": [scheduling.MeanBudget("u", lambda name: 1, 2)]},  # type: ignore
            r"function of \(drafter, depth\)",
        ),
        ({"uncertainty": scheduling.LowerAcceptance({"X": 0.3})}, "lower names 'X'"),
        ({"uncertainty": scheduling.LowerAcceptance({"E": 0.9})}, "above the estimate"),
        (
            {
                "regions": [scheduling.Region("r", 1, {"E": 0.8})],
                "uncertainty": scheduling.LowerAcceptance({"E": 0.3}),
            },
            "its own acceptance in region 'r'",
        ),
    ],
)
def test_wrong_input_is_named(change: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        scheduling.allocate(_pool(), 4, **change)
