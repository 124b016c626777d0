"""A whole interval of members steered by one input: what accuracy costs, and what it takes.

Every λ between 0.1 and 0.9 shall end at sin(6λ).  In few steps that is impossible, and there is a
proof; with more steps it becomes cheap; and the last digits cost most.

Run: python examples/continuum_of_gains.py
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import ensctl as ec

_TARGET = "sin(6*x)"
_INTERVAL = (0.1, 0.9)


class Row(NamedTuple):
    """One horizon: the best error, and the least energy within the tolerance (inf: impossible)."""

    horizon: int
    best_error: float
    energy: float
    promised: float


class Result(NamedTuple):
    """Horizons, the first one that works, and the curve of one of them."""

    rows: list[Row]
    smallest: int
    curve: ec.AccuracyEnergyCurve
    sampled_true_error: float
    sampled_tolerance: float


def main(horizons: tuple[int, ...] = (5, 6, 8, 10, 20), tolerance: float = 1e-2) -> Result:
    """Steer within ``tolerance`` at each horizon, and see what sampling would have promised."""
    rows = [_row(horizon, tolerance) for horizon in horizons]
    curve = ec.accuracy_energy_curve(_TARGET, _INTERVAL, 10, np.geomspace(0.5, 1e-3, 6))
    # Ten samples are steered within the tolerance, the members between them are not.
    lam = np.linspace(*_INTERVAL, 10)
    sampled = ec.steer(ec.Ensemble(lam), np.sin(6 * lam), 10, tol=1e-4)
    fine = np.linspace(*_INTERVAL, 20_001)
    missed = np.abs(np.sin(6 * fine) - np.polyval(sampled.inputs, fine)).max()
    smallest = ec.smallest_horizon(_TARGET, _INTERVAL, tolerance).horizon
    return Result(rows, smallest, curve, float(missed), 1e-4)


def _row(horizon: int, tolerance: float) -> Row:
    best = ec.continuum(_TARGET, _INTERVAL, horizon).sup_error
    try:
        plan = ec.continuum(_TARGET, _INTERVAL, horizon, tolerance)
    except ec.InfeasibleError as refused:
        return Row(horizon, refused.certificate.best_error, np.inf, np.nan)
    return Row(horizon, best, plan.energy, plan.sup_error_bound)


def _print(result: Result) -> None:
    print("steps   best error   least energy   promised error")
    for row in result.rows:
        print(f"{row.horizon:5d}  {row.best_error:11.4g}  {row.energy:13.6g}  {row.promised:15.6g}")
    print(f"the smallest horizon is {result.smallest}")
    print(result.curve)
    print(
        f"ten samples within {result.sampled_tolerance:g}: between them the error is "
        f"{result.sampled_true_error:.3g}"
    )


if __name__ == "__main__":
    _print(main())
