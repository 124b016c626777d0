"""Acceptance of sampled drafts: identities, losslessness, and simulation of the rule itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from ensctl.drafting import optimal_pooled_acceptance, sampled_acceptance
from ensctl.errors import InvalidInputError

_LAWS = st.lists(st.floats(0, 1), min_size=2, max_size=12).filter(lambda w: sum(w) > 0.01)


@given(_LAWS, st.randoms(use_true_random=False))
def test_identities(weights: list[float], random: object) -> None:
    p = np.array(weights) / sum(weights)
    q = np.roll(p, 1) if p.size > 2 else p[::-1].copy()
    found = sampled_acceptance(p, q)
    assert float(found.alpha) == pytest.approx(np.minimum(p, q).sum(), abs=1e-14)
    assert float(found.alpha) == pytest.approx(1 - 0.5 * np.abs(p - q).sum(), abs=1e-14)
    # Kept drafts and redrawn tokens together have the law of the verifier.
    law = q * found.accept + (1 - found.alpha) * found.residual
    assert law == pytest.approx(p, abs=1e-14)
    assert found.residual.sum() == pytest.approx(1.0, abs=1e-12)


def test_one_draft_is_the_optimum() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        p, q = rng.dirichlet(np.full(30, 0.3), 2)
        best = optimal_pooled_acceptance(p, q).acceptance
        assert float(sampled_acceptance(p, q).alpha) == pytest.approx(best, abs=1e-13)


def test_ends() -> None:
    same = sampled_acceptance([0.5, 0.5], [0.5, 0.5])
    assert same.alpha == 1.0 and same.residual.tolist() == [0.5, 0.5]
    apart = sampled_acceptance([1.0, 0.0], [0.0, 1.0])
    assert apart.alpha == 0.0 and apart.residual.tolist() == [1.0, 0.0]
    assert apart.accept.tolist() == [1.0, 0.0]
    # A rejection of 1e-13 keeps its digits in the residual.
    close = sampled_acceptance([0.5, 0.5 - 1e-13, 1e-13], [0.5, 0.5, 0.0])
    assert close.residual.tolist() == [0.0, 0.0, 1.0]


def test_batches_and_broadcasting() -> None:
    rng = np.random.default_rng(1)
    p, q = rng.dirichlet(np.ones(9), (4, 3)), rng.dirichlet(np.ones(9), 3)
    found = sampled_acceptance(p, q)
    assert found.alpha.shape == (4, 3) and found.residual.shape == (4, 3, 9)
    for row in range(4):
        for column in range(3):
            one = sampled_acceptance(p[row, column], q[column])
            assert found.alpha[row, column] == one.alpha
            assert np.array_equal(found.residual[row, column], one.residual)
    assert found.mean == pytest.approx(found.alpha.mean())
    assert not found.alpha.flags.writeable and not found.residual.flags.writeable


def test_the_rule_samples_the_verifier() -> None:
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(6), 2)
    found = sampled_acceptance(p, q)
    drafts = rng.choice(6, 40_000, p=q)
    keep = rng.random(drafts.size) < found.accept[drafts]
    tokens = np.where(keep, drafts, rng.choice(6, drafts.size, p=found.residual))
    assert abs(keep.mean() - found.alpha) < 0.01
    counts = np.bincount(tokens, minlength=6)
    assert chisquare(counts, counts.sum() * p).pvalue > 0.001


@pytest.mark.parametrize(
    ("p", "q", "name"),
    [
        ([0.5, 0.6], [0.5, 0.5], "target"),
        ([0.5, 0.5], [0.2, 0.3, 0.5], "draft"),
        ([1.5, -0.5], [0.5, 0.5], "target"),
        ([0.5, 0.5], [np.nan, 0.5], "draft"),
        ([[0.5, 0.5]] * 2, [[0.5, 0.5]] * 3, "draft"),
        (0.5, 0.5, "target"),
    ],
)
def test_bad_input_is_named(p: object, q: object, name: str) -> None:
    with pytest.raises(InvalidInputError, match=name):
        sampled_acceptance(p, q)  # type: ignore[arg-type]
