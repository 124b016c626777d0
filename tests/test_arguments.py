"""Conversions name the argument and refuse what is not a known number."""

from __future__ import annotations

import numpy as np
import pytest

from ensctl.arguments import as_array, as_scalar
from ensctl.errors import InvalidInputError


def test_masked_entries_are_refused() -> None:
    hidden = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    with pytest.raises(InvalidInputError, match="lam must not have masked entries"):
        as_array(hidden, "lam")
    with pytest.raises(InvalidInputError, match="draft must be a real number, got a masked"):
        as_scalar(np.ma.masked, "draft")
    np.testing.assert_array_equal(as_array(np.ma.masked_array([1.0, 2.0]), "lam"), [1.0, 2.0])


def test_integers_beyond_float64_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="must fit into float64"):
        as_scalar(10**400, "alpha")
