"""Reachable in exact arithmetic, and what is left of it in float64.

λ = linspace(0.1, 0.9, N) with b = 1: all λ differ, so every state is reachable for every N.  The
usual test, the rank of [B AB … A^{N−1}B] in float64, disagrees from some N on: it mixes the
question whether an input exists with the question whether double precision can see it.

Run: python examples/two_verdicts.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import ensctl as ec


class Verdicts(NamedTuple):
    """One population, judged three ways."""

    size: int
    rank_of_ctrb: int
    exact_rank: int
    reachable: bool
    cond_float64: float
    cond: float
    relative_error_bound: float
    log10_worst_energy: float


def main(sizes: Sequence[int] = (8, 10, 15, 20, 25)) -> list[Verdicts]:
    """Judge linspace(0.1, 0.9, N) for each N."""
    return [_judge(size) for size in sizes]


def _judge(size: int) -> Verdicts:
    ens = ec.Ensemble(np.linspace(0.1, 0.9, size))
    matrix = ec.ctrb(ens)
    exact, numbers = ec.controllability(ens), ec.conditioning(ens)
    return Verdicts(
        size=size,
        rank_of_ctrb=int(np.linalg.matrix_rank(matrix)),
        exact_rank=exact.rank,
        reachable=exact.reachable,
        cond_float64=float(np.linalg.cond(matrix)),
        cond=numbers.cond,
        relative_error_bound=numbers.relative_error_bound,
        log10_worst_energy=float(numbers.log10_worst_energy),
    )


def _print(rows: list[Verdicts]) -> None:
    print("λ = linspace(0.1, 0.9, N), b = 1, H = N")
    print(" N  rank(ctrb)  exact rank  κ₂ float64  κ₂ right within    worst energy")
    for row in rows:
        print(
            f"{row.size:2d}  {row.rank_of_ctrb:10d}  {row.exact_rank:10d}  {row.cond_float64:10.3e}"
            f"  {row.cond:.3e} {row.relative_error_bound:.0e}  {10**row.log10_worst_energy:12.3e}"
        )


if __name__ == "__main__":
    _print(main())
