"""Cycle costs from a file: a table of batch, K and cycle, or a serving benchmark."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_scalar
from ensctl.drafting.convention import as_depth
from ensctl.drafting.cost import CostModel
from ensctl.drafting.cost_fit import fit_linear_cost
from ensctl.drafting.cost_table import BatchTable, TableCost
from ensctl.drafting.serving_benchmark import read_serving_benchmark
from ensctl.drafting.serving_calibration import calibrate
from ensctl.errors import FormatError, InvalidInputError, NotIdentifiableError

Array = NDArray[Any]

_HEADINGS = {
    "batch": ("batch", "batch_size", "conc", "concurrency", "streams"),
    "depth": ("K", "k", "depth", "num_speculative_tokens", "num_spec_tokens"),
    "cycle": ("cycle", "cycle_ms", "ms", "step_ms", "cost"),
}
_SERVING = {"mean_itl_ms", "mean_itl"}


@dataclass(frozen=True, eq=False)
class MeasuredCost:
    """Result of :func:`read_cost_table`.

    Attributes
    ----------
    cost : CostModel
        Cost of a cycle, in ms.
    batches : (b,) ndarray of int
        Batches measured.
    deepest : int
        Greatest depth measured.
    off : bool
        Whether K = 0 was measured.
    error : float
        Relative standard error of a cost, from the scatter about the fitted lines; 0 where the
        table is taken as it is.
    notes : tuple of str
        What was left out or assumed.
    """

    cost: CostModel
    batches: Array
    deepest: int
    off: bool
    error: float
    notes: tuple[str, ...]


def is_serving_benchmark(path: str | Path) -> bool:
    """Whether a file is a CSV table with mean inter-token latencies."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return False
    return bool(_SERVING & {cell.strip() for cell in header})


def read_cost_table(
    path: str | Path,
    *,
    task: str | None = None,
    method: str | None = None,
    line: bool = False,
    extrapolate: bool = False,
) -> MeasuredCost:
    """Read what cycles cost at each batch and depth.

    Parameters
    ----------
    path : str or path
        CSV with the columns batch, K and cycle (ms; K = 0 is without drafts; one batch where the
        column is missing), or the table of a serving benchmark (task, K, conc, mean_itl_ms,
        mean_tpot_ms), of which the mean over tasks is taken.
    task : str, optional
        The only task of a benchmark to use.
    method : str, optional
        The drafter, where a benchmark has several.
    line : bool
        Fit a line in K for each batch even where every depth was measured: it reaches depths that
        were not.
    extrapolate : bool
        Continue beyond the batches measured.

    Returns
    -------
    MeasuredCost
        A cost model with what it covers.

    Raises
    ------
    FormatError
        Not readable, a column is missing, or a cell is no number; it names the line.
    NotIdentifiableError
        Too few depths.
    InvalidInputError
        An unknown task or method, or one of them for a table that has none.

    Notes
    -----
    A table with every depth at every batch is interpolated as it is; of any other a line in K is
    fitted for each batch.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ensctl.drafting import read_cost_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "cost.csv")
    ...     rows = "1,0,9\\n1,1,10\\n1,3,12\\n8,0,11\\n8,1,14\\n8,3,18\\n"
    ...     _ = file.write_text("batch,K,cycle\\n" + rows)
    ...     measured = read_cost_table(file)
    >>> measured.cost.cycle(2, batch=8), measured.off, measured.deepest
    (16.0, True, 3)
    """
    if not isinstance(path, str | Path):
        raise InvalidInputError(f"path must name a file, got {type(path).__name__}")
    if is_serving_benchmark(path):
        return _from_benchmark(path, task, method, extrapolate)
    for name, choice in (("task", task), ("method", method)):
        if choice is not None:
            raise InvalidInputError(f"{name} goes with a serving benchmark, {path} is none")
    table = _cells(path)
    batches = sorted({batch for batch, _ in table})
    depths = sorted({depth for _, depth in table})
    costs = {place: float(np.mean(values)) for place, values in table.items()}
    off = all((batch, 0) in costs for batch in batches)
    found = np.array(batches, dtype=np.int64)
    complete = len(costs) == len(batches) * len(depths)
    if complete and not line:
        rows = [[costs[batch, depth] for depth in depths] for batch in batches]
        cost = TableCost(depths, rows, batches, extrapolate=extrapolate)
        return MeasuredCost(cost, found, depths[-1], off, 0.0, ())
    pairs = [place for place in costs if off or place[1] > 0]
    fit = fit_linear_cost(
        [depth for _, depth in pairs],
        [costs[place] for place in pairs],
        batches=[batch for batch, _ in pairs],
    )
    note = "a line in K is taken for each batch"
    if not complete:
        note = f"not every depth was measured at every batch: {note}"
    offs = [costs[batch, 0] for batch in batches] if off else None
    known = BatchTable(batches, fit.verify, fit.draft, offs, extrapolate=extrapolate)
    return MeasuredCost(known, found, depths[-1], off, fit.relative_error, (note,))


