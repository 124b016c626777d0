"""Experiment on controllability: random distinct λ, exactly and in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis import controllability, reachability_matrix
from ensctl.analysis.exact_rank import independent_rows
from ensctl.arguments import as_count
from ensctl.drafting.acceptance import as_generator
from ensctl.ensemble import Ensemble
from ensctl.papers.claim import Paper
from ensctl.papers.experiment import Experiment, Measurement, share_of
from ensctl.papers.verdicts import Outcome
from ensctl.vandermonde import log_determinant

Array = NDArray[Any]

_SIZES = (5, 10, 20, 40)
# λ = k/64: the powers of eight such members are exact in float64, so that elimination in rational
# numbers decides about the very matrix.
_GRID, _GRID_MEMBERS = 64, 8


def vandermonde_test(sets: int = 100, seed: int = 0) -> Experiment:
    """Paper B's test of controllability: is any set of distinct λ singular?

    Random sets in (0, 1): elimination in rational numbers for 8 members with λ = k/64, the exact
    determinant for 5 to 40 members, and beside it the rank that float64 reports.  Sets with one λ
    repeated must be found singular.

    Parameters
    ----------
    sets : int
        ≥ 1; random sets of each size.
    seed : int
        Of the random numbers.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from ensctl.papers import vandermonde_test
    >>> vandermonde_test(10).outcome.value
    'stands'
    """
    number = as_count(sets, "sets")
    rng = as_generator([seed, number])
    grid = [_grid_set(rng) for _ in range(number)]
    eliminated = sum(_rank(lam) < lam.size for lam in grid)
    missed = sum(_rank(_repeated(lam)) == lam.size for lam in grid)
    measurements = [
        Measurement("distinct, N = 8, rational elimination", 0.0, share_of(eliminated, number)),
        Measurement("one repeated, N = 8, found regular", 0.0, share_of(missed, number)),
    ]
    singular, floating = eliminated, {}
    for size in _SIZES:
        drawn = [rng.random(size) for _ in range(number)]
        exact = sum(_is_singular(lam) for lam in drawn)
        singular += exact
        floating[size] = sum(_float_rank(lam) < size for lam in drawn)
        measurements += [
            Measurement(f"distinct, N = {size}, exact determinant", 0.0, share_of(exact, number)),
            Measurement(
                f"distinct, N = {size}, float64 rank", None, share_of(floating[size], number)
            ),
        ]
    tried = number * (1 + len(_SIZES))
    shares = ", ".join(f"{floating[n]} at N = {n}" for n in _SIZES)
    return Experiment(
        name="vandermonde",
        paper=Paper.B,
        where="§6",
        criterion="a set of distinct λ whose finite-horizon reachability matrix is singular",
        outcome=Outcome.STANDS if singular == missed == 0 else Outcome.FALSIFIED,
        sentence=(
            f"{singular} of {tried} sets of distinct λ are singular in exact arithmetic; float64 "
            f"calls singular, of {number}: {shares}."
        ),
        measurements=tuple(measurements),
        quantity="share of sets called singular",
        samples=number,
        seed=seed,
    )


def _grid_set(rng: np.random.Generator) -> Array:
    return (1.0 + rng.permutation(_GRID - 1)[:_GRID_MEMBERS]) / _GRID


def _repeated(lam: Array) -> Array:
    return np.append(lam[:-1], lam[0])


def _rank(lam: Array) -> int:
    """Rank of the reachability matrix at H = N by elimination in rational numbers."""
    return int(independent_rows(reachability_matrix(Ensemble(lam), lam.size)).size)


def _float_rank(lam: Array) -> int:
    """What numpy says of the same matrix, formed and judged in float64."""
    return int(np.linalg.matrix_rank(np.vander(lam)))


def _is_singular(lam: Array) -> bool:
    verdict = controllability(Ensemble(lam), lam.size)
    return log_determinant(lam).mantissa == 0.0 or not verdict.reachable
