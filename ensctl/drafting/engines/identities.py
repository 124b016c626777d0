"""What printed counters must satisfy, within the rounding of the print.

With D drafts, A accepted of T drafted tokens and p_j = P_j/D at positions 0 … K−1:

    mean acceptance length = 1 + A/D = 1 + Σ p_j,   rate = A/T,   T ≤ K·D,   p_j non-increasing.

A number printed with n decimals is within ½·10⁻ⁿ of what was counted.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

# Room for the binary representation of printed decimals, far below any rounding of a print.
SLACK = 1e-9

# No draft is longer; a greater K is a damaged number.
MOST_DEPTH = 4096

# Counts beyond this are not exact as floats, and no engine has counted as far.
MOST_COUNT = 1 << 53


class CounterFormat(enum.Enum):
    """The formats that :func:`~ensctl.drafting.engines.read.read_counters` knows."""

    VLLM_LOG = "vllm-log"
    VLLM_PROMETHEUS = "vllm-prometheus"
    VLLM_REQUEST = "vllm-request"
    VLLM_V0 = "vllm-v0"
    SGLANG = "sglang"
    LLAMA_CPP = "llama.cpp"
    TENSORRT_LLM = "tensorrt-llm"
    AIPERF = "aiperf"
    MLC = "mlc"
    STREAMING_TABLE = "streaming-table"


def rounding(text: bytes) -> float:
    """Half a unit of the last printed digit: 0.005 of "2.62"."""
    point = text.find(b".")
    return 0.5 if point < 0 else 0.5 * 10.0 ** -(len(text) - point - 1)


def rising(shares: Sequence[float]) -> int | None:
    """The first position whose share is above the one before it, or above 1; None if none is."""
    previous = 1.0
    for j, share in enumerate(shares):
        if share > previous + SLACK:
            return j
        previous = share
    return None


def whole_positions(
    shares: Sequence[float], drafts: float, accepted: int, half: float
) -> tuple[int, ...] | None:
    """Counts P_j with P_j/D within ``half`` of each printed share and ΣP_j = A; None if none.

    Where several fit, the counts nearest to the printed shares are taken and the excess is
    spread from the position with the most room.
    """
    room = (half + SLACK) * drafts
    counts = [round(share * drafts) for share in shares]
    if any(abs(n - s * drafts) > room for n, s in zip(counts, shares, strict=True)):
        return None
    if sum(counts) != accepted:
        settled = settled_counts(counts, shares, drafts, accepted, room)
        if settled is None:
            return None
        counts = settled
    return tuple(counts) if counts[0] <= drafts else None


def settled_counts(
    counts: Sequence[int], shares: Sequence[float], drafts: float, accepted: int, room: float
) -> list[int] | None:
    """``counts`` moved, each by at most ``room`` from share·D, until they add to A; or None."""
    missing = accepted - sum(counts)
    step = 1 if missing > 0 else -1
    # The least room first: each takes its part of what is missing, the last one what is left.
    spare = sorted(
        (
            min(
                room - step * (count - share * drafts),
                drafts - count if step > 0 else count,
            ),
            j,
        )
        for j, (count, share) in enumerate(zip(counts, shares, strict=True))
    )
    settled = list(counts)
    missing = abs(missing)
    for rank, (left, j) in enumerate(spare):
        moved = min(math.floor(max(left, 0.0)), missing // (len(spare) - rank))
        settled[j] += step * moved
        missing -= moved
    if missing:
        return None
    # Equal shares may have been moved unequally; their counts are interchangeable.
    settled.sort(reverse=True)
    return settled


def shorter_note(depth: int, drafts: int, least: int, most: int) -> str:
    """Says how D was found where T < K·D."""
    within = "" if least == most else f", within {least} … {most}"
    return f"drafts of fewer than K = {depth} tokens: D = {drafts} from the printed shares{within}"


def drafts_from_length(
    accepted: int, drafted: int, length: float, half_length: float, depth: int
) -> tuple[int, int] | None:
    """Least and greatest whole D with A/D within the rounding of the printed length.

    D is at least T/K, and at most T because a draft has a token.  None where no D fits.
    """
    least, most = math.ceil(drafted / depth - SLACK), drafted
    mean = length - 1.0
    if mean + half_length > 0:
        least = max(least, math.ceil(accepted / (mean + half_length) - SLACK))
    if mean - half_length > 0:
        most = min(most, math.floor(accepted / (mean - half_length) + SLACK))
    return (least, most) if least <= most else None
