"""Many metrics lines of one depth at once: numbers, identities and counts P_j by array.

A line is good here when everything it prints agrees with D = T/K, or with another D > T/K where
drafts were shorter than K.  Whatever is not good is left to the reading field by field, which
says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ensctl.arguments import Array
from ensctl.drafting.engines.identities import SLACK, shorter_note

# Digits printed: two of the length and the speed, three of a share, one of a percentage.
HALF_LENGTH, HALF_SHARE, HALF_RATE = 0.005, 0.0005, 0.0005

_LENGTH, _SPEED, _ACCEPTED, _DRAFTED, _SHARES = range(5)

# Beyond this distance from A/Σp a fitting number of drafts is looked for line by line.
_OFFSETS = (0, -1, 1, -2, 2, -3, 3)


@dataclass(frozen=True)
class Batch:
    """Counts of n lines of depth K; ``good`` says which can be used."""

    good: list[bool]
    drafts: list[int]
    drafted: list[int]
    accepted: list[int]
    positions: list[tuple[int, ...]]
    seconds: list[float]
    notes: list[tuple[str, ...]]


@dataclass(frozen=True)
class _Lines:
    """The printed numbers of n lines."""

    length: Array
    accepted: Array
    drafted: Array
    shares: Array

    def some(self, rows: Array) -> _Lines:
        """The numbers of the lines ``rows``."""
        return _Lines(self.length[rows], self.accepted[rows], self.drafted[rows], self.shares[rows])

    @property
    def depth(self) -> int:
        """K, the number of positions."""
        return int(self.shares.shape[1])


def read_batch(fields: Sequence[tuple[bytes, ...]], depth: int) -> Batch:
    """Convert and check the fields length, speed, accepted, drafted, shares, rate of n lines."""
    # The digits behind the points are known, and integers are read seven times faster.
    digits = b" ".join([b" ".join(row) for row in fields]).translate(None, b".,")
    table = np.fromstring(digits, dtype=np.int64, sep=" ")
    table = table.reshape(len(fields), depth + _SHARES + 1).astype(np.float64)
    speed, rate = table[:, _SPEED] / 100.0, table[:, -1] / 1000.0
    lines = _Lines(
        table[:, _LENGTH] / 100.0,
        table[:, _ACCEPTED],
        table[:, _DRAFTED],
        table[:, _SHARES:-1] / 1000.0,
    )
    drafted, shares = lines.drafted, lines.shares
    # Lines without drafts are not good; 1 only keeps their quotient finite.
    printed = np.abs(rate - lines.accepted / np.where(drafted > 0, drafted, 1.0))
    sound = (drafted > 0) & (printed <= HALF_RATE + SLACK)
    sound &= (shares[:, 0] <= 1.0) & (shares[:, 1:] <= shares[:, :-1]).all(axis=1)

    drafts = np.floor(drafted / depth)
    good, counts = _counts(lines, drafts)
    good &= sound & (drafts * depth == drafted)
    notes: list[tuple[str, ...]] = [()] * len(fields)
    rest = np.flatnonzero(sound & ~good & (lines.accepted > 0))
    if rest.size:
        _shorter(lines, rest, drafts, good, counts, notes)
    # A speed of 0 gives no duration.
    seconds = drafted / np.where(speed > 0, speed, np.inf)
    return Batch(
        good=good.tolist(),
        drafts=drafts.astype(np.int64).tolist(),
        drafted=drafted.astype(np.int64).tolist(),
        accepted=lines.accepted.astype(np.int64).tolist(),
        positions=list(map(tuple, counts.astype(np.int64).tolist())),
        seconds=seconds.tolist(),
        notes=notes,
    )


def _counts(lines: _Lines, drafts: Array) -> tuple[Array, Array]:
    """Whether the length and the shares are those of ``drafts``, and the counts P_j."""
    steps = np.maximum(drafts, 1.0)
    good = np.abs(lines.length - 1.0 - lines.accepted / steps) <= HALF_LENGTH + SLACK
    good &= drafts > 0
    exact = lines.shares * drafts[:, None]
    counts = np.rint(exact)
    room = (HALF_SHARE + SLACK) * drafts
    good &= (np.abs(counts - exact) <= room[:, None]).all(axis=1)
    missing = lines.accepted - counts.sum(axis=1)
    unsettled = np.flatnonzero(good & (missing != 0))
    if unsettled.size:
        rows = (values[unsettled] for values in (counts, exact, missing, room, drafts))
        counts[unsettled], good[unsettled] = _settled(*rows)
    return good, counts


def _shorter(
    lines: _Lines,
    rest: Array,
    drafts: Array,
    good: Array,
    counts: Array,
    notes: list[tuple[str, ...]],
) -> None:
    """Fill in the lines ``rest`` whose drafts have fewer than K tokens, where some D fits."""
    least, most = _possible_drafts(lines.some(rest))
    total = lines.shares[rest].sum(axis=1)
    wanted = lines.accepted[rest] / np.where(total > 0, total, np.inf)
    near = np.rint(np.minimum(np.maximum(wanted, least), most))
    open_ = np.flatnonzero(least <= most)
    for offset in _OFFSETS:
        tried = near[open_] + offset
        rows = rest[open_]
        fits, found = _counts(lines.some(rows), tried)
        fits &= (tried >= least[open_]) & (tried <= most[open_])
        drafts[rows[fits]], counts[rows[fits]], good[rows[fits]] = tried[fits], found[fits], True
        for row, k in zip(rows[fits].tolist(), open_[fits].tolist(), strict=True):
            notes[row] = (shorter_note(lines.depth, int(drafts[row]), int(least[k]), int(most[k])),)
        open_ = open_[~fits]
        if not open_.size:
            return


def _possible_drafts(lines: _Lines) -> tuple[Array, Array]:
    """Least and greatest D within the rounding of the shares and of the length."""
    least = np.ceil(lines.drafted / lines.depth - SLACK)
    most = lines.drafted.copy()
    half_total = lines.depth * HALF_SHARE
    for mean, half in ((lines.shares.sum(axis=1), half_total), (lines.length - 1.0, HALF_LENGTH)):
        above, below = np.maximum(mean + half, SLACK), np.maximum(mean - half, SLACK)
        least = np.maximum(least, np.ceil(lines.accepted / above - SLACK))
        most = np.minimum(most, np.floor(lines.accepted / below + SLACK))
    return least, most


def _settled(
    counts: Array, exact: Array, missing: Array, room: Array, drafts: Array
) -> tuple[Array, Array]:
    """Counts moved, most where the rounding leaves most room, until they add to A.

    Beyond 1000 drafts three digits leave several counts to choose from.  Also returns which
    lines could be settled so.
    """
    step = np.sign(missing)[:, None]
    spare = room[:, None] - step * (counts - exact)
    spare = np.minimum(spare, np.where(step > 0, drafts[:, None] - counts, counts))
    # The least room first: each takes its part of what is missing, the last one what is left.
    order = np.argsort(spare, axis=1, kind="stable")
    sizes = np.floor(np.maximum(np.take_along_axis(spare, order, axis=1), 0.0))
    left = np.abs(missing)
    moved = np.empty_like(sizes)
    for k in range(sizes.shape[1]):
        moved[:, k] = np.minimum(sizes[:, k], left // (sizes.shape[1] - k))
        left = left - moved[:, k]
    settled = np.take_along_axis(counts, order, axis=1) + step * moved
    # Equal shares may have been moved unequally; their counts are interchangeable.
    return -np.sort(-settled, axis=1), left == 0
