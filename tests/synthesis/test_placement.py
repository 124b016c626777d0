"""Pole placement against rational arithmetic, and beside python-control in the same run."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, NotReachableError, PrecisionError
from ensctl.synthesis.placement import observer_gain, place
from ensctl.synthesis.placement_result import Placement

Reference = Callable[[str], Any]


def _numbers(texts: list[str]) -> np.ndarray:
    return np.array([float.fromhex(text) for text in texts])


@pytest.mark.reference
def test_gains_agree_with_rational_arithmetic(reference: Reference) -> None:
    cases = reference("placement")["cases"]
    assert len(cases) == 12
    for case in cases:
        lam, b, poles, exact = (_numbers(case[key]) for key in ("lam", "b", "poles", "gains"))
        if lam.size > 20:
            continue
        found = place(Ensemble(lam, b), poles)
        assert np.all(np.abs(found.gains - exact) <= found.gain_error * np.abs(exact)), case
        assert found.gain_error < 1e-14


@pytest.mark.reference
@pytest.mark.slow
def test_a_hundred_members_neither_overflow_nor_lose_digits(reference: Reference) -> None:
    for case in reference("placement")["cases"]:
        lam, b, poles, exact = (_numbers(case[key]) for key in ("lam", "b", "poles", "gains"))
        if lam.size == 100 and case["placed"] == "linspace(-0.5,0.5)":
            found = place(Ensemble(lam, b), poles)
            assert np.all(np.abs(found.gains - exact) <= found.gain_error * np.abs(exact))
            assert (
                not found.stable
                and found.achieved_poles is None
                and "lost in the rounding" in str(found)
            )


@pytest.mark.reference
@pytest.mark.slow
def test_python_control_is_far_off_or_refuses(reference: Reference) -> None:
    import control

    case = reference("placement")["cases"][0]
    lam, poles, exact = (_numbers(case[key]) for key in ("lam", "poles", "gains"))
    ours = place(Ensemble(lam), poles)
    assert np.max(np.abs(ours.gains - exact)[exact != 0] / np.abs(exact[exact != 0])) < 1e-12
    assert np.max(np.abs(exact)) == pytest.approx(1.053e9, rel=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = np.asarray(control.place(np.diag(lam), np.ones((20, 1)), poles)).ravel()
        with pytest.raises(ValueError, match="reachable"):
            control.acker(np.diag(lam), np.ones((20, 1)), poles)
    assert np.max(np.abs(theirs - exact)) > 0.5 * np.max(np.abs(exact))


def test_sensitivity_tells_that_correct_gains_are_no_promise() -> None:
    plan = place(Ensemble(np.linspace(0.1, 0.9, 20)), np.linspace(-0.5, 0.5, 20))
    assert 0.1 < plan.pole_error < 0.25 and plan.stable
    # A pole at which one rounding of the gains moves it by less than 1e-10 is where it should be.
    steady = plan.pole_sensitivity * 2.0**-53 < 1e-10
    assert 5 <= np.sum(steady) < 20
    assert np.max(np.abs(plan.achieved_poles - plan.poles)[steady]) < 1e-8
    assert plan.eigenvalue_blur > 1.0
    assert "float64 eigenvalues of the closed-loop matrix say nothing" in str(plan)
    assert np.max(np.abs(np.sort_complex(np.linalg.eigvals(plan.matrix)) - plan.poles)) > 0.1


@st.composite
def _separated(draw: st.DrawFn) -> Ensemble:
    size = draw(st.integers(1, 6))
    lam = draw(st.lists(st.integers(-12, 12), min_size=size, max_size=size, unique=True))
    b = draw(st.lists(st.sampled_from([-2.0, 0.5, 1.0, 3.0]), min_size=size, max_size=size))
    return Ensemble(np.array(lam) / 10.0, b)


@given(_separated(), st.integers(0, 1000))
def test_closed_loop_has_the_poles(ens: Ensemble, seed: int) -> None:
    poles = np.sort(np.random.default_rng(seed).choice(np.arange(-9, 10), ens.size, False)) / 9.7
    plan = place(ens, poles)
    assert plan.pole_error <= 1e-15 + ens.size * np.max(plan.pole_sensitivity) * plan.gain_error
    blur = plan.eigenvalue_blur + 1e-13
    computed = np.sort(np.linalg.eigvals(plan.matrix).real)
    assert np.max(np.abs(computed - poles)) <= 100 * ens.size * blur


@given(_separated(), st.integers(0, 1000))
def test_first_order_sensitivity_bounds_what_a_perturbation_does(ens: Ensemble, seed: int) -> None:
    rng = np.random.default_rng(seed)
    poles = np.linspace(-0.45, 0.55, ens.size)
    plan = place(ens, poles)
    eta = 1e-7 / max(1.0, float(np.max(plan.pole_sensitivity)))
    off = plan.gains * (1.0 + eta * rng.choice([-1.0, 1.0], ens.size))
    closed = np.diag(ens.lam) - np.outer(ens.b, off)
    moved = np.abs(np.sort(np.linalg.eigvals(closed).real) - poles)
    assert np.all(moved <= 1.01 * plan.pole_sensitivity * eta + 100 * plan.eigenvalue_blur + 1e-13)


@given(_separated())
def test_observer_gain_is_the_dual(ens: Ensemble) -> None:
    poles = np.linspace(-0.4, 0.3, ens.size)
    dual = Ensemble(ens.lam, 1.0, ens.b)
    observer = observer_gain(dual, poles)
    assert np.array_equal(observer.gains, place(ens, poles).gains)
    assert np.array_equal(observer.matrix, place(ens, poles).matrix.T)
    assert observer.side == "observer"


def test_equal_members_keep_all_but_one_pole() -> None:
    ens = Ensemble([0.3, 0.3, 0.9], [1.0, 2.0, 1.0])
    with pytest.raises(NotReachableError, match=r"members 0 and 1 share λ = 0\.3") as caught:
        place(ens, [0.1, 0.15, 0.2])
    assert caught.value.members == (0, 1)
    plan = place(ens, [0.1, 0.2, 0.3])
    assert plan.kept.tolist() == [False, False, True] and plan.pole_error < 1e-15
    assert np.sort(np.linalg.eigvals(plan.matrix).real) == pytest.approx([0.1, 0.2, 0.3])
    # Least norm among the gains that move the centroid.
    assert plan.gains[1] == pytest.approx(2.0 * plan.gains[0])


def test_a_member_without_gain_keeps_its_pole() -> None:
    ens = Ensemble([0.3, 0.9], [0.0, 1.0], names=["deaf", "good"])
    with pytest.raises(NotReachableError, match="deaf has b = 0") as caught:
        place(ens, [0.1, 0.2])
    assert caught.value.members == (0,)
    assert place(ens, [0.3, 0.2]).gains == pytest.approx([0.0, 0.7])
    with pytest.raises(NotReachableError, match="no output shows it"):
        observer_gain(Ensemble([0.3, 0.9], 1.0, [1.0, 0.0]), [0.1, 0.2])


def test_conjugate_poles_of_real_members_give_real_gains() -> None:
    plan = place(Ensemble([0.2, 0.5, 0.9]), [0.1, 0.3 + 0.4j, 0.3 - 0.4j])
    assert plan.gains.dtype == float
    exact = [
        (Fraction(x) - Fraction(0.1))
        * ((Fraction(x) - Fraction(0.3)) ** 2 + Fraction(0.4) ** 2)
        / np.prod([Fraction(x) - Fraction(y) for y in (0.2, 0.5, 0.9) if y != x])
        for x in (0.2, 0.5, 0.9)
    ]
    assert plan.gains == pytest.approx([float(k) for k in exact], rel=1e-15)
    assert np.max(np.abs(plan.achieved_poles - plan.poles)) < 1e-15


def test_conjugate_members_get_conjugate_gains() -> None:
    plan = place(Ensemble([0.5, 0.6 + 0.7j, 0.6 - 0.7j], [1, 1 + 1j, 1 - 1j]), [0.1, 0.2, 0.3])
    assert plan.gains[0].imag == 0 and plan.gains[1] == np.conj(plan.gains[2])
    assert plan.pole_error < 1e-14 and plan.stable


def test_poles_that_are_not_conjugate_closed_give_complex_gains() -> None:
    plan = place(Ensemble([0.2, 0.5]), [0.1, 0.3 + 0.4j])
    assert np.iscomplexobj(plan.gains) and plan.pole_error < 1e-15


def test_deadbeat_reaches_zero_in_n_steps() -> None:
    plan = place(Ensemble([0.5, 1.5, -0.25]), 0.0)
    assert np.max(np.abs(np.linalg.matrix_power(plan.matrix, 3))) < 1e-14
    assert np.all(np.isinf(plan.pole_sensitivity))
    assert "repeated poles" in str(plan)


def test_one_of_several_channels_has_to_be_chosen() -> None:
    ens = Ensemble([0.2, 0.8], [[1.0, 0.0], [1.0, 2.0]])
    with pytest.raises(InvalidInputError, match="channel must be chosen"):
        place(ens, [0.1, 0.3])
    assert place(ens, [0.1, 0.3], channel=0).pole_error < 1e-15
    with pytest.raises(NotReachableError, match="member 0 has b = 0"):
        place(ens, [0.1, 0.3], channel=1)
    with pytest.raises(InvalidInputError, match="one of 0 … 1"):
        place(ens, [0.1, 0.3], channel=2)
    with pytest.raises(InvalidInputError, match="output must be chosen"):
        observer_gain(ens.dual(), [0.1, 0.3])


def test_bad_input() -> None:
    ens = Ensemble([0.2, 0.8])
    with pytest.raises(InvalidInputError, match="poles must have 2 entries"):
        place(ens, [0.1, 0.2, 0.3])
    with pytest.raises(InvalidInputError, match="finite"):
        place(ens, [0.1, np.nan])
    with pytest.raises(InvalidInputError, match="ens must be an Ensemble"):
        place([0.1], [0.2])  # type: ignore[arg-type]
    with pytest.raises(PrecisionError, match="float64 range"):
        place(Ensemble([0.2, 0.8], [1e-308, 1.0]), [100.0, 100.0])
    with pytest.raises(PrecisionError, match="rescale"):
        place(Ensemble([0.2, 1e300]), 0.0)


def test_extreme_gains_of_equal_members_do_not_overflow() -> None:
    plan = place(Ensemble([0.5, 0.5], [1e200, 1e-200]), [0.25, 0.5])
    assert plan.gains[0] == pytest.approx(0.25e-200, rel=1e-14)


def test_content_is_json() -> None:
    plan: Placement = place(Ensemble([0.2, 0.8]), 0.0)
    content = json.loads(json.dumps(plan.to_dict()))
    assert content["kind"] == "placement" and content["pole_sensitivity"] == ["inf", "inf"]


def test_poles_far_beyond_float64_gains_are_said_to_be_unstable() -> None:
    plan = place(Ensemble(np.linspace(0.1, 0.9, 40)), np.linspace(-0.5, 0.5, 40))
    assert plan.gain_error < 1e-14 and not plan.stable
    assert "the closed loop is NOT stable in float64 gains" in str(plan)
