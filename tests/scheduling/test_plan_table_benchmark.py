"""Plans from measured tables: against the best measured depth, and reading cost files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

from ensctl.drafting import (
    ServingBenchmark,
    ServingRow,
    calibrate,
    read_cost_table,
    read_serving_benchmark,
)
from ensctl.errors import FormatError, InvalidInputError, NotIdentifiableError
from ensctl.scheduling import plan_from_benchmark, plan_table

RealData = Callable[[str], Path]
Measured = dict[int, dict[int, float]]


@pytest.fixture(scope="module")
def benchmark_table(real_data: RealData) -> ServingBenchmark:
    return read_serving_benchmark(real_data("drafting/serving_benchmark.csv"))


def _measured(table: ServingBenchmark, tasks: Iterable[str], depths: range) -> Measured:
    """Mean TPOT over tasks by concurrency and depth, over tasks that have every depth there."""
    cells: dict[tuple[str, int], dict[int, float]] = {}
    for row in table.rows:
        cells.setdefault((row.task, row.concurrency), {})[row.depth] = row.mean_tpot
    whole: Measured = {}
    for level in table.concurrencies:
        rows = [cells[task, level] for task in tasks]
        rows = [row for row in rows if all(depth in row for depth in depths)]
        whole[level] = {k: float(np.mean([row[k] for row in rows])) for k in depths}
    return whole


@pytest.mark.parametrize("off", [False, True])
@pytest.mark.parametrize("depths", [None, (1, 3)])
def test_table_against_the_best_measured_depth(
    benchmark_table: ServingBenchmark, depths: tuple[int, ...] | None, off: bool
) -> None:
    plan = plan_from_benchmark(benchmark_table, calibrate_on=depths, off=off)
    options = range(0 if off else 1, 6)
    measured = _measured(benchmark_table, benchmark_table.tasks, options)
    losses = [1 - min(row.values()) / row[plan.depth(b)] for b, row in measured.items()]
    assert float(np.mean(losses)) < 0.01 and max(losses) < 0.01
    planned = [-math.log(row[plan.depth(b)]) for b, row in measured.items()]
    for depth in options:
        single = [-math.log(row[depth]) for row in measured.values()]
        assert np.mean(planned) > np.mean(single)


@pytest.mark.parametrize("depths", [None, (1, 3)])
def test_tables_of_single_tasks(
    benchmark_table: ServingBenchmark, depths: tuple[int, ...] | None
) -> None:
    fit = calibrate(benchmark_table, depths=depths)
    losses = []
    for task in benchmark_table.tasks:
        plan = plan_from_benchmark(fit, traffic={task: 1.0}, off=False)
        for row in benchmark_table.concurrencies:
            cell = {
                r.depth: r.mean_tpot
                for r in benchmark_table.rows
                if (r.task, r.concurrency) == (task, row) and r.depth > 0
            }
            losses.append(1 - min(cell.values()) / cell[plan.depth(row)])
    assert float(np.mean(losses)) < 0.01


def test_predictions_meet_the_measurements(benchmark_table: ServingBenchmark) -> None:
    plan = plan_from_benchmark(benchmark_table, off=False)
    measured = _measured(benchmark_table, benchmark_table.tasks, range(1, 6))
    inside = [
        plan.low[0, i] <= 1 / measured[b][plan.depth(b)] <= plan.high[0, i]
        for i, b in enumerate(plan.batches.tolist())
    ]
    assert np.mean(inside) >= 0.75
    assert any("corrupt" in note for note in plan.notes)


def test_cost_file_and_log(real_data: RealData) -> None:
    measured = read_cost_table(real_data("drafting/serving_benchmark.csv"))
    assert measured.off and measured.deepest == 5 and measured.batches.tolist()[-1] == 128
    assert 0 < measured.error < 0.05
    plan = plan_table(0.65, measured.cost, range(1, 129), max_depth=5, cost_error=measured.error)
    assert plan.depth(1) >= 2 and plan.depth(128) == 0


def _rows() -> list[ServingRow]:
    return [
        ServingRow(task, k, c, itl, itl / sum(alpha**j for j in range(k + 1)))
        for task, alpha in (("chat", 0.4), ("code", 0.85))
        for c in (1, 8, 32)
        for k in (0, 1, 3)
        for itl in [8.0 + 0.2 * c + (2.0 + (0.6 + 0.1 * c) * k if k else 0.0)]
    ]


def test_traffic_decides() -> None:
    deep = plan_from_benchmark(_rows(), traffic={"code": 1})
    shallow = plan_from_benchmark(_rows(), traffic={"chat": 1})
    assert deep.depth(1) > shallow.depth(1)
    # 1/Σ w·TPOT by hand.
    mix = plan_from_benchmark(_rows(), traffic={"chat": 1, "code": 3}, noise=0, hysteresis=0)
    tpot = {(r.task, r.depth): r.mean_tpot for r in _rows() if r.concurrency == 1}
    depth = mix.depth(1)
    if (("chat", depth)) in tpot:
        expected = 1 / (0.25 * tpot["chat", depth] + 0.75 * tpot["code", depth])
        assert mix.throughput[0, 0] == pytest.approx(expected, rel=1e-6)


def test_benchmark_without_off() -> None:
    rows = [row for row in _rows() if row.depth]
    assert 0 not in plan_from_benchmark(rows).options
    with pytest.raises(NotIdentifiableError, match="off was not measured"):
        plan_from_benchmark(rows, off=True)


def test_bad_requests() -> None:
    with pytest.raises(InvalidInputError, match="traffic must name"):
        plan_from_benchmark(_rows(), traffic={"poems": 1})
    with pytest.raises(InvalidInputError, match="a share > 0"):
        plan_from_benchmark(_rows(), traffic={"chat": 0})
    with pytest.raises(InvalidInputError, match="measured range"):
        plan_from_benchmark(_rows(), loads=64)
    with pytest.raises(InvalidInputError, match="calibrate_on"):
        plan_from_benchmark(calibrate(_rows()), calibrate_on=(1, 3))
    with pytest.raises(InvalidInputError, match="ServingRow"):
        plan_from_benchmark([1, 2])  # type: ignore[list-item]


def test_simple_tables(tmp_path: Path) -> None:
    full = tmp_path / "full.csv"
    full.write_text("batch,K,cycle\n1,0,9\n1,1,10\n1,2,11.5\n4,0,10\n4,1,12\n4,2,15\n")
    measured = read_cost_table(full)
    assert measured.cost.cycle(2, batch=4) == 15 and measured.cost.cycle(1, batch=2.5) == 11
    assert (measured.off, measured.deepest, measured.error, measured.notes) == (True, 2, 0.0, ())
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("conc,depth,ms\n1,1,10\n1,3,14\n1,5,18\n4,1,12\n4,3,18\n")
    fitted = read_cost_table(ragged)
    assert fitted.cost.cycle(5, batch=4) == pytest.approx(24) and not fitted.off
    assert "a line in K" in fitted.notes[0]
    repeated = tmp_path / "repeated.csv"
    repeated.write_text("batch,K,cycle\n1,-1,9\n1,1,10\n1,1,12\n")
    assert read_cost_table(repeated).cost.cycles([0, 1]).tolist() == [9, 11]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs a column K"),
        ("batch,K\n1,0\n", "needs a column cycle"),
        ("batch,K,cycle\n", "no measurement"),
        ("batch,K,cycle\n1,0,x\n", "line 2: cycle must be a real number"),
        ("batch,K,cycle\n1,0,9\n1,1,nan\n", "line 3: cycle must be finite"),
        ("batch,K,cycle\n1,0,9\n1,1,-4\n", "line 3: cycle must be > 0"),
        ("batch,K,cycle\n1.5,0,9\n", "line 2: batch must be an integer"),
        ("batch,K,cycle\n0,0,9\n", "batch must be ≥ 1"),
        ("batch,K,cycle\n1,0\n", "line 2: cycle"),
    ],
)
def test_bad_tables_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "cost.csv"
    file.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_cost_table(file)
    with pytest.raises(FormatError, match="cannot be read"):
        read_cost_table(tmp_path / "none.csv")
