"""The one place where cvxpy is imported, on first use: it takes half a second."""

from __future__ import annotations

from typing import Any

from ensctl.errors import MissingDependencyError


def modelling() -> Any:
    """The cvxpy module.

    Raises
    ------
    MissingDependencyError
        cvxpy is not installed.
    """
    try:
        import cvxpy
    except ImportError as error:
        raise MissingDependencyError(
            f"this program needs cvxpy, which cannot be imported ({error}); install cvxpy"
        ) from None
    return cvxpy
