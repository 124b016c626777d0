"""The robots themselves: their motion, their frame, how many steps their turn rates ask for."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ensctl as ec
from ensctl.simulation import Swarm
from ensctl.simulation.swarm_phases import PHASE_ERROR, moments, phases
from ensctl.simulation.swarm_rates import horizon_rule, locked_robots


def step_by_step(swarm: Swarm, speeds: Any) -> Any:
    """The recursion as it is written, one robot and one step at a time."""
    path = np.empty((swarm.size, len(speeds) + 1), dtype=complex)
    for i in range(swarm.size):
        z = complex(swarm.positions[i])
        path[i, 0] = z
        for t, v in enumerate(speeds):
            angle = float(swarm.headings[i]) + float(swarm.turn_rates[i]) * t
            z += v * complex(math.cos(angle), math.sin(angle))
            path[i, t + 1] = z
    return path


@pytest.fixture
def swarm() -> Swarm:
    return Swarm.scattered(7, seed=4)


def test_trajectories_follow_the_recursion(swarm: Swarm) -> None:
    speeds = np.random.default_rng(1).standard_normal(40)
    path = swarm.trajectories(speeds)
    assert np.abs(path - step_by_step(swarm, speeds)).max() < 1e-13
    assert np.array_equal(path[:, 0], swarm.positions)
    assert np.abs(path[:, -1] - swarm.final_positions(speeds)).max() < 1e-13


def test_turning_frame_is_the_ensemble(swarm: Swarm) -> None:
    speeds = np.random.default_rng(2).standard_normal(30)
    ens = swarm.to_ensemble()
    states = swarm.body_frame(swarm.positions, 0)
    for v in speeds:
        states = ens.lam * states + ens.gains[:, 0] * v
    final = swarm.final_positions(speeds)
    assert np.abs(swarm.plane(states, 30) - final).max() < 1e-13
    assert np.abs(swarm.body_frame(final, 30) - states).max() < 1e-13
    assert ec.controllability(ens, 14, real_inputs=True).reachable
    assert not ec.controllability(ens, 13, real_inputs=True).reachable


def test_phases_are_right_to_two_ulps_after_many_turns() -> None:
    rates = np.array([0.1, math.pi / 2, 3.0, 1e-9, 1e5])
    times = np.array([0.5, 2399.5, 123456.0])
    cos, sin = phases(rates, times)
    with mpmath.workdps(40):
        for i, rate in enumerate(rates.tolist()):
            for k, time in enumerate(times.tolist()):
                angle = mpmath.mpf(rate) * mpmath.mpf(time)
                assert abs(mpmath.cos(angle) - float(cos[i, k])) <= PHASE_ERROR
                assert abs(mpmath.sin(angle) - float(sin[i, k])) <= PHASE_ERROR


def test_moments_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    rates, sequences = np.linspace(0.1, 3.0, 11), np.random.default_rng(0).random((2, 50))
    whole = moments(rates, sequences)
    monkeypatch.setattr("ensctl.simulation.swarm_phases._CHUNK", 120)
    assert np.abs(moments(rates, sequences) - whole).max() < 1e-14
    direct = sequences @ np.exp(1j * rates * np.arange(50)[:, None])
    assert np.abs(whole - direct).max() < 1e-12


@given(st.integers(1, 60))
def test_equispaced_rates_need_two_steps_a_robot(count: int) -> None:
    rule = horizon_rule(Swarm.scattered(count, jitter=0.0).turn_rates)
    assert rule.least == rule.steps == 2 * count
    assert rule.gap == pytest.approx(math.pi / count)


@given(st.integers(1, 60), st.integers(0, 1000))
def test_a_quarter_of_jitter_needs_at_most_four_steps_a_robot(count: int, seed: int) -> None:
    rule = Swarm.scattered(count, jitter=0.25, seed=seed).horizon_rule
    assert 2 * count <= rule.steps <= 4 * count


def test_the_gap_counts_mirror_images_and_goes_round_the_circle() -> None:
    # 0.01 and its mirror image −0.01; π − 0.001 and −π + 0.001; 2π + 1 and 1.002.
    assert horizon_rule(np.array([0.01, 1.5])).gap == pytest.approx(0.02)
    near_half_a_turn = horizon_rule(np.array([1.5, math.pi - 0.001]))
    assert near_half_a_turn.gap == pytest.approx(0.002)
    assert near_half_a_turn.closest == (1, 1)
    wrapped = horizon_rule(np.array([2.0 * math.pi + 1.0, 2.5, 1.002]))
    assert wrapped.gap == pytest.approx(0.002)
    assert wrapped.closest == (0, 2)


def test_locked_robots_are_found_exactly() -> None:
    assert locked_robots(np.array([0.5, 0.7, -0.5, 0.0, 1.0])) == (0, 2, 3)
    assert locked_robots(np.array([0.3, 0.1 + 0.2])) == ()


def test_rows_and_complex_numbers_are_the_same_places() -> None:
    rows = Swarm([0.5, 1.0], 0.0, [[1, 2], [3, -4]])
    assert np.array_equal(rows.positions, [1 + 2j, 3 - 4j])
    assert np.array_equal(Swarm([0.5, 1.0], 0.0, [1 + 2j, 3 - 4j]).positions, rows.positions)
    assert not rows.positions.flags.writeable
    assert len(rows) == rows.size == 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (([], 0.0, []), "turn_rates"),
        (([0.5, math.nan], 0.0, [0, 1]), "turn_rates must be finite"),
        (([0.5j, 1.0], 0.0, [0, 1]), "turn_rates must be real"),
        (([1e7, 1.0], 0.0, [0, 1]), "reduce them modulo 2π"),
        (([0.5, 1.0], [0.0, 1.0, 2.0], [0, 1]), "headings must have 2 entries"),
        (([0.5, 1.0], 0.0, [0, 1, 2]), "positions must have 2 entries"),
        (([0.5, 1.0], 0.0, [0, math.inf]), "positions must be finite"),
        (([0.5, 1.0], 0.0, np.zeros((2, 3))), "positions must be"),
    ],
)
def test_wrong_robots_are_refused(arguments: tuple[Any, ...], named: str) -> None:
    with pytest.raises(ec.InvalidInputError, match=named):
        Swarm(*arguments)


@pytest.mark.parametrize(
    ("count", "options"),
    [(0, {}), (3, {"jitter": 0.5}), (3, {"jitter": -0.1}), (3, {"spread": -1}), (3, {"seed": -1})],
)
def test_wrong_blobs_are_refused(count: int, options: dict[str, Any]) -> None:
    with pytest.raises(ec.InvalidInputError):
        Swarm.scattered(count, **options)


def test_trajectories_that_do_not_fit_are_refused_with_numbers(
    swarm: Swarm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ensctl.simulation.swarm._MOST_BYTES", 2**20)
    with pytest.raises(ec.InvalidInputError, match=r"7 robots × 10001 steps; ask"):
        swarm.trajectories(np.zeros(10**4))
