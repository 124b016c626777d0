"""A plan from a serving benchmark alone: acceptance and cost of its tasks in the mix of traffic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_scalar
from ensctl.drafting.convention import Convention
from ensctl.drafting.cost_table import MILLISECONDS
from ensctl.drafting.fitting.intervals import as_level
from ensctl.drafting.serving_benchmark import ServingBenchmark, ServingRow, clean_benchmark
from ensctl.drafting.serving_calibration import calibrate
from ensctl.drafting.serving_prediction import ServingCalibration
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.scheduling.plan_table_arguments import (
    plan_loads,
    plan_options,
    plan_overhead,
    plan_weights,
)
from ensctl.scheduling.plan_table_choice import OFF_NOTE, PREFILL_NOTE, table_from_surfaces
from ensctl.scheduling.plan_table_result import PlanTable
from ensctl.scheduling.plan_table_surface import Surface

Array = NDArray[Any]


def plan_from_benchmark(
    benchmark: ServingBenchmark | Iterable[ServingRow] | ServingCalibration,
    *,
    loads: Any = None,
    traffic: Mapping[str, float] | None = None,
    calibrate_on: Iterable[int] | None = None,
    method: str | None = None,
    max_depth: int | None = None,
    off: bool | None = None,
    loaded_off_overhead: float | Mapping[int, float] = 0.0,
    monotone: bool = True,
    noise: float = 0.01,
    hysteresis: float = 0.005,
    cost_error: float | None = None,
    level: float = 0.95,
    weights: Any = None,
) -> PlanTable:
    """Choose the depth for every load from a benchmark with mean ITL and TPOT.

    The calibrated TPOT of a task at depth K and concurrency B is C/(g E[L_K]); traffic that emits
    a share w of its tokens in each task has T(K, B) = 1/Σ w·TPOT.

    Parameters
    ----------
    benchmark : ServingBenchmark, rows, or ServingCalibration
        Measurements at two depths or more and some concurrencies.
    loads : int or sequence of int, optional
        Batches planned for; those measured where not given.
    traffic : mapping of str to float, optional
        Share of output tokens by task; every task alike where not given.
    calibrate_on : iterable of int, optional
        Depths to calibrate on; all in the table where not given.
    method : str, optional
        The drafter, where the table has several.
    max_depth : int, optional
        Greatest depth allowed; the deepest measured where not given.
    off : bool, optional
        Whether K = 0 competes; yes where runs without speculation were measured.
    loaded_off_overhead : float or mapping of int to float
        What a K = 0 entry costs over a run without a drafter, as for :func:`plan_table`.
    monotone : bool
        Whether depth may rise with the batch only for a gain above the noise.
    noise : float
        Least relative gain that counts.
    hysteresis : float
        Relative gain below which a switch is left out.
    cost_error : float, optional
        Relative standard error of a predicted throughput; where not given that of the
        calibration about what was measured (0 for a calibration alone).
    level : float
        Coverage of the intervals.
    weights : (b,) array-like, optional
        How often each load occurs; by the logarithm of its range where not given.

    Returns
    -------
    PlanTable
        Throughput in tokens per ms and stream, with bonus.

    Raises
    ------
    InvalidInputError
        A task that was not measured, or a load outside the measured concurrencies.
    NotIdentifiableError
        Fewer than two depths, or off asked for and not measured.

    Examples
    --------
    >>> from ensctl.drafting import ServingRow
    >>> from ensctl.scheduling import plan_from_benchmark
    >>> rows = [ServingRow("qa", k, c, itl, itl / sum(0.6**j for j in range(k + 1)))
    ...         for c in (1, 8) for k in (0, 1, 3)
    ...         for itl in [8.0 + 0.2 * c + (3.0 + 0.5 * c * k if k else 0.0)]]
    >>> [str(part) for part in plan_from_benchmark(rows).ranges()]
    ['batch 1–2: K = 3', 'batch 3–8: off']
    """
    rows: tuple[ServingRow, ...] = ()
    if isinstance(benchmark, ServingCalibration):
        if calibrate_on is not None:
            raise InvalidInputError("calibrate_on must not be given with a calibration")
        fit = benchmark
    else:
        if not isinstance(benchmark, ServingBenchmark):
            benchmark = clean_benchmark(benchmark)
        fit, rows = calibrate(benchmark, depths=calibrate_on, method=method), benchmark.rows
    batches = plan_loads(fit.concurrencies if loads is None else loads)
    shares = _traffic(traffic, fit.tasks)
    measured_off = bool(np.all(np.isfinite(fit.baseline).any(axis=1)))
    if off and not measured_off:
        raise NotIdentifiableError(
            "off was not measured for every task; give rows with K = 0 or set off=False"
        )
    competes = measured_off if off is None else off
    options = plan_options(fit.deepest if max_depth is None else max_depth, None, competes)
    overhead = plan_overhead(loaded_off_overhead, batches)
    scatter = (
        _scatter(fit, shares, rows)
        if cost_error is None
        else as_scalar(cost_error, "cost_error", at_least=0)
    )
    surface = _surface(fit, shares, batches, options, overhead, scatter)
    notes = [PREFILL_NOTE]
    if competes and not np.any(overhead):
        notes.append(OFF_NOTE)
    if options[-1] > fit.deepest:
        notes.append(f"depths beyond K = {fit.deepest} were not measured: predicted only")
    if fit.dropped:
        notes.append(f"corrupt rows of the benchmark left out: {len(fit.dropped)}")
    return table_from_surfaces(
        [surface],
        batches,
        np.zeros(1),
        monotone=monotone,
        noise=as_scalar(noise, "noise", at_least=0),
        hysteresis=as_scalar(hysteresis, "hysteresis", at_least=0),
        level=as_level(level),
        weights=plan_weights(weights, batches),
        notes=notes,
    )


def _surface(
    fit: ServingCalibration,
    shares: dict[str, float],
    batches: Array,
    options: Array,
    overhead: Array,
    scatter: float,
) -> Surface:
    """Cycles of the mean task, and lengths that give the throughput of the mix."""
    shape = (1, batches.size, options.size)
    cycles, lengths = np.empty(shape), np.ones(shape)
    plain = np.full(shape[:2], np.nan)
    for row, batch in enumerate(batches.tolist()):
        if np.all(np.isfinite(fit.baseline).any(axis=1)):
            plain[0, row] = 1.0 / sum(w * fit.predict(0, batch, t) for t, w in shares.items())
        costs = [(fit.cost(batch, task), share) for task, share in shares.items()]
        for k, depth in enumerate(options.astype(int).tolist()):
            tpot = sum(w * fit.predict(depth, batch, task) for task, w in shares.items())
            if depth == 0:
                cycles[0, row, k] = tpot * (1.0 + overhead[row])
            else:
                cycles[0, row, k] = sum(share * cost.cycle(depth) for cost, share in costs)
                lengths[0, row, k] = cycles[0, row, k] / tpot
    return Surface(
        "drafter",
        options,
        lengths,
        np.zeros(shape),
        cycles,
        plain,
        scatter,
        MILLISECONDS,
        Convention.WITH_BONUS,
    )


def _traffic(traffic: Mapping[str, float] | None, tasks: tuple[str, ...]) -> dict[str, float]:
    if traffic is None:
        return {task: 1.0 / len(tasks) for task in tasks}
    unknown = [task for task in traffic if task not in tasks]
    if unknown:
        raise InvalidInputError(
            f"traffic must name measured tasks ({', '.join(tasks)}), got {unknown[0]!r}"
        )
    shares = {
        task: as_scalar(value, f"traffic[{task!r}]", at_least=0) for task, value in traffic.items()
    }
    total = sum(shares.values())
    if total <= 0:
        raise InvalidInputError("traffic must have a share > 0")
    return {task: value / total for task, value in shares.items() if value > 0}


def _scatter(
    fit: ServingCalibration, shares: dict[str, float], rows: tuple[ServingRow, ...]
) -> float:
    """Root mean square of ln(predicted/measured) TPOT of the mix, over loads and depths."""
    cells: dict[tuple[int, int], dict[str, float]] = {}
    for row in rows:
        if row.depth > 0 and row.task in shares:
            cells.setdefault((row.concurrency, row.depth), {})[row.task] = row.mean_tpot
    errors = []
    for (level, depth), found in cells.items():
        predicted = sum(shares[task] * fit.predict(depth, level, task) for task in found)
        measured = sum(shares[task] * value for task, value in found.items())
        errors.append(math.log(predicted / measured))
    return float(np.sqrt(np.mean(np.square(errors)))) if errors else 0.0
