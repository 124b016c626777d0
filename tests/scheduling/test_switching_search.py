"""Mixes that pay for switches against every set of arms, at any unit of cost."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from ensctl import scheduling
from ensctl.errors import InfeasibleError


@pytest.mark.parametrize("unit", [1e-6, 1.0, 30.0, 1e5, 1e7])
def test_every_support_at_every_scale(unit: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(8):
        n, period = int(rng.integers(2, 6)), int(rng.choice([1, 50, 100_000]))
        cycles, lengths, use = np.exp(rng.uniform(-1, 1, n)), 1 + 3 * rng.random(n), rng.random(n)
        cap = float(cycles.min() + np.ptp(cycles) * rng.uniform(0.05, 1))
        budget = float(np.quantile(use, rng.uniform(0.3, 1)))
        rate = float(rng.choice([0.0, 0.1, 10.0])) / period
        best = -np.inf
        for count in range(1, n + 1):
            for chosen in combinations(range(n), count):
                used = list(chosen)
                paid = cycles[used] + (count * rate if count > 1 else 0.0)
                found = linprog(
                    -lengths[used],
                    A_ub=[-np.ones(count), use[used] - budget],
                    b_ub=[-1 / cap, 0.0],
                    A_eq=[paid],
                    b_eq=[1.0],
                )
                if found.status == 0:
                    best = max(best, -found.fun)
        arguments = {
            "constraints": [
                scheduling.MeanCycleCap(cap * unit),
                scheduling.MeanBudget("use", use, budget),
            ],
            "switching": scheduling.Switching(rate * period * unit, period),
        }
        arms = scheduling.arms_from_arrays(lengths, cycles * unit)
        if not np.isfinite(best):
            with pytest.raises(InfeasibleError):
                scheduling.allocate(arms, **arguments)  # type: ignore[arg-type]
            continue
        plan = scheduling.allocate(arms, **arguments)  # type: ignore[arg-type]
        assert plan.throughput * unit == pytest.approx(best, rel=1e-9)
        assert plan.upper_bound >= plan.throughput
        count = np.count_nonzero(plan.shares)
        paid = plan.shares @ cycles + (count * rate if count > 1 else 0.0)
        assert plan.mean_cycle / unit == pytest.approx(paid, rel=1e-9)
