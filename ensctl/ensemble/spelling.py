"""The known word nearest to a misspelt one."""

from __future__ import annotations

from collections.abc import Sequence


def nearest_word(word: str, known: Sequence[str]) -> str:
    """", did you mean 'x'?" for the nearest known word, or nothing when none is near.

    >>> nearest_word("lamda", ["lam", "b"])
    ", did you mean 'lam'?"
    >>> nearest_word("temperature", ["lam", "b"])
    ''
    """
    from difflib import get_close_matches

    close = get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return f", did you mean {close[0]!r}?" if close else ""
