"""``ensctl report``: verdicts, numbers and advice about a λ set, on stdout or in files.

JSON (schema 1): ``schema``, ``kind`` ("report"), ``ensctl`` (version), ``fingerprint`` (SHA-256 of
the data), ``ensemble``, ``horizon``, ``target``, ``controllability``, ``observability``,
``conditioning``, ``horizon_sweep`` (each its own to_dict) and ``practicality`` (null without a
target).  Complex numbers are {"re", "im"}; "inf" and "-inf" are strings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ensctl.cli.population import (
    Format,
    Gains,
    Horizon,
    Json,
    Lam,
    RealInputs,
    numbers,
    read_horizon,
    read_population,
)
from ensctl.cli.streams import data, message
from ensctl.cli.waiting import waiting

Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a file instead; the suffix decides: .html, .json, .md, .txt.  Can be given "
        "several times; - is stdout.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="X",
        help="End state to judge, comma separated; one number stands for all members.",
    ),
]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown instead of text.")]


def report(
    lam: Lam,
    gains: Gains = None,
    horizon: Horizon = None,
    target: Target = None,
    output: Output = None,
    real_inputs: RealInputs = False,
    file_format: Format = None,
    as_json: Json = False,
    as_markdown: Markdown = False,
) -> None:
    """Report on a population: verdicts, conditioning, energies, distances, advice.

    Exit code 0 also when the population is not reachable: the report says so.

    The population is given as numbers λ (complex ones as 0.5+0.2j), as one file (.csv, .json or
    .toml), or as - for stdin.

    \b
    Examples:
      ensctl report 0.2 0.5 0.8 --horizon 12
      ensctl report fleet.csv -o fleet.html -o fleet.json
      ensctl report fleet.csv --horizon 200 --target 1 --json
      cat fleet.toml | ensctl report - --format toml --markdown
    """
    if as_json and as_markdown:
        raise typer.BadParameter("--json and --markdown exclude each other")
    from ensctl.files import require_folder
    from ensctl.reporting.report import renderer_for
    from ensctl.reporting.report import report as make_report

    steps = read_horizon(horizon)
    places = [Path(name) for name in output or [] if name != "-"]
    for place in places:
        renderer_for(place)
        require_folder(place)
    ens = read_population(lam, gains, file_format)
    end = None if target is None else numbers(target, "target")
    with waiting(f"judging {ens.size} members"):
        result = make_report(ens, steps, target=end, real_inputs=True if real_inputs else None)
    if not places or as_json or as_markdown or "-" in (output or []):
        text = (
            result.to_json()
            if as_json
            else result.to_markdown()
            if as_markdown
            else result.to_text()
        )
        data(text)
    for place in places:
        with waiting(f"writing {place}"):
            result.save(place)
        message(f"wrote {place}")
