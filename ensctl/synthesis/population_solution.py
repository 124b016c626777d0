"""Least squares over a huge population: moments, a small system, and a check on all members."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ensctl.arguments import Array, read_only
from ensctl.ensemble.chebyshev_count import chebyshev_count, remembered
from ensctl.ensemble.compression import check_powers
from ensctl.progress import Progress, progress_of
from ensctl.synthesis.population_kernels import Bounds, ChebyshevBasis, Moments, Residuals, Triangle
from ensctl.synthesis.population_plan import PopulationPlan
from ensctl.synthesis.population_sources import Report, Source
from ensctl.synthesis.population_system import (
    SmallSystem,
    from_moments,
    from_triangle,
    lost_terms,
)

# Powers of λ are kept to this, relative to the largest.
_TRUNCATION = 1e-16
# Inputs are accepted when one more solve would move them by less.
_ACCEPTED = 1e-11
# Moments that leave fewer digits than this give way to QR of all members.
_TOO_FEW = 1e-7
_MOST_PASSES = 4


@dataclass(frozen=True)
class Task:
    """What is asked of the population, beside its members."""

    horizon: int
    ridge: float
    interval: tuple[float, float] | None
    terms: int | None


@dataclass(frozen=True, eq=False)
class _Checked:
    """Inputs, how far one more solve moves them, and Σ w|e|², Σ|e|², N of all members."""

    inputs: Array
    moved: float
    sums: Array
    system: SmallSystem

    @property
    def error(self) -> float:
        """Estimate of ‖δu‖/‖u‖: what the check sees, and what no check in float64 can see."""
        misfit = math.sqrt(max(float(self.sums[0].real), 0.0))
        return self.moved + self.system.sensitivity_with(self.inputs, misfit)

    @property
    def accepted(self) -> bool:
        """Whether one more solve would not help."""
        return self.moved <= max(_ACCEPTED, self.system.sensitivity)


@dataclass(frozen=True, eq=False)
class _Population:
    """The passes over all members that a task needs."""

    source: Source
    basis: ChebyshevBasis
    coefficients: Array
    ridge: float
    visited: Report

    @cached_property
    def lost(self) -> float:
        lo, hi = self.basis.interval
        return lost_terms(self.coefficients, max(abs(lo), abs(hi)))

    def moments(self) -> SmallSystem | None:
        """The system by Cholesky, None where that leaves too few digits."""
        moments = self.source.total(Moments(self.basis, self.source.is_complex), self.visited)
        return from_moments(moments, self.coefficients, self.ridge, self.lost)

    def triangle(self) -> SmallSystem:
        """The system by QR of all members."""
        triangle = self.source.total(Triangle(self.basis, self.source.is_complex), self.visited)
        return from_triangle(triangle, self.coefficients, self.ridge, self.lost)

    def simulated(self, system: SmallSystem, inputs: Array) -> tuple[_Checked, Array]:
        """Inputs checked on all members, and the inputs that one more solve gives."""
        series = self.coefficients @ inputs
        kernel = Residuals(self.basis, self.source.is_complex, series)
        rows = self.source.total(kernel, self.visited)
        missed = rows[0] if len(rows) == 2 else rows[0] + 1j * rows[1]
        better = system.again(inputs, missed[: self.basis.count])
        size, distance = np.linalg.norm(better), np.linalg.norm(inputs - better)
        moved = 0.0 if distance == 0.0 else float(distance / size)
        return _Checked(inputs, moved, rows[-1], system), better

    def refined(self, system: SmallSystem) -> _Checked:
        """Solve, simulate all members, and solve again for what they miss while that helps."""
        best, better = self.simulated(system, system.solve())
        for _ in range(_MOST_PASSES - 1):
            if best.accepted:
                break
            now, better = self.simulated(system, better)
            stalled = now.moved > 0.1 * best.moved
            best = now if now.moved < best.moved else best
            if stalled:
                break
        return best


def solve_population(
    source: Source, task: Task, progress: Progress | bool | None
) -> PopulationPlan:
    """Moments and Cholesky, or QR where these leave too few digits; then the check."""
    interval = task.interval or _bounds(source)
    check_powers(np.array(interval), task.horizon)
    terms = task.terms or chebyshev_terms(interval, task.horizon)
    basis = ChebyshevBasis(interval, task.horizon, terms)
    passes = 2 * source.parts
    with progress_of(progress, passes, "members") as report:
        visited = _counter(report, passes)
        population = _Population(source, basis, basis.power_coefficients(), task.ridge, visited)
        found = _best(population)
        report(passes)
    weighted, plain, count = (float(value) for value in found.sums[:3])
    return PopulationPlan(
        inputs=read_only(found.inputs),
        size=source.size,
        horizon=task.horizon,
        ridge=task.ridge,
        weighted_error=weighted,
        rms_error=math.sqrt(plain / count),
        error=found.error,
        method=found.system.method,
        terms=terms,
        interval=interval,
        chunk=source.chunk,
    )


def chebyshev_terms(interval: tuple[float, float], horizon: int) -> int:
    """r, the terms that the powers λ^k, k < H, need to rounding: about √(75 H), at most H."""
    largest = max(abs(interval[0]), abs(interval[1]))
    return chebyshev_count(interval, remembered(largest, horizon), _TRUNCATION)


def _best(population: _Population) -> _Checked:
    system = population.moments()
    if system is None:
        return population.refined(population.triangle())
    found = population.refined(system)
    if found.moved <= max(_TOO_FEW, system.sensitivity):
        return found
    other = population.refined(population.triangle())
    return other if other.moved < found.moved else found


def _bounds(source: Source) -> tuple[float, float]:
    low, minus_high = source.total(Bounds(), _silent)
    return float(low), -float(minus_high)


def _counter(report: Callable[[int], None], passes: int) -> Report:
    """Count parts; passes that were not planned do not count."""
    done = 0

    def visited() -> None:
        nonlocal done
        done += 1
        if done < passes:
            report(done)

    return visited


def _silent() -> None:
    return None
