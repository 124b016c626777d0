"""Final states against double-double recursion, for every way that λ can choose."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.process_noise import ProcessNoise
from ensctl.ensemble.propagation import final_state, final_states, integer_power, propagate
from ensctl.ensemble.summation_methods import Method, choose_method
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.vandermonde.doubledouble import ComplexDD


def recursion_in_double_double(ens, inputs, x0):
    """x_H to about 100 bits, rounded; inputs (m, H)."""
    lam = ComplexDD.from_complex(ens.lam)
    state = ComplexDD.from_complex(np.broadcast_to(np.asarray(x0, dtype=complex), ens.size))
    gains = [ComplexDD.from_complex(ens.gains[:, c]) for c in range(ens.channels)]
    for t in range(inputs.shape[1]):
        state = lam * state
        for c, gain in enumerate(gains):
            state = state + gain * ComplexDD.from_complex(np.full(ens.size, inputs[c, t]))
    return state.hi


def populations():
    rng = np.random.default_rng(7)
    disk = np.sqrt(rng.random(900)) * np.exp(2j * np.pi * rng.random(900))
    ends = [1.0, -1.0, 1.0, 0.0, -0.0, 1.0 - 2.0**-53, np.nextafter(1.0, 2.0)]
    return {
        "one": np.array([0.3]),
        "zeros": np.zeros(4),
        "ends": np.array(ends),
        "tiny": np.array([1e-300, 5e-324, -1e-200, 0.5]),
        "few": rng.uniform(-1.0, 1.0, 9),
        "interval": rng.uniform(0.1, 0.9, 3000),
        "both signs": rng.uniform(-1.0, 1.0, 3000),
        "sorted": np.linspace(-1.0, 1.0, 3001),
        "narrow cluster": 0.7 + 1e-9 * rng.random(2000),
        "cluster and outliers": np.concatenate([0.99 + 1e-4 * rng.random(1500), [-0.99, 0.1]]),
        "all equal": np.full(2000, 0.8),
        "unstable": np.concatenate([rng.uniform(0.0, 1.1, 700), [1.3, -1.2]]),
        "all unstable": rng.uniform(1.1, 1.2, 700),
        "disk": disk,
        "few complex": disk[:7],
        "circle": np.exp(2j * np.pi * rng.random(21_000)),
        "arc": np.exp(1j * np.pi * (1.0 + 1e-3 * rng.standard_normal(21_000))),
    }


POPULATIONS = populations()


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize(("channels", "horizon"), [(1, 1), (1, 32), (2, 33), (1, 400)])
def test_error_is_small_and_bounded(name, channels, horizon):
    lam = POPULATIONS[name]
    rng = np.random.default_rng(horizon)
    b = rng.standard_normal((lam.size, channels)) if channels > 1 else 1.0
    ens = Ensemble(lam, b)
    inputs = rng.standard_normal((channels, horizon))
    x0 = rng.standard_normal(lam.size)
    exact = recursion_in_double_double(ens, inputs, x0)

    found = propagate(ens, inputs, x0)

    error = np.abs(found.values - exact).max()
    assert error <= found.error_bound
    assert error <= 1e-13 * np.abs(exact).max()
    assert found.error_bound <= 1e-9 * np.abs(exact).max()
    assert np.iscomplexobj(found.values) == np.iscomplexobj(lam)
    assert not found.values.flags.writeable


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("both signs", Method.REAL_LINE),
        ("disk", Method.BLOCKED),
        ("circle", Method.UNIT_CIRCLE),
    ],
)
def test_method_follows_lam(name, method):
    lam = POPULATIONS[name]
    assert choose_method(lam, 400) is method
    assert propagate(Ensemble(lam), np.ones(400)).method is method
    assert propagate(Ensemble(lam), np.ones(3)).method is Method.RECURSION


def test_small_members_keep_their_digits():
    """Where the inputs are balanced, each real member is right relative to its own state."""
    lam = np.random.default_rng(0).uniform(0.0, 1.0, 5000)
    inputs = np.random.default_rng(1).uniform(0.5, 1.0, (1, 1000))
    exact = recursion_in_double_double(Ensemble(lam), inputs, 0.0).real
    assert np.all(np.abs(final_state(Ensemble(lam), inputs) - exact) <= 1e-14 * np.abs(exact))


@pytest.mark.parametrize("where", [0, 5, 399])
def test_single_impulse_is_a_power(where):
    """u = e_k leads to λ^(H−1−k)."""
    lam = POPULATIONS["both signs"]
    inputs = np.zeros(400)
    inputs[where] = 1.0
    found = propagate(Ensemble(lam), inputs)
    exact = lam ** float(399 - where)
    assert np.abs(found.values - exact).max() <= min(found.error_bound, 1e-14)


def test_no_input_is_free_motion():
    lam = POPULATIONS["both signs"]
    found = propagate(Ensemble(lam), np.zeros(100), 2.0)
    np.testing.assert_allclose(found.values, 2.0 * lam**100, rtol=1e-14, atol=1e-300)
    assert np.all(final_state(Ensemble(lam), np.zeros(100)) == 0.0)


def test_inputs_of_very_different_sizes():
    lam = POPULATIONS["interval"]
    inputs = np.ones((1, 200))
    inputs[0, :150] = 1e200
    exact = recursion_in_double_double(Ensemble(lam), inputs, 0.0).real
    found = final_state(Ensemble(lam), inputs)
    assert np.abs(found - exact).max() <= 1e-14 * np.abs(exact).max()
    tiny = final_state(Ensemble(lam), inputs * 1e-250)
    assert np.abs(tiny - exact * 1e-250).max() <= 1e-14 * np.abs(exact * 1e-250).max()


@pytest.mark.parametrize("name", ["few", "both signs", "disk", "circle", "unstable"])
@pytest.mark.parametrize("count", [3, 150])
def test_scenarios_equal_single_calls(name, count):
    lam = POPULATIONS[name]
    rng = np.random.default_rng(count)
    ens = Ensemble(lam, rng.standard_normal((lam.size, 2)))
    batch = rng.standard_normal((count, 2, 64))
    x0 = rng.standard_normal((lam.size, count))
    together = final_states(ens, batch, x0)
    assert together.shape == (lam.size, count)
    for k in (0, count // 2, count - 1):
        alone = propagate(ens, batch[k], x0[:, k])
        assert np.abs(together[:, k] - alone.values).max() <= 2.0 * alone.error_bound


def test_complex_inputs_and_gains_on_real_members():
    lam = POPULATIONS["both signs"]
    rng = np.random.default_rng(3)
    inputs = (rng.standard_normal(100) + 1j * rng.standard_normal(100))[None]
    ens = Ensemble(lam, np.exp(1j * rng.random(lam.size)))
    found = propagate(ens, inputs)
    exact = recursion_in_double_double(ens, inputs, 0.0)
    assert np.abs(found.values - exact).max() <= min(found.error_bound, 1e-13)


inputs_in_range = arrays(float, st.integers(33, 80), elements=st.floats(-1e3, 1e3, width=32))


@given(
    arrays(float, st.integers(1, 40), elements=st.floats(-1.0, 1.0)),
    inputs_in_range,
    st.floats(-10.0, 10.0),
)
def test_real_members_agree_with_recursion(lam, inputs, x0):
    exact = recursion_in_double_double(Ensemble(lam), inputs[None], x0).real
    found = propagate(Ensemble(lam), inputs, x0)
    # Numbers near the smallest double have no relative accuracy.
    assert np.abs(found.values - exact).max() <= found.error_bound + 1e-290


@given(inputs_in_range, st.integers(1, 79))
def test_two_stages_are_one(inputs, cut):
    """Propagating to an intermediate step and on from there leads to the same state."""
    ens = Ensemble(np.linspace(-1.0, 1.0, 101))
    cut = min(cut, inputs.size - 1)
    whole = propagate(ens, inputs)
    first = propagate(ens, inputs[:cut])
    second = propagate(ens, inputs[cut:], first.values)
    slack = whole.error_bound + first.error_bound + second.error_bound
    assert np.abs(whole.values - second.values).max() <= slack


def test_integer_power_of_complex_members():
    lam = POPULATIONS["circle"][:50]
    powers, relative = integer_power(lam, 1000)
    assert np.abs(powers - np.exp(1000j * np.angle(lam))).max() <= relative + 1e-12


def test_time_step_does_not_matter():
    lam = [0.2, 0.5]
    np.testing.assert_array_equal(
        final_state(Ensemble(lam, dt=0.1), np.ones(50)), final_state(Ensemble(lam), np.ones(50))
    )


def test_quantised_inputs():
    ens = Ensemble([0.5, 0.9])
    inputs = np.array([0.26, -0.26, 0.74, 0.1])
    np.testing.assert_array_equal(
        final_state(ens, inputs, resolution=0.5), final_state(ens, [0.5, -0.5, 0.5, 0.0])
    )


@pytest.mark.parametrize("lam", [0.0, 0.5, 1.0, -1.0, 1.01, 0.6 + 0.8j])
def test_noise_has_the_variance_of_the_sum(lam):
    count, steps = 40_000, 50
    ens = Ensemble(np.full(count, lam))
    noise = ProcessNoise(0.3, np.random.default_rng(5))
    moved = final_state(ens, np.ones(steps), noise=noise)
    still = final_state(ens, np.ones(steps))
    variance = 0.09 * np.sum(np.abs(lam) ** (2.0 * np.arange(steps)))
    sampled = np.mean(np.abs(moved - still) ** 2)
    # Four standard deviations of a sample variance.
    assert abs(sampled / variance - 1.0) < 4.0 * np.sqrt(2.0 / count)


def test_noise_is_repeatable():
    ens = Ensemble([0.5, 0.9])
    first = final_state(ens, np.ones(5), noise=ProcessNoise(0.1, np.random.default_rng(1)))
    again = final_state(ens, np.ones(5), noise=ProcessNoise(0.1, np.random.default_rng(1)))
    np.testing.assert_array_equal(first, again)
    assert np.all(first != final_state(ens, np.ones(5)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda e: final_state(e, []), "at least one step"),
        (lambda e: final_state(e, [1.0, np.nan]), "inputs must be finite"),
        (lambda e: final_state(e, [1.0, np.inf]), "inputs must be finite"),
        (lambda e: final_state(e, np.ones((2, 5))), "inputs must have shape"),
        (lambda e: final_state(e, np.ones((5, 1))), "transpose it"),
        (lambda e: final_state(e, 1.0), "inputs must have shape"),
        (lambda e: final_state(e, ["a"]), "inputs must be numeric"),
        (lambda e: final_state(e, [1.0], [1.0]), "x0 must be a number or have shape"),
        (lambda e: final_state(e, [1.0], resolution=0.0), "resolution must be > 0"),
        (lambda e: final_state(e, [1e300], resolution=1e-300), "resolution must not be so small"),
        (lambda e: final_states(e, [1.0]), "batch must have shape"),
        (lambda e: final_states(e, np.ones((0, 5))), "at least one scenario"),
        (lambda e: final_states(e, np.ones((3, 5)), np.ones((2, 2))), "members by scenarios"),
        (lambda e: final_states(e, np.ones((3, 5)), max_bytes=10), "max_bytes allows 10 bytes"),
        (lambda e: ProcessNoise(-1.0, np.random.default_rng()), "std must be ≥ 0"),
        (lambda e: ProcessNoise(1.0, 3), "numpy Generator"),
        (
            lambda e: final_state(e, [1.0], noise=ProcessNoise([1.0] * 3, np.random.default_rng())),
            "one entry for each of the 2",
        ),
    ],
)
def test_wrong_calls_are_named(call, words):
    with pytest.raises(InvalidInputError, match=words):
        call(Ensemble([0.5, 0.9]))


@pytest.mark.parametrize("lam", [[2.0, 0.5], [-2.0, 0.5], [2.0j, 0.5]])
def test_overflowing_powers_are_named(lam):
    with pytest.raises(PrecisionError, match=r"hot is unstable, .* at most 995 steps"):
        final_state(Ensemble(lam, names=["hot", "cold"]), np.ones(2000))
    late = np.zeros(2000)
    late[-50:] = 1.0
    assert np.all(np.isfinite(final_state(Ensemble(lam), late)))


def test_overflowing_states_are_named():
    with pytest.raises(PrecisionError, match="member 0 leaves the float64 range"):
        final_state(Ensemble([1.0, 0.5]), np.full(100, 1e307))
    with pytest.raises(PrecisionError, match="member 0 leaves the float64 range"):
        final_state(Ensemble([1.0, 0.5]), np.full(20, 1e308))


def test_result_says_what_it_is():
    found = propagate(Ensemble([0.5, 0.25]), [1.0, 1.0])
    assert "error ≤" in str(found) and "step by step" in str(found)
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["schema"] == 1 and content["values"] == [1.5, 1.25]
