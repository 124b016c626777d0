"""The check that entry points make of their first argument."""

from __future__ import annotations

from typing import Any

from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError


def require_ensemble(value: Any) -> Ensemble:
    """Return ``value`` when it is an Ensemble.

    Raises
    ------
    InvalidInputError
        It is something else; the message says how to make one.
    """
    if isinstance(value, Ensemble):
        return value
    raise InvalidInputError(
        f"ens must be an Ensemble, got {type(value).__name__}; make one with ec.Ensemble(lam, b)"
    )
