"""Printed numbers against computed ones: rounding, cutting off, ranges, percentages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.errors import InvalidInputError
from ensctl.papers import Printed


@pytest.mark.parametrize(
    ("text", "value", "agrees"),
    [
        ("1.8093", 1.80928571, True),
        ("1.8093", 1.80924, False),
        ("≈1.8093", 1.80928571, True),
        # Half up, also where float64 is a little below the tie.
        ("2.68", 2.675, True),
        ("0.1", 0.05, True),
        ("0.1", 0.049999, False),
        # Only three points allow cutting off.
        ("2.2360679…", 5**0.5, True),
        ("2.2360679", 5**0.5, False),
        ("2.2360680…", 5**0.5, True),
        ("2.2360678…", 5**0.5, False),
        ("13.3 %", 0.13314, True),
        ("13.3 %", 0.1336, False),
        ("> 0.1", 0.100001, True),
        ("> 0.1", 0.1, False),
        ("< 0.1", 0.1, False),
        ("(5, 6)", 5.2164, True),
        ("(5, 6)", 5.0, False),
        ("5", 5.0, True),
        ("5", 4.0, False),
        ("0", 0.0, True),
        ("0", 0.5, False),
        ("-0.25", -0.25, True),
        ("0.5", float("inf"), False),
        ("0.5", float("nan"), False),
        ("> 0.1", float("nan"), False),
    ],
)
def test_agreement(text: str, value: float, agrees: bool) -> None:
    assert Printed(text).agrees(value) is agrees


@given(st.floats(-1e4, 1e4), st.integers(0, 8))
def test_a_number_agrees_with_its_own_rounding_and_not_with_the_next(
    value: float, digits: int
) -> None:
    unit = 10.0**-digits
    # Away from a tie, where half up and half even say the same.
    if abs(abs(value) / unit % 1.0 - 0.5) < 1e-3:
        return
    assert Printed(f"{value:.{digits}f}").agrees(value)
    assert not Printed(f"{value + 2 * unit:.{digits}f}").agrees(value)


def test_shown_with_more_digits() -> None:
    assert Printed("0.1527").shown(0.152677095) == "0.1526771"
    assert Printed("2.533").shown(2.533) == "2.533"
    assert Printed("13.3 %").shown(0.1331473) == "13.3147 %"
    assert Printed("7").shown(7.0) == "7"
    assert Printed("(5, 6)").shown(5.216389064702) == "5.2163891"


@pytest.mark.parametrize("text", ["", "seven", "1.2.3", "(5, 6, 7)", "(a, b)", "> x"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"printed number|range of numbers"):
        Printed(text)
