"""A drafter holds a name, an acceptance model and a cost model, or the numbers for them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ensctl.drafting import IID, BatchCost, Drafter, LinearCost, MarkovRenewal
from ensctl.errors import InvalidInputError


def test_numbers_become_models() -> None:
    drafter = Drafter("small", 0.7, 0.1)
    assert drafter.acceptance == IID(0.7) and drafter.cost == LinearCost(0.1)
    assert drafter == Drafter("small", IID(0.7), LinearCost(0.1))
    assert str(drafter).startswith("small: IID(alpha=0.7), LinearCost(")


def test_models_are_kept() -> None:
    acceptance, cost = MarkovRenewal(0.9, 0.3), BatchCost.h100_8b("ngram")
    drafter = Drafter("n-gram", acceptance, cost)
    assert drafter.acceptance is acceptance and drafter.cost is cost
    with pytest.raises(AttributeError):
        drafter.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "arguments",
    [
        ("", 0.7, 0.1),
        ("  ", 0.7, 0.1),
        (3, 0.7, 0.1),
        ("x", 1.7, 0.1),
        ("x", math.nan, 0.1),
        ("x", None, 0.1),
        ("x", 0.7, -0.1),
        ("x", 0.7, "cheap"),
    ],
)
def test_bad_drafters(arguments: tuple[Any, Any, Any]) -> None:
    with pytest.raises(InvalidInputError):
        Drafter(*arguments)
