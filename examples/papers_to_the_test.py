"""Two papers on ensemble drafting put to the test: slips, conventions, falsification criteria.

Every number that they print is recomputed by a function of the package.  Most come out; four last
digits do not.  What the papers call accepted tokens is not what their formula counts, and by
their own falsification test the main result falls under one reading and stands under the other.

Run: python examples/papers_to_the_test.py
"""

from __future__ import annotations

from typing import NamedTuple

from ensctl.papers import (
    ClaimResult,
    ClaimVerdict,
    Experiment,
    pooling_test,
    reproduce,
    throughput_test,
)
from ensctl.papers.experiments_pooling import even_cost


class Findings(NamedTuple):
    """What came out."""

    counts: dict[ClaimVerdict, int]
    slips: tuple[ClaimResult, ...]
    own_test: Experiment
    pooling: Experiment
    even_cost: float


def main(cycles: int = 200_000) -> Findings:
    """Check every claim and run two of the experiments."""
    table = reproduce()
    slips = tuple(r for r in table.claims if r.verdict is ClaimVerdict.ARITHMETIC_SLIP)
    return Findings(table.counts, slips, throughput_test(cycles), pooling_test(cycles), even_cost())


def _print(found: Findings) -> None:
    for verdict, count in found.counts.items():
        print(f"{count:3d}  {verdict.value}")
    print("\nPrinted and recomputed:")
    for result in found.slips:
        claim = result.claim
        print(f"  {claim.paper.value} {claim.where}: {claim.printed} is {result.recomputed}")
    print(f"\n{found.own_test}\n\n{found.pooling}")
    print(f"\nTwo drafters of α = .5 at twice the cost pay below ρ = {found.even_cost:.6f}.")


if __name__ == "__main__":
    _print(main())
