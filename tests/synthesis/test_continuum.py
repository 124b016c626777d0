"""Plans for a continuum: published numbers, bounds that hold, refusals with proofs."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ensctl as ec
from ensctl.synthesis.continuum_region import Interval
from ensctl.synthesis.continuum_rounding import rounded_powers

_SINE = ("sin(6*x)", (0.1, 0.9))


@pytest.mark.parametrize("n", [2, 5, 10, 20])
def test_power_in_as_many_steps(n: int) -> None:
    for target in (f"x**{n}", np.eye(n + 1)[n], lambda lam: lam**n):
        plan = ec.continuum(target, (-1, 1), n)
        assert plan.sup_error == pytest.approx(2.0 ** (1 - n), rel=1e-8, abs=1e-10)
        assert plan.lower_bound <= plan.sup_error <= plan.sup_error_bound
        assert plan.sup_error_bound <= 1.01 * plan.sup_error


def test_absolute_value_to_seven_digits(reference: Callable[[str], Any]) -> None:
    for horizon, value in reference("continuum")["absolute_value"].items():
        steps = int(horizon)
        plan = ec.continuum("abs(x)", (-1, 1), steps)
        assert (steps - 1) * plan.sup_error == pytest.approx(value, abs=6e-8)
        assert (steps - 1) * plan.lower_bound == pytest.approx(value, abs=6e-8)


def test_sine_best_errors(reference: Callable[[str], Any]) -> None:
    for horizon, value in reference("continuum")["sine_best_errors"].items():
        plan = ec.continuum(*_SINE, int(horizon))
        assert plan.sup_error == pytest.approx(value, rel=2e-3)
        assert plan.rigorous and plan.sup_error_bound <= 1.01 * plan.sup_error


def test_sine_least_energies(reference: Callable[[str], Any]) -> None:
    for horizon, value in reference("continuum")["sine_energies"].items():
        plan = ec.continuum(*_SINE, int(horizon), 1e-2)
        assert plan.energy == pytest.approx(value, rel=5e-4)
        assert plan.lower_bound == pytest.approx(plan.energy, rel=1e-5)
        assert plan.sup_error_bound <= 1e-2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "interval", "horizon", "tolerance", "options"),
    [
        ("sin(6*x)", (0.1, 0.9), 10, 1e-2, {}),
        ("sin(6*x)", (0.1, 0.9), 10, None, {"gain": "1 + x/2", "x0": "cos(x)"}),
        ("abs(x)", (-1, 1), 17, None, {}),
        (np.abs, (-1, 1), 9, None, {"derivative_bound": 1.0}),
        (lambda x: np.exp(np.sin(3 * x)), (-0.5, 0.8), 9, None, {}),
        (lambda x: np.sin(6 * x), (0.1, 0.9), 9, None, {"derivative_bound": (12, 6.0**12)}),
        ("1/(1+25*x**2)", (-1, 1), 12, 0.1, {}),
    ],
)
def test_the_bound_holds_on_a_million_points(
    target: Any, interval: Any, horizon: int, tolerance: float | None, options: dict[str, Any]
) -> None:
    plan = ec.continuum(target, interval, horizon, tolerance, **options)
    lam = plan.samples(1_000_001)
    largest = float(np.abs(plan.errors(lam)).max())
    assert largest <= plan.sup_error_bound <= 1.01 * largest
    assert plan.rigorous is (
        options.get("derivative_bound") is not None or target in ("sin(6*x)", "1/(1+25*x**2)")
    )
    simulated = np.abs(plan.targets(lam[::1000]) - plan.states(lam[::1000])[:, -1])
    assert simulated.max() <= plan.sup_error_bound


def test_curve_is_monotone_convex_and_agrees_with_steer() -> None:
    tolerances = [0.5, 0.3, 0.1, 0.05, 0.03, 0.01]
    curve = ec.accuracy_energy_curve(*_SINE, 10, tolerances)
    assert np.all(np.diff(curve.energies) >= 0)
    assert np.all(curve.lower_bounds <= curve.energies * (1 + 1e-9))
    slopes = np.diff(curve.energies) / np.diff(curve.tolerances)
    assert np.all(np.diff(slopes) <= 1e-6 * np.abs(slopes[1:]))
    lam = np.linspace(0.1, 0.9, 200)
    ens = ec.Ensemble(lam)
    for tolerance, energy in list(zip(curve.tolerances, curve.energies, strict=True))[1::2]:
        plan = ec.steer(ens, np.sin(6 * lam), 10, tol=float(tolerance))
        # Fewer members ask for less.
        assert plan.energy <= energy * (1 + 1e-6)
        assert plan.energy == pytest.approx(energy, rel=1e-2)


def test_initial_state_and_gain_are_part_of_the_end_state() -> None:
    plan = ec.continuum("sin(6*x)", (0.1, 0.9), 9, gain="1 + x", x0="2*x")
    lam = plan.samples(51)
    by_hand = lam**9 * 2 * lam
    for k, u in enumerate(plan.inputs):
        by_hand = by_hand + (1 + lam) * u * lam ** (8 - k)
    assert np.allclose(plan.targets(lam) - by_hand, plan.errors(lam), rtol=0, atol=1e-12)
    assert np.allclose(plan.states(lam)[:, 0], 2 * lam)
    assert plan.to_response().states.shape == (21, 10)


def test_bounded_inputs() -> None:
    plan = ec.continuum(*_SINE, 10, u_max=10.0)
    assert plan.peak <= 10.0
    assert plan.lower_bound == pytest.approx(plan.sup_error, rel=1e-5)
    cheapest = ec.continuum(*_SINE, 20, 1e-2, u_max=12.0)
    assert cheapest.peak <= 12.0 and cheapest.sup_error_bound <= 1e-2 * (1 + 1e-6)
    assert cheapest.energy > ec.continuum(*_SINE, 20, 1e-2).energy
    flat = ec.continuum(*_SINE, 20, 1e-2, objective="peak")
    assert flat.peak == pytest.approx(flat.lower_bound, rel=1e-4) and flat.peak < 12.0
    with pytest.raises(ec.InfeasibleError, match=r"0\.010292.*\|u\| ≤ 12") as refused:
        ec.continuum(*_SINE, 10, 1e-2, u_max=12.0)
    proof = refused.value.certificate
    rows = proof.lam[:, None] ** np.arange(10)
    reach = proof.weights @ np.sin(6 * proof.lam) - 12.0 * np.abs(proof.weights @ rows).sum()
    assert reach > 1e-2


def test_arcs() -> None:
    arc = ec.Arc(0.0, 1.5)
    plan = ec.continuum(np.conj, arc, 8)
    assert plan.lower_bound == pytest.approx(plan.sup_error, rel=1e-4)
    lam = plan.samples(2001)
    assert np.abs(plan.errors(lam)).max() <= plan.sup_error_bound
    cheap = ec.continuum(np.conj, arc, 8, 1e-2)
    assert cheap.sup_error <= 1e-2 * (1 + 1e-5)
    assert cheap.energy == pytest.approx(cheap.lower_bound, rel=1e-4) and cheap.energy < 100
    # On the whole circle conj(λ) is orthogonal to every polynomial.
    whole = ec.continuum(np.conj, ec.Arc(-np.pi, np.pi), 6)
    assert whole.sup_error == pytest.approx(1.0, abs=1e-6)


def test_a_short_horizon_is_refused_with_a_measure() -> None:
    with pytest.raises(ec.InfeasibleError, match=r"0\.0322283 in 5 steps.*is 6") as refused:
        ec.continuum(*_SINE, 5, 1e-2)
    proof = refused.value.certificate
    assert proof.verified and proof.smallest_horizon == 6
    lam = [Fraction(float(value)) for value in proof.lam]
    weights = [Fraction(float(value)) for value in proof.weights]
    for k in range(5):
        seen = sum(w * x**k for w, x in zip(weights, lam, strict=True))
        assert abs(float(seen)) < 1e-15
    assert abs(proof.weights @ np.sin(6 * proof.lam)) > 3.2e-2
    assert ec.smallest_horizon(*_SINE, 1e-2).horizon == 6
    assert ec.smallest_horizon(*_SINE, 1e-2, x0=1.0).horizon >= 6


def test_jumps_are_named_with_what_no_horizon_reaches() -> None:
    def step(lam: np.ndarray) -> np.ndarray:
        return np.where(lam < 0.3, 0.0, 1.0)

    with pytest.raises(ec.InfeasibleError, match=r"jumps by 1 at λ = 0\.3.*below 0\.5"):
        ec.continuum(step, (0, 1), 9, 0.1)
    plan = ec.continuum(step, (0, 1), 9)
    assert "jumps by 1" in plan.message and plan.sup_error >= 0.5 - 1e-6
    with pytest.raises(ec.InfeasibleError, match="no horizon up to 30"):
        ec.smallest_horizon("abs(x)", (-1, 1), 1e-4, max_horizon=30)


@pytest.mark.parametrize(
    ("target", "interval", "options", "named"),
    [
        ("1/(x-0.3)", (0, 1), {}, "λ = 0.3"),
        ("1/(x-0.3001234)", (0, 1), {}, "pole near λ = 0.3001"),
        ("tan(3*x)", (0, 1), {}, "pole near λ = 0.5235987"),
        ("log(x)", (0, 1), {}, "at λ = 0"),
        (lambda x: np.where(x > 0.5, np.nan, x), (0, 1), {}, "target must be finite"),
        ("x", (1, 1), {}, "low < high"),
        ("x", (1, 0), {}, "low < high"),
        ("x", "01", {}, "pair"),
        ("x", (0, 1), {"tolerance": 0.0}, "tolerance"),
        ("x", (0, 1), {"tolerance": -1.0}, "tolerance"),
        ("x", (0, 1), {"u_max": 0.0}, "u_max"),
        ("x", (0, 1), {"objective": "speed"}, "objective"),
        ("x", (0, 1), {"objective": "energy"}, "tolerance"),
        ("__import__('os')", (0, 1), {}, "formula"),
        ("x.real", (0, 1), {}, "formula"),
        ("x**x", (0, 1), {}, "exponents"),
        ("sin(", (0, 1), {}, "formula"),
        (lambda x: "a", (0, 1), {}, "target"),
        ("x", (0, 1), {"derivative_bound": -1.0}, "derivative_bound"),
    ],
)
def test_wrong_arguments_are_named(
    target: Any, interval: Any, options: dict[str, Any], named: str
) -> None:
    with pytest.raises(ec.InvalidInputError, match=named):
        ec.continuum(target, interval, 5, **options)


def test_a_gain_that_vanishes() -> None:
    with pytest.raises(ec.NotReachableError, match=r"λ = 0\.5"):
        ec.continuum(*_SINE, 8, gain="x - 0.5")
    plan = ec.continuum("x**2 - 0.25", (0.1, 0.9), 4, gain="x - 0.5")
    assert plan.sup_error < 1e-8
    with pytest.raises(ec.NotReachableError, match="gain is 0"):
        ec.continuum(*_SINE, 8, gain=0.0)


def test_rounding_inputs_one_after_the_other_pays() -> None:
    coefficients = 1.0 / np.arange(1.0, 34.0) ** 2
    interval = Interval(-1.0, 1.0)
    from ensctl.synthesis.chebyshev_basis import to_exact_powers
    from ensctl.synthesis.continuum_errors import powers_as_chebyshev

    plain = np.array([float(a) for a in to_exact_powers(coefficients, 0.0, 1.0)])
    paid = rounded_powers(coefficients, interval)
    misses = [
        np.abs(powers_as_chebyshev(powers, interval) - coefficients).sum()
        for powers in (plain, paid)
    ]
    assert misses[1] < 0.05 * misses[0]


def test_what_float64_cannot_carry_is_said() -> None:
    plan = ec.continuum("abs(x)", (-1, 1), 50)
    assert "exact inputs would reach" in plan.message
    assert plan.sup_error_bound < 0.05


def test_plans_as_data(tmp_path: Any) -> None:
    plan = ec.continuum(*_SINE, 6, 1e-1)
    content = json.loads(plan.to_file(tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert content["kind"] == "continuum_plan" and content["inputs"] == plan.inputs.tolist()
    lines = plan.to_file(tmp_path / "u.csv").read_text(encoding="utf-8").splitlines()
    assert [float(line.split(",")[1]) for line in lines[1:]] == plan.inputs.tolist()
    assert len(str(plan).splitlines()) <= 12 and not plan.inputs.flags.writeable
    assert plan.curve([0.5, 0.1]).energies[1] == pytest.approx(plan.energy, rel=1e-4)
    with pytest.raises(ec.InvalidInputError, match="lie in"):
        plan.errors([2.0])
