"""The verifier of characters: a target model and an acceptance rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from ensctl.drafting.acceptance import as_generator
from ensctl.errors import InvalidInputError
from ensctl.simulation.draft_verify.acceptance_rules import (
    REJECTED,
    AcceptanceRule,
    as_rule,
    checked_law,
    draw,
)
from ensctl.simulation.draft_verify.units import Block, Verdict

Array = NDArray[Any]

# What prompt lookup can look back on.
_KEPT = 4096


class Target(Protocol):
    """Anything that gives the next distribution of an encoded text."""

    def row(self, symbols: bytes) -> Array:
        """p(·|text), (V,)."""


class TokenVerifier:
    """Tests drafts against a target; its committed characters have the target's law exactly.

    A neural target computes the distributions of all K + 1 positions in one pass.  Here those
    behind the first rejection are left out, for they are not used.

    Parameters
    ----------
    target : NgramModel
        Whose law is kept.
    rule : AcceptanceRule
        :class:`SpeculativeSampling`, or :class:`RecursiveRejectionSampling` or
        :class:`OptimalCoupling` for several drafts.
    rng : int, Generator or None
        Where the random numbers come from.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.simulation import Block, SpeculativeSampling, TokenVerifier, train_ngrams
    >>> verifier = TokenVerifier(
    ...     train_ngrams("abababab", order=2), SpeculativeSampling(), np.random.default_rng(0)
    ... )
    >>> len(verifier.verify(b"", Block((), stopped=True)).committed)
    1
    """

    def __init__(self, target: Target, rule: AcceptanceRule, rng: Any = None) -> None:
        if not callable(getattr(target, "row", None)):
            raise InvalidInputError(
                f"target must have a method row, got {type(target).__name__}; see train_ngrams"
            )
        self.target = target
        self.rule = as_rule(rule)
        self.rng = as_generator(rng)

    def verify(self, state: bytes, block: Block) -> Verdict:
        """Go down the draft as far as it is accepted; then the correction or the bonus."""
        if not isinstance(block, Block) or not isinstance(state, bytes):
            raise InvalidInputError(
                f"verify takes encoded text and a Block, got {type(state).__name__} and "
                f"{type(block).__name__}"
            )
        text, node = state, 0
        committed: list[int] = []
        chances: list[float] = []
        for j, unit in enumerate(block.units):
            law = checked_law(self.target.row(text), "the target distribution")
            laws, drafts = _candidates(block, j, unit, node, law.size)
            symbol, position, chance = _selected(
                self.rule.select(law, laws, drafts, self.rng), law.size, drafts
            )
            chances.append(chance)
            committed.append(symbol)
            text += bytes((symbol,))
            if position == REJECTED:
                return Verdict(j, committed, text[-_KEPT:], chances)
            node = node * len(laws) + position
        accepted = len(committed)
        bonus = draw(checked_law(self.target.row(text), "the target distribution"), self.rng)
        committed.append(bonus)
        return Verdict(accepted, committed, (text + bytes((bonus,)))[-_KEPT:], chances)


def _selected(found: Any, size: int, drafts: Sequence[int]) -> tuple[int, int, float]:
    """What a rule chose: a correction, or the draft it names."""
    try:
        symbol, position, chance = found
        fits = 0 <= symbol < size and REJECTED <= position < len(drafts)
    except (TypeError, ValueError):
        fits = False
    if not fits or (position != REJECTED and drafts[position] != symbol):
        raise InvalidInputError(
            f"a rule must select a unit below {size}, the position of the draft it is or "
            f"{REJECTED}, and a chance, got {found!r}"
        )
    return symbol, position, chance


def _candidates(
    block: Block, j: int, unit: Any, node: int, size: int
) -> tuple[Sequence[Array], Sequence[int]]:
    try:
        laws = block.evidence[j][node]
        drafts = unit[node * len(laws) : (node + 1) * len(laws)]
    except (TypeError, IndexError, KeyError):
        raise InvalidInputError(
            f"unit {j} of a draft must be a tuple of candidates with the distributions they were "
            f"drawn from in evidence[{j}], got {unit!r}"
        ) from None
    if not laws or len(drafts) != len(laws):
        raise InvalidInputError(
            f"unit {j} of a draft must have one candidate per distribution, got {len(drafts)} of "
            f"{len(laws)}"
        )
    for law, draft in zip(laws, drafts, strict=True):
        if law.shape != (size,):
            raise InvalidInputError(
                f"a draft distribution must have {size} entries like the target, got shape "
                f"{law.shape}"
            )
        checked_law(law, "a draft distribution")
        if not 0 <= draft < size or law[draft] <= 0.0:
            raise InvalidInputError(
                f"a drafted unit must have positive probability in its distribution, got {draft!r}"
            )
    return laws, drafts
