"""What a plan is made from: counters of an engine and a table of costs, or a benchmark."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensctl.cli.standard_input import STDIN, as_file, stdin_bytes
from ensctl.errors import InvalidInputError, NotIdentifiableError

if TYPE_CHECKING:
    from ensctl.scheduling.plan_table_result import PlanTable


def read_plan(
    log: str,
    cost: str | None,
    *,
    max_batch: str | None,
    max_depth: str | None,
    off_overhead: str,
    off: bool,
    monotone: bool,
    noise: str,
    hysteresis: str,
    level: str,
    convention: str,
    method: str | None,
) -> PlanTable:
    """Read the inputs that a command line names and plan with them.

    Raises
    ------
    InvalidInputError
        A file or number is wrong, or the costs are missing.
    NotIdentifiableError
        The inputs do not determine acceptance or cost.
    """
    from ensctl.arguments import as_scalar
    from ensctl.drafting.cost_files import is_serving_benchmark

    common: dict[str, Any] = {
        "loaded_off_overhead": _overhead(off_overhead),
        "monotone": monotone,
        "noise": as_scalar(noise, "noise", at_least=0),
        "hysteresis": as_scalar(hysteresis, "hysteresis", at_least=0),
        "level": as_scalar(level, "level", above=0, below=1),
    }
    largest = None if max_batch is None else _count(max_batch, "max_batch")
    deepest = None if max_depth is None else _count(max_depth, "max_depth")
    if log != STDIN and is_serving_benchmark(log):
        if cost is None:
            return _from_benchmark(log, largest, deepest, off, convention, method, common)
    elif cost is None:
        raise InvalidInputError(
            f"cost must be given (--cost), {log} is no serving benchmark with mean_itl_ms; make a "
            "table batch,K,cycle"
        )
    return _from_counters(log, cost, largest, deepest, off, convention, method, common)


def _from_benchmark(
    path: str,
    largest: int | None,
    deepest: int | None,
    off: bool,
    convention: str,
    method: str | None,
    common: dict[str, Any],
) -> PlanTable:
    from ensctl.drafting.convention import Convention, as_convention
    from ensctl.drafting.serving_benchmark import read_serving_benchmark
    from ensctl.scheduling.plan_table_benchmark import plan_from_benchmark

    if as_convention(convention) is not Convention.WITH_BONUS:
        raise InvalidInputError(
            f"convention must be with_bonus for a benchmark, got {convention!r}: ITL/TPOT counts "
            "the bonus"
        )
    table = read_serving_benchmark(path)
    return plan_from_benchmark(
        table, loads=largest, max_depth=deepest, off=None if off else False, method=method, **common
    )


def _from_counters(
    log: str,
    cost: str,
    largest: int | None,
    deepest: int | None,
    off: bool,
    convention: str,
    method: str | None,
    common: dict[str, Any],
) -> PlanTable:
    from dataclasses import replace

    from ensctl.drafting.cost_files import read_cost_table
    from ensctl.drafting.engines.read import read_counters
    from ensctl.drafting.fitting.models import fit_acceptance
    from ensctl.scheduling.plan_table_choice import plan_table

    with as_file(cost) as table:
        measured = read_cost_table(table, method=method, extrapolate=largest is not None)
    if measured.deepest < 1:
        raise NotIdentifiableError(f"{cost}: costs need a depth K ≥ 1, got K = 0 only")
    # A pipe is text of unknown length: bytes, so that gzip is recognised there too.
    windows = read_counters(io.BytesIO(stdin_bytes()) if log == STDIN else Path(log))
    drafted = [window for window in windows if window.drafts]
    if not drafted:
        raise NotIdentifiableError(f"{log}: no step drafted, so there is no acceptance")
    fit = fit_acceptance(drafted, level=common["level"])
    if deepest is None:
        deepest = measured.deepest if fit.extrapolates else min(measured.deepest, fit.depth)
    first, last = int(measured.batches[0]), int(measured.batches[-1])
    loads = range(min(first, largest or last), (largest or last) + 1)
    plan = plan_table(
        fit,
        measured.cost,
        list(loads),
        max_depth=deepest,
        off=off and measured.off,
        cost_error=measured.error,
        convention=convention,
        **common,
    )
    notes = [*plan.notes, f"acceptance: {fit.reason}", *measured.notes]
    if off and not measured.off:
        notes.append("off was not measured (K = 0) and does not compete")
    if largest is not None and largest > last:
        notes.append(f"nothing was measured beyond batch {last}: costs are continued")
    return replace(plan, notes=tuple(notes))


def _overhead(text: str) -> Any:
    from ensctl.arguments import as_scalar
    from ensctl.scheduling.plan_table_choice import LOADED_OFF_OVERHEAD

    if text.strip().lower() == "public":
        return LOADED_OFF_OVERHEAD
    return as_scalar(text, "off_overhead", at_least=0)


def _count(text: str, name: str) -> int:
    try:
        value = int(text.strip())
    except ValueError:
        value = 0
    if value < 1:
        raise InvalidInputError(f"{name} must be an integer ≥ 1, got {text.strip()!r}")
    return value
