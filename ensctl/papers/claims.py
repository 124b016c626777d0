"""All claims of both papers in reading order."""

from __future__ import annotations

from ensctl.papers.claim import Claim
from ensctl.papers.claims_broadcast_control import BROADCAST_CONTROL
from ensctl.papers.claims_broadcast_structure import BROADCAST_STRUCTURE
from ensctl.papers.claims_population_level import POPULATION_LEVEL


def claims() -> tuple[Claim, ...]:
    """Every numbered claim and formula of both papers, with how each is recomputed.

    Returns
    -------
    tuple of Claim
        First the paper known from quotations, then the one with its text.

    Examples
    --------
    >>> from ensctl.papers import claims
    >>> claims()[0].paper.value, len(claims()) > 80
    ('A', True)
    """
    return (*POPULATION_LEVEL, *BROADCAST_CONTROL, *BROADCAST_STRUCTURE)
