"""Every example runs from its file and returns the numbers it is there to show."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Load = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def example(repository: Path) -> Load:
    """``example(name)``: examples/<name>.py as a module."""

    def load(name: str) -> ModuleType:
        path = repository / "examples" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"example_{name}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def test_two_verdicts(example: Load) -> None:
    rows = {row.size: row for row in example("two_verdicts").main((8, 10, 15, 20))}
    assert all(row.reachable and row.exact_rank == size for size, row in rows.items())
    # κ₂ and worst energies of linspace(0.1, 0.9, N), H = N, from 60-digit arithmetic.
    for size, cond, energy in (
        (8, 1.2004e6, 1.141e11),
        (10, 1.0609e8, 7.143e14),
        (15, 8.6414e12, 3.191e24),
        (20, 7.6001e17, 1.865e34),
    ):
        assert rows[size].cond == pytest.approx(cond, rel=1e-4)
        assert 10.0 ** rows[size].log10_worst_energy == pytest.approx(energy, rel=1e-3)
        assert rows[size].relative_error_bound < 1e-11
    assert [rows[size].rank_of_ctrb for size in (8, 10, 15)] == [8, 10, 15]
    assert rows[20].rank_of_ctrb < 20


def test_beside_raw_cvxpy(example: Load) -> None:
    outcomes = example("beside_raw_cvxpy").main((6, 10, 13))
    by = {(outcome.size, outcome.solver): outcome for outcome in outcomes}
    for size in (6, 10, 13):
        ours = by[size, "ensctl"]
        assert ours.verdict == "right" and ours.miss <= 10.0 * ours.floor
    # All agree where float64 has digits to spare …
    assert {outcome.verdict for outcome in outcomes if outcome.size == 6} == {"right"}
    # … and none of the raw ones is right where it has not.
    raw = [outcome for outcome in outcomes if outcome.size > 6 and outcome.solver != "ensctl"]
    assert len(raw) >= 4
    assert not any(outcome.verdict == "right" for outcome in raw)
    assert by[10, "OSQP"].says.startswith("infeasible") and math.isinf(by[10, "OSQP"].miss)


def test_fleet_report(example: Load, tmp_path: Path) -> None:
    result = example("fleet_report").main(tmp_path / "fleet", members=6, horizon=24)
    names = [file.name for file in result.files]
    assert names == ["fleet.csv", "report.html", "report.json", "report.md"]
    assert all(file.stat().st_size > 0 for file in result.files)
    written = json.loads(result.files[2].read_text(encoding="utf-8"))
    assert written["conditioning"]["log10_cond"] == result.log10_cond
    assert (result.members, result.reachable) == (6, True)
    assert result.relative_error_bound < 1e-10 and 1 <= result.usable_directions <= 6


def test_steer_a_fleet(example: Load) -> None:
    plans, refusal = example("steer_a_fleet").main()
    energy, fuel, peak = plans
    assert [plan.objective for plan in plans] == ["energy", "fuel", "peak"]
    assert energy.energy == min(plan.energy for plan in plans)
    assert fuel.fuel == min(plan.fuel for plan in plans)
    assert peak.peak == min(plan.peak for plan in plans)
    assert all(plan.peak <= 0.45 and plan.terminal_error < 1e-14 for plan in plans)
    assert refusal.status == "infeasible"
    # The inequality that any input within the limit would have to meet.
    assert refusal.needed > refusal.available > 0.0
    assert refusal.smallest_u_max == pytest.approx(peak.peak, rel=1e-9)
    assert refusal.u_max < refusal.smallest_u_max < 0.45


def test_least_peak_of_the_fleet_is_that_of_another_solver(example: Load) -> None:
    import numpy as np
    from scipy.optimize import linprog

    import ensctl as ec

    steering = ec.reachability_matrix(ec.families.thermostats(3, seed=1), 40)
    bound = np.ones((40, 1))
    found = linprog(
        [0.0] * 40 + [1.0],
        A_ub=np.block([[np.eye(40), -bound], [-np.eye(40), -bound]]),
        b_ub=np.zeros(80),
        A_eq=np.column_stack([steering, np.zeros(3)]),
        b_eq=np.full(3, -0.3),
        bounds=[(None, None)] * 41,
        method="highs",
    )
    assert example("steer_a_fleet").main().plans[2].peak == pytest.approx(found.fun, rel=1e-6)


@pytest.mark.reference
def test_published_tables(example: Load, reference: Callable[[str], dict]) -> None:
    entries = example("published_tables").main()
    wrong = {(entry.nodes, entry.norm): entry.factor for entry in entries if not entry.agrees}
    assert wrong == {
        ("linspace(-1,1,80)", "∞"): pytest.approx(5.601878e38 / 2.665120e38, rel=1e-5),
        ("linspace(-1,1,80)", "1"): pytest.approx(3.145638e38 / 1.894750e38, rel=1e-5),
        ("p02 (18 nodes)", "1"): pytest.approx(4.089592e36 / 1.81734e34, rel=1e-5),
    }
    # Each printed value is in the table of references, beside the same recomputed one.
    known = {
        row["value_published"]: float(row["value_recomputed"])
        for row in reference("published_vandermonde")["rows"]
    }
    assert len(entries) == 13
    for entry in entries:
        assert entry.recomputed == pytest.approx(known[entry.printed], rel=1e-12)


@pytest.mark.parametrize(
    "name",
    ["published_tables", "two_verdicts", pytest.param("fleet_report", marks=pytest.mark.slow)],
)
def test_examples_run_as_scripts(repository: Path, tmp_path: Path, name: str) -> None:
    arguments = [str(tmp_path / "fleet")] if name == "fleet_report" else []
    run = subprocess.run(
        [sys.executable, f"examples/{name}.py", *arguments],
        cwd=repository,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(repository), "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    assert len(run.stdout.splitlines()) > 4
