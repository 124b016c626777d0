"""Mixes that pay for every switch from one arm to another.

The shares are played in blocks, once each in a period of P cycles: k ≥ 2 arms need k switches, so
the mean cycle costs Σ x_aC_a + k s/P.  How many arms to use becomes a discrete choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count, as_scalar
from ensctl.convex.ratio_program import RatioProgram, violation
from ensctl.errors import InfeasibleError, SolverError
from ensctl.scheduling.arms import Arms

Array = NDArray[Any]


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

    Two or more arms, with z_a = 1 where arm a is in use and v_a = s z_a, s = Σ y:

        maximise w  subject to  w ≤ R_k·y,  Σ y_aC_a + (cost/P) Σ v_a = 1,  A y ≤ b,
        y_a ≤ v_a,  s − S(1 − z_a) ≤ v_a,  v_a ≤ S z_a,  S = 1/min C.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    n, cases = arms.size, rewards.shape[0]
    most = 1.0 / float(arms.cycles.min())
    rate = switching.cost / switching.period
    one, zero = np.eye(n), np.zeros((n, n))
    nothing = np.zeros((n, 1))
    blocks = [
        (np.block([[rewards, np.zeros((cases, 2 * n)), -np.ones((cases, 1))]]), 0.0, np.inf),
        (np.concatenate([arms.cycles, np.full(n, rate), np.zeros(n + 1)])[None], 1.0, 1.0),
        (np.hstack([-one, one, zero, nothing]), 0.0, np.inf),
        (np.hstack([-np.ones((n, n)), one, -most * one, nothing]), -most, np.inf),
        (np.hstack([zero, -one, most * one, nothing]), 0.0, np.inf),
    ]
    constraints = [LinearConstraint(matrix, low, high) for matrix, low, high in blocks]
    if limits.size:
        wide = np.hstack([rows, np.zeros((limits.size, 2 * n + 1))])
        constraints.append(LinearConstraint(wide, -np.inf, limits))
    bounds = Bounds(
        np.concatenate([np.zeros(3 * n), [-np.inf]]),
        np.concatenate([np.full(2 * n, most), np.ones(n), [np.inf]]),
    )
    integrality = np.concatenate([np.zeros(2 * n), np.ones(n), [0]])
    solved = milp(
        np.concatenate([np.zeros(3 * n), [-1.0]]),
        constraints=constraints,
        bounds=bounds,
        integrality=integrality,
        options={"mip_rel_gap": 1e-9},
    )
    single = int(np.argmax(alone))
    if solved.status == 2 or (solved.x is None and np.isfinite(alone[single])):
        if not np.isfinite(alone[single]):
            raise InfeasibleError(
                "the constraints can be met by a mix only without the cost of switching; "
                "loosen one, or lengthen the period"
            )
        return _only(arms, single), float(alone[single]), float(alone[single])
    if solved.x is None:
        raise SolverError(
            f"the mix with switching was not solved: {solved.message}", "HiGHS", str(solved.status)
        )
    used = solved.x[2 * n : 3 * n] > 0.5
    y = np.where(used, np.maximum(solved.x[:n], 0.0), 0.0)
    time = float(arms.cycles @ y) + rate * used.sum() * float(y.sum())
    y = y / time
    value, bound = float((rewards @ y).min()), -float(solved.mip_dual_bound)
    if alone[single] >= value * (1 - 1e-12):
        return _only(arms, single), float(alone[single]), max(float(alone[single]), bound)
    program = RatioProgram(rewards, arms.cycles, rows, limits, np.zeros((0, n)))
    if violation(program, y) > 1e-6:
        raise SolverError(
            "the mix with switching violates a constraint; rescale the costs", "HiGHS"
        )
    return y, value, max(value, bound)


def _only(arms: Arms, arm: int) -> Array:
    y = np.zeros(arms.size)
    y[arm] = 1.0 / arms.cycles[arm]
    return y
