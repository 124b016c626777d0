"""Running mean, variance and block variance of the totals of one arm, in a few numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ensctl.scheduling.policies.state_json import require_number

# Plays before the sample variance of an arm is believed.
_TRUSTED = 10
BLOCK = 20
_GUESSED_BLOCKS = 5


@dataclass(frozen=True, slots=True)
class ArmRecord:
    """What the totals of one arm were.

    Attributes
    ----------
    plays : int
        Cycles.
    streams : float
        Streams summed over the cycles.
    mean : float
        Tokens per stream and cycle.
    spread : float
        Σ B (m − mean)²: over plays − 1 the variance of one stream.
    open_sum : float
        Σ √B (m − mean) of the block that is not full.
    open_plays : int
        Its plays.
    blocks : int
        Full blocks of 20 plays.
    block_spread : float
        Σ of their squared sums.
    usual : float
        VIF expected before blocks show it.
    """

    plays: int = 0
    streams: float = 0.0
    mean: float = 0.0
    spread: float = 0.0
    open_sum: float = 0.0
    open_plays: int = 0
    blocks: int = 0
    block_spread: float = 0.0
    usual: float = 3.0

    def with_play(self, length: float, batch: int) -> ArmRecord:
        """The record after a cycle of mean length m over B streams (Welford's update)."""
        streams = self.streams + batch
        shift = length - self.mean
        mean = self.mean + shift * batch / streams
        spread = self.spread + batch * shift * (length - mean)
        open_sum = self.open_sum + math.sqrt(batch) * (length - mean)
        if self.open_plays + 1 < BLOCK:
            return ArmRecord(
                self.plays + 1,
                streams,
                mean,
                spread,
                open_sum,
                self.open_plays + 1,
                self.blocks,
                self.block_spread,
                self.usual,
            )
        blocks, block_spread = self.blocks + 1, self.block_spread + open_sum * open_sum
        return ArmRecord(
            self.plays + 1, streams, mean, spread, 0.0, 0, blocks, block_spread, self.usual
        )

    def forgotten(self) -> ArmRecord:
        """An empty record that expects the VIF seen so far."""
        return ArmRecord(usual=self.inflation)

    def require_usable(self) -> None:
        """Refuse counts and sums that no plays give."""
        require_number(self.plays, "records.plays", 0)
        require_number(self.streams, "records.streams", self.plays)
        require_number(self.blocks, "records.blocks", 0)
        require_number(self.open_plays, "records.open_plays", 0, BLOCK - 1)
        require_number(self.usual, "records.usual", 1.0)

    @property
    def stream_variance(self) -> float:
        """Variance of one stream's length; a cautious guess for the first 10 plays."""
        if self.plays < _TRUSTED:
            return max(0.8 * self.mean * (self.mean - 1.0), 0.5)
        return max(self.spread / (self.plays - 1), 1e-6)

    @property
    def inflation(self) -> float:
        """Variance of block means over that of independent cycles, VIF ≥ 1.

        Few blocks count for little beside a guess that is usual in serving.
        """
        if self.spread <= 0.0 or not self.blocks:
            return self.usual
        seen = self.block_spread / (self.blocks * BLOCK) * (self.plays - 1) / self.spread
        weight = _GUESSED_BLOCKS + self.blocks
        return max((_GUESSED_BLOCKS * self.usual + self.blocks * seen) / weight, 1.0)


EMPTY = ArmRecord()
