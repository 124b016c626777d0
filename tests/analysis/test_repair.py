"""Repair advice and sampling curves: every option does what it says, with the κ it says."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import ensctl as ec
from ensctl.analysis.repair_moves import Box


def _cond(ens: ec.Ensemble, horizon: int) -> float:
    return ec.conditioning(ens, horizon).log10_cond


@pytest.fixture(scope="module")
def advice() -> ec.Repair:
    return ec.repair(ec.Ensemble(np.linspace(0.1, 0.9, 6)), 1e3, 12)


def test_each_option_has_the_condition_number_it_says(advice: ec.Repair) -> None:
    assert advice.needed
    assert advice.log10_cond == pytest.approx(_cond(advice.ensemble, 12), abs=1e-12)
    for option in advice.options:
        assert option.log10_cond == pytest.approx(_cond(option.ensemble, option.horizon), abs=1e-12)
        assert option.reached == (option.log10_cond <= 3.0)


def test_move_stays_within_its_size_and_is_small(advice: ec.Repair) -> None:
    option = advice.option("move")
    assert option is not None and option.reached
    moved = np.abs(option.ensemble.lam - advice.ensemble.lam)
    assert float(moved.max()) == pytest.approx(option.amount, rel=1e-12)
    assert option.cond == pytest.approx(1e3, rel=0.05)


def test_drop_of_one_is_the_best_one() -> None:
    ens = ec.Ensemble([0.2, 0.5, 0.52, 0.8])
    option = ec.repair(ens, 200.0, 4, allow="drop").option("drop")
    assert option is not None and option.reached
    every = [_cond(ens.subset([i for i in range(4) if i != j]), 4) for j in range(4)]
    assert option.amount == 1
    assert option.log10_cond == pytest.approx(min(every), abs=1e-12)


def test_merge_takes_means() -> None:
    ens = ec.Ensemble([0.2, 0.5, 0.52, 0.8], [1.0, 1.0, 3.0, 1.0])
    option = ec.repair(ens, 500.0, allow=["merge"]).option("merge")
    assert option is not None and option.amount == 1
    assert sorted(option.ensemble.lam.tolist()) == pytest.approx([0.2, 0.51, 0.8])
    assert 2.0 in option.ensemble.b.tolist()


def test_resample_is_another_sampling_of_the_same_rates() -> None:
    fast = ec.Ensemble.from_continuous([-0.2, -1.0, -3.0], [1.0, 2.0, 1.0], 0.05)
    option = ec.repair(fast, 100.0, allow=["resample"]).option("resample")
    assert option is not None and option.reached and option.amount > 1
    slow = ec.Ensemble.from_continuous([-0.2, -1.0, -3.0], [1.0, 2.0, 1.0], 0.05 * option.amount)
    np.testing.assert_allclose(option.ensemble.lam, slow.lam, rtol=1e-12)
    np.testing.assert_allclose(option.ensemble.b, slow.b, rtol=1e-12)


def test_horizon_is_the_smallest() -> None:
    ens = ec.Ensemble(np.linspace(-0.9, 0.9, 6))
    option = ec.repair(ens, 70.0, allow=["horizon"]).option("horizon")
    assert option is not None and option.reached
    assert _cond(ens, option.horizon - 1) > option.log10_cond
    assert _cond(ens, option.horizon - 1) > math.log10(70.0)


def test_locked_members_are_moved_dropped_merged_or_given_a_channel() -> None:
    advice = ec.repair(ec.Ensemble([0.2, 0.5, 0.5, 0.8]), 600.0)
    assert advice.log10_cond == math.inf
    assert {option.kind for option in advice.reached} == {"move", "drop", "merge", "channel"}
    assert advice.option("resample") is None and advice.option("horizon") is None
    assert len(str(advice).splitlines()) <= 12
    assert json.loads(json.dumps(advice.to_dict()))["log10_cond"] == "inf"


def test_pairs_stay_pairs_and_stable_members_stable() -> None:
    lam = np.array([0.2 + 0.3j, 0.2 - 0.3j, 0.25 + 0.3j, 0.25 - 0.3j, 0.99])
    option = ec.repair(ec.Ensemble(lam), 100.0, 12, tolerance=0.2, allow=["move"]).option("move")
    assert option is not None
    moved = option.ensemble.lam
    assert moved[0] == np.conj(moved[1]) and moved[2] == np.conj(moved[3])
    assert moved[4].imag == 0 and abs(moved[4]) <= 0.995
    box = Box.of(lam, 0.05)
    x = np.linspace(0.1, 1.0, 10)
    slope = np.arange(1.0, 6.0) * (1 - 0.5j)
    _, along, around = box.moved(x)
    gradient = box.gradient(slope, along, around)
    for k in range(10):
        step = np.zeros(10)
        step[k] = 1e-6
        change = (box.moved(x + step)[0] - box.moved(x - step)[0]) / 2e-6
        assert gradient[k] == pytest.approx((slope * change).sum().real, abs=1e-9)


def test_nothing_to_repair() -> None:
    advice = ec.repair(ec.Ensemble([0.5, -0.5]), 10.0)
    assert not advice.needed and advice.options == ()
    assert str(advice).startswith("nothing to repair")


def test_silent_member_and_several_channels() -> None:
    silent = ec.repair(ec.Ensemble([0.2, 0.5], [1.0, 0.0]), 10.0, allow=["move", "drop"])
    assert [option.kind for option in silent.options] == ["drop"]
    assert silent.options[0].ensemble.lam.tolist() == [0.2]
    two = ec.Ensemble([0.2, 0.3, 0.31], [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    assert {option.kind for option in ec.repair(two, 5.0).options} == {
        "drop",
        "merge",
        "resample",
        "horizon",
    }


def test_sampling_curve_agrees_with_conditioning() -> None:
    curve = ec.sampling_curve([-0.2, -1.0, -3.0], dts=[2.0, 0.1, 0.8], horizon=5)
    assert curve.dts.tolist() == [0.1, 0.8, 2.0]
    for dt, log10_cond in zip(curve.dts, curve.log10_cond, strict=True):
        ens = ec.Ensemble.from_continuous([-0.2, -1.0, -3.0], 1.0, float(dt))
        assert log10_cond == pytest.approx(_cond(ens, 5), abs=1e-12)
    assert curve.best_dt == 0.8
    assert curve.within(10.0 ** curve.log10_cond.max()).size == 3
    assert len(str(curve).splitlines()) <= 12


def test_sampling_curve_sees_aliasing() -> None:
    curve = ec.sampling_curve([1j, -1j], dts=[1.0, math.pi])
    assert curve.log10_cond[0] < 1.0 < curve.log10_cond[1]
    equal = ec.sampling_curve([-800.0, -900.0], dts=[0.001, 2.0])
    assert equal.log10_cond[1] == math.inf
    assert json.loads(json.dumps(equal.to_dict()))["log10_cond"][1] == "inf"


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda ens: ec.repair([0.1], 10.0), "ens"),
        (lambda ens: ec.repair(ens, 0.5), "target_condition"),
        (lambda ens: ec.repair(ens, float("nan")), "target_condition"),
        (lambda ens: ec.repair(ens, 10.0, 0), "horizon"),
        (lambda ens: ec.repair(ens, 10.0, tolerance=0.0), "tolerance"),
        (lambda ens: ec.repair(ens, 10.0, allow=["pray"]), "allow"),
        (lambda ens: ec.repair(ec.Ensemble(np.linspace(0, 1, 101)), 10.0), "ens"),
        (lambda ens: ec.sampling_curve([-1.0, float("inf")]), "rates"),
        (lambda ens: ec.sampling_curve([-1.0], dts=[0.0]), "dts"),
        (lambda ens: ec.sampling_curve([-1.0], dts=[]), "dts"),
        (lambda ens: ec.sampling_curve([1.0], dts=[1e4]), "rates"),
        (lambda ens: ec.sampling_curve([-1.0], horizon=0), "horizon"),
    ],
)
def test_bad_input(call: Any, named: str) -> None:
    with pytest.raises(ec.InvalidInputError, match=named):
        call(ec.Ensemble([0.2, 0.3]))
