"""The example of drafted steering: what does not depend on the clock, on a small fleet."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="module")
def example(repository: Path) -> Any:
    path = repository / "examples" / "draft_then_verify_fleet.py"
    spec = importlib.util.spec_from_file_location("example_draft_then_verify_fleet", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_small_fleet_and_its_figure(
    example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = tmp_path / "drafts.png"
    result = example.main(3_000, 240, depths=(1, 4, 8), repeats=1, figure=figure)
    study, eight = result.study, result.study.runs[-1]
    assert figure.stat().st_size > 10_000
    assert result.replay_error <= 1e-12
    assert eight.counters().alpha().value > 0.85
    assert 4.5 < eight.mean_length().value <= 8.0
    assert study.loop.rms_error < eight.rms_error < 4e-3
    # As many passes, and less well placed.
    assert abs(result.untested.cycles.cycles - result.chosen.cycles.cycles) <= 1
    example._print(result)
    assert "acceptance by position" in capsys.readouterr().out


def test_scenario(example: Any) -> None:
    reference, ambient = example.scenario(480)
    assert abs(reference - 1.0).max() == pytest.approx(0.1)
    assert reference.shape == ambient.shape == (480,)
    assert 1.0 < np.abs(ambient).max() < 3.0
