"""Where two depths are equally fast: the drafting cost, or the acceptance, at which they meet."""

from __future__ import annotations

import math
from typing import Any

from ensctl.arguments import as_scalar
from ensctl.drafting.acceptance import AcceptanceModel, as_acceptance
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.convert_length import expected_length
from ensctl.errors import InvalidInputError


def break_even_cost(
    acceptance: AcceptanceModel | float,
    depth: int,
    deeper: int,
    *,
    convention: Convention | str = Convention.WITH_BONUS,
    fixed: float = 1.0,
    off: float | None = None,
) -> float:
    """The cost of a drafted unit below which the deeper of two depths is faster.

    From E_K/(C_0 + K c) = E_K′/(C_0 + K′ c):  c = C_0 (E_K′ − E_K)/(K′ E_K − K E_K′).

    Parameters
    ----------
    acceptance : AcceptanceModel or float
        How many of K units are kept; a number α is IID(α).
    depth : int
        K ≥ 0; at K = 0 one unit for ``off``.
    deeper : int
        K′ > K.
    convention : Convention or str
        How the units of a cycle are counted.
    fixed : float
        C_0 > 0, what a cycle costs besides its drafts.
    off : float, optional
        Cost > 0 of a pass without drafts; default ``fixed``.

    Returns
    -------
    float
        c in the unit of ``fixed``; 0 or below where the deeper depth does not pay for free, inf
        where it pays at any cost.

    Raises
    ------
    InvalidInputError
        K′ ≤ K, α outside [0, 1], or a cost that is not positive.

    Examples
    --------
    >>> from ensctl.drafting import break_even_cost
    >>> round(break_even_cost(0.7, 4, 5, convention="committed"), 9)
    0.152677095
    >>> break_even_cost(0.25, 0, 1)
    0.25
    """
    model, (shallow, deep) = as_acceptance(acceptance), _ordered(depth, deeper)
    counting = as_convention(convention)
    base, single = _bases(fixed, off, shallow)
    short = 1.0 if shallow == 0 else model.expected_length(shallow, convention=counting)
    long = model.expected_length(deep, convention=counting)
    # E_K′/K′ < E_K/K wherever cost matters at all.
    room = deep * short - shallow * long
    gain = single * long - base * short
    if room <= 0:
        return math.inf if gain > 0 or room < 0 else 0.0
    return gain / room


def break_even_alpha(
    draft_cost: float,
    depth: int,
    deeper: int,
    *,
    convention: Convention | str = Convention.WITH_BONUS,
    fixed: float = 1.0,
    off: float | None = None,
) -> float:
    """The acceptance above which the deeper of two depths is faster.

    The root of E_K′(α)/E_K(α) = (C_0 + K′ c)/(C_0 + K c); the left side rises with α.

    Parameters
    ----------
    draft_cost : float
        c ≥ 0, cost of one drafted unit.
    depth : int
        K ≥ 0; at K = 0 one unit for ``off``.
    deeper : int
        K′ > K.
    convention : Convention or str
        How the units of a cycle are counted.
    fixed : float
        C_0 > 0, what a cycle costs besides its drafts.
    off : float, optional
        Cost > 0 of a pass without drafts; default ``fixed``.

    Returns
    -------
    float
        α in [0, 1], to about 1e-15; 0 where the deeper depth is never slower, inf where it is
        slower even at α = 1.

    Raises
    ------
    InvalidInputError
        K′ ≤ K or a cost out of range.

    Examples
    --------
    >>> from ensctl.drafting import break_even_alpha
    >>> round(break_even_alpha(0.152677095, 4, 5, convention="committed"), 8)
    0.7
    >>> break_even_alpha(0.9, 0, 1), break_even_alpha(1.2, 0, 1)
    (0.9, inf)
    """
    cost = as_scalar(draft_cost, "draft_cost", at_least=0)
    shallow, deep = _ordered(depth, deeper)
    counting = as_convention(convention)
    base, single = _bases(fixed, off, shallow)
    if shallow and counting is Convention.ACCEPTED:
        # α cancels from the ratio of two accepted lengths.
        counting = Convention.COMMITTED
    ratio = (base + deep * cost) / (single + shallow * cost)

    def excess(alpha: float) -> float:
        short = 1.0 if shallow == 0 else expected_length(alpha, shallow, convention=counting)
        return float(expected_length(alpha, deep, convention=counting) - ratio * short)

    if excess(0.0) >= 0:
        return 0.0
    at_one = excess(1.0)
    if at_one <= 0:
        return 1.0 if at_one == 0 else math.inf
    from scipy.optimize import brentq

    return float(brentq(excess, 0.0, 1.0, xtol=1e-300, rtol=1e-15))


def _ordered(depth: Any, deeper: Any) -> tuple[int, int]:
    shallow, deep = as_depth(depth), as_depth(deeper, "deeper", minimum=1)
    if deep <= shallow:
        raise InvalidInputError(f"deeper must be > depth = {shallow}, got {deep}; exchange them")
    return shallow, deep


def _bases(fixed: float, off: float | None, shallow: int) -> tuple[float, float]:
    """C_0 of the deeper depth, and of the shallower one, which is a plain pass at K = 0."""
    base = as_scalar(fixed, "fixed", above=0)
    plain = base if off is None else as_scalar(off, "off", above=0)
    return base, plain if shallow == 0 else base
