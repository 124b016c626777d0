"""Kinds of traffic that share the broadcast arm but accept differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ensctl.arguments import as_scalar
from ensctl.drafting.acceptance import AcceptanceModel, as_acceptance
from ensctl.errors import InvalidInputError


@dataclass(frozen=True)
class Region:
    """A share of the streams with an acceptance of its own.

    Parameters
    ----------
    name : str
        How constraints and reports call it.
    weight : float
        Share of the cycles, ≥ 0; weights are divided by their sum.
    acceptance : mapping of str to AcceptanceModel or float
        Acceptance by drafter name; drafters that are not named keep their own.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> scheduling.Region("code", 0.5, {"n-gram": 0.8}).weight
    0.5
    """

    name: str
    weight: float
    acceptance: Mapping[str, AcceptanceModel]

    def __init__(self, name: str, weight: float, acceptance: Mapping[str, Any]) -> None:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInputError(f"name must be a non-empty text, got {name!r}")
        if not isinstance(acceptance, Mapping):
            raise InvalidInputError(
                f"acceptance must map drafter names to models, got {type(acceptance).__name__}"
            )
        models = {
            str(key): as_acceptance(value, f"acceptance of {key!r}")
            for key, value in acceptance.items()
        }
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "weight", as_scalar(weight, "weight", at_least=0.0))
        object.__setattr__(self, "acceptance", MappingProxyType(models))
