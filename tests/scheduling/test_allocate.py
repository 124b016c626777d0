"""Mixes against vertices enumerated in fractions, prices against differences, proofs by duality."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction as F
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from ensctl import scheduling
from ensctl.convex.ratio_program import RowConflict
from ensctl.drafting import LinearCost, TableCost
from ensctl.errors import InfeasibleError, InvalidInputError

Rows = Sequence[tuple[list[F], F]]


def _length(alpha: F, depth: int) -> F:
    return sum((alpha**j for j in range(depth + 1)), F(0))


def _solve(matrix: list[list[F]], right: list[F]) -> list[F] | None:
    """Gauss–Jordan in fractions."""
    size = len(right)
    table = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(size):
        pivot = next((i for i in range(k, size) if table[i][k] != 0), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [value / table[k][k] for value in table[k]]
        for i in range(size):
            if i != k and table[i][k] != 0:
                factor = table[i][k]
                table[i] = [a - factor * b for a, b in zip(table[i], table[k], strict=True)]
    return [row[-1] for row in table]


def _best_vertex(lengths: list[F], cycles: list[F], rows: Rows) -> tuple[F, dict[int, F]]:
    """max L·y over C·y = 1, rows·y ≤ limits, y ≥ 0: every basis, in fractions."""
    n, best = len(cycles), (F(-1), {})
    for tight in range(len(rows) + 1):
        for active in combinations(range(len(rows)), tight):
            for used in combinations(range(n), 1 + tight):
                matrix = [[cycles[i] for i in used]]
                matrix += [[rows[r][0][i] for i in used] for r in active]
                y = _solve(matrix, [F(1), *(rows[r][1] for r in active)])
                if y is None or min(y) < 0:
                    continue
                if any(
                    sum(row[i] * v for i, v in zip(used, y, strict=True)) > limit
                    for row, limit in rows
                ):
                    continue
                value = sum((lengths[i] * v for i, v in zip(used, y, strict=True)), F(0))
                if value > best[0]:
                    total = sum(y)
                    best = value, {i: v / total for i, v in zip(used, y, strict=True) if v}
    return best


def _linear(start: F, step: F, off: float | None = 1.0) -> LinearCost:
    return LinearCost(float(step), float(start), off=off, unit="ms")


def _example_a() -> list[scheduling.Drafter]:
    return [scheduling.Drafter("E", 0.6, _linear(F(6, 5), F(1, 5)))]


def _example_b() -> list[scheduling.Drafter]:
    return [
        scheduling.Drafter("E", 0.6, _linear(F(6, 5), F(1, 5))),
        scheduling.Drafter("N", 1 / 3, _linear(F(21, 20), F(1, 20))),
    ]


_TWO_LENGTHS = [F(1), *(_length(F(3, 5), k) for k in (1, 2, 3, 4))]
_TWO_LENGTHS += [_length(F(1, 3), k) for k in (1, 2, 3, 4)]
_TWO_CYCLES = [F(1), *(F(6, 5) + F(k, 5) for k in (1, 2, 3, 4))]
_TWO_CYCLES += [F(21, 20) + F(k, 20) for k in (1, 2, 3, 4)]
_TWO_DEPTHS = [0, 1, 2, 3, 4, 1, 2, 3, 4]
_IS_E = [0, 1, 1, 1, 1, 0, 0, 0, 0]


def test_mean_cycle_cap_mixes_with_off() -> None:
    plan = scheduling.allocate(_example_a(), 4, constraints=[scheduling.MeanCycleCap(1.5)])
    value, mix = _best_vertex(_TWO_LENGTHS[:5], _TWO_CYCLES[:5], [([F(-1)] * 5, -F(2, 3))])
    assert value == F(6, 5)
    assert mix == {0: F(1, 6), 2: F(5, 6)}
    assert plan.throughput == pytest.approx(1.2, abs=1e-14)
    assert plan.mix == pytest.approx({"off": 1 / 6, "E K=2": 5 / 6}, abs=1e-12)
    assert plan.best_single is not None
    assert plan.best_single.throughput == pytest.approx(8 / 7, abs=1e-14)
    assert plan.unconstrained.throughput == pytest.approx(49 / 40, abs=1e-14)
    assert plan.mean_cycle == pytest.approx(1.5, abs=1e-14)
    assert abs(plan.gap) < 1e-12


def test_share_floor_and_mean_budget() -> None:
    rows = [
        ([F(1, 2) - e for e in _IS_E], F(0)),
        ([1 + k - F(5, 2) for k in _TWO_DEPTHS], F(0)),
    ]
    value, mix = _best_vertex(_TWO_LENGTHS, _TWO_CYCLES, rows)
    assert value == F(494, 405)
    assert mix == {2: F(1, 2), 5: F(1, 2)}
    plan = scheduling.allocate(
        _example_b(),
        4,
        constraints=[
            scheduling.ShareFloor("E", 0.5),
            scheduling.MeanBudget("verified units", lambda drafter, depth: 1 + depth, 2.5),
        ],
    )
    assert plan.throughput == pytest.approx(494 / 405, abs=1e-12)
    assert plan.mix == pytest.approx({"E K=2": 0.5, "N K=1": 0.5}, abs=1e-9)


def test_three_constraints_mix_four_arms() -> None:
    rows = [
        ([F(1, 3) - e for e in _IS_E], F(0)),
        ([1 + k - F(12, 5) for k in _TWO_DEPTHS], F(0)),
        ([F(-1)] * 9, -F(4, 5)),
    ]
    value, _ = _best_vertex(_TWO_LENGTHS, _TWO_CYCLES, rows)
    assert value == F(6824, 5625)
    plan = scheduling.allocate(
        _example_b(),
        4,
        constraints=[
            scheduling.ShareFloor("E", 1 / 3),
            scheduling.MeanBudget("verified units", [1 + k for k in _TWO_DEPTHS], 2.4),
            scheduling.MeanCycleCap(1.25),
        ],
    )
    assert plan.throughput == pytest.approx(6824 / 5625, abs=1e-12)
    expected = {"E K=1": 2 / 15, "E K=2": 1 / 5, "N K=1": 7 / 15, "N K=2": 1 / 5}
    assert plan.mix == pytest.approx(expected, abs=1e-9)


def _example_c() -> tuple[list[scheduling.Drafter], list[scheduling.Region]]:
    def table(start: float, step: float) -> TableCost:
        busy = [start + k * step + max(0, 64 * (k + 1) - 128) / 640 for k in (1, 2, 3, 4)]
        return TableCost([0, 1, 2, 3, 4], [1.0, *busy], unit="ms")

    drafters = [
        scheduling.Drafter("E", 0.6, table(1.1, 0.15)),
        scheduling.Drafter("N", 0.8, table(1.05, 0.025)),
    ]
    regions = [
        scheduling.Region("one", 0.5, {}),
        scheduling.Region("two", 0.5, {"N": 0.1}),
    ]
    return drafters, regions


@pytest.mark.parametrize(
    ("floor", "value"),
    [
        (F(11, 10), F(261781, 186100)),
        (F(21, 20), F(532567, 372200)),
        (F(23, 20), F(514557, 372200)),
        (None, F(44727, 29000)),
    ],
)
def test_regions_with_a_floor(floor: F | None, value: F) -> None:
    drafters, regions = _example_c()
    constraints = [] if floor is None else [scheduling.RegionFloor("two", float(floor))]
    plan = scheduling.allocate(drafters, 4, regions=regions, constraints=constraints, batch=64)
    assert plan.throughput == pytest.approx(float(value), abs=1e-10)
    assert plan.total_throughput == pytest.approx(64 * plan.throughput, rel=1e-15)
    if floor == F(11, 10):
        assert plan.mix == pytest.approx({"E K=2": 693 / 1313, "N K=3": 620 / 1313}, abs=1e-9)
    if floor is None:
        assert plan.mix == pytest.approx({"N K=4": 1.0})


def _prices(plan: scheduling.Allocation) -> list[float]:
    return [price.price for price in plan.prices]


@pytest.mark.parametrize(
    "make",
    [
        lambda h: scheduling.MeanCycleCap(1.12 + h),
        lambda h: scheduling.ShareFloor("E", 0.3 + h),
        lambda h: scheduling.TimeShareFloor("off", 0.3 + h),
        lambda h: scheduling.MeanBudget("depth", lambda drafter, depth: depth, 0.7 + h),
    ],
)
def test_prices_are_derivatives(make: Callable[[float], Any]) -> None:
    step = 1e-5
    middle, above, below = (
        scheduling.allocate(_example_b(), 4, constraints=[make(h)]) for h in (0.0, step, -step)
    )
    assert _prices(middle)[0] != 0
    slope = (above.throughput - below.throughput) / (2 * step)
    assert _prices(middle)[0] == pytest.approx(slope, rel=1e-4)


def test_price_of_a_region_floor_is_a_derivative() -> None:
    drafters, regions = _example_c()

    def value(floor: float) -> scheduling.Allocation:
        rule = [scheduling.RegionFloor("two", floor)]
        return scheduling.allocate(drafters, 4, regions=regions, constraints=rule)

    slope = (value(1.10001).throughput - value(1.09999).throughput) / 2e-5
    assert _prices(value(1.1))[0] == pytest.approx(slope, rel=1e-4)


def test_without_side_constraints_one_arm_is_best() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        arms = scheduling.arms_from_arrays(rng.uniform(1, 4, 9), rng.uniform(1, 3, 9))
        plan = scheduling.allocate(arms)
        ratio = arms.mean_lengths / arms.cycles
        assert plan.mix == pytest.approx({arms.names[int(np.argmax(ratio))]: 1.0})
        assert plan.throughput == pytest.approx(ratio.max(), rel=1e-13)


def test_random_mixes_are_bounded_by_their_proofs_and_use_few_arms() -> None:
    rng = np.random.default_rng(1)
    for case in range(40):
        cycles = rng.uniform(5, 40, 12)
        arms = scheduling.arms_from_arrays(rng.uniform(1, 6, (1, 12)), cycles)
        constraints = [
            scheduling.MeanCycleCap(float(np.quantile(cycles, 0.4))),
            scheduling.MeanBudget("use", rng.uniform(0, 1, 12), 0.5),
        ]
        plan = scheduling.allocate(arms, constraints=constraints)
        assert abs(plan.gap) < 1e-9, case
        assert len(plan.mix) <= 3
        # No mix of arms drawn at random within the constraints does better.
        for _ in range(50):
            x = rng.dirichlet(np.full(12, 0.2))
            use = np.asarray(constraints[1].use) @ x  # type: ignore[union-attr]
            if x @ cycles <= constraints[0].limit and use <= 0.5:  # type: ignore[union-attr]
                assert (arms.mean_lengths @ x) / (x @ cycles) <= plan.upper_bound * (1 + 1e-12)


def test_worst_region_is_a_matrix_game() -> None:
    arms = scheduling.arms_from_arrays([[3, 2], [2, 3]], [1, 1.25])
    plan = scheduling.allocate(arms, objective="worst region")
    assert plan.throughput == pytest.approx(20 / 9, abs=1e-13)
    np.testing.assert_allclose(plan.region_throughputs, 20 / 9, rtol=1e-12)
    alone = (np.array([[3, 2], [2, 3]]) / [1, 1.25]).min(axis=0).max()
    assert plan.best_single is not None
    assert plan.best_single.throughput == pytest.approx(alone)


def test_memory_chooses_the_drafters_first() -> None:
    pool = [
        scheduling.Drafter("large", 0.9, 0.1),
        scheduling.Drafter("small", 0.6, 0.05),
        scheduling.Drafter("lookup", 0.3, 0.01),
    ]
    sizes = {"large": 8.0, "small": 2.0}
    assert scheduling.allocate(pool, 6, memory=sizes, memory_limit=10).resident == (
        "large",
        "small",
        "lookup",
    )
    tight = scheduling.allocate(pool, 6, memory=sizes, memory_limit=4)
    assert tight.resident == ("small", "lookup")
    assert next(iter(tight.mix)).startswith("small")
    alone = {"memory": {"large": 8.0}, "memory_limit": 4}
    assert scheduling.allocate([pool[0]], 6, **alone).mix == {"off": 1.0}  # type: ignore[arg-type]
    with pytest.raises(InfeasibleError, match="room for no drafter"):
        scheduling.allocate([pool[0]], 6, off=False, **alone)  # type: ignore[arg-type]


def test_cycle_cap_leaves_arms_out() -> None:
    plan = scheduling.allocate(_example_a(), 4, cycle_cap=1.5)
    assert plan.mix == {"E K=1": 1.0}
    with pytest.raises(InfeasibleError, match="leaves no arm"):
        scheduling.allocate(_example_a(), 4, cycle_cap=0.5)


@pytest.mark.parametrize(
    ("constraints", "named"),
    [
        ([scheduling.MeanCycleCap(0.9)], ["mean cycle ≤ 0.9"]),
        (
            [
                scheduling.ShareFloor("E", 0.7),
                scheduling.ShareFloor("N", 0.7),
                scheduling.MeanCycleCap(5.0),
            ],
            ["share of cycles of E ≥ 0.7", "share of cycles of N ≥ 0.7"],
        ),
        (
            [
                scheduling.TimeShareFloor("E", 0.5),
                scheduling.MeanCycleCap(1.1),
                scheduling.RegionFloor("all", 0.2),
            ],
            ["share of time of E ≥ 0.5", "mean cycle ≤ 1.1"],
        ),
    ],
)
def test_conflicts_are_smallest_and_proved(constraints: list[Any], named: list[str]) -> None:
    with pytest.raises(InfeasibleError) as caught:
        scheduling.allocate(_example_b(), 4, constraints=constraints)
    message = str(caught.value)
    assert all(name in message for name in named)
    for constraint in constraints:
        assert (str(constraint) in message) == (str(constraint) in named)
    proof = caught.value.certificate
    assert isinstance(proof, RowConflict)
    arms = scheduling.make_arms(_example_b(), 4)
    pairs = [constraint.row(arms) for constraint in constraints]
    rows, limits = np.array([row for row, _ in pairs]), np.array([limit for _, limit in pairs])
    assert np.all(proof.row_prices @ rows + proof.time_price * arms.cycles >= -1e-12)
    assert proof.row_prices @ limits + proof.time_price < 0


def test_sequence_follows_the_shares() -> None:
    plan = scheduling.allocate(_example_a(), 4, constraints=[scheduling.MeanCycleCap(1.5)])
    order = plan.sequence(600)
    for t in (1, 7, 100, 600):
        for arm, share in enumerate(plan.shares):
            assert abs(np.count_nonzero(order[:t] == arm) - share * t) <= 1
    assert plan.to_dict()["schema"] == 1


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"drafters": []}, "at least one entry"),
        ({"drafters": _example_a() * 2}, "different names"),
        ({"drafters": [scheduling.Drafter("off", 0.5, 0.1)]}, "must not be called 'off'"),
        ({"drafters": [0.7]}, "must be a Drafter"),
        ({"depths": [0], "off": False}, "at least one depth"),
        ({"depths": {"X": [1]}}, "which is no drafter"),
        ({"depths": "3"}, "depths must be integers"),
        ({"constraints": [3]}, r"constraints\[0\] must be"),
        ({"constraints": [scheduling.ShareFloor("X", 0.5)]}, "no arm of drafter 'X'"),
        ({"constraints": [scheduling.RegionFloor("X", 0.5)]}, "no region 'X'"),
        ({"constraints": [scheduling.MeanBudget("g", [1.0], 1)]}, "must have 5 entries"),
        ({"objective": "max"}, "objective must be"),
        ({"memory": {"E": 1.0}}, "memory goes with memory_limit"),
        ({"memory": {"X": 1.0}, "memory_limit": 1}, "which is no drafter"),
        ({"regions": [scheduling.Region("r", 1, {"X": 0.5})]}, "which is no drafter"),
        ({"regions": [scheduling.Region("r", 0, {})]}, "not all zero"),
        ({"batch": 0}, "batch must be"),
        ({"off_cost": 0.0}, "off_cost must be > 0"),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, Any], match: str) -> None:
    arguments: dict[str, Any] = {"drafters": _example_a(), "depths": 4, **change}
    with pytest.raises(InvalidInputError, match=match):
        scheduling.allocate(**arguments)


@pytest.mark.parametrize(
    "make",
    [
        lambda: scheduling.ShareFloor("E", 1.2),
        lambda: scheduling.MeanCycleCap(0.0),
        lambda: scheduling.MeanCycleCap(float("nan")),
        lambda: scheduling.RegionFloor("r", -1.0),
        lambda: scheduling.Region("", 1.0, {}),
        lambda: scheduling.arms_from_arrays([1.0, 2.0], [1.0]),
        lambda: scheduling.arms_from_arrays([1.0, 2.0], [1.0, 0.0]),
        lambda: scheduling.arms_from_arrays([1.0, 2.0], [1.0, 1.0], drafters=["a", "a"]),
    ],
)
def test_wrong_nouns_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInputError):
        make()
