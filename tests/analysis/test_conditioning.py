"""Conditioning: the table of the theory, energies, both verdicts, distances, advice."""

import json
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensctl as ec

# N, κ2 and worst unit-state energy at H = N of λ = linspace(.1, .9, N), b = 1, recomputed in
# 120-digit arithmetic (table of the project's theory notes, section "Two verdicts").
EQUISPACED = [
    (8, 1.2004e6, 1.141e11),
    (10, 1.0609e8, 7.143e14),
    (15, 8.6414e12, 3.191e24),
    (20, 7.6001e17, 1.865e34),
    (25, 6.9577e22, 1.257e44),
    (30, 6.5272e27, 9.252e53),
]


@pytest.mark.parametrize(("size", "cond", "energy"), EQUISPACED)
def test_equispaced_table(size, cond, energy):
    result = ec.conditioning(ec.families.equispaced(size, 0.1, 0.9))
    assert result.cond == pytest.approx(cond, rel=1e-4)
    assert result.worst_energy == pytest.approx(energy, rel=1e-3)
    assert result.verdict.reachable


@pytest.mark.parametrize(
    ("family", "size", "cond"),
    [
        ("equispaced", 10, 8496.6),
        ("equispaced", 20, 1.1141e9),
        ("equispaced", 30, 1.7239e14),
        ("chebyshev", 10, 2553.6),
        ("chebyshev", 20, 3.1111e7),
        ("chebyshev", 30, 4.0546e11),
    ],
)
def test_better_nodes(family, size, cond):
    lam = np.linspace(-0.9, 0.9, size)
    if family == "chebyshev":
        lam = 0.9 * np.cos((2 * np.arange(size) + 1) * np.pi / (2 * size))
    assert ec.conditioning(ec.Ensemble(lam)).cond == pytest.approx(cond, rel=1e-4)


def test_one_ulp_apart_is_reachable_and_impractical():
    result = ec.conditioning(ec.Ensemble([0.3, 0.1 + 0.2]))
    assert result.verdict.reachable
    assert result.cond == pytest.approx(3.9271e16, rel=1e-4)
    assert result.worst_energy == pytest.approx(7.075e32, rel=1e-3)
    assert not result.practical.practical
    assert result.float_floor > 1.0
    assert "impractical" in str(result)


def test_near_pair():
    result = ec.conditioning(ec.Ensemble([0.5, 0.50000001]))
    assert result.cond == pytest.approx(2.5e8, rel=1e-2)
    assert result.nearest.members == (0, 1)


def test_locked_members_leave_the_rest_with_numbers():
    result = ec.conditioning(ec.Ensemble([0.3, 0.3, 0.9]))
    assert not result.verdict.reachable
    assert result.cond == math.inf
    assert result.worst_energy == math.inf
    assert result.worst_target is None
    assert result.practical is None
    assert result.log10_cond_of_range == pytest.approx(
        ec.conditioning(ec.Ensemble([0.3, 0.9], [math.sqrt(2.0), 1.0]), 3).log10_cond, rel=1e-12
    )
    assert list(np.isinf(result.energy_per_member)) == [True, True, False]
    assert any("drop or merge" in line for line in result.advice)


def test_horizon_shorter_than_the_ensemble():
    result = ec.conditioning(ec.families.equispaced(6, 0.1, 0.9), 4)
    assert result.singular_values.size == 4
    assert result.cond == math.inf
    assert np.all(np.isinf(result.energy_per_member))
    assert any("at least 6 steps" in line for line in result.advice)


def energies_in_high_precision(lam, gains, horizon):
    """Diagonal of W_H^{-1} in 400-digit arithmetic."""
    gains = np.asarray(gains, dtype=complex).reshape(len(lam), -1)
    with mp.workdps(400):
        node = [mp.mpmathify(complex(x)) for x in lam]
        size = len(node)
        w = mp.matrix(size, size)
        for i in range(size):
            for j in range(size):
                product = sum(
                    mp.mpmathify(complex(x)) * mp.conj(mp.mpmathify(complex(y)))
                    for x, y in zip(gains[i], gains[j], strict=True)
                )
                q = node[i] * mp.conj(node[j])
                w[i, j] = product * sum(q**k for k in range(horizon))
        inverse = w**-1
        return [mp.re(inverse[i, i]) for i in range(size)]


