"""Aggregate outputs against the recursion, and the moments behind them."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ensctl.ensemble.aggregate_propagation import aggregate_output, aggregate_response
from ensctl.ensemble.chebyshev_moments import chebyshev_moments
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.process_noise import ProcessNoise
from ensctl.ensemble.real_line_sums import real_line_moments, real_line_nodes
from ensctl.ensemble.summation_methods import Method, sum_moments
from ensctl.errors import InvalidInputError, PrecisionError


def outputs_by_recursion(ens, inputs, x0):
    """y_0 … y_H as (p, H+1), in extended precision where the machine has it."""
    lam, gains = ens.lam.astype(np.clongdouble), ens.gains.astype(np.clongdouble)
    state = np.broadcast_to(np.asarray(x0), ens.size).astype(np.clongdouble)
    outputs = []
    for t in range(inputs.shape[1]):
        outputs.append(ens.output_weights @ state + ens.feedthrough @ inputs[:, t])
        state = lam * state + gains @ inputs[:, t]
    outputs.append(ens.output_weights @ state)
    return np.array(outputs).T


def populations():
    rng = np.random.default_rng(11)
    return {
        "one": np.array([-0.4]),
        "ends": np.array([1.0, -1.0, 0.0, 1.0]),
        "both signs": rng.uniform(-1.0, 1.0, 3000),
        "interval": rng.uniform(0.1, 0.9, 3000),
        "narrow cluster": 0.7 + 1e-9 * rng.random(2000),
        "all equal": np.full(2000, 0.8),
        "unstable": np.concatenate([rng.uniform(0.0, 1.1, 700), [1.3, -1.2]]),
        "disk": np.sqrt(rng.random(900)) * np.exp(2j * np.pi * rng.random(900)),
        "circle": np.exp(2j * np.pi * rng.random(21_000)),
    }


POPULATIONS = populations()


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize(
    ("channels", "outputs", "horizon"), [(1, 1, 1), (1, 1, 32), (2, 3, 33), (1, 1, 300)]
)
def test_error_is_small_and_bounded(name, channels, outputs, horizon):
    lam = POPULATIONS[name]
    rng = np.random.default_rng(horizon)
    b = rng.standard_normal((lam.size, channels))
    c = rng.standard_normal((outputs, lam.size))
    ens = Ensemble(lam, b, c, 0.7)
    inputs = rng.standard_normal((channels, horizon))
    x0 = rng.standard_normal(lam.size)
    exact = outputs_by_recursion(ens, inputs, x0)

    found = aggregate_response(ens, inputs, x0)

    assert found.values.shape == (outputs, horizon + 1)
    error = np.abs(found.values - exact).max()
    assert error <= found.error_bound
    growth = max(1.0, float(np.abs(lam).max())) ** horizon
    weight = np.abs(c) @ np.abs(b) @ np.abs(inputs).sum(axis=1) + np.abs(c) @ np.abs(x0)
    assert error <= 1e-14 * growth * weight.max()


def test_shape_follows_c():
    lam = np.linspace(0.0, 0.9, 50)
    assert aggregate_output(Ensemble(lam), np.ones(40)).shape == (41,)
    assert aggregate_output(Ensemble(lam, c=np.ones((1, 50))), np.ones(40)).shape == (1, 41)


@pytest.mark.parametrize("horizon", [3, 40])
def test_last_output_has_no_feed_through(horizon):
    ens = Ensemble([0.5, 0.25], c=0.0, d=2.0)
    expected = np.concatenate([np.full(horizon, 6.0), [0.0]])
    np.testing.assert_array_equal(aggregate_output(ens, np.full(horizon, 3.0)), expected)


def test_beginning_of_a_growing_response_keeps_its_digits():
    ens = Ensemble([2.0, 0.5], c=1.0)
    found = aggregate_output(ens, np.ones(300))
    exact = outputs_by_recursion(ens, np.ones((1, 300)), 0.0)[0].real.astype(float)
    np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_real_data_give_real_outputs():
    lam = np.linspace(0.0, 0.9, 50)
    assert not np.iscomplexobj(aggregate_output(Ensemble(lam), np.ones(40)))
    assert np.iscomplexobj(aggregate_output(Ensemble(lam), 1j * np.ones(40)))


@given(
    arrays(float, st.integers(1, 40), elements=st.floats(-1.0, 1.0)),
    arrays(float, st.integers(33, 70), elements=st.floats(-1e3, 1e3, width=32)),
)
def test_any_real_population(lam, inputs):
    ens = Ensemble(lam, c=1.0)
    exact = outputs_by_recursion(ens, inputs[None], 1.0)[0]
    found = aggregate_response(ens, inputs, 1.0)
    assert np.abs(found.values - exact).max() <= found.error_bound + 1e-290


@given(st.permutations(range(12)))
def test_order_of_members_does_not_matter(order):
    lam, c = np.linspace(-1.0, 1.0, 12), np.arange(12.0)
    inputs = np.cos(np.arange(60))
    first = aggregate_response(Ensemble(lam, c=c), inputs)
    second = aggregate_response(Ensemble(lam[order], c=c[order]), inputs)
    assert np.abs(first.values - second.values).max() <= first.error_bound + second.error_bound


def test_noise_follows_the_recursion():
    ens = Ensemble([0.5, 0.9], c=1.0)
    noisy = aggregate_output(ens, np.ones(50), noise=ProcessNoise(0.1, np.random.default_rng(2)))
    rng, state, expected = np.random.default_rng(2), np.zeros(2), [0.0]
    for _ in range(50):
        state = ens.lam * state + 1.0 + 0.1 * rng.standard_normal(2)
        expected.append(state.sum())
    np.testing.assert_allclose(noisy, expected, rtol=1e-13)


def test_quantised_inputs():
    ens = Ensemble([0.5, 0.9], d=1.0)
    np.testing.assert_array_equal(
        aggregate_output(ens, np.full(40, 0.3), resolution=0.25),
        aggregate_output(ens, np.full(40, 0.25)),
    )


@pytest.mark.parametrize("name", ["both signs", "interval", "narrow cluster", "disk", "circle"])
@pytest.mark.parametrize("steps", [1, 40, 2000])
def test_moments(name, steps):
    lam = POPULATIONS[name]
    weights = np.random.default_rng(0).standard_normal((lam.size, 2))
    method = {"disk": Method.BLOCKED, "circle": Method.UNIT_CIRCLE}.get(name, Method.REAL_LINE)
    found = sum_moments(lam, weights, steps, method)
    for k in {0, steps // 3, steps - 1}:
        power = lam.astype(np.clongdouble) ** k
        error = np.abs(found.values[k] - power @ weights)
        assert np.all(error <= found.error_bound)
        assert np.all(error <= 1e-12 * np.abs(weights).sum(axis=0))


def test_few_nodes_stand_for_many_members():
    """Weights of one sign stay so on the whole: nothing cancels."""
    rng = np.random.default_rng(1)
    lam, weights = rng.uniform(-1.0, 1.0, 50_000), rng.random((50_000, 1))
    nodes, at_nodes, error = real_line_nodes(lam, weights, 1000)
    assert nodes.size < 500
    assert np.abs(at_nodes).sum() <= 1.001 * weights.sum()
    moments = real_line_moments(lam, weights, 1000)
    assert np.abs(nodes**999.0 @ at_nodes - moments.values[999])[0] <= 2.0 * error[0]


@pytest.mark.parametrize("interval", [(-1.0, 1.0), (0.1, 0.9), (-0.97, 1.0)])
@pytest.mark.parametrize("count", [1, 2, 3, 50, 400])
def test_chebyshev_moments_against_high_precision(interval, count):
    lo, hi = interval
    rng = np.random.default_rng(count)
    lam = np.concatenate([rng.uniform(lo, hi, 20), interval])
    weights = rng.standard_normal((22, 2))
    found = chebyshev_moments(lam, weights, interval, count)
    assert found.shape == (count, 2)
    with mpmath.workdps(40):
        for j in {0, count // 2, count - 1}:
            angle = [
                mpmath.acos((2 * mpmath.mpf(x) - lo - hi) / (mpmath.mpf(hi) - lo)) for x in lam
            ]
            for k in range(2):
                pairs = zip(weights[:, k], angle, strict=True)
                exact = float(mpmath.fsum(mpmath.mpf(w) * mpmath.cos(j * a) for w, a in pairs))
                assert abs(found[j, k] - exact) <= 1e-14 * np.abs(weights[:, k]).sum()


def test_chebyshev_moments_of_complex_weights_and_one_point():
    lam, weights = np.array([0.25, 0.75]), np.array([1.0 + 2.0j, -1.0j])
    both = chebyshev_moments(lam, weights, (0.0, 1.0), 7)[:, 0]
    parts = chebyshev_moments(lam, np.column_stack([weights.real, weights.imag]), (0.0, 1.0), 7)
    np.testing.assert_allclose(both, parts[:, 0] + 1j * parts[:, 1], atol=1e-15)
    alone = chebyshev_moments(np.full(3, 0.5), np.ones(3), (0.5, 0.5), 4)[:, 0]
    np.testing.assert_allclose(alone, [3.0, 0.0, -3.0, 0.0], atol=1e-15)


def test_chebyshev_moments_refuse_points_outside():
    with pytest.raises(InvalidInputError, match=r"lam must lie in the interval \[0, 1\]"):
        chebyshev_moments(np.array([0.5, 1.5]), np.ones(2), (0.0, 1.0), 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda e: aggregate_output(e, []), "at least one step"),
        (lambda e: aggregate_output(e, [np.nan]), "inputs must be finite"),
        (lambda e: aggregate_output(e, [1.0], np.ones(3)), "x0 must be"),
        (lambda e: aggregate_output(e, [1.0], resolution=-1.0), "resolution must be > 0"),
    ],
)
def test_wrong_calls_are_named(call, words):
    with pytest.raises(InvalidInputError, match=words):
        call(Ensemble([0.5, 0.9]))


def test_overflow_is_named():
    with pytest.raises(PrecisionError, match="member 1 is unstable"):
        aggregate_output(Ensemble([0.5, 3.0]), np.ones(1000))
    with pytest.raises(PrecisionError, match="aggregate output leaves the float64 range"):
        aggregate_output(Ensemble([1.0], c=1e200), np.full(100, 1e200))


def test_result_says_what_it_is():
    found = aggregate_response(Ensemble([0.5], c=1.0), [1.0, 1.0])
    assert "over 2 steps" in str(found) and "step by step" in str(found)
    assert found.to_dict()["values"] == [0.0, 1.0, 1.5]
