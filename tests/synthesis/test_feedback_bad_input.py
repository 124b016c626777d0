"""Feedback design and control of arguments of the wrong kind or size: one error of the package."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import ensctl as ec
from ensctl.errors import EnsctlError, InvalidInputError, PrecisionError

_ENS = ec.Ensemble([0.2, 0.5, 0.8], c=1.0)
_STRANGE: list[Any] = [
    None,
    object(),
    "a",
    [],
    [[]],
    {},
    [1.0, None, 2.0],
    np.nan,
    [np.inf, 1.0, 2.0],
    1j,
    [1j, 2.0, 3.0],
    10**400,
    1e308,
    [-1e308, 1e308, 0.0],
    -1.0,
    1e-300,
    1e-320,
    np.ones(2),
    np.array([1, 2, 3], dtype=object),
    np.zeros((3, 3)),
    -np.eye(3),
    np.ones((3, 0)),
]


def _controlled(**changes: Any) -> ec.MPCState:
    given = {"reference": 1.0, "x": np.ones(3)} | {
        name: changes.pop(name) for name in ("reference", "x", "target") if name in changes
    }
    limits = changes.pop("limits", ec.Limits(u_max=0.5))
    mpc = ec.MPC(_ENS, changes.pop("horizon", 5), limits, **changes)
    state = mpc.init()
    for _ in range(2):
        state = mpc.step(state, **given)[1]
    return state


def _with_output(value: Any) -> ec.MPCState:
    estimator = ec.AggregateEstimator(_ENS, measurement_noise=0.1)
    mpc = ec.MPC(_ENS, 5, estimator=estimator)
    return mpc.step(mpc.step(mpc.init())[1], output=value)[1]


_POLICY = ec.lq_tracker(_ENS, 3, 1.0)
_ENTRIES = {
    "place": lambda v: ec.place(_ENS, v),
    "observer_gain": lambda v: ec.observer_gain(_ENS, v),
    "lqr Q": lambda v: ec.lqr(_ENS, v),
    "lqr R": lambda v: ec.lqr(_ENS, 1.0, v),
    "lqr cost": lambda v: ec.lqr(_ENS).cost(v),
    "tracker horizon": lambda v: ec.lq_tracker(_ENS, v, 1.0),
    "tracker reference": lambda v: ec.lq_tracker(_ENS, 2, v),
    "tracker track": lambda v: ec.lq_tracker(_ENS, 2, 1.0, track=v),
    "cost to go": _POLICY.cost_to_go,
    "run": _POLICY.run,
    "disturbed run": lambda v: _POLICY.run(0.0, disturbance=v),
    "mpc horizon": lambda v: _controlled(horizon=v),
    "mpc limits": lambda v: _controlled(limits=v),
    "mpc estimator": lambda v: _controlled(estimator=v),
    "mpc measured": lambda v: _controlled(measured=v),
    "mpc state": lambda v: ec.MPC(_ENS, 5).step(v, x=np.ones(3)),
    "mpc output": _with_output,
    **{
        f"mpc {name}": lambda v, name=name: _controlled(**{name: v})
        for name in (
            "reference",
            "x",
            "target",
            "output_weight",
            "state_weight",
            "terminal_weight",
            "input_weight",
            "slew_weight",
        )
    },
}


@pytest.mark.parametrize("name", _ENTRIES)
def test_strange_values_give_an_answer_or_one_error(name: str) -> None:
    for value in _STRANGE:
        try:
            found = _ENTRIES[name](value)
        except EnsctlError as error:
            assert len(str(error)) > 20
            continue
        if hasattr(found, "to_dict"):
            json.dumps(found.to_dict(), allow_nan=False)


def test_cheap_control_of_stable_members_starts_from_no_gain() -> None:
    cheap = ec.lqr(ec.Ensemble([0.5, 0.9]), 1.0, 1e-20)
    assert cheap.residual < 1e-12 and cheap.spectral_radius < 1
    np.testing.assert_allclose(cheap.gain, ec.lqr(ec.Ensemble([0.5, 0.9]), 1.0, 1e-9).gain, 1e-8)
    for Q, R in ((1e300, 1.0), (1.0, 1e-300)):
        with pytest.raises(PrecisionError, match="too far apart"):
            ec.lqr(ec.Ensemble([0.5, 1.9]), Q, R)
    with pytest.raises(PrecisionError) as caught:
        ec.lqr(ec.Ensemble([1.2, 1.2 + 1e-6, 0.9]))
    assert "nan" not in str(caught.value)


def test_achieved_poles_of_large_populations_are_not_tried() -> None:
    lam = np.linspace(-0.9, 0.9, 200)
    found = ec.place(ec.Ensemble(lam), 0.95 * lam)
    assert found.achieved_poles is None and found.gain_error < 1e-15


def test_tracking_runs_are_told_in_two_lines() -> None:
    run = _POLICY.run(1.0)
    assert len(str(run).splitlines()) == 2 and "predicted" in str(run)
    assert json.loads(json.dumps(run.to_dict(), allow_nan=False))["kind"] == "tracking_run"


def test_static_gain_beyond_float64() -> None:
    with pytest.raises(PrecisionError, match="k must be below"):
        ec.static_output_gain(_ENS).spectral_radius(1e308)


@pytest.mark.parametrize(("lam", "horizon"), [(1.3, 60), (1.3, 100), (1.5, 900)])
def test_horizons_over_which_an_unstable_member_grows_too_much(lam: float, horizon: int) -> None:
    # At (1.3, 60) a condensed plan starts with an input that is off by 1e-3, residual 2e-16.
    with pytest.raises(InvalidInputError, match=r"member 0 over .* shorten the horizon"):
        ec.MPC(ec.Ensemble([lam, 0.5, 0.8], c=1.0), horizon, input_weight=1e-2)


@pytest.mark.parametrize(("lam", "horizon"), [(1.5, 20), (1.1, 60), (0.99, 200)])
def test_first_input_is_that_of_the_riccati_recursion(lam: float, horizon: int) -> None:
    ens, x = ec.Ensemble([lam, 0.5, 0.8], c=1.0), [0.1, 1.0, 2.0]
    mpc = ec.MPC(ens, horizon, input_weight=1e-2)
    u, _ = mpc.step(mpc.init(), x=x)
    exact = ec.lq_tracker(ens, horizon, 0.0, 1.0, 1e-2).input(0, x)[0]
    assert u == pytest.approx(exact, rel=1e-9)


def test_states_of_another_controller_are_refused() -> None:
    short, long = (ec.MPC(_ENS, h, ec.Limits(u_max=1.0)) for h in (4, 9))
    _, state = long.step(long.init(), x=np.ones(3), reference=99.0)
    with pytest.raises(InvalidInputError, match="another one"):
        short.step(state, x=np.ones(3))
    two = ec.MPC(ec.Ensemble([0.2, 0.5, 0.8], np.ones((3, 2)), 1.0), 4, ec.Limits(u_max=1.0))
    with pytest.raises(InvalidInputError, match="another one"):
        short.step(two.init(), x=np.ones(3))


def test_a_constant_member_removes_the_offset_of_model_and_meter() -> None:
    ens = ec.Ensemble([0.3, 0.7, 0.9], c=1.0 / 3)
    model = ec.Ensemble([*ens.lam, 1.0], [1.0, 1.0, 1.0, 0.0], [*ens.c, 1.0])
    noise = [1e-8, 1e-8, 1e-8, 1e-4]
    estimator = ec.AggregateEstimator(model, process_noise=noise, measurement_noise=1e-6)
    mpc = ec.MPC(model, 20, ec.Limits(u_max=1.0), estimator=estimator, input_weight=1e-6)
    plant, state, measured = ec.Simulator(ens), mpc.init(), None
    for _ in range(100):
        u, state = mpc.step(state, reference=1.0, output=measured)
        measured = float(plant.output) + 0.2
        plant.step(u + 0.03)
    assert float(plant.output) + 0.2 == pytest.approx(1.0, abs=1e-5)
