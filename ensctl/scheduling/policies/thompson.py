"""Gaussian Thompson sampling: every arm's mean drawn from its posterior, the best draw played."""

from __future__ import annotations

import math

from ensctl.scheduling.policies.arm_set import ArmSet
from ensctl.scheduling.policies.counter_random import normals
from ensctl.scheduling.policies.policy import as_arms, key_of
from ensctl.scheduling.policies.ucb import ArmsState, SeparateArms

# Prior of a length: the geometric survival of .6, with one standard deviation on one stream.
_PRIOR_RATE = 0.6
_PRIOR_STREAMS = 1.0


class Thompson(SeparateArms):
    """The arm with the greatest draw of its length over its cost.

    Parameters
    ----------
    arms : ArmSet
        What there is to choose from.

    Notes
    -----
    The draw is a function of the state: select gives the same arm until update is called.

    Examples
    --------
    >>> from ensctl.scheduling import policies
    >>> policy = policies.Thompson(policies.arm_set({"E": 0.1}, [2, 4]))
    >>> state = policy.init(seed=1)
    >>> policy.select(state) == policy.select(state)
    True
    """

    def __init__(self, arms: ArmSet) -> None:
        super().__init__(arms, key_of("thompson", as_arms(arms)))

    def _indices(self, state: ArmsState) -> list[float]:
        lengths = []
        draws = normals(state.seed, state.cycles, self.arms.size)
        rows = zip(state.records, self.arms.depths, draws, strict=True)
        for record, depth, luck in rows:
            if depth == 0:
                lengths.append(1.0)
                continue
            guess = (1.0 - _PRIOR_RATE ** (depth + 1)) / (1.0 - _PRIOR_RATE)
            streams = record.streams + _PRIOR_STREAMS
            mean = (record.mean * record.streams + guess * _PRIOR_STREAMS) / streams
            variance = record.stream_variance if record.plays > 1 else 0.8 * guess * (guess - 1.0)
            draw = mean + math.sqrt(variance / streams) * luck
            lengths.append(min(max(draw, 1.0), depth + 1.0))
        return lengths
