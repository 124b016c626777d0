"""Acceptance with memory against exact chains in fractions and against the words of the model."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import IID, Convention, MarkovRenewal

# u, v, depth; dyadic, so that the fractions are the very numbers the model gets.
_CASES = [
    (Fraction(3, 4), Fraction(1, 4), 3),
    (Fraction(7, 8), Fraction(1, 2), 5),
    (Fraction(1, 4), Fraction(3, 4), 2),
    (Fraction(1, 2), Fraction(0), 4),
    (Fraction(0), Fraction(1, 2), 3),
    (Fraction(1), Fraction(1, 8), 3),
    (Fraction(1, 2), Fraction(1), 1),
]


def _cycle(start: Fraction, u: Fraction, depth: int) -> list[Fraction]:
    """P(N = j) of one cycle whose first unit is kept with probability ``start``."""
    kept = [Fraction(1), *(start * u**j for j in range(depth))]
    return [kept[j] - kept[j + 1] for j in range(depth)] + [kept[depth]]


def _chain(u: Fraction, v: Fraction, depth: int) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Laws after a rejection and after a full cycle, and the stationary shares of both."""
    laws = [_cycle(v, u, depth), _cycle(u * u + (1 - u) * v, u, depth)]
    up, stay = laws[0][-1], laws[1][-1]
    full = up / (1 - stay + up)
    return laws, [1 - full, full]


def _length(count: int, depth: int, rule: Convention) -> int:
    if rule is Convention.COMMITTED:
        return min(count + 1, depth)
    return count + (rule is Convention.WITH_BONUS)


@pytest.mark.parametrize(("u", "v", "depth"), _CASES)
def test_closed_forms_equal_the_exact_chain(u: Fraction, v: Fraction, depth: int) -> None:
    model = MarkovRenewal(float(u), float(v))
    laws, shares = _chain(u, v, depth)
    pmf = [shares[0] * a + shares[1] * b for a, b in zip(*laws, strict=True)]
    np.testing.assert_allclose(model.pmf(depth), [float(p) for p in pmf], rtol=1e-14, atol=1e-16)
    assert model.full_share(depth) == pytest.approx(float(shares[1]), rel=1e-14, abs=1e-300)
    for rule in Convention:
        lengths = [_length(j, depth, rule) for j in range(depth + 1)]
        mean = sum(p * x for p, x in zip(pmf, lengths, strict=True))
        assert model.expected_length(depth, convention=rule) == pytest.approx(
            float(mean), rel=1e-14
        )
        variance = sum(p * x * x for p, x in zip(pmf, lengths, strict=True)) - mean**2
        total = variance + 2 * _covariances(laws, shares, lengths, mean)
        assert model.variance(depth, convention=rule) == pytest.approx(
            float(variance), rel=1e-13, abs=1e-15
        )
        assert model.long_run_variance(depth, convention=rule) == pytest.approx(
            float(total), rel=1e-12, abs=1e-15
        )


def _covariances(
    laws: list[list[Fraction]], shares: list[Fraction], lengths: list[int], mean: Fraction
) -> Fraction:
    """Σ_{k≥1} Cov(L_0, L_k), by the fundamental matrix of the two-state chain, exactly."""
    conditional = [sum(p * x for p, x in zip(law, lengths, strict=True)) for law in laws]
    # Solve h = (m − mean) + P h with shares·h = 0: the bias of starting in each state.
    up, stay = laws[0][-1], laws[1][-1]
    gap = (conditional[1] - conditional[0]) / (1 - (stay - up))
    bias = [-shares[1] * gap, shares[0] * gap]
    total = Fraction(0)
    for share, law in zip(shares, laws, strict=True):
        for j, probability in enumerate(law):
            after = bias[int(j == len(law) - 1)]
            total += share * probability * (lengths[j] - mean) * after
    return total


def test_variance_of_long_totals_by_brute_force() -> None:
    # Exact variance of n-cycle totals by propagating first and second moments through the chain.
    u, v, depth, cycles = Fraction(3, 4), Fraction(1, 4), 3, 4000
    laws, shares = _chain(u, v, depth)
    law = np.array([[float(p) for p in row] for row in laws])
    counts = np.arange(depth + 1.0)
    weight = np.array([float(s) for s in shares])
    moments = np.array([weight, 0 * weight, 0 * weight])
    for _ in range(cycles):
        new = np.zeros_like(moments)
        for state in (0, 1):
            for j in range(depth + 1):
                zero, one, two = moments[:, state] * law[state, j]
                new[:, int(j == depth)] += [
                    zero,
                    one + counts[j] * zero,
                    two + 2 * counts[j] * one + counts[j] ** 2 * zero,
                ]
        moments = new
    _, one, two = moments.sum(axis=1)
    expected = MarkovRenewal(float(u), float(v)).long_run_variance(depth)
    assert (two - one**2) / cycles == pytest.approx(expected, rel=2e-3)


