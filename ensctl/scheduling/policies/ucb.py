"""UCB on separate arms: mean and radius of each arm from its own totals."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from ensctl.arguments import as_count, as_scalar
from ensctl.scheduling.policies.arm_record import EMPTY, ArmRecord
from ensctl.scheduling.policies.arm_set import ArmSet
from ensctl.scheduling.policies.draft_share import DraftShare
from ensctl.scheduling.policies.policy import Policy, as_arms, key_of
from ensctl.scheduling.policies.state_json import require_number


@dataclass(frozen=True, slots=True)
class ArmsState:
    """What a policy on separate arms has learned.

    Attributes
    ----------
    policy : str
        The policy it belongs to.
    seed : int
        Of its draws.
    cycles : int
        Cycles so far.
    records : tuple of ArmRecord
        Totals of each arm.
    shares : tuple of DraftShare
        Share of the draft cost that each drafter pays.
    """

    policy: str
    seed: int
    cycles: int
    records: tuple[ArmRecord, ...]
    shares: tuple[DraftShare, ...]


class SeparateArms(Policy[ArmsState]):
    """Base of policies that keep a record of each arm and nothing that arms have in common."""

    state_type: ClassVar[type] = ArmsState

    def __init__(self, arms: ArmSet, key: str) -> None:
        self.arms = as_arms(arms)
        self.key = key

    def init(self, seed: int = 0) -> ArmsState:
        """The state before the first cycle."""
        shares = (DraftShare(),) * len(self.arms.pool)
        return ArmsState(
            self.key, as_count(seed, "seed", minimum=0), 0, (EMPTY,) * self.arms.size, shares
        )

    def _require_usable(self, state: ArmsState) -> None:
        require_number(state.cycles, "cycles", 0)
        for record in state.records:
            record.require_usable()
        for share in state.shares:
            share.require_usable()

    @abstractmethod
    def _indices(self, state: ArmsState) -> list[float]:
        """Optimistic length of each arm."""

    def _select(self, state: ArmsState, batch: int, context: float) -> int:
        bases, slopes = self.arms.lines(batch, context)
        shares = [*(share.value for share in state.shares), 1.0]
        lengths = self._indices(state)
        rates = [
            length / (base + shares[owner] * slope)
            for length, base, slope, owner in zip(
                lengths, bases, slopes, self.arms.owner, strict=True
            )
        ]
        return rates.index(max(rates))

    def _update(
        self,
        state: ArmsState,
        action: int,
        total: float,
        batch: int,
        context: float,
        positions: tuple[float, ...] | None,
        cycle_time: float | None,
    ) -> ArmsState:
        record = state.records[action].with_play(total / batch, batch)
        records = (*state.records[:action], record, *state.records[action + 1 :])
        shares = state.shares
        drafter = self.arms.owner[action]
        if cycle_time is not None and drafter >= 0:
            bases, slopes = self.arms.lines(batch, context)
            share = shares[drafter].with_cycle(cycle_time, bases[action], slopes[action])
            shares = (*shares[:drafter], share, *shares[drafter + 1 :])
        return ArmsState(self.key, state.seed, state.cycles + 1, records, shares)


class UCB(SeparateArms):
    """The arm with the greatest (mean + √(2 s² ln t/n))/C, n the streams it was seen on.

    Parameters
    ----------
    arms : ArmSet
        What there is to choose from.
    width : float
        Factor > 0 of the radius.

    Notes
    -----
    s² is the sample variance of a stream; radii from the range K alone explore far too long.
    Arms that were never played come first.

    Examples
    --------
    >>> from ensctl.scheduling import policies
    >>> policy = policies.UCB(policies.arm_set({"E": 0.1}, [2, 4]))
    >>> state = policy.update(policy.init(), 0, 8, batch=8)
    >>> policy.select(state, batch=8)
    1
    """

    def __init__(self, arms: ArmSet, *, width: float = 1.0) -> None:
        self.width = as_scalar(width, "width", above=0.0)
        super().__init__(arms, key_of("ucb", as_arms(arms), f"width={self.width:g}"))

    def _indices(self, state: ArmsState) -> list[float]:
        log = 2.0 * self.width * math.log(state.cycles + 1.0)
        lengths = []
        for record, depth in zip(state.records, self.arms.depths, strict=True):
            if depth == 0:
                lengths.append(1.0)
            elif not record.plays:
                lengths.append(math.inf)
            else:
                radius = math.sqrt(log * record.stream_variance / record.streams)
                lengths.append(min(record.mean + radius, depth + 1.0))
        return lengths
