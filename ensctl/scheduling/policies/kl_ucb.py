"""KL-UCB on one acceptance rate per drafter: all its depths share their tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ensctl.scheduling.policies.arm_set import ArmSet
from ensctl.scheduling.policies.draft_share import DraftShare
from ensctl.scheduling.policies.policy import Policy, as_arms, key_of
from ensctl.scheduling.policies.state_json import require_number

_BISECTIONS = 18
_HIGHEST = 1.0 - 1e-9


@dataclass(frozen=True, slots=True)
class PooledState:
    """What KL-UCB has learned.

    Attributes
    ----------
    policy : str
        The policy it belongs to.
    cycles : int
        Cycles so far.
    accepted : tuple of float
        Accepted units of each drafter.
    tested : tuple of float
        Tested units of each drafter, rejected ones included.
    shares : tuple of DraftShare
        Share of the draft cost that each drafter pays.
    """

    policy: str
    cycles: int
    accepted: tuple[float, ...]
    tested: tuple[float, ...]
    shares: tuple[DraftShare, ...]


class KLUCB(Policy[PooledState]):
    """The arm with the greatest L_K(q)/C, q the upper confidence bound of the drafter's rate.

    q is the greatest rate with T·kl(α̂, q) ≤ ln t, where α̂ = A/T of all cycles of the drafter.

    Parameters
    ----------
    arms : ArmSet
        What there is to choose from.

    Notes
    -----
    A cycle of B streams tests A + B − n_K units: those accepted and one for every stream that did
    not accept all.  n_K is taken from positions where they are told, else it is what a constant
    rate with this total would give.  Garivier & Cappé (2011).

    Examples
    --------
    >>> from ensctl.scheduling import policies
    >>> policy = policies.KLUCB(policies.arm_set({"E": 0.1}, [2, 4]))
    >>> state = policy.update(policy.init(), 1, 20, batch=10)
    >>> state.accepted, state.tested
    ((10.0,), (16.18...,))
    """

    state_type: ClassVar[type] = PooledState
    uses_positions: ClassVar[bool] = True

    def __init__(self, arms: ArmSet) -> None:
        self.arms = as_arms(arms)
        self.key = key_of("kl-ucb", self.arms)

    def init(self, seed: int = 0) -> PooledState:
        """The state before the first cycle; the seed is not used."""
        drafters = len(self.arms.pool)
        zeros = (0.0,) * drafters
        return PooledState(self.key, 0, zeros, zeros, (DraftShare(),) * drafters)

    def _require_usable(self, state: PooledState) -> None:
        require_number(state.cycles, "cycles", 0)
        for count in (*state.accepted, *state.tested):
            require_number(count, "accepted and state.tested", 0.0)
        for share in state.shares:
            share.require_usable()

    def _select(self, state: PooledState, batch: int, context: float) -> int:
        bases, slopes = self.arms.lines(batch, context)
        log = math.log(state.cycles + 1.0)
        rates = [
            upper_rate(accepted, tested, log)
            for accepted, tested in zip(state.accepted, state.tested, strict=True)
        ]
        best, arm = -math.inf, 0
        arms = zip(self.arms.owner, self.arms.depths, bases, slopes, strict=True)
        for i, (owner, depth, base, slope) in enumerate(arms):
            length = 1.0 if owner < 0 else mean_length(rates[owner], depth)
            share = 1.0 if owner < 0 else state.shares[owner].value
            index = length / (base + share * slope)
            if index > best:
                best, arm = index, i
        return arm

    def _update(
        self,
        state: PooledState,
        action: int,
        total: float,
        batch: int,
        context: float,
        positions: tuple[float, ...] | None,
        cycle_time: float | None,
    ) -> PooledState:
        drafter, depth = self.arms.owner[action], self.arms.depths[action]
        accepted, tested, shares = state.accepted, state.tested, state.shares
        if drafter >= 0:
            kept = total - batch
            if positions is not None:
                full = positions[-1]
            else:
                full = batch * rate_of(total / batch, depth) ** depth
            accepted = _added(accepted, drafter, kept)
            tested = _added(tested, drafter, kept + batch - full)
            if cycle_time is not None:
                bases, slopes = self.arms.lines(batch, context)
                share = shares[drafter].with_cycle(cycle_time, bases[action], slopes[action])
                shares = (*shares[:drafter], share, *shares[drafter + 1 :])
        return PooledState(self.key, state.cycles + 1, accepted, tested, shares)


def mean_length(rate: float, depth: int) -> float:
    """L_K(α) = Σ_{j=0..K} α^j."""
    if rate > _HIGHEST:
        return depth + 1.0
    return float((1.0 - rate ** (depth + 1)) / (1.0 - rate))


def rate_of(length: float, depth: int) -> float:
    """The α with L_K(α) = length, by bisection."""
    return _bisect(lambda rate: mean_length(rate, depth) < length, 0.0)


def upper_rate(accepted: float, tested: float, log: float) -> float:
    """Greatest q with T·kl(A/T, q) ≤ log."""
    if tested <= 0.0:
        return 1.0
    rate = min(accepted / tested, _HIGHEST)
    bound = log / tested

    def within(q: float) -> bool:
        divergence = (1.0 - rate) * math.log((1.0 - rate) / (1.0 - q))
        if rate > 0.0:
            divergence += rate * math.log(rate / q)
        return divergence <= bound

    return _bisect(within, rate)


def _bisect(holds: Callable[[float], bool], low: float) -> float:
    high = 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _added(values: tuple[float, ...], position: int, more: float) -> tuple[float, ...]:
    return (*values[:position], values[position] + more, *values[position + 1 :])
