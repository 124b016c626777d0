"""Character n-gram language models with interpolated Witten–Bell smoothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count, read_only
from ensctl.errors import InvalidInputError
from ensctl.simulation.ngram.corpus import ALPHABET, SYMBOLS, encode
from ensctl.simulation.ngram.counting import (
    BITS,
    MOST_ORDER,
    ContextTable,
    NgramCounts,
    context_table,
    dense_places,
    dense_rows,
    shorter,
    unigram_row,
)

Array = NDArray[Any]

# Contexts up to this length have a dense table: 97² rows of 97 numbers are 7 MB.
_DENSE = 2
# Rows of longer contexts that are kept: 20 MB.
_KEPT_ROWS = 1 << 15


class NgramModel:
    """p(x | last n − 1 characters), made by :func:`train_ngrams`.

    p_n(x|c) = (c(c x) + T p_{n−1}(x|c′))/(N + T): N characters of T kinds were seen after the
    context c, and c′ is c without its oldest character; p_0 is uniform.  Every character has a
    positive probability.

    Parameters
    ----------
    counts : NgramCounts
        How often each n-gram was seen; shorter ones are counted from them.

    Notes
    -----
    A distribution costs some 10 µs, less where the context came up before.  Models of lower order
    from :meth:`of_order` share the tables.

    Examples
    --------
    >>> from ensctl.simulation import train_ngrams
    >>> model = train_ngrams("abracadabra, abracadabra", order=3)
    >>> print(model)
    3-gram model of 97 symbols, 24 symbols seen
    >>> row = model.distribution("ab")
    >>> round(float(row[model.alphabet.index("r")]), 3), round(float(row.sum()), 12)
    (0.965, 1.0)
    """

    order: int
    seen: int

    def __init__(self, counts: NgramCounts) -> None:
        if not isinstance(counts, NgramCounts):
            raise InvalidInputError(
                f"counts must be NgramCounts, got {type(counts).__name__}; see train_ngrams"
            )
        self.order = counts.order
        self.seen = int(counts.counts.sum())
        levels = [counts]
        while levels[-1].order > 1:
            levels.append(shorter(levels[-1]))
        levels.reverse()
        rows = unigram_row(levels[0])[None, :]
        self._dense = [read_only(rows)]
        tables = [context_table(level) for level in levels[1:]]
        for length, table in enumerate(tables[:_DENSE], start=1):
            rows = dense_rows(table, rows, length)
            self._dense.append(read_only(rows))
        self._tables: tuple[ContextTable, ...] = tuple(tables[_DENSE:])
        self._rows: dict[int, Array] = {}
        self._mask = (1 << (BITS * (self.order - 1))) - 1

    @property
    def alphabet(self) -> str:
        """The symbols; the last one stands for every character that is not among the others."""
        return ALPHABET

    def of_order(self, order: int) -> NgramModel:
        """The model of a lower order trained on the same text."""
        lower = as_count(order, "order")
        if lower > self.order:
            raise InvalidInputError(
                f"order must be ≤ {self.order}, got {lower}; train a model of that order"
            )
        if lower == self.order:
            return self
        model = NgramModel.__new__(NgramModel)
        model.order, model.seen = lower, self.seen
        model._dense = self._dense[:lower]
        model._tables = self._tables[: max(0, lower - 1 - _DENSE)]
        model._rows = {}
        model._mask = (1 << (BITS * (lower - 1))) - 1
        return model

    def distribution(self, context: str) -> Array:
        """p(·|context) over the alphabet, (97,), read-only; newlines stand before a short one."""
        if not isinstance(context, str):
            raise InvalidInputError(
                f"context must be a str, got {type(context).__name__}; row takes encoded text"
            )
        return self.row(encode(context))

    def row(self, symbols: bytes) -> Array:
        """p(·|context) of encoded text, of which the last n − 1 symbols count."""
        code = 0
        for symbol in symbols[1 - self.order :] if self.order > 1 else b"":
            code = (code << BITS) | symbol
        found = self._rows.get(code)
        if found is None:
            found = read_only(self._compute(code))
            if len(self._rows) >= _KEPT_ROWS:
                self._rows.clear()
            self._rows[code] = found
        return found

    def rows_along(self, before: bytes, symbols: bytes) -> Array:
        """p(·|what came before) of every symbol of an encoded text, (n, 97)."""
        length = self.order - 1
        start = (bytes(length) + before)[len(before) :] if length else b""
        text = np.frombuffer(start + symbols, dtype=np.uint8)
        codes = np.zeros(len(symbols), dtype=np.uint64)
        for k in range(length):
            codes = (codes << np.uint64(BITS)) | text[k : k + codes.size]
        depth = min(length, _DENSE)
        rows: Array = self._dense[depth][dense_places(codes, depth)]
        alive = np.arange(codes.size)
        for length, table in enumerate(self._tables, start=_DENSE + 1):
            wanted = codes[alive] & np.uint64((1 << (BITS * length)) - 1)
            places = np.searchsorted(table.contexts, wanted)
            places[places == table.contexts.size] = 0
            hit = table.contexts[places] == wanted
            alive, places = alive[hit], places[hit]
            rows[alive] *= table.back[places, None]
            sizes = table.starts[places + 1] - table.starts[places]
            offsets = np.repeat(table.starts[places] - np.cumsum(sizes) + sizes, sizes)
            flat = offsets + np.arange(offsets.size)
            rows[np.repeat(alive, sizes), table.symbols[flat]] += table.seen[flat]
        return rows

    def _compute(self, code: int) -> Array:
        depth = min(self.order - 1, _DENSE)
        place = 0
        for k in reversed(range(depth)):
            place = place * SYMBOLS + ((code >> (BITS * k)) & ((1 << BITS) - 1))
        row = self._dense[depth][place]
        if not self._tables:
            return row
        row = row.copy()
        for length, table in enumerate(self._tables, start=_DENSE + 1):
            wanted = np.uint64(code & ((1 << (BITS * length)) - 1))
            k = int(table.contexts.searchsorted(wanted))
            if k == table.contexts.size or table.contexts[k] != wanted:
                break
            part = slice(table.starts[k], table.starts[k + 1])
            row *= table.back[k]
            row[table.symbols[part]] += table.seen[part]
        return row

    def __str__(self) -> str:
        return f"{self.order}-gram model of {SYMBOLS} symbols, {self.seen} symbols seen"


def as_order(order: Any) -> int:
    """Check n: from 1 to what fits into 63 bits."""
    checked = as_count(order, "order")
    if checked > MOST_ORDER:
        raise InvalidInputError(f"order must be ≤ {MOST_ORDER}, got {checked}")
    return checked
