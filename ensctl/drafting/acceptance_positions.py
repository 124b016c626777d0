"""Acceptance that depends on the position in the draft, with independent cycles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, as_scalar, as_vector
from ensctl.drafting.acceptance import AcceptanceModel
from ensctl.drafting.convention import as_depth
from ensctl.drafting.convert_length import as_probability
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


@dataclass(frozen=True, init=False)
class PerPosition(AcceptanceModel):
    """Unit j is kept with probability α_j if all before it were: S(j) = Π_{i≤j} α_i.

    Parameters
    ----------
    hazards : array-like of float
        Conditional acceptances α_1, α_2, … in [0, 1].  A chain of survivals as engines print it
        ("per-position acceptance") goes through ``PerPosition.from_survival``.
    tail : float, optional
        Acceptance of every later unit.  Without it a depth beyond the hazards is refused: what was
        not measured is not made up.

    Examples
    --------
    >>> from ensctl.drafting import PerPosition
    >>> PerPosition([0.8, 0.5]).survival(2)
    array([1. , 0.8, 0.4])
    >>> PerPosition([0.8, 0.5], tail=0.5).expected_length(3)
    2.4
    """

    alphas: tuple[float, ...]
    tail: float | None

    def __init__(self, hazards: ArrayLike, tail: float | None = None) -> None:
        values = as_probability(as_vector(hazards, "hazards", real=True), "hazards")
        object.__setattr__(self, "alphas", tuple(values.tolist()))
        if tail is not None:
            tail = as_scalar(tail, "tail", at_least=0, at_most=1)
        object.__setattr__(self, "tail", tail)

    @classmethod
    def from_survival(cls, survival: ArrayLike, tail: float | None = None) -> PerPosition:
        """From S(1), S(2), …: shares of drafts with at least j units kept, never increasing."""
        shares = as_probability(as_vector(survival, "survival", real=True), "survival")
        before = np.append(1.0, shares[:-1])
        rises = np.flatnonzero(shares > before)
        if rises.size:
            place = int(rises[0])
            raise InvalidInputError(
                f"survival must not increase, got {before[place]} then {shares[place]} at position "
                f"{place + 1}; conditional acceptances go to PerPosition itself"
            )
        ratios = np.divide(shares, before, out=np.zeros_like(shares), where=before > 0)
        return cls(ratios, tail)

    def hazards(self, depth: int) -> Array:
        """α_1 … α_K; the tail beyond those given."""
        units = as_depth(depth)
        missing = units - len(self.alphas)
        if missing <= 0:
            return np.array(self.alphas[:units])
        if self.tail is None:
            raise InvalidInputError(
                f"depth must be ≤ {len(self.alphas)}, the positions that were given, got {units}; "
                "give tail= for the acceptance of later units"
            )
        return np.append(self.alphas, np.full(missing, self.tail))

    def survival(self, depth: int) -> Array:
        """S(j) = Π_{i≤j} α_i."""
        return np.cumprod(np.append(1.0, self.hazards(depth)))


@dataclass(frozen=True)
class DelayedGeometric(AcceptanceModel):
    """The first ``sure`` units are always kept, then each with probability α.

    S(j) = 1 for j ≤ j0 and α^{j−j0} beyond: a copied stretch, or units known beforehand.

    Parameters
    ----------
    sure : int
        j0 ≥ 0 units that are never rejected.
    alpha : float
        Acceptance of one later unit, in [0, 1].

    Examples
    --------
    >>> from ensctl.drafting import DelayedGeometric
    >>> DelayedGeometric(2, 0.5).survival(4)
    array([1.  , 1.  , 1.  , 0.5 , 0.25])
    """

    sure: int
    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sure", as_count(self.sure, "sure", minimum=0))
        object.__setattr__(self, "alpha", as_scalar(self.alpha, "alpha", at_least=0, at_most=1))

    def hazards(self, depth: int) -> Array:
        """1 for the sure units, α beyond."""
        return np.where(np.arange(as_depth(depth)) < self.sure, 1.0, self.alpha)

    def survival(self, depth: int) -> Array:
        """S(j) = α^{max(0, j − j0)}."""
        return self.alpha ** np.maximum(np.arange(as_depth(depth) + 1.0) - self.sure, 0.0)
