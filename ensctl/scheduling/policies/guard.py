"""The guard of a filter: a change detector for each drafter, and probes of idle ones.

Page's cumulative sums of standardised innovations (Page 1954), both ways, with reference .25 and
limit 20; a single innovation beyond 5.5 is enough.  Drafters that nobody plays cannot show that
they have recovered, so after 500 cycles one is played again, for 16/B cycles: totals of single
cycles overstate a drafter whose luck comes in runs.  With few streams such a probe is long, and
then it waits until probes cost at most .1 % of the throughput.  A probe that went better than
believed goes on until the sum has fallen or the drafter is reset: waiting another 500 cycles for
the next piece of evidence would cost more.
"""

from __future__ import annotations

from dataclasses import dataclass

REFERENCE = 0.25
LIMIT = 20.0
JUMP = 5.5
IDLE = 500
_PROBED_STREAMS = 16
_BUDGET = 0.001
_SURPRISE = 1.0


@dataclass(frozen=True, slots=True)
class Watch:
    """Change detector of one drafter.

    Attributes
    ----------
    rise, fall : float
        Cumulative sums upwards and downwards.
    idle : int
        Cycles since the drafter was last played.
    """

    rise: float = 0.0
    fall: float = 0.0
    idle: int = 0

    def with_score(self, score: float) -> Watch | None:
        """After a standardised innovation; None if the drafter has changed."""
        rise = max(0.0, self.rise + score - REFERENCE)
        fall = max(0.0, self.fall - score - REFERENCE)
        if abs(score) > JUMP or rise > LIMIT or fall > LIMIT:
            return None
        return Watch(rise, fall, 0)


def probe_length(batch: int) -> int:
    """Cycles for which an idle drafter is probed."""
    return max(1, _PROBED_STREAMS // batch)


def probe_is_due(idle: int, batch: int, gap: float) -> bool:
    """Whether a drafter idle for ``idle`` cycles, worse by a share ``gap``, is to be probed."""
    return idle >= max(IDLE, probe_length(batch) * gap / _BUDGET)


def probes_left(probes: int, batch: int, watch: Watch) -> int:
    """Cycles of a probe that are left after one of them; more when it surprises."""
    if probes > 1:
        return probes - 1
    return probe_length(batch) if watch.rise > _SURPRISE else 0
