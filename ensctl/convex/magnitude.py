"""Problems whose numbers are far from one, posed again in units of a power of two.

Squares of numbers beyond 1e±150 leave float64.  Multiplying by a power of two is exact, so the
problem in other units is the same problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.problem import Objective, Problem
from ensctl.convex.regions import Ball, Quadratic, Region, Within, WithinDiscs
from ensctl.convex.rows import ExactRows, Rows

Array = NDArray[Any]

# Exponents of two below this in modulus leave room for squares and sums of them.
_COMFORTABLE = 300
_HIGHEST = 900
_EXTREME = 1000


def unit_of(problem: Problem) -> float:
    """The power of two to divide a problem by; 1 where its numbers are of ordinary size.

    The targets count, and without any the limits.  1 also for fuel or peak plus a terminal cost,
    which is another problem in other units.
    """
    if isinstance(problem.terminal, Quadratic) and problem.objective is not Objective.ENERGY:
        return 1.0
    limits = _largest_limit(problem)
    exponent = _exponent(float(np.abs(problem.coordinates).max(initial=0.0)) or limits)
    if abs(exponent) <= _COMFORTABLE:
        return 1.0
    return 2.0 ** min(max(exponent, _exponent(limits) - _HIGHEST, -_EXTREME), _EXTREME)


def in_units(problem: Problem, unit: float) -> Problem:
    """The problem of u/unit, unit a power of two."""
    return replace(
        problem,
        coordinates=problem.coordinates / unit,
        domain=problem.domain.scaled(unit),
        terminal=_region(problem.terminal, unit),
        limits=tuple(_rows(rows, unit) for rows in problem.limits),
    )


def _exponent(value: float) -> int:
    return math.frexp(value)[1] if 0.0 < value < math.inf else 0


def _largest_limit(problem: Problem) -> float:
    shape = problem.domain
    values = [getattr(shape, name, np.zeros(0)) for name in ("lower", "upper", "radius")]
    values += [rows.target for rows in problem.limits]
    values += [
        np.atleast_1d(getattr(region, "radius", 0.0))
        for region in (problem.terminal, *(rows.region for rows in problem.limits))
    ]
    sizes = np.abs(np.concatenate([np.ravel(value) for value in values]))
    return float(sizes[np.isfinite(sizes)].max(initial=0.0))


def _region(region: Region, unit: float) -> Region:
    if isinstance(region, Within | WithinDiscs):
        return type(region)(np.asarray(region.radius) / unit)
    if isinstance(region, Ball):
        return Ball(region.radius / unit)
    return region


def _rows(rows: Rows, unit: float) -> Rows:
    exact = None if rows.exact is None else _exact_in_units(rows.exact, unit)
    return replace(rows, target=rows.target / unit, region=_region(rows.region, unit), exact=exact)


def _exact_in_units(provide: Callable[[], ExactRows], unit: float) -> Callable[[], ExactRows]:
    def provide_in_units() -> ExactRows:
        matrix, target = provide()
        return matrix, [Fraction(end) / Fraction(unit) for end in target]

    return provide_in_units
