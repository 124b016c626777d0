"""Cost models: what one cycle costs at depth K, batch size and context length."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_scalar
from ensctl.drafting.convention import as_depth, as_depths
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

PASSES = "verify passes"


def one_of(unit: str) -> str:
    """One of a unit that is named in the plural: "verify pass", "ms"."""
    return "verify pass" if unit == PASSES else unit


class CostModel(ABC):
    """Base of the cost models; the cost of a cycle is in the model's own ``unit``.

    ``batch`` is the number of sequences verified together and ``context`` the mean number of
    tokens each of them keeps in the KV cache; a model that does not know them ignores them.
    ``cycle(0)`` is the cost of a pass without drafts.
    """

    unit: str

    @abstractmethod
    def _costs(self, depths: Array, batch: float, context: float) -> Array:
        """Cost at every depth; the arguments have been checked."""

    def cycle(self, depth: int, batch: float = 1, context: float = 0.0) -> float:
        """Cost of one cycle of depth K ≥ 0, in ``unit``."""
        return float(self.cycles([as_depth(depth)], batch, context)[0])

    def cycles(self, depths: ArrayLike, batch: float = 1, context: float = 0.0) -> Array:
        """Cost of one cycle at each of several depths K ≥ 0, of any shape."""
        units = as_depths(depths, "depths")
        streams = as_scalar(batch, "batch", at_least=1)
        kept = as_scalar(context, "context", at_least=0)
        with np.errstate(over="ignore", invalid="ignore"):
            costs = self._costs(units, streams, kept)
        if not np.all(np.isfinite(costs)):
            raise InvalidInputError(
                f"batch {streams:g} and context {kept:g} give a cost beyond float64; check the "
                f"units of {self}"
            )
        return costs

    def marginal(self, depth: int, batch: float = 1, context: float = 0.0) -> float:
        """What the K-th unit adds: cycle(K) − cycle(K − 1), K ≥ 1; for K = 1 against off."""
        units = as_depth(depth, minimum=1)
        pair = self.cycles([units - 1, units], batch, context)
        return float(pair[1] - pair[0])


@dataclass(frozen=True)
class LinearCost(CostModel):
    """C(K) = overhead + verify + K·draft, the same for every batch and context.

    Parameters
    ----------
    draft : float
        Cost c_d ≥ 0 of one drafted unit, with what it adds to verification.
    verify : float
        Cost > 0 of a verifier pass.
    overhead : float
        Cost ≥ 0 of a cycle besides: scheduling, sampling.
    off : float, optional
        Cost > 0 of a cycle without drafts; verify + overhead when not given.
    unit : str
        Unit of all four.

    Examples
    --------
    >>> from ensctl.drafting import LinearCost
    >>> LinearCost(0.1).cycle(4)
    1.4
    >>> LinearCost(0.214, 1.18, off=1.0).cycles([0, 1, 3])
    array([1.   , 1.394, 1.822])
    """

    draft: float
    verify: float = 1.0
    overhead: float = 0.0
    off: float | None = None
    unit: str = PASSES

    def __post_init__(self) -> None:
        set_numbers(self, {"draft": self.draft, "overhead": self.overhead})
        set_numbers(self, {"verify": self.verify}, positive=True)
        if self.off is not None:
            set_numbers(self, {"off": self.off}, positive=True)

    def _costs(self, depths: Array, batch: float, context: float) -> Array:
        costs = self.overhead + self.verify + self.draft * depths
        return costs if self.off is None else np.where(depths == 0, self.off, costs)


def set_numbers(model: Any, numbers: dict[str, Any], *, positive: bool = False) -> None:
    """Check costs (≥ 0, or > 0) and store them as floats in a frozen dataclass."""
    for name, value in numbers.items():
        limit = {"above": 0.0} if positive else {"at_least": 0.0}
        object.__setattr__(model, name, as_scalar(value, name, **limit))


def as_cost(value: Any, name: str = "cost") -> CostModel:
    """Take a cost model as it is, and a number c_d as LinearCost(c_d).

    Parameters
    ----------
    value : CostModel or float
        A model, or the cost of a drafted unit in verify passes.
    name : str
        How errors call the argument.

    Returns
    -------
    CostModel
        The model.

    Raises
    ------
    InvalidInputError
        Neither a model nor a number ≥ 0.

    Examples
    --------
    >>> from ensctl.drafting import as_cost
    >>> as_cost(0.1).cycle(2)
    1.2
    """
    if isinstance(value, CostModel):
        return value
    if isinstance(value, str | bool) or not hasattr(value, "__float__"):
        raise InvalidInputError(
            f"{name} must be a cost model or the cost of a drafted unit, got {value!r}"
        )
    return LinearCost(as_scalar(value, name, at_least=0))
