"""D and the counts P_j behind a printed length 1 + A/D and printed shares P_j/D."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ensctl.drafting.engines.identities import (
    SLACK,
    drafts_from_length,
    rising,
    rounding,
    shorter_note,
    whole_positions,
)
from ensctl.drafting.engines.reading import Reading

_MOST_CANDIDATES = 2048


@dataclass(frozen=True)
class Printed:
    """What a line prints: A, T, the shares at K positions and, mostly, the length."""

    accepted: int
    drafted: int
    texts: tuple[bytes, ...]
    length: bytes | None

    def __post_init__(self) -> None:
        # Raises ValueError here rather than later.
        _ = self.shares

    @property
    def shares(self) -> list[float]:
        """P_j/D as printed."""
        return [float(text) for text in self.texts]

    @property
    def half(self) -> float:
        """Half a unit of the last digit of a share."""
        return max(rounding(text) for text in self.texts)

    @property
    def depth(self) -> int:
        """K, the number of positions."""
        return len(self.texts)

    @property
    def total(self) -> float:
        """Σ P_j/D."""
        return math.fsum(self.shares)


def counts_of(
    printed: Printed, line: int, reading: Reading
) -> tuple[int, tuple[int, ...] | None, tuple[str, ...]]:
    """D, P_j and notes; P_j is None where ``strict=False`` lets a contradiction pass."""
    depth, drafted = printed.depth, printed.drafted
    reading.require_depth(line, depth)
    least_most = _possible_drafts(printed)
    trouble = _contradiction(printed, least_most)
    if trouble or least_most is None:
        reading.problem(line, trouble)
        return math.ceil(drafted / depth), None, ()
    drafts, positions = _best(printed, least_most)
    if positions is None:
        reading.problem(
            line,
            f"no counts of {printed.accepted} accepted tokens give the printed per-position rates",
        )
        return drafts, None, ()
    if drafts * depth == drafted:
        return drafts, positions, ()
    return drafts, positions, (shorter_note(depth, drafts, *least_most),)


def _contradiction(printed: Printed, least_most: tuple[int, int] | None) -> str:
    shares, total, length = printed.shares, printed.total, printed.length
    bad = rising(shares)
    if bad is not None:
        return f"per-position rate rises at position {bad}: {shares[bad]:g}"
    if length is not None:
        room = rounding(length) + printed.depth * printed.half + SLACK
        if not abs(float(length) - 1.0 - total) <= room:
            return (
                f"mean acceptance length {length.decode()} is not 1 + Σ per-position rates = "
                f"{1.0 + total:.3f}"
            )
    if least_most is None:
        return (
            f"{printed.accepted} accepted of {printed.drafted} drafted tokens contradict the "
            f"per-position rates (Σ = {total:.3f} at K = {printed.depth})"
        )
    return ""


def _possible_drafts(printed: Printed) -> tuple[int, int] | None:
    accepted, drafted, depth = printed.accepted, printed.drafted, printed.depth
    by_shares = drafts_from_length(
        accepted, drafted, 1.0 + printed.total, depth * printed.half, depth
    )
    if printed.length is None or by_shares is None:
        return by_shares
    length = printed.length
    by_length = drafts_from_length(accepted, drafted, float(length), rounding(length), depth)
    if by_length is None:
        return None
    least, most = max(by_shares[0], by_length[0]), min(by_shares[1], by_length[1])
    return (least, most) if least <= most else None


def _best(printed: Printed, least_most: tuple[int, int]) -> tuple[int, tuple[int, ...] | None]:
    """The D that the shares fit, and its counts: T/K if it does, else the nearest to A/Σp."""
    least, most = least_most
    accepted, shares, half = printed.accepted, printed.shares, printed.half
    if least * printed.depth == printed.drafted:
        positions = whole_positions(shares, least, accepted, half)
        if positions is not None:
            return least, positions
    wanted = accepted / printed.total if printed.total else least
    near = round(min(max(wanted, least), most))
    for away in range(_MOST_CANDIDATES):
        for drafts in (near - away, near + away):
            if least <= drafts <= most:
                positions = whole_positions(shares, drafts, accepted, half)
                if positions is not None:
                    return drafts, positions
    return near, None
