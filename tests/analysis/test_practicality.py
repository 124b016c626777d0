"""The practical verdict: float64 floor, λ-tolerance, actuator range and resolution."""

import math

import numpy as np
import pytest

import ensctl as ec

# N, terminal error of the best input rounded to float64, λ-tolerance at 1 %, for
# λ = linspace(.1, .9, N), target alternating ±1, H = 2N (project's theory notes).
ALTERNATING = [
    (8, 9.0e-13, 6.0e-6),
    (10, 1.5e-11, 1.0e-6),
    (12, 5.4e-10, 1.7e-7),
    (15, 6.6e-8, 1.1e-8),
]


def alternating(size):
    return ec.families.equispaced(size, 0.1, 0.9), np.where(np.arange(size) % 2, -1.0, 1.0)


@pytest.mark.parametrize(("size", "error", "tolerance"), ALTERNATING)
def test_alternating_targets(size, error, tolerance):
    ens, target = alternating(size)
    verdict = ec.practicality(ens, 2 * size, target=target)
    assert verdict.lam_tolerance == pytest.approx(tolerance, rel=0.06)
    # The floor is a bound of what one particular rounding left.
    assert error <= verdict.float_floor <= 60 * error
    assert verdict.practical


def test_the_floor_bounds_a_simulation_and_the_tolerance_predicts_one():
    ens, target = alternating(10)
    verdict = ec.practicality(ens, 20, target=target)
    matrix = ec.reachability_matrix(ens, 20)
    u = np.linalg.lstsq(matrix, target, rcond=None)[0]
    state = np.zeros(10)
    for value in u:
        state = ens.lam * state + value
    shifted = np.zeros(10)
    for value in u:
        shifted = (ens.lam + verdict.lam_tolerance) * shifted + value
    assert np.abs(shifted - target).max() == pytest.approx(0.01, rel=0.05)
    assert math.isclose(10**verdict.log10_energy, float(u @ u), rel_tol=1e-6)


def test_impractical_target_says_why():
    ens, target = alternating(25)
    verdict = ec.practicality(ens, target=target)
    assert not verdict.practical
    assert "rounding to float64 alone" in verdict.sentence


def test_easy_target_of_an_impossible_ensemble_is_practical():
    """x = (1, …, 1) is the last column of R: one input of 1 reaches it, whatever κ is."""
    verdict = ec.practicality(ec.families.equispaced(30, 0.1, 0.9), target=np.ones(30))
    assert verdict.practical
    assert verdict.log10_energy == pytest.approx(0.0, abs=1e-12)
    assert verdict.log10_peak == pytest.approx(0.0, abs=1e-12)


def test_actuator_range():
    ens = ec.Ensemble([0.3, 0.6, 0.9])
    free = ec.practicality(ens, 6, target=[1, 0, 0.5])
    peak = 10**free.log10_peak
    assert ec.practicality(ens, 6, target=[1, 0, 0.5], u_max=1.01 * peak).practical
    tight = ec.practicality(ens, 6, target=[1, 0, 0.5], u_max=0.99 * peak)
    assert not tight.practical
    assert "may still succeed" in tight.sentence
    hopeless = ec.practicality(ens, 6, target=[1, 0, 0.5], u_max=0.1 * peak)
    assert "no input" in hopeless.sentence


def test_resolution():
    ens = ec.Ensemble([0.3, 0.6, 0.9])
    coarse = ec.practicality(ens, 6, target=[1, 0, 0.5], resolution=0.1)
    assert coarse.float_floor == pytest.approx(0.05 * (1 - 0.9**6) / 0.1)
    assert not coarse.practical
    assert ec.practicality(ens, 6, target=[1, 0, 0.5], resolution=1e-4).practical


def test_initial_state_and_drift():
    ens = ec.Ensemble([0.5, 0.8])
    verdict = ec.practicality(ens, 4, target=np.power(ens.lam, 4), x0=[1.0, 1.0])
    assert verdict.practical
    assert verdict.log10_energy == -math.inf


def test_not_reachable():
    verdict = ec.practicality(ec.Ensemble([0.3, 0.3]))
    assert not verdict.practical
    assert "members 0 and 1" in verdict.sentence


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": [1.0]}, "target must have 2 entries, got 1"),
        ({"target": [1.0, math.nan]}, "target must be finite"),
        ({"u_max": 0.0}, "u_max must be > 0"),
        ({"resolution": -1.0}, "resolution must be > 0"),
        ({"tolerance": 1.5}, "tolerance must be < 1"),
        ({"x0": [1.0, 1.0]}, "target must be given"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ec.InvalidInputError, match=message):
        ec.practicality(ec.Ensemble([0.1, 0.2]), 4, **arguments)


@pytest.mark.parametrize(
    ("lam", "horizon", "log10_floor"),
    [([0.9, 1.05], 2000, -14.8), ([0.4, 3.0], 100, -6.95), ([0.5, 0.9, 1.05], 1000, -14.4)],
)
def test_unstable_members_need_every_digit_of_small_inputs(lam, horizon, log10_floor):
    """The floor of the documented formula in 600-digit arithmetic, to the digits shown."""
    verdict = ec.practicality(ec.Ensemble(lam), horizon)
    assert math.log10(verdict.float_floor) == pytest.approx(log10_floor, abs=0.06)
    assert verdict.practical


def test_growth_of_complex_members_gives_numbers():
    verdict = ec.practicality(ec.Ensemble([3e10 + 1e10j, 0.5]), 40)
    assert not math.isnan(verdict.log10_error)
    assert not math.isnan(verdict.log10_lam_tolerance)


def test_targets_that_real_inputs_cannot_mean_are_refused():
    ens = ec.Ensemble([0.5 + 0.2j, 0.5 - 0.2j])
    with pytest.raises(ec.InvalidInputError, match="members 0 and 1 ask for something else"):
        ec.practicality(ens, 20, target=[1j, 1j], real_inputs=True)
    assert ec.practicality(ens, 20, target=[1j, -1j], real_inputs=True).practical
