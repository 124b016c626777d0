"""Outcomes as sentences."""

import pytest

from ensctl.serialization import jsonable
from ensctl.status import Status


@pytest.mark.parametrize("status", list(Status))
def test_every_status_is_a_whole_sentence(status):
    assert str(status) == status.sentence
    assert status.sentence[0].isupper()
    assert status.sentence.endswith(".")
    # What happened, then what to do: separated by a semicolon or a colon.
    assert status.success or ";" in status.sentence or ":" in status.sentence


def test_only_optimal_is_success():
    assert [status for status in Status if status.success] == [Status.OPTIMAL]


def test_json_name():
    assert jsonable(Status.PRECISION_LIMITED) == "precision_limited"
