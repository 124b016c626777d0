"""A depth for every load, from fitted acceptance and a cost model over batch and context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_scalar, as_vector, read_only
from ensctl.drafting.convention import Convention, as_convention
from ensctl.drafting.fitting.intervals import as_level, normal_quantile
from ensctl.errors import InvalidInputError
from ensctl.scheduling.hysteresis import SwitchPoint, smoothed, switch_points
from ensctl.scheduling.plan_table_arguments import (
    plan_loads,
    plan_options,
    plan_overhead,
    plan_pool,
    plan_weights,
)
from ensctl.scheduling.plan_table_degradation import degradation
from ensctl.scheduling.plan_table_result import DrafterScore, PlanTable, range_ends
from ensctl.scheduling.plan_table_surface import Surface, make_surface

Array = NDArray[Any]

# loads × contexts × depths² up to here take seconds.
MOST_WORK = 1_000_000_000
# Cost of K = 0 with a drafter loaded over not loading one, by streams: one public measurement.
LOADED_OFF_OVERHEAD = {2: 0.066, 189: 0.216}

PREFILL_NOTE = (
    "batch = scheduled requests, prefilling ones included, as vLLM counts; under heavy prefill it "
    "is above the number of decoding streams"
)
OFF_NOTE = (
    "off is taken at the cost given; with a drafter loaded a K = 0 entry cost 6.6–21.6 % more in a "
    "public measurement (loaded_off_overhead)"
)


def plan_table(
    drafters: Any,
    cost: Any = None,
    loads: int | Sequence[int] = 64,
    contexts: ArrayLike = 0.0,
    *,
    max_depth: int,
    depths: Iterable[int] | None = None,
    off: bool = True,
    loaded_off_overhead: float | Mapping[int, float] = 0.0,
    monotone: bool = True,
    noise: float = 0.01,
    hysteresis: float = 0.005,
    cost_error: float = 0.0,
    level: float = 0.95,
    weights: ArrayLike | None = None,
    convention: Convention | str = Convention.WITH_BONUS,
) -> PlanTable:
    """Choose the depth for every load: the most units per cost, without flutter.

    T(K) = E[L_K]/C_K(batch, context), off T(0) = 1/C_0.  Among depths whose loss is within the
    noise those that do not rise with the batch are taken: depth rises with the load only if some
    load would lose more than the noise otherwise.  Then switches that gain less than
    ``hysteresis`` are left out.  No load loses more than noise + hysteresis.

    Parameters
    ----------
    drafters : acceptance, Drafter, or sequence of Drafter
        What is known of acceptance: α, an :class:`Estimate` of α, an acceptance model, an
        :class:`AcceptanceFit`, counters to be fitted, or a mapping from context to one of these.
        Of several drafters the one with the best table is chosen: engines load one.
    cost : CostModel or float, optional
        Cost of a cycle by depth, batch and context; not given where drafters bring their own.
    loads : int or sequence of int
        Batches planned for: 1 … loads, or those listed, in increasing order; a batch between two
        of them takes the depth of the one nearer by ratio.
    contexts : float or (c,) array-like
        Tokens per sequence, ≥ 0; a table is made for each.
    max_depth : int
        Greatest depth allowed, ≥ 1.
    depths : iterable of int, optional
        Depths that compete, where not all from 1 to ``max_depth``.
    off : bool
        Whether K = 0 competes; it needs its cost.
    loaded_off_overhead : float or mapping of int to float
        What a K = 0 entry costs over not loading a drafter, as a share ≥ 0, or shares by batch
        (interpolated in ln batch).  One public measurement: 6.6 % at 2 streams, 21.6 % at 189.
    monotone : bool
        Whether depth may rise with the batch only for a gain above the noise.
    noise : float
        Least relative gain ≥ 0 that counts; where the errors of acceptance and cost leave more
        between two depths, that counts instead.
    hysteresis : float
        Relative gain ≥ 0 below which a switch is left out, and that a controller waits for.
    cost_error : float
        Relative standard error of a cycle's cost, ≥ 0.
    level : float
        Coverage of the intervals, in (0, 1).
    weights : (b,) array-like, optional
        How often each load occurs; by the logarithm of its range where not given.
    convention : Convention or str
        What lengths count.

    Returns
    -------
    PlanTable
        Depths, predicted throughput with intervals, switches, and configuration for engines.

    Raises
    ------
    InvalidInputError
        No drafter or equal names, no depth ≥ 1, loads or contexts out of range, a cost that is
        missing for a load, NaN.
    NotIdentifiableError
        A fit that does not reach ``max_depth``.

    Notes
    -----
    Errors of lengths at different depths are taken to move together, as they do for one α.  Cost:
    loads × contexts × depths evaluations and O(loads·depths²) for smoothing: 512 loads and 10
    depths take .2 s.

    Examples
    --------
    >>> from ensctl.drafting import BatchTable
    >>> from ensctl.scheduling import plan_table
    >>> cost = BatchTable([1, 32, 64], [10, 14, 22], [0.8, 3.0, 9.0], [9, 12, 18])
    >>> plan = plan_table(0.7, cost, 64, max_depth=5)
    >>> [str(part) for part in plan.ranges()]
    ['batch 1–10: K = 4', 'batch 11–33: K = 3', 'batch 34–61: K = 2', 'batch 62–64: off']
    """
    rule, coverage = as_convention(convention), as_level(level)
    pool = plan_pool(drafters, cost)
    batches = plan_loads(loads)
    places = np.unique(as_vector(contexts, "contexts", real=True))
    if places[0] < 0:
        raise InvalidInputError(f"contexts must be ≥ 0, got {places[0]:g}")
    options = plan_options(max_depth, depths, off)
    if batches.size * places.size * options.size**2 > MOST_WORK:
        raise InvalidInputError(
            f"max_depth must be smaller for {batches.size} loads and {places.size} contexts, got "
            f"{options.size} depths that compete; list fewer depths or loads"
        )
    close = as_scalar(noise, "noise", at_least=0)
    held = as_scalar(hysteresis, "hysteresis", at_least=0)
    scatter = as_scalar(cost_error, "cost_error", at_least=0)
    overhead = plan_overhead(loaded_off_overhead, batches)
    share = plan_weights(weights, batches)
    surfaces = [
        make_surface(
            entry, batches, places, options, overhead=overhead, cost_error=scatter, rule=rule
        )
        for entry in pool
    ]
    notes = [PREFILL_NOTE]
    if off and not np.any(overhead):
        notes.append(OFF_NOTE)
    if np.any(np.diff(batches) > 1):
        notes.append(
            f"loads are listed with gaps: in between the one nearer by ratio decides; "
            f"loads={int(batches[-1])} plans every batch"
        )
    return table_from_surfaces(
        surfaces,
        batches,
        places,
        monotone=monotone,
        noise=close,
        hysteresis=held,
        level=coverage,
        weights=share,
        notes=notes,
    )


def table_from_surfaces(
    surfaces: Sequence[Surface],
    batches: Array,
    contexts: Array,
    *,
    monotone: bool,
    noise: float,
    hysteresis: float,
    level: float,
    weights: Array,
    notes: Sequence[str],
) -> PlanTable:
    """Smooth the table of every drafter and keep the best one."""
    quantile = normal_quantile(level)
    made = [
        _columns(surface, noise, hysteresis, quantile, weights, monotone) for surface in surfaces
    ]
    means = [
        float(np.mean(np.log(_taken(surface.rates, columns)) @ weights))
        for surface, columns in zip(surfaces, made, strict=True)
    ]
    order = sorted(range(len(means)), key=lambda i: -means[i])
    surface, columns = surfaces[order[0]], made[order[0]]
    rates = surface.rates
    chosen = _taken(rates, columns)
    spread = quantile * np.hypot(_taken(surface.errors, columns), surface.cost_error)
    planned = surface.depths[columns].astype(np.int64)
    return PlanTable(
        drafter=surface.name,
        batches=read_only(batches),
        contexts=read_only(contexts),
        depths=read_only(planned),
        best_depths=read_only(surface.depths[np.argmax(rates, axis=2)].astype(np.int64)),
        throughput=read_only(chosen),
        low=read_only(chosen * np.maximum(1.0 - spread, 0.0)),
        high=read_only(chosen * (1.0 + spread)),
        plain=read_only(surface.plain.copy()),
        options=read_only(surface.depths.astype(np.int64)),
        curves=read_only(rates),
        weights=read_only(weights),
        switches=tuple(_switches(surface, contexts, batches, planned, hysteresis)),
        degradation=degradation(surface, columns, batches, weights),
        alternatives=tuple(
            DrafterScore(surfaces[i].name, float(np.exp(means[i] - means[order[0]]))) for i in order
        ),
        level=level,
        noise=noise,
        hysteresis=hysteresis,
        unit=surface.unit,
        convention=surface.convention,
        notes=tuple(notes),
    )


def _columns(
    surface: Surface,
    noise: float,
    hysteresis: float,
    quantile: float,
    weights: Array,
    monotone: bool,
) -> Array:
    """Which option is taken at each context and load, (c, b)."""
    columns = np.empty(surface.lengths.shape[:2], dtype=np.int64)
    for place, rates in enumerate(surface.rates):
        if np.any(rates.max(axis=1) <= 0):
            raise InvalidInputError("acceptance must give some units at some depth, got none")
        with np.errstate(divide="ignore"):
            losses = np.log(rates.max(axis=1, keepdims=True)) - np.log(rates)
        best = np.argmax(rates, axis=1)[:, None]
        apart = np.take_along_axis(surface.errors[place], best, axis=1) - surface.errors[place]
        blurred = quantile * np.sqrt(apart**2 + 2.0 * surface.cost_error**2)
        tolerance = np.maximum(np.log1p(noise), blurred)
        columns[place] = smoothed(
            losses, surface.depths, tolerance, np.log1p(hysteresis), weights, monotone=monotone
        )
    return columns


def _switches(
    surface: Surface, contexts: Array, batches: Array, planned: Array, gain: float
) -> list[SwitchPoint]:
    found: list[SwitchPoint] = []
    for place, context in enumerate(contexts.tolist()):
        rates = {int(k): surface.rates[place, :, i] for i, k in enumerate(surface.depths)}
        ends = range_ends(batches)
        found += switch_points(context, batches, ends, planned[place], rates, gain)
    return found


def _taken(values: Array, columns: Array) -> Array:
    return np.asarray(np.take_along_axis(values, columns[:, :, None], axis=2)[:, :, 0])
