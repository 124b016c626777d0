"""The known word nearest to a misspelt one."""

from __future__ import annotations

from collections.abc import Sequence

# Words that mean the same and are not spelt alike.
_SYNONYMS = {
    "eigenvalue": "lam",
    "eigenvalues": "lam",
    "lambdas": "lam",
    "pole": "lam",
    "poles": "lam",
    "gain": "b",
    "gains": "b",
    "weight": "c",
    "weights": "c",
    "feedthrough": "d",
    "label": "name",
    "labels": "names",
}


def nearest_word(word: str, known: Sequence[str]) -> str:
    """ ", did you mean 'x'?" for the nearest known word, or nothing when none is near.

    >>> nearest_word("lamda", ["lam", "b"])
    ", did you mean 'lam'?"
    >>> nearest_word("gains", ["lam", "b"])
    ", did you mean 'b'?"
    >>> nearest_word("temperature", ["lam", "b"])
    ''
    """
    from difflib import get_close_matches

    synonym = _SYNONYMS.get(word.lower())
    close = [synonym] if synonym in known else get_close_matches(word.lower(), known, n=1)
    return f", did you mean {close[0]!r}?" if close else ""
