"""``ensctl reproduce``: two papers' printed numbers beside recomputed ones, and their experiments.

JSON (schema 1): ``schema``, ``kind`` ("reproduction"), ``papers`` (their titles), ``counts`` of the
verdicts, ``claims`` (what is printed, what was recomputed, the verdict and why), ``experiments``
and ``seed``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ensctl.cli.population import Json
from ensctl.cli.streams import data, message
from ensctl.cli.waiting import waiting

Run = Annotated[
    bool,
    typer.Option("--experiments", "-e", help="Run the falsification experiments, ten seconds."),
]
Seed = Annotated[int, typer.Option("--seed", metavar="S", help="Of the experiments, ≥ 0.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write .html, .md, .json or .txt instead."),
]


def reproduce(
    experiments: Run = False, seed: Seed = 0, output: Output = None, as_json: Json = False
) -> None:
    """Recompute every printed number of two papers on ensemble drafting, with a verdict on each.

    Reproduced, arithmetic slip, depends on convention, projection, not as stated or not
    checkable; the function that computes each number is named.

    \b
    Examples:
      ensctl reproduce
      ensctl reproduce --experiments -o report.html
      ensctl reproduce --json
    """
    from ensctl.files import require_folder
    from ensctl.papers.reproduction import reproduce as recompute
    from ensctl.reporting.saved_document import require_document_suffix

    if output is not None:
        if as_json:
            raise typer.BadParameter("give either --json or -o FILE; a .json file has the same")
        require_document_suffix(output)
        require_folder(output)
    with waiting("recomputing") as done:
        result = recompute(experiments, seed=seed, progress=done)
    if output is not None:
        message(f"wrote {result.save(output)}")
        data(str(result))
    else:
        data(result.to_json() if as_json else result.to_text())
