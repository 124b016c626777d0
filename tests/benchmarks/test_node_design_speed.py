"""Choosing λ: exact derivatives from classical starts against numpy's cond in scipy's minimiser."""

import numpy as np
from scipy.optimize import minimize

import ensctl as ec


def from_random_starts(count, starts, seed=0):
    """What one would write: differences of np.linalg.cond, bounds, random starts."""
    rng = np.random.default_rng(seed)

    def log_cond(lam):
        # Meeting nodes have an infinite cond, which differences cannot digest.
        return min(40.0, np.log(np.linalg.cond(np.vander(lam, increasing=True))))

    best = np.inf
    for _ in range(starts):
        found = minimize(
            log_cond,
            np.sort(rng.uniform(-1, 1, count)),
            bounds=[(-1.0, 1.0)] * count,
            method="L-BFGS-B",
        )
        best = min(best, float(np.exp(found.fun)))
    return best


def test_choose_nodes(ratio_table, timed, sized):
    count = sized(8, smoke=4)
    kappa = {}

    def ours():
        kappa["ours"] = ec.choose_nodes(count, ec.Interval(-1.0, 1.0)).value

    def obvious():
        kappa["obvious"] = from_random_starts(count, sized(40, smoke=4))

    row = ratio_table.add(
        f"choose {count} nodes on [-1, 1] (40 random starts)", timed(ours), timed(obvious)
    )
    assert row.ours > 0
    assert kappa["ours"] <= kappa["obvious"] * (1 + 1e-6)
