"""Steering within limits: worked numbers, certificates, exact limits, refusals with reasons."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensctl as ec
from ensctl.convex.infeasibility import InfeasibilityCertificate
from ensctl.status import Status

WORKED = ec.Ensemble([0.3, 0.6, 0.9])
TARGET = [1, 0, 0.5]


@pytest.mark.parametrize(
    ("horizon", "two", "one", "largest"),
    [
        (3, 14.108705, 22.666667, 10.833333),
        (4, 8.203259, 13.62963, 5.443886),
        (6, 5.134121, 9.8738, 2.468502),
        (10, 3.858708, 9.309892, 1.525033),
    ],
)
def test_worked_norms(horizon, two, one, largest):
    """λ = (.3, .6, .9), b = 1, x_f = (1, 0, .5): least ℓ2, ℓ1 and ℓ∞ norms, all digits given."""
    energy = ec.steer(WORKED, TARGET, horizon)
    fuel = ec.steer(WORKED, TARGET, horizon, objective="fuel")
    peak = ec.steer(WORKED, TARGET, horizon, objective="peak")
    assert math.sqrt(energy.energy) == pytest.approx(two, abs=5.1e-7)
    assert fuel.fuel == pytest.approx(one, abs=5.1e-7)
    assert peak.peak == pytest.approx(largest, abs=5.1e-7)
    for plan in (energy, fuel, peak):
        assert plan.success
        assert plan.certificate.verified
        assert plan.terminal_error <= 10 * plan.float_floor
    assert np.count_nonzero(np.abs(fuel.inputs) > 1e-9) <= 3


@pytest.mark.parametrize("size", range(4, 16))
def test_alternating_targets_where_raw_solvers_fail(size):
    """λ = linspace(.1, .9, N), H = 2N: OSQP fails from N = 8, Clarabel at 10, SCS at 12."""
    ens = ec.families.equispaced(size, 0.1, 0.9)
    target = np.where(np.arange(size) % 2, -1.0, 1.0)
    plan = ec.steer(ens, target, 2 * size)
    assert plan.success
    assert plan.terminal_error <= 10 * plan.float_floor
    least = ec.min_energy(ens, target, 2 * size)
    assert plan.energy == pytest.approx(least.energy, rel=1e-4)


def smallest_peak(ens, target, horizon):
    """min max|u| as a linear program, given straight to HiGHS: independent of the package."""
    from scipy.optimize import linprog

    matrix = ens.gains[:, [0]] * ens.lam[:, None] ** np.arange(horizon)[::-1]
    if np.iscomplexobj(matrix):
        matrix = np.vstack([matrix.real, matrix.imag])
        target = np.concatenate([np.real(target), np.imag(target)])
    cost = np.zeros(horizon + 1)
    cost[-1] = 1.0
    both = np.vstack([np.eye(horizon), -np.eye(horizon)])
    found = linprog(
        cost,
        A_ub=np.column_stack([both, -np.ones(2 * horizon)]),
        b_ub=np.zeros(2 * horizon),
        A_eq=np.column_stack([matrix, np.zeros(matrix.shape[0])]),
        b_eq=target,
        bounds=[(None, None)] * (horizon + 1),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0
    return found.fun


def decision_problem(kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "real":
        size, horizon = int(rng.integers(2, 7)), int(rng.integers(8, 30))
        lam = np.sort(rng.uniform(-0.95, 0.95, size))
        return ec.Ensemble(lam, rng.uniform(0.5, 2, size)), rng.standard_normal(size), horizon
    size, horizon = int(rng.integers(3, 9)), int(rng.integers(30, 70))
    angles = np.pi * (np.arange(size) + 0.5 + rng.uniform(-0.25, 0.25, size)) / size
    lam = np.exp(1j * angles)
    target = rng.standard_normal(size) + 1j * rng.standard_normal(size)
    return ec.Ensemble(lam, lam), target, horizon


@pytest.mark.parametrize("kind", ["real", "circle"])
@pytest.mark.parametrize("seed", range(12))
def test_feasibility_decisions_around_the_smallest_peak(kind, seed):
    """2 · 12 · 8 = 192 decisions at ū/ū*: none wrong, limits hold exactly, every no is proved."""
    ens, target, horizon = decision_problem(kind, seed)
    least = smallest_peak(ens, target, horizon)
    for factor in (0.9, 0.99, 0.999, 1.001, 1.01, 1.05, 1.2, 1.5):
        limit = factor * least
        plan = ec.steer(
            ens, target, horizon, limits=ec.Limits(u_max=limit), real_inputs=True, throw=False
        )
        if factor < 1:
            assert plan.status is Status.INFEASIBLE, factor
            assert isinstance(plan.certificate, InfeasibilityCertificate)
            assert plan.certificate.verified
            matrix = ens.gains[:, [0]] * ens.lam[:, None] ** np.arange(horizon)[::-1]
            if np.iscomplexobj(matrix):
                eta = plan.certificate.eta
                half = eta.size // 2
                gain = eta[:half] @ np.real(target) + eta[half:] @ np.imag(target)
                reach = eta[:half] @ matrix.real + eta[half:] @ matrix.imag
            else:
                gain = plan.certificate.eta @ target
                reach = plan.certificate.eta @ matrix
            assert gain > limit * np.abs(reach).sum()
        else:
            assert plan.success, factor
            assert plan.peak <= limit
            assert plan.terminal_error <= 100 * plan.float_floor


def test_advice_names_the_smallest_limit_and_the_members():
    with pytest.raises(ec.InfeasibleError, match=r"smallest u_max at this horizon is 2\.4685") as e:
        ec.steer(WORKED, TARGET, 6, limits=ec.Limits(u_max=2.4))
    assert "member 0" in str(e.value)
    assert "with these limits 7 steps are enough" in str(e.value)
    assert ec.steer(WORKED, TARGET, 7, limits=ec.Limits(u_max=2.4)).success
    assert e.value.certificate.verified


def test_every_kind_of_limit_holds():
    limits = ec.Limits(u_max=2.4, slew_max=4.0, state_max=4.0, output_max=2.0)
    for objective in ("energy", "fuel", "peak"):
        plan = ec.steer(WORKED, TARGET, 14, limits=limits, objective=objective)
        states = plan.states()
        assert plan.peak <= 2.4
        assert np.abs(np.diff(plan.inputs)).max() <= 4.0 * (1 + 1e-6)
        assert np.abs(states[:, 1:]).max() <= 4.0 * (1 + 1e-6)
        assert np.abs(states[:, 1:].mean(axis=0)).max() <= 2.0 * (1 + 1e-6)
        assert plan.terminal_error <= 1e-6
        assert plan.certificate.verified


def test_one_sided_and_per_step_limits():
    upper = np.linspace(4.0, 3.0, 8)
    feasible = np.array([0.5, 3.0, 0.0, 1.0, 2.0, 0.1, 2.5, 1.0])
    target = ec.reachability_matrix(WORKED, 8) @ feasible
    plan = ec.steer(WORKED, target, 8, limits=ec.Limits(u_min=0.0, u_max=upper))
    assert plan.energy < feasible @ feasible
    assert np.all(plan.inputs >= 0.0)
    assert np.all(plan.inputs <= upper)
    assert plan.success


def test_tolerances():
    exact = ec.steer(WORKED, TARGET, 6)
    member = ec.steer(WORKED, TARGET, 6, tol=0.01)
    rms = ec.steer(WORKED, TARGET, 6, tol=ec.Rms(0.01))
    mixed = ec.steer(WORKED, TARGET, 6, tol=[0.1, 0.01, 0.01])
    error = np.abs(mixed.states()[:, -1] - np.array(TARGET))
    assert member.terminal_error <= 0.01 * (1 + 1e-6)
    assert math.sqrt(np.mean((rms.states()[:, -1] - np.array(TARGET)) ** 2)) <= 0.01 * (1 + 1e-6)
    assert np.all(error <= np.array([0.1, 0.01, 0.01]) * (1 + 1e-6))
    assert mixed.energy < member.energy < exact.energy
    assert rms.energy < exact.energy


def test_terminal_cost_is_ridge_regression():
    plan = ec.steer(WORKED, TARGET, 6, tol=ec.TerminalCost(50.0))
    matrix = ec.reachability_matrix(WORKED, 6)
    ridge = np.linalg.solve(
        np.eye(6) + 50.0 * matrix.T @ matrix, 50.0 * matrix.T @ np.array(TARGET)
    )
    np.testing.assert_allclose(plan.inputs, ridge, rtol=1e-9)


def test_tolerance_where_members_cannot_be_told_apart():
    """60 members, κ beyond 1e60: a smooth target is within reach of a few directions."""
    ens = ec.families.equispaced(60, 0.1, 0.9)
    plan = ec.steer(ens, ens.lam**2, 40, tol=1e-3)
    assert plan.success
    assert plan.terminal_error <= 1e-3 * (1 + 1e-6)
    locked = ec.Ensemble([0.5, 0.5, 0.8])
    shared = ec.steer(locked, [1.0, 1.1, 0.0], 6, tol=0.06)
    assert shared.terminal_error <= 0.06 * (1 + 1e-6)


def test_rms_that_no_input_reaches_is_refused_with_the_number():
    with pytest.raises(ec.NotReachableError, match=r"RMS error below 0\.5"):
        ec.steer(ec.Ensemble([0.5, 0.5]), [0.0, 1.0], 3, tol=ec.Rms(0.1))


def test_complex_inputs_are_limited_in_modulus():
    rng = np.random.default_rng(3)
    lam = 0.9 * np.exp(2j * np.pi * rng.random(4))
    target = rng.standard_normal(4) + 1j * rng.standard_normal(4)
    ens = ec.Ensemble(lam)
    free = ec.steer(ens, target, 12, objective="peak")
    assert np.iscomplexobj(free.inputs)
    limited = ec.steer(ens, target, 12, limits=ec.Limits(u_max=1.02 * free.peak))
    assert limited.peak <= 1.02 * free.peak
    assert limited.terminal_error < 1e-6
    no = ec.steer(ens, target, 12, limits=ec.Limits(u_max=0.98 * free.peak), throw=False)
    assert no.status is Status.INFEASIBLE
    with pytest.raises(ec.InvalidInputError, match="u_min needs real inputs"):
        ec.steer(ens, target, 12, limits=ec.Limits(u_min=-1.0, u_max=1.0))


def test_conjugate_data_give_real_inputs():
    lam = [0.5 + 0.5j, 0.5 - 0.5j, 0.2]
    plan = ec.steer(ec.Ensemble(lam), [1 + 2j, 1 - 2j, 0.5], 8, limits=ec.Limits(u_max=3.0))
    assert np.isrealobj(plan.inputs)
    assert plan.terminal_error <= 10 * plan.float_floor


def test_several_channels():
    rng = np.random.default_rng(0)
    ens = ec.Ensemble(rng.uniform(-0.9, 0.9, 5), rng.standard_normal((5, 2)))
    for objective in ("energy", "fuel", "peak"):
        plan = ec.steer(ens, np.ones(5), 6, objective=objective, limits=ec.Limits(u_max=3.0))
        assert plan.inputs.shape == (2, 6)
        assert plan.peak <= 3.0
        assert plan.terminal_error < 1e-8
    per_channel = np.array([[1.5] * 6, [3.0] * 6])
    plan = ec.steer(ens, np.ones(5), 6, limits=ec.Limits(u_max=per_channel))
    assert np.all(np.abs(plan.inputs) <= per_channel)


def test_initial_state():
    plan = ec.steer(WORKED, [0, 0, 0], 5, x0=[1, -2, 3], limits=ec.Limits(u_max=4.0))
    np.testing.assert_array_equal(plan.states()[:, 0], [1, -2, 3])
    assert np.abs(plan.states()[:, -1]).max() <= 10 * plan.float_floor


@settings(max_examples=30)
@given(
    size=st.integers(1, 5),
    horizon=st.integers(5, 15),
    seed=st.integers(0, 2**32 - 1),
    share=st.floats(1.02, 1.9),
)
def test_newton_agrees_with_a_cone_solver(size, horizon, seed, share):
    rng = np.random.default_rng(seed)
    lam = np.linspace(-0.9, 0.9, size) + rng.uniform(-0.05, 0.05, size)
    ens, target = ec.Ensemble(lam), rng.standard_normal(size)
    least = ec.steer(ens, target, horizon, objective="peak").peak
    limits = ec.Limits(u_max=share * least)
    newton = ec.steer(ens, target, horizon, limits=limits)
    cone = ec.steer(ens, target, horizon, limits=limits, solver="CLARABEL")
    assert newton.solver == "Newton"
    assert newton.energy == pytest.approx(cone.energy, rel=1e-6)


def test_resolving_equals_solving_afresh():
    problem = ec.steer_problem(
        WORKED, 8, objective="fuel", limits=ec.Limits(u_max=3.0, state_max=4.0)
    )
    for target, x0 in (([1, 0, 0.5], 0.0), ([0, 0, 1], [1, 1, 1]), ([0.2, 0.1, 0], [0, 0, 2])):
        again = problem.solve(target, x0)
        fresh = ec.steer(WORKED, target, 8, x0=x0, objective="fuel", limits=problem.limits)
        assert again.fuel == pytest.approx(fresh.fuel, rel=1e-7)


def test_locked_and_dead_members_are_named():
    ens = ec.Ensemble([0.3, 0.3, 0.9], [1.0, 2.0, 0.0])
    no = ec.steer(ens, [1, 1, 0], 5, throw=False)
    assert no.status is Status.NOT_REACHABLE
    assert no.members == (0, 1)
    with pytest.raises(ec.NotReachableError, match="members 0 and 1"):
        _ = no.inputs
    yes = ec.steer(ens, [1, 2, 0], 5, limits=ec.Limits(u_max=2.0))
    assert yes.success


def test_too_ill_conditioned_for_float64_says_so():
    plan = ec.steer(ec.families.equispaced(30, 0.1, 0.9), np.cos(np.arange(30)), 30, throw=False)
    assert plan.status is Status.PRECISION_LIMITED
    with pytest.raises(ec.PrecisionError):
        _ = plan.inputs


def test_files_and_response(tmp_path):
    plan = ec.steer(WORKED, TARGET, 6, limits=ec.Limits(u_max=3.0))
    data = json.loads(plan.to_file(tmp_path / "plan.json").read_text())
    assert data["kind"] == "steering_plan"
    assert data["inputs"] == plan.inputs.tolist()
    lines = plan.to_file(tmp_path / "plan.csv").read_text().splitlines()
    assert lines[0] == "time,u"
    assert [float(line.split(",")[1]) for line in lines[1:]] == plan.inputs.tolist()
    response = plan.to_response()
    assert response.time.size == 7
    np.testing.assert_allclose(np.squeeze(response.states), plan.states())
    with pytest.raises(ec.InvalidInputError, match=r"\.json or \.csv"):
        plan.to_file(tmp_path / "plan.xlsx")
    refused = ec.steer(WORKED, TARGET, 6, limits=ec.Limits(u_max=2.0), throw=False)
    text = json.dumps(refused.to_dict(), allow_nan=False)
    assert json.loads(text)["certificate"]["verified"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"u_max": 0.0}, "u_max must be > 0, got 0"),
        ({"u_max": -1.0}, "u_max must be > 0, got -1"),
        ({"u_max": math.nan}, "u_max must be finite"),
        ({"u_min": 2.0, "u_max": 1.0}, "u_min must be ≤ u_max"),
        ({"slew_max": 0.0}, "slew_max must be > 0"),
        ({"state_max": [1.0, -1.0]}, "state_max must be > 0"),
        ({"u_max": 1j}, "u_max must be real"),
    ],
)
def test_bad_limits(arguments, message):
    with pytest.raises(ec.InvalidInputError, match=message):
        ec.Limits(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": [1.0]}, "target must have 3 entries, got 1"),
        ({"target": [1.0, math.nan, 0.0]}, "target must be finite"),
        ({"horizon": 0}, "horizon must be an integer ≥ 1"),
        ({"objective": "speed"}, "objective must be one of 'energy', 'fuel', 'peak'"),
        ({"tol": 0.0}, "tol must be > 0"),
        ({"tol": [0.1, 0.1]}, "tol must be a scalar"),
        ({"limits": 2.0}, "limits must be ec.Limits"),
        ({"limits": ec.Limits(u_max=[1.0, 2.0])}, "u_max must be a scalar"),
        ({"limits": ec.Limits(state_max=[1.0, 2.0])}, "state_max must be a scalar or have 3"),
        ({"solver": "NOPE"}, "solver"),
    ],
)
def test_bad_arguments(arguments, message):
    call = {"target": TARGET, "horizon": 6, **arguments}
    with pytest.raises(ec.InvalidInputError, match=message):
        ec.steer(WORKED, call.pop("target"), call.pop("horizon"), **call)


def test_short_horizon():
    no = ec.steer(WORKED, TARGET, 2, throw=False)
    assert no.status is Status.NOT_REACHABLE
    assert "at least 3 steps" in no.message


def test_a_conjugate_pair_in_one_step():
    """λ = ±i, x_1 = (1, 1): one real input of 1 does it; (1, −1) needs two steps."""
    ens = ec.Ensemble([1j, -1j])
    plan = ec.steer(ens, [1, 1], 1)
    np.testing.assert_allclose(plan.inputs, [1.0], rtol=1e-14)
    no = ec.steer(ens, [1 + 1j, 1 - 1j], 1, throw=False)
    assert no.status is Status.NOT_REACHABLE
    assert ec.steer(ens, [1 + 1j, 1 - 1j], 2).success


def test_a_tolerance_on_complex_members_is_proved_infeasible():
    lam = np.array([0.5j, -0.5j, 0.5])
    target = np.array([3.0 + 1j, 3.0 - 1j, -3.0])
    ens = ec.Ensemble(lam)
    no = ec.steer(ens, target, 4, tol=0.01, limits=ec.Limits(u_max=0.5), throw=False)
    assert no.status is Status.INFEASIBLE
    assert no.certificate.verified
    yes = ec.steer(ens, target, 8, tol=0.01)
    assert np.abs(yes.states()[:, -1] - target).max() <= 0.01 * (1 + 1e-6)


def test_nobody_can_move():
    ens = ec.Ensemble([0.5, 0.8], 0.0)
    plan = ec.steer(ens, [0.05, 0.05], 3, tol=0.1)
    assert plan.success
    assert plan.peak == 0.0
    with pytest.raises(ec.NotReachableError, match="end further"):
        ec.steer(ens, [0.5, 0.05], 3, tol=0.1)
    exact = ec.steer(ens, [0.125, 0.512], 3, x0=[1, 1], limits=ec.Limits(u_min=0.5, u_max=1.0))
    assert list(exact.inputs) == [0.5, 0.5, 0.5]


def test_complex_moduli_respect_the_limit_as_numpy_computes_them():
    rng = np.random.default_rng(12)
    lam = 0.9 * np.exp(2j * np.pi * rng.random(5))
    target = rng.standard_normal(5) + 1j * rng.standard_normal(5)
    peak = ec.steer(ec.Ensemble(lam), target, 30, objective="peak").peak
    for factor in (1.001, 1.05, 1.3):
        plan = ec.steer(ec.Ensemble(lam), target, 30, limits=ec.Limits(u_max=factor * peak))
        assert np.all(np.abs(plan.inputs) <= factor * peak)


def test_free_motion_beyond_float64():
    ens = ec.Ensemble([4.0, 0.5])
    no = ec.steer(ens, [0, 0], 600, x0=[1, 1], throw=False)
    assert no.status is Status.PRECISION_LIMITED
    assert "min_energy" in no.message
    assert ec.min_energy(ens, [0, 0], 600, [1, 1]).energy == pytest.approx(15.0, rel=0.2)


def test_tolerances_bound_both_parts_at_complex_gains():
    """Real inputs move x along b only: what lies across cannot be met, whatever tol says."""
    ens = ec.Ensemble([0.5], [1 + 1j])
    with pytest.raises(ec.NotReachableError, match="tol is too small"):
        ec.steer(ens, [1 + 5j], 4, tol=0.1, real_inputs=True)
    plan = ec.steer(ens, [1 + 5j], 4, tol=3.0, real_inputs=True)
    assert plan.terminal_error <= 3.0 * (1 + 1e-6)


def test_a_pair_meets_the_smaller_of_its_two_tolerances():
    z = 0.5 + 0.2j
    plan = ec.steer(ec.Ensemble([z, z.conjugate()]), [1 + 1j, 1 - 1j], 4, tol=[0.5, 0.001])
    assert plan.terminal_error <= 0.001 * (1 + 1e-6)


def test_targets_need_not_be_conjugate_within_a_tolerance():
    z = 0.5 + 0.2j
    ens = ec.Ensemble([z, z.conjugate()])
    plan = ec.steer(ens, [1 + 1j, 1 - 1.05j], 6, tol=0.1, real_inputs=True)
    assert plan.terminal_error <= 0.1 * (1 + 1e-6)
    near = ec.steer(ec.Ensemble([0.5]), [1 + 1e-9j], 4, tol=0.1, real_inputs=True)
    assert near.terminal_error <= 0.1 * (1 + 1e-6)


def test_infeasible_state_limits_alone_are_proved():
    no = ec.steer(WORKED, TARGET, 6, limits=ec.Limits(state_max=0.5), throw=False)
    assert no.status is Status.INFEASIBLE
    assert no.certificate.verified


def test_locked_members_with_too_small_a_tolerance_are_named():
    ens = ec.Ensemble([0.5, 0.5, 0.3], names=["a", "b", "c"])
    with pytest.raises(ec.NotReachableError, match="a and b") as caught:
        ec.steer(ens, [1, 2, 3], 6, tol=0.1)
    assert caught.value.members == (0, 1)


def test_a_compiled_problem_takes_complex_initial_states():
    problem = ec.steer_problem(
        ec.Ensemble([0.5, 0.3 + 0.4j]),
        8,
        limits=ec.Limits(state_max=3.0),
        real_inputs=True,
        objective="peak",
        tol=0.2,
    )
    for x0 in ([0, 0], [0.1, 0.1j], [0, 0]):
        plan = problem.solve([1, 1 + 0.5j], x0)
        fresh = ec.steer(
            problem.ensemble,
            [1, 1 + 0.5j],
            8,
            x0=x0,
            limits=problem.limits,
            real_inputs=True,
            objective="peak",
            tol=0.2,
        )
        assert plan.peak == pytest.approx(fresh.peak, rel=1e-5)


def test_plans_and_problems_travel():
    import copy
    import pickle

    problem = ec.steer_problem(WORKED, 6, objective="fuel", limits=ec.Limits(u_max=2.4))
    no = problem.solve(TARGET, throw=False)
    assert pickle.loads(pickle.dumps(no)).message == no.message
    again = copy.deepcopy(problem).solve([0.1, 0, 0])
    assert again.fuel == pytest.approx(problem.solve([0.1, 0, 0]).fuel)
    assert pickle.loads(pickle.dumps(problem)).horizon == 6


def test_horizons_beyond_memory_are_refused_at_once():
    with pytest.raises(ec.InvalidInputError, match="shorter horizon"):
        ec.steer(WORKED, TARGET, 10**12)
    with pytest.raises(ec.InvalidInputError, match="shorter horizon"):
        ec.min_energy(WORKED, TARGET, 10**12)


def test_a_tolerance_below_rounding_is_not_claimed():
    ens = ec.families.equispaced(6, 0.1, 0.9)
    target = np.where(np.arange(6) % 2, -1.0, 1.0)
    plan = ec.steer(ens, target, 12, tol=ec.Rms(1e-14), throw=False)
    assert not plan.success or np.sqrt(np.mean((plan.states()[:, -1] - target) ** 2)) <= 1e-14 * (
        1 + 1e-6
    )
