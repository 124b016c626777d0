"""Throughput over loads and depths, with the errors of what it was computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_scalar
from ensctl.drafting.acceptance import IID, AcceptanceModel, as_acceptance
from ensctl.drafting.convention import Convention
from ensctl.drafting.convert_length import alpha_from_length, expected_length
from ensctl.drafting.cost import CostModel
from ensctl.drafting.counters import Counters
from ensctl.drafting.drafter import Drafter
from ensctl.drafting.estimate import Estimate
from ensctl.drafting.fitting.acceptance_fit import AcceptanceFit
from ensctl.drafting.fitting.models import fit_acceptance
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# Step of α for the derivative of a length.
_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class Surface:
    """Lengths and cycle costs at every load, T = lengths/cycles.

    Attributes
    ----------
    name : str
        The drafter.
    depths : (k,) ndarray
        Depths, ascending; 0 is off with the drafter loaded.
    lengths : (c, b, k) ndarray
        Mean length of a cycle, by context, batch and depth.
    errors : (c, b, k) ndarray
        Relative standard error of the lengths, of one sign where they move together.
    cycles : (c, b, k) ndarray
        Cost of a cycle.
    plain : (c, b) ndarray
        Throughput without a drafter loaded; NaN where not known.
    cost_error : float
        Relative standard error of a cycle's cost.
    unit : str
        Unit of the costs.
    convention : Convention
        What lengths count.
    """

    name: str
    depths: Array
    lengths: Array
    errors: Array
    cycles: Array
    plain: Array
    cost_error: float
    unit: str
    convention: Convention

    @property
    def rates(self) -> Array:
        """Throughput per stream at every context, batch and depth, (c, b, k)."""
        return np.asarray(self.lengths / self.cycles)

    def with_acceptance(self, factor: float) -> Surface:
        """The same with α multiplied by ``factor``, at most 1.

        α is that of independent acceptance with the same length, at each load and depth.
        """
        least = 0.0 if self.convention is Convention.ACCEPTED else 1.0
        changed = self.lengths.copy()
        for k, depth in enumerate(int(depth) for depth in self.depths):
            most = self.convention.last(depth) + 1.0 - self.convention.first
            if depth == 0 or most <= least:
                continue
            lengths = np.clip(self.lengths[:, :, k], least, most)
            alpha = factor * alpha_from_length(lengths, depth, convention=self.convention)
            scaled = expected_length(np.minimum(alpha, 1.0), depth, convention=self.convention)
            changed[:, :, k] *= np.divide(
                scaled, lengths, out=np.ones(lengths.shape), where=lengths > 0
            )
        return replace(self, lengths=changed)

    def with_cost(self, factor: float) -> Surface:
        """The same with every drafted cycle's cost multiplied by ``factor``, off as it was."""
        return replace(self, cycles=np.where(self.depths > 0, factor, 1.0) * self.cycles)


def make_surface(
    drafter: tuple[str, Any, CostModel],
    batches: Array,
    contexts: Array,
    depths: Array,
    *,
    overhead: Array,
    cost_error: float,
    rule: Convention,
) -> Surface:
    """Evaluate acceptance and cost of one drafter at every load; ``overhead`` (b,) is off's."""
    name, acceptance, cost = drafter
    shape = (contexts.size, batches.size, depths.size)
    lengths, errors, cycles = np.ones(shape), np.zeros(shape), np.ones(shape)
    plain = np.full(shape[:2], np.nan)
    for place, context in enumerate(contexts.tolist()):
        model = acceptance_at(acceptance, context)
        lengths[place], errors[place] = _lengths(model, depths, rule)
        for row, batch in enumerate(batches.tolist()):
            cycles[place, row] = _cycles(cost, depths, batch, context)
        if depths[0] == 0:
            plain[place] = 1.0 / cycles[place, :, 0]
            cycles[place, :, 0] *= 1.0 + overhead
    return Surface(name, depths, lengths, errors, cycles, plain, cost_error, cost.unit, rule)


def acceptance_at(acceptance: Any, context: float) -> Any:
    """What is known of acceptance at a context: the same everywhere, or by context."""
    if isinstance(acceptance, Drafter):
        return acceptance.acceptance
    if not isinstance(acceptance, Mapping):
        return acceptance
    known = {as_scalar(key, "context", at_least=0): value for key, value in acceptance.items()}
    if context not in known:
        listed = ", ".join(f"{key:g}" for key in sorted(known)) or "none"
        raise InvalidInputError(
            f"acceptance by context must have every planned context, got {listed} and no "
            f"{context:g}"
        )
    return known[context]


def _lengths(acceptance: Any, depths: Array, rule: Convention) -> tuple[Array, Array]:
    """Mean lengths and their relative standard errors, at each depth."""
    if isinstance(acceptance, Counters | list | tuple):
        acceptance = fit_acceptance(acceptance)
    values, errors = np.ones(depths.size), np.zeros(depths.size)
    model, change = _model(acceptance)
    for k, depth in enumerate(int(d) for d in depths):
        if depth == 0:
            # Off commits one unit per pass, whatever the convention.
            continue
        if isinstance(acceptance, AcceptanceFit):
            known = acceptance.expected_length(depth, convention=rule)
            values[k], errors[k] = known.value, known.std_error
        else:
            values[k] = model.expected_length(depth, convention=rule)
            if change is not None:
                low, high, error = change
                span = high.alpha - low.alpha
                ends = [end.expected_length(depth, convention=rule) for end in (low, high)]
                errors[k] = error * (ends[1] - ends[0]) / span
    relative = np.divide(errors, values, out=np.zeros(depths.size), where=values > 0)
    return values, relative


def _model(acceptance: Any) -> tuple[AcceptanceModel, tuple[IID, IID, float] | None]:
    """The model, and where α is an estimate two values beside it with its standard error."""
    if isinstance(acceptance, AcceptanceFit):
        return acceptance.model, None
    if not isinstance(acceptance, Estimate):
        return as_acceptance(acceptance), None
    centre = as_acceptance(acceptance.value)
    error = acceptance.std_error
    if not np.isfinite(error):
        raise InvalidInputError(
            "acceptance must have a finite standard error to plan with, got inf; give α as a "
            "number or read more cycles"
        )
    low, high = max(acceptance.value - _STEP, 0.0), min(acceptance.value + _STEP, 1.0)
    return centre, (IID(low), IID(high), error)


def _cycles(cost: CostModel, depths: Array, batch: float, context: float) -> Array:
    try:
        costs = cost.cycles(depths, batch, context)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"cost must cover every planned load: at batch {batch:g}, context {context:g}: {error}"
        ) from None
    if np.any(costs <= 0):
        raise InvalidInputError(
            f"cost must be > 0 at every load, got {float(costs.min()):g} at batch {batch:g}, "
            f"context {context:g}"
        )
    return costs