@settings(max_examples=25)
@given(size=st.integers(1, 6), extra=st.integers(0, 6), seed=st.integers(0, 2**32 - 1))
def test_member_energies_lie_within_their_bounds(size, extra, seed):
    """Gains over twelve decades make some members easy and some hard to move."""
    rng = np.random.default_rng(seed)
    lam, b = rng.uniform(-1.1, 1.1, size), 10.0 ** rng.uniform(-6, 6, size)
    result = ec.conditioning(ec.Ensemble(lam, b), size + extra)
    truth = energies_in_high_precision(lam, b, size + extra)
    for log10, bound, want in zip(
        result.log10_energy_per_member, result.energy_error_bounds, truth, strict=True
    ):
        assert bound <= 1e-6
        error = abs(10 ** (log10 - float(mp.log10(want))) - 1)
        assert error <= bound + 1e-12


@pytest.mark.parametrize("horizon", [4, 9])
def test_several_channels(horizon):
    rng = np.random.default_rng(4)
    lam, gains = rng.uniform(-1, 1, 6), rng.standard_normal((6, 2))
    result = ec.conditioning(ec.Ensemble(lam, gains), horizon)
    blocks = [gains[:, [k]] * lam[:, None] ** np.arange(horizon) for k in range(2)]
    dense = np.linalg.svd(np.hstack(blocks), compute_uv=False)
    np.testing.assert_allclose(result.singular_values, dense, rtol=1e-10)
    truth = [float(mp.log10(x)) for x in energies_in_high_precision(lam, gains, horizon)]
    np.testing.assert_allclose(result.log10_energy_per_member, truth, atol=1e-10)
    assert result.log10_worst_energy >= max(truth)
    assert result.practical.log10_energy == pytest.approx(result.log10_worst_energy, abs=1e-9)


def test_certify_gives_the_same_singular_values():
    ens = ec.families.equispaced(12, -0.9, 0.9)
    plain, certified = ec.conditioning(ens, 20), ec.conditioning(ens, 20, certify=True)
    np.testing.assert_allclose(plain.singular_values, certified.singular_values, rtol=1e-13)


def test_infinite_horizon():
    lam = np.linspace(0.1, 0.9, 10)
    result = ec.conditioning(ec.Ensemble(lam), math.inf)
    assert result.practical is None
    assert result.lam_tolerance == 0.0
    long = ec.conditioning(ec.Ensemble(lam), 600)
    np.testing.assert_allclose(result.log10_singular_values, long.log10_singular_values, atol=1e-12)
    np.testing.assert_allclose(
        result.log10_energy_per_member, long.log10_energy_per_member, atol=1e-9
    )


def test_real_inputs_on_complex_members_have_the_singular_values_of_the_real_map():
    rng = np.random.default_rng(8)
    lam = 0.9 * np.exp(2j * np.pi * rng.random(3))
    b = rng.standard_normal(3) + 1j * rng.standard_normal(3)
    result = ec.conditioning(ec.Ensemble(lam, b), 9, real_inputs=True)
    matrix = b[:, None] * lam[:, None] ** np.arange(9)
    stacked = np.vstack([matrix.real, matrix.imag])
    np.testing.assert_allclose(
        result.singular_values, np.linalg.svd(stacked, compute_uv=False), rtol=1e-11
    )
    worst = np.concatenate([result.worst_target.real, result.worst_target.imag])
    assert np.linalg.norm(worst) == pytest.approx(1.0)
    cost = np.linalg.norm(np.linalg.pinv(stacked) @ worst) ** 2
    assert cost == pytest.approx(result.worst_energy, rel=1e-9)
    unit = np.zeros(6)
    unit[0] = 1.0
    assert np.linalg.norm(np.linalg.pinv(stacked) @ unit) ** 2 == pytest.approx(
        result.energy_per_member[0], rel=1e-9
    )


def test_a_conjugate_pair_under_real_inputs_moves_together():
    ens = ec.Ensemble([0.5 + 0.5j, 0.5 - 0.5j, 0.2])
    result = ec.conditioning(ens, 5, real_inputs=True)
    matrix = ens.lam[:, None] ** np.arange(5)
    pair = np.linalg.norm(np.linalg.pinv(matrix) @ np.array([1, 1, 0])) ** 2
    assert result.energy_per_member[0] == pytest.approx(pair, rel=1e-10)
    assert result.energy_per_member[1] == pytest.approx(pair, rel=1e-10)


def test_practical_directions_stop_growing():
    """σ of 200 real members: a few dozen lie above float64's resolution (Beckermann–Townsend)."""
    result = ec.conditioning(ec.families.equispaced(200, 0.0, 1.0))
    assert 15 <= result.directions(1e-16) <= 56


def test_bounds_that_apply_hold():
    result = ec.conditioning(ec.families.equispaced(12, 0.1, 0.9))
    lower = [b for b in result.bounds if b.quantity == "cond_2" and b.kind == "lower"]
    assert lower
    assert all(b.log10_value <= result.log10_cond for b in lower)


