"""What a cycle of a drafted fleet costs: a + b K + c J, and its mean over the cycles of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_scalar, as_vector, read_only
from ensctl.display import Summarised
from ensctl.drafting.acceptance import AcceptanceModel, as_acceptance
from ensctl.drafting.convention import as_depth, as_depths
from ensctl.drafting.cost import CostModel
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True)
class FleetCycleCost(CostModel):
    """Mean cost of a cycle that verifies K inputs and re-applies those of a rejected draft.

    C(K) = a + b K + c E[J], where J = L after a cycle that committed L < K inputs and 0 after one
    that committed all: E[J] = Σ_{j<K} S(j) − K S(K − 1).

    Parameters
    ----------
    fixed : float
        a > 0 in ms: memory is read and written once, and the drafter is called.
    per_input : float
        b ≥ 0 in ms per drafted input.
    per_reapplied : float
        c ≥ 0 in ms per re-applied input.
    acceptance : AcceptanceModel or float
        S, how far drafts are within tolerance.
    off : float, optional
        Cost > 0 of one step of the loop without drafts, in ms; a + b when not given.

    Examples
    --------
    >>> from ensctl.simulation import FleetCycleCost
    >>> cost = FleetCycleCost(2.56, 0.4, 0.25, 0.9)
    >>> cost.cycles([1, 8]).round(3)
    array([2.96 , 6.227])
    """

    fixed: float
    per_input: float
    per_reapplied: float
    acceptance: AcceptanceModel | float
    off: float | None = None
    unit: str = "ms"

    def __post_init__(self) -> None:
        object.__setattr__(self, "fixed", as_scalar(self.fixed, "fixed", above=0.0))
        for name in ("per_input", "per_reapplied"):
            object.__setattr__(self, name, as_scalar(getattr(self, name), name, at_least=0.0))
        object.__setattr__(self, "acceptance", as_acceptance(self.acceptance))
        if self.off is not None:
            object.__setattr__(self, "off", as_scalar(self.off, "off", above=0.0))

    def reapplied(self, depth: int) -> float:
        """E[J] at depth K ≥ 0."""
        return float(self._reapplied(np.array([as_depth(depth)]))[0])

    def _reapplied(self, depths: Array) -> Array:
        deepest = int(depths.max(initial=1))
        model = as_acceptance(self.acceptance)
        means = np.zeros(deepest + 1)
        for k in np.unique(depths[depths > 0]):
            survival = model.survival(int(k))[:-1]
            means[k] = survival.sum() - k * survival[-1]
        return means[depths]

    def _costs(self, depths: Array, batch: float, context: float) -> Array:
        whole = depths.astype(np.int64)
        costs = self.fixed + self.per_input * depths + self.per_reapplied * self._reapplied(whole)
        off = self.fixed + self.per_input if self.off is None else self.off
        return np.where(whole == 0, off, costs)


@dataclass(frozen=True, eq=False)
class FleetCostFit(Summarised):
    """Result of :func:`fit_fleet_cost`.

    Attributes
    ----------
    fixed, per_input, per_reapplied : float
        a, b and c in ms.
    depths, reapplied, counts : (n,) array of int, read-only
        K and J of every kind of cycle seen, and how often.
    milliseconds : (n,) array, read-only
        Median cost of that kind.
    """

    fixed: float
    per_input: float
    per_reapplied: float
    depths: Array
    reapplied: Array
    counts: Array
    milliseconds: Array

    @property
    def fitted(self) -> Array:
        """a + b K + c J of every kind, ms."""
        return read_only(
            self.fixed + self.per_input * self.depths + self.per_reapplied * self.reapplied
        )

    @property
    def relative_error(self) -> float:
        """Mean of |median − fitted|/median, kinds weighted by how often they were seen."""
        errors = np.abs(self.milliseconds - self.fitted) / self.milliseconds
        return float(np.average(errors, weights=self.counts))

    @property
    def doubling_depth(self) -> float:
        """K at which a pass costs twice a pass over one input (J = 0); inf for a flat cost."""
        if self.per_input == 0.0:
            return np.inf
        return 2.0 + self.fixed / self.per_input

    def cost(
        self, acceptance: AcceptanceModel | float, *, off: float | None = None
    ) -> FleetCycleCost:
        """The mean cost of a cycle where drafts are accepted so.

        Parameters
        ----------
        acceptance : AcceptanceModel or float
            S; a number α is IID(α).
        off : float, optional
            Cost of one step without drafts, ms.

        Returns
        -------
        FleetCycleCost
        """
        return FleetCycleCost(self.fixed, self.per_input, self.per_reapplied, acceptance, off)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        names = ("fixed", "per_input", "per_reapplied", "depths", "reapplied", "counts")
        more = ("milliseconds", "relative_error")
        return versioned("fleet_cost_fit", {name: getattr(self, name) for name in (*names, *more)})

    def __str__(self) -> str:
        return (
            f"a cycle costs {self.fixed:.3g} + {self.per_input:.3g} K + {self.per_reapplied:.3g} J "
            f"ms, mean error {100 * self.relative_error:.2g} % over {int(self.counts.sum())} "
            f"cycles;\nit doubles at K = {self.doubling_depth:.3g}"
        )


def fit_fleet_cost(
    depths: ArrayLike, reapplied: ArrayLike, milliseconds: ArrayLike
) -> FleetCostFit:
    """Fit a + b K + c J, none of them negative, to measured cycles.

    Cycles of equal K and J are replaced by their median, which a busy machine disturbs least, and
    count as often as they were seen.

    Parameters
    ----------
    depths : (n,) array-like of int
        K ≥ 1 of every cycle; at least two different ones.
    reapplied : (n,) array-like of int
        J ≥ 0; c is 0 where all J are equal.
    milliseconds : (n,) array-like of float
        Cost > 0 of every cycle, ms.

    Returns
    -------
    FleetCostFit

    Raises
    ------
    InvalidInputError
        Numbers out of range, lengths that differ.
    NotIdentifiableError
        One depth only, or a fixed cost that is not > 0.

    Examples
    --------
    >>> from ensctl.simulation import fit_fleet_cost
    >>> print(fit_fleet_cost([2, 2, 8, 8], [0, 1, 0, 5], [3.36, 3.61, 5.76, 7.01]))
    a cycle costs 2.56 + 0.4 K + 0.25 J ms, mean error 0 % over 4 cycles;
    it doubles at K = 8.4
    """
    from scipy.optimize import nnls

    drafted = as_depths(as_vector(depths, "depths", real=True), "depths")
    again = as_depths(as_vector(reapplied, "reapplied", size=drafted.size, real=True), "reapplied")
    costs = as_vector(milliseconds, "milliseconds", size=drafted.size, real=True)
    if np.any(drafted < 1):
        raise InvalidInputError("depths must be ≥ 1, got 0; leave cycles without drafts out")
    if np.any(costs <= 0.0):
        raise InvalidInputError(f"milliseconds must be > 0, got {costs.min():g}")
    kinds, which, counts = np.unique(
        np.column_stack([drafted, again]), axis=0, return_inverse=True, return_counts=True
    )
    if np.unique(kinds[:, 0]).size < 2:
        raise NotIdentifiableError(
            f"depths must hold two different K, got only {kinds[0, 0]:g}; measure K = 2 and K = 12"
        )
    medians = np.array([np.median(costs[which.ravel() == kind]) for kind in range(len(kinds))])
    rows = np.column_stack([np.ones(len(kinds)), kinds])
    # Relative errors: what disturbs a measurement grows with its length.
    weights = np.sqrt(counts) / medians
    found = nnls(rows * weights[:, None], medians * weights)[0]
    if not found[0] > 0.0:
        raise NotIdentifiableError(
            "milliseconds extrapolate to a fixed cost that is not > 0; measure more cycles"
        )
    whole = kinds.astype(np.int64)
    return FleetCostFit(
        float(found[0]),
        float(found[1]),
        float(found[2]),
        read_only(whole[:, 0].copy()),
        read_only(whole[:, 1].copy()),
        read_only(counts),
        read_only(medians),
    )
