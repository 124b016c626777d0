"""Noise variances learnt while filtering: they arrive, with honest errors, and forget."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.estimation import AggregateEstimator, NoiseAdaptation

_ENS = Ensemble([0.3, 0.6, 0.95], 1.0, 1.0)


def _record(samples: int, process: float, measurement: float, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    x, outputs = np.zeros(3), np.empty(samples)
    for t in range(samples):
        outputs[t] = x.sum() + np.sqrt(measurement) * rng.standard_normal()
        x = _ENS.lam * x + np.sqrt(process) * rng.standard_normal(3)
    return outputs


@pytest.mark.parametrize(
    ("noise", "process", "measurement"),
    [("both", 1.0, 1.0), ("measurement", 2.5e-3, 1e-3), ("process", 1e-5, 9e-2)],
)
def test_variances_are_found(noise: str, process: float, measurement: float) -> None:
    truth = {"process": 2.5e-3, "measurement": 9e-2}
    start = {"process": process, "measurement": measurement}
    est = AggregateEstimator(
        _ENS, process_noise=process, measurement_noise=measurement, adapt=noise
    )
    learnt = est.filter(_record(2000, 2.5e-3, 9e-2, 0)).state.adaptation
    assert learnt is not None
    for name, factor in learnt.factors.items():
        off = abs(np.log(factor * start[name] / truth[name]))
        assert off < 4 * learnt.log_stds[name]
        assert learnt.log_stds[name] < 0.2
    assert "noise variance" in str(learnt)


def test_slopes_are_the_derivatives_of_the_filter() -> None:
    """Against differences of filters with slightly different noise, before any step is taken."""
    outputs = _record(30, 2.5e-3, 9e-2, 1)
    frozen = NoiseAdaptation("both", prior_std=1e-7)
    learnt = AggregateEstimator(
        _ENS, process_noise=0.01, measurement_noise=0.1, adapt=frozen
    ).filter(outputs)
    assert learnt.state.adaptation is not None
    step = 1e-5
    for j, (process, measurement) in enumerate([(0.0, step), (step, 0.0)]):
        ends = [
            AggregateEstimator(
                _ENS,
                process_noise=0.01 * np.exp(sign * process),
                measurement_noise=0.1 * np.exp(sign * measurement),
            )
            .filter(outputs)
            .state
            for sign in (1.0, -1.0)
        ]
        mean = (ends[0].mean - ends[1].mean) / (2 * step)
        covariance = (ends[0].covariance() - ends[1].covariance()) / (2 * step)
        slopes = learnt.state.adaptation
        np.testing.assert_allclose(slopes.mean_slopes[j], mean, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(slopes.covariance_slopes[j], covariance, rtol=1e-5, atol=1e-8)


def test_forgetting_follows_a_change() -> None:
    outputs = np.concatenate([_record(1500, 2.5e-3, 0.01, 2), _record(1500, 2.5e-3, 1.0, 3)])
    follow = NoiseAdaptation("measurement", forgetting=0.98)
    est = AggregateEstimator(_ENS, process_noise=2.5e-3, measurement_noise=0.01, adapt=follow)
    state = est.filter(outputs).state
    assert state.adaptation is not None
    assert state.adaptation.factors["measurement"] == pytest.approx(100.0, rel=0.5)


def test_smoothing_uses_what_was_learnt() -> None:
    outputs = _record(400, 2.5e-3, 9e-2, 4)
    est = AggregateEstimator(_ENS, process_noise=1.0, measurement_noise=1.0, adapt="both")
    smoothed = est.smooth(outputs)
    fixed = AggregateEstimator(
        _ENS,
        process_noise=smoothed.noise_factors["process"],
        measurement_noise=smoothed.noise_factors["measurement"],
    ).smooth(outputs)
    np.testing.assert_allclose(smoothed.means, fixed.means, rtol=0, atol=1e-10)
    np.testing.assert_allclose(smoothed.stds, fixed.stds, rtol=1e-8)


def test_bad_choices_are_refused() -> None:
    for arguments in ({"noise": "x"}, {"forgetting": 0.0}, {"forgetting": 1.1}, {"prior_std": 0}):
        with pytest.raises(InvalidInputError):
            NoiseAdaptation(**arguments)  # type: ignore[arg-type]
    plain = AggregateEstimator(_ENS, measurement_noise=1.0)
    learning = AggregateEstimator(_ENS, measurement_noise=1.0, adapt="measurement")
    with pytest.raises(InvalidInputError, match="adapt"):
        learning.step(plain.init(), 1.0)
