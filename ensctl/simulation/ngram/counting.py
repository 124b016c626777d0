"""Counts of n-grams as sorted integers: seven bits per symbol, the oldest symbol first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.simulation.ngram.corpus import SYMBOLS

Array = NDArray[Any]

BITS = 7
MOST_ORDER = 63 // BITS


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """How often every n-gram of one length was seen.

    Attributes
    ----------
    order : int
        n.
    keys : (k,) array of uint64
        The n-grams, sorted.
    counts : (k,) array of int64
        How often each was seen, ≥ 1.
    """

    order: int
    keys: Array
    counts: Array


def count_ngrams(symbols: bytes, order: int) -> NgramCounts:
    """Count the n-grams that end at each symbol; newlines stand before the first.

    Notes
    -----
    One sort of as many integers as there are symbols; about 25 bytes per symbol.
    """
    codes = np.frombuffer(bytes(order - 1) + symbols, dtype=np.uint8)
    size = len(symbols)
    keys = np.zeros(size, dtype=np.uint64)
    for k in range(order):
        keys <<= np.uint64(BITS)
        keys |= codes[k : k + size]
    keys.sort()
    starts = _starts(keys)
    counts = np.diff(np.append(starts, size))
    return NgramCounts(order, keys[starts], counts)


def shorter(ngrams: NgramCounts) -> NgramCounts:
    """Counts of the n-grams without their oldest symbol."""
    order = ngrams.order - 1
    keys = ngrams.keys & np.uint64((1 << (BITS * order)) - 1)
    by_key = np.argsort(keys, kind="stable")
    keys = keys[by_key]
    starts = _starts(keys)
    return NgramCounts(order, keys[starts], np.add.reduceat(ngrams.counts[by_key], starts))


@dataclass(frozen=True, eq=False)
class ContextTable:
    """Witten–Bell terms of all contexts of one length n ≥ 1.

    p_n(x|c) = c(c x)/(N + T) + T/(N + T) · p_{n−1}(x|c′), with N symbols of T kinds seen after
    the context c, and c′ the context without its oldest symbol.

    Attributes
    ----------
    contexts : (k,) array of uint64
        The contexts that were seen, sorted.
    starts : (k + 1,) array of int64
        Where the symbols of each begin.
    symbols : array of uint8
        Symbols seen after each context.
    seen : array of float64
        c(c x)/(N + T) of each.
    back : (k,) array of float64
        T/(N + T).
    """

    contexts: Array
    starts: Array
    symbols: Array
    seen: Array
    back: Array


def context_table(ngrams: NgramCounts) -> ContextTable:
    """The terms of the contexts that are n-grams without their last symbol."""
    contexts = ngrams.keys >> np.uint64(BITS)
    starts = _starts(contexts)
    bounds = np.append(starts, contexts.size)
    kinds = np.diff(bounds)
    total = np.add.reduceat(ngrams.counts, starts) + kinds
    return ContextTable(
        contexts[starts],
        bounds,
        (ngrams.keys & np.uint64((1 << BITS) - 1)).astype(np.uint8),
        ngrams.counts / np.repeat(total, kinds),
        kinds / total,
    )


def dense_rows(table: ContextTable, shorter_rows: Array, length: int) -> Array:
    """p(·|c) of every context of a length, (SYMBOLS^length, SYMBOLS), from those one shorter."""
    rows = np.tile(shorter_rows, (SYMBOLS, 1))
    places = dense_places(table.contexts, length)
    rows[places] *= table.back[:, None]
    rows[np.repeat(places, np.diff(table.starts)), table.symbols] += table.seen
    return rows


def dense_places(contexts: Array, length: int) -> Array:
    """Contexts, of which the last ``length`` symbols count, as numbers in base SYMBOLS."""
    places = np.zeros(contexts.shape, dtype=np.int64)
    for k in reversed(range(length)):
        digit = (contexts >> np.uint64(BITS * k)) & np.uint64((1 << BITS) - 1)
        places = places * SYMBOLS + digit.astype(np.int64)
    return places


def unigram_row(counts: NgramCounts) -> Array:
    """p(x) without context, interpolated with the uniform distribution."""
    row = np.zeros(SYMBOLS)
    row[counts.keys.astype(np.int64)] = counts.counts
    kinds = counts.counts.size
    return (row + kinds / SYMBOLS) / (counts.counts.sum() + kinds)


def _starts(keys: Array) -> Array:
    """Where runs of equal entries begin."""
    new = np.empty(keys.size, dtype=bool)
    new[0] = True
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return np.flatnonzero(new)
