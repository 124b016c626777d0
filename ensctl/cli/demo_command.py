"""``ensctl demo``: a population of thermostats, from its λ file to its report.

JSON (schema 1): ``schema``, ``kind`` ("demo"), ``files`` (``lam``, ``html``, ``json``) and
``report`` (``Report.to_dict``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ensctl.cli.population import Json, NoColor
from ensctl.cli.streams import data, message, painted
from ensctl.cli.waiting import waiting
from ensctl.errors import InvalidInputError

if TYPE_CHECKING:
    from ensctl.ensemble.ensemble import Ensemble

_MEMBERS = 16
_HORIZON = 96
_SEED = 7
_FILES = ("fleet.csv", "report.html", "report.json")

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to put the three files.")]


def demo(
    folder: Folder = Path("ensctl-demo"), as_json: Json = False, no_color: NoColor = False
) -> None:
    """Thermostats under one price signal: write their λ file and report, print the verdict.

    Writes fleet.csv, report.html and report.json into FOLDER, which must be new, empty, or hold
    an earlier demo.

    \b
    Examples:
      ensctl demo
      ensctl demo thermostats --json
    """
    from ensctl.ensemble.families import thermostats
    from ensctl.reporting.report import report
    from ensctl.serialization import versioned

    ens = thermostats(_MEMBERS, seed=_SEED)
    _require_ready(folder, ens)
    lam_file, page, numbers = (folder / name for name in _FILES)
    with waiting(f"judging {_MEMBERS} thermostats"), _all_or_nothing(folder):
        result = report(ens, _HORIZON)
        ens.to_file(lam_file)
        result.save(page)
        result.save(numbers)
    if as_json:
        files = {"lam": str(lam_file), "html": str(page), "json": str(numbers)}
        content = {"files": files, "report": result.to_dict()}
        data(json.dumps(versioned("demo", content), indent=1, ensure_ascii=False))
        return
    head, *rest = str(result).splitlines()
    reachable = result.controllability.reachable
    data(
        "\n".join([painted(head, good=reachable, allowed=not no_color), *rest, "", *_files(folder)])
    )
    message(
        f"open {page} in a browser; ensctl report {lam_file} --horizon {_HORIZON} prints it as text"
    )


def _files(folder: Path) -> list[str]:
    meanings = ("λ, gains and names", "the report, with plots", "the same numbers for programs")
    return [
        f"{folder / name!s:<40} {meaning}" for name, meaning in zip(_FILES, meanings, strict=True)
    ]


def _require_ready(folder: Path, ens: Ensemble) -> None:
    """Refuse a folder with anything in it that the demo did not write."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"folder must be a folder, got the file {folder}; choose another")
    found = sorted(item.name for item in folder.iterdir()) if folder.exists() else []
    foreign = [name for name in found if name not in _FILES]
    if found and not foreign and not _holds(folder / _FILES[0], ens):
        foreign = found
    if foreign:
        raise InvalidInputError(
            f"folder must be new, empty or from an earlier demo, got {folder} with {foreign[0]} of "
            f"another origin in it; choose another"
        )


@contextmanager
def _all_or_nothing(folder: Path) -> Iterator[None]:
    """Create the folder; take away again what is new in it, and itself, when something fails."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    before = set() if missing else set(folder.iterdir())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise InvalidInputError(f"folder must be writable, got {folder}: {reason}") from None
    try:
        yield
    except BaseException:
        for item in set(folder.iterdir()) - before:
            item.unlink()
        for place in missing:
            place.rmdir()
        raise


def _holds(path: Path, ens: Ensemble) -> bool:
    """Whether the file is there and describes this population."""
    try:
        return type(ens).from_file(path) == ens
    except InvalidInputError:
        return False
