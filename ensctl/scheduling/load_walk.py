"""Loads that change while a replay runs: a schedule of batch sizes by time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ensctl.arguments import as_count, as_scalar
from ensctl.errors import InvalidInputError

LEVELS = (1, 4, 16, 64, 128)
DWELL = 4000.0


@dataclass(frozen=True)
class LoadWalk:
    """A birth–death walk of the batch: each level is kept for a while, then one up or down.

    Parameters
    ----------
    levels : tuple of int
        Batch sizes, increasing.
    dwell : float
        Time spent on a level, in the unit of the costs: 4 s in ms.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> scheduling.LoadWalk().path(seed=0, steps=6)
    (16, 4, 1, 4, 1, 4)
    """

    levels: tuple[int, ...] = LEVELS
    dwell: float = DWELL

    def __post_init__(self) -> None:
        try:
            levels = tuple(as_count(level, "levels") for level in self.levels)
        except TypeError:
            raise InvalidInputError("levels must be batch sizes, in increasing order") from None
        if len(levels) < 1 or sorted(set(levels)) != list(levels):
            raise InvalidInputError(f"levels must increase and be at least one, got {levels}")
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "dwell", as_scalar(self.dwell, "dwell", above=0.0))

    def path(self, seed: int, steps: int) -> tuple[int, ...]:
        """Batch sizes of the first dwells, from the middle level on."""
        rng = np.random.default_rng([as_count(seed, "seed", minimum=0), 1])
        place = len(self.levels) // 2
        batches = []
        for up in rng.random(as_count(steps, "steps")) < 0.5:
            batches.append(self.levels[place])
            # At either end there is one way only.
            step = 1 if up else -1
            inside = 0 <= place + step < len(self.levels)
            place = max(0, min(len(self.levels) - 1, place + (step if inside else -step)))
        return tuple(batches)
