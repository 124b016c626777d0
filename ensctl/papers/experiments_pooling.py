"""Experiment on pools: two weak drafters against one, when their cost and errors are what they are.

Units are re-synchronised: after every unit both drafters go on from the one that was right.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl import drafting
from ensctl.drafting.acceptance import as_generator
from ensctl.papers import formulas
from ensctl.papers.claim import Paper
from ensctl.papers.experiment import Experiment, Measurement, as_samples, mean_of, ratio_of
from ensctl.papers.verdicts import Outcome

Array = NDArray[Any]

_ALPHA = 0.5
_DEEPEST = 16


def pooling_test(cycles: int = 200_000, seed: int = 0) -> Experiment:
    """Paper A's R2: two drafters with α = .5 at twice the cost, measured gain over one.

    At ρ = .1 with independent errors; at ρ = .2, where the doubled cost outweighs; with errors
    correlated by .15 and .5; and with two chains that do not re-synchronise.

    Parameters
    ----------
    cycles : int
        ≥ 100; cycles of each pool and of each single drafter.
    seed : int
        Of the random numbers.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from ensctl.papers import pooling_test
    >>> pooling_test(50_000).outcome.value
    'depends'
    """
    number = as_samples(cycles)
    cases = ((0.1, 0.0), (0.2, 0.0), (0.1, 0.15), (0.1, 0.5))
    measurements = [
        _gain(cost, phi, number, as_generator([seed, place]))
        for place, (cost, phi) in enumerate(cases)
    ]
    measurements.append(_chain_gain(0.1, number, as_generator([seed, len(cases)])))
    cheap, dear = (Measurement("", 1.0, entry.measured) for entry in measurements[:2])
    if not all(entry.agrees for entry in measurements):
        outcome = Outcome.FALSIFIED
    elif cheap.above and dear.below:
        outcome = Outcome.DEPENDS
    else:
        outcome = Outcome.OPEN
    values = [entry.measured.value for entry in measurements]
    return Experiment(
        name="pooling",
        paper=Paper.A,
        where="§6, R2",
        criterion="pooling two drafters near α = .5 with independent errors gains 1.0 or less",
        outcome=outcome,
        sentence=(
            f"The gain is {values[0]:.3f} at ρ = .1 and {values[1]:.3f} at ρ = .2: by the formula "
            f"R2 stands at the paper's cost and fails from ρ = {even_cost():.4f} on, where the "
            f"doubled cost outweighs; correlation .5 leaves {values[3]:.3f}, chains that do not "
            f"re-synchronise {values[4]:.3f}."
        ),
        measurements=tuple(measurements),
        quantity="throughput of the pool over that of one, committed",
        samples=number,
        seed=seed,
    )


def even_cost(alpha: float = _ALPHA, count: int = 2) -> float:
    """The draft cost ρ at which m pooled drafters at m times the cost are as fast as one.

    0 where they never are faster, inf where they always are, for ρ from .01 to .9.
    """
    from scipy.optimize import brentq

    def excess(cost: float) -> float:
        return formulas.relative_gain(alpha, cost, count) - 1.0

    cheap, dear = 0.01, 0.9
    if excess(cheap) <= 0:
        return 0.0
    return float(brentq(excess, cheap, dear, xtol=1e-12)) if excess(dear) < 0 else math.inf


def _gain(cost: float, phi: float, cycles: int, rng: np.random.Generator) -> Measurement:
    pooled = drafting.pooled_acceptance([_ALPHA, _ALPHA], phi)
    depth, single = _best(pooled, 2 * cost), _best(_ALPHA, cost)
    first, second = _hits(cycles, depth, phi, rng)
    pair = mean_of(_lengths(first | second), 1.0 + 2 * cost * depth)
    alone = mean_of(_lengths(rng.random((cycles, single)) < _ALPHA), 1.0 + cost * single)
    predicted = formulas.best_throughput(pooled, 2 * cost) / formulas.best_throughput(_ALPHA, cost)
    label = f"ρ = {cost:g}, correlation {phi:g}"
    return Measurement(label, predicted, ratio_of(pair, alone))


def _chain_gain(cost: float, cycles: int, rng: np.random.Generator) -> Measurement:
    """Each drafter drafts its own K units and the longer accepted prefix counts."""
    chains = drafting.ParallelChains([drafting.IID(_ALPHA)] * 2)
    depth, single = _best(chains, 2 * cost), _best(_ALPHA, cost)
    first, second = _hits(cycles, depth, 0.0, rng)
    kept = np.maximum(_lengths(first), _lengths(second))
    pair = mean_of(kept, 1.0 + 2 * cost * depth)
    alone = mean_of(_lengths(rng.random((cycles, single)) < _ALPHA), 1.0 + cost * single)
    predicted = drafting.throughput(chains, 2 * cost, depth, convention="committed")
    predicted /= formulas.best_throughput(_ALPHA, cost)
    return Measurement(f"ρ = {cost:g}, two separate chains", predicted, ratio_of(pair, alone))


def _best(acceptance: Any, cost: float) -> int:
    best = drafting.optimal_depth(acceptance, cost, _DEEPEST, convention="committed")
    return 1 + int(best.curve[1:].argmax())


def _hits(cycles: int, depth: int, phi: float, rng: np.random.Generator) -> Array:
    """Hits of both drafters, (2, cycles, depth), each with α and the pair with correlation φ."""
    first = rng.random((cycles, depth)) < _ALPHA
    follows = np.where(first, _ALPHA + phi * (1.0 - _ALPHA), _ALPHA - phi * _ALPHA)
    return np.stack([first, rng.random((cycles, depth)) < follows])


def _lengths(hits: Array) -> Array:
    """Committed length of each cycle: accepted units and the correction, at most K."""
    accepted = np.logical_and.accumulate(hits, axis=1).sum(axis=1)
    return np.minimum(accepted + 1, hits.shape[1])
