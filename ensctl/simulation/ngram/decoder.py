"""Speculative decoding of text with n-gram models, from start to finish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ensctl.arguments import as_count
from ensctl.display import Summarised
from ensctl.drafting.acceptance import as_generator
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned
from ensctl.simulation.draft_verify.acceptance_rules import (
    AcceptanceRule,
    OptimalCoupling,
    RecursiveRejectionSampling,
    SpeculativeSampling,
    as_rule,
)
from ensctl.simulation.draft_verify.loop import draft_then_verify
from ensctl.simulation.draft_verify.run import DraftRun
from ensctl.simulation.ngram.corpus import decode, encode
from ensctl.simulation.ngram.drafters import NgramDrafter, PromptLookup
from ensctl.simulation.ngram.losslessness import LosslessnessTest, losslessness_test
from ensctl.simulation.ngram.model import NgramModel
from ensctl.simulation.ngram.verifier import TokenVerifier

Array = NDArray[Any]

_RULES: dict[str, type[Any]] = {
    "speculative sampling": SpeculativeSampling,
    "recursive rejection": RecursiveRejectionSampling,
    "optimal coupling": OptimalCoupling,
}


@dataclass(frozen=True, eq=False)
class DecodedText(Summarised):
    """Result of :func:`speculative_decode`.

    Attributes
    ----------
    run : DraftRun
        Cycles, accepted counts and exact acceptance probabilities.
    prompt : str
        What came before.
    target : NgramModel
        Whose law the text has.
    drafter : NgramModel or None
        The model that drafted, where it was one model.
    """

    run: DraftRun
    prompt: str
    target: NgramModel
    drafter: NgramModel | None

    @property
    def symbols(self) -> bytes:
        """The committed characters, encoded."""
        return bytes(self.run.committed)

    @property
    def text(self) -> str:
        """The committed characters; the replacement character is any one outside the alphabet."""
        return decode(self.symbols)

    def losslessness(
        self, *, bins: int = 50, order: str = "p/q", seed: Any = 0
    ) -> LosslessnessTest:
        """Whether the text has the target's law, by :func:`losslessness_test`."""
        return losslessness_test(
            self.text,
            self.target,
            self.drafter,
            prompt=self.prompt,
            bins=bins,
            order=order,
            seed=seed,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "decoded_text", {"prompt": self.prompt, "text": self.text, "run": self.run.to_dict()}
        )

    def __str__(self) -> str:
        return str(self.run)


def speculative_decode(
    target: NgramModel,
    drafter: Any,
    length: int,
    depth: Any,
    *,
    prompt: str = "\n",
    drafts: int = 1,
    rule: str | AcceptanceRule = "auto",
    seed: Any = None,
) -> DecodedText:
    """Write text with the target's law, of which a drafter guesses K characters at a time.

    Parameters
    ----------
    target : NgramModel
        p: the text is a sample of this model, whatever the drafter.
    drafter : NgramModel, PromptLookup, a sequence of models, or a mapping of those
        q; several models are pooled, one candidate from each at every unit; a mapping names
        drafters that a policy chooses from.
    length : int
        Characters; the last cycle is kept whole, so it can be a few more.
    depth : int, sequence, callable or Policy
        K, as in :func:`draft_then_verify`.
    prompt : str
        What the text goes on from.
    drafts : int
        m candidates at every unit from one model: m^K leaves.
    rule : str or AcceptanceRule
        "speculative sampling" for one draft; "recursive rejection" or, for m drafts of one model,
        "optimal coupling".  "auto" takes the first that fits in this order.
    seed : int, Generator or None
        Where the random numbers come from.

    Returns
    -------
    DecodedText

    Raises
    ------
    InvalidInputError
        Not models, or a rule that does not fit the drafts.

    Notes
    -----
    Wall-clock time of such small models says nothing about large ones: price cycles by a cost model
    with ``run.throughput``.

    Examples
    --------
    >>> from ensctl.simulation import speculative_decode, train_ngrams
    >>> target = train_ngrams("to be or not to be, that is the question. " * 9, order=6)
    >>> found = speculative_decode(target, target.of_order(3), 40, 4, prompt="to be", seed=1)
    >>> len(found.text) >= 40
    True
    >>> found.run.counters().constant_depth
    True
    """
    if not isinstance(target, NgramModel):
        raise InvalidInputError(f"target must be an n-gram model, got {type(target).__name__}")
    if not isinstance(prompt, str):
        raise InvalidInputError(f"prompt must be a str, got {type(prompt).__name__}")
    copies = as_count(drafts, "drafts")
    generator = as_generator(seed)
    named = drafter if isinstance(drafter, Mapping) else {"": drafter}
    pools = {name: _as_pool(entry, copies) for name, entry in named.items()}
    proposers: dict[str, Any] = {
        name: pool if isinstance(pool, PromptLookup) else NgramDrafter(pool, generator)
        for name, pool in pools.items()
    }
    widest = max((len(p) for p in pools.values() if not isinstance(p, PromptLookup)), default=1)
    verifier = TokenVerifier(target, _as_rule(rule, widest), generator)
    run = draft_then_verify(
        encode(prompt),
        proposers if isinstance(drafter, Mapping) else proposers[""],
        verifier,
        depth,
        units=as_count(length, "length"),
    )
    return DecodedText(run, prompt, target, drafter if isinstance(drafter, NgramModel) else None)


def _as_pool(drafter: Any, copies: int) -> list[NgramModel] | PromptLookup:
    if isinstance(drafter, PromptLookup):
        return drafter
    if isinstance(drafter, NgramModel):
        return [drafter] * copies
    models = list(drafter) if isinstance(drafter, list | tuple) else []
    if not models or any(not isinstance(model, NgramModel) for model in models):
        raise InvalidInputError(
            f"drafter must be an n-gram model, several, or PromptLookup, got "
            f"{type(drafter).__name__}"
        )
    if copies != 1:
        raise InvalidInputError(
            "drafts goes with one model; give the models as often as they draft"
        )
    return models


def _as_rule(rule: Any, candidates: int) -> AcceptanceRule:
    if rule == "auto":
        return SpeculativeSampling() if candidates == 1 else RecursiveRejectionSampling()
    if isinstance(rule, str):
        if rule not in _RULES:
            raise InvalidInputError(
                f"rule must be one of {', '.join(_RULES)} or 'auto', got {rule!r}"
            )
        made: AcceptanceRule = _RULES[rule]()
        return made
    return as_rule(rule)
