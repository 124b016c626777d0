"""A fleet of air-conditioned houses under one set-point signal, reported on in files.

Writes the population and its conditioning report (HTML, JSON, Markdown) into a folder.

Run: python examples/fleet_report.py [FOLDER]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import ensctl as ec


class FleetReport(NamedTuple):
    """Where the files are, and the numbers that decide."""

    files: tuple[Path, ...]
    members: int
    reachable: bool
    log10_cond: float
    relative_error_bound: float
    usable_directions: int


def main(folder: Path | None = None, members: int = 12, horizon: int = 120) -> FleetReport:
    """Make the fleet, report on one hour (120 steps of 30 s), and write four files."""
    place = Path(tempfile.mkdtemp(prefix="fleet-")) if folder is None else folder
    place.mkdir(parents=True, exist_ok=True)
    fleet = ec.families.thermostats(members, seed=7)
    population = place / "fleet.csv"
    fleet.to_file(population)
    report = ec.report(fleet, horizon)
    pages = [report.save(place / f"report.{suffix}") for suffix in ("html", "json", "md")]
    numbers = report.conditioning
    return FleetReport(
        files=(population, *(Path(page) for page in pages)),
        members=fleet.size,
        reachable=report.controllability.reachable,
        log10_cond=float(numbers.log10_cond),
        relative_error_bound=numbers.relative_error_bound,
        usable_directions=numbers.directions(1e-6),
    )


def _print(result: FleetReport) -> None:
    print(f"{result.members} houses: {'reachable' if result.reachable else 'not reachable'}")
    print(f"κ₂ = 10^{result.log10_cond:.4f}, within {result.relative_error_bound:.0e} relative")
    print(f"{result.usable_directions} of {result.members} directions above 1e-6 of the largest")
    for file in result.files:
        print(file)


if __name__ == "__main__":
    _print(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
