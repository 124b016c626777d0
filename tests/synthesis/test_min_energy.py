"""Minimum-energy inputs: references, worked numbers, exact simulation, refusals."""

import json
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensctl as ec


def from_hex(pairs):
    values = np.array([complex(float.fromhex(re), float.fromhex(im)) for re, im in pairs])
    return values if np.any(values.imag) else values.real


def energy_in_high_precision(lam, gains, target, horizon, x0, digits=400):
    """d* (A A*)^{-1} d with every double taken as exact."""
    gains = np.asarray(gains).reshape(len(lam), -1)
    with mp.workdps(digits):
        node = [mp.mpmathify(complex(z)) for z in lam]
        a = mp.matrix(len(node), horizon * gains.shape[1])
        for i, z in enumerate(node):
            for c in range(gains.shape[1]):
                for k in range(horizon):
                    a[i, c * horizon + k] = mp.mpmathify(complex(gains[i, c])) * z**k
        goal = [mp.mpmathify(complex(x)) for x in target]
        start = [mp.mpmathify(complex(x)) for x in x0]
        d = mp.matrix([g - z**horizon * s for g, z, s in zip(goal, node, start, strict=True)])
        return mp.re((d.H * mp.lu_solve(a * a.H, d))[0])


def relative_error(plan, truth):
    with mp.workdps(60):
        got = mp.ldexp(mp.mpf(plan.energy_mantissa), plan.energy_exponent)
        return float(abs(got / truth - 1))


def test_reference_energies_of_both_targets(reference):
    """17 sets, a random and an easy target each: right, or certified because float64 is not."""
    certified = 0
    for case in reference("ensembles")["cases"]:
        ens = ec.Ensemble(from_hex(case["lam"]), from_hex(case["b"]))
        for kind, entry in case["min_energy"].items():
            target = [float.fromhex(value) for value in entry["target"]]
            plan = ec.min_energy(ens, target, case["H"])
            error = relative_error(plan, mp.mpf(entry["energy"]))
            # The reference itself is printed to 20 digits.
            assert error <= plan.relative_error_bound + 1e-19, (case["name"], kind)
            assert plan.relative_error_bound <= 1e-10
            certified += plan.certified
    assert 8 <= certified <= 20


@pytest.mark.parametrize(
    ("horizon", "norms"),
    [
        (3, (14.108705, 22.666667, 10.833333)),
        (4, (8.203259, None, None)),
        (6, (5.134121, None, None)),
        (10, (3.858708, None, None)),
    ],
)
def test_worked_numbers(horizon, norms):
    """λ = (.3, .6, .9), x_f = (1, 0, .5); the first norm is the least one at each horizon."""
    plan = ec.min_energy(ec.Ensemble([0.3, 0.6, 0.9]), [1, 0, 0.5], horizon)
    assert math.sqrt(plan.energy) == pytest.approx(norms[0], abs=5e-7)
    if norms[1] is not None:
        assert np.abs(plan.inputs).sum() == pytest.approx(norms[1], abs=5e-7)
        assert np.abs(plan.inputs).max() == pytest.approx(norms[2], abs=5e-7)


@pytest.mark.parametrize(
    ("horizon", "energy"),
    [
        (3, Fraction(3583, 18)),
        (4, Fraction(794350475, 11804274)),
        (6, Fraction(467661026686812500, 17741854345908249)),
    ],
)
def test_rational_energies(horizon, energy):
    """The rationals belong to decimal λ; rounding λ to doubles moves the energy by κ ε."""
    plan = ec.min_energy(ec.Ensemble([0.3, 0.6, 0.9]), [1, 0, 0.5], horizon, certify=True)
    assert plan.energy == pytest.approx(float(energy), rel=2e-14)


