"""``ensctl plan``: the draft depth for every load, as the engine's own configuration.

JSON (schema 1): ``schema``, ``kind`` ("plan_table"), ``drafter``, ``ranges`` (first batch, last
batch, depth; for each context), ``batches``, ``contexts``, ``depths``, ``best_depths``,
``throughput`` with ``low`` and ``high``, ``plain`` (without speculation), ``speedup``,
``options``, ``curves`` (of every depth), ``weights``, ``best_single_depth``,
``gain_over_best_single``, ``switches``, ``degradation``, ``alternatives``, ``level``, ``noise``,
``hysteresis``, ``unit``, ``convention`` and ``notes``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ensctl.cli.population import Json
from ensctl.cli.streams import data, message
from ensctl.cli.waiting import waiting
from ensctl.errors import InfeasibleError, InvalidInputError

if TYPE_CHECKING:
    from ensctl.scheduling.plan_table_result import PlanTable

_ENGINES = ("vllm", "tensorrt-llm", "sglang")
FORMATS = ("text", "json", "html", *_ENGINES)
_BY_SUFFIX = {".html": "html", ".txt": "text"}

Source = Annotated[str, typer.Argument(metavar="LOG", hidden=True)]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="CSV",
        help="What cycles cost: a table batch,K,cycle (ms), or a serving benchmark "
        "(task,K,conc,mean_itl_ms,mean_tpot_ms); - is stdin.  [default: LOG, if it is a benchmark]",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FMT",
        help="vllm, tensorrt-llm, sglang, json, html or text.  [default: suffix of -o, or text]",
    ),
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write it there, and a summary to stdout."),
]
Version = Annotated[
    str | None,
    typer.Option(
        "--version",
        metavar="VERSION",
        help="Of TensorRT-LLM: 1.2, 1.3 …, or what keys are: lower-bounds or upper-bounds.",
    ),
]
MaxBatch = Annotated[
    str | None,
    typer.Option("--max-batch", metavar="N", help="Largest batch.  [default: largest measured]"),
]
MaxDepth = Annotated[
    str | None,
    typer.Option("--max-depth", metavar="K", help="Greatest depth.  [default: deepest measured]"),
]
OffOverhead = Annotated[
    str,
    typer.Option(
        "--off-overhead",
        metavar="SHARE",
        help="What K = 0 costs more with a drafter loaded, or 'public': 0.066 at 2 streams to "
        "0.216 at 189.",
    ),
]
NoOff = Annotated[bool, typer.Option("--no-off", help="Never switch speculation off.")]
Rise = Annotated[bool, typer.Option("--rise", help="Let depth rise with the batch freely.")]
Noise = Annotated[str, typer.Option("--noise", metavar="SHARE", help="Least gain that counts.")]
Hysteresis = Annotated[
    str, typer.Option("--hysteresis", metavar="SHARE", help="Least gain worth a switch.")
]
Level = Annotated[str, typer.Option("--level", metavar="P", help="Coverage of intervals.")]
Rule = Annotated[
    str,
    typer.Option(
        "--convention", metavar="NAME", help="What lengths count: with_bonus, committed, accepted."
    ),
]
Method = Annotated[
    str | None, typer.Option("--method", metavar="NAME", help="The drafter, of several in a CSV.")
]


def plan(
    log: Source,
    cost: Cost = None,
    file_format: Target = None,
    output: Output = None,
    version: Version = None,
    max_batch: MaxBatch = None,
    max_depth: MaxDepth = None,
    off_overhead: OffOverhead = "0",
    no_off: NoOff = False,
    rise: Rise = False,
    noise: Noise = "0.01",
    hysteresis: Hysteresis = "0.005",
    level: Level = "0.95",
    convention: Rule = "with_bonus",
    method: Method = None,
    as_json: Json = False,
) -> None:
    """The draft depth for every load, written as the engine's own configuration.

    LOG is what an engine counted: a server log, Prometheus metrics, per-request records (- is
    stdin), or a serving benchmark.  Depths are those of most tokens per time; off where
    speculation loses.  The batch counts scheduled requests, prefilling ones included.

    \b
    Examples:
      ensctl plan server.log --cost bench.csv --format vllm -o schedule.json
      ensctl plan server.log --cost cost.csv --format tensorrt-llm --version 1.3
      ensctl plan bench.csv --off-overhead public -o plan.html
      ensctl plan metrics.txt --cost cost.csv --max-batch 256 --json
    """
    from ensctl.files import require_folder, write_whole

    kind = _format(file_format, output)
    if (version is not None) != (kind == "tensorrt-llm"):
        raise typer.BadParameter("--version goes with --format tensorrt-llm, and is needed there")
    place = None if output in (None, "-") else Path(str(output))
    if place is not None:
        require_folder(place)
    from ensctl.cli.plan_inputs import read_plan

    with waiting(f"planning from {log}"):
        table = read_plan(
            log,
            cost,
            max_batch=max_batch,
            max_depth=max_depth,
            off_overhead=off_overhead,
            off=not no_off,
            monotone=not rise,
            noise=noise,
            hysteresis=hysteresis,
            level=level,
            convention=convention,
            method=method,
        )
    if table.max_depth == 0 and kind in _ENGINES:
        raise InfeasibleError(
            "speculation loses at every load: there is nothing to schedule; serve without a drafter"
        )
    text = _written(table, kind, version, "stdin" if log == "-" else Path(log).name)
    if as_json:
        data(json.dumps(table.to_dict(), indent=1, ensure_ascii=False, allow_nan=False))
    elif place is None:
        data(text)
    else:
        data(str(table))
    if place is not None:
        write_whole(place, text)
        message(f"wrote {place}")
    if kind not in ("text", "html"):
        for note in table.notes:
            message(note)


def _format(name: str | None, output: str | None) -> str:
    if name is None:
        suffix = Path(output or "").suffix.lower()
        if suffix == ".json":
            raise typer.BadParameter("--format must say whose JSON: vllm, sglang or json")
        return _BY_SUFFIX.get(suffix, "text")
    kind = name.strip().lower().replace("_", "-")
    if kind not in FORMATS:
        raise InvalidInputError(f"format must be one of {', '.join(FORMATS)}, got {name!r}")
    return kind


def _written(table: PlanTable, kind: str, version: str | None, source: str) -> str:
    if kind == "vllm":
        return table.to_vllm()
    if kind == "tensorrt-llm":
        return table.to_tensorrt_llm(str(version))
    if kind == "sglang":
        return table.to_sglang()
    if kind == "json":
        return json.dumps(table.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if kind == "html":
        from ensctl.reporting.plan_report import plan_report

        return plan_report(table, source=source).to_html()
    return str(table) + "\n"
