"""Experiments on averages of N estimates: σ/√N with independent drafters, and its failure."""

from __future__ import annotations

import math

from ensctl import drafting
from ensctl.papers.claim import Paper
from ensctl.papers.experiment import Experiment, Measurement, as_samples, deviation_of
from ensctl.papers.verdicts import Outcome
from ensctl.simulation import simulate_drafting

_ALPHA = 0.7
_COUNTS = (1, 2, 5, 10, 20, 50)


def root_law_test(cycles: int = 200_000, seed: int = 0) -> Experiment:
    """Paper B's test of σ/√N: the standard error of the mean of N independent drafters' estimates.

    The estimate of a drafter is whether it hits in a cycle, α = .7; the mean over N drafters is
    formed in every cycle and its deviation taken over cycles.

    Parameters
    ----------
    cycles : int
        ≥ 100; cycles at each N.
    seed : int
        Of the random numbers.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from ensctl.papers import root_law_test
    >>> root_law_test(20_000).outcome.value
    'stands'
    """
    measurements = _deviations(as_samples(cycles), seed, 0.0)
    agrees = all(entry.agrees for entry in measurements)
    five = measurements[_COUNTS.index(5)]
    return Experiment(
        name="root-law",
        paper=Paper.B,
        where="§6",
        criterion="a standard error that does not scale as σ/√N under independent drafters",
        outcome=Outcome.STANDS if agrees else Outcome.FALSIFIED,
        sentence=(
            f"At N = 5 the factor is {five.measured.value:.4f} ({five.interval}), printed .4472; "
            f"{'all' if agrees else 'not all'} N from 1 to 50 agree with 1/√N."
        ),
        measurements=measurements,
        quantity="standard error over that of one drafter",
        samples=cycles,
        seed=seed,
    )


def correlation_test(
    cycles: int = 200_000, seed: int = 0, *, correlation: float = 0.15
) -> Experiment:
    """The same with drafters that succeed and fail together: the factor does not fall below √r.

    In every cycle all drafters share one acceptance, drawn from a beta distribution of mean .7
    with r = 1/(a + b + 1).

    Parameters
    ----------
    cycles : int
        ≥ 100; cycles at each N.
    seed : int
        Of the random numbers.
    correlation : float
        r of two drafters' hits, in (0, 1).

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from ensctl.papers import correlation_test
    >>> correlation_test(20_000).outcome.value
    'stands'
    """
    measurements = _deviations(as_samples(cycles), seed, correlation)
    last, count = measurements[-1], _COUNTS[-1]
    root = [1.0 / math.sqrt(number) for number in _COUNTS]
    broken = all(
        Measurement("", law, entry.measured).above
        for law, entry in zip(root[1:], measurements[1:], strict=True)
    )
    fits = all(entry.agrees for entry in measurements)
    return Experiment(
        name="correlation",
        paper=Paper.B,
        where="§6; paper A §6",
        criterion="correlated drafter errors break the σ/√N reduction",
        outcome=Outcome.STANDS if broken and fits else Outcome.OPEN,
        sentence=(
            f"At r = {correlation:g} the factor at N = {count} is {last.measured.value:.3f}, not "
            f"{root[-1]:.3f}, and never falls below √r = {math.sqrt(correlation):.3f}; "
            f"√((1 + (N − 1)r)/N) {'fits' if fits else 'does not fit'}."
        ),
        measurements=measurements,
        quantity="standard error over that of one drafter",
        samples=cycles,
        seed=seed,
    )


def _deviations(cycles: int, seed: int, correlation: float) -> tuple[Measurement, ...]:
    single = math.sqrt(drafting.IID(_ALPHA).variance(1, convention="accepted"))
    found = []
    for count in _COUNTS:
        run = simulate_drafting(
            _ALPHA,
            1,
            cycles=cycles,
            count=count,
            correlation=correlation,
            coupling="shared beta",
            seed=[seed, count],
        )
        predicted = drafting.mean_standard_deviation(1.0, count, correlation)
        means = run.lengths("accepted").mean(axis=0)
        found.append(Measurement(f"N = {count}", predicted, deviation_of(means, single)))
    return tuple(found)