@settings(max_examples=40)
@given(
    size=st.integers(1, 5),
    extra=st.integers(0, 4),
    channels=st.integers(1, 2),
    complex_set=st.booleans(),
    moving=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_energies_stay_within_their_bounds(size, extra, channels, complex_set, moving, seed):
    rng = np.random.default_rng(seed)
    lam = rng.uniform(-1.1, 1.1, size)
    if complex_set:
        lam = lam * np.exp(2j * np.pi * rng.random(size))
    gains = rng.standard_normal((size, channels))
    target = rng.standard_normal(size)
    x0 = rng.standard_normal(size) if moving else np.zeros(size)
    horizon = size + extra
    plan = ec.min_energy(ec.Ensemble(lam, gains), target, horizon, x0)
    truth = energy_in_high_precision(lam, gains, target, horizon, x0)
    assert relative_error(plan, truth) <= plan.relative_error_bound <= 1e-10


def simulate_exactly(lam, b, inputs, x0):
    state = [Fraction(float(x)) for x in x0]
    for u in inputs:
        state = [
            Fraction(float(z)) * x + Fraction(float(g)) * Fraction(float(u))
            for z, g, x in zip(lam, b, state, strict=True)
        ]
    return state


@pytest.mark.parametrize("size", [3, 8, 15])
def test_realisability_error_is_what_an_exact_simulation_finds(size):
    lam, b = np.linspace(0.1, 0.9, size), np.ones(size)
    target, x0 = np.cos(np.arange(size)), np.sin(np.arange(size))
    plan = ec.min_energy(ec.Ensemble(lam), target, 2 * size, x0)
    reached = simulate_exactly(lam, b, plan.inputs, x0)
    error = max(abs(float(x - Fraction(float(t)))) for x, t in zip(reached, target, strict=True))
    assert plan.realisability_error == pytest.approx(error, rel=2e-6)


def test_exact_inputs_hit_a_target_that_rounded_ones_miss():
    """N = 25 on [0, 1]: ‖u‖ = 6e19, so rounding u to float64 moves the end state by thousands."""
    lam = np.linspace(0, 1, 25)
    target = np.cos(3.0 * np.arange(25))
    plan = ec.min_energy(ec.Ensemble(lam), target, 25)
    assert plan.realisability_error > 1.0
    real, imag = plan.exact_inputs()
    assert not np.any(imag)
    state = [Fraction(0)] * 25
    for u in real:
        state = [Fraction(float(z)) * x + u for z, x in zip(lam, state, strict=True)]
    error = max(abs(float(x - Fraction(float(t)))) for x, t in zip(state, target, strict=True))
    assert error < 1e-12
    high, low = plan.paired_inputs()
    pairs = [Fraction(float(h)) + Fraction(float(s)) for h, s in zip(high, low, strict=True)]
    assert max(abs(float(p / u - 1)) for p, u in zip(pairs, real, strict=True)) < 1e-30


def test_several_channels_have_one_row_a_channel():
    rng = np.random.default_rng(6)
    lam, gains = rng.uniform(-0.9, 0.9, 5), rng.standard_normal((5, 2))
    plan = ec.min_energy(ec.Ensemble(lam, gains), np.ones(5), 4)
    assert plan.inputs.shape == (2, 4)
    state = np.zeros(5)
    for u in plan.inputs.T:
        state = lam * state + gains @ u
    np.testing.assert_allclose(state, 1.0, rtol=1e-9)
    matrix = ec.reachability_matrix(ec.Ensemble(lam, gains), 4)
    shortest = np.linalg.pinv(matrix) @ np.ones(5)
    np.testing.assert_allclose(plan.inputs.T.ravel(), shortest, rtol=1e-7)


def test_conjugate_data_have_real_inputs():
    lam = [0.5 + 0.5j, 0.5 - 0.5j, 0.2]
    plan = ec.min_energy(ec.Ensemble(lam), [1 + 2j, 1 - 2j, 0.5], 5)
    assert plan.real
    assert np.isrealobj(plan.inputs)
    assert np.iscomplexobj(ec.min_energy(ec.Ensemble(lam), [1 + 2j, 1 + 2j, 0.5], 5).inputs)


def test_real_inputs_on_complex_members_are_the_least_real_ones():
    """Turning robots: 2N real equations in H real inputs."""
    rng = np.random.default_rng(2)
    lam = np.exp(2j * np.pi * rng.random(4))
    target = rng.standard_normal(4) + 1j * rng.standard_normal(4)
    plan = ec.min_energy(ec.Ensemble(lam, lam), target, 20, real_inputs=True)
    matrix = lam[:, None] * lam[:, None] ** np.arange(20)[::-1]
    stacked = np.vstack([matrix.real, matrix.imag])
    shortest = np.linalg.pinv(stacked) @ np.concatenate([target.real, target.imag])
    np.testing.assert_allclose(plan.inputs, shortest, rtol=1e-9)
    assert plan.energy == pytest.approx(shortest @ shortest, rel=1e-12)


def test_locked_members_are_named_unless_they_ask_for_the_same():
    ens = ec.Ensemble([0.3, 0.3, 0.9], [1.0, 2.0, 1.0])
    with pytest.raises(ec.NotReachableError, match="members 0 and 1") as caught:
        ec.min_energy(ens, [1, 1, 0], 5)
    assert caught.value.members == (0, 1)
    plan = ec.min_energy(ens, [1, 2, 0], 5)
    assert plan.realisability_error < 1e-12
    # 3 · 0.1 is not 0.3 in doubles: a difference by rounding is no contradiction.
    wide = ec.Ensemble([0.3, 0.3, 0.9], [1.0, 3.0, 1.0])
    assert ec.min_energy(wide, [0.1, 0.3, 0], 5).realisability_error < 1e-15


def test_dead_members_are_named_unless_they_drift_there():
    ens = ec.Ensemble([0.5, 0.8], [1.0, 0.0])
    with pytest.raises(ec.NotReachableError, match="member 1 cannot be moved") as caught:
        ec.min_energy(ens, [1, 1], 3)
    assert caught.value.members == (1,)
    plan = ec.min_energy(ens, [1, 0.8**3], 3, [0, 1])
    assert plan.realisability_error < 1e-15


def test_a_short_horizon_serves_the_targets_it_can():
    ens = ec.Ensemble([0.2, 0.5, 0.8])
    plan = ec.min_energy(ens, [2.2, 2.5, 2.8], 2)
    np.testing.assert_allclose(plan.inputs, [1.0, 2.0], rtol=1e-12)
    with pytest.raises(ec.NotReachableError, match="at least 3 steps"):
        ec.min_energy(ens, [1, 0, 0], 2)


def test_nothing_to_do():
    plan = ec.min_energy(ec.Ensemble([0.2, 0.5]), [0, 0], 3)
    assert plan.energy == 0.0
    assert plan.log10_energy == -math.inf
    assert not np.any(plan.inputs)


def test_inputs_beyond_float64_are_exact_or_refused():
    lam = 0.5 + 1e-13 * np.arange(30)
    plan = ec.min_energy(ec.Ensemble(lam), np.cos(np.arange(30.0)), 30)
    assert plan.log10_energy > 616
    assert plan.energy == math.inf
    with pytest.raises(ec.PrecisionError, match="exact_inputs"):
        _ = plan.inputs
    assert max(abs(value) for value in plan.exact_inputs()[0]) > 10**300


def test_never_certify_gives_the_bound_or_refuses():
    ens = ec.Ensemble(np.linspace(0.1, 0.9, 12))
    easy = ec.min_energy(ens, np.ones(12), 12, certify=False)
    assert not easy.certified
    assert abs(easy.energy - 1.0) <= easy.relative_error_bound
    with pytest.raises(ec.PrecisionError, match="certify='auto'"):
        ec.min_energy(ec.Ensemble(np.linspace(0.1, 0.9, 30)), np.ones(30), 30, certify=False)


def test_dictionary_and_text():
    plan = ec.min_energy(ec.Ensemble([0.2, 0.5]), [1, 2], 3)
    assert json.loads(json.dumps(plan.to_dict(), allow_nan=False))["kind"] == "min_energy"
    assert str(plan).startswith("reached in 3 steps")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], 3), "target must have 2 entries, got 1"),
        (([1.0, math.nan], 3), "target must be finite, got nan at index 1"),
        (([1.0, 2.0], 0), "horizon must be an integer ≥ 1, got 0"),
        (([1.0, 2.0], 2.0), "horizon must be an integer ≥ 1, got 2.0"),
        (([1.0, 2.0], 3, [1.0, 2.0, 3.0]), "x0 must have 2 entries, got 3"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ec.InvalidInputError, match=message):
        ec.min_energy(ec.Ensemble([0.1, 0.2]), *arguments)