def test_dictionary_is_json_without_nan():
    for ens in (ec.Ensemble([0.3, 0.3, 0.9]), ec.Ensemble([0.5, -0.5]), ec.Ensemble([0.5j, 0.1])):
        text = json.dumps(ec.conditioning(ens).to_dict(), allow_nan=False)
        assert json.loads(text)["schema"] == 1


def test_text_is_short_and_begins_with_the_verdict():
    text = str(ec.conditioning(ec.families.equispaced(5, 0.1, 0.9)))
    assert text.startswith("reachable")
    assert len(text.splitlines()) <= 12


@pytest.mark.parametrize(
    ("horizon", "message"),
    [(0, "horizon must be an integer ≥ 1"), (2.5, "got 2.5"), ("3", "got '3'"), (True, "got True")],
)
def test_bad_horizons(horizon, message):
    with pytest.raises(ec.InvalidInputError, match=message):
        ec.conditioning(ec.Ensemble([0.1, 0.2]), horizon)


def test_a_million_members_are_refused_with_the_numbers():
    ens = ec.Ensemble(np.linspace(0.0, 0.9, 10**6))
    with pytest.raises(ec.InvalidInputError, match=r"lam has 1000000 members.*ens\.subset"):
        ec.conditioning(ens)


def test_infinite_horizon_needs_stable_members():
    with pytest.raises(ec.InvalidInputError, match=r"member 1 has .*give a number of steps"):
        ec.conditioning(ec.Ensemble([0.5, 1.0]), math.inf)


def test_huge_nodes_are_refused():
    with pytest.raises(ec.InvalidInputError, match="rescale"):
        ec.conditioning(ec.Ensemble([1e200, 0.1]))


@pytest.mark.parametrize(
    ("lam", "horizon"),
    [
        ([3.0, -2.5, 1.1, 0.4], 1400),
        ([1.2, 1.1, 0.5], 9000),
        ([1e100, 2.0, 0.1], 20),
    ],
)
def test_growth_far_beyond_float64(lam, horizon):
    """|λ|^H up to 1e2000: exponents carry it through σ, energies and the practical verdict."""
    result = ec.conditioning(ec.Ensemble(lam), horizon)
    assert np.all(np.isfinite(result.log10_singular_values))
    assert np.all(np.isfinite(result.log10_energy_per_member))
    assert result.log10_worst_energy >= result.log10_energy_per_member.max() - 1e-9
    assert math.isfinite(result.practical.log10_energy)


@pytest.mark.parametrize(
    ("lam", "b"),
    [
        ([0.4, -0.4, 0.7, 0.2], [1e-150, 1e150, 1.0, 1e-17]),
        ([0.0, 1e-160, 1e-300, 0.5, -0.5], 1.0),
        ([0.1, 0.2], 1e200),
        ([0.1, 0.2], [1.7e308, 1.0]),
    ],
)
def test_extreme_gains_and_nodes_give_numbers(lam, b):
    result = ec.conditioning(ec.Ensemble(lam, b), 6)
    assert 0.0 <= result.distance.lower_bound <= result.distance.value
    assert result.distance.value <= result.structured_distance.value * (1 + 1e-12)
    json.dumps(result.to_dict(), allow_nan=False)


def test_a_list_is_not_an_ensemble():
    for function in (ec.conditioning, ec.controllability, ec.practicality, ec.report, ec.gramian):
        with pytest.raises(ec.InvalidInputError, match=r"ens must be an Ensemble, got list"):
            function([0.1, 0.2])


def test_several_channels_with_singular_blocks():
    gains = [[0, 1], [1, 0], [0, -1], [-1, -1]]
    result = ec.conditioning(ec.Ensemble([0.2, 0.2, 0.8, 0.8], gains))
    assert 0.0 <= result.distance.lower_bound <= result.distance.value


def test_infinite_horizon_decides_the_unit_circle_exactly():
    """|λ|² of doubles near the circle is compared with 1 as a rational, not a rounded |λ|."""
    from fractions import Fraction

    angles = np.linspace(0.1, 3.0, 400)
    decided = set()
    for z in (np.cos(angles) + 1j * np.sin(angles)).tolist():
        inside = Fraction(z.real) ** 2 + Fraction(z.imag) ** 2 < 1
        decided.add(inside)
        if inside:
            assert ec.conditioning(ec.Ensemble([z]), math.inf).singular_values[0] > 1e6
        else:
            with pytest.raises(ec.InvalidInputError, match="horizon must be finite"):
                ec.conditioning(ec.Ensemble([z]), math.inf)
    assert decided == {True, False}
