"""Chosen nodes: published optima, never worse than the obvious, bounds, fixed members, errors."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ensctl as ec
from ensctl.analysis.node_criteria import LARGER_IS_BETTER
from ensctl.vandermonde import norm_condition, singular_values

_REGIONS = {
    "-inf:inf": ec.Interval(-math.inf, math.inf),
    "0:inf": ec.Interval(0.0, math.inf),
    "-1:1": ec.Interval(-1.0, 1.0),
    "0:1": ec.Interval(0.0, 1.0),
}


def _kappa(lam: np.ndarray, horizon: float) -> float:
    return 10.0 ** singular_values(lam, np.ones(lam.size), horizon).log10_cond


@pytest.mark.parametrize("place", [2])
@pytest.mark.parametrize("region", sorted(_REGIONS))
def test_optimal_condition_numbers(
    reference: Callable[[str], Any], region: str, place: int
) -> None:
    table = reference("optimal_nodes")
    count, wanted = table["count"][place], table["condition"][region][place]
    design = ec.choose_nodes(count, _REGIONS[region])
    assert design.value == pytest.approx(wanted, rel=5e-4)
    assert design.value == pytest.approx(_kappa(design.lam, count), rel=1e-12)
    assert _REGIONS[region].contains(design.lam).all()
    assert design.bound is not None and design.bound.log10_value <= design.log10_value


@pytest.mark.slow
@pytest.mark.parametrize("place", range(7))
@pytest.mark.parametrize("region", sorted(_REGIONS))
def test_all_optimal_condition_numbers(
    reference: Callable[[str], Any], region: str, place: int
) -> None:
    table = reference("optimal_nodes")
    wanted = table["condition"][region][place]
    design = ec.choose_nodes(table["count"][place], _REGIONS[region])
    assert design.value == pytest.approx(wanted, rel=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(7))
def test_gautschi_optimal_symmetric_nodes(reference: Callable[[str], Any], place: int) -> None:
    table = reference("optimal_nodes")
    count, wanted = table["count"][place], table["condition_inf"]["-inf:inf"][place]
    region = _REGIONS["-inf:inf"]
    design = ec.choose_nodes(count, region, "condition_inf", symmetry="mirror")
    assert design.symmetry == "mirror"
    assert design.value == pytest.approx(wanted, rel=1e-4)
    assert ec.choose_nodes(count, region, "condition_inf").value <= design.value * (1 + 1e-9)


def test_gautschi_of_four_symmetric_nodes() -> None:
    design = ec.choose_nodes(4, _REGIONS["-inf:inf"], "condition_inf", symmetry="mirror")
    assert design.value == pytest.approx(11.7755, rel=1e-5)
    assert design.value == norm_condition(design.lam).cond
    assert design.bound is not None and design.bound.log10_value == pytest.approx(math.log10(4.0))


@pytest.mark.parametrize("count", [2, 5])
def test_circle_is_equispaced(count: int) -> None:
    design = ec.choose_nodes(count, ec.Circle())
    assert design.value == pytest.approx(1.0, abs=1e-12)
    angles = np.sort(np.angle(design.lam))
    np.testing.assert_allclose(np.diff(angles), 2 * np.pi / count, rtol=1e-9)


def test_disk_attains_the_bound_of_column_norms() -> None:
    design = ec.choose_nodes(3, ec.Disk(0.9))
    assert design.value == pytest.approx(0.9**-2, rel=1e-9)
    assert design.log10_to_bound < 1e-9
    assert design.symmetry == "conjugate"


def test_gap_of_an_interval_is_hyperbolically_equispaced() -> None:
    design = ec.choose_nodes(4, ec.Interval(-0.5, 0.9), "gap")
    width = math.atanh(0.9) + math.atanh(0.5)
    assert design.value == pytest.approx(math.tanh(width / 3), rel=1e-7)
    assert design.log10_to_bound < 1e-7


def _tasks(seed: int, number: int) -> list[tuple[int, Any, str, float]]:
    rng = np.random.default_rng(seed)
    names = ("condition", "worst_energy", "mean_energy", "log_determinant", "gap")
    tasks: list[tuple[int, Any, str, float]] = []
    for k in range(number):
        count = int(rng.integers(2, 7))
        low = float(rng.uniform(-0.95, 0.5))
        radius = float(rng.uniform(0.3, 0.95))
        region = (
            ec.Interval(low, float(rng.uniform(low + 0.1, 0.97))),
            ec.Disk(radius),
            ec.Circle(radius),
            ec.Annulus(0.5 * radius, radius),
            ec.Candidates(rng.uniform(-0.95, 0.95, 15)),
            ec.Rates(ec.Interval(-float(rng.uniform(1, 4)), -0.05), float(rng.uniform(0.2, 1))),
        )[k % 6]
        steps = (count, 2 * count, math.inf)[int(rng.integers(3))]
        tasks.append((count, region, names[k % 5], float(steps)))
    return tasks


@pytest.mark.slow
@pytest.mark.parametrize("task", _tasks(5, 50), ids=lambda task: f"{task[1]}-{task[2]}-{task[3]}")
def test_never_worse_than_the_obvious(task: tuple[int, Any, str, float]) -> None:
    _never_worse(task)


@pytest.mark.parametrize("task", _tasks(6, 3), ids=lambda task: f"{task[1]}-{task[2]}-{task[3]}")
def test_not_worse_than_the_obvious(task: tuple[int, Any, str, float]) -> None:
    _never_worse(task)


def _never_worse(task: tuple[int, Any, str, float]) -> None:
    count, region, criterion, steps = task
    horizon = steps if steps == math.inf else int(steps)
    design = ec.choose_nodes(count, region, criterion, horizon=horizon)
    assert {"equispaced", "Chebyshev", "random"} <= {
        one.name.split(" on ")[0] for one in design.comparisons
    }
    for one in design.comparisons:
        assert design.log10_gain_over(one) >= -1e-9
    assert region.contains(design.lam if design.rates is None else design.rates).all()
    if design.bound is not None:
        beyond = design.log10_value - design.bound.log10_value
        assert beyond <= 1e-9 if criterion in LARGER_IS_BETTER else beyond >= -1e-9


def test_fixed_members_come_first_and_stay() -> None:
    design = ec.choose_nodes(5, ec.Interval(-0.9, 0.9), fixed=[0.3, -0.2], horizon=8)
    assert design.lam[:2].tolist() == [0.3, -0.2]
    assert design.fixed == 2
    assert list(design.lam[2:]) == sorted(design.lam[2:])
    assert ec.choose_nodes(2, ec.Interval(-1, 1), fixed=[0.3, -0.2]).method.startswith("all")


def test_gains_chosen_too_help_and_keep_their_power() -> None:
    region = ec.Interval(-0.9, 0.9)
    plain = ec.choose_nodes(4, region)
    chosen = ec.choose_nodes(4, region, gains=[1.0, -1.0, 1.0, 1.0], optimise_gains=True)
    assert chosen.value < plain.value
    assert np.sum(np.abs(chosen.gains) ** 2) == pytest.approx(4.0, rel=1e-12)
    again = singular_values(chosen.lam, chosen.b, 4)
    assert chosen.log10_value == pytest.approx(again.log10_cond, abs=1e-12)


def test_rates_give_the_gains_of_the_hold() -> None:
    design = ec.choose_nodes(3, ec.Rates(ec.Interval(-2.0, 0.0), 0.5), horizon=6)
    assert design.rates is not None
    exact = ec.Ensemble.from_continuous(design.rates, 1.0, 0.5)
    np.testing.assert_allclose(design.lam, exact.lam, rtol=1e-14)
    np.testing.assert_allclose(design.b, exact.b, rtol=1e-14)


def test_candidates_all_subsets_and_exchange() -> None:
    values = np.linspace(-0.95, 0.95, 12)
    few = ec.choose_nodes(3, ec.Candidates(values))
    assert "best there is" in few.method
    many = ec.choose_nodes(4, ec.Candidates(np.linspace(-1, 1, 41)), horizon=8)
    free = ec.choose_nodes(4, ec.Interval(-1, 1), horizon=8)
    assert free.value <= many.value <= 1.05 * free.value
    assert np.isin(many.lam, np.linspace(-1, 1, 41)).all()


def test_tolerance_is_what_errors_do() -> None:
    design = ec.choose_nodes(4, ec.Interval(-1, 1))
    rng = np.random.default_rng(3)
    for _ in range(20):
        moved = design.lam + design.tolerance.allowed * rng.uniform(-1, 1, 4)
        assert _kappa(moved, 4) <= 1.12 * design.value
    assert list(design.tolerance.worst) == sorted(design.tolerance.worst)


def test_same_seed_same_design_and_json() -> None:
    first = ec.choose_nodes(2, ec.Disk(0.8), "worst_energy", horizon=math.inf)
    second = ec.choose_nodes(2, ec.Disk(0.8), "worst_energy", horizon=math.inf)
    assert first.lam.tolist() == second.lam.tolist()
    content = json.loads(json.dumps(first.to_dict()))
    assert (content["kind"], content["criterion"]) == ("node_design", "worst_energy")
    assert len(str(first).splitlines()) <= 12
    assert not first.lam.flags.writeable
    assert "best" in first._repr_html_()


def test_large_condition_numbers_are_right() -> None:
    design = ec.choose_nodes(14, ec.Interval(0.0, 1.0), horizon=14)
    assert design.value > 1e9
    assert design.value == pytest.approx(_kappa(design.lam, 14), rel=1e-10)
    assert all(design.log10_gain_over(one) > 0 for one in design.comparisons)


_UNIT = ec.Interval(-1.0, 1.0)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: ec.choose_nodes(0, _UNIT), "count"),
        (lambda: ec.choose_nodes(2.5, _UNIT), "count"),
        (lambda: ec.choose_nodes(2, (-1, 1, 2)), "region"),
        (lambda: ec.choose_nodes(2, _UNIT, "kappa"), "criterion"),
        (lambda: ec.choose_nodes(4, _UNIT, horizon=3), "horizon"),
        (lambda: ec.choose_nodes(4, _UNIT, horizon=math.inf), "region"),
        (lambda: ec.choose_nodes(4, _UNIT, "condition_inf", horizon=5), "horizon"),
        (lambda: ec.choose_nodes(4, _UNIT, "gap"), "region"),
        (lambda: ec.choose_nodes(1, ec.Disk(0.5), "gap"), "count"),
        (lambda: ec.choose_nodes(3, _UNIT, fixed=[0.2, 0.2]), "locked"),
        (lambda: ec.choose_nodes(3, _UNIT, fixed=[1.2]), "fixed"),
        (lambda: ec.choose_nodes(3, _UNIT, fixed=[0.1j]), "fixed"),
        (lambda: ec.choose_nodes(1, _UNIT, fixed=[0.1, 0.2]), "fixed"),
        (lambda: ec.choose_nodes(3, _UNIT, fixed=[[0.1]]), "fixed"),
        (lambda: ec.choose_nodes(3, _UNIT, fixed=[float("nan")]), "fixed"),
        (lambda: ec.choose_nodes(3, _UNIT, gains=0.0), "locked"),
        (lambda: ec.choose_nodes(3, _UNIT, gains=[1.0, 2.0]), "gains"),
        (lambda: ec.choose_nodes(3, ec.Candidates([0.1, 0.2])), "candidates"),
        (lambda: ec.choose_nodes(3, ec.Candidates([0.1, 0.2, 0.3]), fixed=[0.1, 0.5, 0.6, 1]), "f"),
        (lambda: ec.choose_nodes(3, ec.Interval(0, math.inf), "worst_energy"), "bounded"),
        (lambda: ec.choose_nodes(3, ec.Rates(ec.Interval(0, math.inf))), "rates"),
        (lambda: ec.choose_nodes(3, ec.Interval(0, 1), symmetry="mirror"), "symmetry"),
        (lambda: ec.choose_nodes(3, _UNIT, symmetry="odd"), "symmetry"),
        (lambda: ec.choose_nodes(3, _UNIT, fixed=[0.2], symmetry="mirror"), "symmetry"),
        (lambda: ec.choose_nodes(3, _UNIT, seed=-1), "seed"),
        (lambda: ec.choose_nodes(2, ec.Disk(1e10), horizon=40), "region"),
        (lambda: ec.choose_nodes(2, ec.Interval(1e10, math.inf), horizon=40), "region"),
    ],
)
def test_bad_input(call: Any, named: str) -> None:
    with pytest.raises(ec.InvalidInputError, match=named):
        call()
