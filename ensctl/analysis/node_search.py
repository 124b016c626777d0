"""The search for a good set: many starts, a short descent each, a long one for the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_coordinates import Coordinates, hold
from ensctl.analysis.node_criteria import Criterion, Pieces, pieces
from ensctl.analysis.node_descent import descend
from ensctl.analysis.node_regions import Rates, Region
from ensctl.analysis.node_symmetry import Pattern

Array = NDArray[Any]

# Steps of the first descent, of the long one, and how many sets get the long one.
SHORT = 40
LONG = 600
FINALISTS = 2
_PERFECT = 1e-10
# Pieces within this of the largest take part in the last, minimax step.
_ACTIVE = 0.7


@dataclass(frozen=True, eq=False)
class Task:
    """What is asked: a criterion at a horizon, with a region, fixed points and gains.

    Attributes
    ----------
    criterion : str
        Name of the criterion.
    horizon : int or math.inf
        Number of steps H.
    region : Region
        Where free points lie.
    fixed : (F,)
        Points that stay.
    count : int
        Members in all.
    gains : (N,)
        |g| of fixed members, then of free ones.
    optimise_gains : bool
        Whether gains are chosen too.
    """

    criterion: Criterion
    horizon: int | float
    region: Region
    fixed: Array
    count: int
    gains: Array
    optimise_gains: bool

    @property
    def free(self) -> int:
        """Number of points to choose."""
        return self.count - int(self.fixed.size)

    def realise(self, points: Array, gains: Array | None = None) -> tuple[Array, Array]:
        """λ and |b| of fixed points and these free ones."""
        everything = np.concatenate([self.fixed, points])
        if np.iscomplexobj(everything) and not np.any(everything.imag):
            everything = everything.real
        size = self.gains if gains is None else gains
        if not isinstance(self.region, Rates):
            return everything, size
        lam, _, weight, _ = hold(everything, self.region.dt)
        return lam, size * np.exp(weight)


@dataclass(frozen=True, eq=False)
class Found:
    """One set: free points, gains of all members, and the logarithm of its criterion."""

    points: Array
    gains: Array
    score: float


class Descent:
    """One start in one pattern: parameters, objective, and the way back to points."""

    def __init__(self, task: Task, pattern: Pattern, points: Array) -> None:
        tie = np.arange(task.count)
        for place, k in enumerate(pattern.source):
            if k >= 0:
                first = int(np.flatnonzero(pattern.source == k)[0])
                tie[task.fixed.size + place] = task.fixed.size + first
        self.task = task
        self.coordinates = Coordinates(
            region=task.region,
            fixed=task.fixed,
            points=points,
            source=pattern.source,
            sign=pattern.sign,
            conjugate=pattern.conjugate,
            real=pattern.real,
            constants=pattern.constants,
            log_gain=np.log(task.gains),
            free_gains=task.optimise_gains,
            tie=np.unique(tie, return_inverse=True)[1],
        )
        self.start = self.coordinates.start()

    def pieces(self, x: Array) -> tuple[Array, Array]:
        """Values of the pieces (m,) and their derivatives (m, n)."""
        placed = self.coordinates.placement(x)
        found: Pieces = pieces(
            self.task.criterion, placed.lam, np.exp(placed.log_gain), self.task.horizon
        )
        slopes = (found.by_node @ placed.lam_slopes).real + found.by_gain @ placed.gain_slopes
        return found.values, slopes

    def objective(self, x: Array) -> tuple[float, Array]:
        """The largest piece and its gradient; inf where the set is not one."""
        nothing = np.zeros(x.size)
        if not np.all(np.isfinite(x)):
            return math.inf, nothing
        try:
            with np.errstate(all="ignore"):
                values, slopes = self.pieces(x)
        except np.linalg.LinAlgError:
            return math.inf, nothing
        if not (np.all(np.isfinite(values)) and np.all(np.isfinite(slopes))):
            return math.inf, nothing
        active = int(np.argmax(values))
        return float(values[active]), slopes[active]

    def run(self, x: Array, iterations: int) -> tuple[Array, float]:
        """Descend from x."""
        tolerance = 1e-5 if iterations <= SHORT else 1e-11
        return descend(self.objective, x, iterations=iterations, tolerance=tolerance)

    def found(self, x: Array, score: float) -> Found:
        """The set at x."""
        placed = self.coordinates.placement(x)
        log_gain = placed.log_gain
        if isinstance(self.task.region, Rates):
            log_gain = log_gain - hold(placed.points, self.task.region.dt)[2]
        gains = np.exp(log_gain) if self.task.optimise_gains else self.task.gains
        return Found(placed.points[self.task.fixed.size :], gains, score)


def level(descent: Descent, x: Array, score: float) -> tuple[Array, float]:
    """Minimise the largest of all pieces together (SLSQP on t ≥ every piece), from x."""
    from scipy.optimize import minimize

    values, _ = descent.pieces(x)
    near = np.flatnonzero(values >= values.max() - _ACTIVE)
    if near.size < 2:
        return x, score

    def gaps(z: Array) -> Array:
        found = _quiet_pieces(descent, z[:-1])
        return np.full(near.size, -1.0) if found is None else z[-1] - found[0][near]

    def gap_slopes(z: Array) -> Array:
        found = _quiet_pieces(descent, z[:-1])
        slopes = np.zeros((near.size, z.size - 1)) if found is None else found[1][near]
        return np.hstack([-slopes, np.ones((near.size, 1))])

    towards = np.append(np.zeros(x.size), 1.0)
    answer = minimize(
        lambda z: z[-1],
        np.append(x, score),
        jac=lambda z: towards,
        constraints=[{"type": "ineq", "fun": gaps, "jac": gap_slopes}],
        method="SLSQP",
        options={"maxiter": 200, "ftol": 1e-14},
    )
    better = np.asarray(answer.x[:-1])
    value, _ = descent.objective(better)
    return (better, value) if value < score else (x, score)


def _quiet_pieces(descent: Descent, x: Array) -> tuple[Array, Array] | None:
    try:
        with np.errstate(all="ignore"):
            values, slopes = descent.pieces(x)
    except np.linalg.LinAlgError:
        return None
    return (values, slopes) if np.all(np.isfinite(slopes)) and np.all(np.isfinite(values)) else None


def polish(task: Task, starts: list[tuple[Pattern, Array]]) -> list[Found]:
    """Short descents from every start, long and minimax ones from the best; best first."""
    tried: list[tuple[float, int, Descent, Array]] = []
    for number, (pattern, points) in enumerate(starts):
        descent = Descent(task, pattern, points)
        x, score = descent.run(descent.start, SHORT)
        if math.isfinite(score):
            tried.append((score, number, descent, x))
        if task.criterion == "condition" and score <= _PERFECT:
            # κ₂ = 1: nothing is better.
            break
    # Of equal ones the earlier start wins: symmetric starts come first.
    tried.sort(key=lambda item: (round(item[0], 3), item[1]))
    finished: list[Found] = []
    for score, _, descent, x in tried[:FINALISTS]:
        x, score = descent.run(x, LONG)
        x, score = level(descent, x, score)
        x, score = descent.run(x, LONG)
        finished.append(descent.found(x, score))
    return sorted(finished, key=lambda found: round(found.score, 8))
