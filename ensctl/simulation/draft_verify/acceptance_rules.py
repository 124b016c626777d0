"""Rules that turn drafts with law q into one unit with law p: none of them changes p."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError
from ensctl.simulation.draft_verify.optimal_coupling import coupling_plan

Array = NDArray[Any]

_SUM_TOLERANCE = 1e-6
# A draft that was rejected against every candidate.
REJECTED = -1


class AcceptanceRule(Protocol):
    """Chooses the next unit from drafts and the laws they were drawn from.

    Laws are taken to be distributions; :class:`~ensctl.simulation.TokenVerifier` checks that.
    """

    def select(
        self, target: Array, laws: Sequence[Array], drafts: Sequence[int], rng: np.random.Generator
    ) -> tuple[int, int, float]:
        """The unit, the position of the draft it is (−1 for a correction), and the exact chance
        that a draft is accepted."""


class SpeculativeSampling:
    """One draft x ~ q, kept with chance min(1, p(x)/q(x)); else a unit from (p − q)₊.

    The chance is α = Σ min(p, q), and the unit has law p (Leviathan et al. 2023).

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.simulation import SpeculativeSampling
    >>> p, q, rng = np.array([0.6, 0.4]), np.array([0.9, 0.1]), np.random.default_rng(0)
    >>> unit, position, chance = SpeculativeSampling().select(p, [q], [1], rng)
    >>> unit, position, round(chance, 12)
    (1, 0, 0.7)
    """

    def select(
        self, target: Array, laws: Sequence[Array], drafts: Sequence[int], rng: np.random.Generator
    ) -> tuple[int, int, float]:
        """The draft or the correction; α."""
        if len(drafts) != 1:
            raise InvalidInputError(
                f"speculative sampling takes one draft, got {len(drafts)}; several need "
                "RecursiveRejectionSampling or OptimalCoupling"
            )
        _require_drafts(target, laws, drafts)
        law, draft = laws[0], drafts[0]
        left = np.maximum(target - law, 0.0)
        chance = min(1.0, max(0.0, 1.0 - float(left.sum())))
        if rng.random() * law[draft] < target[draft]:
            return draft, 0, chance
        return draw(left, rng, otherwise=target), REJECTED, chance


class RecursiveRejectionSampling:
    """Drafts are tested in turn, each against what the last rejection left: p ← (p − q)₊.

    The chance is 1 − Π(1 − β_k) as in :func:`~ensctl.drafting.recursive_rejection`.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.simulation import RecursiveRejectionSampling
    >>> p, q = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.2, 0.6])
    >>> found = RecursiveRejectionSampling().select(p, [q, q], [2, 0], np.random.default_rng(0))
    >>> round(found[2], 12)
    0.7
    """

    def select(
        self, target: Array, laws: Sequence[Array], drafts: Sequence[int], rng: np.random.Generator
    ) -> tuple[int, int, float]:
        """The first draft that passes, or the correction; the chance of all rounds."""
        _require_drafts(target, laws, drafts)
        wanted, chosen, rejected = target, REJECTED, 1.0
        for k, (law, draft) in enumerate(zip(laws, drafts, strict=True)):
            if chosen == REJECTED and rng.random() * law[draft] < wanted[draft]:
                chosen = k
            left = np.maximum(wanted - law, 0.0)
            mass = float(left.sum())
            rejected *= mass
            if mass <= 0.0:
                break
            wanted = left / mass
        # The mass left by laws that share no unit can round to more than one.
        chance = max(0.0, 1.0 - rejected)
        if chosen != REJECTED:
            return drafts[chosen], chosen, chance
        return draw(wanted, rng), REJECTED, chance


class OptimalCoupling:
    """Independent drafts from one law, of which as many are kept as any rule can keep.

    The chance is α* = 1 − max_H [q(H)^m − p(H)], see
    :func:`~ensctl.simulation.draft_verify.optimal_coupling.coupling_plan`.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.simulation import OptimalCoupling
    >>> p, q = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.2, 0.6])
    >>> found = OptimalCoupling().select(p, [q, q], [2, 0], np.random.default_rng(0))
    >>> round(found[2], 12)
    0.74
    """

    def select(
        self, target: Array, laws: Sequence[Array], drafts: Sequence[int], rng: np.random.Generator
    ) -> tuple[int, int, float]:
        """The draft the coupling selects, if it passes, or the correction; α*."""
        _require_drafts(target, laws, drafts)
        law = laws[0]
        if any(other is not law and not np.array_equal(other, law) for other in laws[1:]):
            raise InvalidInputError(
                "the optimal coupling takes independent drafts from one law, got different ones; "
                "use RecursiveRejectionSampling"
            )
        plan = coupling_plan(target, law, len(drafts))
        position = plan.choose(drafts, rng)
        draft = drafts[position]
        if rng.random() * plan.selected[draft] < target[draft]:
            return draft, position, plan.acceptance
        left = np.maximum(target - plan.selected, 0.0)
        return draw(left, rng, otherwise=target), REJECTED, plan.acceptance


def _require_drafts(target: Array, laws: Sequence[Array], drafts: Sequence[int]) -> None:
    if not len(laws) or len(laws) != len(drafts):
        raise InvalidInputError(
            f"drafts must be one for each law and at least one, got {len(drafts)} of {len(laws)}"
        )
    for law in laws:
        if not isinstance(law, np.ndarray) or law.shape != getattr(target, "shape", None):
            raise InvalidInputError(
                "target and laws must be arrays of one size, got "
                f"{np.shape(target)} and {np.shape(law)}"
            )
    for draft in drafts:
        if not 0 <= draft < target.size:
            raise InvalidInputError(f"drafts must be from 0 to {target.size - 1}, got {draft!r}")


def draw(weights: Array, rng: np.random.Generator, *, otherwise: Array | None = None) -> int:
    """An index with probability in proportion to weights ≥ 0; ``otherwise`` where all are 0."""
    total = weights.cumsum()
    if total[-1] <= 0.0 and otherwise is not None:
        total = otherwise.cumsum()
    place = int(total.searchsorted(rng.random() * total[-1], side="right"))
    # Rounding can bring the product up to the total itself; then it is the last positive weight.
    return place if place < total.size else int(total.searchsorted(total[-1]))


def as_rule(rule: Any) -> AcceptanceRule:
    """Refuse what has no ``select``, and a class where one of its instances is meant."""
    if isinstance(rule, type) or not callable(getattr(rule, "select", None)):
        name = rule.__name__ if isinstance(rule, type) else type(rule).__name__
        raise InvalidInputError(
            f"rule must be an object with a method select, got {name}; such as "
            "SpeculativeSampling()"
        )
    checked: AcceptanceRule = rule
    return checked


def checked_law(law: Array, name: str) -> Array:
    """Refuse a distribution with negative entries or another sum than one."""
    total = float(law.sum())
    if not abs(total - 1.0) <= _SUM_TOLERANCE or law.min() < 0.0:
        raise InvalidInputError(
            f"{name} must be ≥ 0 and sum to one, got sum {total:.9g} and least entry "
            f"{float(law.min()):.3g}; divide it by its sum if that is meant"
        )
    return law
