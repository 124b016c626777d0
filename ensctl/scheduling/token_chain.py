"""A public fixture: requests of a token chain that switches between copying and free writing.

Tokens are free or copied: P(free → copy) = p_in, P(copy → copy) = p_st.  At every token each
drafter hits with a probability of its own in either state, and a verify step started at p emits
one token and the run of hits from p on, 20 at most, within the request.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count
from ensctl.drafting.cost import CostModel
from ensctl.drafting.cost_serving import BatchCost
from ensctl.errors import InvalidInputError
from ensctl.scheduling.policies.arm_set import ArmSet, arm_set
from ensctl.scheduling.position_traces import PositionTraces, joined_traces

Array = NDArray[Any]

NEURAL, NGRAM = "E", "N"
PROMPT = 200
_LONGEST_RUN = 20
# An n-gram drafter that finds no match that helps still drafts with this probability.
UNMATCHED = 0.3
_KEPT_IN_FAULT = 0.21
_FAULT_FROM, _FAULT_TO = 0.4, 0.7


@dataclass(frozen=True)
class ChainKind:
    """One kind of traffic: the chain, and hit probabilities (free, copied) of both drafters."""

    enter: float
    stay: float
    neural: tuple[float, float] = (0.66, 0.75)
    ngram: tuple[float, float] = (0.05, 0.95)


KINDS = {
    "code": ChainKind(0.02, 0.97),
    "chat": ChainKind(0.004, 0.95),
    "iid": ChainKind(0.0, 0.0, (0.66, 0.66), (0.15, 0.15)),
}


def token_chain(
    kind: str = "code",
    *,
    fault: bool = False,
    requests: int = 1500,
    tokens: int = 300,
    seed: int = 0,
) -> PositionTraces:
    """Requests of a kind of traffic, with a neural drafter E and an n-gram drafter N.

    Parameters
    ----------
    kind : str
        "code" (long copies), "chat" (rare short ones) or "iid" (hits independent: .66 and .15).
    fault : bool
        Whether E breaks down between 40 % and 70 % of the tokens: it keeps its first accepted
        token with probability .21 and then stops.
    requests, tokens : int
        Number of requests, and tokens of each.
    seed : int
        Of the chain.

    Returns
    -------
    PositionTraces
        Prompts have 200 tokens.  N drafts wherever something would be accepted, elsewhere with
        probability .3.

    Raises
    ------
    InvalidInputError
        Another kind, or a count < 1.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> print(scheduling.token_chain("code", requests=10))
    10 requests, 3000 tokens, drafters E, N
    """
    if kind not in KINDS:
        raise InvalidInputError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    rows, columns = as_count(requests, "requests"), as_count(tokens, "tokens")
    rule = KINDS[kind]
    rng = np.random.default_rng(as_count(seed, "seed", minimum=0))
    copied = _copied(rng, rule, rows, columns)
    emitted = {
        name: _emitted(rng.random(copied.shape) < np.where(copied, chances[1], chances[0]))
        for name, chances in ((NEURAL, rule.neural), (NGRAM, rule.ngram))
    }
    segments = None
    if fault:
        begin, end = round(_FAULT_FROM * rows), round(_FAULT_TO * rows)
        kept = rng.random((end - begin, columns)) < _KEPT_IN_FAULT
        broken = emitted[NEURAL][begin:end]
        emitted[NEURAL][begin:end] = np.where(kept, np.minimum(broken, 2), 1)
        bounds = sorted({0, begin, end, rows})
        segments = list(pairwise(bounds))
    flat = {name: array.ravel() for name, array in emitted.items()}
    lengths = np.full(rows, columns)
    return joined_traces(flat, lengths, PROMPT, {NGRAM: UNMATCHED}, segments, seed)


def fixture_costs() -> dict[str, CostModel]:
    """Costs of the fixture, in ms: published constants of an 8B model on one H100.

    Returns
    -------
    dict
        Drafter → cost model; E costs .712875 ms for each unit of depth, N .5875 % of verification.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> costs = scheduling.fixture_costs()
    >>> round(costs["E"].cycle(3, batch=16, context=350), 4)
    10.8092
    """
    return {NEURAL: BatchCost.h100_8b("linear"), NGRAM: BatchCost.h100_8b("ngram")}


def fixture_arms() -> ArmSet:
    """The 17 arms of the fixture: off, and E and N at depths 1, 2, 3, 4, 5, 6, 8 and 10.

    Returns
    -------
    ArmSet

    Examples
    --------
    >>> from ensctl import scheduling
    >>> scheduling.fixture_arms().size
    17
    """
    return arm_set(fixture_costs())


def _copied(rng: np.random.Generator, rule: ChainKind, rows: int, columns: int) -> Array:
    """Which tokens are copied; requests begin in the long-run mixture of states."""
    leave = 1.0 - rule.stay
    draws = rng.random((columns, rows))
    copied = np.empty((columns, rows), dtype=bool)
    copied[0] = draws[0] < rule.enter / (rule.enter + leave)
    for t in range(1, columns):
        copied[t] = draws[t] < np.where(copied[t - 1], rule.stay, rule.enter)
    return copied.T


def _emitted(hits: Array) -> Array:
    """One and the run of hits that starts at each token, cut at the end of the request."""
    runs = np.zeros(hits.shape[0], dtype=np.int64)
    emitted = np.empty(hits.shape, dtype=np.int64)
    for t in reversed(range(hits.shape[1])):
        runs = np.where(hits[:, t], runs + 1, 0)
        emitted[:, t] = 1 + np.minimum(runs, _LONGEST_RUN)
    return emitted
