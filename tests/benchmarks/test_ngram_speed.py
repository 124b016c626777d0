"""Building the n-gram model from eight megabytes, against counting one order with a dictionary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ensctl.simulation import train_ngrams
from ensctl.simulation.ngram.corpus import read_symbols, standard_library

# Asked for: built in less than 10 s.
_ASKED = 10.0


def test_build(ratio_table: Any, timed: Callable[..., float], sized: Callable[..., int]) -> None:
    size = sized(8_000_000, smoke=200_000)
    text = read_symbols(standard_library(), size)
    ours = timed(lambda: train_ngrams(max_bytes=size, cache=False), 1)
    plain = timed(lambda: Counter(text[i : i + 6] for i in range(len(text) - 5)), 1)
    ratio_table.add(f"n-gram model of {size} bytes: asked {_ASKED:g} s", ours, _ASKED, at_most=1.0)
    row = ratio_table.add("the same, against a dictionary of the longest order", ours, plain)
    assert row.ratio > 0
