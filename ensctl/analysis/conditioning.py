"""How well an ensemble can be steered in H steps: singular values, energies, distances, advice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.advice import conditioning_advice
from ensctl.analysis.controllability import Controllability
from ensctl.analysis.distances import (
    NearestPair,
    StructuredDistance,
    UncontrollabilityDistance,
    eising_distance,
    nearest_pair,
    structured_distance,
)
from ensctl.analysis.energies import MemberEnergies, member_energies, worst_unit_target
from ensctl.analysis.practicality import PracticalVerdict, practical_verdict_of_worst
from ensctl.analysis.steering_map import (
    SteeringMap,
    singular_values_of_map,
    steering_map,
)
from ensctl.arguments import as_horizon, read_only
from ensctl.display import Documented, Plotted
from ensctl.ensemble.ensemble import Ensemble
from ensctl.serialization import versioned
from ensctl.vandermonde.bounds import Bound, applicable_bounds

Array = NDArray[Any]

_TOLERANCES = (1e-3, 1e-6, 1e-10, float(np.finfo(float).eps))


@dataclass(frozen=True, eq=False)
class Conditioning(Plotted, Documented):
    """Result of :func:`conditioning`; every inexact number carries its bound.

    Attributes
    ----------
    ensemble : Ensemble
        The population.
    horizon : int or math.inf
        Number of steps H.
    verdict : Controllability
        The exact verdict at this horizon.
    singular_values : (k,) float64
        σ of the H-step steering map in descending order; 0 or inf outside the float64 range.
    log10_singular_values : (k,) float64
        log10 σ; −inf exactly where the map has no such direction.
    relative_error_bound : float
        Holds for every non-zero singular value.
    log10_cond : float
        log10 κ2 = log10 σ_max/σ_min; inf when the ensemble is not reachable.
    log10_cond_of_range : float
        The same over the non-zero singular values.
    log10_energy_per_member : (N,) float64
        log10 of the least Σ|u|² that moves member i to 1 and leaves the others at 0.
    energy_error_bounds : (N,) float64
        Relative error bound of each energy.
    log10_worst_energy : float
        log10 1/σ_min²: the energy of the unit displacement that costs most.
    worst_target : (N,) or None
        That displacement; None when some displacement cannot be reached at all.
    practical : PracticalVerdict or None
        What float64 inputs and errors of λ leave of the worst unit target (finite horizon).
    distance : UncontrollabilityDistance
        Distance to the nearest uncontrollable pair (Eising), any perturbation of (Λ, B).
    structured_distance : StructuredDistance or None
        Distance when only λ and b may change (one channel).
    nearest : NearestPair or None
        The two members whose λ are closest.
    bounds : tuple of Bound
        Theorems whose conditions this set meets, evaluated.
    advice : tuple of str
        What to change, with the gain of each change.
    """

    ensemble: Ensemble
    horizon: int | float
    verdict: Controllability
    singular_values: Array
    log10_singular_values: Array
    relative_error_bound: float
    log10_cond: float
    log10_cond_of_range: float
    log10_energy_per_member: Array
    energy_error_bounds: Array
    log10_worst_energy: float
    worst_target: Array | None
    practical: PracticalVerdict | None
    distance: UncontrollabilityDistance
    structured_distance: StructuredDistance | None
    nearest: NearestPair | None
    bounds: tuple[Bound, ...]
    advice: tuple[str, ...]

    _plot_function: ClassVar[str] = "singular_values"
    _html_function: ClassVar[str] = "conditioning_html"

    @property
    def cond(self) -> float:
        """κ2 as float64; inf when it overflows (use ``log10_cond``) or does not exist."""
        return _pow10(self.log10_cond)

    @property
    def energy_per_member(self) -> Array:
        """Energies as float64, (N,); inf where they overflow or no input does it."""
        with np.errstate(over="ignore"):
            return np.power(10.0, self.log10_energy_per_member)

    @property
    def worst_energy(self) -> float:
        """Energy of the worst unit target as float64; inf when it overflows."""
        return _pow10(self.log10_worst_energy)

    @property
    def float_floor(self) -> float:
        """Terminal error of the worst unit target that float64 cannot get below."""
        return math.inf if self.practical is None else self.practical.float_floor

    @property
    def lam_tolerance(self) -> float:
        """Error of λ that moves the end state of the worst unit target by 1 %."""
        return 0.0 if self.practical is None else self.practical.lam_tolerance

    def directions(self, tolerance: float = 1e-6) -> int:
        """Number of directions with σ ≥ tolerance · σ_max: the practical dimension."""
        if self.log10_singular_values.size == 0 or not np.isfinite(self.log10_singular_values[0]):
            return 0
        relative = self.log10_singular_values - self.log10_singular_values[0]
        return int(np.count_nonzero(relative >= math.log10(tolerance)))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1; non-finite numbers as strings."""
        return versioned(
            "conditioning",
            {
                "horizon": self.horizon,
                "members": self.ensemble.size,
                "channels": self.ensemble.channels,
                "rank": self.verdict.rank,
                "log10_singular_values": self.log10_singular_values,
                "relative_error_bound": self.relative_error_bound,
                "log10_cond": self.log10_cond,
                "cond": self.cond,
                "log10_cond_of_range": self.log10_cond_of_range,
                "log10_energy_per_member": self.log10_energy_per_member,
                "energy_error_bounds": self.energy_error_bounds,
                "log10_worst_energy": self.log10_worst_energy,
                "worst_target": self.worst_target,
                "practical": self.practical,
                "distance": self.distance,
                "structured_distance": self.structured_distance,
                "nearest": self.nearest,
                "practical_directions": {
                    f"{tolerance:.3g}": self.directions(tolerance) for tolerance in _TOLERANCES
                },
                "bounds": self.bounds,
                "advice": self.advice,
            },
        )

    def __str__(self) -> str:
        practical = "" if self.practical is None else f"\n{self.practical.sentence}"
        return (
            f"{self.verdict.sentence}{practical}\n"
            f"horizon                 {_horizon_text(self.horizon)}\n"
            f"condition number        {power_text(self.log10_cond)}"
            f"  (each σ within {self.relative_error_bound:.1e} relative)\n"
            f"worst unit target costs {power_text(self.log10_worst_energy)}\n"
            f"practical directions    {self.directions(1e-6)} of {self.verdict.dimension}"
            f" at 1e-6 of the largest\n"
            f"distance to uncontrollable {self.distance.value:.6g}"
        )
