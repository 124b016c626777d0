"""Who drafts next and how deep: a fixed depth, a plan, or a policy that learns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ensctl.arguments import as_count
from ensctl.drafting.convention import as_depth
from ensctl.errors import InvalidInputError
from ensctl.scheduling.policies.policy import Policy


@dataclass(frozen=True)
class Choice:
    """What a schedule chose for one cycle.

    Attributes
    ----------
    drafter : str or None
        Name of the drafter; None is the only one there is.
    depth : int
        K ≥ 0; 0 is off.
    action : int
        The number of the arm where a policy chose, otherwise −1.
    """

    drafter: str | None
    depth: int
    action: int = -1


class Schedule(Protocol):
    """Chooses drafter and depth for every cycle; what it learns is in the state."""

    def init(self) -> Any:
        """The state before the first cycle."""

    def select(self, state: Any, cycle: int) -> Choice:
        """Drafter and depth of this cycle, counted from 0."""

    def update(self, state: Any, choice: Choice, accepted: int, committed: int) -> Any:
        """The state after a cycle that accepted and committed so many units."""


@dataclass(frozen=True)
class PlannedDepth:
    """Depths known in advance: one for all cycles, a table that repeats, or a function.

    Parameters
    ----------
    plan : int, sequence of int, or callable
        K; K of cycle t as plan[t mod len(plan)]; or plan(t).
    drafter : str, optional
        Name of the drafter, where there are several.

    Examples
    --------
    >>> from ensctl.simulation import PlannedDepth
    >>> schedule = PlannedDepth([4, 4, 0])
    >>> [schedule.select(None, cycle).depth for cycle in range(4)]
    [4, 4, 0, 4]
    """

    plan: int | Sequence[int] | Callable[[int], int]
    drafter: str | None = None

    def __post_init__(self) -> None:
        given: Any = self.plan
        if not (self.drafter is None or isinstance(self.drafter, str)):
            raise InvalidInputError(f"drafter must be a name or None, got {self.drafter!r}")
        if callable(given):
            return
        if isinstance(given, np.ndarray):
            given = np.atleast_1d(given)
        several = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str)
        table = given if several else (given,)
        if len(table) == 0:
            raise InvalidInputError("depth must have at least one entry, got an empty plan")
        object.__setattr__(self, "plan", tuple(as_depth(k, "depth") for k in table))

    def init(self) -> None:
        """Nothing is learned."""

    def select(self, state: Any, cycle: int) -> Choice:
        """K of this cycle."""
        if callable(self.plan):
            return Choice(self.drafter, as_depth(self.plan(cycle), f"depth of cycle {cycle}"))
        table: Any = self.plan
        return Choice(self.drafter, table[cycle % len(table)])

    def update(self, state: Any, choice: Choice, accepted: int, committed: int) -> None:
        """Nothing is learned."""


@dataclass(frozen=True, eq=False)
class PolicyDepth:
    """Drafter and depth chosen by a policy that learns from what was committed.

    Parameters
    ----------
    policy : Policy
        One of :mod:`ensctl.scheduling.policies`; its drafters are those of the run, by name.
    seed : int
        For policies that draw.
    batch : int
        The load the policy prices, B ≥ 1 streams; this run is one of them.
    context : float
        Mean number of tokens that each stream keeps.

    Examples
    --------
    >>> from ensctl.scheduling import policies
    >>> from ensctl.simulation import PolicyDepth
    >>> schedule = PolicyDepth(policies.KFUCB(policies.arm_set({"E": 0.1}, [2, 4])))
    >>> schedule.select(schedule.init(), 0)
    Choice(drafter='E', depth=4, action=2)
    """

    policy: Policy[Any]
    seed: int = 0
    batch: int = 1
    context: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy):
            raise InvalidInputError(
                f"policy must be one of ensctl.scheduling.policies, got "
                f"{type(self.policy).__name__}"
            )
        object.__setattr__(self, "batch", as_count(self.batch, "batch"))

    def init(self) -> Any:
        """The policy's first state."""
        return self.policy.init(self.seed)

    def select(self, state: Any, cycle: int) -> Choice:
        """The arm with the best index."""
        action = self.policy.select(state, batch=self.batch, context=self.context)
        arms = self.policy.arms
        owner = arms.owner[action]
        name = arms.pool[owner] if owner >= 0 else None
        return Choice(name, arms.depths[action], action)

    def update(self, state: Any, choice: Choice, accepted: int, committed: int) -> Any:
        """Tell the policy the total, as if every stream of the load had done the same."""
        positions = None
        if committed == accepted + 1:
            positions = [self.batch * (accepted >= j) for j in range(1, choice.depth + 1)]
        return self.policy.update(
            state,
            choice.action,
            self.batch * committed,
            batch=self.batch,
            context=self.context,
            positions=positions,
        )


def as_schedule(depth: Any) -> Schedule:
    """A schedule as it is, a policy as PolicyDepth, and anything else as PlannedDepth."""
    if isinstance(depth, Policy):
        return PolicyDepth(depth)
    if hasattr(depth, "select") and hasattr(depth, "update") and hasattr(depth, "init"):
        schedule: Schedule = depth
        return schedule
    return PlannedDepth(depth)
