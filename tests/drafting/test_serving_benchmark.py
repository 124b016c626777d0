"""Benchmark tables: corrupt cells, calibration at two depths, predicted TPOT and chosen depth."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ensctl.drafting import (
    IID,
    MarkovRenewal,
    ServingRow,
    calibrate,
    clean_benchmark,
    read_serving_benchmark,
)
from ensctl.errors import FormatError, InvalidInputError, NotIdentifiableError

TASKS = {"chat": IID(0.7), "code": IID(0.85), "copy": MarkovRenewal(0.8, 0.2)}
DEPTHS = (1, 2, 3, 4, 5)


def table(noise: float = 0.0, seed: int = 0) -> list[ServingRow]:
    """A benchmark of three tasks with straight-line cycle times."""
    rng = np.random.default_rng(seed)
    rows = []
    for task, model in TASKS.items():
        for concurrency in (1, 4, 16, 64):
            level = 10.0 * concurrency**0.3
            for depth in DEPTHS:
                itl = level * (1.2 + 0.2 * depth) * np.exp(noise * rng.standard_normal())
                tpot = itl / model.expected_length(depth) * np.exp(noise * rng.standard_normal())
                rows.append(ServingRow(task, depth, concurrency, itl, tpot, "sps"))
            rows.append(ServingRow(task, 0, concurrency, level, level, "vanilla"))
    return rows


def real(real_data: Callable[[str], Path]) -> Path:
    return real_data("drafting/serving_benchmark.csv")


def test_published_benchmark(real_data: Callable[[str], Path]) -> None:
    benchmark = read_serving_benchmark(real(real_data))
    assert len(benchmark.dropped) == 1
    row, reason = benchmark.dropped[0]
    assert "line 33" in row
    assert "ShareGPT, K = 4, concurrency 128" in row
    assert "neighbours" in reason
    fit = calibrate(benchmark, depths=(1, 3))
    errors = fit.errors(benchmark)
    assert errors.mean < 0.028
    assert sorted(errors.by_depth) == [2, 4, 5]
    assert errors.loss_mean < 0.007
    assert errors.loss_worst < 0.10
    json.dumps(fit.to_dict())
    json.dumps(benchmark.to_dict())


@pytest.mark.parametrize(
    ("column", "factor"), [("mean_itl_ms", 0.02), ("mean_tpot_ms", 2.5), ("mean_itl_ms", 60.0)]
)
def test_corrupt_cells_are_found_wherever_they_are(
    real_data: Callable[[str], Path], tmp_path: Path, column: str, factor: float
) -> None:
    with open(real(real_data), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rng = np.random.default_rng(3)
    spoilt = sorted(rng.choice(len(rows), 6, replace=False).tolist())
    for i in spoilt:
        rows[i][column] = str(float(rows[i][column]) * factor)
    path = tmp_path / "spoilt.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    benchmark = read_serving_benchmark(path)
    lines = {int(text.split(":")[0].removeprefix("line ")) for text, _ in benchmark.dropped}
    assert {i + 2 for i in spoilt} <= lines
    assert lines - {i + 2 for i in spoilt} <= {33}
    errors = calibrate(benchmark, depths=(1, 3)).errors(benchmark)
    assert errors.mean < 0.035


def test_exact_tables_are_predicted_exactly() -> None:
    rows = table()
    fit = calibrate(rows, depths=(1, 3), method="sps")
    errors = fit.errors(rows)
    assert errors.worst < 1e-5
    assert errors.loss_worst == 0.0
    assert fit.acceptance("chat").expected_length(5) == pytest.approx(IID(0.7).expected_length(5))
    assert isinstance(fit.acceptance("copy"), MarkovRenewal)
    cost = fit.cost(4, "code")
    level = 10.0 * 4**0.3
    assert cost.verify == pytest.approx(1.2 * level)
    assert cost.draft == pytest.approx(0.2 * level)
    assert cost.cycle(0) == pytest.approx(level)
    assert cost.unit == "ms"


def test_noisy_tables_are_predicted_about_as_well_as_they_are_measured() -> None:
    rows = table(0.01, 5)
    errors = calibrate(rows, depths=(1, 3), method="sps").errors(rows)
    assert errors.mean < 0.03
    assert errors.loss_mean < 0.01


def test_off_and_interpolation() -> None:
    fit = calibrate(table(), depths=(1, 3), method="sps")
    assert fit.predict(0, 4, "chat") == pytest.approx(10.0 * 4**0.3)
    low, high = (fit.predict(2, c, "chat") for c in (4, 16))
    assert low < fit.predict(2, 8, "chat") < high
    mean = np.mean([fit.predict(2, 4, task) for task in fit.tasks])
    assert fit.predict(2, 4) == pytest.approx(mean)
    # At acceptance .2 after a rejection, drafting does not pay for a cycle of 1.4 passes.
    assert fit.best_depth(1, "copy", off=True) == 0
    assert fit.best_depth(1, "code") == fit.best_depth(1, "code", off=True) == 5
    costs = [(1.2 + 0.2 * k) / IID(0.85).expected_length(k) for k in range(1, 13)]
    assert fit.best_depth(1, "code", max_depth=12) == 1 + int(np.argmin(costs))
    with pytest.raises(InvalidInputError, match="measured range"):
        fit.predict(2, 65, "chat")
    with pytest.raises(InvalidInputError, match="task must"):
        fit.predict(2, 4, "none")
    assert len(str(fit).splitlines()) <= 12


def test_a_cell_without_one_depth_takes_the_growth_of_the_others() -> None:
    rows = [r for r in table() if (r.task, r.depth, r.concurrency) != ("chat", 3, 4)]
    fit = calibrate(rows, depths=(1, 3), method="sps")
    assert fit.errors(rows).worst < 1e-5


def test_repeated_runs_are_averaged() -> None:
    rows = [row for row in table() if row.method == "sps"]
    assert calibrate(rows + rows, depths=(1, 3)).errors(rows).worst < 1e-5


def test_several_drafters_have_to_be_chosen_from() -> None:
    rows = table()
    again = [ServingRow(*r.__dict__.values()) for r in rows if r.method == "sps"]
    other = [
        ServingRow(r.task, r.depth, r.concurrency, r.mean_itl, r.mean_tpot, "ngram") for r in again
    ]
    with pytest.raises(InvalidInputError, match="method must be given"):
        calibrate([*rows, *other])
    assert calibrate([*rows, *other], method="ngram").depths == DEPTHS
    with pytest.raises(InvalidInputError, match="method must be one of"):
        calibrate(rows, method="medusa")


def test_too_few_depths() -> None:
    with pytest.raises(NotIdentifiableError, match="two depths"):
        calibrate(table(), depths=(1,), method="sps")
    with pytest.raises(InvalidInputError, match="among"):
        calibrate(table(), depths=(1, 7), method="sps")
    fit = calibrate(table(), depths=DEPTHS, method="sps")
    with pytest.raises(InvalidInputError, match="besides"):
        fit.errors(table())
    drafted = [row for row in table() if row.depth]
    with pytest.raises(NotIdentifiableError, match="without speculation"):
        calibrate(drafted).predict(0, 4, "chat")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "needs a column task"),
        (b"a,b\n1,2\n", "needs a column task"),
        (b"task,K,conc,mean_itl_ms,mean_tpot_ms\n", "no row"),
        (b"task,K,conc,mean_itl_ms,mean_tpot_ms\nqa,x,1,2,3\n", "line 2: K must"),
        (b"\x1f\x8b\x08\x00\xff\xfe", "not CSV"),
    ],
)
def test_files_without_a_table(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bench.csv"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_serving_benchmark(path)
    with pytest.raises(FormatError, match="cannot be read"):
        read_serving_benchmark(tmp_path / "none.csv")


def test_bad_rows_are_dropped_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "bench.csv"
    rows = ["task,K,conc,mean_itl_ms,mean_tpot_ms", "qa,1,1,15,9", "qa,2,1,nan,8", "qa,2,0,17,8"]
    path.write_text("\n".join([*rows, "qa,3,1", "qa,3,1,20,-8", "qa,3,1,20,8", "qa,4,1,20,2"]))
    benchmark = read_serving_benchmark(path)
    assert [row.line for row in benchmark.rows] == [2, 7]
    assert [text.split(":")[0] for text, _ in benchmark.dropped] == [
        "line 3",
        "line 4",
        "line 5",
        "line 6",
        "line 8",
    ]


def test_rows_are_checked() -> None:
    with pytest.raises(InvalidInputError, match="ServingRow"):
        clean_benchmark([1])  # type: ignore[list-item]
    with pytest.raises(InvalidInputError, match="mean_tpot"):
        ServingRow("a", 1, 1, 2.0, 0.0)
