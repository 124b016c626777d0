"""Many metrics lines of one depth at once: numbers, identities and counts P_j by array.

A line is good here when its drafts all have K tokens and everything it prints agrees with
D = T/K.  Whatever is not good is left to the reading field by field, which says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ensctl.arguments import Array
from ensctl.drafting.engines.identities import SLACK

# Digits printed: two of the length and the speed, three of a share, one of a percentage.
HALF_LENGTH, HALF_SHARE, HALF_RATE = 0.005, 0.0005, 0.0005

_LENGTH, _SPEED, _ACCEPTED, _DRAFTED, _SHARES = range(5)


@dataclass(frozen=True)
class Batch:
    """Counts of n lines of depth K; ``good`` says which can be used."""

    good: list[bool]
    drafts: list[int]
    drafted: list[int]
    accepted: list[int]
    positions: list[tuple[int, ...]]
    seconds: list[float]


def read_batch(fields: Sequence[tuple[bytes, ...]], depth: int) -> Batch:
    """Convert and check the fields length, speed, accepted, drafted, shares, rate of n lines."""
    # The digits behind the points are known, and integers are read seven times faster.
    digits = b" ".join([b" ".join(row) for row in fields]).translate(None, b".,")
    table = np.fromstring(digits, dtype=np.int64, sep=" ")
    table = table.reshape(len(fields), depth + _SHARES + 1).astype(np.float64)
    length, speed = table[:, _LENGTH] / 100.0, table[:, _SPEED] / 100.0
    accepted, drafted = table[:, _ACCEPTED], table[:, _DRAFTED]
    shares, rate = table[:, _SHARES:-1] / 1000.0, table[:, -1] / 1000.0

    drafts = np.floor(drafted / depth)
    good = (drafts * depth == drafted) & (drafts > 0)
    # Lines without drafts are not good; 1 only keeps their quotients finite.
    steps = np.where(drafts > 0, drafts, 1.0)
    good &= np.abs(length - 1.0 - accepted / steps) <= HALF_LENGTH + SLACK
    good &= np.abs(rate - accepted / (steps * depth)) <= HALF_RATE + SLACK
    good &= shares[:, 0] <= 1.0
    good &= (shares[:, 1:] <= shares[:, :-1]).all(axis=1)

    exact = shares * drafts[:, None]
    counts = np.rint(exact)
    room = (HALF_SHARE + SLACK) * drafts
    good &= (np.abs(counts - exact) <= room[:, None]).all(axis=1)
    missing = accepted - counts.sum(axis=1)
    unsettled = np.flatnonzero(good & (missing != 0))
    if unsettled.size:
        settled, holds = _settled(
            counts[unsettled], exact[unsettled], missing[unsettled], room[unsettled]
        )
        counts[unsettled] = settled
        good[unsettled] = holds & (settled[:, 0] <= drafts[unsettled])
    # A speed of 0 gives no duration.
    seconds = drafted / np.where(speed > 0, speed, np.inf)
    return Batch(
        good=good.tolist(),
        drafts=drafts.astype(np.int64).tolist(),
        drafted=drafted.astype(np.int64).tolist(),
        accepted=accepted.astype(np.int64).tolist(),
        positions=list(map(tuple, counts.astype(np.int64).tolist())),
        seconds=seconds.tolist(),
    )


def _settled(counts: Array, exact: Array, missing: Array, room: Array) -> tuple[Array, Array]:
    """Counts moved, most where the rounding leaves most room, until they add to A.

    Beyond 1000 drafts three digits leave several counts to choose from.  Also returns which
    lines could be settled so.
    """
    step = np.sign(missing)[:, None]
    spare = room[:, None] - step * (counts - exact)
    rank = np.argsort(np.argsort(-spare, axis=1, kind="stable"), axis=1, kind="stable")
    each, rest = np.divmod(np.abs(missing), counts.shape[1])
    moved = each[:, None] + (rank < rest[:, None])
    settled = counts + step * moved
    holds = (moved <= np.maximum(spare, 0.0)).all(axis=1) & (settled >= 0).all(axis=1)
    # Equal shares may have been moved unequally; their counts are interchangeable.
    return -np.sort(-settled, axis=1), holds
