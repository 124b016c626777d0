"""Sensitivities against differences, the envelope at the optimum, and the regret of a wrong α."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.drafting import (
    Convention,
    LinearCost,
    MarkovRenewal,
    TableCost,
    depth_regret,
    optimal_depth,
    sensitivity,
    throughput,
)
from ensctl.errors import InvalidInputError

_STEP = 1e-6


@given(
    st.floats(0.01, 0.99),
    st.floats(0.01, 2.0),
    st.integers(0, 30),
    st.sampled_from(list(Convention)),
)
def test_derivatives_are_limits_of_differences(
    alpha: float, draft: float, depth: int, convention: Convention
) -> None:
    found = sensitivity(alpha, draft, depth, convention=convention)

    def rate(a: float = 0.0, c: float = 0.0, base: float = 0.0) -> float:
        cost = LinearCost(draft + c, 1.0 + base)
        return throughput(alpha + a, cost, depth, convention=convention)

    def slope(name: str) -> float:
        return (rate(**{name: _STEP}) - rate(**{name: -_STEP})) / (2 * _STEP)

    assert found.per_alpha == pytest.approx(slope("a"), rel=1e-6, abs=1e-8)
    assert found.per_draft_cost == pytest.approx(slope("c"), rel=1e-6, abs=1e-8)
    assert found.per_fixed_cost == pytest.approx(slope("base"), rel=1e-6, abs=1e-8)
    assert found.alpha_elasticity == pytest.approx(
        alpha * found.per_alpha / found.throughput, rel=1e-12
    )
    assert found.draft_cost_elasticity == pytest.approx(-depth * draft / (1 + depth * draft))


def test_envelope() -> None:
    """The optimal throughput answers to α and c as if the depth stayed."""
    best = optimal_depth(0.74, 0.09)
    found = sensitivity(0.74, 0.09, best.depth)
    rise = optimal_depth(0.74 + 1e-7, 0.09).throughput - best.throughput
    assert rise / 1e-7 == pytest.approx(found.per_alpha, rel=1e-5)


def test_ends_of_alpha_and_costs_that_are_not_linear() -> None:
    assert sensitivity(0.0, 0.1, 5, convention="accepted").alpha_elasticity == 1.0
    assert sensitivity(0.0, 0.1, 5).per_alpha == pytest.approx(1 / 1.5)
    assert sensitivity(1.0, 0.1, 5).per_alpha == pytest.approx(15 / 1.5)
    table = TableCost([0, 1, 4], [10.0, 12.0, 16.0])
    assert sensitivity(0.7, table, 4).draft_cost_elasticity == pytest.approx(-6 / 16)


def test_regret_of_a_wrong_alpha() -> None:
    regret = depth_regret(0.9, 0.6, 0.1)
    assert regret.depth == optimal_depth(0.9, 0.1).depth
    assert regret.best_depth == optimal_depth(0.6, 0.1).depth
    assert regret.throughput == pytest.approx(throughput(0.6, 0.1, regret.depth))
    assert regret.loss == pytest.approx(1 - regret.throughput / regret.best_throughput)
    assert depth_regret(0.7, 0.7, 0.1).loss == 0.0
    # Summing one survival curve of a process with memory is a wrong model too.
    assert depth_regret(0.5, MarkovRenewal(0.95, 0.3), 0.02).loss > 0.05
    assert regret.to_dict()["kind"] == "depth_regret"
    assert sensitivity(0.7, 0.1, 4).to_dict()["kind"] == "sensitivity"
    assert "instead of" in str(regret)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.0, 1.0))
def test_regret_is_never_negative(assumed: float, actual: float, draft: float) -> None:
    assert 0 <= depth_regret(assumed, actual, draft, 24).loss < 1


def test_bad_input_is_named() -> None:
    with pytest.raises(InvalidInputError, match="alpha"):
        sensitivity(1.2, 0.1, 3)
    with pytest.raises(InvalidInputError, match="assumed"):
        depth_regret(-0.2, 0.5, 0.1)
    with pytest.raises(InvalidInputError, match="actual"):
        depth_regret(0.2, 5, 0.1)
    with pytest.raises(InvalidInputError, match="max_depth"):
        depth_regret(0.2, 0.5, 0.1, -3)
