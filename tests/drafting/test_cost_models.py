"""Cost models: their formulas, what they refuse, and lines fitted to measured cycles."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import (
    BatchCost,
    BatchTable,
    LinearCost,
    RooflineCost,
    TableCost,
    as_cost,
    fit_linear_cost,
)
from ensctl.errors import InvalidInputError, NotIdentifiableError

_COSTS = st.floats(0.0, 10.0)
_MODELS = [
    LinearCost(0.1, 1.0, 0.2, off=1.0),
    TableCost(range(6), [10.0, 14.0, 15.0, 17.0, 20.0, 24.0]),
    TableCost([0, 1, 5], [[10.0, 14.0, 24.0], [20.0, 26.0, 60.0]], [1, 64]),
    BatchTable([1, 64], [10.0, 20.0], [2.0, 7.0], off=[9.0, 15.0]),
    BatchCost.h100_8b(),
    RooflineCost(8.0, 0.05, 0.5, overhead=0.3, memory_per_kv=1e-5),
]


@pytest.mark.parametrize("model", _MODELS, ids=lambda model: type(model).__name__)
def test_scalars_arrays_and_differences_agree(model: Any) -> None:
    depths = np.array([[0, 1, 2], [3, 4, 5]])
    costs = model.cycles(depths, batch=7, context=300)
    assert costs.shape == (2, 3) and np.all(costs > 0)
    for depth, cost in zip(depths.ravel(), costs.ravel(), strict=True):
        assert model.cycle(int(depth), batch=7, context=300) == cost
    assert model.marginal(3, 7, 300) == costs[1, 0] - costs[0, 2]
    assert isinstance(model.cycle(2), float) and isinstance(model.unit, str)


@pytest.mark.parametrize("model", _MODELS, ids=lambda model: type(model).__name__)
def test_bad_questions(model: Any) -> None:
    for question in (
        lambda: model.cycle(-1),
        lambda: model.cycle(1.5),
        lambda: model.cycles([0.5]),
        lambda: model.cycles([-1]),
        lambda: model.cycles([math.nan]),
        lambda: model.cycle(1, batch=0),
        lambda: model.cycle(1, batch=math.nan),
        lambda: model.cycle(1, context=-1),
        lambda: model.marginal(0),
    ):
        with pytest.raises(InvalidInputError):
            question()


@given(_COSTS, st.floats(0.01, 10.0), _COSTS, st.integers(0, 30))
def test_linear_cost_is_its_formula(
    draft: float, verify: float, overhead: float, depth: int
) -> None:
    model = LinearCost(draft, verify, overhead)
    assert model.cycle(depth) == pytest.approx(overhead + verify + draft * depth, rel=1e-15)
    assert LinearCost(draft, verify, overhead, off=0.5).cycle(0) == 0.5


def test_table_interpolates_between_drafts_but_not_towards_off() -> None:
    table = TableCost([0, 1, 3], [10.0, 14.0, 18.0])
    np.testing.assert_array_equal(table.cycles([0, 1, 2, 3]), [10.0, 14.0, 16.0, 18.0])
    gapped = TableCost([0, 2, 4], [10.0, 14.0, 18.0])
    with pytest.raises(InvalidInputError, match=r"depth .* \[2, 4\], got 1; .*extrapolate"):
        gapped.cycle(1)
    assert TableCost([0, 2, 4], [10.0, 14.0, 18.0], extrapolate=True).cycle(1) == 12.0
    with pytest.raises(InvalidInputError, match="depth 0 was not measured"):
        TableCost([1, 3], [14.0, 18.0], extrapolate=True).cycle(0)
    with pytest.raises(InvalidInputError, match="depth 4 was not measured"):
        TableCost([0], [14.0], extrapolate=True).cycle(4)


def test_table_is_not_continued_unasked() -> None:
    with pytest.raises(InvalidInputError, match=r"range \[1, 3\], got 4"):
        TableCost([1, 3], [14.0, 18.0]).cycle(4)
    assert TableCost([1, 3], [14.0, 18.0], extrapolate=True).cycle(5) == 22.0
    with pytest.raises(InvalidInputError, match="not > 0"):
        TableCost([1, 3], [14.0, 2.0], extrapolate=True).cycle(5)
    assert TableCost([3], [14.0], extrapolate=True).cycle(5) == 14.0


def test_table_interpolates_between_batches() -> None:
    table = TableCost([1, 3], [[10.0, 14.0], [20.0, 40.0]], [1, 11])
    assert table.cycle(2, batch=6) == pytest.approx(21.0)
    for batch in (12, 100):
        with pytest.raises(InvalidInputError, match=r"batch .* \[1, 11\]"):
            table.cycle(2, batch=batch)
    wide = TableCost([1, 3], [[10.0, 14.0], [20.0, 40.0]], [1, 11], extrapolate=True)
    assert wide.cycle(1, batch=21) == pytest.approx(30.0)


def test_batch_table_interpolates_lines() -> None:
    table = BatchTable([1, 32, 128], [1.18, 1.66, 2.05], [0.214, 0.46, 0.83], off=[1, 1.2, 1.6])
    assert table.cycle(3, batch=32) == pytest.approx(1.66 + 3 * 0.46)
    assert table.cycle(2, batch=80) == pytest.approx(1.855 + 2 * 0.645)
    assert table.cycle(0, batch=32) == 1.2
    with pytest.raises(InvalidInputError, match="batch"):
        table.cycle(3, batch=129)
    held = BatchTable([1, 2], [1.0, 2.0], [0.1, 0.2], extrapolate=True)
    assert held.cycle(1, batch=50) == held.cycle(1, batch=2)


def test_published_constants() -> None:
    # Per cycle: verify 5.88590713 + .0210103129 B(K+1) + 3.92645679e-5 KV, step 1.20683946 ms.
    batch, context, depth = 16, 1000, 3
    kept = batch * context
    verify = 5.88590713 + 0.0210103129 * batch * (depth + 1) + 3.92645679e-5 * kept
    base = verify + 1.20683946
    linear = base + 0.712875 * depth + 2.37768493e-6 * kept
    published = base + 2.13526175 + 8.41429603e-4 * batch * depth + 2.37768493e-6 * kept
    for drafter, expected in {
        "linear": linear,
        "published": published,
        "ngram": base + 0.005875 * verify,
    }.items():
        cost = BatchCost.h100_8b(drafter)
        assert cost.unit == "ms"
        assert cost.cycle(depth, batch, context) == pytest.approx(expected, rel=1e-14)
        off = verify - 0.0210103129 * batch * depth + 1.20683946
        assert cost.cycle(0, batch, context) == pytest.approx(off, rel=1e-14)
    with pytest.raises(InvalidInputError, match="ngram"):
        BatchCost.h100_8b("eagle")


@given(st.floats(0.1, 10.0), st.floats(0.001, 1.0), st.integers(1, 200))
def test_roofline_is_free_until_its_knee(memory: float, compute: float, batch: int) -> None:
    cost = RooflineCost(memory, compute)
    free = cost.free_depth(batch)
    assert isinstance(free, int)
    flat = max(memory, compute * batch)
    assert cost.cycle(free, batch) == pytest.approx(flat, rel=1e-12)
    assert cost.cycle(free + 1, batch) > flat * (1 - 1e-12)
    assert RooflineCost(memory, 0.0).free_depth(batch) == math.inf


@pytest.mark.parametrize(
    "build",
    [
        lambda: LinearCost(-0.1),
        lambda: LinearCost(0.1, 0.0),
        lambda: LinearCost(0.1, 1.0, -1.0),
        lambda: LinearCost(0.1, off=0.0),
        lambda: LinearCost(math.nan),
        lambda: LinearCost(math.inf),
        lambda: TableCost([1, 2], [1.0, -1.0]),
        lambda: TableCost([2, 1], [1.0, 2.0]),
        lambda: TableCost([1, 1], [1.0, 2.0]),
        lambda: TableCost([-1, 1], [1.0, 2.0]),
        lambda: TableCost([0.5, 1], [1.0, 2.0]),
        lambda: TableCost([1, 2], [1.0]),
        lambda: TableCost([1, 2], [1.0, 2.0], [1, 2]),
        lambda: TableCost([1, 2], [[1.0, 2.0]], [0]),
        lambda: TableCost([], []),
        lambda: BatchTable([1], [0.0], [0.1]),
        lambda: BatchTable([1], [1.0], [-0.1]),
        lambda: BatchTable([1, 2], [1.0, 1.0, 1.0], [0.1, 0.1]),
        lambda: BatchTable([1], [1.0], [0.1], off=[-1.0]),
        lambda: BatchTable([2, 1], 1.0, 0.1),
        lambda: BatchCost(0.0),
        lambda: BatchCost(1.0, -1.0),
        lambda: RooflineCost(1.0, -1.0),
        lambda: RooflineCost(0.0, 1.0),
        lambda: RooflineCost(1.0, 1.0).free_depth(0),
        lambda: as_cost(-0.1),
        lambda: as_cost("0.1"),
        lambda: as_cost(None),
        lambda: as_cost(False),
        lambda: LinearCost(1e308).cycle(1000),
        lambda: LinearCost(0.1).cycles([10**7]),
        lambda: BatchCost(1.0, 1e200).cycle(1, batch=1e200),
    ],
)
def test_bad_models(build: Any) -> None:
    with pytest.raises(InvalidInputError):
        build()


def test_numbers_are_linear_costs() -> None:
    assert as_cost(np.float32(0.5)) == LinearCost(0.5)
    model = BatchCost(3.0)
    assert as_cost(model) is model


@given(st.floats(0.5, 10.0), st.floats(0.0, 2.0))
def test_two_depths_fix_the_line(verify: float, draft: float) -> None:
    fit = fit_linear_cost([1, 3], [verify + draft, verify + 3 * draft])
    assert isinstance(fit.cost, LinearCost)
    assert fit.cost.cycle(5) == pytest.approx(verify + 5 * draft, rel=1e-12)
    assert np.all(np.isinf(fit.draft_error)) and fit.worst_relative_error < 1e-14


def test_fit_agrees_with_least_squares() -> None:
    rng = np.random.default_rng(0)
    depths = np.repeat(np.arange(1, 6), 40)
    cycles = 10.0 + 2.0 * depths + 0.1 * rng.standard_normal(depths.size)
    weights = rng.uniform(0.5, 2.0, depths.size)
    fit = fit_linear_cost(depths, cycles, weights=weights)
    slope, base = np.polyfit(depths, cycles, 1, w=np.sqrt(weights))
    assert fit.draft[0] == pytest.approx(slope, rel=1e-12)
    assert fit.verify[0] == pytest.approx(base, rel=1e-12)
    np.testing.assert_allclose(fit.residuals, cycles - base - slope * depths, atol=1e-12)
    _, covariance = np.polyfit(depths, cycles, 1, cov=True)
    plain = fit_linear_cost(depths, cycles)
    assert plain.draft_error[0] == pytest.approx(math.sqrt(covariance[0, 0]), rel=1e-9)
    assert plain.verify_error[0] == pytest.approx(math.sqrt(covariance[1, 1]), rel=1e-9)


def test_fit_of_several_batches() -> None:
    depths, batches = [1, 3, 0, 1, 3, 0], [32, 32, 32, 1, 1, 1]
    fit = fit_linear_cost(depths, [21.2, 30.4, 11.0, 13.9, 18.2, 10.0], batches=batches)
    assert isinstance(fit.cost, BatchTable) and fit.batches is not None
    np.testing.assert_array_equal(fit.batches, [1, 32])
    assert fit.cost.cycle(2, batch=32) == pytest.approx(25.8)
    assert fit.cost.cycle(0, batch=1) == 10.0 and fit.cycles.size == 4
    assert fit.to_dict()["kind"] == "cost_fit" and "at batch 32" in str(fit)


def test_costs_that_fall_with_depth_become_flat_and_are_named() -> None:
    fit = fit_linear_cost([1, 3, 1, 3], [10.0, 12.0, 9.0, 7.0], batches=[1, 1, 2, 2])
    assert fit.flattened == (1,) and fit.draft[1] == 0.0 and fit.verify[1] == 8.0
    assert "made flat" in str(fit)


@pytest.mark.parametrize(
    ("depths", "cycles", "options", "error"),
    [
        ([1, 1], [1.0, 1.1], {}, NotIdentifiableError),
        ([0, 1], [1.0, 1.1], {}, NotIdentifiableError),
        ([1, 2], [1.0, 10.0], {}, NotIdentifiableError),
        ([1, 3, 1], [1.0, 2.0, 1.0], {"batches": [1, 1, 2]}, NotIdentifiableError),
        ([0, 1, 3, 1, 3], [1.0] * 5, {"batches": [1, 1, 1, 2, 2]}, NotIdentifiableError),
        ([1, 3], [1.0, -2.0], {}, InvalidInputError),
        ([1, 3], [1.0, math.nan], {}, InvalidInputError),
        ([1, 3], [1.0], {}, InvalidInputError),
        ([1, 2.5], [1.0, 2.0], {}, InvalidInputError),
        ([1, 3], [1.0, 2.0], {"weights": [0.0, 1.0]}, InvalidInputError),
        ([1, 3], [1.0, 2.0], {"batches": [1.0, 0.0]}, InvalidInputError),
        ([1, 3], [1.0, 2.0], {"batches": [0.5, 0.5]}, InvalidInputError),
    ],
)
def test_measurements_that_fix_no_line(
    depths: Any, cycles: Any, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        fit_linear_cost(depths, cycles, **options)


def test_lines_of_a_real_server(real_data: Callable[[str], Path]) -> None:
    """Cost relative to no speculation, Qwen2.5-7B with a .5B drafter on one A100."""
    with real_data("drafting/serving_benchmark.csv").open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["task"] == "SpecBench_All"]
    plain = {
        float(row["conc"]): float(row["mean_itl_ms"])
        for row in rows
        if row["model"] and row["method"] == "vanilla"
    }
    drafted = [row for row in rows if row["method"] == "sps"]
    fit = fit_linear_cost(
        [int(row["K"]) for row in drafted],
        [float(row["mean_itl_ms"]) / plain[float(row["conc"])] for row in drafted],
        batches=[float(row["conc"]) for row in drafted],
        unit="verify passes",
    )
    assert fit.batches is not None
    for batch, verify, draft in ((1, 1.18, 0.214), (32, 1.66, 0.46), (128, 2.05, 0.83)):
        place = int(np.flatnonzero(fit.batches == batch)[0])
        assert fit.verify[place] == pytest.approx(verify, abs=0.01)
        assert fit.draft[place] == pytest.approx(draft, abs=0.005)


def test_roofline_by_hand() -> None:
    cost = RooflineCost(8.0, 0.05, 0.5, overhead=0.3, memory_per_kv=1e-5)
    # Reading 8 + 1e-5·100·1000 = 9 stays below the 0.05·100·5 = 25 of the tokens.
    assert cost.cycle(4, batch=100, context=1000) == pytest.approx(25 + 0.3 + 4 * 0.5)
    assert cost.cycle(4) == pytest.approx(8 + 0.3 + 4 * 0.5)
