"""Several drafters side by side: whole chains verified together, or candidates for every unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.drafting.acceptance import IID, AcceptanceModel, as_acceptance
from ensctl.drafting.convention import as_depth
from ensctl.drafting.pooled_acceptance import pooled_acceptance
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


@dataclass(frozen=True)
class ParallelChains(AcceptanceModel):
    """m independent chains of depth K verified in one pass; the longest accepted prefix counts.

    S(j) = 1 − Π_i (1 − S_i(j)): some chain keeps its first j units.  For equal i.i.d. chains the
    mean length with bonus is 1 + Σ_{i=1..K} [1 − (1 − α^i)^m].

    Parameters
    ----------
    chains : sequence of AcceptanceModel or float
        One model, or number α, for each chain.

    Raises
    ------
    InvalidInputError
        No chain, or a chain whose cycles depend on each other: then the chains of one cycle are not
        independent either.

    Examples
    --------
    >>> from ensctl import drafting
    >>> pair = drafting.ParallelChains([0.6, 0.6])
    >>> round(pair.expected_length(2), 6)
    2.4304
    >>> drafting.resynchronised([0.6, 0.6]).expected_length(2) > pair.expected_length(2)
    True
    """

    chains: tuple[AcceptanceModel, ...]

    def __init__(self, chains: Sequence[Any]) -> None:
        if isinstance(chains, str | int | float | AcceptanceModel) or not hasattr(
            chains, "__len__"
        ):
            raise InvalidInputError(
                f"chains must be a list with one model or α for each chain, got {chains!r}"
            )
        models = tuple(as_acceptance(chain, f"chains[{i}]") for i, chain in enumerate(chains))
        if not models:
            raise InvalidInputError("chains must have at least one entry, got none")
        for i, model in enumerate(models):
            if not model.independent:
                raise InvalidInputError(
                    f"chains[{i}] has dependent cycles ({type(model).__name__}); "
                    "parallel chains need models with independent cycles"
                )
        object.__setattr__(self, "chains", models)

    def survival(self, depth: int) -> Array:
        """S(j) = 1 − Π_i (1 − S_i(j))."""
        units = as_depth(depth)
        with np.errstate(divide="ignore"):
            misses = sum((np.log1p(-chain.survival(units)) for chain in self.chains), np.zeros(1))
        return np.asarray(-np.expm1(misses))


def resynchronised(alphas: Sequence[float], correlation: float = 0.0) -> IID:
    """Acceptance of drafters that all guess every unit again after the last accepted one.

    Every unit is kept with the pooled α_m, so S(j) = α_m^j.  This is what a pooled α inside a
    geometric sum means; without knowing the verifier's answers it needs a tree of m^K leaves.

    Parameters
    ----------
    alphas : sequence of float, (m,)
        Acceptance of each drafter, in [0, 1].
    correlation : float
        Correlation of hits, as in :func:`pooled_acceptance`.

    Returns
    -------
    IID

    Raises
    ------
    InvalidInputError
        As :func:`pooled_acceptance`.

    Examples
    --------
    >>> from ensctl import drafting
    >>> drafting.resynchronised([0.5, 0.5])
    IID(alpha=0.75)
    """
    if not isinstance(alphas, Iterable):
        raise InvalidInputError(f"alphas must be one α per drafter, got {alphas!r}")
    return IID(pooled_acceptance(list(alphas), correlation))


def verified_nodes(count: int, depth: int, *, tree: bool) -> int:
    """Units the verifier checks in a cycle: m K for chains, m + m² + … + m^K for a tree."""
    return sum(count**j for j in range(1, depth + 1)) if tree else count * depth


def tree_is_too_large(count: int, depth: int) -> bool:
    """Whether the tree has more than a billion leaves, where its cost means nothing any more."""
    return depth * math.log(max(count, 1)) > math.log(1e9)
