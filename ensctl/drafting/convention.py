"""What a length counts: draft units kept, units committed, or those plus the bonus unit."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_count
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# Survival arrays have K + 1 entries; a depth beyond this is a slip of the caller, not a plan.
MAX_DEPTH = 1_000_000


class Convention(Enum):
    """What is counted when a cycle of depth K accepts N ≤ K draft units.

    With survival S(j) = P(N ≥ j): ``ACCEPTED`` counts N, Σ_{j=1..K} S(j) on average;
    ``COMMITTED`` counts min(N + 1, K), Σ_{j=0..K−1} S(j), the correction after a rejection but no
    bonus after a full acceptance; ``WITH_BONUS`` counts N + 1, Σ_{j=0..K} S(j), what engines
    emit.

    Examples
    --------
    >>> from ensctl.drafting import Convention
    >>> print(Convention.WITH_BONUS)
    with_bonus: accepted draft units plus the verifier's own unit, 1 + N
    """

    ACCEPTED = "accepted"
    COMMITTED = "committed"
    WITH_BONUS = "with_bonus"

    @property
    def sentence(self) -> str:
        """What is counted, in words."""
        return _SENTENCES[self]

    @property
    def first(self) -> int:
        """First j of the sum of S(j) that is the mean length."""
        return 1 if self is Convention.ACCEPTED else 0

    def last(self, depth: int) -> int:
        """Last j of the sum of S(j) that is the mean length at this depth."""
        return depth - 1 if self is Convention.COMMITTED else depth

    def __str__(self) -> str:
        return f"{self.value}: {self.sentence}"


_SENTENCES = {
    Convention.ACCEPTED: "draft units that were kept, N",
    Convention.COMMITTED: "accepted draft units plus the correction, no bonus, min(N + 1, K)",
    Convention.WITH_BONUS: "accepted draft units plus the verifier's own unit, 1 + N",
}


def as_convention(value: Any, name: str = "convention") -> Convention:
    """Read a convention given as a member or by name.

    Parameters
    ----------
    value : Convention or str
        A member, or "accepted", "committed" or "with_bonus" in any case, with hyphen, blank or
        underscore.
    name : str
        How errors call the argument.

    Returns
    -------
    Convention
        The member.

    Raises
    ------
    InvalidInputError
        Anything else.

    Examples
    --------
    >>> from ensctl.drafting import as_convention
    >>> as_convention("With-Bonus").name
    'WITH_BONUS'
    """
    if isinstance(value, Convention):
        return value
    if isinstance(value, str):
        key = value.strip().lower().replace("-", "_").replace(" ", "_")
        for member in Convention:
            if member.value == key:
                return member
    raise InvalidInputError(
        f"{name} must be 'accepted', 'committed' or 'with_bonus', got {value!r}; "
        "take 'with_bonus' for what serving engines report"
    )


def as_depth(value: Any, name: str = "depth", *, minimum: int = 0) -> int:
    """Check a draft depth K: an integer from ``minimum`` to a million.

    Parameters
    ----------
    value : int
        The depth; 0 is off.
    name : str
        How errors call the argument.
    minimum : int
        Least depth allowed.

    Returns
    -------
    int
        The depth.

    Raises
    ------
    InvalidInputError
        Not an integer, or out of range.

    Examples
    --------
    >>> from ensctl.drafting import as_depth
    >>> as_depth(5)
    5
    """
    depth = as_count(value, name, minimum=minimum)
    if depth > MAX_DEPTH:
        raise InvalidInputError(
            f"{name} must be ≤ {MAX_DEPTH}, got {depth}; a depth that large never pays"
        )
    return depth


def as_depths(values: ArrayLike, name: str = "depths") -> Array:
    """Convert to a float array, of any shape, of whole depths from 0 to a million."""
    units = as_array(values, name, real=True)
    wrong = (units < 0) | (units > MAX_DEPTH) | (units != np.floor(units))
    if np.any(wrong):
        raise InvalidInputError(
            f"{name} must be integers from 0 to {MAX_DEPTH}, got {float(units[wrong].flat[0]):g}; "
            "0 is off"
        )
    return units
