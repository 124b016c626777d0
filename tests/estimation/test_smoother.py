"""The smoother against the joint Gaussian of all states and outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ensctl.ensemble.aggregate_propagation import aggregate_output
from ensctl.ensemble.ensemble import Ensemble
from ensctl.estimation import AggregateEstimator, reconstruct_initial_state

Array = Any


def joint_gaussian(est: AggregateEstimator, y: Array, u: Array) -> tuple[Array, Array, float]:
    """Means (N, T), stds (N, T) and the log-likelihood by conditioning all states at once."""
    ens, size, samples = est.ens, est.ens.size, y.shape[1]
    shared = est.process_factor
    noise = np.diag(est.process_noise) + shared @ shared.conj().T
    mean = np.zeros((samples, size), dtype=est.x0.dtype)
    full = np.zeros((samples, size, samples, size), dtype=complex)
    state, covariance = est.x0, est.x0_cov
    for t in range(samples):
        mean[t] = state
        for s in range(t, samples):
            full[s, :, t] = (ens.lam ** (s - t))[:, None] * covariance
            full[t, :, s] = full[s, :, t].conj().T
        state = ens.lam * state + ens.gains @ u[:, t]
        covariance = ens.lam[:, None] * covariance * ens.lam.conj() + noise
    big = full.reshape(samples * size, samples * size)
    rows = np.kron(np.eye(samples), ens.output_weights)
    meter = np.kron(np.eye(samples), est.measurement_noise)
    known = ~np.isnan(y.T.ravel())
    rows, meter = rows[known], meter[np.ix_(known, known)]
    through = (ens.feedthrough @ u).T.ravel()[known]
    error = y.T.ravel()[known] - through - rows @ mean.ravel()
    spread = rows @ big @ rows.conj().T + meter
    gain = big @ rows.conj().T @ np.linalg.inv(spread)
    smoothed = mean.ravel() + gain @ error
    variance = np.diagonal(big - gain @ rows @ big).real
    quadratic = (error.conj() @ np.linalg.solve(spread, error)).real
    if est.real_outputs:
        likelihood = -0.5 * (quadratic + np.linalg.slogdet(2 * np.pi * spread)[1])
    else:
        likelihood = -(quadratic + np.linalg.slogdet(np.pi * spread)[1])
    shape = (samples, size)
    return smoothed.reshape(shape).T, np.sqrt(variance).reshape(shape).T, float(likelihood)


_CASES = {
    "no noise": ([0.2, 0.5, 0.9], 1, 0.0, False),
    "λ = 0": ([0.0, 0.5, -0.9], 1, 0.1, False),
    "singular noise": ([0.2, 0.5, 0.9], 2, 0.0, True),
    "unstable": ([1.05, 0.5, 0.9], 2, [0.1, 0.0, 0.1], True),
    "conjugate pair": ([0.5 + 0.3j, 0.5 - 0.3j, 0.8], 1, 0.1, False),
    "complex": ([0.5 + 0.3j, 0.2j, 0.8], 2, 0.1, True),
}


@pytest.mark.parametrize("case", list(_CASES))
def test_agrees_with_the_joint_gaussian(case: str) -> None:
    lam, outputs, process, shared = _CASES[case]
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((outputs, 3)).astype(complex)
    if case == "conjugate pair":
        weights[0, :2] = 0.3 + 0.1j, 0.3 - 0.1j
    est = AggregateEstimator(
        Ensemble(lam, 1.0, weights, 0.5),
        process_noise=process,
        measurement_noise=0.05 + np.diag(np.arange(1.0, outputs + 1)) / 10,
        process_factor=rng.standard_normal(3) if shared else None,
    )
    assert est.real_outputs == (case != "complex")
    y, u = rng.standard_normal((outputs, 11)), rng.standard_normal((1, 11))
    y[0, 3], y[:, 7] = np.nan, np.nan
    found = est.smooth(y, u)
    means, stds, likelihood = joint_gaussian(est, y, u)
    np.testing.assert_allclose(found.means, means, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.stds, stds, rtol=1e-8)
    assert found.log_likelihood == pytest.approx(likelihood, abs=1e-8)
    filtered = est.filter(y, u)
    np.testing.assert_allclose(found.means[:, -1], filtered.means[:, -1], rtol=1e-12)
    assert np.all(found.stds <= filtered.stds * (1 + 1e-10))
    assert len(str(found).splitlines()) <= 12 and found.to_dict()["kind"] == "smoothed_states"


def test_diffuse_prior_approaches_least_squares() -> None:
    rng = np.random.default_rng(1)
    ens = Ensemble(np.linspace(0.1, 0.9, 5), 1.0, 1.0)
    x0, u = rng.standard_normal(5), rng.standard_normal(29)
    y = aggregate_output(ens, u, x0) + 0.01 * rng.standard_normal(30)
    least = reconstruct_initial_state(ens, y, u, noise_std=0.01)
    smoothed = AggregateEstimator(ens, measurement_noise=1e-4, x0_cov=1e8).smooth(y, u)
    np.testing.assert_allclose(smoothed.means[:, 0], least.x0, atol=1e-6)
    np.testing.assert_allclose(smoothed.stds[:, 0], least.std, rtol=1e-6)


def test_errors_have_the_size_stated() -> None:
    rng = np.random.default_rng(2)
    ens = Ensemble([0.3, 0.8, 0.95], 1.0, [1.0, 1.0, 0.5])
    est = AggregateEstimator(ens, process_noise=0.1, measurement_noise=0.5)
    states, y = np.empty((3, 600)), np.empty(600)
    x = rng.standard_normal(3)
    for t in range(600):
        states[:, t] = x
        y[t] = ens.output_weights[0] @ x + np.sqrt(0.5) * rng.standard_normal()
        x = ens.lam * x + np.sqrt(0.1) * rng.standard_normal(3)
    found = est.smooth(y)
    scores = np.mean(((found.means - states) / found.stds) ** 2, axis=1)
    np.testing.assert_allclose(scores, 1.0, atol=0.35)


def test_a_nearly_exact_meter_stays_definite() -> None:
    """Smoothed variances are products, so that they cannot become negative by cancellation."""
    rng = np.random.default_rng(3)
    ens = Ensemble(np.linspace(0.1, 0.99, 12), 1.0, 1.0)
    found = AggregateEstimator(ens, measurement_noise=1e-20, process_noise=1e-6).smooth(
        rng.standard_normal(200)
    )
    assert np.all(np.isfinite(found.means)) and np.all(found.stds > 0.0)
    total = np.abs(ens.output_weights @ found.means)
    assert np.all(np.isfinite(total))
