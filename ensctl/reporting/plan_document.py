"""From a plan over loads to its document: verdicts, the table, what it promises, configuration."""

from __future__ import annotations

import numpy as np

from ensctl import __version__
from ensctl.errors import InvalidInputError
from ensctl.formatting import listed
from ensctl.reporting.document import (
    Bullets,
    Column,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    Tone,
    Verdict,
)
from ensctl.scheduling.plan_table_result import PlanTable

_FEW_ROWS = 16
_TENSORRT_READINGS = ("lower-bounds", "upper-bounds")


def plan_document(plan: PlanTable, source: str = "") -> Document:
    """Arrange a plan: whether to speculate and how, then the numbers behind it."""
    return Document(
        title=f"Speculation plan: depth for batches 1 to {plan.max_batch}",
        subtitle=_subtitle(plan),
        verdicts=(_worth(plan), _table_or_single(plan), _robust(plan)),
        sections=(
            _schedule(plan),
            _prediction(plan),
            _wrong_inputs(plan),
            _configuration(plan),
            _reading(plan),
        ),
        provenance=f"ensctl {__version__}" + (f"; from {source}" if source else ""),
    )


def plan_overview(plan: PlanTable) -> Document:
    """The short form for a notebook cell: verdicts and the schedule."""
    whole = plan_document(plan)
    return Document(
        whole.title, whole.subtitle, whole.verdicts, (_without_figures(whole.sections[0]),), ""
    )


def _subtitle(plan: PlanTable) -> str:
    contexts = ""
    if plan.contexts.size > 1 or plan.contexts[0] > 0:
        contexts = f"; contexts {listed([f'{c:g}' for c in plan.contexts])} tokens"
    depths = f"K up to {int(plan.options.max())}"
    off = "" if plan.options[0] == 0 else ", off not considered"
    return f"{plan.drafter}, {depths}{off}; lengths {plan.convention.value}{contexts}."


def _worth(plan: PlanTable) -> Verdict:
    gained = plan.speedup
    if not np.all(np.isfinite(gained)):
        return Verdict(
            "Is a drafter worth loading?",
            "not known",
            Tone.OPEN,
            ("The cost of decoding without a drafter was not given.",),
        )
    mean = float(np.expm1(np.mean(np.log(gained) @ plan.weights)))
    slower = plan.batches[(gained < 1.0 - 1e-9).any(axis=0)]
    sentences = [
        f"On average over loads {100 * mean:+.1f} % against no drafter, "
        f"{gained.max():.2f} times at best."
    ]
    if slower.size:
        sentences.append(
            f"At batch {slower[0]} to {slower[-1]} the server is slower than without a drafter, "
            f"{gained.min():.3f} times at worst."
        )
    worth = mean > 0 and plan.max_depth > 0
    return Verdict(
        "Is a drafter worth loading?",
        "yes" if worth else "no",
        Tone.YES if worth else Tone.NO,
        tuple(sentences),
    )


def _table_or_single(plan: PlanTable) -> Verdict:
    single, gain = plan.best_single
    name = f"K = {single}" if single else "off"
    one = len(np.unique(plan.depths)) == 1
    sentences = [
        (f"One depth serves all loads: {name}." if single else "Off is best at every load.")
        if one
        else f"The table gains {100 * gain:.1f} % on average over {name} at every load."
    ]
    tails = [plan.ranges(context)[-1] for context in plan.contexts.tolist()]
    if plan.max_depth and all(part.depth == 0 for part in tails):
        sentences.append(f"Speculation is off from batch {max(part.first for part in tails)}.")
    given = float(plan.loss.max())
    sentences.append(f"Smoothing gives away at most {100 * given:.2f} % at any load.")
    return Verdict(
        "One depth or a table?",
        "one depth" if one else "a table",
        Tone.YES,
        tuple(sentences),
    )


def _robust(plan: PlanTable) -> Verdict:
    worst = max(plan.degradation, key=lambda case: case.mean_loss)
    steady = worst.mean_loss < 0.02
    return Verdict(
        "Does it bear errors of 10 %?",
        "yes" if steady else "partly",
        Tone.YES if steady else Tone.OPEN,
        (
            f"With {worst.case} the depths planned lose {100 * worst.mean_loss:.1f} % on average "
            f"against a new plan, {100 * worst.worst_loss:.1f} % at batch {worst.worst_batch}.",
        ),
    )


