"""Cost models from measured tables: serving benchmarks, or depth and cycle time in CSV."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ensctl.drafting.cost import CostModel, LinearCost
from ensctl.drafting.cost_fit import fit_linear_cost
from ensctl.drafting.cost_table import MILLISECONDS, BatchTable
from ensctl.drafting.serving_benchmark import read_serving_benchmark
from ensctl.drafting.serving_calibration import calibrate
from ensctl.errors import FormatError, InvalidInputError

_DEPTH = ("depth", "k", "num_speculative_tokens", "num_spec_tokens")
_CYCLE = ("cycle", "cycle_ms", "cost", "time_ms", "mean_cycle_ms", "step_ms")
_BATCH = ("batch", "batch_size", "concurrency", "streams")
_SERVING = "mean_itl"


def read_cost(path: str | Path, *, task: str | None = None) -> CostModel:
    """Cost model from a CSV table of measurements.

    Two kinds of tables are known by their headings.  A serving benchmark (``mean_itl_ms``,
    ``mean_tpot_ms``, depth, concurrency, task) gives a line in K for every concurrency, averaged
    over tasks.  A plain table has the columns ``depth`` and ``cycle``, and ``batch`` if the load
    varies; depth 0 is off.

    Parameters
    ----------
    path : str or path
        The CSV file.
    task : str, optional
        The only task of a serving benchmark to use.

    Returns
    -------
    CostModel
        In ms: a :class:`BatchTable` where batches were measured, a :class:`LinearCost` otherwise.

    Raises
    ------
    FormatError
        The file cannot be read, has no such columns, or a cell is no number; it names the line.
    InvalidInputError
        An unknown task, or fewer than two depths.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ensctl import drafting
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "cost.csv"
    ...     _ = table.write_text("depth,cycle\\n0,10\\n1,13\\n3,17\\n", encoding="utf-8")
    ...     cost = drafting.read_cost(table)
    >>> cost.cycle(0), round(cost.cycle(5), 9)
    (10.0, 21.0)
    """
    lines = _lines(Path(path))
    heading = [cell.strip().lower() for cell in lines[0]]
    if any(cell.startswith(_SERVING) for cell in heading):
        return _serving_cost(path, task)
    if task is not None:
        raise InvalidInputError("task goes with a serving benchmark; this table has no tasks")
    return _plain_cost(lines, heading, str(path))


def _lines(path: Path) -> list[list[str]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise FormatError(f"cannot be read: {reason}", str(path)) from None
    except UnicodeDecodeError:
        raise FormatError("is not UTF-8 text; give a CSV table", str(path)) from None
    rows = list(csv.reader(text.splitlines()))
    if not rows or not any(cell.strip() for cell in rows[0]):
        raise FormatError("is empty; the first line must name the columns", str(path))
    return rows


def _serving_cost(path: str | Path, task: str | None) -> CostModel:
    found = calibrate(read_serving_benchmark(path))
    if task is not None and task not in found.tasks:
        raise InvalidInputError(f"task must be one of {', '.join(found.tasks)}, got {task!r}")
    chosen = list(range(len(found.tasks))) if task is None else [found.tasks.index(task)]
    batches, verify, draft, off = [], [], [], []
    for j, concurrency in enumerate(found.concurrencies):
        measured = [i for i in chosen if not math.isnan(found.intercept[i, j])]
        if not measured:
            continue
        batches.append(concurrency)
        verify.append(float(np.mean(found.intercept[measured, j])))
        draft.append(float(np.mean(found.slope[measured, j])))
        off.append(float(np.mean(found.baseline[measured, j])))
    known = None if any(math.isnan(value) for value in off) else off
    if len(batches) == 1:
        only = None if known is None else known[0]
        return LinearCost(draft[0], verify[0], off=only, unit=MILLISECONDS)
    return BatchTable(batches, verify, draft, off=known, unit=MILLISECONDS)


def _plain_cost(rows: list[list[str]], heading: list[str], path: str) -> CostModel:
    depth = _column(heading, _DEPTH, path)
    cycle = _column(heading, _CYCLE, path)
    batch = next((heading.index(name) for name in _BATCH if name in heading), None)
    numbers = [
        [_number(row, column, heading, path, line) for column in (depth, cycle, batch)]
        for line, row in enumerate(rows[1:], start=2)
        if any(cell.strip() for cell in row)
    ]
    table = np.array(numbers, dtype=float).reshape(-1, 3)
    batches = None if batch is None else table[:, 2]
    return fit_linear_cost(table[:, 0], table[:, 1], batches=batches).cost


def _column(heading: list[str], names: Sequence[str], path: str) -> int:
    for name in names:
        if name in heading:
            return heading.index(name)
    raise FormatError(
        f"has no column {names[0]!r} (or {', '.join(names[1:])}); columns are {', '.join(heading)}",
        path,
        1,
    )


def _number(row: list[str], column: int | None, heading: list[str], path: str, line: int) -> Any:
    if column is None:
        return 1.0
    text = row[column].strip() if column < len(row) else ""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FormatError(f"{heading[column]} must be a number, got {text!r}", path, line)
    return value
