"""``ensctl check``: the exact verdict, and what is left of it in practice.

JSON (schema 1): ``schema``, ``kind`` ("check"), ``reachable``, ``controllability`` (its to_dict),
``practical`` (null, or ``practical``, ``sentence``, ``horizon``, ``log10_cond``,
``log10_worst_energy``, ``log10_error``, ``log10_lam_tolerance``) and ``note`` (why there is no
practical verdict, or null).
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import typer

from ensctl.cli.population import (
    Format,
    Gains,
    Horizon,
    Json,
    Lam,
    NoColor,
    RealInputs,
    read_horizon,
    read_population,
)
from ensctl.cli.streams import data, painted
from ensctl.cli.waiting import waiting
from ensctl.errors import InvalidInputError

if TYPE_CHECKING:
    from ensctl.analysis.conditioning import Conditioning
    from ensctl.ensemble.ensemble import Ensemble

NOT_REACHABLE = 3
# N (N + m H): one to two seconds for the singular values and energies.
MOST_ELEMENTS = 1_000_000


def check(
    lam: Lam,
    gains: Gains = None,
    horizon: Horizon = None,
    real_inputs: RealInputs = False,
    file_format: Format = None,
    as_json: Json = False,
    no_color: NoColor = False,
) -> None:
    """Can every state of this population be reached with one broadcast input?

    Prints the exact verdict with its reasons, and the practical one beside it.
    Exit code 0: reachable; 3: not reachable.

    The population is given as numbers λ (complex ones as 0.5+0.2j), as one file (.csv, .json or
    .toml), or as - for stdin.

    \b
    Examples:
      ensctl check 0.2 0.5 0.8
      ensctl check -0.5 0.5 --gains 1,2
      ensctl check 0.5+0.2j 0.5-0.2j --real-inputs
      ensctl check fleet.csv --horizon 40
      cat fleet.csv | ensctl check - --json
    """
    from ensctl.analysis.controllability import controllability
    from ensctl.serialization import versioned

    steps = read_horizon(horizon)
    ens = read_population(lam, gains, file_format)
    real = True if real_inputs else None
    with waiting(f"checking {ens.size} members"):
        verdict = controllability(
            ens, None if steps in (None, math.inf) else int(steps), real_inputs=real
        )
        result, note = _conditioning(ens, steps, real)
    if as_json:
        content = {
            "reachable": verdict.reachable,
            "controllability": verdict.to_dict(),
            "practical": None if result is None else _practical(result),
            "note": note,
        }
        data(json.dumps(versioned("check", content), indent=1, ensure_ascii=False))
    else:
        head, *rest = str(verdict).splitlines()
        practical = f"practical: not judged: {note}" if result is None else _practical_text(result)
        data(
            "\n".join(
                [painted(head, good=verdict.reachable, allowed=not no_color), *rest, practical]
            )
        )
    if not verdict.reachable:
        raise typer.Exit(NOT_REACHABLE)


def _conditioning(
    ens: Ensemble, steps: int | float | None, real: bool | None
) -> tuple[Conditioning | None, str | None]:
    """The numbers behind the practical verdict, or why there are none.

    The exact verdict has no limit of size; these numbers have.
    """
    from ensctl.analysis.conditioning import conditioning

    columns = ens.size if steps in (None, math.inf) else int(steps or 1) * ens.channels
    elements = ens.size * (ens.size + columns)
    if elements > MOST_ELEMENTS:
        return None, (
            f"{ens.size} members are more than check takes time for; ensctl report judges sets of "
            f"up to a few thousand"
        )
    try:
        return conditioning(ens, steps, real_inputs=real), None
    except InvalidInputError as error:
        return None, str(error)


def _practical_text(result: Conditioning) -> str:
    from ensctl.formatting import horizon_text
    from ensctl.reporting.verdicts import practical_verdict_card

    card = practical_verdict_card(result)
    head = f"practical ({horizon_text(result.horizon)}): {card.answer.lower()}"
    return "\n".join([head, *(f"- {sentence}" for sentence in card.sentences)])


def _practical(result: Conditioning) -> dict[str, object]:
    judged = result.practical
    return {
        "practical": judged is not None and judged.practical,
        "sentence": None if judged is None else judged.sentence,
        "horizon": result.horizon,
        "log10_cond": result.log10_cond,
        "log10_worst_energy": result.log10_worst_energy,
        "log10_error": None if judged is None else judged.log10_error,
        "log10_lam_tolerance": None if judged is None else judged.log10_lam_tolerance,
    }
