"""Drafters of characters: smaller models, and looking the text up in itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count
from ensctl.drafting.acceptance import as_generator
from ensctl.errors import InvalidInputError
from ensctl.simulation.draft_verify.acceptance_rules import draw
from ensctl.simulation.draft_verify.units import Block
from ensctl.simulation.ngram.corpus import SYMBOLS
from ensctl.simulation.ngram.model import NgramModel

Array = NDArray[Any]

# m^K candidates of the last position; more is a slip of the caller.
_MOST_CANDIDATES = 100_000


class NgramDrafter:
    """Samples drafts from one model, or a tree of drafts with one branch from each of m models.

    Unit j of a block is the tuple of its m^j candidates; the evidence is the m laws behind the
    candidates of every node.  The state is the encoded text so far.

    Parameters
    ----------
    models : NgramModel or sequence of NgramModel
        One model drafts a chain.  m models, which may be the same one, draft m candidates after
        every candidate, so that the drafters are re-synchronised at every unit.
    rng : int, Generator or None
        Where the random numbers come from.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.simulation import NgramDrafter, train_ngrams
    >>> model = train_ngrams("abababab", order=2)
    >>> block = NgramDrafter([model, model], np.random.default_rng(0)).propose(b"", 2)
    >>> [len(unit) for unit in block.units]
    [2, 4]
    """

    def __init__(self, models: NgramModel | Sequence[NgramModel], rng: Any = None) -> None:
        pool: list[Any] = list(models) if isinstance(models, list | tuple) else [models]
        if not pool or any(not isinstance(model, NgramModel) for model in pool):
            raise InvalidInputError("models must be one n-gram model or several, see train_ngrams")
        self.models: tuple[NgramModel, ...] = tuple(pool)
        self.rng = as_generator(rng)

    def propose(self, state: bytes, depth: int) -> Block:
        """K units; unit j has m^j candidates."""
        branches = len(self.models)
        if depth * math.log(branches) > math.log(_MOST_CANDIDATES):
            raise InvalidInputError(
                f"a tree of {branches} drafts per unit and depth {depth} has too many candidates, "
                f"more than {_MOST_CANDIDATES}; use a smaller depth"
            )
        texts, units, evidence = [state], [], []
        for _ in range(depth):
            laws = [tuple(model.row(text) for model in self.models) for text in texts]
            level = tuple(draw(law, self.rng) for node in laws for law in node)
            units.append(level)
            evidence.append(laws)
            texts = [texts[k // branches] + bytes((symbol,)) for k, symbol in enumerate(level)]
        return Block(tuple(units), evidence)


class PromptLookup:
    """Drafts what followed the last earlier occurrence of the end of the text; no model.

    The draft is certain, q(x) = 1, so it is kept with chance p(x).  Without a match there is no
    draft.

    Parameters
    ----------
    longest, shortest : int
        Lengths of the end of the text that are looked for, the longest first.

    Examples
    --------
    >>> from ensctl.simulation import PromptLookup
    >>> from ensctl.simulation.ngram.corpus import decode, encode
    >>> block = PromptLookup(longest=3, shortest=2).propose(encode("one two one t"), 4)
    >>> decode(bytes(symbol for (symbol,) in block.units))
    'wo o'
    >>> PromptLookup().propose(encode("no match"), 4).stopped
    True
    """

    def __init__(self, longest: int = 8, shortest: int = 4) -> None:
        self.shortest = as_count(shortest, "shortest")
        self.longest = as_count(longest, "longest", minimum=self.shortest)

    def propose(self, state: bytes, depth: int) -> Block:
        """Up to K units; fewer, declared as such, where the text ends or nothing matches."""
        for length in range(min(self.longest, len(state) - 1), self.shortest - 1, -1):
            place = state.rfind(state[-length:], 0, len(state) - 1)
            if place >= 0:
                found = state[place + length : place + length + depth]
                units = tuple((symbol,) for symbol in found)
                return Block(units, [[(_CERTAIN[symbol],)] for symbol in found], len(found) < depth)
        return Block((), stopped=True)


_CERTAIN = np.eye(SYMBOLS)
_CERTAIN.setflags(write=False)
