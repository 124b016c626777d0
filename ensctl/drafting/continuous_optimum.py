"""The optimum of the throughput over real depths, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ensctl.arguments import as_scalar
from ensctl.display import Summarised
from ensctl.drafting.convention import Convention, as_convention
from ensctl.serialization import versioned

# z − ln(1 + z) from its series below this, where the difference would lose digits.
_SERIES_BELOW = 0.1
_SERIES_TERMS = 24
_STEPS = 60
# ln A is below the rounding of A beyond this.
_NO_LOGARITHM = 1e18


@dataclass(frozen=True)
class ContinuousOptimum(Summarised):
    """Result of :func:`continuous_optimum`.

    Attributes
    ----------
    depth : float
        K ≥ 0 of largest throughput over real K; inf where the throughput never stops rising.
    throughput : float
        E[L_K]/C(K) there (its limit where K is infinite).
    convention : Convention
        How the units of a cycle are counted.
    """

    depth: float
    throughput: float
    convention: Convention

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "continuous_optimum",
            {
                "depth": self.depth,
                "throughput": self.throughput,
                "convention": self.convention,
            },
        )

    def __str__(self) -> str:
        return (
            f"K = {self.depth:.12g}: {self.throughput:.8g} units per unit of cost "
            f"({self.convention.name.lower()}, over real depths)"
        )


def continuous_optimum(
    alpha: float,
    draft_cost: float,
    *,
    convention: Convention | str = Convention.WITH_BONUS,
    fixed: float = 1.0,
) -> ContinuousOptimum:
    """The real depth at which E[L_K]/(C_0 + K c) is largest.

    With L = −ln α and A = L C_0/c the committed optimum is

        K = −W_{−1}(−e^{−1−A})/L − C_0/c − 1/L = ln(1 + z)/L,   z − ln(1 + z) = A.

    The accepted length is α times the committed one, with the same optimum.  With bonus,
    K + 1 takes the place of K and C_0 − c that of C_0; K = 0 where that gives a negative depth.

    Parameters
    ----------
    alpha : float
        Acceptance of one unit, in [0, 1], independent from unit to unit.
    draft_cost : float
        c ≥ 0, cost of one drafted unit.
    convention : Convention or str
        How the units of a cycle are counted.
    fixed : float
        C_0 > 0, what a cycle costs besides its drafts.

    Returns
    -------
    ContinuousOptimum
        The limits at the ends: α = 0 gives 0; c = 0 gives inf for α > 0; α = 1 gives inf, with
        bonus only where c < C_0.

    Raises
    ------
    InvalidInputError
        α outside [0, 1], c < 0 or C_0 ≤ 0.

    Notes
    -----
    z is found by Newton's method on its own equation, which neither underflows where e^{−1−A}
    does nor loses digits at the branch point A → 0 (α → 1): relative accuracy about 1e-15 times
    the conditioning of L.  The best integer is one of the two neighbours, since the throughput is
    unimodal; the formula does not know K = 0 as off.

    Examples
    --------
    >>> from ensctl.drafting import continuous_optimum
    >>> best = continuous_optimum(0.7, 0.1, convention="committed")
    >>> round(best.depth, 12)
    5.216389064702
    >>> print(continuous_optimum(0.7, 0.1))
    K = 4.02453623929: 1.9808009 units per unit of cost (with_bonus, over real depths)
    """
    rate = as_scalar(alpha, "alpha", at_least=0, at_most=1)
    unit_cost = as_scalar(draft_cost, "draft_cost", at_least=0)
    counting = as_convention(convention)
    base = as_scalar(fixed, "fixed", above=0)
    bonus = counting is Convention.WITH_BONUS
    depth = _depth(rate, unit_cost, base - unit_cost if bonus else base, 1.0 if bonus else 0.0)
    return ContinuousOptimum(depth, _throughput(rate, unit_cost, base, depth, counting), counting)


def _depth(rate: float, unit_cost: float, base: float, shift: float) -> float:
    """argmax over n ≥ shift of (1 − α^n)/(base + n c), less the shift."""
    if rate == 0 or base <= 0:
        return 0.0
    if rate == 1 or unit_cost == 0:
        return math.inf
    decay = -_log(rate)
    terms = math.log1p(_branch(decay * (base / unit_cost))) / decay
    return max(0.0, terms - shift)


def _branch(excess: float) -> float:
    """z ≥ 0 with z − ln(1 + z) = A, that is −1 − W_{−1}(−e^{−1−A}).

    Newton's iterates of a convex function fall monotonically from a start above the root.
    """
    if excess > _NO_LOGARITHM:
        return excess
    z = excess + math.sqrt(2.0 * excess)
    for _ in range(_STEPS):
        step = (_gap(z) - excess) * (1.0 + z) / z if z > 0 else 0.0
        z -= step
        if abs(step) <= 1e-16 * z:
            break
    return z


def _gap(z: float) -> float:
    """z − ln(1 + z) without cancellation."""
    if z >= _SERIES_BELOW:
        return z - math.log1p(z)
    total = 0.0
    for power in range(_SERIES_TERMS, 1, -1):
        total = total * -z + 1.0 / power
    return total * z * z


def _log(rate: float) -> float:
    """ln α, accurate next to α = 1 where 1 − α is exact."""
    return math.log1p(-(1.0 - rate)) if rate >= 0.5 else math.log(rate)


def _throughput(
    rate: float, unit_cost: float, base: float, depth: float, counting: Convention
) -> float:
    """E[L_K]/(C_0 + K c) at a real depth or in the limit of infinite depth."""
    if math.isinf(depth):
        if rate < 1:
            head = rate if counting is Convention.ACCEPTED else 1.0
            return head / (1.0 - rate) / base
        return math.inf if unit_cost == 0 else 1.0 / unit_cost
    terms = depth + 1.0 if counting is Convention.WITH_BONUS else depth
    if rate == 1:
        length = terms
    elif rate == 0:
        length = 1.0 if counting is Convention.WITH_BONUS else 0.0
    else:
        length = -math.expm1(terms * _log(rate)) / (1.0 - rate)
    if counting is Convention.ACCEPTED:
        length *= rate
    return length / (base + depth * unit_cost)
