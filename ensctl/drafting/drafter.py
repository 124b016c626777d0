"""A drafter: its name, how its drafts are accepted, and what its cycles cost."""

from __future__ import annotations

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
