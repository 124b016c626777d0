"""The public demonstration: acceptance stays, cost moves, and the plan turns speculation off."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def example(repository: Path) -> ModuleType:
    path = repository / "examples" / "speculation_turns_off.py"
    spec = importlib.util.spec_from_file_location("example_speculation_turns_off", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_alpha_stays_and_cost_moves(example: ModuleType) -> None:
    shown = example.main()
    low, high = shown.alphas
    assert 0 < high - low < 0.01
    assert shown.costs[64] / shown.costs[1] == pytest.approx(2.14 / 0.97)


def test_off_at_the_right_load(example: ModuleType) -> None:
    shown = example.main()
    plan = shown.plan
    assert [plan.depth(batch) > 0 for batch in (1, 8, 32, 64)] == [True, True, True, False]
    # Where the interpolated cost 2.352 + (2.959 − 2.352)(B − 32)/32 meets the length 2.87.
    crossing = 32 + 32 * (2.87 - 2.87 / 1.22) / (2.87 / 0.97 - 2.87 / 1.22)
    assert abs(shown.last_drafting - crossing) <= 1
    speedups = [plan.speedup[0, batch - 1] for batch in (1, 8, 32)]
    assert speedups == pytest.approx([2.14, 1.75, 1.22], rel=1e-12)
    assert plan.speedup[0, 63] == 1.0
    assert shown.loss_if_on == pytest.approx(0.03, rel=1e-9) and shown.gain_of_table > 0
    # An off that pays for a loaded drafter is the worse choice up to there.
    assert shown.last_drafting_loaded == 64


def test_runs_as_a_script(repository: Path) -> None:
    run = subprocess.run(
        [sys.executable, "examples/speculation_turns_off.py"],
        cwd=repository,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(repository), "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    assert "num_speculative_tokens_per_batch_size" in run.stdout
