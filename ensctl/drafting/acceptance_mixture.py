"""Acceptance that varies between contexts: beta-distributed, or one of several models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, as_scalar, as_vector
from ensctl.drafting.acceptance import AcceptanceModel, as_acceptance, as_generator, kept
from ensctl.drafting.convention import Convention, as_depth
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

_WEIGHT_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Beta(AcceptanceModel):
    """α is drawn from a beta(a, b) law afresh for every cycle: S(j) = Π_{i<j} (a + i)/(a + b + i).

    Its mean is a/(a + b) and the correlation of two units of one cycle 1/(a + b + 1).

    Parameters
    ----------
    a, b : float
        Shapes of the law, > 0.

    Notes
    -----
    Fitted to one survival curve it describes that depth.  Where cycles depend on each other the
    mix of contexts that cycles start in changes with K; predict other depths with
    :class:`~ensctl.drafting.acceptance_renewal.MarkovRenewal` instead.

    Examples
    --------
    >>> from ensctl.drafting import Beta
    >>> Beta(2.0, 1.0).survival(2)
    array([1.        , 0.66666667, 0.5       ])
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", as_scalar(self.a, "a", above=0))
        object.__setattr__(self, "b", as_scalar(self.b, "b", above=0))

    def hazards(self, depth: int) -> Array:
        """(a + j − 1)/(a + b + j − 1): those that got far are the good ones."""
        passed = self.a + np.arange(as_depth(depth))
        return passed / (passed + self.b)

    def survival(self, depth: int) -> Array:
        """E[α^j]."""
        return np.cumprod(np.append(1.0, self.hazards(depth)))


@dataclass(frozen=True, init=False)
class Mixture(AcceptanceModel):
    """Several contexts, each with its own model: S(j) = Σ_c w_c S_c(j).

    Each cycle is in one context.  With ``mean_run`` = 1 the context is drawn afresh for every
    cycle and cycles are independent.  With ``mean_run`` = r > 1 a context is kept from cycle to
    cycle and redrawn with probability 1/r, as for requests of one kind: survival is the same, but
    totals vary more.  Weights are shares of cycles, not of units: a context with long cycles has a
    greater share of the units than of the cycles.

    Parameters
    ----------
    weights : array-like of float
        Shares w_c ≥ 0 of cycles, sum 1.
    models : sequence of AcceptanceModel or float
        One for each weight, with independent cycles; a number α is IID(α).
    mean_run : float
        r ≥ 1, mean number of cycles between draws of the context.

    Notes
    -----
    Long-run variance: variance + 2(r − 1) Var_c(mean length in context c).

    Examples
    --------
    >>> from ensctl.drafting import Mixture
    >>> mixture = Mixture([0.5, 0.5], [0.2, 0.8])
    >>> mixture.survival(2)
    array([1.  , 0.5 , 0.34])
    """

    weights: tuple[float, ...]
    models: tuple[AcceptanceModel, ...]
    mean_run: float

    def __init__(self, weights: ArrayLike, models: Sequence[Any], mean_run: float = 1.0) -> None:
        shares = as_vector(weights, "weights", real=True)
        if np.any(shares < 0) or abs(float(shares.sum()) - 1.0) > _WEIGHT_SUM_TOLERANCE:
            raise InvalidInputError(
                f"weights must be ≥ 0 with sum 1, got {shares.tolist()} with sum {shares.sum():g}; "
                "divide them by their sum"
            )
        try:
            members = tuple(as_acceptance(model, "models") for model in models)
        except TypeError:
            raise InvalidInputError(f"models must be a sequence, got {models!r}") from None
        if len(members) != shares.size:
            raise InvalidInputError(
                f"models must have one entry per weight, {shares.size}, got {len(members)}"
            )
        for model in members:
            if not model.independent:
                raise InvalidInputError(
                    f"models must have independent cycles, got {model}; a mixture of models with "
                    "memory is not defined by the survival alone"
                )
        object.__setattr__(self, "weights", tuple((shares / shares.sum()).tolist()))
        object.__setattr__(self, "models", members)
        object.__setattr__(self, "mean_run", as_scalar(mean_run, "mean_run", at_least=1))

    @property
    def independent(self) -> bool:
        """Whether the context is drawn afresh for every cycle."""
        return self.mean_run == 1

    def survival(self, depth: int) -> Array:
        """Σ_c w_c S_c(j)."""
        return np.array(self.weights) @ np.array([model.survival(depth) for model in self.models])

    def pmf(self, depth: int) -> Array:
        """Σ_c w_c P_c(N = j)."""
        return np.array(self.weights) @ np.array([model.pmf(depth) for model in self.models])

    def long_run_variance(
        self, depth: int, *, convention: Convention | str = Convention.WITH_BONUS
    ) -> float:
        """Variance + 2(r − 1) Var_c(mean length in context c)."""
        weights = np.array(self.weights)
        means = np.array([m.expected_length(depth, convention=convention) for m in self.models])
        between = float(weights @ (means - weights @ means) ** 2)
        own = self.variance(depth, convention=convention)
        return own + 2.0 * (self.mean_run - 1.0) * between

    def sample(self, n: int, depth: int, rng: Any = None) -> Array:
        """Accepted counts N of ``n`` cycles in a row, contexts kept as ``mean_run`` says."""
        generator, cycles = as_generator(rng), as_count(n, "n", minimum=0)
        drawn = generator.choice(len(self.models), size=cycles, p=self.weights)
        fresh = generator.random(cycles) < 1.0 / self.mean_run
        # A cycle keeps the context of the last cycle that drew one; the first always draws.
        last_draw = np.maximum.accumulate(np.where(fresh, np.arange(cycles), 0))
        context, uniform = drawn[last_draw], generator.random(cycles)
        counts = np.zeros(cycles, dtype=np.int64)
        for place, model in enumerate(self.models):
            here = context == place
            counts[here] = kept(model.survival(depth), uniform[here])
        return counts
