"""KF-UCB: upper bounds from a Gaussian filter on each drafter's survival, guarded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from ensctl.arguments import as_scalar
from ensctl.scheduling.policies.arm_record import EMPTY, ArmRecord
from ensctl.scheduling.policies.arm_set import ArmSet
from ensctl.scheduling.policies.draft_share import DraftShare
from ensctl.scheduling.policies.guard import IDLE, Watch, probe_is_due, probe_length, probes_left
from ensctl.scheduling.policies.policy import Policy, as_arms, key_of
from ensctl.scheduling.policies.state_json import require_number
from ensctl.scheduling.policies.survival_filter import (
    SurvivalFilter,
    prior,
    require_usable,
    updated,
    variance_of,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KFUCBState:
    """What KF-UCB has learned.

    Attributes
    ----------
    policy : str
        The policy it belongs to.
    cycles : int
        Cycles so far.
    resets : int
        Drafters that the guard has reset so far.
    beliefs : tuple of SurvivalFilter
        Belief about each drafter.
    records : tuple of ArmRecord
        Totals of each arm.
    watches : tuple of Watch
        Change detector of each drafter.
    shares : tuple of DraftShare
        Share of the draft cost that each drafter pays.
    probed : int
        Drafter that is being probed, −1 for none.
    probes : int
        Cycles left of the probe.
    """

    policy: str
    cycles: int
    resets: int
    beliefs: tuple[SurvivalFilter, ...]
    records: tuple[ArmRecord, ...]
    watches: tuple[Watch, ...]
    shares: tuple[DraftShare, ...]
    probed: int
    probes: int


class KFUCB(Policy[KFUCBState]):
    """The arm with the greatest (1 + M_K + 2 sd(M_K))/C, M_K filtered from totals.

    Parameters
    ----------
    arms : ArmSet
        What there is to choose from.
    guard : bool
        Reset drafters whose totals have changed, and probe idle ones.
    width : float
        Standard deviations ≥ 0 in the upper bound.

    Notes
    -----
    One belief per drafter serves all its depths and all loads; costs are taken at the load of the
    cycle.  A cycle costs a few µs and the state does not grow.

    Examples
    --------
    >>> from ensctl.scheduling import policies
    >>> policy = policies.KFUCB(policies.arm_set({"E": 0.1}, [1, 2, 4]))
    >>> state = policy.init()
    >>> action = policy.select(state, batch=8)
    >>> policy.arms.names[action]
    'E K=4'
    >>> state = policy.update(state, action, 17, batch=8)
    >>> state.cycles
    1
    """

    state_type: ClassVar[type] = KFUCBState

    def __init__(self, arms: ArmSet, *, guard: bool = True, width: float = 2.0) -> None:
        self.arms = as_arms(arms)
        self.guard = bool(guard)
        self.width = as_scalar(width, "width", at_least=0.0)
        self.key = key_of(
            "kf-ucb", self.arms, "guarded" if guard else "unguarded", f"width={self.width:g}"
        )
        owned = [self.arms.of(d) for d in range(len(self.arms.pool))]
        # Arms of a drafter stand together.
        self._spans = tuple((mine[0], mine[-1] + 1) for mine in owned)
        self._off = self.arms.of(-1)
        self._coordinate = tuple(
            0 if d < 0 else owned[d].index(i) for i, d in enumerate(self.arms.owner)
        )
        self._priors = tuple(prior(tuple(self.arms.depths[i] for i in mine)) for mine in owned)

    def init(self, seed: int = 0) -> KFUCBState:
        """The state before the first cycle; the seed is not used."""
        drafters = len(self.arms.pool)
        return KFUCBState(
            self.key,
            0,
            0,
            self._priors,
            (EMPTY,) * self.arms.size,
            (Watch(),) * drafters,
            (DraftShare(),) * drafters,
            -1,
            0,
        )

    def _require_usable(self, state: KFUCBState) -> None:
        for belief in state.beliefs:
            require_usable(belief)
        for record in state.records:
            record.require_usable()
        for share in state.shares:
            share.require_usable()
        require_number(state.probed, "probed", -1, len(self._spans) - 1)
        require_number(state.probes, "probes", 0 if state.probed < 0 else 1)

    def _select(self, state: KFUCBState, batch: int, context: float) -> int:
        bases, slopes = self.arms.lines(batch, context)
        if self.guard:
            probed = state.probed if state.probes else self._due(state, batch, bases, slopes)
            if probed >= 0:
                return self._best(state, probed, bases, slopes, self.width)[1]
        best, arm = -math.inf, 0
        for off in self._off:
            best, arm = 1.0 / bases[off], off
        for drafter in range(len(self._spans)):
            index, candidate = self._best(state, drafter, bases, slopes, self.width)
            if index > best:
                best, arm = index, candidate
        return arm

    def _best(
        self,
        state: KFUCBState,
        drafter: int,
        bases: tuple[float, ...],
        slopes: tuple[float, ...],
        width: float,
    ) -> tuple[float, int]:
        """Greatest index among the depths of a drafter, and its arm."""
        belief = state.beliefs[drafter]
        share = state.shares[drafter].value
        begin, end = self._spans[drafter]
        rows = zip(belief.mean, belief.deviation, bases[begin:end], slopes[begin:end], strict=True)
        indices = [(1.0 + m + width * d) / (b + share * s) for m, d, b, s in rows]
        best = max(indices)
        return best, begin + indices.index(best)

    def _due(
        self,
        state: KFUCBState,
        batch: int,
        bases: tuple[float, ...],
        slopes: tuple[float, ...],
    ) -> int:
        """An idle drafter that is to be probed, −1 for none."""
        if all(watch.idle < IDLE for watch in state.watches):
            return -1
        drafters = range(len(self._spans))
        rates = [self._best(state, d, bases, slopes, 0.0)[0] for d in drafters]
        best = max(rates + [1.0 / bases[off] for off in self._off])
        for drafter, watch in enumerate(state.watches):
            if probe_is_due(watch.idle, batch, 1.0 - rates[drafter] / best):
                return drafter
        return -1

    def _update(
        self,
        state: KFUCBState,
        action: int,
        total: float,
        batch: int,
        context: float,
        positions: tuple[float, ...] | None,
        cycle_time: float | None,
    ) -> KFUCBState:
        drafter = self.arms.owner[action]
        watches = [Watch(watch.rise, watch.fall, watch.idle + 1) for watch in state.watches]
        beliefs, records, shares = state.beliefs, state.records, state.shares
        probed, probes, resets = state.probed, state.probes, state.resets
        if drafter >= 0:
            coordinate = self._coordinate[action]
            length = total / batch
            before = records[action]
            record = before.with_play(length, batch)
            belief = beliefs[drafter]
            innovation = length - 1.0 - belief.mean[coordinate]
            noise = record.stream_variance / batch
            variance = variance_of(belief, coordinate) + noise
            belief = updated(belief, coordinate, innovation, noise)
            watch: Watch | None = Watch()
            if self.guard:
                waited = state.watches[drafter].idle >= IDLE
                # Luck comes in runs: a cycle after a long wait belongs to none that was seen.
                inflation = 1.0 if waited else before.inflation
                score = innovation / math.sqrt(variance * inflation)
                watch = state.watches[drafter].with_score(score)
                if waited:
                    probed, probes = drafter, probe_length(batch)
            if watch is None:
                belief, watch = self._priors[drafter], Watch()
                resets += 1
                begin, end = self._spans[drafter]
                # The inflation of variance is kept: without it the next alarm would be false.
                mine = [kept.forgotten() for kept in records[begin:end]]
                records = (*records[:begin], *mine, *records[end:])
                record = before.forgotten()
            if probed == drafter:
                probes = probes_left(probes, batch, watch)
                probed = drafter if probes else -1
            watches[drafter] = watch
            beliefs = _replaced(beliefs, drafter, belief)
            records = _replaced(records, action, record)
            if cycle_time is not None:
                bases, slopes = self.arms.lines(batch, context)
                steady = state.watches[drafter].idle == 0
                share = shares[drafter].with_cycle(
                    cycle_time, bases[action], slopes[action], steady=steady
                )
                shares = _replaced(shares, drafter, share)
        return KFUCBState(
            self.key,
            state.cycles + 1,
            resets,
            beliefs,
            records,
            tuple(watches),
            shares,
            probed,
            probes,
        )


def _replaced(items: tuple[T, ...], position: int, item: T) -> tuple[T, ...]:
    return (*items[:position], item, *items[position + 1 :])