def _schedule(plan: PlanTable) -> Section:
    several = plan.contexts.size > 1
    heading = [Column("context", True)] if several else []
    rows = []
    for context in plan.contexts.tolist():
        for part in plan.ranges(context):
            start = [f"{context:g}"] if several else []
            rows.append(
                (*start, str(part.first), str(part.last), str(part.depth) if part.depth else "off")
            )
    table = Table(
        "Depth by batch, both ends included",
        (*heading, Column("from batch", True), Column("to batch", True), Column("depth K", True)),
        tuple(rows),
    )
    blocks = (
        Figure(
            "plan-depths",
            "Depth against batch; shaded: either depth, for a controller that "
            "keeps what it has until the other is ahead by the hysteresis.",
        ),
        table,
        Bullets(tuple(str(point) for point in plan.switches[:12])),
    )
    return Section("schedule", "Schedule", blocks if plan.switches else blocks[:2])


def _prediction(plan: PlanTable) -> Section:
    rows = []
    for place, context in enumerate(plan.contexts.tolist()):
        for load, batch in enumerate(plan.batches.tolist()):
            gained = plan.speedup[place, load]
            depth = int(plan.depths[place, load])
            start = (f"{context:g}",) if plan.contexts.size > 1 else ()
            rows.append(
                (
                    *start,
                    str(batch),
                    str(depth) if depth else "off",
                    f"{plan.throughput[place, load]:.4g}",
                    f"{plan.low[place, load]:.4g} to {plan.high[place, load]:.4g}",
                    f"{batch * plan.throughput[place, load]:.4g}",
                    f"{gained:.3f}" if np.isfinite(gained) else "not known",
                    f"{100 * plan.loss[place, load]:.2f} %",
                )
            )
    heading = (Column("context", True),) if plan.contexts.size > 1 else ()
    picked = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _FEW_ROWS)).round().astype(int))
    table = Table(
        f"Predicted throughput in units per {plan.unit}, {plan.level:.0%} interval",
        (
            *heading,
            Column("batch", True),
            Column("K", True),
            Column("per stream", True),
            Column("interval", True),
            Column("all streams", True),
            Column("over no drafter", True),
            Column("below best", True),
        ),
        tuple(rows[i] for i in picked),
        "" if picked.size == len(rows) else f"{picked.size} of {len(rows)} loads.",
        () if picked.size == len(rows) else tuple(rows),
    )
    figure = Figure(
        "plan-throughput",
        "Predicted throughput of the plan, and of the best single depth, over no drafter.",
    )
    return Section("prediction", "Predicted throughput", (figure, table))


def _wrong_inputs(plan: PlanTable) -> Section:
    table = Table(
        "The same depths in a world that differs from what was planned with",
        (
            Column("what differs"),
            Column("throughput", True),
            Column("lost, mean", True),
            Column("lost, worst", True),
            Column("at batch", True),
        ),
        tuple(
            (
                case.case,
                f"{100 * case.change:+.1f} %",
                f"{100 * case.mean_loss:.2f} %",
                f"{100 * case.worst_loss:.2f} %",
                str(case.worst_batch),
            )
            for case in plan.degradation
        ),
        "Lost: what a plan made for that world would gain.",
    )
    return Section("wrong-inputs", "If acceptance or cost is off", (table,))


def _configuration(plan: PlanTable) -> Section:
    context = None if plan.contexts.size == 1 else float(plan.contexts[0])
    rows = []
    for engine, write in (
        ("vLLM", lambda: plan.to_vllm(context)),
        *(
            (
                f"TensorRT-LLM, keys as {reading}",
                lambda name=reading: plan.to_tensorrt_llm(name, context),
            )
            for reading in _TENSORRT_READINGS
        ),
        ("SGLang", lambda: plan.to_sglang(context)),
    ):
        try:
            text = _in_one_line(write())
        except InvalidInputError as error:
            text = f"not possible: {error}"
        rows.append((engine, text))
    said = "" if context is None else f" for context {context:g}"
    return Section(
        "configuration",
        "Configuration",
        (Table(f"Text for engines{said}", (Column("engine"), Column("text")), tuple(rows)),),
    )


def _in_one_line(text: str) -> str:
    """Configuration without comments; YAML blocks in flow style."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    if lines[0].endswith(":"):
        return f"{lines[0]} {{{', '.join(line.strip() for line in lines[1:])}}}"
    return " ".join(" ".join(lines).split())


def _reading(plan: PlanTable) -> Section:
    compared = [
        f"{score.name}: {score.throughput:.4f} of the chosen drafter's mean throughput"
        for score in plan.alternatives[1:]
    ]
    rule = (
        f"A depth rises with the batch only for a gain above {100 * plan.noise:g} % or what the "
        f"errors leave; a switch that gains less than {100 * plan.hysteresis:g} % is left out."
    )
    return Section(
        "reading",
        "How to read this",
        (Paragraph(rule), Bullets((*plan.notes, *compared))),
    )


def _without_figures(section: Section) -> Section:
    kept = tuple(block for block in section.blocks if not isinstance(block, Figure))
    return Section(section.name, section.title, kept)
