"""Cost against terminal tolerance: closed forms, monotone curves, one compilation, progress."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import numpy as np
import pytest

import ensctl as ec
from ensctl.progress import progress_of
from ensctl.status import Status
from ensctl.synthesis import solving
from ensctl.synthesis.tradeoff import tradeoff

WORKED = ec.Ensemble([0.3, 0.6, 0.9])
GOAL = [1.0, 0.0, 0.5]


@pytest.mark.parametrize(("objective", "power"), [("energy", 2), ("fuel", 1), ("peak", 1)])
@pytest.mark.parametrize("kind", ["member", "rms"])
def test_one_member_in_one_step(objective: str, power: int, kind: str) -> None:
    """x_1 = 2 u has to come within τ of 3: |u| = (3 − τ)/2."""
    taus = [2.0, 1.0, 0.1, 1e-4]
    curve = tradeoff(ec.Ensemble([0.5], 2.0), [3.0], 1, taus, objective=objective, kind=kind)
    expected = ((3.0 - np.array(taus)) / 2.0) ** power
    np.testing.assert_allclose(curve.costs, expected, rtol=1e-5)
    assert all(status is Status.OPTIMAL for status in curve.statuses)


@pytest.mark.parametrize("objective", ["energy", "fuel", "peak"])
def test_the_curve_rises_to_the_exact_plan(objective: str) -> None:
    curve = tradeoff(WORKED, GOAL, 6, objective=objective)
    exact = ec.steer(WORKED, GOAL, 6, objective=objective)
    assert curve.tolerances.size == 13
    assert all(plan.success and plan.certificate.verified for plan in curve.plans)
    assert curve.costs[0] == 0.0
    assert np.all(np.diff(curve.costs) >= -1e-6 * curve.costs[1:])
    assert curve.costs[-1] == pytest.approx(getattr(exact, objective), rel=1e-5)
    for tau, plan in zip(curve.tolerances, curve.plans, strict=True):
        assert plan.terminal_error <= tau * (1.0 + 1e-6) + plan.float_floor


def test_rms_costs_no_more_than_a_bound_for_each_member() -> None:
    taus = [0.3, 0.1, 0.01]
    each = tradeoff(WORKED, GOAL, 6, taus)
    rms = tradeoff(WORKED, GOAL, 6, taus, kind="rms")
    assert np.all(rms.costs <= each.costs * (1.0 + 1e-6))
    for tau, plan in zip(taus, rms.plans, strict=True):
        error = plan.states()[:, -1] - np.array(GOAL)
        assert np.sqrt(np.mean(error**2)) <= tau * (1.0 + 1e-6)


def test_points_agree_with_steer() -> None:
    limits = ec.Limits(u_max=2.6, slew_max=4.0)
    curve = tradeoff(WORKED, GOAL, 8, [0.2, 0.05], x0=[0.1, 0.2, 0.3], limits=limits)
    for tau, cost in zip(curve.tolerances, curve.costs, strict=True):
        direct = ec.steer(WORKED, GOAL, 8, x0=[0.1, 0.2, 0.3], limits=limits, tol=tau)
        assert cost == pytest.approx(direct.energy, rel=1e-5)


def test_impossible_tolerances_are_proved() -> None:
    curve = tradeoff(WORKED, GOAL, 6, [0.5, 0.1, 1e-3], limits=ec.Limits(u_max=2.0))
    assert [status.name for status in curve.statuses] == ["OPTIMAL", "OPTIMAL", "INFEASIBLE"]
    assert curve.plans[2].certificate.verified
    assert curve.costs[2] == np.inf
    assert curve.finest == 0.1


def test_the_program_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []
    original = solving.compile_program

    def counted(problem: Any) -> Any:
        compiled.append(problem)
        return original(problem)

    monkeypatch.setattr(solving, "compile_program", counted)
    curve = tradeoff(WORKED, GOAL, 6, np.geomspace(0.5, 1e-4, 10))
    assert all(status.success for status in curve.statuses)
    assert len(compiled) == 1


def test_tolerances_are_sorted_and_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    curve = tradeoff(
        WORKED, GOAL, 6, [0.1, 0.5], progress=lambda done, total: seen.append((done, total))
    )
    assert curve.tolerances.tolist() == [0.5, 0.1]
    assert seen == [(1, 2), (2, 2)]


def test_text_and_dictionary() -> None:
    curve = tradeoff(WORKED, GOAL, 6, [0.5, 0.1, 1e-3], limits=ec.Limits(u_max=2.0))
    assert len(str(tradeoff(WORKED, GOAL, 6)).splitlines()) <= 12
    assert "infeasible" in str(curve)
    data = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert data["costs"][2] == "inf"
    assert data["statuses"][2] == "infeasible"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"kind": "max"}, "kind"),
        ({"tolerances": [0.1, 0.0]}, "tolerances"),
        ({"tolerances": [np.nan]}, "tolerances"),
        ({"tolerances": []}, "tolerances"),
        ({"target": [1.0]}, "target"),
        ({"target": [0.0, 0.0, 0.0]}, "target"),
        ({"x0": [1.0]}, "x0"),
        ({"horizon": 0}, "horizon"),
        ({"objective": "time"}, "objective"),
        ({"progress": "yes"}, "progress"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], named: str) -> None:
    arguments: dict[str, Any] = {"target": GOAL, "horizon": 6} | change
    with pytest.raises(ec.InvalidInputError, match=f"^{named} must"):
        tradeoff(WORKED, arguments.pop("target"), arguments.pop("horizon"), **arguments)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_drawn_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_of(True, 2, "sweep") as report:
        report(1)
    assert capsys.readouterr() == ("", "")
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress_of(True, 2, "sweep") as report:
        report(2)
    assert "sweep" in screen.getvalue()
    assert capsys.readouterr().out == ""
