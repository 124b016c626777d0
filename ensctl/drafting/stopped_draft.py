"""Drafts that stop when the drafter loses confidence: lengths and costs of their cycles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import read_only
from ensctl.display import Summarised
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.convert_length import as_probability
from ensctl.drafting.cost import CostModel, as_cost
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class StoppedDraft(Summarised):
    """Result of :func:`stopped_draft`.

    Attributes
    ----------
    max_depth : int
        K, where a draft stops at the latest.
    expected_length : float
        E[L], in units per cycle.
    accepted : float
        Draft units kept per cycle.
    drafted : float
        Draft units verified per cycle.
    passes : float
        Drafter passes per cycle: the units verified and, where it is discarded, the one at which
        the drafter stopped.
    reach : (K + 1,) array, read-only
        P(at least j drafter passes), j = 0 … K.
    convention : Convention
        How the units of a cycle are counted.
    """

    max_depth: int
    expected_length: float
    accepted: float
    drafted: float
    passes: float
    reach: Array
    convention: Convention

    @property
    def acceptance_rate(self) -> float:
        """Kept over verified draft units; rises with the threshold whatever becomes of speed."""
        return self.accepted / self.drafted if self.drafted > 0 else 0.0

    def expected_cycle(
        self, cost: CostModel | float, *, batch: float = 1, context: float = 0.0
    ) -> float:
        """Mean cost of a cycle: Σ_n P(n passes) C(n), in the unit of ``cost``."""
        cycles = as_cost(cost).cycles(np.arange(self.max_depth + 1), batch, context)
        return float(cycles[0] + self.reach[1:] @ np.diff(cycles))

    def throughput(
        self, cost: CostModel | float, *, batch: float = 1, context: float = 0.0
    ) -> float:
        """E[L]/E[C], in units per unit of ``cost``."""
        cycle = self.expected_cycle(cost, batch=batch, context=context)
        if cycle <= 0:
            raise InvalidInputError(f"cost must give a positive cycle, got {cycle:g}")
        return self.expected_length / cycle

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "stopped_draft",
            {
                "max_depth": self.max_depth,
                "expected_length": self.expected_length,
                "accepted": self.accepted,
                "drafted": self.drafted,
                "passes": self.passes,
                "acceptance_rate": self.acceptance_rate,
                "reach": self.reach,
                "convention": self.convention,
            },
        )

    def __str__(self) -> str:
        return (
            f"{self.expected_length:.6g} units per cycle ({self.convention.name.lower()}), "
            f"drafts of at most {self.max_depth}\n{self.accepted:.6g} kept of "
            f"{self.drafted:.6g} verified, {self.passes:.6g} drafter passes"
        )


def stopped_draft(
    stop: ArrayLike,
    hazard: ArrayLike,
    max_depth: int,
    *,
    convention: Convention | str = Convention.WITH_BONUS,
    discard: bool = True,
) -> StoppedDraft:
    """Lengths of cycles whose drafts stop at a confidence threshold.

    With s_j = P(stop before unit j | drafting got there) and h_j = P(unit j kept | not stopped,
    earlier ones kept): P(draft ≥ j) = Π_{i≤j}(1 − s_i), P(kept ≥ j) = Π_{i≤j}(1 − s_i)h_i.

    Parameters
    ----------
    stop : float or array_like, (K,)
        s_j in [0, 1]; a number holds at every position.
    hazard : float or array_like, (K,)
        h_j in [0, 1], given that the confidence passed the threshold.
    max_depth : int
        K ≥ 0, where a draft stops at the latest.
    convention : Convention or str
        How the units of a cycle are counted; a cycle without drafts yields one unit, unless
        accepted units are counted.
    discard : bool
        Whether the unit at which the drafter stops is drafted and thrown away (llama.cpp), so that
        its pass is paid; False: stopping is known beforehand.

    Returns
    -------
    StoppedDraft

    Raises
    ------
    InvalidInputError
        Probabilities outside [0, 1] or not K of them, or K < 0.

    Notes
    -----
    The drafter goes on without knowing what will be kept: whether it stops is taken to be
    independent of whether earlier units are kept, given that it passed the threshold there.

    Examples
    --------
    >>> from ensctl.drafting import stopped_draft
    >>> print(stopped_draft(0.2, 0.9, 8))
    3.38572 units per cycle (with_bonus), drafts of at most 8
    2.38572 kept of 3.32891 verified, 4.16114 drafter passes
    """
    deepest, counting = as_depth(max_depth, "max_depth"), as_convention(convention)
    go = 1.0 - _per_position(stop, "stop", deepest)
    kept = _per_position(hazard, "hazard", deepest)
    drafted = np.cumprod(np.append(1.0, go))
    survival = np.cumprod(np.append(1.0, go * kept))
    accepted = float(survival[1:].sum())
    if counting is Convention.ACCEPTED:
        length = accepted
    elif counting is Convention.WITH_BONUS or deepest == 0:
        length = 1.0 + accepted
    else:
        # min(kept + 1, draft): one more than kept unless all of the draft is kept.
        length = float((survival[:-1] * go).sum() + 1.0 - go[0])
    reach = np.append(1.0, drafted[:-1]) if discard else drafted
    return StoppedDraft(
        max_depth=deepest,
        expected_length=length,
        accepted=accepted,
        drafted=float(drafted[1:].sum()),
        passes=float(reach[1:].sum()),
        reach=read_only(reach),
        convention=counting,
    )


def _per_position(value: ArrayLike, name: str, depth: int) -> Array:
    array = as_probability(value, name)
    if array.ndim == 0:
        return np.full(depth, float(array))
    if array.shape != (depth,):
        raise InvalidInputError(
            f"{name} must be a number or have max_depth = {depth} entries, got shape {array.shape}"
        )
    return array
