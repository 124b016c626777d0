"""Regions: what they hold, what they refuse, and coordinates that stay inside."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ensctl as ec
from ensctl.analysis.node_coordinates import Chart, hold
from ensctl.ensemble.discretization import zero_order_hold

_REGIONS = (
    ec.Interval(-0.9, 0.4),
    ec.Interval(2.0, math.inf),
    ec.Interval(-math.inf, -1.0),
    ec.Interval(-math.inf, math.inf),
    ec.Disk(0.7, 0.1 + 0.2j),
    ec.Circle(0.5, -0.25),
    ec.Annulus(0.3, 0.8),
)


@pytest.mark.parametrize("region", _REGIONS, ids=str)
@given(x=st.lists(st.floats(-20, 20), min_size=2, max_size=2))
def test_every_parameter_gives_a_point_of_the_region(region: Any, x: list[float]) -> None:
    chart = Chart(region)
    point, slope = chart.points(np.array([x[: chart.dimension]]))
    assert region.contains(point).all()
    for axis in range(chart.dimension):
        step = np.zeros((1, chart.dimension))
        step[0, axis] = 1e-6
        base = np.array([x[: chart.dimension]])
        change = (chart.points(base + step)[0] - chart.points(base - step)[0]) / 2e-6
        assert abs(change[0] - slope[0, axis]) < 1e-6


def test_hold_agrees_with_the_exact_one() -> None:
    rates = np.array([-3.0, -0.5, -1e-5, 0.0, 0.7])
    lam, _, log_weight, slope = hold(rates, 0.5)
    exact = zero_order_hold(rates, 1.0, 0.5)
    np.testing.assert_allclose(lam, exact.lam, rtol=1e-15)
    np.testing.assert_allclose(np.exp(log_weight), exact.b, rtol=1e-14)
    change = (hold(rates + 1e-5, 0.5)[2] - hold(rates - 1e-5, 0.5)[2]) / 2e-5
    np.testing.assert_allclose(slope, change, rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: ec.Interval(1.0, 1.0), "low"),
        (lambda: ec.Interval(1.0, 0.0), "low"),
        (lambda: ec.Interval(float("nan"), 0.0), "low"),
        (lambda: ec.Interval(math.inf, math.inf), "low"),
        (lambda: ec.Interval("a", 1), "low"),
        (lambda: ec.Disk(0.0), "radius"),
        (lambda: ec.Disk(-1.0), "radius"),
        (lambda: ec.Disk(math.inf), "radius"),
        (lambda: ec.Disk(1.0, [1, 2]), "center"),
        (lambda: ec.Circle(float("nan")), "radius"),
        (lambda: ec.Annulus(0.5, 0.5), "inner"),
        (lambda: ec.Annulus(-0.5, 0.5), "inner"),
        (lambda: ec.Candidates([]), "values"),
        (lambda: ec.Candidates([0.1, float("nan")]), "values"),
        (lambda: ec.Rates("x"), "region"),
        (lambda: ec.Rates(ec.Interval(-1, 0), 0.0), "dt"),
    ],
)
def test_degenerate_regions_are_refused(make: Any, named: str) -> None:
    with pytest.raises(ec.InvalidInputError, match=named):
        make()


def test_regions_say_what_they_are() -> None:
    assert str(ec.Interval(-math.inf, 2)) == "(−∞, 2]"
    assert str(ec.Disk(0.9, 0.1)) == "disk |λ − 0.1| ≤ 0.9"
    assert str(ec.Rates(ec.Disk(0.5, -1.0))) == "rates in disk |a + 1| ≤ 0.5 sampled every 1"
    assert not ec.Interval(-1, 1).contains([0.5j])[0]
