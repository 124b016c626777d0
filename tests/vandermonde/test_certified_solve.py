"""Certified energies and inputs: references, rational arithmetic, identities, honest bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.errors import InvalidInputError, NotReachableError
from ensctl.vandermonde.certified_member_energies import certified_member_energies
from ensctl.vandermonde.certified_residual import certified_residual
from ensctl.vandermonde.certified_results import CertifiedEnergies
from ensctl.vandermonde.certified_solve import certified_energies, certified_inputs

Gaussian = tuple[Fraction, Fraction]

distinct_nodes = st.lists(st.integers(-96, 96), min_size=1, max_size=6, unique=True).map(
    lambda items: np.array(items) / 64.0
)


def decoded(items: list[Any]) -> np.ndarray:
    if isinstance(items[0], str):
        return np.array([float.fromhex(item) for item in items])
    values = np.array([complex(float.fromhex(re), float.fromhex(im)) for re, im in items])
    return values if values.imag.any() else values.real


def exactly(energies: CertifiedEnergies, at: int = 0) -> Fraction:
    return Fraction(float(energies.mantissa[at])) * Fraction(2) ** int(energies.exponent[at])


def gramian_inverse(lam: np.ndarray, gains: np.ndarray, horizon: float) -> Any:
    nodes = [mpmath.mpmathify(complex(x)) for x in lam]
    rows = [[mpmath.mpmathify(complex(x)) for x in np.atleast_1d(row)] for row in gains]
    count = len(nodes)
    gramian = mpmath.matrix(count, count)
    for i in range(count):
        for j in range(count):
            ratio = nodes[i] * mpmath.conj(nodes[j])
            powers = (
                1 / (1 - ratio)
                if horizon == math.inf
                else sum(ratio**k for k in range(int(horizon)))
            )
            gain = sum(x * mpmath.conj(y) for x, y in zip(rows[i], rows[j], strict=True))
            gramian[i, j] = gain * powers
    return gramian**-1


@pytest.mark.reference
@pytest.mark.parametrize("target", ["random", "ones"])
def test_reference_energies(reference: Callable[[str], Any], target: str) -> None:
    worst = 0.0
    for case in reference("ensembles")["cases"]:
        lam, b = decoded(case["lam"]), decoded(case["b"])
        known = case["min_energy"][target]
        true = Fraction(known["energy"])
        found = certified_energies(lam, b, case["H"], decoded(known["target"]))
        error = float(abs(exactly(found) / true - 1))
        # The reference itself has 20 digits.
        assert error <= found.relative_error_bound[0] + 1e-19, case["name"]
        worst = max(worst, error)
        inputs = certified_inputs(lam, b, case["H"], decoded(known["target"]))
        norm = sum(x * x for x in inputs.exact_real[:, 0]) + sum(
            x * x for x in inputs.exact_imag[:, 0]
        )
        assert abs(norm / true - 1) < Fraction(1, 10**18), case["name"]
    assert worst < 1.2e-16


def test_worked_numbers() -> None:
    # λ = (.3, .6, .9) in decimals: u = (25/3, −65/6, 7/2), E = 3583/18 for H = 3.
    lam, target = np.array([0.3, 0.6, 0.9]), np.array([1.0, 0.0, 0.5])
    inputs = certified_inputs(lam, np.ones(3), 3, target)
    assert inputs.high[:, 0] == pytest.approx([25 / 3, -65 / 6, 7 / 2], rel=1e-14)
    energies = [certified_energies(lam, np.ones(3), h, target).values[0] for h in (3, 4, 6)]
    rational = [3583 / 18, 794350475 / 11804274, 467661026686812500 / 17741854345908249]
    assert energies == pytest.approx(rational, rel=1e-13)


KINDS = {
    "real": ([-1.4, 0.3, 0.35, 1.1, 0.0], 1, 7),
    "square": ([-1.4, 0.3, 0.35, 1.1, 0.0], 1, 5),
    "complex": ([0.3 + 1j, -0.2j, 0.31 + 1j, 1.2, -0.7], 1, 6),
    "complex square": ([0.3 + 1j, -0.2j, 0.31 + 1j, 1.2, -0.7], 1, 5),
    "three channels, repeated": ([0.5, 0.5, 0.5, -1.25, 0.25, 0.0], 3, 4),
    "short horizon": ([0.5, 0.25, 0.75, -0.5], 2, 2),
    "unit circle": ([0.6 + 0.8j, 1.0, -1.0, 1j, -1j, 0.28 + 0.96j], 1, 9),
    "repeated on the circle": ([1j, 1j, -1j, 1.0, 1.0], 2, 6),
    "reciprocal": ([2.0, 0.5, 4.0, 0.25, 1.0, -1.0, 0.0], 1, 8),
    "complex reciprocal": ([1 + 1j, 0.5 + 0.5j, 0.5 - 0.5j, 1 - 1j], 2, 3),
    "infinite": ([0.9, -0.3, 0.91, 0.0], 1, math.inf),
    "infinite complex": ([0.9j, -0.3, 0.9j, 0.5 + 0.1j], 2, math.inf),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("complex_gains", [False, True])
def test_against_the_inverse_in_200_digits(kind: str, complex_gains: bool) -> None:
    items, channels, horizon = KINDS[kind]
    rng = np.random.default_rng(len(kind))
    lam = np.array(items)
    gains = rng.standard_normal((lam.size, channels))
    targets = rng.standard_normal((lam.size, 2))
    if complex_gains:
        gains = gains + 1j * rng.standard_normal(gains.shape)
        targets = targets + 1j * rng.standard_normal(targets.shape)
    x0 = rng.standard_normal(lam.size)
    energies = certified_energies(lam, gains, horizon, targets, x0=x0)
    members = certified_member_energies(lam, gains, horizon)
    assert max(energies.relative_radius.max(), members.relative_radius.max()) <= 1e-16
    with mpmath.workdps(200):
        inverse = gramian_inverse(lam, gains, horizon)
        for at in range(2):
            d = mpmath.matrix([mpmath.mpmathify(complex(x)) for x in targets[:, at]])
            if horizon != math.inf:
                for i, (node, start) in enumerate(zip(lam, x0, strict=True)):
                    d[i] -= mpmath.mpmathify(complex(node)) ** int(horizon) * mpmath.mpf(start)
            true = mpmath.re((d.H * inverse * d)[0])
            assert _relative(energies, at, true) <= energies.relative_error_bound[at]
        for i in range(lam.size):
            true = mpmath.re(inverse[i, i])
            assert _relative(members, i, true) <= members.relative_error_bound[i]


def _relative(energies: CertifiedEnergies, at: int, true: Any) -> Any:
    found = mpmath.mpf(float(energies.mantissa[at])) * mpmath.mpf(2) ** int(energies.exponent[at])
    return abs(found / true - 1)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "infinite" not in kind])
def test_inputs_reach_the_target_in_rational_arithmetic(kind: str) -> None:
    items, channels, horizon = KINDS[kind]
    rng = np.random.default_rng(len(kind))
    lam = np.array(items)
    gains = rng.standard_normal((lam.size, channels))
    target, x0 = rng.standard_normal(lam.size), rng.standard_normal(lam.size)
    inputs = certified_inputs(lam, gains, int(horizon), target, x0=x0)
    assert inputs.exponent == 0
    assert inputs.pair_error_bound < 2.0**-104
    assert inputs.exact_error_bound < 2.0**-118
    pairs = [
        [_add(_gaussian(h), _gaussian(w)) for h, w in zip(high, low, strict=True)]
        for high, low in zip(inputs.high, inputs.low, strict=True)
    ]
    exact = [
        list(zip(real, imag, strict=True))
        for real, imag in zip(inputs.exact_real, inputs.exact_imag, strict=True)
    ]
    floats = [[_gaussian(x) for x in row] for row in inputs.high]
    # ‖A‖ and ‖u‖ are moderate in these sets.
    scale = float(np.abs(inputs.high).max()) * 1e4
    for series, bound in ((floats, 1e-15), (pairs, 1e-31), (exact, 1e-35)):
        end = _simulate(lam, gains, series, x0)
        missed = [
            math.hypot(float(re - Fraction(float(goal))), float(im))
            for (re, im), goal in zip(end, target, strict=True)
        ]
        assert max(missed) <= bound * scale
        if series is floats:
            claimed = certified_residual(lam, gains, inputs.high, target, x0=x0)
            assert claimed == pytest.approx(missed, rel=1e-5, abs=1e-60)
        elif series is pairs:
            claimed = certified_residual(lam, gains, inputs.high, target, x0=x0, low=inputs.low)
            assert claimed == pytest.approx(missed, rel=1e-5, abs=1e-60)


@pytest.mark.parametrize("kind", ["real", "square", "complex", "three channels, repeated"])
def test_errors_of_inputs_are_within_their_bounds(kind: str) -> None:
    items, channels, horizon = KINDS[kind]
    rng = np.random.default_rng(len(kind))
    lam, gains = np.array(items), rng.standard_normal((len(items), channels))
    target = rng.standard_normal(lam.size)
    inputs = certified_inputs(lam, gains, int(horizon), target)
    with mpmath.workdps(200):
        solved = gramian_inverse(lam, gains, horizon) * mpmath.matrix(target.tolist())
        rows = [(mpmath.mpmathify(complex(node)), b) for node, b in zip(lam, gains, strict=True)]
        size = high_error = pair_error = exact_error = mpmath.mpf(0)
        for t in range(int(horizon)):
            for c in range(channels):
                terms = [
                    mpmath.mpf(b[c]) * mpmath.conj(node) ** (int(horizon) - 1 - t) * solved[i]
                    for i, (node, b) in enumerate(rows)
                ]
                true = mpmath.fsum(terms)
                high = mpmath.mpmathify(complex(inputs.high[t, c]))
                low = mpmath.mpmathify(complex(inputs.low[t, c]))
                parts = (inputs.exact_real[t, c], inputs.exact_imag[t, c])
                exact = mpmath.mpc(*(mpmath.mpf(p.numerator) / p.denominator for p in parts))
                size = max(size, abs(true))
                high_error = max(high_error, abs(high - true))
                pair_error = max(pair_error, abs(high + low - true))
                exact_error = max(exact_error, abs(exact - true))
    assert 1e-17 * size < high_error <= inputs.relative_error_bound * size
    assert 1e-34 * size < pair_error <= inputs.pair_error_bound * size
    assert exact_error <= inputs.exact_error_bound * size < 1e-35 * size


def _gaussian(value: Any) -> Gaussian:
    return Fraction(float(value.real)), Fraction(float(value.imag))


def _add(x: Gaussian, y: Gaussian) -> Gaussian:
    return x[0] + y[0], x[1] + y[1]


def _times(x: Gaussian, y: Gaussian) -> Gaussian:
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def _simulate(
    lam: np.ndarray, gains: np.ndarray, series: list[list[Gaussian]], x0: np.ndarray
) -> list[Gaussian]:
    state = [_gaussian(x) for x in x0]
    for inputs in series:
        for i, node in enumerate(lam):
            state[i] = _times(_gaussian(node), state[i])
            for b, u in zip(gains[i], inputs, strict=True):
                state[i] = _add(state[i], _times(_gaussian(b), u))
    return state


@settings(max_examples=40)
@given(distinct_nodes, st.integers(0, 4), st.integers(0, 5))
def test_what_one_input_reaches_costs_at_most_one(lam: np.ndarray, extra: int, power: int) -> None:
    horizon = max(lam.size + extra, power + 1)
    found = certified_energies(lam, np.full(lam.size, 0.75), horizon, 0.75 * lam**power)
    # lam**power is exact: seven bits, at most five times.
    assert exactly(found) <= 1


@settings(max_examples=40)
@given(distinct_nodes, st.integers(0, 3))
def test_energy_does_not_increase_with_the_horizon(lam: np.ndarray, extra: int) -> None:
    targets = np.vander(lam + 0.5, 2)
    horizons = [lam.size + extra, lam.size + extra + 1, lam.size + extra + 5]
    found = [certified_energies(lam, np.ones(lam.size), h, targets) for h in horizons]
    for at in range(2):
        first, second, third = (exactly(energies, at) for energies in found)
        assert third <= second * Fraction(1 + 2.0**-52)
        assert second <= first * Fraction(1 + 2.0**-52)


@settings(max_examples=30)
@given(distinct_nodes, st.integers(0, 6))
def test_member_energies_are_the_energies_of_unit_targets(lam: np.ndarray, extra: int) -> None:
    horizon = lam.size + extra
    members = certified_member_energies(lam, np.ones(lam.size), horizon)
    single = certified_energies(lam, np.ones(lam.size), horizon, np.eye(lam.size))
    assert members.values == pytest.approx(single.values, rel=3e-16)


def test_inverse_of_the_hilbert_matrix_is_integer() -> None:
    # λ_i = (3 − 2i)/(2i + 1), b_i = 2/(2i + 1) gives W_∞ = Hilbert/2, but only for these rationals:
    # with λ rounded to float64 the energies agree to the rounding times their sensitivity.
    i = np.arange(1, 5)
    lam, b = (3 - 2 * i) / (2 * i + 1), 2 / (2 * i + 1)
    found = certified_member_energies(lam, b, math.inf).values
    assert found == pytest.approx([2 * 16, 2 * 1200, 2 * 6480, 2 * 2800], rel=1e-12)


def test_magnitudes_beyond_float64() -> None:
    lam = np.linspace(0.0, 1.0, 300)
    target = np.cos(np.arange(300.0) * 7.0)
    energies = certified_energies(lam, np.ones(300), 300, target)
    inputs = certified_inputs(lam, np.ones(300), 300, target)
    assert energies.log10[0] > 400
    assert energies.values[0] == math.inf
    assert inputs.exponent == 0 or np.abs(inputs.high).max() <= 1.0
    norm = sum(x * x for x in inputs.exact_real[:, 0])
    assert abs(exactly(energies) / norm - 1) < Fraction(1, 10**15)


def test_large_inputs_carry_a_common_exponent() -> None:
    lam, b = np.array([0.25, 0.5]), np.array([1e-200, 1e-290])
    inputs = certified_inputs(lam, b, 3, np.array([1e120, -1e120]))
    assert inputs.exponent > 1000
    assert 0.5 <= np.abs(inputs.high).max() <= 1.0
    exact = inputs.exact_real[:, 0] / Fraction(2) ** inputs.exponent
    assert [float(x) for x in exact] == inputs.high[:, 0].tolist()


def test_exactly_zero_inputs_and_energies() -> None:
    # An even target on a symmetric set needs even powers only.
    inputs = certified_inputs(np.array([0.9, -0.9]), np.ones(2), 4, np.ones(2))
    assert inputs.coefficients[[1, 3], 0].tolist() == [0.0, 0.0]
    assert inputs.coefficients[0, 0] > 0.5
    # From 2, three steps of λ = 1/2 lead to 1/4 by themselves.
    lam, target, x0 = np.array([0.5, 0.25]), np.array([0.25, 0.0]), np.array([2.0, 0.0])
    for horizon in (2, 3):
        energies = certified_energies(lam, np.ones(2), horizon, target, x0=x0)
        assert (exactly(energies) == 0) == (horizon == 3)
    assert energies.relative_error_bound.tolist() == [0.0]
    assert energies.log10.tolist() == [-math.inf]
    assert not certified_inputs(lam, np.ones(2), 3, target, x0=x0).high.any()


def test_targets_may_be_fractions() -> None:
    third = np.array([Fraction(1, 3), Fraction(1, 7)], dtype=object)
    found = certified_energies(np.array([0.5, 0.25]), np.ones(2), 2, third)
    slope = 4 * (Fraction(1, 3) - Fraction(1, 7))
    level = Fraction(1, 7) - slope / 4
    assert abs(exactly(found) / (slope**2 + level**2) - 1) <= found.relative_error_bound[0]


def test_a_tighter_tolerance_and_the_first_precision() -> None:
    lam, target = np.linspace(0.1, 0.9, 8), np.ones(8)
    loose = certified_energies(lam, np.ones(8), 9, target, rtol=1e-3)
    tight = certified_energies(lam, np.ones(8), 9, target, rtol=1e-80)
    assert loose.bits < tight.bits
    assert tight.relative_radius[0] <= 1e-80
    assert certified_energies(lam, np.ones(8), 9, target, bits=700).bits == 700


@pytest.mark.parametrize(
    ("lam", "gains", "horizon", "message", "members"),
    [
        ([0.3, 0.9, 0.3], [1.0, 1.0, 2.0], 9, "rank 2", (0, 2)),
        ([0.3, 0.9, 0.4], [1.0, 0.0, 2.0], 9, "rank 2", (1,)),
        ([0.3, 0.9, 0.4], [1.0, 1.0, 2.0], 2, "horizon of at least 3", ()),
        ([0.5, 0.5], [[1.0, 2.0], [2.0, 4.0]], 9, "rank 1", ()),
        ([1j, 1j], [[1.0, 1j], [1j, -1.0]], 9, "rank 1", ()),
    ],
)
def test_dependent_rows_are_refused(
    lam: list, gains: list, horizon: int, message: str, members: tuple[int, ...]
) -> None:
    nodes, weights, target = np.array(lam), np.array(gains), np.ones(len(lam))
    for call in (
        lambda: certified_energies(nodes, weights, horizon, target),
        lambda: certified_member_energies(nodes, weights, horizon),
        lambda: certified_inputs(nodes, weights, horizon, target),
    ):
        with pytest.raises(NotReachableError, match=message) as info:
            call()
        assert info.value.members == members


def test_wrong_calls() -> None:
    lam, b = np.array([0.5, 0.25]), np.ones(2)
    with pytest.raises(InvalidInputError, match="2 entries"):
        certified_energies(lam, b, 3, np.ones(3))
    with pytest.raises(InvalidInputError, match="finite"):
        certified_energies(lam, b, 3, np.array([1.0, math.nan]))
    with pytest.raises(InvalidInputError, match="rtol"):
        certified_energies(lam, b, 3, np.ones(2), rtol=0.0)
    with pytest.raises(InvalidInputError, match="one target vector"):
        certified_inputs(lam, b, 3, np.ones((2, 2)))
    with pytest.raises(InvalidInputError, match="horizon must be finite"):
        certified_inputs(lam, b, math.inf, np.ones(2))


def test_precision_is_left_as_it_was() -> None:
    before = ctx.prec
    certified_energies(np.linspace(0.1, 0.9, 20), np.ones(20), 21, np.ones(20))
    with pytest.raises(NotReachableError):
        certified_energies(np.array([0.5, 0.5]), np.ones(2), 3, np.ones(2))
    assert ctx.prec == before
