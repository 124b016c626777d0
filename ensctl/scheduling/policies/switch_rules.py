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
_PRIOR_SPREAD = 0.25


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """Rewards of one rule.

    Attributes
    ----------
    weight : float
        Blocks, faded.
    mean : float
        Mean reward of a block: tokens per stream and cycle above what its time is worth.
    spread : float
        Faded sum of squared deviations.
    """

    weight: float = 0.0
    mean: float = 0.0
    spread: float = 0.0

    def faded(self) -> RuleRecord:
        """After a block of any rule."""
        return RuleRecord(self.weight * FORGETTING, self.mean, self.spread * FORGETTING)

    def with_block(self, reward: float) -> RuleRecord:
        """After a block of this rule."""
        weight = self.weight + 1.0
        shift = reward - self.mean
        mean = self.mean + shift / weight
        return RuleRecord(weight, mean, self.spread + shift * (reward - mean))


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
        for sums in (self.tokens, self.time, *(x for r in self.rules for x in (r.weight, r.spread))):
            require_number(sums, "records", 0.0)

    @property
    def price(self) -> float:
        """Tokens per stream and unit of time; 0 before any cycle."""
        return self.tokens / self.time if self.time > 0.0 else 0.0

    def with_block(self, rule: int, tokens: float, time: float, cycles: int) -> BucketRecord:
        """After a block played by a rule."""
        kept = FORGETTING**cycles
        paid = BucketRecord(self.tokens * kept + tokens, self.time * kept + time, self.rules)
        reward = (tokens - paid.price * time) / cycles
        rules = tuple(
            record.faded().with_block(reward) if i == rule else record.faded()
            for i, record in enumerate(self.rules)
        )
        return BucketRecord(paid.tokens, paid.time, rules)


def drawn_rule(record: BucketRecord, batch: int, seed: int, counter: int) -> int:
    """The rule with the greatest draw of its mean reward."""
    count = _RULES_OF_ONE if batch == 1 else len(RULES)
    candidates = record.rules[:count]
    known = sum(rule.weight for rule in candidates)
    spread = sum(rule.spread for rule in candidates)
    freedom = known - count
    deviation = math.sqrt(spread / freedom) if freedom > _TRUSTED_BLOCKS else _PRIOR_SPREAD
    draws = [
        (rule.mean if rule.weight else 0.0) + deviation / math.sqrt(max(rule.weight, 0.5)) * luck
        for rule, luck in zip(candidates, normals(seed, counter, count), strict=True)
    ]
    return draws.index(max(draws))
