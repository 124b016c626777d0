"""A test that sees whether decoded text has the target's law, token by token.

Under the exact conditional law p(·|context), F(x−) + V p(x) with V uniform is uniform, and
independent of the past (randomised probability-integral transform).  Tokens of one text depend on
each other, so that counts of tokens cannot be compared by a chi-square test; these numbers can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count, read_only
from ensctl.display import Summarised
from ensctl.drafting.acceptance import as_generator
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned
from ensctl.simulation.ngram.corpus import encode
from ensctl.simulation.ngram.model import NgramModel

Array = NDArray[Any]

# Rows of 97 probabilities that are held at a time.
_ROWS = 1 << 13
# Below this many expected tokens per bin the chi-square law is not reached.
_FEWEST_PER_BIN = 5


@dataclass(frozen=True, eq=False)
class LosslessnessTest(Summarised):
    """Result of :func:`losslessness_test`.

    Attributes
    ----------
    p_value : float
        Chance of a statistic at least this large if the text has the target's law.
    statistic : float
        Chi-square.
    counts : (bins,) array of int, read-only
        Transforms in each bin.
    tokens : int
        Tokens tested.
    """

    p_value: float
    statistic: float
    counts: Array
    tokens: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "losslessness_test",
            {
                "p_value": self.p_value,
                "statistic": self.statistic,
                "counts": self.counts,
                "tokens": self.tokens,
            },
        )

    def __str__(self) -> str:
        verdict = "no sign of another law" if self.p_value > 0.001 else "NOT the target's law"
        return (
            f"{verdict}: p = {self.p_value:.3g}, chi-square {self.statistic:.4g} in "
            f"{self.counts.size} bins, {self.tokens} tokens"
        )


def losslessness_test(
    text: str,
    target: NgramModel,
    drafter: NgramModel | None = None,
    *,
    prompt: str = "\n",
    bins: int = 50,
    order: str = "p/q",
    seed: Any = 0,
) -> LosslessnessTest:
    """Chi-square test that every character has the law p(·|what came before).

    Characters are ordered by p/q, where faults of an acceptance rule shift mass from one end to the
    other; without a drafter by p.  Faults in the use of random numbers need not follow p/q: one
    uniform number that decides on a draft and draws its correction is seen in the order in which
    corrections are drawn, that of the alphabet.

    Parameters
    ----------
    text : str
        What was decoded.
    target : NgramModel
        p.
    drafter : NgramModel, optional
        q.
    prompt : str
        What came before the text.
    bins : int
        Bins of equal probability, ≥ 2.
    order : {"p/q", "symbol"}
        How characters are ordered, "symbol" being their place in the alphabet.
    seed : int, Generator or None
        For the randomised transform.

    Returns
    -------
    LosslessnessTest

    Raises
    ------
    InvalidInputError
        Fewer than five characters per bin, no models, or an unknown order.

    Notes
    -----
    About 30 µs per character.

    Examples
    --------
    >>> from ensctl.simulation import losslessness_test, speculative_decode, train_ngrams
    >>> target = train_ngrams("to be or not to be, that is the question. " * 9, order=6)
    >>> found = speculative_decode(target, target.of_order(3), 2000, 4, seed=1)
    >>> losslessness_test(found.text, target, target.of_order(3)).p_value > 0.001
    True
    >>> losslessness_test("to be " * 300, target, target.of_order(3)).p_value < 1e-6
    True
    """
    if not isinstance(text, str) or not isinstance(prompt, str):
        raise InvalidInputError("text and prompt must be str; take the text of a DecodedText")
    for name, model in (("target", target), ("drafter", drafter)):
        if not isinstance(model, NgramModel) and (model is not None or name == "target"):
            raise InvalidInputError(f"{name} must be an n-gram model, got {type(model).__name__}")
    if order not in ("p/q", "symbol"):
        raise InvalidInputError(f'order must be "p/q" or "symbol", got {order!r}')
    number = as_count(bins, "bins", minimum=2)
    symbols, before = encode(text), encode(prompt)
    if len(symbols) < _FEWEST_PER_BIN * number:
        raise InvalidInputError(
            f"text must have at least {_FEWEST_PER_BIN * number} characters for {number} bins, got "
            f"{len(symbols)}"
        )
    generator = as_generator(seed)
    counts = np.zeros(number, dtype=np.int64)
    for start in range(0, len(symbols), _ROWS):
        part = symbols[start : start + _ROWS]
        past = (before + symbols[:start])[-16:]
        uniform = _transform(part, past, target, drafter, order, generator)
        places = np.minimum((uniform * number).astype(np.int64), number - 1)
        counts += np.bincount(places, minlength=number)
    expected = len(symbols) / number
    statistic = float(np.sum((counts - expected) ** 2) / expected)
    from scipy.special import chdtrc

    p_value = float(chdtrc(number - 1, statistic))
    return LosslessnessTest(p_value, statistic, read_only(counts), len(symbols))


def _transform(
    symbols: bytes,
    past: bytes,
    target: NgramModel,
    drafter: NgramModel | None,
    order: str,
    generator: np.random.Generator,
) -> Array:
    """F(x−) + V p(x) of each symbol, with symbols in this order."""
    p = target.rows_along(past, symbols)
    drawn = np.frombuffer(symbols, dtype=np.uint8).astype(np.int64)[:, None]
    if order == "symbol":
        key = np.zeros_like(p)
    else:
        key = p if drafter is None else p / drafter.rows_along(past, symbols)
    own = np.take_along_axis(key, drawn, axis=1)
    # Equal keys are ordered by symbol.
    earlier = (key < own) | ((key == own) & (np.arange(p.shape[1]) < drawn))
    below = np.where(earlier, p, 0.0).sum(axis=1)
    mass = np.take_along_axis(p, drawn, axis=1)[:, 0]
    uniform: Array = below + generator.random(drawn.size) * mass
    return uniform
