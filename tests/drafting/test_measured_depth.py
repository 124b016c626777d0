"""Depths from counters and costs from files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ensctl import drafting
from ensctl.errors import FormatError, InvalidInputError, NotIdentifiableError


def _windows(alpha: float, depth: int, count: int, seed: int) -> list[drafting.Counters]:
    rng = np.random.default_rng(seed)
    windows = []
    for _ in range(count):
        kept = np.minimum(rng.geometric(1 - alpha, 500) - 1, depth)
        positions = tuple(int(np.count_nonzero(kept > j)) for j in range(depth))
        windows.append(
            drafting.Counters(500, 500 * depth, int(kept.sum()), accepted_per_position=positions)
        )
    return windows


def test_the_optimum_of_the_truth_is_found_from_counters() -> None:
    found = drafting.measured_depths(_windows(0.7, 3, 20, 0), 0.1)[0]
    truth = drafting.optimal_depth(0.7, 0.1)
    assert found.optimum.depth == truth.depth
    assert found.throughput.low <= truth.throughput <= found.throughput.high
    assert found.optimum.curve_low is not None
    assert found.optimum.curve_high is not None
    assert np.all(found.optimum.curve_low <= found.optimum.curve)
    assert np.all(found.optimum.curve <= found.optimum.curve_high)
    assert found.windows == 20
    assert found.to_dict()["schema"] == 1
    assert str(found).startswith("K = 4")


def test_engines_and_models_are_kept_apart() -> None:
    strong, weak = _windows(0.8, 3, 12, 1), _windows(0.3, 3, 12, 2)
    named = [
        *(drafting.Counters(**{**vars(w), "engine": "0", "model": "m"}) for w in strong),
        *(drafting.Counters(**{**vars(w), "engine": "1", "model": "m"}) for w in weak),
    ]
    found = drafting.measured_depths(named, 0.1)
    assert [m.name for m in found] == ["m, 0", "m, 1"]
    assert found[0].optimum.depth > found[1].optimum.depth
    assert found[0].alpha.value == pytest.approx(0.8, abs=0.02)
    assert found[1].alpha.value == pytest.approx(0.3, abs=0.02)


def test_a_model_that_holds_at_one_depth_only_is_not_extrapolated() -> None:
    found = drafting.measured_depths(_windows(0.9, 3, 12, 3), 0.01, model="per_position")[0]
    assert found.optimum.curve.size == 4


def test_off_has_no_uncertainty() -> None:
    found = drafting.measured_depths(_windows(0.2, 3, 12, 4), 0.9)[0]
    assert found.optimum.depth == 0
    assert found.throughput.std_error == 0.0


def test_nothing_drafted_is_not_identifiable() -> None:
    with pytest.raises(NotIdentifiableError, match="no window drafted anything"):
        drafting.measured_depths([drafting.Counters(0, 0, 0)], 0.1)
    with pytest.raises(InvalidInputError, match="at least one window"):
        drafting.measured_depths([], 0.1)
    with pytest.raises(InvalidInputError, match=r"counters\[0\] must be Counters"):
        drafting.measured_depths([3], 0.1)  # type: ignore[list-item]


def test_cost_tables_as_lines_and_as_they_are(tmp_path: Path) -> None:
    table = tmp_path / "cost.csv"
    table.write_text("batch,K,cycle_ms\n1,0,10\n1,1,13\n1,3,17\n8,0,20\n8,1,30\n8,3,50\n")
    line = drafting.read_cost_table(table, line=True).cost
    assert line.unit == "ms"
    assert line.cycle(0, batch=1) == 10
    assert line.cycle(2, batch=8) == pytest.approx(40)
    assert line.cycle(9, batch=1) == pytest.approx(29)
    with pytest.raises(InvalidInputError):
        drafting.read_cost_table(table).cost.cycle(9, batch=1)


def test_cost_tables_without_a_batch(tmp_path: Path) -> None:
    table = tmp_path / "cost.csv"
    table.write_text("depth,cycle\n0,10\n1,13\n3,17\n")
    measured = drafting.read_cost_table(table)
    assert measured.batches.tolist() == [1]
    assert measured.cost.cycle(1) == 13
    with pytest.raises(InvalidInputError, match="task goes with"):
        drafting.read_cost_table(table, task="x")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "needs a column K"),
        ("a,b\n1,2\n", "needs a column K"),
        ("depth,time\n1,2\n", "needs a column cycle"),
        ("depth,cycle\n1,abc\n", r"line 2.*cycle must be"),
        ("depth,cycle\n1,nan\n", "line 2"),
        ("depth,cycle\n1\n", "line 2"),
        ("depth,cycle\n", "no measurement"),
    ],
)
def test_wrong_cost_tables_name_the_line(tmp_path: Path, content: str, match: str) -> None:
    table = tmp_path / "cost.csv"
    table.write_text(content)
    with pytest.raises(FormatError, match=match):
        drafting.read_cost_table(table)


def test_serving_benchmark_as_a_cost(real_data: Callable[[str], Path]) -> None:
    path = real_data("drafting/serving_benchmark.csv")
    cost = drafting.read_cost_table(path).cost
    assert cost.cycle(0, batch=1) < cost.cycle(1, batch=1) < cost.cycle(5, batch=1)
    assert cost.cycle(3, batch=64) > cost.cycle(3, batch=1)
    with pytest.raises(InvalidInputError, match="task must be one of"):
        drafting.read_cost_table(path, task="nothing")


def test_real_logs_give_depths(real_data: Callable[[str], Path]) -> None:
    for number in ("00", "03", "04", "05", "17"):
        windows = drafting.read_counters(real_data(f"drafting/server_logs/vllm_0.24_{number}.log"))
        found = drafting.measured_depths(windows, 0.05)[0]
        assert found.depth_measured == 5
        # At 7,400 tokens of context acceptance collapses and deep drafts stop paying.
        assert (found.alpha.value < 0.2) == (number == "17")
        assert (found.optimum.depth <= 2) == (number == "17")