def test_sampler_is_the_chain_unit_by_unit() -> None:
    """A plain simulation of the words: units, a bonus position nobody sees, rejections."""
    u, v, depth, cycles = 0.85, 0.35, 3, 60_000
    rng = np.random.default_rng(5)
    counts, after_full = np.zeros(cycles, dtype=int), True
    for place in range(cycles):
        if after_full:
            seen = rng.random() < u
            first = u if seen else v
        else:
            first = v
        count = 0
        while count < depth and rng.random() < (first if count == 0 else u):
            count += 1
        counts[place], after_full = count, count == depth
    model = MarkovRenewal(u, v)
    error = np.sqrt(model.long_run_variance(depth) / cycles)
    assert abs(counts.mean() + 1 - model.expected_length(depth)) < 4 * error
    sampled = model.sample(cycles, depth, 6)
    # Pairs of successive cycles have the same law in both.
    for left, right in ((0, 0), (depth, depth), (0, depth), (depth, 0)):
        ours = np.mean((sampled[:-1] == left) & (sampled[1:] == right))
        plain = np.mean((counts[:-1] == left) & (counts[1:] == right))
        assert ours == pytest.approx(plain, abs=0.015)


@given(st.floats(0.0, 1.0), st.floats(0.001, 1.0), st.integers(1, 15))
def test_share_of_full_cycles_is_the_last_survival(u: float, v: float, depth: int) -> None:
    model = MarkovRenewal(u, v)
    assert model.survival(depth)[-1] == pytest.approx(model.full_share(depth), rel=1e-9, abs=1e-14)
    assert 0 <= model.first_acceptance(depth) <= 1 + 1e-15


@given(st.floats(0.0, 1.0), st.integers(1, 15))
def test_equal_acceptances_are_iid(alpha: float, depth: int) -> None:
    ours, iid = MarkovRenewal(alpha, max(alpha, 1e-9)), IID(alpha)
    assert ours.expected_length(depth) == pytest.approx(iid.expected_length(depth), abs=1e-8)
    assert ours.long_run_variance(depth) == pytest.approx(iid.variance(depth), abs=1e-6)


def test_runs_of_hits_inflate_and_alternation_deflates() -> None:
    assert MarkovRenewal(0.9, 0.3).variance_inflation(3) > 1.5
    assert MarkovRenewal(0.3, 0.9).variance_inflation(1) < 1.0
    assert (
        MarkovRenewal(0.0, 0.9).independent and MarkovRenewal(0.0, 0.9).variance_inflation(2) == 1
    )


def test_survival_depends_on_the_depth() -> None:
    # Deeper cycles end in rejections more often, so cycles start worse: never reuse a curve.
    firsts = [MarkovRenewal(0.9, 0.3).survival(depth)[1] for depth in range(1, 10)]
    assert np.all(np.diff(firsts) < 0)


def test_rare_rejections_that_last_for_ever_stay_finite() -> None:
    for v in (1e-320, 1e-20, 1e-9):
        model = MarkovRenewal(1.0, v)
        assert model.full_share(4) == 1.0 and model.expected_length(4) == 5.0
        assert model.long_run_variance(4) == pytest.approx(0.0, abs=1e-15)
    stuck = MarkovRenewal(1.0 - 2.0**-50, 2.0**-50)
    laws, shares = _chain(Fraction(stuck.u), Fraction(stuck.v), 3)
    assert stuck.full_share(3) == pytest.approx(float(shares[1]), rel=1e-12)
    pmf = [shares[0] * a + shares[1] * b for a, b in zip(*laws, strict=True)]
    mean = sum(j * p for j, p in enumerate(pmf))
    exact = sum(j * j * p for j, p in enumerate(pmf)) - mean**2
    exact += 2 * _covariances(laws, shares, [0, 1, 2, 3], mean)
    assert stuck.long_run_variance(3) == pytest.approx(float(exact), rel=1e-9)
