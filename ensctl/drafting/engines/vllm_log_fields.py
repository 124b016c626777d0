"""The fields of one vLLM V1 metrics line in any order, and what they say about D and P_j."""

from __future__ import annotations

import math
import re

from ensctl.drafting.engines.identities import SLACK, drafts_from_length, rounding
from ensctl.drafting.engines.printed_shares import Printed, counts_of
from ensctl.drafting.engines.reading import Reading

_NUMBER = rb"([-+]?(?:\d+\.?\d*|nan|inf))"
_FIELDS = {
    "length": re.compile(rb"Mean acceptance length: " + _NUMBER),
    "accepted": re.compile(rb"(?:Accepted|Number of accepted tokens): (\d{1,15})\b"),
    "drafted": re.compile(rb"(?:Drafted|Number of draft tokens): (\d{1,15})(?: tokens|,)"),
    "rate": re.compile(rb"[Dd]raft acceptance rate: " + _NUMBER + rb"(%?)"),
    "speed": re.compile(rb"Drafted throughput: " + _NUMBER),
    "shares": re.compile(rb"Per-position acceptance rate: ([\d.]+(?:, \d[\d.]*)*)"),
}


Values = tuple[int, int, int, tuple[int, ...] | None, int | None, float | None, tuple[str, ...]]
Found = tuple[int, tuple[int, ...] | None, int, tuple[str, ...]]


def read_fields(text: bytes, line: int, reading: Reading) -> Values | None:
    """D, T, A, P_j, K, seconds of one line and notes; None where strict=False leaves it out."""
    found = {name: pattern.search(text) for name, pattern in _FIELDS.items()}
    accepted_field, drafted_field = found["accepted"], found["drafted"]
    if accepted_field is None or drafted_field is None or _cut(text, found["rate"] is None):
        reading.problem(line, "the metrics line is cut off or not of a known form")
        return None
    accepted, drafted = int(accepted_field.group(1)), int(drafted_field.group(1))
    if accepted > drafted:
        reading.problem(line, f"{accepted} tokens accepted of {drafted} drafted")
        return None
    if not drafted:
        return 0, 0, 0, None, reading.depth, None, ("no step drafted in this window",)
    rate = found["rate"]
    if rate is not None and not _rate_agrees(rate, accepted / drafted):
        reading.problem(
            line,
            f"draft acceptance rate {_shown(rate.group(0))} is not accepted/drafted = "
            f"{accepted}/{drafted} = {accepted / drafted:.4f}",
        )
    shares_field = found["shares"]
    if shares_field is None and b"Per-position" in text:
        reading.problem(line, "the per-position acceptance rates are not of a known form")
        return None
    if shares_field is None:
        read = _without_positions(accepted, drafted, found["length"], line, reading)
    else:
        texts = tuple(shares_field.group(1).split(b", "))
        length = found["length"]
        try:
            printed = Printed(accepted, drafted, texts, length.group(1) if length else None)
        except ValueError:
            reading.problem(line, f"per-position rates are not numbers: {_shown(texts[-1])}")
            return None
        drafts, positions, notes = counts_of(printed, line, reading)
        read = drafts, positions, len(texts), notes
    drafts, positions, depth, notes = read
    speed = found["speed"]
    per_second = float(speed.group(1)) if speed else 0.0
    seconds = drafted / per_second if 0 < per_second < math.inf else None
    return drafts, drafted, accepted, positions, depth, seconds, notes


def _without_positions(
    accepted: int,
    drafted: int,
    length: re.Match[bytes] | None,
    line: int,
    reading: Reading,
) -> Found:
    depth = reading.depth
    if depth is None:
        raise reading.error(
            line,
            "this version of vLLM does not print K; give depth=, the num_speculative_tokens of "
            "the server",
        )
    drafts = math.ceil(drafted / depth)
    if length is not None:
        bounds = drafts_from_length(
            accepted, drafted, float(length.group(1)), rounding(length.group(1)), depth
        )
        if bounds is None:
            reading.problem(
                line,
                f"mean acceptance length {_shown(length.group(1))} is not 1 + A·K/drafted = "
                f"{1 + accepted * depth / drafted:.3f} at K = {depth}",
            )
        else:
            drafts = bounds[0]
    if drafts * depth == drafted:
        return drafts, None, depth, ()
    return drafts, None, depth, (f"drafts of fewer than K = {depth} tokens: D ≥ {drafts}",)


def _rate_agrees(rate: re.Match[bytes], ratio: float) -> bool:
    number, percent = rate.groups()
    scale = 100.0 if percent else 1.0
    return abs(float(number) / scale - ratio) <= rounding(number) / scale + SLACK


def _cut(text: bytes, without_rate: bool) -> bool:
    # Every version prints the rate; only the very first end with a comma.
    ends = text.rstrip().endswith((b",", b":")) and b"Number of draft tokens" not in text
    return without_rate or ends


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "replace")
