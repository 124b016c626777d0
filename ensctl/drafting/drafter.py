"""A drafter: its name, how its drafts are accepted, and what its cycles cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ensctl.drafting.acceptance import AcceptanceModel, as_acceptance
from ensctl.drafting.cost import CostModel, as_cost
from ensctl.errors import InvalidInputError


@dataclass(frozen=True)
class Drafter:
    """What a planner has to know of one drafter.

    Parameters
    ----------
    name : str
        How reports and tables call it.
    acceptance : AcceptanceModel or float
        How many of its units are kept; a number α is IID(α).
    cost : CostModel or float
        What a cycle costs; a number c_d is LinearCost(c_d), in verify passes.

    Examples
    --------
    >>> from ensctl.drafting import Drafter
    >>> drafter = Drafter("small", 0.7, 0.1)
    >>> print(drafter)
    small: IID(alpha=0.7), LinearCost(draft=0.1, verify=1.0, overhead=0.0, off=None,
        unit='verify passes')
    >>> drafter.cost.cycle(4)
    1.4
    """

    name: str
    acceptance: AcceptanceModel
    cost: CostModel

    def __init__(self, name: str, acceptance: Any, cost: Any) -> None:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInputError(f"name must be a non-empty text, got {name!r}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "acceptance", as_acceptance(acceptance))
        object.__setattr__(self, "cost", as_cost(cost))

    def __str__(self) -> str:
        return f"{self.name}: {self.acceptance}, {self.cost}"


def as_drafters(drafters: Sequence[Drafter]) -> list[Drafter]:
    """Check a list of drafters: at least one, with different names and costs in one unit.

    Parameters
    ----------
    drafters : sequence of Drafter
        The candidates.

    Returns
    -------
    list of Drafter
        The same, as a new list.

    Raises
    ------
    InvalidInputError
        None, something else than a drafter, equal names or different units.

    Examples
    --------
    >>> from ensctl.drafting.drafter import Drafter, as_drafters
    >>> len(as_drafters([Drafter("a", 0.5, 0.1), Drafter("b", 0.5, 0.1)]))
    2
    """
    pool = list(drafters) if isinstance(drafters, Iterable) else [drafters]
    if not pool:
        raise InvalidInputError("drafters must have at least one entry, got none")
    for i, drafter in enumerate(pool):
        if not isinstance(drafter, Drafter):
            raise InvalidInputError(
                f"drafters[{i}] must be a Drafter, got {type(drafter).__name__}"
            )
    names = [drafter.name for drafter in pool]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError(f"drafters must have different names, got {name!r} twice")
    units = sorted({drafter.cost.unit for drafter in pool})
    if len(units) > 1:
        raise InvalidInputError(f"drafters must have costs in one unit, got {', '.join(units)}")
    return pool
