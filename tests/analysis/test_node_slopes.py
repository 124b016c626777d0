"""Derivatives of singular values against differences of the accurate kernel."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ensctl.analysis.node_criteria import MEANING, log_score, pieces
from ensctl.analysis.node_slopes import spectrum_slopes
from ensctl.vandermonde import singular_values

_LN10 = math.log(10.0)


def _disk(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    turn = np.exp(2j * np.pi * rng.uniform(size=count))
    return 0.9 * np.sqrt(rng.uniform(size=count)) * turn


@pytest.mark.parametrize("horizon", [0, 5, 20, math.inf])
@pytest.mark.parametrize(
    "lam",
    [
        np.linspace(-0.9, 0.95, 6),
        np.linspace(0.1, 0.95, 14),
        np.linspace(-0.9, 0.95, 30),
        _disk(10, 3),
    ],
    ids=["few", "positive", "many", "disk"],
)
def test_log_sigma_and_slopes(lam: np.ndarray, horizon: float) -> None:
    rng = np.random.default_rng(1)
    steps = math.inf if horizon == math.inf else lam.size + int(horizon)
    b = rng.uniform(0.5, 2.0, lam.size)
    found = spectrum_slopes(lam, b, steps)
    reference = singular_values(lam, b, steps).log10 * _LN10
    for k in (0, -1):
        assert found.log_sigma[k] == pytest.approx(reference[k], abs=1e-8)
        assert found.by_gain[k].sum() == pytest.approx(1.0, abs=1e-12)
    for k in (0, -1):
        for i in (0, lam.size // 2):
            spacing = float(np.min(np.abs(np.delete(lam, i) - lam[i])))
            for unit in (1.0, 1j) if np.iscomplexobj(lam) else (1.0,):
                step = 1e-5 * spacing * unit
                up, down = lam.copy(), lam.copy()
                up[i] += step
                down[i] -= step
                change = (
                    singular_values(up, b, steps).log10[k]
                    - singular_values(down, b, steps).log10[k]
                )
                slope = (found.by_node[k, i] * unit).real
                assert slope == pytest.approx(change * _LN10 / (2 * abs(step)), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("criterion", sorted(MEANING))
@pytest.mark.parametrize("plane", [False, True])
def test_pieces_agree_with_the_score_and_its_differences(criterion: str, plane: bool) -> None:
    lam = _disk(5, 8) if plane else np.array([-0.8, -0.31, 0.12, 0.55, 0.9])
    b = np.array([1.0, 0.5, 2.0, 1.0, 0.7])
    found = pieces(criterion, lam, b, 5)
    active = int(np.argmax(found.values))
    assert found.values[active] == pytest.approx(log_score(criterion, lam, b, 5), abs=1e-11)
    for i in range(5):
        for unit in (1.0, 1j) if plane else (1.0,):
            up, down = lam.copy(), lam.copy()
            up[i] += 1e-6 * unit
            down[i] -= 1e-6 * unit
            change = (log_score(criterion, up, b, 5) - log_score(criterion, down, b, 5)) / 2e-6
            slope = (found.by_node[active, i] * unit).real
            assert slope == pytest.approx(change, rel=1e-5, abs=1e-6)
        louder, softer = b.copy(), b.copy()
        louder[i] *= math.exp(1e-6)
        softer[i] *= math.exp(-1e-6)
        change = log_score(criterion, lam, louder, 5) - log_score(criterion, lam, softer, 5)
        assert found.by_gain[active, i] == pytest.approx(change / 2e-6, rel=1e-5, abs=1e-6)


def test_middle_singular_values_keep_half_of_the_digits() -> None:
    lam = np.linspace(0.1, 0.9, 20)
    found = spectrum_slopes(lam, np.ones(20), 20)
    reference = singular_values(lam, np.ones(20), 20).log10 * _LN10
    assert np.max(np.abs(found.log_sigma - reference)) < 1e-5
