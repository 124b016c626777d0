"""Acceptance models: how many of K draft units a cycle keeps, and the simplest of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count, as_scalar
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.convert_length import geometric_sum
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


class AcceptanceModel(ABC):
    """Base of the acceptance models; N is the number of draft units a cycle of depth K keeps.

    A model gives S(j) = P(N ≥ j), 1 = S(0) ≥ S(1) ≥ … ≥ S(K), as shares of cycles in the long run.
    Cycles are independent unless the model says otherwise (``independent``).  K = 0 is off: N = 0.
    """

    @property
    def independent(self) -> bool:
        """Whether what a cycle accepts does not depend on earlier cycles."""
        return True

    @abstractmethod
    def survival(self, depth: int) -> Array:
        """S(0) … S(K): long-run share of cycles that keep at least j units, (K + 1,)."""

    def hazards(self, depth: int) -> Array:
        """P(unit j kept | units before it kept), j = 1 … K; 0 where no cycle gets that far."""
        survival = self.survival(depth)
        before = survival[:-1]
        return np.divide(survival[1:], before, out=np.zeros_like(before), where=before > 0)

    def pmf(self, depth: int) -> Array:
        """P(N = j), j = 0 … K, in the long run; (K + 1,)."""
        survival = self.survival(depth)
        return np.append(survival[:-1] * (1.0 - self.hazards(depth)), survival[-1])

    def expected_length(
        self, depth: int, *, convention: Convention | str = Convention.WITH_BONUS
    ) -> float:
        """Mean length of a cycle, Σ S(j) over the range of the convention."""
        rule = as_convention(convention)
        survival = self.survival(depth)
        return float(survival[rule.first : rule.last(survival.size - 1) + 1].sum())

    def expected_lengths(
        self, max_depth: int, *, convention: Convention | str = Convention.WITH_BONUS
    ) -> Array:
        """Mean length at every depth K = 0 … ``max_depth``; (max_depth + 1,)."""
        rule = as_convention(convention)
        totals = np.cumsum(self.survival(max_depth))
        if rule is Convention.ACCEPTED:
            return totals - 1.0
        return totals if rule is Convention.WITH_BONUS else np.append(0.0, totals[:-1])

    def variance(
        self, depth: int, *, convention: Convention | str = Convention.WITH_BONUS
    ) -> float:
        """Variance of the length of one cycle (the bonus unit is constant and adds nothing)."""
        probability = self.pmf(depth)
        counts = _counted(probability.size - 1, as_convention(convention))
        mean = float(probability @ counts)
        return float(probability @ (counts - mean) ** 2)

    def long_run_variance(
        self, depth: int, *, convention: Convention | str = Convention.WITH_BONUS
    ) -> float:
        """lim Var(total length of n cycles)/n: the variance plus twice all autocovariances."""
        return self.variance(depth, convention=convention)

    def variance_inflation(
        self, depth: int, *, convention: Convention | str = Convention.WITH_BONUS
    ) -> float:
        """Long-run variance over variance of one cycle; 1 for independent or constant cycles."""
        variance = self.variance(depth, convention=convention)
        if variance == 0:
            return 1.0
        return self.long_run_variance(depth, convention=convention) / variance

    def sample(self, n: int, depth: int, rng: Any = None) -> Array:
        """Accepted counts N of ``n`` cycles in a row at depth K, (n,) of int64.

        ``rng`` is a :class:`numpy.random.Generator`, a seed, or None for a fresh one.
        """
        uniform = as_generator(rng).random(as_count(n, "n", minimum=0))
        return kept(self.survival(depth), uniform)


def kept(survival: Array, uniform: Array) -> Array:
    """#{j ≥ 1: S(j) > U}: the inverse of the survival function at uniform numbers in [0, 1)."""
    return np.searchsorted(-survival[1:], -uniform, side="left")


def as_generator(rng: Any) -> np.random.Generator:
    """A generator from a generator, a seed or None."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"rng must be a numpy Generator, a seed ≥ 0 or None, got {rng!r}"
        ) from None


def _counted(depth: int, rule: Convention) -> Array:
    """Length that N = 0 … K counts for, less the constant 1 of the bonus."""
    counts = np.arange(depth + 1.0)
    return np.minimum(counts + 1.0, depth) if rule is Convention.COMMITTED else counts


@dataclass(frozen=True)
class IID(AcceptanceModel):
    """Every unit is kept with the same probability, whatever came before: S(j) = α^j.

    Parameters
    ----------
    alpha : float
        Acceptance of one unit, in [0, 1].

    Examples
    --------
    >>> from ensctl.drafting import IID
    >>> model = IID(0.5)
    >>> model.survival(3)
    array([1.   , 0.5  , 0.25 , 0.125])
    >>> model.expected_length(3), model.expected_length(3, convention="accepted")
    (1.875, 0.875)
    """

    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", as_scalar(self.alpha, "alpha", at_least=0, at_most=1))

    def survival(self, depth: int) -> Array:
        """S(j) = α^j."""
        return self.alpha ** np.arange(as_depth(depth) + 1.0)

    def hazards(self, depth: int) -> Array:
        """α at every position."""
        return np.full(as_depth(depth), self.alpha)

    def expected_length(
        self, depth: int, *, convention: Convention | str = Convention.WITH_BONUS
    ) -> float:
        """(1 − α^{K+1})/(1 − α) with bonus, (1 − α^K)/(1 − α) committed, α times that accepted."""
        rule, units = as_convention(convention), as_depth(depth)
        terms = units + 1.0 if rule is Convention.WITH_BONUS else float(units)
        total = float(geometric_sum(self.alpha, terms))
        return self.alpha * total if rule is Convention.ACCEPTED else total


def as_acceptance(value: Any, name: str = "acceptance") -> AcceptanceModel:
    """Take a model as it is, and a number α as IID(α).

    Parameters
    ----------
    value : AcceptanceModel or float
        A model, or α in [0, 1].
    name : str
        How errors call the argument.

    Returns
    -------
    AcceptanceModel
        The model.

    Raises
    ------
    InvalidInputError
        Neither a model nor a number in [0, 1].

    Examples
    --------
    >>> from ensctl.drafting import as_acceptance
    >>> as_acceptance(0.7)
    IID(alpha=0.7)
    """
    if isinstance(value, AcceptanceModel):
        return value
    if isinstance(value, str | bool) or not hasattr(value, "__float__"):
        raise InvalidInputError(
            f"{name} must be an acceptance model or a number α in [0, 1], got {value!r}"
        )
    return IID(as_scalar(value, name, at_least=0, at_most=1))
