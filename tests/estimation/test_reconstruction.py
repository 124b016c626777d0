"""Initial states from the aggregate: exact data, noisy data, gaps, and honest refusals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ensctl.ensemble.aggregate_propagation import aggregate_output
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.estimation import noise_amplification, reconstruct_initial_state

Array = Any


def rounded_outputs(lam: Array, x0: Array, samples: int) -> Array:
    """Σ λ_i^t x_i in rational arithmetic, rounded once."""
    nodes = [Fraction(float(v)) for v in lam]
    terms = [Fraction(float(v)) for v in x0]
    outputs = []
    for _ in range(samples):
        outputs.append(float(sum(terms)))
        terms = [term * node for term, node in zip(terms, nodes, strict=True)]
    return np.array(outputs)


@pytest.mark.parametrize("size", [3, 5, 10, 15, 20])
def test_exact_outputs_are_as_good_as_their_rounding(size: int) -> None:
    rng = np.random.default_rng(size)
    ens = Ensemble(np.linspace(0.1, 0.9, size), c=1.0)
    x0 = rng.standard_normal(size)
    for samples in (size, 4 * size):
        y = rounded_outputs(ens.lam, x0, samples)
        found = reconstruct_initial_state(ens, y)
        assert np.all(np.abs(found.x0 - x0) <= found.error)
        floor = noise_amplification(ens, samples).members * np.linalg.norm(y) * 2.0**-52
        assert np.all(np.abs(found.x0 - x0) <= 4 * floor)
        assert np.all(found.rounding <= 40 * floor)
        assert found.noise_estimated == (samples > size)


def test_error_bars_are_the_noise_amplification() -> None:
    ens = Ensemble(np.linspace(0.1, 0.9, 12), c=1.0)
    y = aggregate_output(ens, np.zeros(39), np.ones(12))
    found = reconstruct_initial_state(ens, y, noise_std=1e-3)
    np.testing.assert_allclose(found.std, 1e-3 * noise_amplification(ens, 40).members, rtol=1e-10)
    np.testing.assert_allclose(np.sqrt(np.diagonal(found.covariance())), found.std, rtol=1e-10)


@pytest.mark.parametrize("given_noise", [True, False])
def test_error_bars_have_the_size_stated(given_noise: bool) -> None:
    """Two outputs, a conjugate pair, inputs, feed-through and a gap, 200 records."""
    rng = np.random.default_rng(0)
    weights = [[1.0, 2.0, 1 + 1j, 1 - 1j], [1.0, -1.0, 1.0, 1.0]]
    ens = Ensemble([0.2, 0.5, 0.8 + 0.3j, 0.8 - 0.3j], c=weights, d=0.3)
    x0 = np.array([1.0, 2.0, 0.5 + 0.1j, 0.5 - 0.1j])
    scores, stds = np.zeros(4), np.array([0.1, 0.2 if given_noise else 0.1])
    for _ in range(200):
        u = rng.standard_normal(25)
        y = aggregate_output(ens, u, x0)[:, :25].real
        y = y + stds[:, None] * rng.standard_normal((2, 25))
        y[0, 4] = np.nan
        found = reconstruct_initial_state(ens, y, u, noise_std=stds if given_noise else None)
        scores += np.abs(found.x0 - x0) ** 2 / found.std**2 / 200
        assert found.x0[3] == found.x0[2].conjugate()
        assert found.x0[0].imag == 0.0
    np.testing.assert_allclose(scores, 1.0, atol=0.4)
    assert found.samples == 49


def test_says_which_combinations_are_known() -> None:
    """κ = 7e12: members are lost in the noise, a few combinations are known to many digits."""
    rng = np.random.default_rng(1)
    ens = Ensemble(np.linspace(0.1, 0.9, 20), c=1.0)
    x0 = rng.standard_normal(20)
    y = rounded_outputs(ens.lam, x0, 100) + 1e-4 * rng.standard_normal(100)
    found = reconstruct_initial_state(ens, y, noise_std=1e-4)
    assert found.known_count == 9
    assert np.count_nonzero(found.known_members) == 1 and found.known_members[19]
    truth = found.combinations @ x0
    off = np.abs(found.combination_values - truth) / found.combination_stds
    assert np.all(off < 5.0)
    assert np.all(np.diff(found.combination_stds) > 0.0)
    assert "9 of 20 combinations known" in str(found)
    assert len(str(found).splitlines()) <= 12
    assert found.to_dict()["known_count"] == 9


def test_structured_and_dense_solutions_agree() -> None:
    """A gap at the end changes the method, not the answer."""
    rng = np.random.default_rng(2)
    for lam in (np.array([0.9, -0.5, 0.3]), np.array([0.9j, 0.5 + 0.2j, -0.3])):
        ens = Ensemble(lam, [1.0, 2.0, 3.0], [1.0, -1.0, 0.5])
        y, u = rng.standard_normal(12), rng.standard_normal(12)
        whole = reconstruct_initial_state(ens, y, u, noise_std=0.1)
        gap = reconstruct_initial_state(ens, [*y, np.nan], [*u, 0.0], noise_std=0.1)
        np.testing.assert_allclose(whole.x0, gap.x0, rtol=1e-12)
        np.testing.assert_allclose(whole.covariance(), gap.covariance(), atol=1e-13)
        assert whole.residual == pytest.approx(gap.residual, rel=1e-12)


def test_what_is_not_determined_is_named() -> None:
    cases: list[tuple[Ensemble, Any, str]] = [
        (Ensemble([0.2, 0.2, 0.5], c=1.0), np.ones(9), "members 0 and 1"),
        (Ensemble([0.2, 0.5], c=[1.0, 0.0]), np.ones(9), "member 1"),
        (Ensemble([0.2, 0.5, 0.8], c=1.0), np.ones(2), "too few"),
        (Ensemble([0.5, -0.5], c=1.0), [1.0, np.nan, 1.0, np.nan, 3.0], "members 0, 1"),
        (Ensemble([0.5, -0.5], c=1.0), [np.nan, 1.0, np.nan], "only 1 sample"),
        (Ensemble([0.5, -0.5], c=1.0), [np.nan, np.nan], "no sample"),
    ]
    for ens, y, words in cases:
        with pytest.raises(NotIdentifiableError, match=words):
            reconstruct_initial_state(ens, y)


def test_bad_input() -> None:
    ens = Ensemble([0.5, -0.5], c=1.0)
    for y, words in [([1.0, np.inf], "finite"), ([[1.0], [2.0]], "transpose"), ([], "at least")]:
        with pytest.raises(InvalidInputError, match=words):
            reconstruct_initial_state(ens, y)
    for noise in (0.0, -1.0, np.nan, [1.0, 2.0]):
        with pytest.raises(InvalidInputError, match="noise_std"):
            reconstruct_initial_state(ens, [1.0, 2.0], noise_std=noise)
    with pytest.raises(InvalidInputError, match="inputs"):
        reconstruct_initial_state(ens, [1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(InvalidInputError, match="real"):
        reconstruct_initial_state(ens, [1j, 2.0])
