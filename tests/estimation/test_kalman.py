"""The filter against the dense textbook filter, a batch Gaussian, and its own promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.ensemble.aggregate_propagation import aggregate_output
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.estimation import AggregateEstimator, EstimatorState

Array = Any


def textbook(est: AggregateEstimator, outputs: Array, inputs: Array) -> list[tuple[Array, Array]]:
    """Dense predict and update with full matrices; estimates after each measurement."""
    ens, shared = est.ens, est.process_factor
    dynamics, weights = np.diag(ens.lam), ens.output_weights
    noise = np.diag(est.process_noise) + shared @ shared.conj().T
    mean, covariance = est.x0.copy(), est.x0_cov.copy()
    found = []
    for y, u in zip(outputs.T, inputs.T, strict=True):
        spread = weights @ covariance @ weights.conj().T + est.measurement_noise
        gain = covariance @ weights.conj().T @ np.linalg.inv(spread)
        mean = mean + gain @ (y - weights @ mean - ens.feedthrough @ u)
        covariance = covariance - gain @ weights @ covariance
        found.append((mean, covariance))
        mean = dynamics @ mean + ens.gains @ u
        covariance = dynamics @ covariance @ dynamics.conj().T + noise
    return found


def definite(covariance: Array) -> bool:
    """Positive definite after its rows are scaled to unit diagonal."""
    scale = np.sqrt(np.diagonal(covariance).real)
    correlation = covariance / scale[:, None] / scale[None, :]
    return bool(np.linalg.eigvalsh(correlation)[0] > -1e-13 * scale.size)


_CASES = {
    "one output, no noise": ([-0.8, 0.1, 0.9], 1, 0.0, False),
    "noise on every member": ([-0.8, 0.1, 0.9], 1, 0.1, False),
    "common shock": ([-0.8, 0.1, 0.9], 1, 0.0, True),
    "both": ([0.2, 0.5, 0.8, 0.95], 1, [0.1, 0.0, 0.2, 0.05], True),
    "two outputs": ([0.2, 0.5, 0.8, 0.95], 2, 0.01, False),
    "two outputs, common shock": ([0.2, 0.5, 0.8, 0.95], 2, 0.0, True),
    "unstable and dead-beat": ([1.1, 0.0, 0.5], 2, 0.1, False),
    "complex": ([0.5 + 0.3j, 0.7j, 0.8], 2, 0.1, True),
}


@pytest.mark.parametrize("case", list(_CASES))
def test_agrees_with_the_textbook_filter(case: str) -> None:
    lam, outputs, process, shared = _CASES[case]
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((outputs, len(lam)))
    ens = Ensemble(lam, rng.standard_normal(len(lam)), weights, 0.5)
    est = AggregateEstimator(
        ens,
        process_noise=process,
        measurement_noise=0.05 + np.diag(np.arange(1.0, outputs + 1)) / 10,
        process_factor=rng.standard_normal(len(lam)) if shared else None,
        x0=rng.standard_normal(len(lam)),
        x0_cov=rng.uniform(0.5, 2.0, len(lam)),
    )
    y, u = rng.standard_normal((outputs, 200)), rng.standard_normal((1, 200))
    state = est.init()
    for t, (mean, covariance) in enumerate(textbook(est, y, u)):
        after = est.update(state, y[:, t], u[:, t])
        np.testing.assert_allclose(after.mean, mean, rtol=0, atol=1e-9)
        np.testing.assert_allclose(after.covariance(), covariance, rtol=0, atol=1e-9)
        np.testing.assert_allclose(after.std**2, np.diagonal(covariance).real, atol=1e-9)
        factor = after.factor()
        np.testing.assert_allclose(factor @ factor.conj().T, covariance, rtol=0, atol=1e-9)
        state = est.predict(after, u[:, t])
    assert state.t == 200 and state.measured == 200 * outputs


@pytest.mark.parametrize("size", [10, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("noise", ["none", "shared", "every member", "almost none"])
def test_long_records_stay_symmetric_and_definite(size: int, noise: str) -> None:
    rng = np.random.default_rng(2)
    ens = Ensemble(np.linspace(0.1, 0.9, size), 1.0)
    kinds: dict[str, dict[str, Any]] = {
        "none": {},
        "shared": {"process_factor": np.full(size, 0.1)},
        "every member": {"process_noise": 1e-3},
        "almost none": {"process_noise": 1e-16, "process_factor": np.full(size, 0.1)},
    }
    # Appended columns cost O(N³) now and then, a nearly singular noise at every step.
    long = size == 100 and noise in ("none", "every member")
    steps = 10_000 if long else 1_000
    est = AggregateEstimator(ens, measurement_noise=1e-6, **kinds[noise])
    state = est.init()
    assert state.form == ("covariance" if noise == "every member" else "square-root")
    outputs = rng.standard_normal(steps)
    for t in range(steps):
        after = est.update(state, float(outputs[t]), 0.0)
        if t % (steps // 20) == 0 or t > steps - 3:
            covariance = after.covariance()
            assert np.array_equal(covariance, covariance.T)
            assert np.all(np.isfinite(covariance))
            if np.diagonal(covariance).min() > 1e-280:
                assert definite(covariance)
            if noise == "every member":
                np.linalg.cholesky(covariance)
        state = est.predict(after, 0.0)


@given(
    st.integers(1, 5),
    st.lists(st.floats(-1.05, 1.05), min_size=5, max_size=5),
    st.sampled_from([0.0, 1e-14, 1e-6, 1.0]),
    st.sampled_from([1e-12, 1e-4, 1.0, 1e6]),
    st.sampled_from([1e-8, 1.0, 1e12]),
)
def test_definite_for_any_sizes(
    size: int, lam: list[float], process: float, measurement: float, prior: float
) -> None:
    est = AggregateEstimator(
        Ensemble(lam[:size], 1.0, 1.0),
        process_noise=process,
        measurement_noise=measurement,
        x0_cov=prior,
    )
    state = est.init()
    before = state.std
    for y in (1.0, -2.0, 0.5, np.nan, 3.0, 1.0, 1.0, 0.0):
        after = est.update(state, y)
        assert np.all(after.std <= before * (1.0 + 1e-12))
        covariance = after.covariance()
        assert np.array_equal(covariance, covariance.T)
        if np.diagonal(covariance).min() > 1e-280:
            assert definite(covariance)
        state = est.predict(after)
        before = state.std


def test_missing_measurements_are_skipped() -> None:
    rng = np.random.default_rng(3)
    ens = Ensemble([0.3, 0.9], 1.0, [[1.0, 1.0], [1.0, -1.0]])
    est = AggregateEstimator(ens, process_noise=0.1, measurement_noise=[[1.0, 0.4], [0.4, 2.0]])
    first = AggregateEstimator(
        Ensemble([0.3, 0.9], 1.0, [1.0, 1.0]), process_noise=0.1, measurement_noise=1.0
    )
    partial, alone = est.init(), first.init()
    for y in rng.standard_normal(20):
        partial = est.step(partial, [y, np.nan], 1.0)
        alone = first.step(alone, y, 1.0)
    np.testing.assert_allclose(partial.mean, alone.mean, rtol=1e-12)
    assert partial.log_likelihood == pytest.approx(alone.log_likelihood, rel=1e-12)
    nothing = est.update(partial, [np.nan, np.nan])
    assert np.array_equal(nothing.mean, partial.mean)
    assert nothing.measured == partial.measured
    assert np.isnan(nothing.innovation).all()


def test_innovations_are_white_with_the_variance_stated() -> None:
    rng = np.random.default_rng(4)
    ens = Ensemble([0.3, 0.7, 0.95], 1.0, [1.0, 2.0, 1.0])
    est = AggregateEstimator(ens, process_noise=0.2, measurement_noise=0.5)
    x, outputs = rng.standard_normal(3), []
    for _ in range(2000):
        outputs.append(ens.output_weights[0] @ x + np.sqrt(0.5) * rng.standard_normal())
        x = ens.lam * x + np.sqrt(0.2) * rng.standard_normal(3)
    found = est.filter(outputs)
    assert found.whiteness == pytest.approx(1.0, abs=4 * np.sqrt(2 / 2000))
    scaled = (found.innovations / found.innovation_stds)[0]
    assert abs(np.mean(scaled[1:] * scaled[:-1])) < 4 / np.sqrt(2000)
    assert (
        found.log_likelihood
        > AggregateEstimator(ens, process_noise=0.4, measurement_noise=0.5)
        .filter(outputs)
        .log_likelihood
    )
    assert "filtered 2000 samples" in str(found)


def test_real_outputs_of_conjugate_pairs_equal_the_real_block_form() -> None:
    """x = z and z̄ with z = a + ib is a rotation of (a, b); the filter is the same."""
    rng = np.random.default_rng(5)
    pole, weight = 0.6 + 0.5j, 0.4 - 0.3j
    ens = Ensemble([pole, pole.conjugate(), 0.9], 1.0, [weight, weight.conjugate(), 1.0])
    est = AggregateEstimator(ens, process_noise=0.1, measurement_noise=0.2)
    assert est.real_outputs
    turn = np.array([[pole.real, -pole.imag, 0], [pole.imag, pole.real, 0], [0, 0, 0.9]])
    row = np.array([2 * weight.real, -2 * weight.imag, 1.0])
    noise = np.diag([0.05, 0.05, 0.1])
    mean, covariance = np.zeros(3), np.diag([0.5, 0.5, 1.0])
    state, total = est.init(), 0.0
    for y in rng.standard_normal(50):
        spread = row @ covariance @ row + 0.2
        gain = covariance @ row / spread
        error = y - row @ mean
        total -= 0.5 * (np.log(2 * np.pi * spread) + error**2 / spread)
        mean, covariance = mean + gain * error, covariance - np.outer(gain, row @ covariance)
        after = est.update(state, y)
        assert after.mean[0] == pytest.approx(mean[0] + 1j * mean[1], abs=1e-12)
        assert after.mean[1] == pytest.approx(mean[0] - 1j * mean[1], abs=1e-12)
        assert after.std[0] == pytest.approx(np.sqrt(covariance[0, 0] + covariance[1, 1]))
        state = est.predict(after, 0.3)
        mean = turn @ mean + 0.3 * np.array([1.0, 0.0, 1.0])
        covariance = turn @ covariance @ turn.T + noise
    assert state.log_likelihood == pytest.approx(total, rel=1e-10)


def test_expected_output() -> None:
    ens = Ensemble([0.5, 0.9], 1.0, [1.0, 2.0], 0.3)
    est = AggregateEstimator(ens, measurement_noise=0.25, x0=[1.0, 2.0], x0_cov=[1.0, 4.0])
    mean, std = est.expected_output(est.init(), 2.0)
    assert mean == pytest.approx([5.6])
    assert std == pytest.approx([np.sqrt(1.0 + 16.0 + 0.25)])
    after = est.update(est.init(), 6.0, 2.0)
    assert after.innovation == pytest.approx([0.4])
    assert after.innovation_std == pytest.approx(std)


def test_tells_known_combinations_where_the_condition_number_is_1e12() -> None:
    """Twenty members, κ(V) ≈ 1e13: a few combinations are known, most members are not."""
    rng = np.random.default_rng(6)
    ens = Ensemble(np.linspace(0.1, 0.9, 20), c=1.0)
    x0 = rng.standard_normal(20)
    sigma = 1e-4
    outputs = aggregate_output(ens, np.zeros(99), x0) + sigma * rng.standard_normal(100)
    est = AggregateEstimator(ens, measurement_noise=sigma**2)
    matrix = ens.lam[None, :] ** np.arange(100)[:, None]
    left = 1.0 / np.sqrt(1.0 + (np.linalg.svd(matrix, compute_uv=False) / sigma) ** 2)
    smoothed = est.smooth(outputs)
    assert np.all(np.abs(smoothed.means[:, 0] - x0) < 5 * smoothed.stds[:, 0])
    found = est.known(est.filter(outputs).state, threshold=0.5)
    np.testing.assert_allclose(found.ratios, left, rtol=1e-6, atol=1e-12)
    assert found.count == np.count_nonzero(left <= 0.5) == 9
    assert found.known.sum() == 9
    assert np.count_nonzero(found.member_ratios > 0.5) >= 10
    assert "9 of 20 combinations of members known" in str(found)
    assert found.to_dict()["count"] == 9


def test_known_is_told_apart_from_fixed_and_unobservable() -> None:
    est = AggregateEstimator(
        Ensemble([0.5, 0.5, 0.9], c=1.0), measurement_noise=1e-8, x0_cov=[1.0, 1.0, 0.0]
    )
    known = est.known(est.update(est.init(), 1.0))
    assert known.ratios.size == 2 and known.member_ratios[2] == 0.0
    assert known.ratios[0] < 1e-3
    assert known.ratios[1] == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(np.abs(known.weights[0]), [np.sqrt(0.5), np.sqrt(0.5), 0.0])
    assert known.values[0] == pytest.approx(known.weights[0] @ [0.5, 0.5, 0.0], abs=1e-6)


def test_covariance_form_gives_way_when_it_is_not_safe() -> None:
    """An unobserved unstable member grows until covariances span more than ten digits."""
    ens = Ensemble([0.5, 1.5], c=[1.0, 0.0])
    est = AggregateEstimator(ens, process_noise=1.0, measurement_noise=1.0)
    state = est.init()
    forms = [state.form]
    for _ in range(60):
        state = est.step(state, 0.0)
        forms.append(state.form)
    assert forms[0] == "covariance" and forms[-1] == "square-root"
    expected = 1.5**120 + (1.5**120 - 1.0) / (1.5**2 - 1.0)
    assert state.std[1] ** 2 == pytest.approx(expected, rel=1e-9)
    with pytest.raises(PrecisionError, match="member 1"):
        for _ in range(2000):
            state = est.step(state, 0.0)


_ENS = Ensemble([0.5, 0.9], c=1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"measurement_noise": 0.0}, "reconstruct_initial_state"),
        ({"measurement_noise": -1.0}, "measurement_noise"),
        ({"measurement_noise": np.nan}, "measurement_noise"),
        ({"measurement_noise": np.eye(2)}, "measurement_noise"),
        ({"measurement_noise": "x"}, "measurement_noise"),
        ({"measurement_noise": 1.0, "process_noise": -1.0}, "process_noise"),
        ({"measurement_noise": 1.0, "process_noise": np.eye(2)}, "process_factor"),
        ({"measurement_noise": 1.0, "process_factor": [1.0, 2.0, 3.0]}, "process_factor"),
        ({"measurement_noise": 1.0, "x0": [1.0]}, "x0"),
        ({"measurement_noise": 1.0, "x0_cov": [[1.0, 2.0], [2.0, 1.0]]}, "semidefinite"),
        ({"measurement_noise": 1.0, "x0_cov": [[1.0, 2.0], [0.0, 1.0]]}, "Hermitian"),
        ({"measurement_noise": 1.0, "x0": 1j, "real_outputs": True}, "conjugate x0"),
        ({"measurement_noise": 1.0, "adapt": "everything"}, "adapt"),
    ],
)
def test_bad_configurations_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        AggregateEstimator(_ENS, **arguments)


def test_bad_samples_are_refused() -> None:
    est = AggregateEstimator(_ENS, measurement_noise=1.0)
    state = est.init()
    for output, words in [
        (np.inf, "finite"),
        ([1.0, 2.0], "a number"),
        (1j, "real"),
        ("x", "numeric"),
    ]:
        with pytest.raises(InvalidInputError, match=words):
            est.step(state, output)
    for value in (np.nan, np.inf, [1.0, 2.0], "x"):
        with pytest.raises(InvalidInputError, match="input"):
            est.step(state, 1.0, value)
    with pytest.raises(InvalidInputError, match="init"):
        est.step(1, 1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="another estimator"):
        AggregateEstimator(Ensemble([0.5], c=1.0), measurement_noise=1.0).step(state, 1.0)
    with pytest.raises(InvalidInputError, match="transpose"):
        est.filter([[1.0], [2.0]])
    with pytest.raises(InvalidInputError, match="at least one"):
        est.filter([])
    with pytest.raises(InvalidInputError, match="inputs"):
        est.filter([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(InvalidInputError, match="threshold"):
        est.known(state, 1.0)
    with pytest.raises(PrecisionError, match="moderate units"):
        est.step(state, 1e300)


def test_states_are_read_only_values() -> None:
    est = AggregateEstimator(_ENS, process_noise=0.1, measurement_noise=1.0)
    start = est.init()
    after = est.step(start, 1.0, 0.5)
    assert isinstance(after, EstimatorState)
    assert start.t == 0 and not np.any(start.mean)
    for array in (after.mean, after.matrix, after.std, after.covariance(), after.factor()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    assert after.to_dict()["kind"] == "estimator_state"
    assert len(str(after).splitlines()) <= 12
    assert est.step(start, 1.0, 0.5).mean.tolist() == after.mean.tolist()


@pytest.mark.parametrize("weight", [1e-200, 1.0, 1e160])
@pytest.mark.parametrize("meter", [1e-200, 1.0, 1e280])
@pytest.mark.parametrize("prior", [0.0, 1e-320, 1.0, 1e280])
def test_absurd_magnitudes_end_in_numbers_or_one_error(
    weight: float, meter: float, prior: float
) -> None:
    ens = Ensemble([0.5, 1.5], 1.0, [weight, 1.0])
    est = AggregateEstimator(ens, measurement_noise=meter, x0_cov=prior)
    try:
        state = est.filter([1.0, -1e200, np.nan, 1e-300], [1.0, 1e200, 0.0, 1.0]).state
        assert np.all(np.isfinite(state.mean)) and np.all(np.isfinite(state.std))
        assert np.all(np.isfinite(est.known(state).ratios))
        assert np.all(np.isfinite(est.smooth([1.0, 2.0, 3.0]).stds))
    except PrecisionError as error:
        assert "float64 range" in str(error)
