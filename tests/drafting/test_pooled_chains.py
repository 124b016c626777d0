"""Pools of drafters against exact sums, simulation and brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from ensctl import drafting
from ensctl.drafting.acceptance import IID
from ensctl.errors import InvalidInputError


@pytest.mark.parametrize("depth", [0, 1, 4, 9])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_equal_chains_are_the_closed_sum(count: int, depth: int) -> None:
    alpha = Fraction(3, 5)
    exact = 1 + sum(1 - (1 - alpha**i) ** count for i in range(1, depth + 1))
    pool = drafting.ParallelChains([0.6] * count)
    assert pool.expected_length(depth) == pytest.approx(float(exact), rel=1e-14)


def test_unequal_chains_against_simulation() -> None:
    alphas, depth, number = [0.8, 0.5, 0.3], 6, 200_000
    rng = np.random.default_rng(4)
    runs = [np.minimum(rng.geometric(1 - alpha, number) - 1, depth) for alpha in alphas]
    longest = np.max(runs, axis=0)
    pool = drafting.ParallelChains(alphas)
    expected = pool.expected_length(depth, convention="accepted")
    assert abs(longest.mean() - expected) < 4 * longest.std() / np.sqrt(number)
    assert pool.variance(depth) == pytest.approx(longest.var(), rel=0.02)


def test_re_synchronising_accepts_more_than_chains_and_chains_more_than_one() -> None:
    alphas = [0.6, 0.6, 0.6]
    tree = drafting.resynchronised(alphas)
    assert tree.alpha == pytest.approx(0.936, rel=1e-15)
    chains = drafting.ParallelChains(alphas)
    for depth in range(2, 10):
        lengths = [m.expected_length(depth) for m in (IID(0.6), chains, tree)]
        assert lengths[0] < lengths[1] < lengths[2]
    assert chains.expected_length(1) == pytest.approx(tree.expected_length(1), rel=1e-15)


def test_dependent_cycles_are_not_pooled() -> None:
    with pytest.raises(InvalidInputError, match="dependent cycles"):
        drafting.ParallelChains([drafting.MarkovRenewal(0.8, 0.5)])
    with pytest.raises(InvalidInputError, match="at least one entry"):
        drafting.ParallelChains([])
    with pytest.raises(InvalidInputError, match="one model or α for each chain"):
        drafting.ParallelChains(0.5)  # type: ignore[arg-type]


def _drafters() -> list[drafting.Drafter]:
    return [
        drafting.Drafter("tiny", 0.45, 0.02),
        drafting.Drafter("small", 0.7, 0.1),
        drafting.Drafter("large", 0.85, 0.3),
    ]


@pytest.mark.parametrize("drafting_rule", ["serial", "parallel"])
@pytest.mark.parametrize("scheme", ["chains", "resynchronised"])
def test_choice_is_the_best_of_all_subsets_and_depths(scheme: str, drafting_rule: str) -> None:
    alphas, costs, node = [0.45, 0.7, 0.85], [0.02, 0.1, 0.3], 0.004
    best = (1.0, (), 0)
    for size in (1, 2, 3):
        for subset in combinations(range(3), size):
            for depth in range(1, 9):
                hits = [alphas[i] for i in subset]
                if scheme == "chains":
                    terms = [1 - np.prod([1 - a**j for a in hits]) for j in range(1, depth + 1)]
                    nodes = size * depth
                else:
                    pooled = 1 - np.prod([1 - a for a in hits])
                    terms = [pooled**j for j in range(1, depth + 1)]
                    nodes = sum(size**j for j in range(1, depth + 1))
                draft = [costs[i] for i in subset]
                paid = sum(draft) if drafting_rule == "serial" else max(draft)
                value = (1 + sum(terms)) / (1 + depth * paid + node * (nodes - depth))
                best = max(best, (value, tuple(_drafters()[i].name for i in subset), depth))
    found = drafting.choose_pool(
        _drafters(), 8, scheme=scheme, drafting=drafting_rule, node_cost=node
    )
    assert found.best.throughput == pytest.approx(best[0], rel=1e-13)
    assert (found.best.members, found.best.depth) == best[1:]


def test_pooling_loses_when_the_doubled_cost_outweighs() -> None:
    pair = [drafting.Drafter(name, 0.9, 0.3) for name in "ab"]
    found = drafting.choose_pool(pair, scheme="resynchronised", convention="committed")
    assert found.gain < 1
    assert found.best.members == ("a",)
    cheap = [drafting.Drafter(name, 0.6, 0.05) for name in "ab"]
    assert drafting.choose_pool(cheap, scheme="resynchronised", convention="committed").gain > 1


def test_off_is_chosen_where_no_drafter_pays() -> None:
    found = drafting.choose_pool([drafting.Drafter("slow", 0.2, 0.9)])
    assert found.best.members == ()
    assert found.best.throughput == 1.0
    assert str(found).startswith("off: 1 units per verify pass; best single slow at K = 1")
    assert found.to_dict()["schema"] == 1


@pytest.mark.parametrize(
    ("drafters", "options", "match"),
    [
        ([], {}, "at least one entry"),
        ([drafting.Drafter("a", 0.5, 0.1)] * 2, {}, "different names"),
        ([0.5], {}, "must be a Drafter"),
        ([drafting.Drafter("a", 0.5, 0.1)], {"scheme": "tree"}, "scheme must be"),
        ([drafting.Drafter("a", 0.5, 0.1)], {"drafting": "both"}, "drafting must be"),
        ([drafting.Drafter("a", 0.5, 0.1)], {"max_depth": 0}, "max_depth"),
        ([drafting.Drafter("a", 0.5, 0.1)], {"node_cost": -1}, "node_cost"),
        (
            [drafting.Drafter("a", drafting.Beta(2, 1), 0.1), drafting.Drafter("b", 0.5, 0.1)],
            {"scheme": "resynchronised"},
            "needs a number α",
        ),
        (
            [
                drafting.Drafter("a", 0.5, 0.1),
                drafting.Drafter("b", 0.5, drafting.LinearCost(1.0, 10.0, unit="ms")),
            ],
            {},
            "costs in one unit",
        ),
        ([drafting.Drafter(f"d{i}", 0.5, 0.1) for i in range(20)], {}, "set max_size"),
    ],
)
def test_wrong_choices_are_named(drafters: object, options: dict[str, object], match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        drafting.choose_pool(drafters, **options)  # type: ignore[arg-type]
