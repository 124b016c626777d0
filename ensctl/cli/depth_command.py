"""``ensctl depth``: how many units to draft, from α or from what an engine printed.

JSON (schema 1): ``schema``, ``kind`` ("depth"), ``convention``, ``unit``, ``batch``, ``context``,
``cost_measured_to`` (deepest K of a cost table, or null) and ``results``, one for every engine and
model: ``depth`` (0: do not draft), ``speedup``, ``throughput``, ``reason``, ``runner_up``, and
``table`` with ``depth``, ``expected_length``, ``cycle`` and ``throughput`` of every K; for counters
also ``engine``, ``model``, ``windows``, ``depth_measured``, ``alpha`` with its interval,
``acceptance`` (the fitted model and why), ``throughput_interval``, ``tokens_per_step`` and
``depth_range``.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ensctl.cli.population import Json
from ensctl.cli.standard_input import STDIN, as_file, stdin_bytes
from ensctl.cli.streams import data, message
from ensctl.cli.waiting import waiting
from ensctl.errors import InvalidInputError

if TYPE_CHECKING:
    from ensctl.drafting.cost import CostModel
    from ensctl.drafting.measured_depth import MeasuredDepth
    from ensctl.drafting.optimum_result import DepthOptimum

Source = Annotated[
    str | None,
    typer.Argument(
        metavar="LOG",
        help="What an engine printed: a server log, Prometheus text, JSON, or a benchmark table; "
        "- is stdin.  Leave it out where --alpha is given.",
        show_default=False,
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option("--alpha", metavar="A", help="Acceptance of one unit, 0 to 1, in place of a log."),
]
DraftCost = Annotated[
    float | None,
    typer.Option(
        "--draft-cost", metavar="C", help="Cost of one drafted unit; the unit is a verifier pass."
    ),
]
Verify = Annotated[float, typer.Option("--verify", metavar="C", help="Cost of a verifier pass.")]
Overhead = Annotated[
    float, typer.Option("--overhead", metavar="C", help="Cost of a cycle besides.")
]
CostFrom = Annotated[
    Path | None,
    typer.Option(
        "--cost-from",
        metavar="CSV",
        help="Measured costs: a table with the columns K, cycle and batch, or a serving "
        "benchmark with mean_itl_ms and mean_tpot_ms; - is stdin.",
    ),
]
Task = Annotated[
    str | None,
    typer.Option("--task", metavar="NAME", help="The only task of a serving benchmark to use."),
]
Batch = Annotated[float, typer.Option("--batch", metavar="B", help="Streams verified together.")]
Context = Annotated[
    float, typer.Option("--context", metavar="N", help="Tokens of context of each stream.")
]
MaxDepth = Annotated[
    int, typer.Option("--max-depth", metavar="K", help="Largest depth to consider.")
]
ConventionOption = Annotated[
    str,
    typer.Option(
        "--convention", metavar="NAME", help="What lengths count: with_bonus, committed, accepted."
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Acceptance model: auto, iid, markov_renewal, per_position, beta, mixture or "
        "delayed_geometric.",
    ),
]
LogFormat = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FMT",
        help="Format of the log: auto, vllm-log, vllm-prometheus, vllm-request, vllm-v0, sglang, "
        "llama.cpp, tensorrt-llm, aiperf, mlc or streaming-table.",
    ),
]
LogDepth = Annotated[
    int | None,
    typer.Option(
        "--log-depth", metavar="K", help="K of the log, for formats that do not print it."
    ),
]
LogDrafts = Annotated[
    float | None,
    typer.Option(
        "--log-drafts", metavar="N", help="Drafted steps behind each window, for SGLang gauges."
    ),
]
Lenient = Annotated[
    bool,
    typer.Option("--lenient", help="Leave out lines that contradict themselves, and say so."),
]
Figure = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Draw throughput against K (.png, .svg or .pdf)."
    ),
]


def depth(
    source: Source = None,
    alpha: Alpha = None,
    draft_cost: DraftCost = None,
    verify: Verify = 1.0,
    overhead: Overhead = 0.0,
    cost_from: CostFrom = None,
    task: Task = None,
    batch: Batch = 1.0,
    context: Context = 0.0,
    max_depth: MaxDepth = 16,
    convention: ConventionOption = "with_bonus",
    model: Model = "auto",
    log_format: LogFormat = "auto",
    log_depth: LogDepth = None,
    log_drafts: LogDrafts = None,
    lenient: Lenient = False,
    output: Figure = None,
    as_json: Json = False,
) -> None:
    """The depth with the most units per cost, from α or from an engine's own counters.

    Prints the best depth, the acceptance behind it with its interval, and the table of all depths.
    Depth 0 means that drafting does not pay.

    \b
    Examples:
      ensctl depth --alpha 0.7 --draft-cost 0.1
      ensctl depth server.log --cost-from bench.csv --batch 32
      ensctl depth server.log --draft-cost 0.08 --convention committed -o depth.png
      curl -s localhost:8000/metrics | ensctl depth - --draft-cost 0.08 --json
    """
    from ensctl.arguments import as_scalar
    from ensctl.drafting.convention import as_convention
    from ensctl.drafting.measured_depth import measured_depths
    from ensctl.drafting.optimum import optimal_depth
    from ensctl.files import require_folder
    from ensctl.serialization import versioned

    if output is not None:
        if output.suffix.lower() not in (".png", ".svg", ".pdf"):
            raise InvalidInputError(f"output must end in .png, .svg or .pdf, got {output.name!r}")
        require_folder(output)
    if (source is None) == (alpha is None):
        raise InvalidInputError("give either a log or --alpha, and not both")
    rule = as_convention(convention)
    cost, measured_to = _cost(draft_cost, verify, overhead, cost_from, task)
    measured: list[MeasuredDepth] = []
    if alpha is not None:
        share = as_scalar(alpha, "alpha", at_least=0, at_most=1)
        best = optimal_depth(share, cost, max_depth, convention=rule, batch=batch, context=context)
        results: list[tuple[MeasuredDepth | None, DepthOptimum]] = [(None, best)]
    else:
        with waiting(f"reading {source}"):
            measured = measured_depths(
                _read(str(source), log_format, log_depth, log_drafts, lenient),
                cost,
                max_depth,
                model=model,
                convention=rule,
                batch=batch,
                context=context,
            )
        results = [(found, found.optimum) for found in measured]

    if as_json:
        content = {
            "convention": rule,
            "unit": cost.unit,
            "batch": batch,
            "context": context,
            "cost_measured_to": measured_to,
            "results": [_as_data(found, best, cost) for found, best in results],
        }
        data(json.dumps(versioned("depth", content), indent=1, ensure_ascii=False))
    else:
        data("\n\n".join(_as_text(found, best, cost, measured_to) for found, best in results))
    if output is not None:
        from ensctl.plot import save_depth_curves

        save_depth_curves([best for _, best in results], output, names=[m.name for m in measured])
        message(f"wrote {output}")


def _cost(
    draft: float | None, verify: float, overhead: float, table: Path | None, task: str | None
) -> tuple[CostModel, int | None]:
    """The cost model, and the deepest K that was measured where it came from a table."""
    from ensctl.drafting.cost import LinearCost
    from ensctl.drafting.cost_files import read_cost_table

    if (draft is None) == (table is None):
        raise InvalidInputError("give the cost as either --draft-cost or --cost-from")
    if draft is not None:
        if task is not None:
            raise InvalidInputError("task goes with --cost-from")
        return LinearCost(draft, verify, overhead), None
    if verify != 1.0 or overhead != 0.0:
        raise InvalidInputError("verify and overhead go with --draft-cost, not with --cost-from")
    with as_file(str(table)) as path:
        found = read_cost_table(path, task=task, line=True)
    return found.cost, found.deepest


def _read(
    source: str, log_format: str, depth: int | None, drafts: float | None, lenient: bool
) -> Any:
    from ensctl.drafting.engines.read import read_counters

    given: Any = io.BytesIO(stdin_bytes()) if source == STDIN else Path(source)
    return read_counters(given, log_format, depth=depth, drafts=drafts, strict=not lenient)


def _rows(best: DepthOptimum, cost: CostModel) -> list[tuple[int, float, float, float]]:
    """(K, E[L], C, T) of every depth."""
    import numpy as np

    cycles = cost.cycles(np.arange(best.curve.size), best.batch, best.context)
    return [
        (depth, throughput * cycle, cycle, throughput)
        for depth, (throughput, cycle) in enumerate(
            zip(best.curve.tolist(), cycles.tolist(), strict=True)
        )
    ]


def _as_data(found: MeasuredDepth | None, best: DepthOptimum, cost: CostModel) -> dict[str, Any]:
    names = ("depth", "expected_length", "cycle", "throughput")
    content: dict[str, Any] = {
        "depth": best.depth,
        "speedup": best.speedup,
        "throughput": best.throughput,
        "reason": best.reason,
        "runner_up": best.runner_up,
        "table": [dict(zip(names, row, strict=True)) for row in _rows(best, cost)],
    }
    if found is not None:
        content |= {
            "engine": found.engine,
            "model": found.model,
            "windows": found.windows,
            "depth_measured": found.depth_measured,
            "alpha": found.alpha,
            "acceptance": found.fit.to_dict(),
            "throughput_interval": found.throughput,
            "tokens_per_step": found.tokens_per_step,
            "depth_range": [best.depth_low, best.depth_high],
        }
    return content


def _as_text(
    found: MeasuredDepth | None, best: DepthOptimum, cost: CostModel, measured_to: int | None
) -> str:
    head = str(best if found is None else found)
    if measured_to is not None and best.depth > measured_to:
        head += (
            f"\ncycles were measured up to K = {measured_to}; beyond it they follow a line in K: "
            f"measure K = {best.depth} before using it"
        )
    if found is not None:
        head += f"\nlengths are {best.convention.name.lower()}; {best.reason}"
    rows = [f"{'K':>3}  {'E[L]':>8}  {'cycle':>9}  {'throughput':>10}"]
    for depth, length, cycle, throughput in _rows(best, cost):
        mark = "  best" if depth == best.depth else ""
        if measured_to is not None and depth > measured_to:
            mark += "  (cost extrapolated)"
        rows.append(f"{depth:>3}  {length:>8.4f}  {cycle:>9.4f}  {throughput:>10.4f}{mark}")
    return "\n".join([head, *rows])
