"""Published condition numbers of Vandermonde matrices in the 1- and ∞-norm, and closed forms.

The table tests/reference/published_vandermonde.json names the source of each row and holds, next
to the printed value, one recomputed in high precision.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from ensctl.vandermonde.bounds import equispaced_growth, gautschi_inglese, scaled_roots_of_unity
from ensctl.vandermonde.inverse_norm import norm_condition

pytestmark = pytest.mark.reference

_BURKARDT = {
    "p02": [
        *(0, 1.34, 5, 10, 10.6, 10.7, 10.705, 10.8, 11.4),
        *(19.6, 20.2, 20.295, 20.3, 20.4, 21, 26, 29.66, 31),
    ],
    "p03": [0, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15],
    "p04": [0, 0.05, 0.1, 0.2, 0.8, 0.85, 0.9, 1],
}
# Rows whose printed value came out of float64 arithmetic that had no digit left.
_WRONG_IN_PRINT = {
    ("linspace(-1,1,n)", 80, "inf"),
    ("linspace(-1,1,n)", 80, "1"),
    ("p02", 18, "1"),
}


def _family(row):
    return row["nodes"].split(":")[0]


def _nodes(row):
    count = row["N"]
    if _family(row) in _BURKARDT:
        return _BURKARDT[_family(row)]
    if row["nodes"] == "linspace(-1,1,n)":
        return np.linspace(-1, 1, count)
    assert row["nodes"] == "1/k, k=1..n"
    return 1.0 / np.arange(1, count + 1)


def _rows(reference, prefix):
    rows = reference("published_vandermonde")["rows"]
    return [row for row in rows if row["quantity"].startswith(prefix) and row["norm"] != "2"]


def _key(row):
    return _family(row), row["N"], "inf" if row["norm"].startswith("inf") else "1"


def _computed(row):
    order = math.inf if row["norm"].startswith("inf") else 1
    return norm_condition(_nodes(row), order=order).cond


def test_condition_numbers_agree_with_high_precision(reference):
    rows = _rows(reference, "kappa_")
    assert len(rows) == 23
    for row in rows:
        # Nodes may have been exact rationals there and are rounded to float64 here.
        assert _computed(row) == pytest.approx(float(row["value_recomputed"]), rel=1e-12), row


def test_printed_values_are_right_except_three(reference):
    for row in _rows(reference, "kappa_"):
        printed = Decimal(row["value_published"])
        last_digit = 10.0 ** printed.as_tuple().exponent
        # One unit, not half of one: the printed values are results of float64 arithmetic.
        agrees = abs(_computed(row) - float(printed)) <= last_digit
        assert agrees == (_key(row) not in _WRONG_IN_PRINT), row


def test_wrong_printed_values_are_off_by_factors(reference):
    factors = {
        _key(row): _computed(row) / float(row["value_published"])
        for row in _rows(reference, "kappa_")
        if _key(row) in _WRONG_IN_PRINT
    }
    assert factors == {
        ("linspace(-1,1,n)", 80, "inf"): pytest.approx(5.601878e38 / 2.665120e38, rel=1e-5),
        ("linspace(-1,1,n)", 80, "1"): pytest.approx(3.145638e38 / 1.894750e38, rel=1e-5),
        ("p02", 18, "1"): pytest.approx(4.089592e36 / 1.81734e34, rel=1e-5),
    }


def test_asymptotic_column_is_reproduced(reference):
    rows = _rows(reference, "asymptotic")
    assert len(rows) == 4
    for row in rows:
        found = equispaced_growth(row["N"]).value
        assert found == pytest.approx(float(row["value_published"]), rel=1e-6)
        assert found == pytest.approx(float(row["value_recomputed"]), rel=1e-12)
        # The formula tends to κ₁ from below, and does so slowly.
        assert 1.0 < norm_condition(_nodes(row)).cond / found < 1.0 + 1.5 / row["N"]


def test_optimal_condition_numbers_lie_above_the_lower_bounds(reference):
    rows = _rows(reference, "min kappa_inf")
    assert len(rows) == 14
    for row in rows:
        count = row["N"]
        if row["nodes"] == "optimal nonnegative":
            bound = gautschi_inglese(np.arange(count, dtype=float))
        else:
            bound = gautschi_inglese(np.arange(count) - (count - 1) / 2)
        assert bound.value <= float(row["value_recomputed"]) * (1 + 1e-9), row


def test_closed_forms_of_scaled_roots_of_unity(reference):
    rows = [
        row
        for row in reference("published_vandermonde")["rows"]
        if row["source"].startswith("analytic: scaled roots of unity")
    ]
    assert len(rows) == 4
    for row in rows:
        radius = float(row["nodes"].rsplit("r=", 1)[1])
        for horizon in (row["H"], 3 * row["N"], math.inf):
            found = scaled_roots_of_unity(row["N"], radius, horizon).value
            assert found == pytest.approx(float(row["value_published"]), rel=1e-12)
