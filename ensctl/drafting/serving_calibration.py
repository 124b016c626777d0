"""Acceptance and cycle cost read from a benchmark table at a few depths."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ensctl.arguments import Array, read_only
from ensctl.drafting.convention import as_depth
from ensctl.drafting.fitting.lengths import fit_lengths
from ensctl.drafting.serving_benchmark import ServingBenchmark, ServingRow, clean_benchmark
from ensctl.drafting.serving_prediction import ServingCalibration
from ensctl.errors import InvalidInputError, NotIdentifiableError

# Weight of what other tasks say about how cycle time grows with K at the same concurrency.
_SHARED = 0.5
_FEWEST_TASKS = 3


def calibrate(
    table: ServingBenchmark | Iterable[ServingRow],
    *,
    depths: Iterable[int] | None = None,
    method: str | None = None,
    model: str | None = None,
) -> ServingCalibration:
    """Read acceptance and cycle cost from a benchmark at a few depths; K = 1 and 3 are enough.

    Acceptance of a task: i.i.d. or Markov renewal fitted to ITL/TPOT, the median over
    concurrencies.  Cycle time: a line in K for each task and concurrency, its growth averaged with
    that of the other tasks at the same concurrency.

    Parameters
    ----------
    table : ServingBenchmark or iterable of ServingRow
        Measurements; rows are checked for corrupt cells unless they were read from a file.
    depths : iterable of int, optional
        Depths K ≥ 1 to calibrate on, two or more; all in the table if not given.
    method : str, optional
        The drafter, where the table has several.
    model : str, optional
        The model served, where the table has several.

    Returns
    -------
    ServingCalibration
        Predicts TPOT and the best depth.

    Raises
    ------
    InvalidInputError
        Several drafters or models and none chosen, or a depth that is not in the table.
    NotIdentifiableError
        Fewer than two depths.

    Notes
    -----
    Mean columns only: the ratio of medians is not the mean number of tokens.

    Examples
    --------
    >>> from ensctl.drafting import ServingRow, calibrate
    >>> rows = [ServingRow("qa", k, 1, 12 + 2 * k, (12 + 2 * k) / sum(0.6**j for j in range(k + 1)))
    ...         for k in (1, 3)]
    >>> fit = calibrate(rows)
    >>> round(fit.acceptance().alpha, 6), round(fit.predict(2, 1), 6), fit.best_depth(1)
    (0.6, 8.163265, 2)
    """
    benchmark = table if isinstance(table, ServingBenchmark) else clean_benchmark(table)
    drafted = [row for row in benchmark.rows if row.depth > 0]
    drafted = _choose(_choose(drafted, "method", method), "model", model)
    models = {row.model for row in drafted}
    off = [row for row in benchmark.rows if row.depth == 0 and row.model in models]
    measured = tuple(sorted({row.depth for row in drafted}))
    used = measured if depths is None else tuple(sorted({as_depth(k, "depths") for k in depths}))
    missing = [depth for depth in used if depth not in measured]
    if missing:
        raise InvalidInputError(f"depths must be among {measured} of the table, got {missing}")
    if len(used) < 2:
        raise NotIdentifiableError(
            f"a cycle cost needs two depths, got K = {', '.join(map(str, used)) or 'none'}; "
            f"measure K = 1 and 3"
        )
    rows = [row for row in drafted if row.depth in used]
    tasks = tuple(sorted({row.task for row in rows}))
    levels = tuple(sorted({row.concurrency for row in rows}))
    cycles = _table(rows, tasks, levels, used, "mean_itl")
    lengths = cycles / _table(rows, tasks, levels, used, "mean_tpot")
    intercept, slope = _lines(cycles, used)
    chosen, reasons, factor = {}, {}, np.full(intercept.shape, math.nan)
    for i, task in enumerate(tasks):
        typical = np.array([_median(lengths[i, :, j]) for j in range(len(used))])
        chosen[task], reasons[task] = fit_lengths(used, typical)
        modelled = np.array([chosen[task].expected_length(depth) for depth in used])
        for j in range(len(levels)):
            factor[i, j] = math.exp(_mean(np.log(lengths[i, j] / modelled)))
    baseline = _table(off, tasks, levels, (0,), "mean_tpot")[:, :, 0]
    return ServingCalibration(
        tasks=tasks,
        concurrencies=levels,
        depths=used,
        acceptance_models=chosen,
        reasons=reasons,
        intercept=read_only(intercept),
        slope=read_only(slope),
        factor=read_only(factor),
        baseline=read_only(baseline),
        deepest=measured[-1],
        dropped=benchmark.dropped,
    )


def _choose(rows: list[ServingRow], name: str, wanted: str | None) -> list[ServingRow]:
    values = sorted({str(getattr(row, name)) for row in rows})
    if wanted is None and len(values) > 1:
        raise InvalidInputError(f"{name} must be given, the table has {', '.join(values)}")
    if wanted is not None and wanted not in values:
        raise InvalidInputError(f"{name} must be one of {', '.join(values)}, got {wanted!r}")
    return [row for row in rows if wanted is None or getattr(row, name) == wanted]


def _table(
    rows: list[ServingRow],
    tasks: tuple[str, ...],
    levels: tuple[int, ...],
    depths: tuple[int, ...],
    column: str,
) -> Array:
    """(tasks, concurrencies, depths): means of repeated runs, NaN where nothing was measured."""
    cells: dict[tuple[int, int, int], list[float]] = {}
    for row in rows:
        if row.task in tasks and row.concurrency in levels:
            place = (
                tasks.index(row.task),
                levels.index(row.concurrency),
                depths.index(row.depth),
            )
            cells.setdefault(place, []).append(getattr(row, column))
    table = np.full((len(tasks), len(levels), len(depths)), math.nan)
    for place, values in cells.items():
        table[place] = np.mean(values)
    return table


def _lines(cycles: Array, depths: tuple[int, ...]) -> tuple[Array, Array]:
    """Intercept and slope in ms per task and concurrency.

    The growth r = slope/level of a cell is averaged with the median of the tasks at the same
    concurrency; a cell that misses depths takes theirs.  The level is kept.
    """
    axis = np.array(depths, dtype=np.float64)
    middle = float(axis.mean())
    shape = cycles.shape[:2]
    level, growth = np.full(shape, math.nan), np.full(shape, math.nan)
    for i, j in np.ndindex(shape):
        known = np.isfinite(cycles[i, j])
        if known.sum() >= 2:
            slope, start = np.polyfit(axis[known], cycles[i, j][known], 1)
            level[i, j] = start + slope * middle
            growth[i, j] = max(float(slope), 0.0) / level[i, j]
    own = growth.copy()
    for j in range(shape[1]):
        known = np.isfinite(own[:, j])
        shared = _median(own[:, j]) if known.any() else _median(own)
        if known.sum() >= _FEWEST_TASKS:
            growth[known, j] = (1.0 - _SHARED) * own[known, j] + _SHARED * shared
        for i in np.flatnonzero(~known):
            single = np.isfinite(cycles[i, j])
            if single.any() and math.isfinite(shared):
                growth[i, j] = shared
                level[i, j] = _mean(cycles[i, j] / (1.0 + (axis - middle) * shared))
    slope = growth * level
    return level - slope * middle, slope


def _median(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else math.nan


def _mean(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(np.mean(known)) if known.size else math.nan
