"""The result of steering a huge population: one input, what it costs, and how far it misses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ensctl.arguments import Array
from ensctl.display import Summarised
from ensctl.formatting import horizon_text
from ensctl.serialization import versioned

_TRUSTED = 1e-8


@dataclass(frozen=True, eq=False)
class PopulationPlan(Summarised):
    """Result of :func:`steer_population`: min Σ_i w_i|x_{i,H} − target_i|² + ρ‖u‖².

    Attributes
    ----------
    inputs : (H,)
        u_0 … u_{H−1}, read-only; complex where b, target or x0 are.
    size : int
        N, the number of members.
    horizon : int
        H.
    ridge : float
        ρ.
    weighted_error : float
        Σ_i w_i|x_{i,H} − target_i|², of all members, simulated with these inputs.
    rms_error : float
        √(Σ_i|x_{i,H} − target_i|²/N), from the same simulation, without the weights.
    error : float
        Estimate of ‖δu‖/‖u‖ against the exact minimiser, from above: how far one more solve, for
        what the simulated members still miss, would move the inputs, plus ‖[R; √ρ I]‖/√ρ times
        the rounding, or the powers that r terms leave out.
    method : str
        "moments", or "tsqr" where the members fill too few directions for moments.
    terms : int
        r, the number of Chebyshev terms.
    interval : (float, float)
        The interval the terms live on.
    chunk : int
        Members read at once.
    """

    inputs: Array
    size: int
    horizon: int
    ridge: float
    weighted_error: float
    rms_error: float
    error: float
    method: str
    terms: int
    interval: tuple[float, float]
    chunk: int

    @property
    def energy(self) -> float:
        """‖u‖² = Σ_t |u_t|²."""
        return float((abs(self.inputs) ** 2).sum())

    @property
    def peak(self) -> float:
        """max_t |u_t|."""
        return float(abs(self.inputs).max())

    @property
    def objective(self) -> float:
        """Σ_i w_i|x_{i,H} − target_i|² + ρ‖u‖²."""
        return self.weighted_error + self.ridge * self.energy

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        content = {
            "inputs": self.inputs,
            "size": self.size,
            "horizon": self.horizon,
            "ridge": self.ridge,
            "objective": self.objective,
            "weighted_error": self.weighted_error,
            "rms_error": self.rms_error,
            "energy": self.energy,
            "peak": self.peak,
            "error": self.error,
            "method": self.method,
            "terms": self.terms,
            "interval": self.interval,
            "chunk": self.chunk,
        }
        return versioned("population_plan", content)

    def __str__(self) -> str:
        way = {
            "moments": "Chebyshev moments",
            "tsqr": "QR of all members (they fill too few directions for moments)",
        }[self.method]
        lo, hi = self.interval
        digits = f"inputs right within {self.error:.1e} relative (estimate)"
        if not self.error <= _TRUSTED:
            digits += "; raise the ridge for more digits"
        rms = self.rms_error if math.isfinite(self.rms_error) else math.inf
        return "\n".join(
            [
                f"{self.size} members end {rms:.6g} rms from their targets after "
                f"{horizon_text(self.horizon)}, the least possible at ridge {self.ridge:.3g}",
                f"energy {self.energy:.6g}, peak {self.peak:.6g}; objective {self.objective:.6g} = "
                f"weighted error {self.weighted_error:.6g} + ridge × energy",
                f"{way}: {self.terms} terms on [{lo:.6g}, {hi:.6g}], read by {self.chunk} members",
                digits,
            ]
        )
