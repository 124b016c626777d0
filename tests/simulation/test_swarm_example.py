"""The example that draws letters returns the numbers it is there to show."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


def test_swarm_letters(repository: Path, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location(
        "example_swarm_letters", repository / "examples" / "swarm_letters.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = module.main("I", robots=80, figure=tmp_path / "i.png")
    assert (result.robots, result.horizon) == (80, 320)
    assert result.condition <= 3.0
    assert result.peak <= result.v_max
    assert result.rms_error < 1e-13
    assert 1.0 < result.energy_ratio < 1.5
    # First order: 1 % of the height at the tolerance, so this much at 1e-5.
    expected = 0.01 * 1e-5 / result.turn_rate_tolerance
    assert result.rms_error_with_wrong_rates == pytest.approx(expected, rel=0.1)
    assert result.refused_status == "infeasible"
    assert result.refused_margin > result.refused_error_bound
    assert (tmp_path / "i.png").read_bytes().startswith(b"\x89PNG")


def test_the_picture_in_the_repository_is_small(repository: Path) -> None:
    assert (repository / "examples" / "figures" / "swarm.png").stat().st_size < 250_000
