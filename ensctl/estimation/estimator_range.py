"""Data of absurd magnitudes end in one error of the package, not in NaN, warnings or LAPACK's."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ensctl.errors import EnsctlError, PrecisionError

P = ParamSpec("P")
T = TypeVar("T")

_ADVICE = "scale outputs, weights, states and noise to moderate units"


def within_float_range(function: Callable[P, T]) -> Callable[P, T]:
    """Let arithmetic overflow quietly, and turn what LAPACK or Python say of it into one error.

    The function itself checks that what it returns is finite: :func:`require_finite`.
    """

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                return function(*args, **kwargs)
        except EnsctlError:
            raise
        except (np.linalg.LinAlgError, ArithmeticError, ValueError) as error:
            raise PrecisionError(
                f"numbers leave the float64 range (1.8e308) on the way: {error}; {_ADVICE}"
            ) from error

    return guarded


def require_finite(what: str, *results: Any) -> None:
    """Refuse results that left the float64 range."""
    if not all(np.all(np.isfinite(result)) for result in results):
        raise PrecisionError(f"{what} leaves the float64 range (1.8e308); {_ADVICE}")
