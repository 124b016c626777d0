"""A map of a million cells against scans of the depths of each cell."""

from __future__ import annotations

import numpy as np

from ensctl.drafting import phase_map


def scanned(alpha, cost, max_depth):
    """All depths of one cell, one after the other."""
    best, rate, length, power = 0, 1.0, 1.0, 1.0
    for depth in range(1, max_depth + 1):
        power *= alpha
        length += power
        here = length / (1.0 + depth * cost)
        if here > rate:
            best, rate = depth, here
    return best


def scanned_until_it_falls(alpha, cost, max_depth):
    """The same, stopping at the first depth that is no faster than the one before."""
    rate, length, power = 1.0, 1.0, 1.0
    for depth in range(1, max_depth + 1):
        power *= alpha
        length += power
        here = length / (1.0 + depth * cost)
        if here <= rate:
            return depth - 1
        rate = here
    return max_depth


def test_a_million_cells(ratio_table, timed, sized):
    side, max_depth = sized(1000, smoke=60), 64
    alphas, costs = np.linspace(0.0, 1.0, side), np.linspace(0.0, 1.0, side)
    cells = side * side
    ours = timed(lambda: phase_map(alphas, costs, max_depth))
    with_rates = timed(lambda: phase_map(alphas, costs, max_depth).throughput)

    # Scans take seconds for a map: every stride-th row and column, scaled to all cells.
    stride = sized(10, smoke=4)
    some_alphas, some_costs = alphas[::stride].tolist(), costs[::stride].tolist()
    sample = len(some_alphas) * len(some_costs)
    for what, scan, at_most in [
        ("64 depths scanned", scanned, 1 / 200),
        ("scanned until it falls", scanned_until_it_falls, 1 / 20),
    ]:
        obvious = timed(
            lambda scan=scan: [[scan(a, c, max_depth) for a in some_alphas] for c in some_costs],
            repeat=3,
        )
        obvious *= cells / sample
        ratio_table.add(
            f"phase map, {cells} cells, vs {what} ({sample} cells, scaled)",
            ours,
            obvious,
            at_most=at_most,
        )
        ratio_table.add(f"the same with throughputs, vs {what}", with_rates, obvious)

    # Every cell, by the quotients of all depths in the same arithmetic.
    depth = phase_map(alphas, costs, max_depth).depth
    lengths = np.cumsum(alphas ** np.arange(max_depth + 1.0)[:, None], axis=0)
    orders = np.arange(max_depth + 1.0)[:, None]
    for row, cost in zip(depth, costs, strict=True):
        assert np.array_equal(row, np.argmax(lengths / (1.0 + orders * cost), axis=0))
