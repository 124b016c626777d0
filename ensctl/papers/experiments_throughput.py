"""Experiments on lengths and throughput: the papers' own test, memory, and dear verification."""

from __future__ import annotations

import numpy as np

from ensctl import drafting
from ensctl.drafting import Convention
from ensctl.papers import formulas
from ensctl.papers.claim import Paper
from ensctl.papers.experiment import (
    STANDARD_ERRORS,
    Experiment,
    Measurement,
    as_samples,
    mean_of,
)
from ensctl.papers.verdicts import Outcome
from ensctl.simulation import simulate_drafting

_ALPHA, _COST, _DRAFTERS = 0.7, 0.1, 5
_GRID = (3, 4, 5, 6)
_TOLERANCE = 0.05
_BLOCK = 20


def throughput_test(cycles: int = 400_000, seed: int = 0) -> Experiment:
    """Paper B's next experiment: N = 5, α = .7, K = 3 … 6; falsified if |T̂ − T| > .05 for all K.

    Every cycle one of the five drafters is drawn; its accepted units are counted in each of three
    conventions.

    Parameters
    ----------
    cycles : int
        ≥ 100; cycles at each depth.
    seed : int
        Of the random numbers.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from ensctl.papers import throughput_test
    >>> throughput_test(20_000).outcome.value
    'depends'
    """
    number = as_samples(cycles)
    runs = {
        depth: simulate_drafting(
            _ALPHA,
            depth,
            cycles=number,
            count=_DRAFTERS,
            mix=[1.0 / _DRAFTERS] * _DRAFTERS,
            seed=[seed, depth],
        )
        for depth in _GRID
    }
    predicted = {d: drafting.throughput(_ALPHA, _COST, d, convention="committed") for d in _GRID}
    measured = {
        rule: [
            Measurement(
                f"K = {depth}, {rule.value}",
                predicted[depth],
                runs[depth].throughput(_COST, convention=rule),
            )
            for depth in _GRID
        ]
        for rule in Convention
    }
    outcomes = {rule: _tolerance_outcome(entries) for rule, entries in measured.items()}
    different = set(outcomes.values())
    parts = [
        f"{rule.value}: {outcomes[rule].value}, |T̂ − T| from "
        f"{min(abs(m.gap) for m in entries):.4f} to {max(abs(m.gap) for m in entries):.4f}"
        for rule, entries in measured.items()
    ]
    return Experiment(
        name="throughput-test",
        paper=Paper.B,
        where="§7c",
        criterion="|T̂ − T_predicted| > .05 for all K in {3, 4, 5, 6} falsifies the main result",
        outcome=different.pop() if len(different) == 1 else Outcome.DEPENDS,
        sentence="By what a length counts: " + "; ".join(parts) + ".",
        measurements=tuple(entry for entries in measured.values() for entry in entries),
        quantity="units per verifier pass",
        samples=number,
        seed=seed,
    )


