"""TPOT predicted from calibrated acceptance and cost, the best depth, and errors of both.

At depth K and concurrency c a task takes TPOT = C(K, c)/(g E[L_K]) with a straight-line cycle time
C, the length E[L_K] of the task's acceptance model, and a factor g near 1 for what the streamed
chunks of that cell hold besides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ensctl.arguments import Array, as_scalar
from ensctl.display import Summarised
from ensctl.drafting.acceptance import AcceptanceModel
from ensctl.drafting.convention import as_depth
from ensctl.drafting.cost import LinearCost
from ensctl.drafting.cost_table import MILLISECONDS
from ensctl.drafting.serving_benchmark import ServingBenchmark, ServingRow
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.serialization import versioned


@dataclass(frozen=True)
class ServingErrors(Summarised):
    """Predictions against measurements, as shares.

    Attributes
    ----------
    by_depth : mapping of int to float
        Mean |predicted/measured − 1| of TPOT at each depth.
    mean : float
        The same over all cells.
    worst : float
        The greatest.
    loss_mean : float
        TPOT at the depth chosen over the best measured, less 1: mean over tasks × concurrencies.
    loss_worst : float
        The greatest loss.
    cells : int
        Number of predictions.
    """

    by_depth: Mapping[int, float]
    mean: float
    worst: float
    loss_mean: float
    loss_worst: float
    cells: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        names: tuple[str, ...] = self.__match_args__
        return versioned("serving_errors", {name: getattr(self, name) for name in names})

    def __str__(self) -> str:
        depths = ", ".join(f"K = {k}: {100 * v:.2f} %" for k, v in self.by_depth.items())
        return (
            f"TPOT predicted within {100 * self.mean:.2f} % on average ({depths}; worst "
            f"{100 * self.worst:.1f} %, {self.cells} cells)\n"
            f"chosen K loses {100 * self.loss_mean:.2f} % on average, worst "
            f"{100 * self.loss_worst:.2f} %"
        )


@dataclass(frozen=True, eq=False)
class ServingCalibration(Summarised):
    """Result of :func:`~ensctl.drafting.serving_calibration.calibrate`.

    Attributes
    ----------
    tasks : tuple of str
        Tasks.
    concurrencies : tuple of int
        Concurrencies measured.
    depths : tuple of int
        Depths used.
    acceptance_models : mapping of str to AcceptanceModel
        Acceptance of each task.
    reasons : mapping of str to str
        Why that model.
    intercept, slope : (tasks, concurrencies) ndarray
        Cycle time = intercept + K slope, ms; NaN where nothing was measured.
    factor : (tasks, concurrencies) ndarray
        g: measured tokens per chunk over those of the acceptance model.
    baseline : (tasks, concurrencies) ndarray
        TPOT without speculation, ms; NaN where not measured.
    deepest : int
        Greatest depth in the table, the limit of :meth:`best_depth` if none is given.
    dropped : tuple of (str, str)
        Rows left out, and why.
    """

    tasks: tuple[str, ...]
    concurrencies: tuple[int, ...]
    depths: tuple[int, ...]
    acceptance_models: Mapping[str, AcceptanceModel]
    reasons: Mapping[str, str]
    intercept: Array
    slope: Array
    factor: Array
    baseline: Array
    deepest: int
    dropped: tuple[tuple[str, str], ...]

    def acceptance(self, task: str | None = None) -> AcceptanceModel:
        """The acceptance model of a task; the task may be left out if there is one only."""
        return self.acceptance_models[self.tasks[self._single(task)]]

    def cost(self, concurrency: float, task: str | None = None) -> LinearCost:
        """Cycle time at a concurrency as a cost model in ms, with off where it was measured."""
        i = self._single(task)
        off = self._at(self.baseline, i, concurrency, required=False)
        return LinearCost(
            self._at(self.slope, i, concurrency),
            self._at(self.intercept, i, concurrency),
            off=None if math.isnan(off) else off,
            unit=MILLISECONDS,
        )

    def predict(self, depth: int, concurrency: float, task: str | None = None) -> float:
        """TPOT in ms at depth K; the mean over tasks where no task is named.

        Between measured concurrencies the line and the factor are interpolated.  K = 0 gives the
        measured run without speculation.

        Raises
        ------
        InvalidInputError
            An unknown task, or a concurrency outside the measured range.
        NotIdentifiableError
            K = 0 and nothing was measured without speculation.
        """
        units = as_depth(depth)
        chosen = range(len(self.tasks)) if task is None else [self._single(task)]
        return float(np.mean([self._predict(units, concurrency, i) for i in chosen]))

    def best_depth(
        self,
        concurrency: float,
        task: str | None = None,
        *,
        max_depth: int | None = None,
        off: bool = False,
    ) -> int:
        """Depth K ≥ 1 with the least predicted TPOT, up to ``max_depth``.

        ``max_depth`` is the deepest of the table if not given.  With ``off`` K = 0 competes, which
        needs a measurement without speculation.
        """
        limit = as_depth(self.deepest if max_depth is None else max_depth, "max_depth", minimum=1)
        depths = range(0 if off else 1, limit + 1)
        return min(depths, key=lambda depth: self.predict(depth, concurrency, task))

    def errors(self, rows: ServingBenchmark | Iterable[ServingRow]) -> ServingErrors:
        """Predictions at every measured depth that was not calibrated on, and the depths chosen."""
        table = rows.rows if isinstance(rows, ServingBenchmark) else tuple(rows)
        measured: dict[tuple[str, int], dict[int, float]] = {}
        for row in table:
            if row.depth > 0 and row.task in self.tasks:
                measured.setdefault((row.task, row.concurrency), {})[row.depth] = row.mean_tpot
        by_depth: dict[int, list[float]] = {}
        losses = []
        for (task, concurrency), cells in measured.items():
            for depth, tpot in cells.items():
                if depth not in self.depths:
                    error = self.predict(depth, concurrency, task) / tpot - 1.0
                    by_depth.setdefault(depth, []).append(abs(error))
            chosen = min(cells, key=lambda depth: self.predict(depth, concurrency, task))
            losses.append(cells[chosen] / min(cells.values()) - 1.0)
        every = [error for errors in by_depth.values() for error in errors]
        if not every:
            raise InvalidInputError(
                f"rows must have depths besides {self.depths} to compare with, got none"
            )
        return ServingErrors(
            {depth: float(np.mean(by_depth[depth])) for depth in sorted(by_depth)},
            float(np.mean(every)),
            max(every),
            float(np.mean(losses)),
            max(losses),
            len(every),
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        names: tuple[str, ...] = self.__match_args__
        content = {name: getattr(self, name) for name in names}
        content["acceptance_models"] = {
            task: {"model": type(model).__name__, **vars(model)}
            for task, model in self.acceptance_models.items()
        }
        return versioned("serving_calibration", content)

    def __str__(self) -> str:
        depths = ", ".join(str(depth) for depth in self.depths)
        lines = [
            f"TPOT = cycle time/tokens per cycle, from K = {depths}: {len(self.tasks)} tasks, "
            f"{len(self.concurrencies)} concurrencies; {len(self.dropped)} rows dropped"
        ]
        for i, task in enumerate(self.tasks[:6]):
            best = self.best_depth(self.concurrencies[0], task)
            lines.append(
                f"{task}: {self.acceptance_models[task]}, cycle {self.intercept[i, 0]:.3g} + "
                f"{self.slope[i, 0]:.3g} K ms at {self.concurrencies[0]}, best K = {best}"
            )
        lines += [f"dropped {row}: {reason}" for row, reason in self.dropped[:4]]
        return "\n".join(lines)

    def _predict(self, depth: int, concurrency: float, i: int) -> float:
        if depth == 0:
            return self._at(self.baseline, i, concurrency)
        cycle = self._at(self.intercept, i, concurrency)
        cycle += depth * self._at(self.slope, i, concurrency)
        model = self.acceptance_models[self.tasks[i]]
        return cycle / (model.expected_length(depth) * self._at(self.factor, i, concurrency))

    def _at(self, table: Array, i: int, concurrency: float, required: bool = True) -> float:
        streams = as_scalar(concurrency, "concurrency", at_least=1)
        known = np.isfinite(table[i])
        if not known.any():
            if not required:
                return math.nan
            raise NotIdentifiableError(
                f"task {self.tasks[i]!r} was not measured without speculation; give rows with K = 0"
            )
        axis = np.array(self.concurrencies, dtype=np.float64)[known]
        if not axis[0] <= streams <= axis[-1]:
            raise InvalidInputError(
                f"concurrency must be within {axis[0]:g} … {axis[-1]:g}, the measured range, got "
                f"{streams:g}"
            )
        return float(np.interp(streams, axis, table[i][known]))

    def _single(self, task: str | None) -> int:
        if task is None and len(self.tasks) == 1:
            return 0
        if task not in self.tasks:
            raise InvalidInputError(f"task must be one of {', '.join(self.tasks)}, got {task!r}")
        return self.tasks.index(task)
