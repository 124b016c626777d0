"""Policies that do not learn: one arm always, or one arm for each load."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ensctl.arguments import as_count
from ensctl.errors import InvalidInputError
from ensctl.scheduling.policies.arm_set import ArmSet
from ensctl.scheduling.policies.policy import Policy, as_arms, key_of


@dataclass(frozen=True, slots=True)
class FixedState:
    """State of a policy that does not learn.

    Attributes
    ----------
    policy : str
        The policy it belongs to.
    cycles : int
        Cycles so far.
    """

    policy: str
    cycles: int


class Fixed(Policy[FixedState]):
    """One arm in every cycle, or one for each range of loads.

    Parameters
    ----------
    arms : ArmSet
        What there is to choose from.
    arm : int or mapping
        Number of the arm; or batch → number: each entry holds from its batch up to the next.

    Examples
    --------
    >>> from ensctl.scheduling import policies
    >>> arms = policies.arm_set({"E": 0.1}, [2, 4])
    >>> policy = policies.Fixed(arms, {1: 2, 32: 1})
    >>> state = policy.init()
    >>> policy.select(state, batch=16), policy.select(state, batch=64)
    (2, 1)
    """

    state_type: ClassVar[type] = FixedState

    def __init__(self, arms: ArmSet, arm: int | Mapping[int, int]) -> None:
        self.arms = as_arms(arms)
        table = dict(arm) if isinstance(arm, Mapping) else {1: arm}
        if not table:
            raise InvalidInputError("arm must name at least one arm, got an empty mapping")
        pairs = sorted((as_count(b, "batch in arm"), self._arm(a)) for b, a in table.items())
        if pairs[0][0] != 1:
            raise InvalidInputError(f"arm must have an entry for batch 1, starts at {pairs[0][0]}")
        self._batches = tuple(pair[0] for pair in pairs)
        self._chosen = tuple(pair[1] for pair in pairs)
        self.key = key_of("fixed", self.arms, *(f"{b}→{a}" for b, a in pairs))

    def init(self, seed: int = 0) -> FixedState:
        """The state before the first cycle; the seed is not used."""
        return FixedState(self.key, 0)

    def _select(self, state: FixedState, batch: int, context: float) -> int:
        return self._chosen[bisect_right(self._batches, batch) - 1]

    def _update(
        self,
        state: FixedState,
        action: int,
        total: float,
        batch: int,
        context: float,
        positions: tuple[float, ...] | None,
        cycle_time: float | None,
    ) -> FixedState:
        return FixedState(self.key, state.cycles + 1)