def memory_test(cycles: int = 400_000, seed: int = 0) -> Experiment:
    """A1 failing: hits in runs, at the same share α = .7 of hits, K = 3 … 6.

    Units follow a Markov chain with P(hit | hit) = .85 and P(hit | miss) = .35.  The geometric
    formula is then too high, because most cycles start after a miss, and totals of cycles vary
    more than independent cycles would.

    Parameters
    ----------
    cycles : int
        ≥ 100; cycles at each depth.
    seed : int
        Of the random numbers.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from ensctl.papers import memory_test
    >>> memory_test(50_000).outcome.value
    'stands'
    """
    model, number = drafting.MarkovRenewal(0.85, 0.35), as_samples(cycles)
    gaps, with_memory, inflations = [], [], []
    for depth in _GRID:
        run = simulate_drafting(model, depth, cycles=number, seed=[seed, depth])
        measured = run.throughput(_COST, convention="committed")
        plain, exact = (
            drafting.throughput(law, _COST, depth, convention="committed")
            for law in (_ALPHA, model)
        )
        gaps.append(Measurement(f"T at K = {depth}, i.i.d. formula", plain, measured))
        with_memory.append(Measurement(f"T at K = {depth}, with memory", exact, measured))
        lengths = run.lengths("committed")[0]
        blocks = lengths[: number // _BLOCK * _BLOCK].reshape(-1, _BLOCK).sum(axis=1)
        squares = (blocks - blocks.mean()) ** 2 / (_BLOCK * float(lengths.var()))
        label = f"variance of {_BLOCK}-cycle totals over independent, K = {depth}"
        inflations.append(Measurement(label, 1.0, mean_of(squares)))
    fails = all(entry.below for entry in gaps) and all(entry.above for entry in inflations)
    fits = all(entry.agrees for entry in with_memory)
    over = [100.0 * -entry.gap / entry.measured.value for entry in gaps]
    wider = [entry.measured.value for entry in inflations]
    said = (
        f"the formula is {min(over):.1f} to {max(over):.1f} % too high, and totals of {_BLOCK} "
        f"cycles vary {min(wider):.2f} to {max(wider):.2f} times as much; the formula with memory "
        f"{'fits' if fits else 'does not fit'}."
    )
    return Experiment(
        name="memory",
        paper=Paper.A,
        where="§6; paper B §6",
        criterion="A1: where units are not independent the geometric tail overestimates E_k[A]",
        outcome=Outcome.STANDS if fails and fits else Outcome.OPEN,
        sentence=f"{'The announced failure occurs' if fails else 'Not clear'}: {said}",
        measurements=(*gaps, *with_memory, *inflations),
        quantity="units per verifier pass, committed; variance ratios have no unit",
        samples=number,
        seed=seed,
    )


def verify_cost_test(cycles: int = 400_000, seed: int = 0) -> Experiment:
    """A3 failing: ν = 1 + g k at α = .8, ρ = .1 shortens k* and shrinks the gain.

    Parameters
    ----------
    cycles : int
        ≥ 100; cycles in the one run from which every depth is read.
    seed : int
        Of the random numbers.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from ensctl.papers import verify_cost_test
    >>> verify_cost_test(100_000).measurements[1].label
    'S at k* = 6, g = 0.05'
    """
    alpha, draft, deepest = 0.8, 0.1, 12
    growths = (0.0, 0.05, 0.1, 0.3)
    number = as_samples(cycles)
    run = simulate_drafting(alpha, deepest, cycles=number, seed=[seed, deepest])
    accepted = run.accepted[0].astype(np.int64)
    # Cut at a shallower depth, independent units are what that depth would have accepted.
    lengths = {depth: np.minimum(accepted + 1, depth) for depth in range(1, deepest + 1)}
    means = np.array([values.mean() for values in lengths.values()])
    measurements, depths = [], []
    for growth in growths:
        cycle = 1.0 + (draft + growth) * np.arange(1.0, deepest + 1)
        depth = 1 + int(np.argmax(means / cycle))
        depths.append(depth)
        measurements.append(
            Measurement(
                f"S at k* = {depth}, g = {growth:g}",
                formulas.best_throughput(alpha, draft + growth),
                mean_of(lengths[depth], float(cycle[depth - 1])),
            )
        )
    gains = [entry.measured.value for entry in measurements]
    falls = all(np.diff(depths) < 0) and all(np.diff(gains) < 0)
    exact = [formulas.best_throughput_depth(alpha, draft + growth) for growth in growths]
    stands = falls and depths == exact and all(entry.agrees for entry in measurements)
    said = (
        f"k* {', '.join(map(str, depths))} and S {', '.join(f'{gain:.2f}' for gain in gains)} for "
        "g 0, .05, .1, .3."
    )
    return Experiment(
        name="verify-cost",
        paper=Paper.A,
        where="§6; paper B §6",
        criterion="A3: if ν grows with k, the optimal depth shortens and all gains shrink",
        outcome=Outcome.STANDS if stands else Outcome.OPEN,
        sentence=f"{'The announced failure occurs' if stands else 'Not clear'}: {said}",
        measurements=tuple(measurements),
        quantity="units per verifier pass of depth 0, committed",
        samples=number,
        seed=seed,
    )


def _tolerance_outcome(entries: list[Measurement]) -> Outcome:
    """Falsified when every gap is above .05 by four standard errors, stands when one is below."""
    errors = [STANDARD_ERRORS * entry.measured.std_error for entry in entries]
    gaps = [abs(entry.gap) for entry in entries]
    if all(gap - error > _TOLERANCE for gap, error in zip(gaps, errors, strict=True)):
        return Outcome.FALSIFIED
    if any(gap + error < _TOLERANCE for gap, error in zip(gaps, errors, strict=True)):
        return Outcome.STANDS
    return Outcome.OPEN
