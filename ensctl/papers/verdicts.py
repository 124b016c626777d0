"""What can be said of a printed statement, and of an experiment about it."""

from __future__ import annotations

from enum import Enum


class ClaimVerdict(Enum):
    """Verdict on one printed number or statement.

    ``REPRODUCED``: the recomputed value rounds to what is printed.  ``ARITHMETIC_SLIP``: it does
    not, under any reading.  ``DEPENDS_ON_CONVENTION``: it does under one reading that formula or
    words allow, nearly always the counting of the formula, and not under another.
    ``PROJECTION``: the paper itself labels it a projection, and its arithmetic is right.
    ``NOT_AS_STATED``: a statement in words that is false, or holds in a narrower range.
    ``NOT_CHECKABLE``: the paper does not say enough to compute it.

    Examples
    --------
    >>> from ensctl.papers import ClaimVerdict
    >>> ClaimVerdict.ARITHMETIC_SLIP.value
    'arithmetic slip'
    """

    REPRODUCED = "reproduced"
    ARITHMETIC_SLIP = "arithmetic slip"
    DEPENDS_ON_CONVENTION = "depends on convention"
    PROJECTION = "projection"
    NOT_AS_STATED = "not as stated"
    NOT_CHECKABLE = "not checkable"

    @property
    def good(self) -> bool:
        """Whether nothing needs to be said against the printed value."""
        return self in (ClaimVerdict.REPRODUCED, ClaimVerdict.PROJECTION)


class Outcome(Enum):
    """Verdict of an experiment on the criterion that it tests.

    ``STANDS``: the claim passes its test, or the announced failure occurs.  ``FALSIFIED``: it
    does not.  ``DEPENDS``: it passes under some readings or inputs and fails under others.
    ``OPEN``: the sample does not decide.

    Examples
    --------
    >>> from ensctl.papers import Outcome
    >>> Outcome.STANDS.value
    'stands'
    """

    STANDS = "stands"
    FALSIFIED = "falsified"
    DEPENDS = "depends"
    OPEN = "open"
