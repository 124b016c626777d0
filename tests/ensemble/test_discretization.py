"""The zero-order hold against 60-digit arithmetic, at its limits, and for conjugates."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.ensemble.discretization import zero_order_hold
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError

_SMALLEST_NORMAL = 2.2250738585072014e-308
_STEPS = st.sampled_from([1.0, 0.1, 1 / 3, 30.0, 1e-5])


def _exact(rate: complex, gain: float, dt: float) -> tuple[Any, Any]:
    a = mpmath.mpmathify(rate)
    increment = mpmath.expm1(a * mpmath.mpf(dt)) / a if rate != 0 else mpmath.mpf(dt)
    return mpmath.exp(a * mpmath.mpf(dt)), gain * increment


def _ulps(value: complex, truth: Any) -> float:
    spacing = np.spacing(max(float(abs(truth)), _SMALLEST_NORMAL))
    return float(abs(mpmath.mpmathify(value) - truth) / mpmath.mpf(float(spacing)))


@settings(max_examples=300)
@given(st.floats(-300, 3).map(lambda power: -(10.0**power)), _STEPS)
def test_decaying_rates_within_four_ulps(rate: float, dt: float) -> None:
    with mpmath.workdps(60):
        lam, b = _exact(rate, 1.7, dt)
        held = zero_order_hold([rate], 1.7, dt)
        assert _ulps(held.lam[0], lam) <= 4
        assert _ulps(held.b[0], b) <= 4


@settings(max_examples=200)
@given(st.floats(-300, 0.8).map(lambda power: 10.0**power), _STEPS)
def test_growing_rates_within_four_ulps(rate: float, dt: float) -> None:
    with mpmath.workdps(60):
        lam, b = _exact(rate, 1.7, dt)
        held = zero_order_hold([rate], 1.7, dt)
        assert _ulps(held.lam[0], lam) <= 4
        assert _ulps(held.b[0], b) <= 4


@settings(max_examples=300)
@given(st.floats(-300, 2.5), st.floats(-3.2, 3.2), _STEPS)
def test_complex_rates_within_ulps_of_the_modulus(power: float, angle: float, dt: float) -> None:
    rate = 10.0**power * complex(-abs(np.cos(angle)), np.sin(angle))
    with mpmath.workdps(60):
        lam, b = _exact(rate, 1.0, dt)
        held = zero_order_hold([rate], 1.0, dt)
        assert _ulps(held.lam[0], lam) <= 4
        assert _ulps(held.b[0], b) <= 8


def test_plain_product_would_lose_these_digits() -> None:
    # The exponent −99.999… is rounded by up to 7e-15, which is 64 units of the last place of λ.
    rates = -np.linspace(600.0, 700.0, 50)
    with mpmath.workdps(60):
        truth = [_exact(rate, 1.0, 1 / 7)[0] for rate in rates]
        plain = max(_ulps(value, t) for value, t in zip(np.exp(rates / 7), truth, strict=True))
        held = zero_order_hold(rates, 1.0, 1 / 7).lam
        ours = max(_ulps(value, t) for value, t in zip(held, truth, strict=True))
    assert ours <= 4 < 20 < plain


@pytest.mark.parametrize("rate", [0.0, -0.0, 1e-300, -5e-324, 1e-320j, -1e-17])
def test_an_integrator_gains_dt_a_step(rate: complex) -> None:
    held = zero_order_hold([rate], [3.0], 0.1)
    assert held.lam[0] == 1.0 or abs(held.lam[0] - 1.0) < 1e-300
    assert held.b[0] == pytest.approx(3.0 * 0.1, rel=4e-16)


def test_fast_rates_reach_zero() -> None:
    held = zero_order_hold([-1e3, -1e300], [2.0, 1.0], 1.0)
    assert held.lam.tolist() == [0.0, 0.0]
    assert held.b.tolist() == [2.0 / 1e3, 1e-300]


@given(st.complex_numbers(max_magnitude=20, allow_nan=False), _STEPS)
def test_conjugate_rates_give_exact_conjugates(rate: complex, dt: float) -> None:
    if abs(rate.real) * dt > 600:
        rate = complex(-1.0, rate.imag)
    # The third member keeps both calls complex.
    held = zero_order_hold([rate, rate.conjugate(), 1j], [1 + 2j, 1 - 2j, 1.0], dt)
    assert held.lam[0] == held.lam[1].conjugate()
    assert held.b[0] == held.b[1].conjugate()


@given(st.floats(-3, 1), st.floats(0.01, 2))
def test_two_half_steps_are_one(rate: float, dt: float) -> None:
    half, whole = zero_order_hold([rate], 1.0, dt / 2), zero_order_hold([rate], 1.0, dt)
    assert half.lam[0] ** 2 == pytest.approx(whole.lam[0], rel=1e-14)
    assert half.lam[0] * half.b[0] + half.b[0] == pytest.approx(whole.b[0], rel=1e-14)


def test_real_members_of_a_complex_set_stay_real() -> None:
    held = zero_order_hold([-1.0, 0.0, -2.0 + 3.0j], 1.0, 0.5)
    assert held.lam.imag[:2].tolist() == [0.0, 0.0]
    assert held.b.imag[:2].tolist() == [0.0, 0.0]
    assert held.lam[0].real == zero_order_hold([-1.0], 1.0, 0.5).lam[0]


def test_several_channels() -> None:
    held = zero_order_hold([-1.0, 0.0], [[1.0, 2.0], [3.0, 4.0]], 0.5)
    single = zero_order_hold([-1.0, 0.0], 1.0, 0.5)
    assert np.array_equal(held.b, single.b[:, np.newaxis] * [[1.0, 2.0], [3.0, 4.0]])
    assert not held.lam.flags.writeable
    assert not held.b.flags.writeable


def test_from_continuous_passes_everything_on() -> None:
    ens = Ensemble.from_continuous([-1.0, -2.0], [1.0, 3.0], 0.5, c=[4, 5], d=6, names=["a", "b"])
    held = zero_order_hold([-1.0, -2.0], [1.0, 3.0], 0.5)
    assert ens == Ensemble(held.lam, held.b, [4, 5], 6, dt=0.5, names=["a", "b"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([800.0], 1.0, 1.0), r"rates must keep λ = e\^\{a dt\} below 1.8e308, got a = 800.0 at"),
        (([0.0, 1.0 + 1e4j, 8e2j + 800], 1.0, 1.0), "got a = .*800.* at index 2 with dt = 1"),
        (([0.0], [1e308], 1e10), "rates must keep b below 1.8e308, got a = 0.0 at index 0"),
        (([0.0, np.nan],), "rates must be finite"),
        (([],), "rates must have at least one entry"),
        (([-1.0], 1.0, 0.0), "dt must be > 0"),
        (([-1.0, -2.0], [1.0, 2.0, 3.0]), "gains must be a scalar or have shape"),
    ],
)
def test_errors(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        zero_order_hold(*arguments)
