"""The loop: propose K units, verify them in one pass, commit what passed, and count."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from ensctl.arguments import as_count, read_only
from ensctl.errors import InvalidInputError
from ensctl.simulation.draft_verify.depth import Choice, as_schedule
from ensctl.simulation.draft_verify.run import DraftRun
from ensctl.simulation.draft_verify.units import (
    EMPTY,
    Block,
    Proposer,
    Verifier,
    checked_block,
    checked_verdict,
)


def draft_then_verify(
    state: Any,
    proposer: Proposer[Any] | Mapping[str, Proposer[Any]],
    verifier: Verifier[Any],
    depth: Any,
    *,
    units: int | None = None,
    cycles: int | None = None,
) -> DraftRun:
    """Run cycles of draft and verification: the same loop for every kind of unit.

    A cycle asks the proposer for K units, hands them to the verifier, commits what the verifier
    says and goes on from the state it returns.  K = 0 asks the verifier for one unit without a
    draft.

    Parameters
    ----------
    state : object
        Where to start; proposers and verifiers read it, the loop does not.
    proposer : Proposer or mapping
        ``propose(state, K) -> Block``; several by name where a policy or plan chooses one.
    verifier : Verifier
        ``verify(state, block) -> Verdict``.
    depth : int, sequence of int, callable, Policy or schedule
        K of every cycle; a table that repeats; a function of the cycle number; a policy of
        :mod:`ensctl.scheduling.policies`; or anything with ``init``, ``select`` and ``update``.
    units : int, optional
        Stop once so many units are committed; the last cycle is kept whole.
    cycles : int, optional
        Stop after so many cycles.

    Returns
    -------
    DraftRun
        Committed units, the accepted count of every cycle, and the state at the end.

    Raises
    ------
    InvalidInputError
        Neither or both limits; no method ``propose`` or ``verify``; a draft with too many or no
        units; a verifier that accepts more than it was given, or commits nothing.

    Examples
    --------
    >>> from ensctl.simulation import Block, Verdict, draft_then_verify
    >>> class Count:
    ...     def propose(self, state, depth):
    ...         return Block([state + k for k in range(1, depth + 1)])
    >>> class NoMultiplesOfFour:
    ...     def verify(self, state, block):
    ...         good = 0
    ...         while good < len(block.units) and block.units[good] % 4:
    ...             good += 1
    ...         new = [*block.units[:good], state + good + 1]
    ...         return Verdict(good, new, new[-1])
    >>> run = draft_then_verify(0, Count(), NoMultiplesOfFour(), 3, units=8)
    >>> run.committed, run.accepted
    ((1, 2, 3, 4, 5, 6, 7, 8), array([3, 3]))
    """
    limit = _limits(units, cycles)
    _require_roles(proposer, verifier)
    schedule = as_schedule(depth)
    memory = schedule.init()
    committed: list[Any] = []
    chances: list[float] = []
    rows: list[tuple[int, int, int, int]] = []
    names: dict[str, int] = {}
    drafting = verifying = 0.0
    while len(rows) < limit[1] and len(committed) < limit[0]:
        choice = schedule.select(memory, len(rows))
        start = perf_counter()
        block = _draft(state, proposer, choice)
        drafted = perf_counter()
        verdict = checked_verdict(verifier.verify(state, block), len(block.units))
        verified = perf_counter()
        drafting += drafted - start
        verifying += verified - drafted
        accepted, length = int(verdict.accepted), len(verdict.committed)
        memory = schedule.update(memory, choice, accepted, length)
        state = verdict.state
        committed.extend(verdict.committed)
        chances.extend(verdict.chances)
        who = names.setdefault(choice.drafter, len(names)) if choice.drafter is not None else -1
        rows.append((choice.depth, len(block.units), accepted, who))
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    depths, counts, kept, owners = (read_only(column.copy()) for column in table.T)
    known = len(chances) == int(np.minimum(kept + 1, counts).sum())
    return DraftRun(
        tuple(committed),
        depths,
        counts,
        kept,
        owners,
        tuple(names),
        read_only(np.array(chances if known else [], dtype=np.float64)),
        state,
        memory,
        drafting,
        verifying,
    )


def _require_roles(proposer: Any, verifier: Any) -> None:
    named = proposer if isinstance(proposer, Mapping) else {"": proposer}
    for name, drafter in named.items():
        if not callable(getattr(drafter, "propose", None)):
            who = f"drafter {name!r}" if name else "proposer"
            raise InvalidInputError(
                f"{who} must have a method propose, got {type(drafter).__name__}"
            )
    if not callable(getattr(verifier, "verify", None)):
        raise InvalidInputError(
            f"verifier must have a method verify, got {type(verifier).__name__}"
        )


def _draft(state: Any, proposer: Any, choice: Choice) -> Block:
    if choice.depth == 0:
        return EMPTY
    who = "the drafter"
    if isinstance(proposer, Mapping):
        name = choice.drafter
        if name is None and len(proposer) == 1:
            (name,) = proposer
        if name not in proposer:
            raise InvalidInputError(
                f"proposer must have a drafter named {name!r}, has "
                f"{', '.join(repr(key) for key in proposer) or 'none'}"
            )
        proposer, who = proposer[name], f"drafter {name!r}"
    return checked_block(proposer.propose(state, choice.depth), choice.depth, who)


def _limits(units: Any, cycles: Any) -> tuple[float, float]:
    if (units is None) == (cycles is None):
        raise InvalidInputError(
            "give units or cycles, exactly one of them: after how much the run ends"
        )
    if units is not None:
        return as_count(units, "units"), np.inf
    return np.inf, as_count(cycles, "cycles")
