"""The thermostat example: the numbers it is there to show, at full size."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def example(repository: Path) -> Any:
    path = repository / "examples" / "thermostat_fleet.py"
    spec = importlib.util.spec_from_file_location("example_thermostat_fleet", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _check(result: Any) -> None:
    assert max(result.mpc) < 0.2
    assert all(2.0 < error < 2.6 for error in result.pi)
    assert all(0.9 < error < 1.5 for error in result.pi_current)
    assert all(8.0 < error < 14.0 for error in result.open_loop)
    assert result.largest_input <= 0.5
    assert result.worst_residual < 1e-9
    assert result.step_error_in_reach < 0.5
    assert result.step_error_at_limit > 8.0
    assert result.step_saturated > 100 and "saturates" in result.step_message
    assert result.limited_peak < 1.06 < 1.4 < result.rebound_peak
    assert 30.0 < result.minutes_to_return < 90.0


@pytest.mark.slow
def test_hundred_thousand_houses_and_their_figure(example: Any, tmp_path: Path) -> None:
    from PIL import Image

    figure = tmp_path / "fleet.png"
    result = example.main(seeds=1, figure=figure)
    assert result.houses == 100_000 and len(result.mpc) == 1
    _check(result)
    with Image.open(figure) as picture:
        assert picture.width > 900


def test_regulation_signal(example: Any) -> None:
    scenario = example.regulation(0)
    assert abs(scenario.reference - 1.0).max() == pytest.approx(0.1)
    assert scenario.reference.shape == scenario.ambient.shape == scenario.meter.shape == (480,)
    assert 1.2 < abs(scenario.ambient).max() < 2.4
