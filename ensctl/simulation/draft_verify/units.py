"""What a drafter hands over, what a verifier answers, and the two roles themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from ensctl.errors import InvalidInputError

S_contra = TypeVar("S_contra", contravariant=True)


@dataclass(frozen=True, eq=False)
class Block:
    """A draft of K units, tokens or inputs or anything else that is committed in order.

    Parameters
    ----------
    units : sequence
        The drafted units, K of them; fewer only with ``stopped``.
    evidence : object
        Whatever the verifier needs beside the units: the drafter's distributions, predicted
        outputs.  The loop does not look at it.
    stopped : bool
        The drafter declares that it drafted fewer than K units on purpose, or none.

    Examples
    --------
    >>> from ensctl.simulation import Block
    >>> len(Block((3, 1, 4)).units)
    3
    """

    units: Sequence[Any]
    evidence: Any = None
    stopped: bool = False


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a verifier found: how many units it accepts, what is committed, and the state after.

    Parameters
    ----------
    accepted : int
        N: units of the draft that passed, 0 ≤ N ≤ K.
    committed : sequence
        The units to commit, N or N + 1 of them: the accepted ones and, where there is one, the
        correction after a rejection or the bonus after a full acceptance.
    state : object
        The state after the committed units.
    chances : sequence of float
        Where it is known, the exact probability that each tested unit was accepted, given what was
        committed before it: one for each of min(N + 1, K) tests.  Empty where it is not known.

    Examples
    --------
    >>> from ensctl.simulation import Verdict
    >>> Verdict(2, (3, 1, 5), state=None).accepted
    2
    """

    accepted: int
    committed: Sequence[Any]
    state: Any
    chances: Sequence[float] = ()


class Proposer(Protocol[S_contra]):
    """Drafts units from a state."""

    def propose(self, state: S_contra, depth: int) -> Block:
        """A block of ``depth`` ≥ 1 units; it must leave ``state`` as it is."""


class Verifier(Protocol[S_contra]):
    """Checks a block in one pass; an acceptance rule and the commit are its business."""

    def verify(self, state: S_contra, block: Block) -> Verdict:
        """Accept a prefix.  An empty block asks for one unit without a draft."""


EMPTY = Block((), stopped=True)


def checked_block(block: Any, depth: int, who: str) -> Block:
    """Refuse a draft that is none, is too long, or is short without saying so."""
    if not isinstance(block, Block):
        raise InvalidInputError(f"{who} must return a Block, got {type(block).__name__}")
    try:
        count = len(block.units)
    except TypeError:
        raise InvalidInputError(
            f"{who} must return units in a sequence, got {type(block.units).__name__}"
        ) from None
    if count > depth:
        raise InvalidInputError(
            f"{who} must draft {depth} units, got {count}; cut the draft to the depth asked for"
        )
    if count < depth and not block.stopped:
        drafted = "none" if count == 0 else str(count)
        raise InvalidInputError(
            f"{who} must draft {depth} units, got {drafted}; set stopped=True where a draft ends "
            f"early on purpose"
        )
    return block


def checked_verdict(verdict: Any, drafted: int, who: str = "the verifier") -> Verdict:
    """Refuse a verdict that accepts more than was drafted or commits something else."""
    if not isinstance(verdict, Verdict):
        raise InvalidInputError(f"{who} must return a Verdict, got {type(verdict).__name__}")
    accepted = verdict.accepted
    try:
        whole, committed, chances = int(accepted), len(verdict.committed), len(verdict.chances)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            f"{who} must return a count and sequences, got accepted={accepted!r}, "
            f"committed={verdict.committed!r}"
        ) from None
    if whole != accepted or not 0 <= whole <= drafted:
        raise InvalidInputError(
            f"{who} must accept from 0 to {drafted} units, what it was given, got {accepted!r}"
        )
    if committed == 0:
        raise InvalidInputError(
            f"{who} must commit at least one unit, got none after accepting {whole} of {drafted}; "
            "commit the correction, or the run never ends"
        )
    if not whole <= committed <= whole + 1:
        raise InvalidInputError(
            f"{who} must commit the {whole} accepted units and at most one of its own, "
            f"got {committed} units"
        )
    if chances not in (0, min(whole + 1, drafted)):
        raise InvalidInputError(
            f"{who} must give one chance for each of {min(whole + 1, drafted)} tests or none, "
            f"got {chances}"
        )
    try:
        fits = all(0.0 <= chance <= 1.0 for chance in verdict.chances)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise InvalidInputError(
            f"{who} must give chances from 0 to 1, got {verdict.chances!r}; leave them out where "
            "they are not known"
        )
    return verdict
