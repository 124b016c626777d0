"""Tables of a serving benchmark: task × depth × concurrency, with mean ITL and TPOT.

One streamed chunk is one verify cycle: the mean inter-token latency (ITL) is the cycle time, and
ITL/TPOT is the tokens of a cycle, E[with bonus]; no counters are needed.  The identity holds for
means, not for medians.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ensctl.arguments import as_count, as_scalar
from ensctl.display import Summarised
from ensctl.errors import FormatError, InvalidInputError
from ensctl.serialization import versioned

# Column of a row → headings it may have.
_HEADINGS = {
    "task": ("task", "dataset"),
    "depth": ("K", "k", "depth", "num_speculative_tokens"),
    "concurrency": ("conc", "concurrency", "max_concurrency", "batch"),
    "mean_itl": ("mean_itl_ms", "mean_itl"),
    "mean_tpot": ("mean_tpot_ms", "mean_tpot"),
}
_OPTIONAL = {"method": ("method", "drafter"), "model": ("model", "model_id")}

# A cell is corrupt if it is off by more than this factor, and by more than so many robust standard
# deviations, from what its neighbours in the table say.
_FACTOR = 1.5
_DEVIATIONS = 8.0
# Tokens per cycle lie in [1, K + 1]; means of different requests leave some room.
_ROOM = 0.1
_FEWEST_NEIGHBOURS = 3


@dataclass(frozen=True)
class ServingRow:
    """One cell of a benchmark.

    Parameters
    ----------
    task : str
        The workload.
    depth : int
        K; 0 without speculation.
    concurrency : int
        Requests in flight, ≥ 1.
    mean_itl : float
        Mean time between chunks, ms: the cycle time.
    mean_tpot : float
        Mean time per output token, ms.
    method : str
        The drafter; what the table calls it.
    model : str
        The model served.
    line : int or None
        Line of the file, from 1.

    Examples
    --------
    >>> from ensctl.drafting import ServingRow
    >>> ServingRow("qa", 1, 8, 20.0, 12.5).length
    1.6
    """

    task: str
    depth: int
    concurrency: int
    mean_itl: float
    mean_tpot: float
    method: str = ""
    model: str = ""
    line: int | None = None

    def __post_init__(self) -> None:
        checked = {
            "depth": as_count(self.depth, "depth", minimum=0),
            "concurrency": as_count(self.concurrency, "concurrency"),
            "mean_itl": as_scalar(self.mean_itl, "mean_itl", above=0),
            "mean_tpot": as_scalar(self.mean_tpot, "mean_tpot", above=0),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def length(self) -> float:
        """Tokens per cycle, E[with bonus] = ITL/TPOT."""
        return self.mean_itl / self.mean_tpot

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        return (
            f"{place}{self.task}, K = {self.depth}, concurrency {self.concurrency}: mean ITL "
            f"{self.mean_itl:g} ms, mean TPOT {self.mean_tpot:g} ms"
        )


@dataclass(frozen=True)
class ServingBenchmark(Summarised):
    """A benchmark table without its corrupt cells.

    Attributes
    ----------
    rows : tuple of ServingRow
        Rows that can be used, K = 0 (no speculation) among them.
    dropped : tuple of (str, str)
        Each row left out, and why.
    source : str
        The file.
    """

    rows: tuple[ServingRow, ...]
    dropped: tuple[tuple[str, str], ...]
    source: str = ""

    @property
    def depths(self) -> tuple[int, ...]:
        """Depths K ≥ 1 in the table."""
        return tuple(sorted({row.depth for row in self.rows if row.depth > 0}))

    @property
    def tasks(self) -> tuple[str, ...]:
        """Tasks in the table."""
        return tuple(sorted({row.task for row in self.rows}))

    @property
    def concurrencies(self) -> tuple[int, ...]:
        """Concurrencies in the table."""
        return tuple(sorted({row.concurrency for row in self.rows}))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "serving_benchmark",
            {"rows": self.rows, "dropped": self.dropped, "source": self.source},
        )

    def __str__(self) -> str:
        depths = ", ".join(str(depth) for depth in self.depths)
        lines = [
            f"{len(self.rows)} rows, {len(self.dropped)} dropped: {len(self.tasks)} tasks, "
            f"K = {depths}, {len(self.concurrencies)} concurrencies"
        ]
        lines += [f"dropped {row}: {reason}" for row, reason in self.dropped[:8]]
        return "\n".join(lines)


def read_serving_benchmark(path: str | Path) -> ServingBenchmark:
    """Read a benchmark table from a CSV file and drop corrupt cells.

    Parameters
    ----------
    path : str or path
        A CSV file with the columns task, K, conc, mean_itl_ms and mean_tpot_ms; method and model
        if there are several.  K ≤ 0 is a run without speculation.

    Returns
    -------
    ServingBenchmark
        Rows, and what was dropped with the reason and the line.

    Raises
    ------
    FormatError
        Not readable, a column is missing, or no row can be used.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "bench.csv")
    >>> heading = "task,K,conc,mean_itl_ms,mean_tpot_ms"
    >>> _ = file.write_text(heading + "\\nqa,1,1,15.7,9.7\\nqa,3,1,x,8\\n")
    >>> print(read_serving_benchmark(file))
    1 rows, 1 dropped: 1 tasks, K = 1, 1 concurrencies
    dropped line 3: mean_itl_ms must be a real number, got 'x'
    >>> folder.cleanup()
    """
    name = str(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            header = [cell.strip() for cell in next(reader, [])]
            columns = _columns(header, name)
            lines = [(reader.line_num, cells) for cells in reader if any(cells)]
    except (OSError, TypeError) as error:
        raise FormatError(f"cannot be read: {error}", path=name) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"is not CSV text: {error}", path=name) from None
    rows, dropped = [], []
    for line, cells in lines:
        try:
            rows.append(_row(cells, columns, line))
        except InvalidInputError as error:
            dropped.append((f"line {line}", str(error)))
    if not rows:
        first = f"; line {lines[0][0]}: {dropped[0][1]}" if dropped else ""
        raise FormatError(f"has no row that can be used{first}", path=name)
    return clean_benchmark(rows, source=name, dropped=dropped)


def clean_benchmark(
    rows: Iterable[ServingRow],
    *,
    source: str = "",
    dropped: Iterable[tuple[str, str]] = (),
) -> ServingBenchmark:
    """Leave out cells that contradict their neighbours in the table.

    ln y of a cell (task, K, concurrency) is compared with a + b − c for every rectangle of cells
    that it closes: two depths by two tasks or concurrencies, or two tasks by two concurrencies.
    The median over all rectangles is robust to corrupt cells.

    Parameters
    ----------
    rows : iterable of ServingRow
        The cells.
    source : str
        Where they come from.
    dropped : iterable of (str, str)
        Rows left out before, and why.

    Returns
    -------
    ServingBenchmark
        A cell is dropped if ITL or TPOT is off by more than a factor of 1.5 and eight robust
        standard deviations, or if ITL/TPOT is outside [1, K + 1] by more than 10 %; at K = 0, if
        it is off 1 by more than a factor of 1.5.

    Raises
    ------
    InvalidInputError
        Not rows.

    Examples
    --------
    >>> from ensctl.drafting import ServingRow, clean_benchmark
    >>> rows = [ServingRow(task, k, c, (10 + 2 * k) * c, 8.0 * c)
    ...         for task in "abc" for k in (1, 2, 3) for c in (1, 2, 4)]
    >>> bad = ServingRow("a", 2, 8, 14.0, 5398.0)
    >>> clean_benchmark([*rows, bad]).dropped[0][1]
    'ITL/TPOT = 0.00259 is outside [1, K + 1]'
    """
    if not isinstance(rows, Iterable):
        raise InvalidInputError(f"rows must be ServingRow, got {type(rows).__name__}")
    table = list(rows)
    for row in table:
        if not isinstance(row, ServingRow):
            raise InvalidInputError(f"rows must be ServingRow, got {type(row).__name__}")
    left_out = list(dropped)
    kept = []
    for row in table:
        reason = _out_of_range(row)
        if reason:
            left_out.append((str(row), reason))
        else:
            kept.append(row)
    reasons: dict[int, str] = {}
    for group in _runs(kept):
        for column, label in (("mean_itl", "ITL"), ("mean_tpot", "TPOT")):
            for i, factor in _outliers([kept[i] for i in group], column):
                reasons.setdefault(
                    group[i], f"mean {label} is {factor:.3g} times what its neighbours say"
                )
    left_out += [(str(kept[i]), reasons[i]) for i in sorted(reasons)]
    good = tuple(row for i, row in enumerate(kept) if i not in reasons)
    return ServingBenchmark(good, tuple(left_out), source)


def _columns(header: list[str], path: str) -> dict[str, int]:
    found = {}
    for name, headings in {**_HEADINGS, **_OPTIONAL}.items():
        positions = [header.index(heading) for heading in headings if heading in header]
        if positions:
            found[name] = positions[0]
        elif name in _HEADINGS:
            raise FormatError(
                f"needs a column {' or '.join(headings)}; its columns are {', '.join(header)}",
                path=path,
                line=1,
            )
    return found


def _row(cells: list[str], columns: Mapping[str, int], line: int) -> ServingRow:
    def text(name: str) -> str:
        position = columns.get(name)
        return "" if position is None or position >= len(cells) else cells[position].strip()

    def count(name: str, heading: str) -> int:
        number = as_scalar(text(name), heading)
        if number != math.floor(number):
            raise InvalidInputError(f"{heading} must be an integer, got {number:g}")
        return int(number)

    return ServingRow(
        task=text("task"),
        depth=max(count("depth", "K"), 0),
        concurrency=count("concurrency", "conc"),
        mean_itl=as_scalar(text("mean_itl"), "mean_itl_ms", above=0),
        mean_tpot=as_scalar(text("mean_tpot"), "mean_tpot_ms", above=0),
        method=text("method"),
        model=text("model"),
        line=line,
    )


def _out_of_range(row: ServingRow) -> str:
    if row.depth == 0:
        if not 1.0 / _FACTOR <= row.length <= _FACTOR:
            return f"ITL/TPOT = {row.length:.3g} should be 1 without speculation"
        return ""
    if not (1.0 - _ROOM) <= row.length <= (row.depth + 1.0) * (1.0 + _ROOM):
        return f"ITL/TPOT = {row.length:.3g} is outside [1, K + 1]"
    return ""


def _runs(rows: list[ServingRow]) -> list[list[int]]:
    """Indices of drafted rows of one method and model each; rows without drafts by model."""
    groups: dict[tuple[str, str], list[int]] = {}
    for i, row in enumerate(rows):
        groups.setdefault((row.method, row.model), []).append(i)
    return list(groups.values())


def _outliers(rows: list[ServingRow], column: str) -> list[tuple[int, float]]:
    """Positions whose value is far off, with the factor; rectangles as in clean_benchmark."""
    axes = [
        sorted({getattr(row, name) for row in rows}) for name in ("task", "depth", "concurrency")
    ]
    table = np.full([len(axis) for axis in axes], np.nan)
    places = [
        (axes[0].index(row.task), axes[1].index(row.depth), axes[2].index(row.concurrency))
        for row in rows
    ]
    for place, row in zip(places, rows, strict=True):
        table[place] = math.log(getattr(row, column))
    residual = np.array([_residual(table, place) for place in places])
    known = residual[np.isfinite(residual)]
    if known.size == 0:
        return []
    spread = 1.4826 * float(np.median(np.abs(known)))
    limit = max(math.log(_FACTOR), _DEVIATIONS * spread)
    far = np.flatnonzero(np.abs(np.nan_to_num(residual)) > limit)
    return [(int(i), math.exp(residual[i])) for i in far]


def _residual(table: Any, place: tuple[int, ...]) -> float:
    """Value at ``place`` less the median of a + b − c over the rectangles that it closes."""
    estimates = []
    for first, second in ((0, 1), (1, 2), (0, 2)):
        rest = 3 - first - second
        plane = np.moveaxis(table, (first, second, rest), (0, 1, 2))[:, :, place[rest]]
        i, j = place[first], place[second]
        rectangle = plane[:, j][:, None] + plane[i, :][None, :] - plane
        rectangle = np.delete(np.delete(rectangle, i, axis=0), j, axis=1)
        estimates.append(rectangle[np.isfinite(rectangle)])
    around = np.concatenate(estimates)
    if around.size < _FEWEST_NEIGHBOURS:
        return math.nan
    return float(table[place] - np.median(around))
