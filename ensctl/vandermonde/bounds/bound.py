"""What a theorem says about one matrix: a number of any size, its direction and its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ensctl.formatting import pow10, power_text

Kind = Literal["lower", "upper", "equal", "asymptotic"]
Quantity = Literal["cond_1", "cond_2", "sigma_min", "sigma_max", "inverse_norm_1", "directions"]

_EPS = 2.0**-52
_SYMBOLS = {
    "cond_1": "κ₁(A)",
    "cond_2": "κ₂(A)",
    "sigma_min": "σ_min(A)",
    "sigma_max": "σ_max(A)",
    "inverse_norm_1": "‖A⁻¹‖₁",
    "directions": "number of practical directions",
}
_RELATIONS = {"lower": "≥", "upper": "≤", "equal": "=", "asymptotic": "~"}


@dataclass(frozen=True)
class Bound:
    """One theorem applied to A = diag(b)·[λ_i^j], nodes in rows, j = 0 … H−1.

    Attributes
    ----------
    name : str
        Short name of the theorem.
    quantity : str
        What is bounded: "cond_1" and "cond_2" (condition numbers in the 1- and 2-norm; the 1-norm
        is the ∞-norm of authors who put nodes in columns), "sigma_min" and "sigma_max" (extreme
        singular values), "inverse_norm_1", or "directions" (singular values above a tolerance).
    kind : str
        "lower" (quantity ≥ value), "upper" (≤), "equal", or "asymptotic" (their ratio tends to 1).
    log10_value : float
        log10 of the bound.  Lower and upper bounds are rounded outwards by more than the rounding
        errors made on the way, so they hold as they stand.
    condition : str
        What the theorem needs, and what was found.
    source : str
        Where the theorem is proved.
    """

    name: str
    quantity: Quantity
    kind: Kind
    log10_value: float
    condition: str
    source: str

    @property
    def value(self) -> float:
        """The bound itself; inf or 0 outside the float64 range."""
        return pow10(self.log10_value)

    def __str__(self) -> str:
        return (
            f"{_SYMBOLS[self.quantity]} {_RELATIONS[self.kind]} {power_text(self.log10_value)}"
            f"  ({self.name}: {self.condition})"
        )


def outwards(log10_value: float, kind: Kind, work: float) -> float:
    """Move a lower bound down, or an upper bound up, by ``work`` rounding units (in log10)."""
    sign = {"lower": -1.0, "upper": 1.0}.get(kind, 0.0)
    return float(log10_value + sign * work * _EPS)
