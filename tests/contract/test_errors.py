"""One error tree, wholly public, whose docstrings say whether a retry helps."""

from __future__ import annotations

import inspect
import pickle

import pytest

import ensctl
from ensctl import errors

_CLASSES = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if value.__module__ == errors.__name__
]


@pytest.mark.parametrize("error", _CLASSES)
def test_error_is_public_documented_and_in_the_tree(error: type[Exception]) -> None:
    assert issubclass(error, ensctl.EnsctlError)
    assert getattr(ensctl, error.__name__) is error
    assert (error.__doc__ or "").strip()


@pytest.mark.parametrize("error", _CLASSES)
def test_error_survives_another_process(error: type[Exception]) -> None:
    original = error("horizon must be an integer ≥ 1, got 0")
    copy = pickle.loads(pickle.dumps(original))
    assert type(copy) is error
    assert str(copy) == str(original)
    assert vars(copy) == vars(original)


def test_file_error_names_file_and_line() -> None:
    assert str(ensctl.FormatError("λ must be a number", "a.csv", 7)).startswith("a.csv, line 7: ")
    assert issubclass(ensctl.FormatError, ValueError)
