"""A full report without plots, and the verdict of a large population, against stated budgets."""

import numpy as np

import ensctl as ec


def test_report_without_plots(ratio_table, timed, sized):
    """The budget of a report at N = 50, H = 200 is two seconds."""
    size, horizon = sized((50, 200), smoke=(8, 16))
    ens = ec.families.equispaced(size, 0.1, 0.9)

    def write():
        report = ec.report(ens, horizon)
        return report.to_text(), report.to_json(), report.to_markdown()

    seconds = timed(write, repeat=3)
    ratio_table.add(f"report, N = {size}, H = {horizon}, vs 2 s", seconds, 2.0, at_most=1.0)
    assert all(len(text) > 500 for text in write())


def test_verdict_of_a_large_population(ratio_table, timed, sized):
    """Exact verdict against sorting λ once, which any test for equal values needs."""
    size = sized(10**6, smoke=10**4)
    lam = np.random.default_rng(0).random(size)
    ens = ec.Ensemble(lam)
    ours = timed(lambda: ec.controllability(ens), repeat=3)
    obvious = timed(lambda: np.sort(lam), repeat=3)
    ratio_table.add(f"exact verdict, N = {size}, vs one sort of λ", ours, obvious)
    assert ec.controllability(ens).reachable == (np.unique(lam).size == size)
