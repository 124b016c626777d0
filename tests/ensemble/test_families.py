"""Named ensembles against their closed forms and their sources."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ensctl as ec
from ensctl.ensemble import families

_EPS = float(np.finfo(float).eps)
_SMALLEST_CALLS: dict[str, Callable[[int], ec.Ensemble]] = {
    "chebyshev": lambda n: families.chebyshev(n),
    "clustered": lambda n: families.clustered(n, 0.9, 0.01),
    "equispaced": lambda n: families.equispaced(n, 0.1, 0.9),
    "hilbert": lambda n: families.hilbert(n),
    "leja": lambda n: families.leja(n, -0.9, 0.9),
    "oscillators": lambda n: families.oscillators(n),
    "random_disk": lambda n: families.random_disk(n),
    "roots_of_unity": lambda n: families.roots_of_unity(n),
    "thermostats": lambda n: families.thermostats(n),
    "time_constants": lambda n: families.time_constants(n, 1.0, 50.0, 0.5),
}


def test_every_family_is_in_the_catalogue() -> None:
    assert sorted(families.__all__) == sorted(_SMALLEST_CALLS)


@pytest.mark.parametrize("name", families.__all__)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 12, 31])
def test_members_are_as_many_as_asked_and_all_different(name: str, size: int) -> None:
    ens = _SMALLEST_CALLS[name](size)
    assert ens.size == (2 * size if name == "oscillators" else size)
    assert np.unique(ens.lam).size == ens.size
    assert np.all(ens.gains != 0)
    assert ens == _SMALLEST_CALLS[name](size)


@pytest.mark.parametrize("name", families.__all__)
@pytest.mark.parametrize("size", [0, -1, 2.0, "3", True, None])
def test_a_wrong_count_is_named(name: str, size: Any) -> None:
    with pytest.raises(ec.InvalidInputError, match="n must be an integer ≥ 1, got"):
        _SMALLEST_CALLS[name](size)


def test_thermostats_are_where_air_conditioners_are() -> None:
    lam = families.thermostats(5000, seed=4).lam
    # With C = 1.5 kWh/°C, P·COP = 18 kW, deadband 0.25 °C, and with 2.5, 10 and 1.
    step = 30.0 / 3600.0
    assert lam.min() > 1.0 - step / 1.5**2 - step * 18.0 / (1.5 * 0.25)
    assert lam.max() < 1.0 - 0.99 * step * 10.0 / 2.5
    assert 0.60 < lam.min() < 0.65
    assert 0.95 < lam.max() < 0.97
    assert np.median(lam) == pytest.approx(0.90, abs=0.01)


def test_thermostats_are_the_linear_part_of_the_duty_cycle_model() -> None:
    # Point ranges: every house is the same and known.
    R, C, P, deadband, cop, dt = 2.0, 2.0, 5.6, 0.5, 2.5, 30.0
    ens = families.thermostats(
        3,
        dt=dt,
        resistance=(R, R),
        capacitance=(C, C),
        power=(P, P),
        deadband=(deadband, deadband),
        cop=cop,
    )
    ambient, setpoint, u = 32.0, 22.0, 0.05
    a = math.exp(-dt / 3600.0 / (R * C))
    duty = (ambient - setpoint) / (R * P * cop)

    def step(z: float, shift: float) -> tuple[float, float]:
        p = min(1.0, max(0.0, duty + (z - shift) / deadband))
        heat = (1.0 - a) * (ambient - setpoint - R * P * cop * p)
        return a * z + heat, 3 * P * (p - duty)

    z = 0.02
    moved, power = step(z, u)
    assert ens.lam[0] * z + ens.b[0] * u == pytest.approx(moved, rel=1e-13)
    assert 3 * ens.c[0] * z + ens.d * u == pytest.approx(power, rel=1e-13)
    assert (ens.dt, ens.label(2)) == (dt, "house 2")


def test_a_larger_fleet_of_another_seed_is_another_fleet() -> None:
    assert families.thermostats(8, seed=1) == families.thermostats(8, seed=1)
    assert families.thermostats(8, seed=1) != families.thermostats(8, seed=2)
    assert families.random_disk(8, seed=1) != families.random_disk(8, seed=2)


@settings(max_examples=25)
@given(st.integers(1, 6), st.floats(0.0, 0.9), st.floats(0.05, 2.0))
@example(3, 0.0, 1.0)
def test_oscillators_answer_a_step_like_the_differential_equation(
    n: int, damping: float, dt: float
) -> None:
    ens = families.oscillators(n, 0.2, 1.5, damping=damping, dt=dt)
    assert ens.is_conjugate_closed
    assert np.array_equal(ens.lam[0::2], ens.lam[1::2].conj())
    assert np.all(ens.lam[0::2].imag > 0)
    omega = np.linspace(0.2, 1.5, n)
    x = np.zeros(ens.size, dtype=complex)
    for steps in range(1, 6):
        x = ens.lam * x + ens.b
        t, swing = steps * dt, omega * math.sqrt(1 - damping**2)
        fade = np.exp(-damping * omega * t)
        lag = damping * omega / swing
        position = 1.0 - fade * (np.cos(swing * t) + lag * np.sin(swing * t))
        assert (x[0::2] + x[1::2]).real == pytest.approx(position, rel=1e-12, abs=1e-12)
        assert np.max(np.abs((x[0::2] + x[1::2]).imag)) == 0.0
        assert complex(ens.c @ x).real == pytest.approx(position.mean(), rel=1e-12, abs=1e-12)


def test_undamped_oscillators_are_on_the_unit_circle() -> None:
    assert np.abs(families.oscillators(20).lam) == pytest.approx(np.ones(40), abs=4 * _EPS)
    assert np.max(np.abs(families.oscillators(20, damping=0.1).lam)) < 1.0


def test_time_constants_follow_a_constant_input() -> None:
    ens = families.time_constants(7, 2.0, 300.0, 5.0)
    tau = np.geomspace(2.0, 300.0, 7)
    assert ens.lam == pytest.approx(np.exp(-5.0 / tau), rel=4 * _EPS)
    assert ens.b == pytest.approx(-np.expm1(-5.0 / tau), rel=8 * _EPS)
    assert ens.b / (1.0 - ens.lam) == pytest.approx(np.ones(7), rel=1e-13)
    assert ens.dt == 5.0


@pytest.mark.parametrize("ends", [(0.1, 0.9), (-0.9, 0.9), (0.0, 1.0)])
def test_equispaced_is_linspace_to_the_bit(ends: tuple[float, float]) -> None:
    for n in (1, 2, 10, 200):
        assert np.array_equal(families.equispaced(n, *ends).lam, np.linspace(*ends, n))


@pytest.mark.parametrize("n", [1, 2, 3, 10, 24, 101])
def test_chebyshev_nodes_are_the_zeros_of_their_polynomial(n: int) -> None:
    lam = families.chebyshev(n).lam
    with mpmath.workdps(40):
        exact = [-mpmath.cos((2 * i + 1) * mpmath.pi / (2 * n)) for i in range(n)]
    assert lam == pytest.approx(np.array(exact, dtype=float), abs=2 * _EPS)
    assert np.array_equal(lam, -lam[::-1])
    assert np.polynomial.chebyshev.chebval(lam, [0] * n + [1]) == pytest.approx(
        np.zeros(n), abs=n**2 * _EPS
    )
    moved = families.chebyshev(n, 0.1, 0.9).lam
    assert moved == pytest.approx(0.5 + 0.4 * lam, abs=2 * _EPS)


def test_the_first_leja_points() -> None:
    # x_3 is where x(x² − 1) is extremal; x_2 and x_3 are in every account of these points.
    lam = families.leja(4).lam
    assert lam[:3].tolist() == [1.0, -1.0, 0.0]
    assert lam[3] == pytest.approx(-1.0 / math.sqrt(3.0), rel=2 * _EPS)
    assert families.leja(2, 0.1, 0.9).lam.tolist() == [0.9, 0.1]
    assert families.leja(1, 0.1, 0.9).lam.tolist() == [0.9]


def test_each_leja_point_is_as_far_as_can_be_from_those_before() -> None:
    low, high, n = -0.3, 0.9, 40
    lam = families.leja(n, low, high).lam
    grid = np.linspace(low, high, 20001)
    for k in range(1, n):
        products = np.prod(np.abs(grid[:, np.newaxis] - lam[:k]), axis=1)
        assert np.prod(np.abs(lam[k] - lam[:k])) >= products.max() * (1.0 - 1e-12)


def test_leja_points_are_stationary_to_rounding() -> None:
    lam = families.leja(60).lam
    for k in range(2, 60):
        inverse = 1.0 / (lam[k] - lam[:k])
        # A relative change of x by a few ulp of its gap is all that the slope may ask for.
        assert abs(inverse.sum()) / (inverse**2).sum() <= 16 * _EPS


def test_leja_sets_are_nested() -> None:
    assert np.array_equal(families.leja(30).lam[:11], families.leja(11).lam)


@pytest.mark.parametrize("n", [*range(1, 26), 64, 100])
def test_roots_of_unity(n: int) -> None:
    ens = families.roots_of_unity(n)
    with mpmath.workdps(40):
        exact = [mpmath.expjpi(mpmath.mpf(2 * k) / n) for k in range(n)]
    assert np.max(np.abs(ens.lam - np.array(exact, dtype=complex))) <= 2 * _EPS
    assert ens.is_conjugate_closed
    assert ens.is_real is (n <= 2)
    R = ec.reachability_matrix(ens, n)
    assert np.linalg.cond(R) == pytest.approx(1.0, abs=1e-13)


def test_roots_of_unity_are_exact_on_the_axes_and_scale() -> None:
    assert families.roots_of_unity(4).lam.tolist() == [1, 1j, -1, -1j]
    assert families.roots_of_unity(2).lam.tolist() == [1.0, -1.0]
    assert np.array_equal(families.roots_of_unity(20, 0.5).lam, families.roots_of_unity(20).lam / 2)


def test_random_disk_is_uniform() -> None:
    lam = families.random_disk(4000, 2.0, seed=5).lam
    assert np.abs(lam).max() < 2.0
    # Uniform in area: half of them within 1/√2 of the radius, a quarter in each quadrant.
    assert np.mean(np.abs(lam) < math.sqrt(2.0)) == pytest.approx(0.5, abs=0.03)
    assert np.mean((lam.real > 0) & (lam.imag > 0)) == pytest.approx(0.25, abs=0.03)


def test_clustered_has_its_centre_and_width() -> None:
    lam = families.clustered(6, 0.9, 5e-6).lam
    assert lam[-1] - lam[0] == pytest.approx(5e-6, rel=1e-9)
    assert lam.mean() == pytest.approx(0.9, rel=4 * _EPS)
    assert np.diff(lam) == pytest.approx(np.full(5, 1e-6), rel=1e-9)
    assert families.clustered(1, 0.9).lam.tolist() == [0.9]


@pytest.mark.parametrize("n", [1, 3, 8, 30])
def test_hilbert_gramian_is_half_the_hilbert_matrix(n: int) -> None:
    ens = families.hilbert(n)
    W = np.outer(ens.b, ens.b) / (1.0 - np.outer(ens.lam, ens.lam))
    assert pytest.approx(scipy.linalg.hilbert(n) / 2, rel=8 * _EPS) == W


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: families.thermostats(3, seed=-1), "seed must be an integer ≥ 0"),
        (lambda: families.random_disk(3, seed=-1), "seed must be an integer ≥ 0"),
        (lambda: families.thermostats(3, dt=0.0), "dt must be > 0"),
        (lambda: families.thermostats(3, cop=-1.0), "cop must be > 0"),
        (lambda: families.thermostats(3, power=(7.0, 4.0)), "power must be a range 0 < low ≤ high"),
        (lambda: families.thermostats(3, power=(0.0, 4.0)), "power must be a range 0 < low ≤ high"),
        (lambda: families.thermostats(3, deadband=(1.0, 2.0, 3.0)), "deadband must have 2 entries"),
        (lambda: families.thermostats(3, resistance=("a", "b")), "resistance must be numeric"),
        (lambda: families.oscillators(3, 0.0, 1.0), "slowest must be > 0"),
        (lambda: families.oscillators(3, 1.0, 0.5), "fastest must be above slowest = 1, got 0.5"),
        (lambda: families.oscillators(3, damping=1.0), "damping must be < 1"),
        (lambda: families.oscillators(3, damping=-0.1), "damping must be ≥ 0"),
        (lambda: families.oscillators(3, fastest=4.0), "fastest must be below π/dt = 3.14159"),
        (lambda: families.time_constants(3, 0.0, 1.0, 1.0), "fastest must be > 0"),
        (lambda: families.time_constants(3, 2.0, 1.0, 1.0), "slowest must be above fastest = 2"),
        (lambda: families.time_constants(3, 1.0, 2.0, -1.0), "dt must be > 0"),
        (lambda: families.equispaced(3, 0.9, 0.1), "high must be above low = 0.9, got 0.1"),
        (lambda: families.equispaced(3, 0.5, 0.5), "high must be above low"),
        (lambda: families.chebyshev(3, float("nan")), "low must be finite"),
        (lambda: families.leja(3, 0.0, float("inf")), "high must be finite"),
        (lambda: families.roots_of_unity(3, 0.0), "radius must be > 0"),
        (lambda: families.random_disk(3, -1.0), "radius must be > 0"),
        (lambda: families.clustered(3, 0.9, 0.0), "width must be > 0"),
        (lambda: families.clustered(50, 0.9, 1e-15), "width must hold 50 different doubles"),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ec.InvalidInputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", families.__all__)
def test_every_parameter_is_said(name: str) -> None:
    function = getattr(families, name)
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