def _from_benchmark(
    path: str | Path, task: str | None, method: str | None, extrapolate: bool
) -> MeasuredCost:
    benchmark = read_serving_benchmark(path)
    if task is not None:
        if task not in benchmark.tasks:
            raise InvalidInputError(
                f"task must be one of {', '.join(benchmark.tasks)}, got {task!r}"
            )
        rows = tuple(row for row in benchmark.rows if row.task == task)
        benchmark = replace(benchmark, rows=rows)
    fit = calibrate(benchmark, method=method)
    lines, left = [], []
    for place, level in enumerate(fit.concurrencies):
        parts = [fit.intercept[:, place], fit.slope[:, place], fit.baseline[:, place]]
        means = [
            float(np.mean(x[np.isfinite(x)])) if np.isfinite(x).any() else math.nan for x in parts
        ]
        if math.isfinite(means[0]):
            lines.append((level, *means))
        else:
            left.append(level)
    if not lines:
        raise NotIdentifiableError(f"{path}: no concurrency has a line in K; measure K = 1 and 3")
    levels, verify, draft, offs = (np.array(column) for column in zip(*lines, strict=True))
    off = bool(np.all(np.isfinite(offs)))
    cost = BatchTable(levels, verify, draft, offs if off else None, extrapolate=extrapolate)
    notes = ["cycle times are means over the tasks of the benchmark"] if task is None else []
    if fit.dropped:
        notes.append(f"corrupt rows of the benchmark left out: {len(fit.dropped)}")
    if left:
        notes.append(f"concurrency {', '.join(map(str, left))} has too few depths: left out")
    scatter = [
        math.log((fit.intercept[i, j] + row.depth * fit.slope[i, j]) / row.mean_itl)
        for row in benchmark.rows
        if row.depth > 0
        for i in [fit.tasks.index(row.task)]
        for j in [fit.concurrencies.index(row.concurrency)]
        if math.isfinite(fit.intercept[i, j])
    ]
    # The plan's cost is a mean over tasks, and so is its error.
    error = float(np.sqrt(np.mean(np.square(scatter)) / len(fit.tasks)))
    return MeasuredCost(cost, levels.astype(np.int64), fit.deepest, off, error, tuple(notes))


def _cells(path: str | Path) -> dict[tuple[int, int], list[float]]:
    name = str(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            header = [cell.strip() for cell in next(reader, [])]
            lines = [(reader.line_num, cells) for cells in reader if any(cells)]
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=name) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"is not CSV text: {error}", path=name) from None
    columns = {}
    for key, headings in _HEADINGS.items():
        places = [header.index(heading) for heading in headings if heading in header]
        if not places and key == "batch":
            continue
        if not places:
            raise FormatError(
                f"needs a column {' or '.join(headings)}; its columns are "
                f"{', '.join(header)[:80] or 'none'}",
                path=name,
                line=1,
            )
        columns[key] = places[0]
    table: dict[tuple[int, int], list[float]] = {}
    for line, cells in lines:
        try:
            batch, depth, cycle = (
                as_scalar(_cell(cells, columns.get(key)), key) for key in _HEADINGS
            )
            place = (_whole(batch, "batch"), as_depth(max(_whole(depth, "K"), 0)))
            table.setdefault(place, []).append(as_scalar(cycle, "cycle", above=0))
        except InvalidInputError as error:
            raise FormatError(str(error), path=name, line=line) from None
    if not table:
        raise FormatError("has no measurement below its heading", path=name)
    if min(batch for batch, _ in table) < 1:
        raise FormatError("batch must be ≥ 1", path=name)
    return table


def _cell(cells: list[str], column: int | None) -> str:
    """The cell of a column; 1 for a batch that was not given, nothing for a short line."""
    if column is None:
        return "1"
    return cells[column] if column < len(cells) else ""


def _whole(value: float, name: str) -> int:
    if value != math.floor(value):
        raise InvalidInputError(f"{name} must be an integer, got {value:g}")
    return int(value)
