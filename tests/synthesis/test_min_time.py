"""The shortest horizon: closed forms, horizons with gaps, nesting, and what stays undecided."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensctl as ec
from ensctl.status import Status
from ensctl.synthesis import horizon_outcomes
from ensctl.synthesis.feasible_horizons import feasible_horizons
from ensctl.synthesis.horizon_nesting import nesting_reason
from ensctl.synthesis.min_time import min_time
from ensctl.synthesis.plan import SteeringPlan
from ensctl.synthesis.terminal import Exact, PerMember

WORKED = ec.Ensemble([0.3, 0.6, 0.9])
GOAL = [1.0, 0.0, 0.5]


@pytest.mark.parametrize(("u_max", "horizon"), [(10.84, 3), (5.45, 4), (2.469, 6), (1.526, 10)])
def test_worked_peaks_give_the_horizon(u_max: float, horizon: int) -> None:
    # The smallest peaks are 10.833333 (H = 3), 5.443886 (4), 2.468502 (6) and 1.525033 (10).
    found = min_time(WORKED, GOAL, limits=ec.Limits(u_max=u_max))
    assert found.horizon == horizon
    assert found.proved
    assert found.peak <= u_max
    assert found.proof is not None
    assert found.proof.horizon == horizon - 1
    if horizon > 3:
        assert found.proof.status is Status.INFEASIBLE
        assert found.proof.certificate.verified
    else:
        assert found.proof.status is Status.NOT_REACHABLE


@pytest.mark.parametrize(
    ("lam", "u_max", "target", "only"), [(-0.9, 0.1, -9.0, 1), (0.9, 0.05, 7.29, 3)]
)
def test_horizon_traps(lam: float, u_max: float, target: float, only: int) -> None:
    ens, limits = ec.Ensemble([lam]), ec.Limits(u_max=u_max)
    found = min_time(ens, [target], x0=10.0, limits=limits)
    assert found.horizon == only
    assert found.method == "scan"
    assert found.proved
    every = feasible_horizons(ens, [target], x0=10.0, limits=limits, max_horizon=40)
    assert every.feasible == (only,)
    assert every.undecided == ()
    assert len(every.impossible) == 39
    assert all(every.at(h).certificate.verified for h in every.impossible)


def _reachable_set(lam: float, horizon: int) -> float:
    return float(np.sum(abs(lam) ** np.arange(horizon)))


@settings(max_examples=40)
@given(lam=st.floats(0.2, 0.98), share=st.floats(0.05, 0.97), sign=st.sampled_from([-1.0, 1.0]))
def test_one_member_from_zero(lam: float, share: float, sign: float) -> None:
    """From 0, |x_H| ≤ ū (1 − λ^H)/(1 − λ): the horizon is a logarithm."""
    target = share / (1.0 - lam)
    sums = np.cumsum(lam ** np.arange(300))
    assume(np.min(np.abs(sums / target - 1.0)) > 1e-6)
    expected = int(np.argmax(sums >= target)) + 1
    assume(expected <= 100)
    found = min_time(ec.Ensemble([lam]), [sign * target], limits=ec.Limits(u_max=1.0))
    assert found.horizon == expected
    assert found.proved


@settings(max_examples=25)
@given(
    lam=st.floats(-1.2, 1.2),
    start=st.floats(-5, 5),
    target=st.floats(-5, 5),
    u_max=st.floats(0.05, 1.0),
)
def test_one_member_between_moving_ends(
    lam: float, start: float, target: float, u_max: float
) -> None:
    """Feasible ⇔ |target − λ^H x0| ≤ ū Σ|λ|^k, at every horizon."""
    horizons = np.arange(1, 11)
    need = np.abs(target - lam**horizons * start)
    can = u_max * np.array([_reachable_set(lam, h) for h in horizons])
    assume(np.all(np.abs(need - can) > 1e-6))
    expected = tuple(int(h) for h in horizons[need <= can])
    limits = ec.Limits(u_max=u_max)
    ens = ec.Ensemble([lam])
    every = feasible_horizons(ens, [target], x0=start, limits=limits, max_horizon=10)
    assert every.feasible == expected
    assert every.undecided == ()
    first = min_time(ens, [target], x0=start, limits=limits, max_horizon=10, throw=False)
    assert first.success == bool(expected)
    if expected:
        assert first.horizon == expected[0]


@pytest.mark.parametrize("seed", range(40))
def test_bisection_finds_what_the_scan_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 4))
    lam = np.sort(rng.uniform(-0.95, 0.95, size))
    ens = ec.Ensemble(lam, rng.uniform(0.5, 1.5, size))
    state, zero = rng.uniform(-1, 1, size), np.zeros(size)
    target, x0 = (state, zero) if seed % 2 else (zero, state)
    limits = ec.Limits(u_max=float(10 ** rng.uniform(-1, 1)))
    fast = min_time(ens, target, x0=x0, limits=limits, max_horizon=24, throw=False)
    every = feasible_horizons(ens, target, x0=x0, limits=limits, max_horizon=24)
    assert fast.method == "bisection"
    assert every.undecided == ()
    # Nested: all horizons from the first one on.
    assert every.feasible == tuple(range(25 - len(every.feasible), 25))
    assert fast.success == bool(every.feasible)
    if fast.success:
        assert fast.horizon == every.feasible[0]
        assert fast.proved


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), tol=st.sampled_from([0.05, 0.3]))
def test_nesting_with_a_tolerance(seed: int, tol: float) -> None:
    rng = np.random.default_rng(seed)
    ens = ec.Ensemble(np.sort(rng.uniform(-1.0, 1.0, 2)))
    start = rng.uniform(-1, 1, 2)
    limits = ec.Limits(u_max=float(rng.uniform(0.05, 0.5)), state_max=1.5)
    assert nesting_reason(ens, np.zeros(2), start, PerMember(np.full(2, tol)), limits)
    every = feasible_horizons(ens, [0, 0], x0=start, limits=limits, max_horizon=7, tol=tol)
    first = min_time(ens, [0, 0], x0=start, limits=limits, max_horizon=7, tol=tol, throw=False)
    assert every.feasible == tuple(range(8 - len(every.feasible), 8))
    if every.feasible:
        assert first.horizon == every.feasible[0]


def _nested(**change: Any) -> bool:
    case: dict[str, Any] = {
        "lam": [0.5, 0.9],
        "target": [1.0, 2.0],
        "x0": [0.0, 0.0],
        "terminal": Exact(),
        "limits": ec.Limits(u_max=1.0),
        "d": 0.0,
    }
    case |= change
    ens = ec.Ensemble(case["lam"], d=case["d"])
    ends = np.array(case["target"]), np.array(case["x0"])
    return bool(nesting_reason(ens, *ends, case["terminal"], case["limits"]))


def test_where_nesting_is_claimed() -> None:
    within = PerMember(np.full(2, 0.1))
    back = {"target": [0.0, 0.0], "x0": [1.0, 2.0]}
    assert _nested()
    assert _nested(terminal=within)
    assert _nested(limits=ec.Limits(u_max=1.0, state_max=3.0, output_max=2.0))
    assert _nested(**back)
    assert _nested(**back, terminal=within)
    assert _nested(lam=[0.5, 1.0], target=[0.0, 2.0], x0=[1.0, 2.0])
    assert _nested(lam=[1.0, 1.0], x0=[1.0, 2.0])


def test_where_nesting_is_not_claimed() -> None:
    within = PerMember(np.full(2, 0.1))
    back = {"target": [0.0, 0.0], "x0": [1.0, 2.0]}
    assert not _nested(x0=[0.0, 1.0])
    assert not _nested(limits=ec.Limits(u_max=1.0, slew_max=0.1))
    assert not _nested(limits=ec.Limits(u_min=0.5, u_max=1.0))
    assert not _nested(limits=ec.Limits(u_max=1.0, output_max=2.0), d=1.0)
    assert not _nested(**back, lam=[0.5, 1.1], terminal=within)
    assert not _nested(**back, terminal=within, limits=ec.Limits(u_max=1.0, output_max=9.0))
    assert not _nested(lam=[1.0, 0.5], x0=[1.0, 0.0], limits=ec.Limits(state_max=3.0))


def test_a_slew_limit_makes_gaps() -> None:
    # H = 1: u = 1 does both.  H = 2: u_1 = 1 and u_0/2 + u_1 = 1 need a change of 1.
    ens, limits = ec.Ensemble([0.0, 0.5]), ec.Limits(u_max=1.0, slew_max=0.5)
    every = feasible_horizons(ens, [1.0, 1.0], limits=limits, max_horizon=2)
    assert every.feasible == (1,)
    assert min_time(ens, [1.0, 1.0], limits=limits, max_horizon=2).method == "scan"


def test_feedthrough_in_a_limited_output_makes_gaps() -> None:
    # H = 1: u_0 = 1, y_1 = 1.  H = 2: y_1 = u_0 + 10 u_1 with u_1 ≥ 1/2.
    ens, limits = ec.Ensemble([0.5], c=[1.0], d=10.0), ec.Limits(u_max=1.0, output_max=1.1)
    every = feasible_horizons(ens, [1.0], limits=limits, max_horizon=2)
    assert every.feasible == (1,)
    assert every.impossible == (2,)


def test_one_step_needs_no_proof() -> None:
    found = min_time(WORKED, [0.0, 0.0, 0.0], limits=ec.Limits(u_max=1.0))
    assert found.horizon == 1
    assert found.proof is None
    assert found.proved
    assert np.all(found.inputs == 0.0)


@pytest.mark.parametrize("objective", ["energy", "fuel", "peak"])
def test_the_plan_is_the_best_at_that_horizon(objective: str) -> None:
    limits = ec.Limits(u_max=2.6)
    found = min_time(WORKED, GOAL, limits=limits, objective=objective)
    direct = ec.steer(WORKED, GOAL, found.horizon, limits=limits, objective=objective)
    assert found.horizon == 6
    assert getattr(found, objective) == pytest.approx(getattr(direct, objective), rel=1e-6)
    assert found.certificate.verified
    assert found.terminal_error < 1e-12
    assert found.states().shape == (3, 7)


def test_no_horizon_is_an_error_with_a_proof() -> None:
    limits = ec.Limits(u_max=0.1)
    with pytest.raises(ec.InfeasibleError, match="no horizon up to 30 steps") as caught:
        min_time(WORKED, GOAL, limits=limits, max_horizon=30)
    assert caught.value.certificate.verified
    result = min_time(WORKED, GOAL, limits=limits, max_horizon=30, throw=False)
    assert result.status is Status.INFEASIBLE
    assert not result.proved
    with pytest.raises(ec.InfeasibleError):
        _ = result.horizon
    with pytest.raises(ec.InfeasibleError):
        _ = result.inputs
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["horizon"] is None


def test_locked_members_are_never_reachable() -> None:
    with pytest.raises(ec.NotReachableError) as caught:
        min_time(ec.Ensemble([0.5, 0.5]), [1.0, 2.0], limits=ec.Limits(u_max=9.0), max_horizon=9)
    assert caught.value.members == (0, 1)


def _doubting(horizons: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make some horizons undecided, as float64 does near the limit of what is feasible."""
    original = horizon_outcomes.HorizonTask.plan

    def plan(
        self: horizon_outcomes.HorizonTask, horizon: int, objective: str = "energy"
    ) -> SteeringPlan:
        found = original(self, horizon, objective)
        if horizon in horizons:
            return replace(found, status=Status.PRECISION_LIMITED, certificate=None, _inputs=None)
        return found

    monkeypatch.setattr(horizon_outcomes.HorizonTask, "plan", plan)


