"""The example of a continuum returns the numbers it is there to show."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest


def test_continuum_of_gains(repository: Path) -> None:
    path = repository / "examples" / "continuum_of_gains.py"
    spec = importlib.util.spec_from_file_location("example_continuum_of_gains", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = module.main((5, 6, 10))
    assert [row.energy for row in result.rows[1:]] == pytest.approx([14344, 569.52], rel=5e-4)
    assert np.isinf(result.rows[0].energy) and result.smallest == 6
    assert result.rows[0].best_error == pytest.approx(3.22e-2, rel=2e-3)
    assert np.all(np.diff(result.curve.energies) > 0)
    assert result.sampled_true_error > 1.2 * result.sampled_tolerance
