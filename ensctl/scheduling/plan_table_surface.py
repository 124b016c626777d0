"""Throughput over loads and depths, with the errors of what it was computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.drafting.acceptance import IID, AcceptanceModel, as_acceptance
from ensctl.drafting.convention import Convention
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
    hazards : list of ndarray or None
        P(unit kept | those before), for each context and depth; None where not known.
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
    hazards: tuple[tuple[Array, ...], ...] | None
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
        """The same with every acceptance of one unit multiplied by ``factor``, at most 1."""
        if self.hazards is None:
            # Lengths of cycles alone: as if i.i.d., length by length.
            return replace(self, lengths=_rescaled(self.depths, self.lengths, factor))
        ratio = np.ones(self.lengths.shape)
        for place, row in enumerate(self.hazards):
            for k, hazards in enumerate(row):
                before = _length(hazards, self.convention)
                after = _length(np.minimum(factor * hazards, 1.0), self.convention)
                if self.depths[k] and before > 0:
                    ratio[place, :, k] = after / before
        return replace(self, lengths=self.lengths * ratio)

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
    plain, hazards = np.full(shape[:2], np.nan), []
    for place, context in enumerate(contexts.tolist()):
        model = acceptance_at(acceptance, context)
        values, relative, chances = _lengths(model, depths, rule)
        lengths[place], errors[place] = values, relative
        hazards.append(tuple(chances))
        for row, batch in enumerate(batches.tolist()):
            cycles[place, row] = _cycles(cost, depths, batch, context)
        if depths[0] == 0:
            plain[place] = 1.0 / cycles[place, :, 0]
            cycles[place, :, 0] *= 1.0 + overhead
    return Surface(
        name,
        depths,
        lengths,
        errors,
        tuple(hazards),
        cycles,
        plain,
        cost_error,
        cost.unit,
        rule,
    )


def acceptance_at(acceptance: Any, context: float) -> Any:
    """What is known of acceptance at a context: the same everywhere, or by context."""
    if isinstance(acceptance, Drafter):
        return acceptance.acceptance
    if not isinstance(acceptance, Mapping):
        return acceptance
    known = {float(key): value for key, value in acceptance.items()}
    if context not in known:
        listed = ", ".join(f"{key:g}" for key in sorted(known)) or "none"
        raise InvalidInputError(
            f"acceptance by context must have every planned context, got {listed} and no "
            f"{context:g}"
        )
    return known[context]


def _lengths(acceptance: Any, depths: Array, rule: Convention) -> tuple[Array, Array, list[Array]]:
    """Mean lengths, their relative standard errors and the hazards, at each depth."""
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
    return values, relative, [model.hazards(int(depth)) for depth in depths]


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


def _length(hazards: Array, rule: Convention) -> float:
    survival = np.append(1.0, np.cumprod(hazards))
    return float(survival[rule.first : rule.last(hazards.size) + 1].sum())


def _rescaled(depths: Array, lengths: Array, factor: float) -> Array:
    """Lengths if α of each, taken as i.i.d. with bonus, were multiplied by ``factor``."""
    from ensctl.drafting.convert_length import alpha_from_length

    changed = lengths.copy()
    for k, depth in enumerate(int(d) for d in depths):
        if depth == 0:
            continue
        for place in np.ndindex(lengths.shape[:2]):
            length = float(np.clip(lengths[place][k], 1.0, depth + 1.0))
            alpha = float(alpha_from_length(length, depth))
            scaled = IID(min(factor * alpha, 1.0)).expected_length(depth)
            changed[place][k] = lengths[place][k] * scaled / length
    return changed