@pytest.mark.parametrize(
    ("doubtful", "horizon", "undecided"),
    [((5,), 6, (5,)), ((6,), 7, (6,)), ((4, 5, 6), 7, (4, 5, 6)), ((4,), 6, ()), ((8,), 6, ())],
)
def test_undecided_horizons_are_reported(
    doubtful: tuple[int, ...],
    horizon: int,
    undecided: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _doubting(doubtful, monkeypatch)
    found = min_time(WORKED, GOAL, limits=ec.Limits(u_max=2.5))
    assert found.horizon == horizon
    assert found.undecided == undecided
    assert found.proved == (not undecided)
    if undecided:
        assert "could not decide" in found.message


def test_undecided_horizons_are_not_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    _doubting((2, 8), monkeypatch)
    moving = {"x0": 10.0, "limits": ec.Limits(u_max=0.001), "max_horizon": 8}
    with pytest.raises(ec.PrecisionError, match="could not decide 2 and 8"):
        min_time(ec.Ensemble([0.9]), [5.0], **moving)
    every = feasible_horizons(ec.Ensemble([0.9]), [5.0], **moving)
    assert every.undecided == (2, 8)
    assert "undecided in float64: 2 and 8" in str(every)


def test_undecided_at_the_longest_horizon(monkeypatch: pytest.MonkeyPatch) -> None:
    _doubting((5,), monkeypatch)
    result = min_time(WORKED, GOAL, limits=ec.Limits(u_max=2.5), max_horizon=5, throw=False)
    assert result.status is Status.PRECISION_LIMITED
    assert result.undecided == (5,)


def test_complex_members_under_real_inputs() -> None:
    # u_1 sets the real part, u_0 the imaginary one.
    ens = ec.Ensemble([1j, -1j])
    found = min_time(ens, [1j, -1j], limits=ec.Limits(u_max=1.5))
    assert found.horizon == 2
    assert np.isrealobj(found.inputs)


def test_progress_reaches_the_end() -> None:
    seen: list[tuple[int, int]] = []
    min_time(WORKED, GOAL, limits=ec.Limits(u_max=2.5), progress=lambda a, b: seen.append((a, b)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]


def test_text_and_dictionary() -> None:
    found = min_time(WORKED, GOAL, limits=ec.Limits(u_max=2.5))
    lines = str(found).splitlines()
    assert lines[0].startswith("shortest horizon: 6 steps; 5 steps are infeasible, proved")
    assert len(lines) <= 12
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["schema"] == 1
    assert data["horizon"] == 6
    assert data["proof"]["certificate"]["kind"] == "infeasibility"
    every = feasible_horizons(WORKED, GOAL, limits=ec.Limits(u_max=2.5), max_horizon=8)
    assert str(every) == "feasible: 6–8 of 1 … 8 steps\nproved impossible: 1–5"
    assert json.loads(json.dumps(every.to_dict()))["feasible"] == [6, 7, 8]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"target": [1.0]}, "target"),
        ({"x0": [1.0, 2.0]}, "x0"),
        ({"limits": None}, "limits"),
        ({"limits": ec.Limits(u_max=[1.0, 2.0])}, "limits"),
        ({"max_horizon": 0}, "max_horizon"),
        ({"tol": ec.TerminalCost(1.0)}, "tol"),
        ({"tol": -1.0}, "tol"),
        ({"objective": "time"}, "objective"),
        ({"progress": 3}, "progress"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], named: str) -> None:
    arguments: dict[str, Any] = {"target": GOAL, "limits": ec.Limits(u_max=3.0)} | change
    with pytest.raises(ec.InvalidInputError, match=f"^{named} must"):
        min_time(WORKED, arguments.pop("target"), **arguments)


def test_a_horizon_that_was_not_tried() -> None:
    every = feasible_horizons(WORKED, GOAL, limits=ec.Limits(u_max=2.5), max_horizon=3)
    with pytest.raises(ec.InvalidInputError, match=r"^horizon must"):
        every.at(4)
