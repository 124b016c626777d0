"""The output-error model, its Jacobian, its minimum and what its residuals say."""

from __future__ import annotations

import numpy as np
import pytest

from ensctl import Ensemble, aggregate_output
from ensctl.estimation.output_error import fit_output_error, model_outputs
from ensctl.estimation.output_error_checks import colour_inflation, residual_tests
from ensctl.estimation.output_error_model import Data, Model, model_at
from ensctl.estimation.output_error_profile import parabola_misfit, profile_interval


def _data(complex_data: bool, free: bool, feedthrough: bool) -> Data:
    rng = np.random.default_rng(0)
    y = rng.standard_normal(40) + (1j * rng.standard_normal(40) if complex_data else 0)
    return Data(y, rng.standard_normal(40), free, feedthrough, complex_data)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("feedthrough", [False, True])
@pytest.mark.parametrize(
    ("complex_data", "poles"),
    [(False, [0.3, 0.8]), (False, [0.3, 0.5 + 0.4j, 0.5 - 0.4j]), (True, [0.3j, 0.5 - 0.2j])],
)
def test_jacobian_is_the_derivative(
    complex_data: bool, poles: list[complex], free: bool, feedthrough: bool
) -> None:
    model = model_at(_data(complex_data, free, feedthrough), np.array(poles, dtype=complex))
    rng = np.random.default_rng(1)
    theta = np.concatenate(
        [model.pack(model.modes), rng.standard_normal(model.parameters - model.slots)]
    )

    def outputs(at: np.ndarray) -> np.ndarray:
        found = model_outputs(model.with_modes(at[: model.slots]), at[model.slots :])
        assert found is not None
        return found

    jacobian = model.jacobian(theta[model.slots :], *model.responses())
    step = 1e-6
    for k in range(theta.size):
        move = step * np.eye(theta.size)[k]
        slope = (outputs(theta + move) - outputs(theta - move)) / (2 * step)
        np.testing.assert_allclose(jacobian[:, k], slope, atol=1e-7)


def test_model_is_the_aggregate_output() -> None:
    ens = Ensemble([0.3, 0.8], b=[1.0, -2.0], c=[1.0, 0.5], d=0.7)
    u = np.random.default_rng(2).standard_normal(30)
    y = aggregate_output(ens, u, [1.0, 2.0])[:-1]
    model = model_at(Data(y, u, True, True, False), ens.lam.astype(complex))
    found = model_outputs(model, np.array([1.0, -1.0, 1.0, 1.0, 0.7]))
    np.testing.assert_allclose(found, y, atol=1e-13)


def _noisy_fit(noise: float, lam: tuple[float, ...] = (0.3, 0.8)) -> tuple[Data, np.ndarray]:
    rng = np.random.default_rng(3)
    u = rng.choice([-1.0, 1.0], 300)
    y = aggregate_output(Ensemble(lam, c=1.0), u)[:-1] + noise * rng.standard_normal(300)
    return Data(y, u, False, False, False), np.array(lam, dtype=complex)


def test_the_minimum_is_stationary_and_profiles_match_cramer_rao() -> None:
    data, lam = _noisy_fit(1e-3)
    fit = fit_output_error(model_at(data, lam + 0.05))
    assert fit is not None
    cosine = fit.jacobian.T @ fit.residual / np.linalg.norm(fit.jacobian, axis=0)
    assert np.abs(cosine).max() < 1e-6 * np.sqrt(fit.cost)
    std = np.sqrt(np.diag(fit.inverse_information()) * fit.variance)
    assert parabola_misfit(fit, range(4), 2.0).max() < 0.05
    for k in range(4):
        low, high = profile_interval(fit, k, 2.0)
        np.testing.assert_allclose([fit.theta[k] - low, high - fit.theta[k]], 2 * std[k], rtol=0.05)


def test_residual_tests_find_what_is_wrong() -> None:
    data, lam = _noisy_fit(0.01)
    fit = fit_output_error(model_at(data, lam))
    assert fit is not None
    tests = residual_tests(fit)
    assert min(tests.white, tests.driven, tests.linear) > 1e-3
    assert colour_inflation(fit).max() < 1.6
    short = fit_output_error(model_at(data, lam[1:]))
    assert short is not None and residual_tests(short).driven < 1e-10


def test_an_overflowing_start_is_no_fit() -> None:
    data, _ = _noisy_fit(0.01)
    assert fit_output_error(Model(data, np.array([50.0 + 0j]), np.array([False]))) is None
