"""What every policy is: init, select and update on explicit states that never change."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ensctl.arguments import as_count
from ensctl.errors import InvalidInputError
from ensctl.scheduling.policies.arm_set import ArmSet, rounded_context
from ensctl.scheduling.policies.state_json import decode, encode, require_alike


class PolicyState(Protocol):
    """What all states have: the key of the policy they belong to."""

    @property
    def policy(self) -> str: ...


S = TypeVar("S", bound=PolicyState)

# Totals are sums of whole tokens; engines that average print them as decimals.
_SLACK = 1e-9
# Whole numbers beyond are not exact in float64.
_MOST_STREAMS = 2**53


class Policy(ABC, Generic[S]):
    """Base of the policies: which arm to broadcast next, learned from totals.

    A policy is configuration and never changes; all that is learned is in the state, a frozen
    dataclass of numbers.  ``select`` and ``update`` are pure functions of their arguments, so one
    policy can serve many threads, and a state can be kept, sent or restored at any cycle.
    """

    state_type: ClassVar[type]
    uses_positions: ClassVar[bool] = False
    arms: ArmSet
    key: str

    @abstractmethod
    def init(self, seed: int = 0) -> S:
        """The state before the first cycle; ``seed`` matters to policies that draw."""

    def select(self, state: S, *, batch: int = 1, context: float = 0.0) -> int:
        """Number of the arm to broadcast.

        ``batch`` is the number of streams B ≥ 1 and ``context`` the mean number of tokens each of
        them keeps; a context is rounded to 5 binary digits.
        """
        self._check_state(state)
        streams, kept = _load(batch, context)
        return self._select(state, streams, kept)

    def update(
        self,
        state: S,
        action: int,
        total: float,
        *,
        batch: int = 1,
        context: float = 0.0,
        positions: Sequence[float] | None = None,
        cycle_time: float | None = None,
    ) -> S:
        """The state after a cycle of arm ``action`` that emitted ``total`` tokens.

        ``total`` is Σ_b X_b over the B streams, with bonus: between B and B(K + 1).
        ``positions`` are n_1..n_K, the streams with at least j accepted, where the engine tells
        them; ``cycle_time`` is what the cycle cost, in the unit of the cost models.

        Raises
        ------
        InvalidInputError
            An action that is not an arm, a total out of range or NaN, positions that contradict
            the total, or the state of another policy.  The state given stays as it was.
        """
        self._check_state(state)
        streams, kept = _load(batch, context)
        if type(action) is not int or not 0 <= action < self.arms.size:
            action = self._arm(action)
        depth = self.arms.depths[action]
        try:
            tokens = float(total)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInputError(f"total must be a number of tokens, got {total!r}") from None
        most = streams * (depth + 1)
        if not streams * (1 - _SLACK) <= tokens <= most * (1 + _SLACK):
            raise InvalidInputError(
                f"total of {self.arms.names[action]} for {streams} streams must be from {streams} "
                f"to {most}, got {total!r}; count accepted tokens and one per stream"
            )
        counts = None if positions is None else _positions(positions, tokens, streams, depth)
        if cycle_time is not None:
            cycle_time = _time(cycle_time)
        return self._update(state, action, tokens, streams, kept, counts, cycle_time)

    def to_dict(self, state: S) -> dict[str, Any]:
        """A state as JSON-safe data."""
        self._check_state(state)
        return encode(state)

    def from_dict(self, content: Mapping[str, Any]) -> S:
        """A state from what :meth:`to_dict` made, for a policy configured alike.

        Raises
        ------
        InvalidInputError
            Not such data, of another policy, or with fields that no state of this policy has.
        """
        state: S = decode(self.state_type, content)
        self._check_state(state)
        require_alike(state, self.init(), "state")
        self._require_usable(state)
        return state

    @abstractmethod
    def _select(self, state: S, batch: int, context: float) -> int: ...

    @abstractmethod
    def _update(
        self,
        state: S,
        action: int,
        total: float,
        batch: int,
        context: float,
        positions: tuple[float, ...] | None,
        cycle_time: float | None,
    ) -> S: ...

    def _require_usable(self, state: S) -> None:
        """Refuse numbers of a decoded state that select or update could not work with."""

    def _check_state(self, state: S) -> None:
        if type(state) is not self.state_type:
            raise InvalidInputError(
                f"state must be a {self.state_type.__name__}, got {type(state).__name__}; start "
                "with init()"
            )
        if state.policy != self.key:
            raise InvalidInputError(
                f"state belongs to another policy: {state.policy}; this is {self.key}"
            )

    def _arm(self, action: Any) -> int:
        try:
            number = as_count(action, "action", minimum=0)
        except InvalidInputError:
            number = -1
        if not 0 <= number < self.arms.size:
            raise InvalidInputError(
                f"action must be an arm from 0 to {self.arms.size - 1}, got {action!r}; take what "
                "select returned"
            )
        return number

    def __str__(self) -> str:
        return self.key


def as_arms(arms: Any) -> ArmSet:
    """Check that arms are an :class:`ArmSet`."""
    if not isinstance(arms, ArmSet):
        raise InvalidInputError(
            f"arms must be what policies.arm_set returns, got {type(arms).__name__}"
        )
    return arms


def key_of(kind: str, arms: ArmSet, *settings: object) -> str:
    """Text that tells policies apart by kind, settings and arms."""
    depths = [
        f"{name}:{','.join(str(arms.depths[i]) for i in arms.of(position))}"
        for position, name in enumerate(arms.pool)
    ]
    off = ["off"] if -1 in arms.owner else []
    return " ".join([kind, *(str(setting) for setting in settings), *off, *depths])


def _load(batch: Any, context: Any) -> tuple[int, float]:
    streams = batch
    if type(batch) is not int or not 1 <= batch <= _MOST_STREAMS:
        streams = as_count(batch, "batch")
        if streams > _MOST_STREAMS:
            raise InvalidInputError(f"batch must be a number of streams ≤ 2⁵³, got {batch!r}")
    try:
        kept = float(context)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(f"context must be a number of tokens, got {context!r}") from None
    if not 0.0 <= kept < math.inf:
        raise InvalidInputError(f"context must be finite and ≥ 0, got {context!r}")
    return streams, rounded_context(kept)


def _time(value: Any) -> float:
    try:
        time = float(value)
    except (TypeError, ValueError, OverflowError):
        time = math.nan
    if not 0.0 < time < math.inf:
        raise InvalidInputError(f"cycle_time must be finite and > 0, got {value!r}")
    return time


def _positions(values: Sequence[float], total: float, batch: int, depth: int) -> tuple[float, ...]:
    try:
        counts = tuple(float(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError("positions must be numbers n_1..n_K of streams") from None
    if len(counts) != depth:
        raise InvalidInputError(f"positions must have {depth} entries, got {len(counts)}")
    before = float(batch)
    for count in counts:
        if not 0.0 <= count <= before:
            raise InvalidInputError(
                f"positions must fall from {batch} at most to 0 at least, got {list(counts)}"
            )
        before = count
    if abs(batch + sum(counts) - total) > 1e-6 * total:
        raise InvalidInputError(
            f"positions make a total of {batch + sum(counts):g}, but total is {total:g}"
        )
    return counts
