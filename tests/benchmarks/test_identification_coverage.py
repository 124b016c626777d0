"""Coverage of identification intervals over seeded trials, and cost against a plain optimiser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.signal import lfilter

import ensctl as ec

_LAM = np.array([0.2, 0.5, 0.8])


def _trial(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    u = rng.choice([-1.0, 1.0], 1000)
    y = sum(lfilter([0.0, 1.0], [1.0, -z], u) for z in _LAM)
    # 60 dB: mean y² over the variance of the noise.
    return y + np.sqrt(np.mean(y**2) * 1e-6) * rng.standard_normal(1000), u


def test_intervals_cover_the_truth(sized: Callable[..., Any]) -> None:
    trials = sized(1000, smoke=60)
    held = np.zeros(6)
    for seed in range(trials):
        bars = ec.identify(*_trial(seed), 3).interval(0.95)
        held[:3] += (bars.lam_low <= _LAM) & (bars.lam_high >= _LAM)
        held[3:] += (bars.residue_low <= 1.0) & (bars.residue_high >= 1.0)
    share = held / trials
    # 95 ± 2 % of 1000; of 60 trials the share itself scatters by 3 %.
    slack = sized(0.02, smoke=0.09)
    assert np.all(np.abs(share - 0.95) <= slack), share


def _plain(y: Any, u: Any) -> Any:
    def residual(theta: Any) -> Any:
        return y - sum(theta[3 + k] * lfilter([0.0, 1.0], [1.0, -theta[k]], u) for k in range(3))

    return least_squares(residual, [0.1, 0.4, 0.7, 1.0, 1.0, 1.0], xtol=1e-12, ftol=1e-12).x


def test_identification_speed(ratio_table: Any, timed: Callable[..., float]) -> None:
    y, u = _trial(0)
    found = np.sort(_plain(y, u)[:3])
    np.testing.assert_allclose(ec.identify(y, u, 3, initial_state="zero").lam, found, atol=1e-6)
    ours = timed(lambda: ec.identify(y, u, 3, initial_state="zero"))
    ratio_table.add(
        "identify with start and intervals / least_squares told where to start, T = 1000",
        ours,
        timed(lambda: _plain(y, u)),
    )