def test_bad_certify():
    with pytest.raises(ec.InvalidInputError, match="certify must be"):
        ec.min_energy(ec.Ensemble([0.1]), [1.0], 1, certify="maybe")


@pytest.mark.parametrize(
    ("lam", "b", "target", "horizon", "x0"),
    [
        # Entries of the factors are 1e-40 and smaller: they count when the displacement is graded.
        ([0.25, 2.5], 1.0, [0.0, 0.0], 300, [1.0, 1.0]),
        ([0.3, 0.6, 0.9], [1e20, 1.0, 1e-21], [0.09e20, 0.36, 0.81e-21], 6, 0.0),
        # Close members brought to rest: digits cancel in the inverse of L itself.
        ([0.11, 0.32, 0.33, 0.37, 0.39, 0.44, 0.48, 0.79, 0.87, 0.99], 1.0, [0.0] * 10, 30, 1.0),
    ],
)
def test_graded_displacements_stay_within_their_bounds(lam, b, target, horizon, x0):
    ens = ec.Ensemble(lam, b)
    plan = ec.min_energy(ens, target, horizon, x0)
    truth = ec.min_energy(ens, target, horizon, x0, certify=True)
    assert abs(plan.energy / truth.energy - 1) <= plan.relative_error_bound + 1e-15
