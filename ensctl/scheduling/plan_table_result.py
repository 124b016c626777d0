"""A plan: the depth for every load, what it yields, and how far it may be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_scalar
from ensctl.display import Documented, Plotted
from ensctl.drafting.convention import Convention
from ensctl.errors import InvalidInputError
from ensctl.scheduling.engine_schedules import DepthRange, sglang_config, vllm_config
from ensctl.scheduling.engine_schedules_tensorrt import tensorrt_llm_config
from ensctl.scheduling.hysteresis import SwitchPoint
from ensctl.scheduling.plan_table_degradation import Degradation
from ensctl.serialization import versioned

Array = NDArray[Any]

_SHOWN = 6
# Stands for no throughput in logarithms.
_TINY = 1e-300


@dataclass(frozen=True)
class DrafterScore:
    """How a drafter would do if it were the one loaded.

    Attributes
    ----------
    name : str
        The drafter.
    throughput : float
        Mean over loads (geometric, by weight) of its best table, relative to the drafter chosen.
    """

    name: str
    throughput: float


@dataclass(frozen=True, eq=False)
class PlanTable(Plotted, Documented):
    """Result of :func:`plan_table`.

    Attributes
    ----------
    drafter : str
        The drafter to load.
    batches : (b,) ndarray of int
        Loads planned for: requests in the batch, those still prefilling included.
    contexts : (c,) ndarray
        Tokens per sequence planned for.
    depths : (c, b) ndarray of int
        Depth K at every load; 0 is off.
    best_depths : (c, b) ndarray of int
        Depth of the highest predicted throughput, before smoothing.
    throughput : (c, b) ndarray
        Predicted units per unit of cost and stream.
    low, high : (c, b) ndarray
        Ends of its interval at ``level``.
    plain : (c, b) ndarray
        Throughput without a drafter loaded; NaN where the cost of off is not known.
    options : (k,) ndarray of int
        Depths that competed.
    curves : (c, b, k) ndarray
        Predicted throughput at each of them.
    weights : (b,) ndarray
        Share of each load in means, summing to one.
    switches : tuple of SwitchPoint
        Where the depth changes, with the batches for a controller that has memory.
    degradation : tuple of Degradation
        What becomes of the plan if α or the cost is off.
    alternatives : tuple of DrafterScore
        The drafters that were compared, the chosen one first.
    level : float
        Coverage of the intervals.
    noise : float
        Relative gain below which a depth is not deeper at a heavier load.
    hysteresis : float
        Relative gain below which the depth is not switched.
    unit : str
        Unit of the cost.
    convention : Convention
        What lengths count.
    notes : tuple of str
        What has to be known to use the plan.

    Examples
    --------
    >>> from ensctl.drafting import BatchTable
    >>> from ensctl.scheduling import plan_table
    >>> plan = plan_table(0.7, BatchTable([1, 64], [10, 14], [1.0, 9.0], [9, 12]), 64, max_depth=5)
    >>> plan.depth(1), plan.depth(64)
    (4, 0)
    """

    drafter: str
    batches: Array
    contexts: Array
    depths: Array
    best_depths: Array
    throughput: Array
    low: Array
    high: Array
    plain: Array
    options: Array
    curves: Array
    weights: Array
    switches: tuple[SwitchPoint, ...]
    degradation: tuple[Degradation, ...]
    alternatives: tuple[DrafterScore, ...]
    level: float
    noise: float
    hysteresis: float
    unit: str
    convention: Convention
    notes: tuple[str, ...]

    _plot_function: ClassVar[str] = "plan_table"
    _html_function: ClassVar[str] = "plan_html"

    @property
    def max_batch(self) -> int:
        """Largest batch planned for."""
        return int(self.batches[-1])

    @property
    def max_depth(self) -> int:
        """Greatest depth in the plan, what an engine has to be started with."""
        return int(self.depths.max())

    @property
    def speedup(self) -> Array:
        """Throughput over that without a drafter loaded, (c, b)."""
        return np.asarray(self.throughput / self.plain)

    @property
    def loss(self) -> Array:
        """What smoothing gave away of the best predicted throughput, (c, b), ≥ 0."""
        return np.asarray(1.0 - self.throughput / self.curves.max(axis=2))

    @property
    def best_single(self) -> tuple[int, float]:
        """The best depth for all loads, and the plan's mean gain over it (geometric, by weight)."""
        logs = np.log(np.maximum(self.curves, _TINY))
        means = np.einsum("b,cbk->k", self.weights, logs) / self.contexts.size
        planned = float(np.mean(np.log(self.throughput) @ self.weights))
        best = int(np.argmax(means))
        return int(self.options[best]), float(np.expm1(planned - means[best]))

    def depth(self, batch: float, context: float | None = None, current: int | None = None) -> int:
        """Depth K at a load.

        Parameters
        ----------
        batch : float
            Requests in the batch, prefilling ones included, from 1 to ``max_batch``.
        context : float, optional
            Tokens per sequence; the nearest planned context is taken.  It may be left out where
            there is one only.
        current : int, optional
            Depth in use.  It is kept while the planned one is ahead by less than ``hysteresis``.

        Returns
        -------
        int
            K; 0 is off.

        Raises
        ------
        InvalidInputError
            A load outside the plan, or a depth that did not compete.
        """
        streams = as_scalar(batch, "batch", at_least=1)
        if streams > self.max_batch:
            raise InvalidInputError(
                f"batch must be ≤ {self.max_batch}, the largest planned, got {streams:g}; plan for "
                "more loads"
            )
        row = self._context(context)
        load = int(np.searchsorted(self.ends, np.ceil(streams)))
        planned = int(self.depths[row, load])
        if current is None:
            return planned
        held = [i for i, option in enumerate(self.options.tolist()) if option == current]
        if not held:
            listed = ", ".join(str(k) for k in self.options)
            raise InvalidInputError(f"current must be one of {listed}, got {current!r}")
        if self.options[held[0]] == planned:
            return planned
        ahead = self.throughput[row, load] / self.curves[row, load, held[0]] - 1.0
        return planned if ahead >= self.hysteresis else int(current)

    @property
    def ends(self) -> Array:
        """Largest batch that each planned load stands for, (b,)."""
        return range_ends(self.batches)

    def ranges(self, context: float | None = None) -> tuple[DepthRange, ...]:
        """Batches from 1 to ``max_batch`` in ranges of one depth, at the nearest context."""
        row, found = self._context(context), list[DepthRange]()
        for end, depth in zip(self.ends.tolist(), self.depths[row].tolist(), strict=True):
            if found and found[-1].depth == depth:
                found[-1] = DepthRange(found[-1].first, end, depth)
            else:
                found.append(DepthRange(found[-1].last + 1 if found else 1, end, depth))
        return tuple(found)

    def to_vllm(self, context: float | None = None) -> str:
        """JSON for vLLM's speculative config: ``num_speculative_tokens_per_batch_size``.

        Parameters
        ----------
        context : float, optional
            Which planned context to write; vLLM's table has batches only.

        Returns
        -------
        str
            JSON, to be merged with method and model.  vLLM looks a step up by the number of
            scheduled requests, prefilling ones included, and without memory: ``switches`` are
            for controllers that have some.

        Raises
        ------
        InvalidInputError
            Speculation is off everywhere, or several contexts and none named.
        """
        return vllm_config(self.ranges(context))

    def to_tensorrt_llm(self, version: str, context: float | None = None) -> str:
        """YAML for TensorRT-LLM: ``speculative_config`` with ``draft_len_schedule``.

        Parameters
        ----------
        version : str
            The release, "1.2" for keys that are lower bounds or "1.3" for keys that are inclusive
            upper bounds; or the reading itself, "lower-bounds" or "upper-bounds".
        context : float, optional
            Which planned context to write.

        Returns
        -------
        str
            YAML whose first comment says which reading was written.

        Raises
        ------
        InvalidInputError
            A version whose reading is not known, or a plan that the format cannot hold.
        """
        return tensorrt_llm_config(self.ranges(context), version)

    def to_sglang(self, context: float | None = None) -> str:
        """JSON for SGLang's adaptive config: one tier of ``candidate_steps`` for each range.

        Parameters
        ----------
        context : float, optional
            Which planned context to write.

        Returns
        -------
        str
            JSON with the least batch of each tier as key, for ``--speculative-adaptive-config``.
            SGLang first pads the batch to the next size it has a CUDA graph for, and starts only
            if ``--speculative-num-steps`` is one of the depths; EAGLE with
            ``--speculative-eagle-topk 1``.

        Raises
        ------
        InvalidInputError
            Speculation is off everywhere, or several contexts and none named.
        """
        return sglang_config(self.ranges(context))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        single, gain = self.best_single
        return versioned(
            "plan_table",
            {
                "drafter": self.drafter,
                "ranges": {
                    f"{context:g}": [tuple(part) for part in self.ranges(context)]
                    for context in self.contexts.tolist()
                },
                "batches": self.batches,
                "contexts": self.contexts,
                "depths": self.depths,
                "best_depths": self.best_depths,
                "throughput": self.throughput,
                "low": self.low,
                "high": self.high,
                "plain": self.plain,
                "speedup": self.speedup,
                "options": self.options,
                "curves": self.curves,
                "weights": self.weights,
                "best_single_depth": single,
                "gain_over_best_single": gain,
                "switches": self.switches,
                "degradation": self.degradation,
                "alternatives": self.alternatives,
                "level": self.level,
                "noise": self.noise,
                "hysteresis": self.hysteresis,
                "unit": self.unit,
                "convention": self.convention,
                "notes": self.notes,
            },
        )

    def __str__(self) -> str:
        single, gain = self.best_single
        lines = []
        for context in self.contexts[:3].tolist():
            where = "" if self.contexts.size == 1 else f"context {context:g}: "
            ranges = self.ranges(context)
            more = f", … ({len(ranges) - _SHOWN} more)" if len(ranges) > _SHOWN else ""
            lines.append(where + ", ".join(str(part) for part in ranges[:_SHOWN]) + more)
        if self.contexts.size > 3:
            lines.append(f"… ({self.contexts.size - 3} more contexts)")
        if self.max_depth == 0:
            lines.append("speculation loses at every load: serve without a drafter")
        elif len(np.unique(self.depths)) == 1:
            lines.append("one depth serves all loads")
        else:
            fixed = f"K = {single}" if single else "off"
            lines.append(f"{100 * gain:+.2g} % on average over {fixed} at all loads (predicted)")
        for place in (0, -1):
            gained = self.speedup[0, place]
            lines.append(
                f"batch {self.batches[place]}: {self.throughput[0, place]:.4g} "
                f"[{self.low[0, place]:.4g}, {self.high[0, place]:.4g}] units per {self.unit} and "
                "stream" + (f", {gained:.3g} × no drafter" if np.isfinite(gained) else "")
            )
        lines += [str(case) for case in self.degradation[:2]]
        lines += self.notes[:2]
        return "\n".join(lines)

    def _context(self, context: float | None) -> int:
        if context is None:
            if self.contexts.size > 1:
                listed = ", ".join(f"{value:g}" for value in self.contexts)
                raise InvalidInputError(f"context must be given, the plan has {listed}")
            return 0
        return int(np.argmin(np.abs(self.contexts - as_scalar(context, "context", at_least=0))))


def range_ends(batches: Array) -> Array:
    """Largest batch that each load stands for: up to the geometric mean with the next one."""
    middle = np.floor(np.sqrt(batches[:-1] * batches[1:].astype(np.float64)) + 1e-9)
    return np.append(middle.astype(np.int64), batches[-1])
