"""Uncertain populations: closed forms of one member, bounds that hold, scenarios, tolerances."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import ensctl as ec
from ensctl.status import Status
from ensctl.synthesis.robust import robust
from ensctl.synthesis.robust_guarantee import guaranteed_error
from ensctl.synthesis.robust_scenarios import as_intervals

WORKED = ec.Ensemble([0.3, 0.6, 0.9])
GOAL = [1.0, 0.0, 0.5]
LIMITED = ec.Limits(u_max=2.5)


def test_unknown_gain_of_one_member() -> None:
    """x_1 = b u, b ∈ 1 ± ρ, target 1: u = 1 is best and leaves ρ."""
    plan = robust(ec.Ensemble([0.5]), [1.0], 1, b_radius=0.2, limits=ec.Limits(u_max=3.0))
    assert plan.worst_error == pytest.approx(0.2, rel=1e-3)
    assert plan.worst_error_bound == pytest.approx(0.2, rel=1e-6)
    assert plan.guaranteed_error == pytest.approx(plan.worst_error, rel=1e-9)
    # Of all inputs this good the one of least energy: (1 − ρ) u = 1 − (1 + accuracy/2) ρ.
    assert plan.inputs[0] == pytest.approx((1.0 - 1.0005 * 0.2) / 0.8, rel=1e-6)


def test_unknown_pole_of_a_drifting_member() -> None:
    """x_1 = λ x_0 + u, λ ∈ 0.6 ± 0.05, x_0 = 2, target 0: the drift is uncertain by 0.1."""
    plan = robust(
        ec.Ensemble([0.6]), [0.0], 1, x0=2.0, lam_radius=0.05, limits=ec.Limits(u_max=3.0)
    )
    assert plan.worst_error == pytest.approx(0.1, rel=1e-3)
    assert plan.worst_error_bound == pytest.approx(0.1, rel=1e-6)
    assert plan.inputs[0] == pytest.approx(-1.2, rel=1e-3)


@pytest.mark.parametrize("radius", [0.01, 0.05])
def test_unknown_pole_with_a_tight_limit(radius: float) -> None:
    """x_2 = λ u_0 + u_1 → 1, |u| ≤ 0.8: u_1 = 0.8 and λ̂ u_0 = 0.2 leave r u_0 = r/3."""
    plan = robust(ec.Ensemble([0.6]), [1.0], 2, lam_radius=radius, limits=ec.Limits(u_max=0.8))
    assert plan.worst_error == pytest.approx(radius / 3.0, rel=1e-3)
    assert plan.worst_error_bound == pytest.approx(radius / 3.0, rel=1e-6)
    assert plan.peak <= 0.8


def test_the_least_worst_error_is_that_of_a_plain_linear_program() -> None:
    plan = robust(WORKED, GOAL, 8, lam_radius=0.01, b_radius=0.02, limits=LIMITED)
    rows, ends = [], []
    for lam, gains in zip(plan.scenarios.lam, plan.scenarios.gains[:, :, 0], strict=True):
        rows.append(gains[:, None] * lam[:, None] ** np.arange(8)[::-1])
        ends.append(GOAL)
    matrix, target, one = np.vstack(rows), np.concatenate(ends), np.ones((len(ends) * 3, 1))
    found = linprog(
        np.append(np.zeros(8), 1.0),
        A_ub=np.block([[matrix, -one], [-matrix, -one]]),
        b_ub=np.concatenate([target, -target]),
        bounds=[(-2.5, 2.5)] * 8 + [(0.0, None)],
    )
    assert plan.worst_error_bound == pytest.approx(found.fun, rel=1e-6)
    assert found.fun <= plan.worst_error * (1.0 + 1e-9)
    assert plan.worst_error <= found.fun * (1.0 + 1e-3)
    assert plan.proof.verified
    assert plan.certificate.verified
    assert plan.peak <= 2.5


@pytest.mark.parametrize("objective", ["energy", "fuel", "peak"])
def test_the_cost_breaks_ties(objective: str) -> None:
    plans = {
        name: robust(
            WORKED, GOAL, 12, lam_radius=0.005, limits=ec.Limits(u_max=3.0), objective=name
        )
        for name in ("energy", "fuel", "peak")
    }
    best = getattr(plans[objective], objective)
    assert all(best <= getattr(plan, objective) * (1.0 + 1e-5) for plan in plans.values())
    bounds = [plan.worst_error_bound for plan in plans.values()]
    assert max(bounds) <= min(bounds) * (1.0 + 1e-6)


def test_fresh_scenarios_stay_below_the_guarantee() -> None:
    plan = robust(
        WORKED, GOAL, 10, lam_radius=0.02, b_radius=0.03, limits=LIMITED, fresh=2000, seed=4
    )
    assert plan.fresh_count == 2000
    assert plan.worst_error_bound <= plan.worst_error
    assert plan.fresh_error <= plan.guaranteed_error
    assert plan.worst_error <= plan.guaranteed_error <= 1.05 * plan.worst_error
    assert plan.nominal_error <= plan.guaranteed_error


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    horizon=st.sampled_from([1, 2, 15, 16, 17, 40]),
    turning=st.booleans(),
)
def test_the_guarantee_covers_every_population(seed: int, horizon: int, turning: bool) -> None:
    rng = np.random.default_rng(seed)
    lam = rng.uniform(-1.0, 1.0, 3)
    if turning:
        lam = 0.95 * np.exp(1j * rng.uniform(0, 3, 3))
    radii = rng.uniform(0, 0.05, 3), rng.uniform(0, 0.1, (3, 2))
    known = as_intervals(ec.Ensemble(lam, rng.normal(size=(3, 2))), *radii)
    inputs = rng.normal(size=(2, horizon))
    ends = rng.normal(size=3), rng.normal(size=3)
    bound = guaranteed_error(known, inputs, *ends)
    largest = max(
        known.fresh(2000, seed).errors(inputs, *ends).max(),
        known.fitted(None, seed).errors(inputs, *ends).max(),
    )
    assert largest <= bound * (1.0 + 1e-12)
    if not turning:
        assert bound <= 1.1 * largest


def test_a_tolerance_is_met_where_the_nominal_plan_fails() -> None:
    known = as_intervals(WORKED, 0.01, 0.0)
    nominal = ec.steer(WORKED, GOAL, 8, tol=0.1)
    ends = np.array(GOAL), np.zeros(3)
    assert known.fitted(None, 0).errors(nominal.inputs, *ends).max() > 0.105
    plan = robust(WORKED, GOAL, 8, lam_radius=0.01, tol=0.1)
    assert plan.status is Status.OPTIMAL
    assert plan.certificate.verified
    assert plan.worst_error <= 0.1 * (1.0 + 1e-6)
    assert plan.energy > nominal.energy


def test_tolerance_per_member() -> None:
    tol = np.array([0.2, 0.05, 0.1])
    plan = robust(WORKED, GOAL, 8, lam_radius=0.01, tol=tol)
    errors = plan.scenarios.errors(plan.inputs, plan.target, plan.x0)
    assert np.all(errors.max(axis=0) <= tol * (1.0 + 1e-6))


def test_an_impossible_tolerance_is_proved_and_the_possible_one_named() -> None:
    with pytest.raises(ec.InfeasibleError, match=r"for all must be 0\.05693") as caught:
        robust(WORKED, GOAL, 8, lam_radius=0.01, tol=0.05, limits=LIMITED)
    assert caught.value.certificate.verified
    assert robust(WORKED, GOAL, 8, lam_radius=0.01, tol=0.05694, limits=LIMITED).success


def test_explicit_scenarios() -> None:
    others = [ec.Ensemble([0.3, 0.6, 0.9]), ec.Ensemble([0.31, 0.61, 0.91], [1.0, 0.9, 1.0])]
    plan = robust(WORKED, GOAL, 8, scenarios=others, limits=LIMITED, fresh=300)
    assert plan.scenarios.count == 2
    assert plan.fresh_count == 300
    assert plan.guaranteed_error == np.inf
    simulated = [np.abs(_final(other, plan.inputs) - np.array(GOAL)).max() for other in others]
    assert plan.worst_error == pytest.approx(max(simulated), rel=1e-12)
    judged = robust(WORKED, GOAL, 8, scenarios=others, limits=LIMITED, fresh=others[1:])
    assert judged.fresh_count == 1
    assert judged.fresh_error == pytest.approx(simulated[1], rel=1e-9)
    one = robust(WORKED, GOAL, 8, scenarios=others[:1], limits=LIMITED)
    assert one.worst_error <= plan.worst_error * (1.0 + 1e-3)


def _final(ens: ec.Ensemble, inputs: np.ndarray) -> np.ndarray:
    state = np.zeros(ens.size)
    for u in inputs:
        state = ens.lam * state + ens.gains[:, 0] * u
    return state


def test_turning_members_in_discs() -> None:
    lam = 0.9 * np.exp(1j * np.array([0.5, -0.5, 1.5, -1.5]))
    plan = robust(ec.Ensemble(lam), [1, 1, -1, -1], 10, lam_radius=0.02, limits=LIMITED)
    assert np.isrealobj(plan.inputs)
    assert plan.proof.verified
    assert 0 < plan.worst_error_bound <= plan.worst_error <= 1.001 * plan.worst_error_bound
    assert plan.fresh_error <= plan.guaranteed_error
    free = robust(ec.Ensemble(lam), [1, 1j, -1, -1], 10, lam_radius=0.02, limits=LIMITED)
    assert np.iscomplexobj(free.inputs)
    # The limit holds for hypot; abs may round one ulp higher.
    assert free.peak <= np.nextafter(2.5, 3.0)
    assert free.proof.verified


def test_other_limits_hold_in_every_scenario() -> None:
    limits = ec.Limits(u_max=2.5, slew_max=1.0, state_max=1.5)
    plan = robust(WORKED, GOAL, 8, lam_radius=0.01, limits=limits)
    assert np.abs(np.diff(plan.inputs)).max() <= 1.0 + 1e-6
    for ens in plan.scenarios.ensembles(WORKED):
        state = np.zeros(3)
        for u in plan.inputs:
            state = ens.lam * state + u
            assert np.abs(state).max() <= 1.5 + 1e-6
    with pytest.raises(ec.InfeasibleError, match="state, output and slew limits"):
        robust(
            WORKED, GOAL, 8, lam_radius=0.01, limits=ec.Limits(u_min=0.5, u_max=1, state_max=0.2)
        )


def test_members_that_cannot_be_moved() -> None:
    ens, limits = ec.Ensemble([0.5, 0.8], [0.0, 1.0]), ec.Limits(u_max=1.0)
    plan = robust(ens, [1.0, 0.5], 4, x0=[1.0, 2.0], limits=limits)
    assert plan.worst_error == 1.0 - 0.5**4
    assert plan.worst_error_bound == 1.0 - 0.5**4
    with pytest.raises(ec.NotReachableError, match="cannot be moved"):
        robust(ens, [1.0, 0.5], 4, x0=[1.0, 2.0], tol=0.1)
    with pytest.raises(ec.NotReachableError, match="no member can be moved"):
        robust(ec.Ensemble([0.5], 0.0), [1.0], 4, limits=limits)


def test_a_known_population_is_steered_exactly() -> None:
    plan = robust(WORKED, GOAL, 8, limits=ec.Limits(u_max=20.0))
    assert plan.worst_error <= 1e-8
    assert plan.fresh_error == plan.worst_error
    energy = ec.steer(WORKED, GOAL, 8, limits=ec.Limits(u_max=20.0)).energy
    assert plan.energy == pytest.approx(energy, rel=1e-5)


def test_lam_tolerance_is_the_first_order_one() -> None:
    plan = robust(WORKED, GOAL, 8, lam_radius=0.01, limits=LIMITED)
    step = 1e-7
    moved = [_final(ec.Ensemble(WORKED.lam + sign * step), plan.inputs) for sign in (1, -1)]
    slope = np.abs((moved[0] - moved[1]) / (2 * step)).max()
    assert plan.lam_tolerance == pytest.approx(0.01 / slope, rel=1e-5)


def test_the_seed_decides() -> None:
    def found(seed: int) -> Any:
        return robust(WORKED, GOAL, 6, lam_radius=0.01, limits=LIMITED, seed=seed)

    assert found(1).fresh_error == found(1).fresh_error
    assert found(1).fresh_error != found(2).fresh_error
    assert np.array_equal(found(1).inputs, found(2).inputs)


def test_text_and_dictionary() -> None:
    plan = robust(WORKED, GOAL, 8, lam_radius=0.01, limits=LIMITED)
    assert str(plan).startswith("the worst error is 0.0569552, least energy there; proved")
    assert len(str(plan).splitlines()) <= 12
    data = json.loads(json.dumps(plan.to_dict(), allow_nan=False))
    assert data["scenarios"] == 6
    failed = robust(WORKED, GOAL, 8, lam_radius=0.01, tol=0.05, limits=LIMITED, throw=False)
    assert json.loads(json.dumps(failed.to_dict(), allow_nan=False))["worst_error"] == "inf"
    assert failed.status is Status.INFEASIBLE
    with pytest.raises(ec.InfeasibleError):
        _ = failed.inputs


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"target": [1.0]}, "target"),
        ({"horizon": 2.5}, "horizon"),
        ({"x0": [1.0, np.nan, 0.0]}, "x0"),
        ({"lam_radius": -0.1}, "lam_radius"),
        ({"lam_radius": [0.1, 0.1]}, "lam_radius"),
        ({"b_radius": [[0.1, 0.1]]}, "b_radius"),
        ({"scenarios": []}, "scenarios"),
        ({"scenarios": [ec.Ensemble([0.1])]}, r"scenarios\[0\]"),
        ({"scenarios": [WORKED], "lam_radius": 0.1}, "scenarios"),
        ({"count": 0}, "count"),
        ({"seed": -1}, "seed"),
        ({"fresh": 0}, "fresh"),
        ({"accuracy": 0.0}, "accuracy"),
        ({"objective": "time"}, "objective"),
        ({"limits": None}, "limits"),
        ({"limits": ec.Limits(slew_max=1.0)}, "limits"),
        ({"tol": 0.0}, "tol"),
        ({"tol": ec.Rms(0.1)}, "tol"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], named: str) -> None:
    arguments: dict[str, Any] = {"target": GOAL, "horizon": 6, "limits": LIMITED} | change
    with pytest.raises(ec.InvalidInputError, match=f"^{named} must"):
        robust(WORKED, arguments.pop("target"), arguments.pop("horizon"), **arguments)
