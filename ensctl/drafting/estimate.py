"""One estimated number with its interval, standard error and the assumption behind them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ensctl.arguments import as_scalar
from ensctl.display import Summarised
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned


@dataclass(frozen=True)
class Estimate(Summarised):
    """A number read from data.

    Parameters
    ----------
    value : float
        The estimate.
    low, high : float
        Ends of the interval, low ≤ value ≤ high.
    std_error : float
        Standard error, ≥ 0; inf where the data do not give one.
    level : float
        Probability that the interval covers the truth, in (0, 1).
    method : str
        How value and interval were computed.
    unit : str
        Unit or convention of the number; empty for a probability.
    assumption : str
        What has to hold for the interval to be right.

    Examples
    --------
    >>> from ensctl.drafting import Estimate
    >>> print(Estimate(0.7, 0.68, 0.72, 0.01, method="accepted over tested"))
    0.7 (95 % interval 0.68 to 0.72, standard error 0.01; accepted over tested)
    """

    value: float
    low: float
    high: float
    std_error: float
    level: float = 0.95
    method: str = ""
    unit: str = ""
    assumption: str = ""

    def __post_init__(self) -> None:
        value = as_scalar(self.value, "value")
        low, high, error = float(self.low), float(self.high), float(self.std_error)
        if not low <= value <= high:
            raise InvalidInputError(f"low ≤ value ≤ high must hold, got {low}, {value}, {high}")
        if not error >= 0:
            raise InvalidInputError(f"std_error must be ≥ 0, got {error}")
        level = as_scalar(self.level, "level", above=0, below=1)
        for name, number in [
            ("value", value),
            ("low", low),
            ("high", high),
            ("std_error", error),
            ("level", level),
        ]:
            object.__setattr__(self, name, number)

    @classmethod
    def normal(
        cls,
        value: float,
        std_error: float,
        *,
        level: float = 0.95,
        lower: float = -math.inf,
        upper: float = math.inf,
        method: str = "",
        unit: str = "",
        assumption: str = "",
    ) -> Estimate:
        """value ± z·std_error with z the normal quantile of ``level``, cut to [lower, upper]."""
        from scipy.special import ndtri

        z = float(ndtri(0.5 + 0.5 * as_scalar(level, "level", above=0, below=1)))
        reach = z * std_error
        return cls(
            value,
            min(value, max(lower, value - reach)),
            max(value, min(upper, value + reach)),
            std_error,
            level,
            method,
            unit,
            assumption,
        )

    def covers(self, truth: float) -> bool:
        """Whether low ≤ truth ≤ high."""
        return self.low <= truth <= self.high

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "estimate",
            {
                "value": self.value,
                "low": self.low,
                "high": self.high,
                "std_error": self.std_error,
                "level": self.level,
                "method": self.method,
                "unit": self.unit,
                "assumption": self.assumption,
            },
        )

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        method = f"; {self.method}" if self.method else ""
        assumed = f"; assumes {self.assumption}" if self.assumption else ""
        return (
            f"{self.value:.6g}{unit} ({100 * self.level:g} % interval {self.low:.6g} to "
            f"{self.high:.6g}, standard error {self.std_error:.3g}{method}{assumed})"
        )
