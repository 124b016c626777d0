"""AHS: KF-UCB, with a switch to the n-gram drafter while copying lasts, learned by load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ensctl.arguments import as_count
from ensctl.errors import InvalidInputError
from ensctl.scheduling.policies.arm_set import ArmSet, load_bucket
from ensctl.scheduling.policies.kf_ucb import KFUCB, KFUCBState
from ensctl.scheduling.policies.policy import Policy, as_arms, key_of
from ensctl.scheduling.policies.state_json import require_number
from ensctl.scheduling.policies.switch_rules import (
    BLOCK_CYCLES,
    RULES,
    BucketRecord,
    drawn_rule,
    is_learning,
)

# Beyond this many streams some of them always copy, and switching all of them gains nothing.
MOST_STREAMS = 32
_BUCKETS = load_bucket(MOST_STREAMS) + 1
_LOOKED_AT = 4


@dataclass(frozen=True, slots=True)
class SwitchState:
    """What AHS has learned.

    Attributes
    ----------
    policy : str
        The policy it belongs to.
    seed : int
        Of its draws.
    base : KFUCBState
        State of KF-UCB, from the cycles it chose.
    switched : bool
        Whether the n-gram drafter plays.
    handed_back : bool
        Whether it played in the cycle before this one.
    rule : int
        Rule of this block.
    bucket : int
        Load bucket of this block, −1 before the first.
    blocks : int
        Blocks so far.
    block_cycles : int
        Cycles of this block.
    block_tokens, block_time : float
        Tokens per stream, and time, of this block.
    records : tuple of BucketRecord
        Price and rewards by load bucket.
    """

    policy: str
    seed: int
    base: KFUCBState
    switched: bool
    handed_back: bool
    rule: int
    bucket: int
    blocks: int
    block_cycles: int
    block_tokens: float
    block_time: float
    records: tuple[BucketRecord, ...]


class HysteresisSwitch(Policy[SwitchState]):
    """KF-UCB that hands over to an n-gram drafter while many streams copy (AHS).

    After a cycle of the neural drafter in which at least a share θ_in of streams accepted
    min(4, K) units, the n-gram drafter plays at its greatest depth for as long as at least θ_out
    of them accept all of it.  Rules (θ_in, θ_out), "never" among them, are chosen by Thompson
    sampling over blocks of 25 cycles, for each load bucket ⌊log2 B⌋; above 32 streams never.

    Parameters
    ----------
    arms : ArmSet
        What there is to choose from.
    neural, ngram : str, optional
        The two drafters; the first and the last of the arms when not given.
    guard : bool
        Whether KF-UCB is guarded.

    Notes
    -----
    Shares are taken from positions where they are told; with totals alone the mean accepted
    share of the draft stands in; for one stream the total itself says it.
    Re-activating the neural drafter costs time in some engines: measure it, give it to ``replay``
    as ``switch_cost`` and to ``update`` inside ``cycle_time``.

    Examples
    --------
    >>> from ensctl.scheduling import policies
    >>> arms = policies.arm_set({"E": 0.1, "N": 0.01}, [4, 10])
    >>> policy = policies.HysteresisSwitch(arms, neural="E", ngram="N")
    >>> state = policy.init(seed=3)
    >>> action = policy.select(state, batch=2)
    >>> policy.update(state, action, 4, batch=2).block_cycles
    1
    """

    state_type: ClassVar[type] = SwitchState
    uses_positions: ClassVar[bool] = True

    def __init__(
        self,
        arms: ArmSet,
        *,
        neural: str | None = None,
        ngram: str | None = None,
        guard: bool = True,
    ) -> None:
        self.arms = as_arms(arms)
        if len(self.arms.pool) < 2:
            raise InvalidInputError("arms must have two drafters to switch between, got one")
        names = (neural or self.arms.pool[0], ngram or self.arms.pool[-1])
        for name in names:
            if name not in self.arms.pool:
                raise InvalidInputError(
                    f"no drafter {name!r}; there are {', '.join(self.arms.pool)}"
                )
        if names[0] == names[1]:
            raise InvalidInputError(f"neural and ngram must differ, both are {names[0]!r}")
        self.base = KFUCB(arms, guard=guard)
        self._neural = self.arms.pool.index(names[0])
        self._copier = self.arms.of(self.arms.pool.index(names[1]))[-1]
        self.key = key_of("ahs", self.arms, *names, "guarded" if guard else "unguarded")

    def init(self, seed: int = 0) -> SwitchState:
        """The state before the first cycle."""
        return SwitchState(
            self.key,
            as_count(seed, "seed", minimum=0),
            self.base.init(),
            False,
            False,
            0,
            -1,
            0,
            0,
            0.0,
            0.0,
            (BucketRecord(),) * _BUCKETS,
        )

    def _require_usable(self, state: SwitchState) -> None:
        self.base._check_state(state.base)
        self.base._require_usable(state.base)
        for record in state.records:
            record.require_usable()
        require_number(state.rule, "rule", 0, len(RULES) - 1)
        require_number(state.bucket, "bucket", -1, _BUCKETS - 1)
        require_number(state.block_cycles, "block_cycles", 0, BLOCK_CYCLES - 1)

    def _select(self, state: SwitchState, batch: int, context: float) -> int:
        if state.switched and batch <= MOST_STREAMS:
            return self._copier
        return self.base._select(state.base, batch, context)

    def _update(
        self,
        state: SwitchState,
        action: int,
        total: float,
        batch: int,
        context: float,
        positions: tuple[float, ...] | None,
        cycle_time: float | None,
    ) -> SwitchState:
        by_rule = state.switched and batch <= MOST_STREAMS and action == self._copier
        base = state.base
        if not by_rule:
            known = cycle_time
            if known is not None and state.handed_back:
                bases, slopes = self.arms.lines(batch, context)
                # What it took longer than a full draft may be the change of drafter.
                known = known if known <= bases[action] + slopes[action] else None
            base = self.base._update(base, action, total, batch, context, positions, known)
        if batch > MOST_STREAMS:
            return SwitchState(
                self.key,
                state.seed,
                base,
                switched=False,
                handed_back=False,
                rule=0,
                bucket=-1,
                blocks=state.blocks,
                block_cycles=0,
                block_tokens=0.0,
                block_time=0.0,
                records=state.records,
            )
        if cycle_time is None:
            bases, slopes = self.arms.lines(batch, context)
            cycle_time = bases[action] + slopes[action]
        bucket = load_bucket(batch)
        records, blocks, rule = state.records, state.blocks, state.rule
        cycles, tokens, time = state.block_cycles, state.block_tokens, state.block_time
        if bucket != state.bucket:
            # A block that the load has cut short says nothing about either load.
            cycles, tokens, time = 0, 0.0, 0.0
            rule = _next_rule(records[bucket], batch, state.seed, blocks)
        cycles, tokens, time = cycles + 1, tokens + total / batch, time + cycle_time
        if cycles == BLOCK_CYCLES:
            compared = not is_learning(batch, blocks)
            record = records[bucket].with_block(rule, tokens, time, cycles, compared=compared)
            records = (*records[:bucket], record, *records[bucket + 1 :])
            blocks += 1
            rule = _next_rule(record, batch, state.seed, blocks)
            cycles, tokens, time = 0, 0.0, 0.0
        enter, leave = RULES[rule]
        switched = False
        depth = self.arms.depths[action]
        if by_rule:
            switched = _share(positions, total, batch, depth, depth) >= leave
        elif self.arms.owner[action] == self._neural:
            looked_at = min(_LOOKED_AT, depth)
            switched = _share(positions, total, batch, depth, looked_at) >= enter
        return SwitchState(
            self.key,
            state.seed,
            base,
            switched,
            by_rule and not switched,
            rule,
            bucket,
            blocks,
            cycles,
            tokens,
            time,
            records,
        )


def _next_rule(record: BucketRecord, batch: int, seed: int, blocks: int) -> int:
    return 0 if is_learning(batch, blocks) else drawn_rule(record, batch, seed, blocks)


def _share(
    positions: tuple[float, ...] | None, total: float, batch: int, depth: int, wanted: int
) -> float:
    """Share of streams with at least ``wanted`` accepted."""
    if positions is not None:
        return positions[wanted - 1] / batch
    if batch == 1:
        return 1.0 if total - 1.0 >= wanted else 0.0
    return (total / batch - 1.0) / depth
