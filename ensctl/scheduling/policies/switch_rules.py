"""Which switching rule pays: Gaussian Thompson sampling over blocks of cycles, by load bucket."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ensctl.scheduling.policies.counter_random import normals
from ensctl.scheduling.policies.state_json import require_number

BLOCK_CYCLES = 25
FORGETTING = 0.998
# Share of streams beyond which the n-gram drafter takes over, and below which it hands back.
RULES = ((math.inf, math.inf), (0.3, 0.3), (0.2, 0.3), (0.4, 0.2), (0.6, 0.4))
# With one stream shares are 0 or 1, and all rules but "none" are one.
_RULES_OF_ONE = 2
_TRUSTED_BLOCKS = 2.0
# Blocks of one stream before rules are compared: until then KF-UCB itself still tries arms.
_LEARNING_BLOCKS = 8
_PRIOR_SPREAD = 0.25


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """What the blocks of one rule gave.

    Tokens and time are kept apart: the price of time rises while the policy learns, and a reward
    at the price of its day would favour whichever rule was played first.

    Attributes
    ----------
    weight : float
        Blocks, faded.
    tokens, time : float
        Mean tokens per stream, and mean time, of a cycle.
    spread : float
        Faded sum of squared deviations of the rewards of blocks.
    """

    weight: float = 0.0
    tokens: float = 0.0
    time: float = 0.0
    spread: float = 0.0

    def reward(self, price: float) -> float:
        """Mean tokens per stream and cycle above what the time is worth; 0 before any block."""
        return self.tokens - price * self.time

    def faded(self) -> RuleRecord:
        """After a block of any rule."""
        return RuleRecord(
            self.weight * FORGETTING, self.tokens, self.time, self.spread * FORGETTING
        )

    def with_block(self, tokens: float, time: float, price: float) -> RuleRecord:
        """After a block of this rule, of so many tokens and so much time per cycle."""
        weight = self.weight + 1.0
        mean_tokens = self.tokens + (tokens - self.tokens) / weight
        mean_time = self.time + (time - self.time) / weight
        before = tokens - self.tokens - price * (time - self.time)
        after = tokens - mean_tokens - price * (time - mean_time)
        return RuleRecord(weight, mean_tokens, mean_time, self.spread + max(before * after, 0.0))


@dataclass(frozen=True, slots=True)
class BucketRecord:
    """What is known at one load bucket.

    Attributes
    ----------
    tokens, time : float
        Faded sums per stream: their ratio is the price of time.
    rules : tuple of RuleRecord
        Rewards of each rule.
    """

    tokens: float = 0.0
    time: float = 0.0
    rules: tuple[RuleRecord, ...] = (RuleRecord(),) * len(RULES)

    def require_usable(self) -> None:
        """Refuse sums that no blocks give."""
        for sums in (
            self.tokens,
            self.time,
            *(x for r in self.rules for x in (r.weight, r.spread)),
        ):
            require_number(sums, "records", 0.0)

    @property
    def price(self) -> float:
        """Tokens per stream and unit of time; 0 before any cycle."""
        return self.tokens / self.time if self.time > 0.0 else 0.0

    def with_block(
        self, rule: int, tokens: float, time: float, cycles: int, *, compared: bool = True
    ) -> BucketRecord:
        """After a block played by a rule; one that is not compared only tells the price."""
        kept = FORGETTING**cycles
        paid = BucketRecord(self.tokens * kept + tokens, self.time * kept + time, self.rules)
        if not compared:
            return paid
        block = (tokens / cycles, time / cycles, paid.price)
        rules = tuple(
            record.faded().with_block(*block) if i == rule else record.faded()
            for i, record in enumerate(self.rules)
        )
        return BucketRecord(paid.tokens, paid.time, rules)


def is_learning(batch: int, blocks: int) -> bool:
    """Whether KF-UCB is still so new after some blocks that its cycles say little about rules."""
    return blocks * batch < _LEARNING_BLOCKS


def drawn_rule(record: BucketRecord, batch: int, seed: int, counter: int) -> int:
    """The rule with the greatest draw of its mean reward."""
    count = _RULES_OF_ONE if batch == 1 else len(RULES)
    candidates = record.rules[:count]
    known = sum(rule.weight for rule in candidates)
    spread = sum(rule.spread for rule in candidates)
    freedom = known - count
    deviation = math.sqrt(spread / freedom) if freedom > _TRUSTED_BLOCKS else _PRIOR_SPREAD
    draws = [
        rule.reward(record.price) + deviation / math.sqrt(max(rule.weight, 0.5)) * luck
        for rule, luck in zip(candidates, normals(seed, counter, count), strict=True)
    ]
    return draws.index(max(draws))
