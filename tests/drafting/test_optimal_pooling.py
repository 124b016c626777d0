"""The optimum of sampled drafts: program, prefix search and exhaustive cuts agree."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

from ensctl import drafting
from ensctl.errors import InvalidInputError


def _by_all_sets(p: np.ndarray, joint: np.ndarray) -> float:
    """1 − max over all 2^V sets of P(all drafts ∈ H) − p(H)."""
    size = p.size
    sets = chain.from_iterable(combinations(range(size), k) for k in range(size + 1))
    best = 0.0
    for chosen in sets:
        held = list(chosen)
        best = max(best, float(joint[np.ix_(*[held] * joint.ndim)].sum() - p[held].sum()))
    return 1.0 - best


def test_program_and_prefix_search_agree_on_200_cases() -> None:
    rng = np.random.default_rng(7)
    for case in range(200):
        size = int(rng.integers(2, 9))
        p, q = rng.dirichlet(np.full(size, 0.5)), rng.dirichlet(np.full(size, 0.5))
        count = 2 + case % 2
        prefix = drafting.optimal_pooled_acceptance(p, q, count=count)
        program = drafting.optimal_pooled_acceptance(p, q, count=count, method="linear program")
        assert abs(prefix.acceptance - program.acceptance) <= 1e-12
        assert program.gap <= 1e-12
        below = drafting.recursive_rejection(p, q, count=count).acceptance
        assert below <= prefix.acceptance + 1e-12


@pytest.mark.parametrize("count", [1, 2, 3])
def test_any_joint_law_against_all_sets(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(20):
        p = rng.dirichlet(np.full(5, 0.7))
        joint = rng.dirichlet(np.full(5**count, 0.3)).reshape((5,) * count)
        found = drafting.optimal_pooled_acceptance(p, joint, joint=True)
        assert found.acceptance == pytest.approx(_by_all_sets(p, joint), abs=1e-12)
        held = list(found.tokens)
        cut = joint[np.ix_(*[held] * count)].sum() - p[held].sum()
        assert found.acceptance == pytest.approx(1 - cut, abs=1e-12)


def test_drafts_from_different_laws_against_all_sets() -> None:
    rng = np.random.default_rng(11)
    for _ in range(20):
        p, q = rng.dirichlet(np.full(6, 0.7)), rng.dirichlet(np.full(6, 0.4), size=2)
        found = drafting.optimal_pooled_acceptance(p, q)
        joint = np.multiply.outer(q[0], q[1])
        assert found.acceptance == pytest.approx(_by_all_sets(p, joint), abs=1e-12)


def test_one_draft_is_the_overlap() -> None:
    rng = np.random.default_rng(5)
    p, q = rng.dirichlet(np.ones(1000)), rng.dirichlet(np.ones(1000))
    found = drafting.optimal_pooled_acceptance(p, q)
    assert found.acceptance == pytest.approx(np.minimum(p, q).sum(), abs=1e-14)


def test_more_drafts_accept_more_and_the_target_itself_everything() -> None:
    rng = np.random.default_rng(6)
    p, q = rng.dirichlet(np.ones(50)), rng.dirichlet(np.ones(50))
    values = [drafting.optimal_pooled_acceptance(p, q, count=m).acceptance for m in range(1, 9)]
    assert np.all(np.diff(values) > 0)
    assert drafting.optimal_pooled_acceptance(p, p).acceptance == 1.0


def test_formula_for_greedy_targets_overrates_sampled_drafts() -> None:
    rng = np.random.default_rng(8)
    p, q = rng.dirichlet(np.full(200, 0.2)), rng.dirichlet(np.full(200, 0.2))
    alone = drafting.optimal_pooled_acceptance(p, q).acceptance
    best = drafting.optimal_pooled_acceptance(p, q, count=4).acceptance
    assert best < drafting.pooled_acceptance(alone, count=4) - 0.05


def test_tokens_without_mass_do_not_matter() -> None:
    p, q = [0.6, 0.3, 0.1, 0.0, 0.0], [0.2, 0.2, 0.6, 0.0, 0.0]
    small = drafting.optimal_pooled_acceptance(p[:3], q[:3], count=2)
    for method in ("prefix search", "linear program"):
        found = drafting.optimal_pooled_acceptance(p, q, count=2, method=method)
        assert found.acceptance == pytest.approx(small.acceptance, abs=1e-14)


@pytest.mark.parametrize(
    ("drafts", "options", "match"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], {"count": 2}, "count goes with one distribution"),
        ([[0.5, 0.5], [0.5, 0.5]], {"method": "prefix search"}, "needs independent draws"),
        ([0.5, 0.5], {"method": "simplex"}, "method must be"),
        ([0.5, 0.5], {"count": 0}, "count must be an integer"),
        ([[0.5, 0.5, 0.0]], {"joint": True}, "on each axis"),
        ([[0.5, 0.5], [0.5, 0.5]], {"joint": True}, "drafts must sum to one"),
    ],
)
def test_wrong_drafts_are_named(drafts: object, options: dict[str, object], match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        drafting.optimal_pooled_acceptance([0.4, 0.6], drafts, **options)  # type: ignore[arg-type]


def test_a_program_too_large_is_refused_before_it_is_built() -> None:
    laws = np.full((3, 200), 1 / 200)
    with pytest.raises(InvalidInputError, match="variables"):
        drafting.optimal_pooled_acceptance(laws[0], laws)
