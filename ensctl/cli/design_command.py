"""``ensctl design``: members to choose so that one input tells them apart.

JSON (schema 1): ``schema``, ``kind`` ("node_design"), ``lam``, ``b``, ``rates`` (null without
--dt), ``gains``, ``fixed``, ``criterion``, ``horizon``, ``region``, ``value``, ``log10_value``,
``comparisons``, ``bound``, ``log10_to_bound``, ``tolerance``, ``symmetry`` and ``method``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ensctl.cli.number_tokens import is_number
from ensctl.cli.population import Horizon, Json, numbers, read_horizon
from ensctl.cli.standard_input import STDIN, text_of
from ensctl.cli.streams import data, message
from ensctl.cli.waiting import waiting
from ensctl.errors import InvalidInputError

if TYPE_CHECKING:
    from ensctl.analysis.node_regions import PlainRegion, Region

Count = Annotated[int, typer.Option("--count", "-n", metavar="N", help="Number of members.")]
Where = Annotated[
    str,
    typer.Option(
        "--region",
        "-r",
        metavar="REGION",
        help="LOW:HIGH (0:inf, -inf:inf), disk:R, circle or circle:R, annulus:R1:R2, or a file "
        "with one candidate a line; - is stdin.",
    ),
]
Judged = Annotated[
    str,
    typer.Option(
        "--criterion",
        "-c",
        metavar="NAME",
        help="condition, condition_inf, worst_energy, mean_energy, log_determinant or gap.",
    ),
]
Fixed = Annotated[
    str | None,
    typer.Option("--fixed", "-f", metavar="λ", help="Members that stay, comma separated."),
]
Gains = Annotated[
    str | None,
    typer.Option(
        "--gains", "-b", metavar="B", help="Gains b: of the fixed members first.  [default: 1]"
    ),
]
ChooseGains = Annotated[bool, typer.Option("--optimise-gains", help="Choose |b| as well.")]
Symmetry = Annotated[
    str | None,
    typer.Option(
        "--symmetry", metavar="KIND", help="mirror, conjugate or none.  [default: the better one]"
    ),
]
Sampling = Annotated[
    float | None,
    typer.Option(
        "--dt", metavar="DT", help="The region is one of continuous rates, sampled every DT."
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="K", help="Of the random starts.")]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a file: .csv, .toml (the members), .json (everything), .html (a report), .svg "
        "or .png (a picture).  Can be given several times.",
    ),
]
_MEMBERS = (".csv", ".toml")
_PICTURES = (".svg", ".png", ".pdf")


def design(
    count: Count,
    region: Where,
    horizon: Horizon = None,
    criterion: Judged = "condition",
    fixed: Fixed = None,
    gains: Gains = None,
    optimise_gains: ChooseGains = False,
    symmetry: Symmetry = None,
    dt: Sampling = None,
    seed: Seed = 0,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Choose λ in a region so that one input tells the members apart as well as can be.

    Prints the members, their criterion beside equispaced, Chebyshev and random ones, the bound
    that applies, and how exactly they have to be built.

    \b
    Examples:
      ensctl design --count 8 --region -0.9:0.9 --horizon 24
      ensctl design -n 6 --region disk:0.9 --criterion worst_energy -H inf -o lam.csv
      ensctl design -n 5 --region 0:inf --json
      ensctl design -n 4 --region -3:-0.1 --dt 0.5 --fixed -1 -o report.html
      ensctl design -n 8 --region candidates.csv -o lam.csv
    """
    from ensctl.analysis.node_design import choose_nodes

    places = [Path(name) for name in output or []]
    _require_writable(places)
    where = read_region(region, dt)
    with waiting(f"choosing {count} members"):
        chosen = choose_nodes(
            count,
            where,
            criterion,
            horizon=read_horizon(horizon),
            fixed=() if fixed is None else numbers(fixed, "fixed"),
            gains=1.0 if gains is None else numbers(gains, "gains"),
            optimise_gains=optimise_gains,
            symmetry=symmetry,
            seed=seed,
        )
    if as_json:
        data(json.dumps(chosen.to_dict(), indent=1, ensure_ascii=False))
    else:
        data(str(chosen))
    for place in places:
        _write(chosen, place)
        message(f"wrote {place}")


def read_region(text: str, dt: float | None) -> Region:
    """The region that a word, a pair of ends or a file describes.

    Raises
    ------
    InvalidInputError
        None of these, or the numbers do not make a region.
    """
    from ensctl.analysis.node_regions import Rates

    plain = _plain_region(text.strip())
    return plain if dt is None else Rates(plain, dt)


def _plain_region(text: str) -> PlainRegion:
    from ensctl.analysis.node_regions import Annulus, Candidates, Circle, Disk, Interval

    if text == STDIN:
        from ensctl.ensemble.parsing import parse_ensemble

        return Candidates(parse_ensemble(text_of(text), source=text).lam)
    word, *rest = text.split(":")
    name = word.strip().lower()
    if name in ("disk", "circle", "annulus"):
        sizes = [_number(piece, text) for piece in rest]
        if name == "disk" and len(sizes) == 1:
            return Disk(*sizes)
        if name == "circle" and len(sizes) <= 1:
            return Circle(*sizes)
        if name == "annulus" and len(sizes) == 2:
            return Annulus(*sizes)
    elif len(rest) == 1 and is_number(word) and is_number(rest[0]):
        return Interval(_number(word, text), _number(rest[0], text))
    elif Path(text).is_file():
        from ensctl.ensemble.ensemble import Ensemble

        return Candidates(Ensemble.from_file(text).lam)
    raise InvalidInputError(
        f"region must be LOW:HIGH, disk:R, circle, circle:R, annulus:R1:R2 or a file of "
        f"candidates, got {text!r}"
    )


def _number(piece: str, text: str) -> float:
    try:
        return float(piece)
    except ValueError:
        raise InvalidInputError(
            f"region must have real numbers between colons, got {piece!r} in {text!r}"
        ) from None


def _require_writable(places: list[Path]) -> None:
    from ensctl.files import require_folder

    suffixes = (*_MEMBERS, ".json", ".html", *_PICTURES)
    for place in places:
        if place.suffix.lower() not in suffixes:
            raise InvalidInputError(f"output must end in {', '.join(suffixes)}, got {place.name!r}")
        require_folder(place)


def _write(chosen: Any, place: Path) -> None:
    suffix = place.suffix.lower()
    if suffix in _MEMBERS:
        chosen.ensemble.to_file(place)
    elif suffix == ".json":
        from ensctl.files import write_whole

        write_whole(place, json.dumps(chosen.to_dict(), indent=1, ensure_ascii=False) + "\n")
    elif suffix == ".html":
        from ensctl.reporting.node_design import save_node_design

        save_node_design(chosen, place)
    else:
        from ensctl.plot import save_node_design_figure

        save_node_design_figure(chosen, place)
