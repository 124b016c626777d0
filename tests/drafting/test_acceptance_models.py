"""Acceptance models against enumeration in exact fractions, against each other and by sampling."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import (
    IID,
    AcceptanceModel,
    Beta,
    Convention,
    DelayedGeometric,
    MarkovRenewal,
    Mixture,
    PerPosition,
    as_acceptance,
)
from ensctl.errors import InvalidInputError

_UNIT = st.floats(0.0, 1.0)
_DEPTHS = st.integers(0, 20)
_RUN = st.floats(1.0, 50.0)


@st.composite
def _models(draw: st.DrawFn) -> AcceptanceModel:
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return IID(draw(_UNIT))
    if kind == 1:
        return PerPosition(draw(st.lists(_UNIT, min_size=1, max_size=5)), tail=draw(_UNIT))
    if kind == 2:
        return Beta(draw(st.floats(0.01, 50.0)), draw(st.floats(0.01, 50.0)))
    if kind == 3:
        share = draw(_UNIT)
        return Mixture([share, 1.0 - share], [draw(_UNIT), Beta(2.0, 1.0)], mean_run=draw(_RUN))
    if kind == 4:
        return DelayedGeometric(draw(st.integers(0, 4)), draw(_UNIT))
    return MarkovRenewal(draw(_UNIT), draw(st.floats(0.001, 1.0)))


@given(_models(), _DEPTHS)
def test_survival_is_a_survival(model: AcceptanceModel, depth: int) -> None:
    survival, pmf = model.survival(depth), model.pmf(depth)
    assert survival.shape == pmf.shape == (depth + 1,)
    assert survival[0] == 1.0 and survival[-1] >= 0.0
    assert np.all(np.diff(survival) <= 1e-15)
    assert np.all(pmf >= 0) and pmf.sum() == pytest.approx(1.0, abs=1e-13)
    np.testing.assert_allclose(np.cumsum(pmf[::-1])[::-1], survival, atol=1e-13)
    hazards = model.hazards(depth)
    assert hazards.shape == (depth,) and np.all((hazards >= 0) & (hazards <= 1 + 1e-15))
    np.testing.assert_allclose(survival[:-1] * hazards, survival[1:], atol=1e-15)


@given(_models(), _DEPTHS)
def test_moments_agree_with_the_distribution(model: AcceptanceModel, depth: int) -> None:
    pmf, counts = model.pmf(depth), np.arange(depth + 1.0)
    lengths = {
        Convention.ACCEPTED: counts,
        Convention.COMMITTED: np.minimum(counts + 1.0, depth),
        Convention.WITH_BONUS: counts + 1.0,
    }
    for rule, length in lengths.items():
        mean = float(pmf @ length)
        variance = float(pmf @ length**2) - mean**2
        assert model.expected_length(depth, convention=rule) == pytest.approx(mean, abs=1e-11)
        assert model.variance(depth, convention=rule) == pytest.approx(variance, abs=1e-10)
        assert model.long_run_variance(depth, convention=rule) >= -1e-15


@given(_models(), st.integers(0, 12), st.sampled_from(list(Convention)))
def test_all_depths_at_once(model: AcceptanceModel, depth: int, rule: Convention) -> None:
    one_by_one = [model.expected_length(k, convention=rule) for k in range(depth + 1)]
    np.testing.assert_allclose(
        model.expected_lengths(depth, convention=rule), one_by_one, rtol=1e-13, atol=1e-13
    )


@given(_models(), st.integers(1, 12))
def test_conventions_differ_by_one_and_by_the_last_survival(
    model: AcceptanceModel, depth: int
) -> None:
    accepted, committed, with_bonus = (
        model.expected_length(depth, convention=rule) for rule in Convention
    )
    assert with_bonus == pytest.approx(accepted + 1.0, abs=1e-13)
    assert committed == pytest.approx(with_bonus - model.survival(depth)[-1], abs=1e-13)


@given(_models())
def test_off_is_one_unit_for_certain(model: AcceptanceModel) -> None:
    assert model.expected_length(0) == 1.0 and model.variance(0) == 0.0
    assert model.expected_length(0, convention="accepted") == 0.0
    assert model.long_run_variance(0) == 0.0 and model.variance_inflation(0) == 1.0
    np.testing.assert_array_equal(model.sample(4, 0, 0), [0, 0, 0, 0])


def test_second_moment_of_the_truncated_variable() -> None:
    # E[X²] = Σ_{x=0..K} (2x + 1) S(x) with X = 1 + N.
    model, depth = PerPosition([0.9, 0.6, 0.8, 0.3]), 4
    survival = model.survival(depth)
    second = float((2 * np.arange(depth + 1.0) + 1.0) @ survival)
    assert model.variance(depth) == pytest.approx(second - survival.sum() ** 2, rel=1e-13)


def test_beta_is_the_exact_mean_of_powers() -> None:
    a, b = Fraction(3, 2), Fraction(5, 4)
    exact = [Fraction(1)]
    for i in range(6):
        exact.append(exact[-1] * (a + i) / (a + b + i))
    np.testing.assert_allclose(Beta(1.5, 1.25).survival(6), [float(x) for x in exact], rtol=1e-15)
    # Against the integral, by Gauss–Jacobi through a fine mixture of i.i.d. contexts.
    from scipy.special import roots_jacobi

    nodes, weights = roots_jacobi(20, 0.25, 0.5)
    mixture = Mixture(weights / weights.sum(), [IID((1.0 + x) / 2.0) for x in nodes])
    np.testing.assert_allclose(mixture.survival(6), Beta(1.5, 1.25).survival(6), rtol=1e-12)


def test_special_cases_are_iid() -> None:
    iid = IID(0.6)
    for model in (
        PerPosition([0.6], tail=0.6),
        DelayedGeometric(0, 0.6),
        MarkovRenewal(0.6, 0.6),
        Mixture([0.3, 0.7], [0.6, 0.6], mean_run=9.0),
        Mixture([0.0, 1.0], [0.1, 0.6]),
    ):
        np.testing.assert_allclose(model.survival(7), iid.survival(7), rtol=1e-14)
        assert model.long_run_variance(7) == pytest.approx(iid.variance(7), rel=1e-13)
    assert PerPosition([1.0, 1.0], tail=0.4).survival(5) == pytest.approx(
        DelayedGeometric(2, 0.4).survival(5)
    )


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_ends_of_alpha_are_limits(alpha: float) -> None:
    for model in (IID(alpha), PerPosition([alpha] * 4), MarkovRenewal(alpha, alpha or 0.0)):
        assert model.expected_length(4) == 1.0 + 4 * alpha
        assert model.expected_length(4, convention="committed") == (4.0 if alpha else 1.0)
        assert model.variance(4) == 0.0 and model.long_run_variance(4) == 0.0
        np.testing.assert_array_equal(model.sample(5, 4, 1), np.full(5, 4 * int(alpha)))


def test_variance_keeps_its_digits_next_to_certain_acceptance() -> None:
    # K = 2, gap g: N = 2, 1, 0 with probabilities (1−g)², (1−g)g, g; Var = 5g − 8g² + … exactly.
    gap = Fraction(1, 2**40)
    unit = 1 - gap
    mean = unit + unit**2
    exact = (unit * gap + 4 * unit**2) - mean**2
    assert IID(float(unit)).variance(2) == pytest.approx(float(exact), rel=1e-12)


_SAMPLED = [
    IID(0.7),
    PerPosition([0.9, 0.5, 0.7, 0.2]),
    Beta(2.0, 1.5),
    Mixture([0.25, 0.75], [0.2, 0.8], mean_run=6.0),
    DelayedGeometric(2, 0.6),
    MarkovRenewal(0.9, 0.4),
    MarkovRenewal(0.3, 0.8),
]


@pytest.mark.parametrize("model", _SAMPLED, ids=lambda model: type(model).__name__)
def test_samples_have_the_stated_moments(model: AcceptanceModel) -> None:
    depth, cycles, block = 4, 200_000, 200
    counts = model.sample(cycles, depth, np.random.default_rng(7))
    assert counts.dtype == np.int64 and counts.min() >= 0 and counts.max() <= depth
    # Five standard errors of a correct sampler, with its own autocorrelation.
    error = np.sqrt(model.long_run_variance(depth) / cycles)
    assert abs(counts.mean() - model.expected_length(depth, convention="accepted")) < 5 * error
    shares = np.array([(counts >= j).mean() for j in range(depth + 1)])
    inflation = max(model.variance_inflation(depth), 1.0)
    np.testing.assert_allclose(
        shares, model.survival(depth), atol=5 * np.sqrt(0.25 * inflation / cycles)
    )
    totals = counts.reshape(-1, block).sum(axis=1)
    spread = totals.var(ddof=1) / block
    # The variance of a block mean of 1000 blocks is known to √(2/1000) = 4.5 %.
    assert spread == pytest.approx(model.long_run_variance(depth), rel=0.2)


def test_committed_samples_too() -> None:
    model, depth = MarkovRenewal(0.9, 0.3), 3
    counts = np.minimum(model.sample(400_000, depth, 3) + 1, depth)
    assert counts.mean() == pytest.approx(
        model.expected_length(depth, convention="committed"), abs=0.02
    )
    spread = counts.reshape(-1, 200).sum(axis=1).var(ddof=1) / 200
    assert spread == pytest.approx(model.long_run_variance(depth, convention="committed"), rel=0.15)


def test_samples_repeat_with_their_seed() -> None:
    for model in _SAMPLED:
        np.testing.assert_array_equal(model.sample(50, 4, 11), model.sample(50, 4, 11))
        assert model.sample(0, 4, 11).shape == (0,)


def test_contexts_held_longer_spread_totals_not_survival() -> None:
    short = Mixture([0.5, 0.5], [0.3, 0.9])
    held = Mixture([0.5, 0.5], [0.3, 0.9], mean_run=10.0)
    np.testing.assert_array_equal(short.survival(5), held.survival(5))
    assert short.independent and not held.independent
    difference = IID(0.9).expected_length(5) - IID(0.3).expected_length(5)
    between = 0.25 * difference**2
    assert held.long_run_variance(5) - short.long_run_variance(5) == pytest.approx(18 * between)


@pytest.mark.parametrize(
    "build",
    [
        lambda: IID(-0.1),
        lambda: IID(1.1),
        lambda: IID(float("nan")),
        lambda: IID("much"),
        lambda: PerPosition([]),
        lambda: PerPosition([0.5, 1.5]),
        lambda: PerPosition([[0.5]]),
        lambda: PerPosition([0.5], tail=2.0),
        lambda: PerPosition.from_survival([0.5, 0.6]),
        lambda: PerPosition([0.5, 0.4]).survival(3),
        lambda: Beta(0.0, 1.0),
        lambda: Beta(1.0, -1.0),
        lambda: Mixture([0.5, 0.6], [0.1, 0.2]),
        lambda: Mixture([1.5, -0.5], [0.1, 0.2]),
        lambda: Mixture([1.0], [0.1, 0.2]),
        lambda: Mixture([1.0], 0.1),
        lambda: Mixture([1.0], [0.1], mean_run=0.5),
        lambda: Mixture([1.0], [MarkovRenewal(0.5, 0.4)]),
        lambda: DelayedGeometric(-1, 0.5),
        lambda: DelayedGeometric(1.5, 0.5),
        lambda: MarkovRenewal(1.2, 0.5),
        lambda: MarkovRenewal(1.0, 0.0),
        lambda: IID(0.5).survival(-1),
        lambda: IID(0.5).sample(-1, 3),
        lambda: IID(0.5).sample(10, 3, "seed"),
        lambda: IID(0.5).sample(10, 3, -1),
        lambda: IID(0.5).expected_length(3, convention="bonus"),
        lambda: as_acceptance("0.7"),
        lambda: as_acceptance(70),
        lambda: as_acceptance(None),
        lambda: as_acceptance(True),
        lambda: as_acceptance(0.5j),
    ],
)
def test_bad_input(build: Any) -> None:
    with pytest.raises(InvalidInputError):
        build()


def test_numbers_are_iid() -> None:
    assert as_acceptance(np.float64(0.7)) == IID(0.7)
    model = Beta(1.0, 2.0)
    assert as_acceptance(model) is model
