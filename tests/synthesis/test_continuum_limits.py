"""Continuum targets at the limits of float64, of formulas and of what was promised."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ensctl as ec
from ensctl.synthesis.chebyshev_basis import from_powers, nearest_floats
from ensctl.synthesis.continuum_bounds import _cosines
from ensctl.synthesis.continuum_expression import parse_expression
from ensctl.vandermonde.balls import precision


@pytest.mark.parametrize(
    "text",
    ["9**9**9", "__import__('os')", "x.real", "+".join(["x"] * 400), "-" * 400 + "x", "x**x"],
)
def test_formulas_that_are_not_read(text: str) -> None:
    with pytest.raises(ec.InvalidInputError, match="target must"):
        ec.continuum(text, (-1, 1), 5)


@pytest.mark.parametrize("text", ["(((1e300**200)**200)**200)**200", "(x + 1e-300)**200"])
def test_long_rationals_are_left_to_floats(text: str) -> None:
    assert parse_expression(text).powers is None


def test_arctangent_on_its_cut_is_not_analytic() -> None:
    from flint import acb, arb

    ball = acb(arb(0, 0.1), arb(2, 0.1))
    assert not parse_expression("atan(x)").ball(ball).is_finite()
    assert parse_expression("atan(x)").ball(acb(0.5, 0.5)).is_finite()


def test_from_powers_is_exact() -> None:
    third = Fraction(1, 3)
    # (1 + λ/3)² on λ = 1 + 2t: 16/9 + 16/9 t + 4/9 t², and t² = (1 + T₂)/2
    found = from_powers([Fraction(1), 2 * third, third**2], Fraction(1), Fraction(2))
    assert found == [Fraction(2), Fraction(16, 9), Fraction(2, 9)]
    assert nearest_floats([Fraction(10) ** 400, -(Fraction(10) ** 400)]).tolist() == [
        np.inf,
        -np.inf,
    ]


@pytest.mark.parametrize("count", [7, 12, 1000])
def test_cosines_are_right_to_two_ulp(count: int) -> None:
    from flint import arb

    with precision(100):
        exact = [float((arb.pi() * j / count).cos().mid()) for j in range(2 * count)]
    np.testing.assert_allclose(_cosines(count), exact, rtol=0, atol=4 * 2.0**-53)


@pytest.mark.parametrize(
    ("target", "interval", "horizon"),
    [
        ([1e308] * 5, (-1, 1), 5),
        ([0.0] * 150 + [1.0], (-1000, 1000), 5),
        ("sin(1e6*x)", (1e-7, 9e-6), 60),
        ("x", (-1e300, 1e300), 1),
        ("x", (0, 5e-324), 2),
        ("1e160*x", (-1, 1), 3),
        (lambda lam: {}[0], (-1, 1), 3),
        (lambda lam: lam.missing, (-1, 1), 3),
    ],
)
def test_beyond_float64_is_refused(target: object, interval: tuple, horizon: int) -> None:
    with pytest.raises(ec.InvalidInputError):
        ec.continuum(target, interval, horizon)


def test_a_narrow_interval_has_no_pole() -> None:
    plan = ec.continuum("exp(x)", (0.5, 0.5000001), 3)
    assert plan.rigorous
    assert plan.sup_error_bound < 1e-13


def test_tiny_targets_keep_a_tight_bound() -> None:
    plan = ec.continuum("1e-200*sin(9*x)", (-1, 1), 3)
    assert plan.sup_error <= plan.sup_error_bound <= 1.01 * plan.sup_error


def test_a_whole_circle_is_solved() -> None:
    plan = ec.continuum("exp(x)", ec.Arc(-np.pi, np.pi), 6)
    assert plan.lower_bound == pytest.approx(plan.sup_error, rel=1e-5)


def test_a_derivative_bound_that_the_target_passes() -> None:
    with pytest.raises(ec.InvalidInputError, match="derivative_bound must be at least"):
        ec.continuum(lambda lam: np.sin(6 * lam), (0.1, 0.9), 5, derivative_bound=1.0)


def test_a_pair_is_a_region() -> None:
    assert ec.choose_nodes(3, (0.0, 1.0)).value == pytest.approx(15.0981, rel=1e-4)
