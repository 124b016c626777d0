"""One step of the filter against the textbook filter with full matrices."""

import numpy as np
import pytest

from ensctl.ensemble.ensemble import Ensemble
from ensctl.estimation import AggregateEstimator


def textbook(ens, process, meter, outputs):
    """Predict and update with full matrices, Joseph form for the covariance."""
    dynamics, weights, gains = np.diag(ens.lam), ens.output_weights, ens.gains
    mean, covariance, unit = np.zeros(ens.size), np.eye(ens.size), np.eye(ens.size)
    for y in outputs:
        spread = weights @ covariance @ weights.T + meter
        gain = covariance @ weights.T @ np.linalg.inv(spread)
        mean = mean + gain @ (np.array([y]) - weights @ mean)
        kept = unit - gain @ weights
        covariance = kept @ covariance @ kept.T + gain @ meter @ gain.T
        mean = dynamics @ mean + gains @ np.zeros(1)
        covariance = dynamics @ covariance @ dynamics.T + process
    return mean


@pytest.mark.parametrize("noise", ["every member", "common shock", "none"])
def test_step(noise, ratio_table, timed, sized):
    size, steps = sized(100, smoke=10), sized(100, smoke=5)
    ens = Ensemble(np.linspace(0.1, 0.9, size), 1.0)
    shock = np.full(size, 0.1)
    given = {
        "every member": ({"process_noise": 1e-3}, 1e-3 * np.eye(size)),
        "common shock": ({"process_factor": shock}, np.outer(shock, shock)),
        "none": ({}, np.zeros((size, size))),
    }
    arguments, process = given[noise]
    est = AggregateEstimator(ens, measurement_noise=1e-2, **arguments)
    outputs = np.random.default_rng(0).standard_normal(steps)

    def ours():
        state = est.init()
        for y in outputs:
            state = est.step(state, float(y), 0.0)
        return state.mean

    def obvious():
        return textbook(ens, process, np.eye(1) * 1e-2, outputs)

    ratio_table.add(
        f"{steps} filter steps, N = {size}, noise: {noise}, vs full matrices",
        timed(ours),
        timed(obvious),
        at_most=1.0,
    )
    np.testing.assert_allclose(ours(), obvious(), rtol=0, atol=1e-9)
