"""Phase maps: cell for cell what comparing all depths gives, ties and rounding included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.drafting import Convention, LinearCost, break_even_cost, optimal_depth, phase_map
from ensctl.drafting.phase_map import PhaseMap
from ensctl.drafting.phase_map_search import length_table, scan
from ensctl.errors import InvalidInputError


def compared(phases: PhaseMap) -> np.ndarray:
    """Every cell by the first maximum over all depths."""
    lengths = length_table(phases.alphas, phases.max_depth, phases.convention)
    columns = phases.alphas.size
    return np.array(
        [
            scan(lengths, np.full(columns, cost), phases.fixed, phases.off_cost)
            for cost in phases.draft_costs
        ]
    )


@pytest.mark.parametrize("convention", list(Convention))
@pytest.mark.parametrize(
    "base", [{}, {"overhead": 0.5}, {"overhead": 0.5, "off": 1.0}, {"off": 3.0}, {"verify": 0.01}]
)
def test_a_regular_grid(convention: Convention, base: dict[str, float]) -> None:
    """Regular grids hit break-even costs exactly: α = c, c = 0, α = 0 and 1."""
    grid = np.linspace(0, 1, 201)
    phases = phase_map(grid, grid, convention=convention, **base)
    assert np.array_equal(phases.depth, compared(phases))


@settings(max_examples=60)
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.lists(st.floats(0, 3), min_size=1, max_size=30),
    st.integers(1, 100),
    st.sampled_from(list(Convention)),
    st.floats(0.01, 3),
    st.floats(0.01, 3),
)
def test_any_grid(
    alphas: list[float],
    costs: list[float],
    max_depth: int,
    convention: Convention,
    verify: float,
    off: float,
) -> None:
    """Unsorted, repeated and extreme values."""
    phases = phase_map(alphas, costs, max_depth, convention=convention, verify=verify, off=off)
    assert np.array_equal(phases.depth, compared(phases))


def test_costs_at_every_break_even_and_one_rounding_beside_it() -> None:
    alphas = np.array([0.3, 0.5, 0.75, 0.9, 0.99, 1 - 1e-9])
    edges = np.array([break_even_cost(a, k, k + 1) for a in alphas for k in range(40)])
    costs = np.concatenate(
        [edges, np.nextafter(edges, 0), np.nextafter(edges, 9), edges * (1 + 1e-14)]
    )
    for convention in Convention:
        phases = phase_map(alphas, costs, 48, convention=convention)
        assert np.array_equal(phases.depth, compared(phases))


def test_cells_are_what_optimal_depth_finds() -> None:
    rng = np.random.default_rng(3)
    alphas, costs = rng.uniform(0, 1, 11), np.append(rng.uniform(0, 0.6, 10), 0.0)
    for convention in Convention:
        phases = phase_map(alphas, costs, 32, convention=convention, overhead=0.3, off=1.1)
        for row, cost in enumerate(costs):
            for column, alpha in enumerate(alphas):
                best = optimal_depth(
                    alpha, LinearCost(cost, 1.0, 0.3, off=1.1), 32, convention=convention
                )
                assert phases.depth[row, column] == best.depth
                assert phases.throughput[row, column] == pytest.approx(best.throughput, rel=1e-14)


def test_more_columns_than_are_treated_together() -> None:
    alphas = np.random.default_rng(0).uniform(0, 1, 9000)
    phases = phase_map(alphas, [0.3, 0.01, 0.1], 16)
    assert np.array_equal(phases.depth, compared(phases))
    assert phases.throughput.shape == (3, 9000)


def test_regions() -> None:
    grid = np.linspace(0, 1, 101)
    phases = phase_map(grid, grid)
    alpha, cost = np.meshgrid(grid, grid)
    assert phases.off[alpha < cost - 1e-9].all()
    assert not phases.off[alpha > cost + 1e-9].any()
    assert np.all(np.diff(phases.depth, axis=0) <= 0), "dearer drafts are not deeper"
    assert np.all(np.diff(phases.depth[1:], axis=1) >= 0), "surer drafts are not shallower"
    assert phases.speedup.min() >= 1.0
    assert phases.speedup[0, -1] == 65.0
    assert np.array_equal(phases.throughput, phases.speedup)


def test_huge_costs_do_not_overflow_into_warnings() -> None:
    phases = phase_map([0.5, 1.0], [1e308, 0.0, 1e-300])
    assert phases.depth[0].tolist() == [0, 0]
    assert np.isfinite(phases.throughput).all()


def test_results_show_themselves() -> None:
    phases = phase_map([0.5, 0.7], [0.05, 0.6, 0.8], 8)
    text = str(phases)
    assert "50.0%" in text and "with_bonus" in text and len(text.splitlines()) <= 12
    data = phases.to_dict()
    assert data["kind"] == "phase_map" and np.array(data["depth"]).shape == (3, 2)
    assert phases.depth.dtype.kind == "i" and not phases.depth.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (([0.5, 1.01], [0.1]), "alphas"),
        (([0.5], [0.1, -0.1]), "draft_costs"),
        (([np.nan], [0.1]), "alphas"),
        (([], [0.1]), "alphas"),
        (([0.5], [0.1], 0), "max_depth"),
        (([[0.5]], [0.1]), "alphas"),
    ],
)
def test_bad_input_is_named(arguments: tuple[object, ...], name: str) -> None:
    with pytest.raises(InvalidInputError, match=name):
        phase_map(*arguments)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="verify"):
        phase_map([0.5], [0.1], verify=0.0)
    with pytest.raises(InvalidInputError, match="overhead"):
        phase_map([0.5], [0.1], overhead=-0.1)
