"""From counters to depths: acceptance is fitted for every engine and model, then K is chosen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.display import Plotted, Summarised
from ensctl.drafting.acceptance import AcceptanceModel
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.cost import CostModel, as_cost, one_of
from ensctl.drafting.counters import Counters
from ensctl.drafting.estimate import Estimate
from ensctl.drafting.fitting.acceptance_fit import AcceptanceFit
from ensctl.drafting.fitting.alpha import alpha_estimate
from ensctl.drafting.fitting.models import fit_acceptance
from ensctl.drafting.optimum import optimal_depth
from ensctl.drafting.optimum_result import DepthOptimum
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class MeasuredDepth(Plotted, Summarised):
    """The best depth for one engine and model, from what it counted.

    Attributes
    ----------
    engine, model : str
        Names found with the counters; empty where there were none.
    windows : int
        Windows in which something was drafted.
    depth_measured : int or None
        K at which the engine ran.
    alpha : Estimate
        α̂ over all windows.
    fit : AcceptanceFit
        The acceptance model and why it was chosen.
    optimum : DepthOptimum
        Throughput at every depth and the best one.
    throughput : Estimate
        Throughput at the best depth with the error that the fitted parameters bring.
    tokens_per_step : float or None
        Generated tokens per step, with the steps that drafted nothing.
    """

    engine: str
    model: str
    windows: int
    depth_measured: int | None
    alpha: Estimate
    fit: AcceptanceFit
    optimum: DepthOptimum
    throughput: Estimate
    tokens_per_step: float | None

    _plot_function: ClassVar[str] = "measured_depth"

    @property
    def name(self) -> str:
        """Model and engine, as far as they are known."""
        return ", ".join(part for part in (self.model, self.engine) if part)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "measured_depth",
            {
                "engine": self.engine,
                "model": self.model,
                "windows": self.windows,
                "depth_measured": self.depth_measured,
                "alpha": self.alpha,
                "acceptance": self.fit.to_dict(),
                "optimum": self.optimum.to_dict(),
                "throughput": self.throughput,
                "tokens_per_step": self.tokens_per_step,
            },
        )

    def __str__(self) -> str:
        now = "" if self.depth_measured is None else f", measured at K = {self.depth_measured}"
        lines = [
            f"{self.name + ': ' if self.name else ''}{str(self.optimum).splitlines()[0]}",
            f"throughput {self.throughput.value:.4g} ({100 * self.throughput.level:g} % interval "
            f"{self.throughput.low:.4g} to {self.throughput.high:.4g}) per "
            f"{one_of(self.optimum.unit)}",
            f"α = {self.alpha.value:.4f} ({self.alpha.low:.4f} to {self.alpha.high:.4f}) from "
            f"{self.windows} windows{now}; assumes {self.alpha.assumption}",
            f"acceptance model {_short(self.fit.model)}: {self.fit.reason}",
        ]
        if self.tokens_per_step is not None:
            lines.append(
                f"{self.tokens_per_step:.4g} tokens per step, steps without a draft included"
            )
        return "\n".join(lines)


def _short(model: AcceptanceModel) -> str:
    """The model with four digits of each number: no more are measured."""
    return re.sub(r"\d+\.\d{5,}(?:e[-+]?\d+)?", lambda m: f"{float(m.group()):.4g}", repr(model))


def measured_depths(
    counters: Sequence[Counters],
    cost: CostModel | float,
    max_depth: int = 16,
    *,
    model: str = "auto",
    convention: Convention | str = Convention.WITH_BONUS,
    batch: float = 1,
    context: float = 0.0,
    level: float = 0.95,
) -> list[MeasuredDepth]:
    """Best depth for every engine and model in a set of counters.

    Windows of one engine and model are taken together: α̂ and an acceptance model are fitted, and
    K maximises E[L_K]/C(K).

    Parameters
    ----------
    counters : sequence of Counters
        Windows as :func:`read_counters` returns them.
    cost : CostModel or float
        What a cycle costs; a number c_d is LinearCost(c_d).
    max_depth : int
        Largest K, ≥ 1; a fitted model that holds only where it was measured limits it further.
    model : str
        Acceptance model, see :func:`fit_acceptance`; "auto" compares.
    convention : Convention
        What a length counts.
    batch, context : float
        Load at which costs are taken.
    level : float
        Coverage of the intervals.

    Returns
    -------
    list of MeasuredDepth
        In the order in which engines and models first appear.

    Raises
    ------
    InvalidInputError
        No counters, or a wrong argument.
    NotIdentifiableError
        Nothing was drafted, or the counters do not determine acceptance.

    Notes
    -----
    The interval of the throughput carries the fitted parameters' errors to first order, with the
    cost taken as exact.

    Examples
    --------
    >>> from ensctl import drafting
    >>> window = drafting.Counters(1000, 3000, 1650, accepted_per_position=(750, 540, 360))
    >>> drafting.measured_depths([window], 0.1, model="iid")[0].optimum.depth
    4
    """
    windows = [counters] if isinstance(counters, Counters) else counters
    if not isinstance(windows, Iterable):
        raise InvalidInputError(
            f"counters must be a sequence of Counters, got {type(counters).__name__}"
        )
    windows = list(windows)
    if not windows:
        raise InvalidInputError("counters must have at least one window, got none")
    for i, window in enumerate(windows):
        if not isinstance(window, Counters):
            raise InvalidInputError(
                f"counters[{i}] must be Counters, got {type(window).__name__}; use read_counters"
            )
    costs, rule = as_cost(cost), as_convention(convention)
    deepest = as_depth(max_depth, "max_depth", minimum=1)
    groups: dict[tuple[str, str], list[Counters]] = {}
    for window in windows:
        groups.setdefault((window.engine, window.model), []).append(window)
    drafted = {key: [w for w in group if w.drafts > 0] for key, group in groups.items()}
    found = {key: group for key, group in drafted.items() if group}
    if not found:
        raise NotIdentifiableError(
            "no window drafted anything, so acceptance is not known; was speculative decoding on?"
        )
    return [
        _measured(key, group, costs, deepest, model, rule, batch, context, level)
        for key, group in found.items()
    ]


def _measured(
    key: tuple[str, str],
    windows: list[Counters],
    cost: CostModel,
    max_depth: int,
    model: str,
    rule: Convention,
    batch: float,
    context: float,
    level: float,
) -> MeasuredDepth:
    fit = fit_acceptance(windows, model, level=level)
    limit = max_depth if fit.extrapolates else min(max_depth, fit.depth)
    best = optimal_depth(fit.model, cost, limit, convention=rule, batch=batch, context=context)
    best = _with_band(best, fit, cost.cycles(np.arange(limit + 1), batch, context), rule)
    together = windows[0].merge(windows[1:]) if len(windows) > 1 else windows[0]
    return MeasuredDepth(
        engine=key[0],
        model=key[1],
        windows=len(windows),
        depth_measured=together.depth,
        alpha=alpha_estimate(windows, level=level),
        fit=fit,
        optimum=best,
        throughput=_throughput(fit, best, rule, level),
        tokens_per_step=together.tokens_per_step,
    )


def _with_band(
    best: DepthOptimum, fit: AcceptanceFit, cycles: Array, rule: Convention
) -> DepthOptimum:
    """The optimum with the interval of every depth's throughput; off is certain."""
    lengths = [fit.expected_length(depth, convention=rule) for depth in range(1, cycles.size)]
    low, high = best.curve.copy(), best.curve.copy()
    low[1:] = np.array([length.low for length in lengths]) / cycles[1:]
    high[1:] = np.array([length.high for length in lengths]) / cycles[1:]
    ends = sorted((int(np.argmax(low)), int(np.argmax(high))))
    return replace(
        best,
        curve_low=read_only(low),
        curve_high=read_only(high),
        level=fit.level,
        depth_low=ends[0],
        depth_high=ends[1],
    )


def _throughput(fit: AcceptanceFit, best: DepthOptimum, rule: Convention, level: float) -> Estimate:
    if best.depth == 0:
        value = best.throughput
        return Estimate(value, value, value, 0.0, level, "off: one unit per cycle", best.unit)
    length = fit.expected_length(best.depth, convention=rule)
    scaled = np.array([length.value, length.low, length.high, length.std_error]) / best.cycle
    value, low, high, error = scaled.tolist()
    return Estimate(
        value,
        low,
        high,
        error,
        level,
        "E[L] of the fitted model over C",
        best.unit,
        length.assumption,
    )
