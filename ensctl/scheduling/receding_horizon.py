"""Which arm in each of the next cycles when switching costs something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_count, as_scalar, read_only
from ensctl.errors import InfeasibleError, InvalidInputError, SolverError
from ensctl.serialization import versioned

Array = NDArray[Any]

_WHOLE = 1e-7


@dataclass(frozen=True, eq=False)
class CoupledBudget:
    """A budget over the whole horizon: Σ_h use_{arm of cycle h} ≤ limit.

    Parameters
    ----------
    use : array_like, (n,) or (H, n)
        What each arm uses in a cycle, or in each cycle of the horizon.
    limit : float
        What the horizon may use.
    name : str
        How errors call it.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> scheduling.CoupledBudget([0.0, 1.0], 3, "probes").name
    'probes'
    """

    use: ArrayLike
    limit: float
    name: str = "budget"


@dataclass(frozen=True, eq=False)
class HorizonSchedule:
    """Result of :func:`schedule_horizon`.

    Attributes
    ----------
    arms : (H,) array of int, read-only
        The arm of each cycle; the largest share where the budgets make shares fractional.
    shares : (H, n) array, read-only
        X; whole numbers unless budgets couple the cycles.
    value : float
        Σ g·X less the cost of switching, of the shares.
    switches : float
        Number of switches, ½ Σ |X_h − X_{h−1}|.
    method : str
        "dynamic program" or "linear program".
    """

    arms: Array
    shares: Array
    value: float
    switches: float
    method: str

    @property
    def fractional(self) -> bool:
        """Whether some cycle is shared between arms, which a lottery or finer blocks can play."""
        return bool(np.any(np.abs(self.shares - np.round(self.shares)) > _WHOLE))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "horizon_schedule",
            {
                "arms": self.arms,
                "value": self.value,
                "switches": self.switches,
                "method": self.method,
                "fractional": self.fractional,
            },
        )


def schedule_horizon(
    gains: ArrayLike,
    switch_cost: float,
    *,
    current: int | None = None,
    budgets: Sequence[CoupledBudget] = (),
) -> HorizonSchedule:
    """Arms for the next H cycles with the greatest total gain less the cost of switching.

    maximise Σ_h g_h·X_h − (s/2) Σ_h |X_h − X_{h−1}|₁ over shares X_h.  Without budgets the optimum
    is whole and comes from V_h(i) = g_h(i) + max(V_{h+1}(i), max_j V_{h+1}(j) − s).

    Parameters
    ----------
    gains : array_like, (H, n)
        g, for example L_a − T C_a at the load expected in each cycle.
    switch_cost : float
        s ≥ 0, in the unit of the gains.
    current : int, optional
        Arm now in use, which the first cycle may keep without cost; None: the first is free.
    budgets : sequence of CoupledBudget
        Couple the cycles; a linear program then gives shares that may be fractional.

    Returns
    -------
    HorizonSchedule

    Raises
    ------
    InvalidInputError
        Wrong shapes or a negative cost.
    InfeasibleError
        A budget that every schedule exceeds.

    Notes
    -----
    Dynamic program O(H n); ties keep the arm in use.  In a receding horizon only the first arm is
    played, then the problem is solved again.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> gains = [[1.0, 0.9], [0.0, 0.5], [1.0, 0.9]]
    >>> scheduling.schedule_horizon(gains, 0.6, current=0).arms
    array([0, 0, 0])
    >>> scheduling.schedule_horizon(gains, 0.05, current=0).arms
    array([0, 1, 0])
    """
    table = as_array(gains, "gains", real=True)
    if table.ndim != 2 or table.size == 0:
        raise InvalidInputError(f"gains must be (H, n), got shape {table.shape}")
    cost = as_scalar(switch_cost, "switch_cost", at_least=0.0)
    start = None if current is None else as_count(current, "current", minimum=0)
    if start is not None and start >= table.shape[1]:
        raise InvalidInputError(f"current must be < {table.shape[1]}, got {start}")
    if budgets:
        return _by_program(table, cost, start, budgets)
    return _by_recursion(table, cost, start)


def _by_recursion(gains: Array, cost: float, current: int | None) -> HorizonSchedule:
    steps, count = gains.shape
    after = np.zeros(count)
    goal = np.empty(steps, dtype=np.int64)
    stay = np.empty((steps, count), dtype=bool)
    for h in range(steps - 1, -1, -1):
        here = gains[h] + after
        goal[h] = int(np.argmax(here))
        stay[h] = here >= here[goal[h]] - cost
        # What being in arm i before cycle h is worth.
        after = np.where(stay[h], here, here[goal[h]] - cost)
    arms = np.empty(steps, dtype=np.int64)
    arm = goal[0] if current is None else current
    for h in range(steps):
        arm = arm if stay[h, arm] else goal[h]
        arms[h] = arm
    shares = np.zeros((steps, count))
    shares[np.arange(steps), arms] = 1.0
    before = arms[0] if current is None else current
    switches = int(np.count_nonzero(np.diff(np.concatenate([[before], arms]))))
    value = float(gains[np.arange(steps), arms].sum()) - cost * switches
    return HorizonSchedule(
        read_only(arms), read_only(shares), value, float(switches), "dynamic program"
    )


def _by_program(
    gains: Array, cost: float, current: int | None, budgets: Sequence[CoupledBudget]
) -> HorizonSchedule:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

    steps, count = gains.shape
    size = steps * count
    # X_h − X_{h−1} ≤ Z_h; half of |·|₁ is the mass that arrives, since both sum to one.
    move = eye_array(steps) - eye_array(steps, k=-1)
    arrive = hstack([kron(move, eye_array(count)), -eye_array(size)])
    before = np.zeros(size)
    if current is None:
        arrive = arrive.tocsr()[count:]
        before = before[count:]
    else:
        before[current] = 1.0
    uses, limits = _budget_rows(budgets, steps, count)
    rows = vstack([arrive, hstack([csr_array(uses), csr_array((len(budgets), size))])])
    whole = hstack([kron(eye_array(steps), np.ones((1, count))), csr_array((steps, size))])
    solved = linprog(
        np.concatenate([-gains.ravel(), np.full(size, cost)]),
        A_ub=rows,
        b_ub=np.concatenate([before, limits]),
        A_eq=whole,
        b_eq=np.ones(steps),
        method="highs",
    )
    if solved.status == 2:
        names = ", ".join(budget.name for budget in budgets)
        raise InfeasibleError(f"no schedule keeps the budgets ({names}); raise a limit")
    if solved.status != 0:
        raise SolverError(
            f"the schedule was not solved: {solved.message}", "HiGHS", str(solved.status)
        )
    shares = np.maximum(solved.x[:size].reshape(steps, count), 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.abs(shares - np.round(shares)) < _WHOLE] = np.round(
        shares[np.abs(shares - np.round(shares)) < _WHOLE]
    )
    first = shares[:1] if current is None else np.eye(count)[current][None]
    switches = 0.5 * float(np.abs(np.diff(np.vstack([first, shares]), axis=0)).sum())
    value = float((gains * shares).sum()) - cost * switches
    arms = np.argmax(shares, axis=1)
    return HorizonSchedule(read_only(arms), read_only(shares), value, switches, "linear program")


def _budget_rows(budgets: Sequence[CoupledBudget], steps: int, count: int) -> tuple[Array, Array]:
    rows, limits = [], []
    for i, budget in enumerate(budgets):
        if not isinstance(budget, CoupledBudget):
            raise InvalidInputError(
                f"budgets[{i}] must be a CoupledBudget, got {type(budget).__name__}"
            )
        use = as_array(budget.use, f"use of {budget.name}", real=True)
        if use.shape not in ((count,), (steps, count)):
            raise InvalidInputError(
                f"use of {budget.name} must be ({count},) or ({steps}, {count}), got {use.shape}"
            )
        rows.append(np.broadcast_to(use, (steps, count)).ravel())
        limits.append(as_scalar(budget.limit, f"limit of {budget.name}"))
    return np.array(rows), np.array(limits)
