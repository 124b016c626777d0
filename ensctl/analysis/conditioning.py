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
from ensctl.analysis.energies import member_energies, worst_unit_target
from ensctl.analysis.practicality import PracticalVerdict, judge
from ensctl.analysis.steering_map import SteeringMap, singular_values_of_map, steering_map
from ensctl.arguments import as_horizon, read_only
from ensctl.display import Documented, Plotted
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.formatting import horizon_text, pow10, power_text
from ensctl.serialization import versioned
from ensctl.vandermonde.bounds import Bound, applicable_bounds

Array = NDArray[Any]

# Terminal error that the practical verdict accepts, as a share of the target.
_TOLERANCE = 0.01
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
        return pow10(self.log10_cond)

    @property
    def energy_per_member(self) -> Array:
        """Energies as float64, (N,); inf where they overflow or no input does it."""
        with np.errstate(over="ignore"):
            return np.power(10.0, self.log10_energy_per_member)

    @property
    def worst_energy(self) -> float:
        """Energy of the worst unit target as float64; inf when it overflows."""
        return pow10(self.log10_worst_energy)

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
            f"horizon                 {horizon_text(self.horizon)}\n"
            f"condition number        {power_text(self.log10_cond)}"
            f"  (each σ within {self.relative_error_bound:.1e} relative)\n"
            f"worst unit target costs {power_text(self.log10_worst_energy)}\n"
            f"practical directions    {self.directions(1e-6)} of {self.verdict.dimension}"
            f" at 1e-6 of the largest\n"
            f"distance to uncontrollable {self.distance.value:.6g}"
        )


def conditioning(
    ens: Ensemble,
    horizon: int | float | None = None,
    *,
    certify: bool = False,
    real_inputs: bool | None = None,
) -> Conditioning:
    """How well the H-step map u → x_H − Λ^H x_0 of an ensemble is conditioned.

    Singular values of R_H = [Λ^{H−1}B … ΛB B], each to high relative accuracy whatever κ is; the
    energies min Σ|u|² of single members and of the worst unit displacement; what float64 and errors
    of λ leave of it; distances to uncontrollability; bounds that apply; advice.

    Parameters
    ----------
    ens : Ensemble
        The population; λ and b are taken as exact numbers.
    horizon : int or math.inf, optional
        Number of steps H ≥ 1; by default the number of members.  math.inf needs |λ| < 1.
    certify : bool
        Take the factors from ball arithmetic instead of float64 (always so for several channels).
    real_inputs : bool, optional
        True counts real dimensions: inputs must be real although λ or b are complex.

    Returns
    -------
    Conditioning

    Raises
    ------
    InvalidInputError
        H is not an integer ≥ 1, H = ∞ with some |λ| ≥ 1, |λ| ≥ 2^500, or N·H does not fit.
    PrecisionError
        Ball arithmetic does not become certain at the largest precision allowed.

    Notes
    -----
    Accuracy: ``relative_error_bound`` holds for every non-zero singular value (measured 1e-14 up to
    κ = 1e178).  Cost O(r² (N + H)), r = min(N, H); memory O(r (N + H)).
    Source: J. Demmel, SIAM J. Matrix Anal. Appl. 21 (1999) 562–580.

    Examples
    --------
    >>> import numpy as np, ensctl as ec
    >>> c = ec.conditioning(ec.Ensemble(np.linspace(0.1, 0.9, 30)))
    >>> f"{c.cond:.4e}"
    '6.5272e+27'
    >>> ec.conditioning(ec.families.roots_of_unity(16)).directions(0.5)
    16
    """
    require_ensemble(ens)
    steps = as_horizon(ens.size if horizon is None else horizon, infinite=True)
    steering = steering_map(ens, steps, real_inputs)
    verdict = steering.verdict

    sigma = singular_values_of_map(steering, certify=certify)
    energies = member_energies(steering)
    worst = worst_unit_target(steering)
    practical = None
    if worst is not None and steps != math.inf:
        practical = judge(ens, steering, worst, np.zeros(ens.size), _TOLERANCE)
    nearest = nearest_pair(ens.lam) if ens.size > 1 else None

    log10 = sigma.log10
    smallest = float(log10[verdict.rank - 1]) if verdict.reachable else -math.inf
    return Conditioning(
        ensemble=ens,
        horizon=steps,
        verdict=verdict,
        singular_values=read_only(sigma.values),
        log10_singular_values=read_only(log10),
        relative_error_bound=sigma.relative_error_bound,
        log10_cond=sigma.log10_cond if verdict.reachable else math.inf,
        log10_cond_of_range=sigma.log10_cond_of_range,
        log10_energy_per_member=read_only(energies.log10_energy),
        energy_error_bounds=read_only(energies.relative_error_bound),
        log10_worst_energy=-2.0 * smallest,
        worst_target=None if worst is None else read_only(_of_members(steering, worst)),
        practical=practical,
        distance=eising_distance(ens.lam, ens.gains),
        structured_distance=structured_distance(ens.lam, ens.gains),
        nearest=nearest,
        bounds=_bounds(steering),
        advice=conditioning_advice(ens, steering, sigma, energies, nearest),
    )


def _of_members(steering: SteeringMap, rows: Array) -> Array:
    """A displacement in the rows of the map, member by member (two rows x/√2, x̄/√2 are one x)."""
    _, first, copies = np.unique(steering.members, return_index=True, return_counts=True)
    return np.asarray(rows[first] * np.sqrt(copies))


def _bounds(steering: SteeringMap) -> tuple[Bound, ...]:
    """Theorems are about one channel and its distinct, non-zero rows."""
    if steering.channels > 1 or not steering.verdict.reachable:
        return ()
    return applicable_bounds(steering.lam, steering.gains[:, 0], steering.horizon)
