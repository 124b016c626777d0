"""Mixes that pay for every switch from one arm to another.

The shares are played in blocks, once each in a period of P cycles: k ≥ 2 arms need k switches, so
the mean cycle costs Σ x_aC_a + k s/P.  With k given this is the program of a mix without switches
at cycles C + k s/P, restricted to k arms; a mix of more arms than its constraints need is never
better, which bounds k.  The restriction is kept by branch and bound on linear programs: their
vertices have few arms, so that it seldom binds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count, as_scalar
from ensctl.convex.ratio_program import RatioProgram, RatioSolution, certified
from ensctl.errors import InfeasibleError, SolverError
from ensctl.scheduling.arms import Arms

Array = NDArray[Any]

_MOST_NODES = 5000
_USED = 1e-11
_CLOSED = 1e-12


@dataclass(frozen=True)
class Switching:
    """What a switch costs, and how often the mix is repeated.

    Parameters
    ----------
    cost : float
        s ≥ 0 of going to another arm, in the unit of the cycle costs: loading, re-warming caches.
    period : int
        P ≥ 1 cycles in which every arm in use has one block.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> scheduling.Switching(5.0, period=200)
    Switching(cost=5.0, period=200)
    """

    cost: float
    period: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", as_scalar(self.cost, "cost", at_least=0.0))
        object.__setattr__(self, "period", as_count(self.period, "period"))


def mix_with_switching(
    arms: Arms,
    rewards: Array,
    rows: Array,
    limits: Array,
    switching: Switching,
    alone: Array,
) -> tuple[Array, float, float]:
    """(y, value, bound) of the best mix; ``alone`` is the value of each feasible single arm, or −∞.

    For k arms: maximise min_k R_k·y subject to Σ y_a (C_a + k s/P) = 1, A y ≤ b, y ≥ 0, at most k
    of them positive.
    """
    single = int(np.argmax(alone))
    rate = switching.cost / switching.period
    # A vertex has at most this many arms, and more of them only cost more.
    most = min(arms.size, limits.size + rewards.shape[0])
    search = _Search(float(alone[single]))
    # From many to few: without a restriction the first gives a mix at once to prune with.
    for count in range(most, 1, -1):
        cycles = arms.cycles + count * rate
        program = RatioProgram(rewards, cycles, rows, limits, np.zeros((0, arms.size)))
        search.run(program, count)
    if search.y is None:
        if not np.isfinite(alone[single]):
            raise InfeasibleError(
                "the constraints can be met by a mix only without the cost of switching; "
                "loosen one, or lengthen the period"
            )
        y = np.zeros(arms.size)
        y[single] = 1.0 / arms.cycles[single]
        return y, float(alone[single]), max(float(alone[single]), search.bound)
    return search.y, search.value, max(search.value, search.bound)


class _Search:
    """Branch and bound over which arms may be used, from a value that is known already."""

    def __init__(self, value: float) -> None:
        self.value = value
        self.bound = value
        self.y: Array | None = None
        self.nodes = 0

    def run(self, program: RatioProgram, count: int) -> None:
        """Look for a better mix of at most ``count`` arms."""
        everything = np.ones(program.cycles.size, dtype=bool)
        self._visit(program, count, np.zeros_like(everything), everything)

    def _visit(self, program: RatioProgram, count: int, fixed: Array, allowed: Array) -> None:
        self.nodes += 1
        if self.nodes > _MOST_NODES:
            raise SolverError(
                f"the mix with switching was not decided within {_MOST_NODES} linear programs; "
                "plan for fewer arms or constraints"
            )
        found = _relaxed(program, allowed)
        if found is None:
            return
        if found.upper_bound <= self.value + _CLOSED * abs(self.value):
            self.bound = max(self.bound, found.upper_bound)
            return
        used = found.y * program.cycles > _USED
        if np.count_nonzero(used) <= count:
            self.bound = max(self.bound, found.upper_bound)
            if found.value > self.value:
                self.y, self.value = found.y, found.value
            return
        free = np.where(used & ~fixed, found.y * program.cycles, -np.inf)
        branch = np.zeros_like(fixed)
        branch[int(np.argmax(free))] = True
        taken = fixed | branch
        full = np.count_nonzero(taken) == count
        self._visit(program, count, taken, taken if full else allowed)
        self._visit(program, count, fixed, allowed & ~branch)


def _relaxed(program: RatioProgram, allowed: Array) -> RatioSolution | None:
    """The best mix of the allowed arms, however many; None where they meet no rows together.

    In shares of time, so that all variables and rows are of size one.
    """
    from scipy.optimize import linprog

    arms = np.flatnonzero(allowed)
    cycles, cases = program.cycles[arms], program.rewards.shape[0]
    rates = program.rewards[:, arms] / cycles
    rows = program.rows[:, arms] / cycles
    largest = float(np.abs(rates).max()) or 1.0
    sizes = np.maximum(np.abs(rows).max(axis=1, initial=0.0), np.abs(program.limits))
    sizes[sizes == 0] = 1.0
    matrix = np.zeros((sizes.size + cases, arms.size + 1))
    matrix[: sizes.size, :-1] = rows / sizes[:, None]
    matrix[sizes.size :, :-1] = -rates / largest
    matrix[sizes.size :, -1] = 1.0
    solved = linprog(
        np.append(np.zeros(arms.size), -1.0),
        A_ub=matrix,
        b_ub=np.append(program.limits / sizes, np.zeros(cases)),
        A_eq=np.append(np.ones(arms.size), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * arms.size + [(None, None)],
        method="highs",
    )
    if solved.status == 2:
        return None
    if solved.status != 0:
        raise SolverError(
            f"the mix with switching was not solved: {solved.message}", "HiGHS", str(solved.status)
        )
    prices = -solved.ineqlin.marginals
    part = RatioProgram(
        program.rewards[:, arms],
        cycles,
        program.rows[:, arms],
        program.limits,
        np.zeros((0, arms.size)),
    )
    shares = np.where(solved.x[:-1] > _USED, solved.x[:-1], 0.0)
    found = certified(
        part, shares / cycles, prices[sizes.size :], largest * prices[: sizes.size] / sizes
    )
    y = np.zeros(program.cycles.size)
    y[arms] = found.y
    return RatioSolution(
        y,
        found.value,
        found.upper_bound,
        found.violation,
        found.reward_prices,
        found.row_prices,
        found.time_price,
    )
