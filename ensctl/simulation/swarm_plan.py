"""The plan of a swarm: one speed signal, where it leads, which errors of turn rates it bears."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.infeasibility import InfeasibilityCertificate
from ensctl.convex.optimality import OptimalityCertificate
from ensctl.display import Plotted, Summarised
from ensctl.errors import (
    EnsctlError,
    InfeasibleError,
    InvalidInputError,
    NotReachableError,
    PrecisionError,
    SolverError,
)
from ensctl.files import write_whole
from ensctl.formatting import horizon_text
from ensctl.serialization import versioned
from ensctl.simulation.swarm import Swarm
from ensctl.simulation.swarm_rates import HorizonRule
from ensctl.simulation.swarm_targets import plane_rows
from ensctl.status import Status

Array = NDArray[Any]

# Share of the height of the shape that errors of turn rate may cost.
TOLERATED_SHARE = 0.01


@dataclass(frozen=True)
class SwarmEnd:
    """Where a plan ends, computed anew from the speeds.

    Attributes
    ----------
    rms_error : float
        √(Σ|z_i(H) − point_i|²/N), in the unit of positions.
    turn_rate_tolerance : float
        Relative error of all turn rates, of independent signs, at which the rms error reaches 1 %
        of the height of the shape (first order).
    lam_tolerance : float
        The same for one absolute error |δλ| = |δω| of all robots, rad per step.
    """

    rms_error: float
    turn_rate_tolerance: float
    lam_tolerance: float


@dataclass(frozen=True, eq=False)
class SwarmPlan(Plotted, Summarised):
    """Result of :meth:`Swarm.steer_to`.

    Attributes
    ----------
    swarm : Swarm
        The robots.
    points : (N,) complex128
        The point of each robot.
    assignment : (N,) int
        Robot i goes to the given point number assignment[i].
    horizon : int
        Number of steps H.
    rule : HorizonRule
        Steps that are needed at least, and for a condition number of O(1).
    v_max : float or None
        Largest |v| allowed.
    status : Status
        How it ended; only ``Status.OPTIMAL`` has inputs.
    message : str
        The outcome in words.
    condition : float
        κ₂ of the map from speeds to displacements, σ_max/σ_min; inf where it is not full rank.
    minimum_energy : float
        Σ v² of the plan without a limit; inf where there is none.
    certificate : OptimalityCertificate, InfeasibilityCertificate or None
        Recomputed from the data.  Infeasibility: η = (Re w, Im w) with weights w of the robots in
        the plane, Re Σ w̄_i d_i > v_max Σ_t |Re Σ w̄_i e^{j(φ_i + ω_i t)}|.
    robots : tuple of int
        Robots that stand in the way when the answer is that nothing reaches the points.
    """

    swarm: Swarm
    points: Array
    assignment: Array
    horizon: int
    rule: HorizonRule
    v_max: float | None
    status: Status
    message: str
    condition: float
    minimum_energy: float
    certificate: OptimalityCertificate | InfeasibilityCertificate | None
    robots: tuple[int, ...]
    _end: SwarmEnd | None
    _inputs: Array | None

    _plot_function: ClassVar[str] = "swarm_picture"

    @property
    def success(self) -> bool:
        """Whether there are speeds, optimal and checked."""
        return self.status.success

    @property
    def inputs(self) -> Array:
        """Speeds v_0 … v_{H−1}, (H,) float64.

        Raises
        ------
        NotReachableError, InfeasibleError, PrecisionError, SolverError
            There are none; the message says why.
        """
        if self._inputs is None:
            raise self.error()
        return self._inputs

    @property
    def energy(self) -> float:
        """Σ v²."""
        return float(self.inputs @ self.inputs)

    @property
    def peak(self) -> float:
        """max |v|."""
        return float(np.abs(self.inputs).max())

    @property
    def rms_speed(self) -> float:
        """√(Σ v²/H)."""
        return float(np.sqrt(self.energy / self.horizon))

    @property
    def energy_ratio(self) -> float:
        """Energy over the least energy without a speed limit; 1 where nobody has to move."""
        energy = self.energy
        return energy / self.minimum_energy if self.minimum_energy > 0.0 else 1.0

    @property
    def rms_error(self) -> float:
        """√(Σ|z_i(H) − point_i|²/N) of a simulation with these speeds."""
        return self._ending().rms_error

    @property
    def turn_rate_tolerance(self) -> float:
        """Relative error of turn rates at which the rms error reaches 1 % of the height."""
        return self._ending().turn_rate_tolerance

    @property
    def lam_tolerance(self) -> float:
        """|δλ| of all robots, rad per step, at which the rms error reaches 1 % of the height."""
        return self._ending().lam_tolerance

    @property
    def final_positions(self) -> Array:
        """z(H), (N,) complex128."""
        return self.swarm.final_positions(self.inputs)

    def trajectories(self) -> Array:
        """z(0) … z(H), (N, H+1) complex128."""
        return self.swarm.trajectories(self.inputs)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1; positions and points as rows x, y."""
        found = self._inputs is not None
        return versioned(
            "swarm_plan",
            {
                "status": self.status,
                "success": self.success,
                "message": self.message,
                "robots": self.swarm.size,
                "horizon": self.horizon,
                "least_horizon": self.rule.least,
                "rule_horizon": self.rule.steps,
                "v_max": self.v_max,
                "peak": self.peak if found else None,
                "energy": self.energy if found else None,
                "minimum_energy": self.minimum_energy,
                "condition": self.condition,
                "rms_error": self.rms_error if found else None,
                "turn_rate_tolerance": self.turn_rate_tolerance if found else None,
                "lam_tolerance": self.lam_tolerance if found else None,
                "turn_rates": self.swarm.turn_rates,
                "headings": self.swarm.headings,
                "positions": plane_rows(self.swarm.positions),
                "points": plane_rows(self.points),
                "assignment": self.assignment,
                "inputs": self._inputs,
                "certificate": self.certificate and _certificate_data(self.certificate),
            },
        )

    def to_file(self, path: str | Path) -> Path:
        """Write the plan as JSON, or its speeds alone as CSV (step, v), whole or not at all.

        Parameters
        ----------
        path : str or Path
            Ends in .json or .csv.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InvalidInputError
            Another suffix, or the file cannot be written.
        """
        import json

        file = Path(path)
        if file.suffix.lower() == ".json":
            text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        elif file.suffix.lower() == ".csv":
            steps = [f"{t},{v!r}" for t, v in enumerate(self.inputs.tolist())]
            text = "\n".join(["step,v", *steps]) + "\n"
        else:
            raise InvalidInputError(f"path must end in .json or .csv, got {file.name!r}")
        write_whole(file, text)
        return file

    def error(self) -> EnsctlError:
        """The error that this outcome raises when ``throw`` is True."""
        if self.status is Status.NOT_REACHABLE:
            return NotReachableError(self.message, self.robots)
        if self.status is Status.INFEASIBLE:
            return InfeasibleError(self.message, self.certificate)
        if self.status is Status.PRECISION_LIMITED:
            return PrecisionError(self.message)
        return SolverError(self.message, "newton")

    def __str__(self) -> str:
        lines = [self.message]
        if self._inputs is not None:
            limit = "no limit" if self.v_max is None else f"limit {self.v_max:.6g}"
            lines += [
                f"horizon              {horizon_text(self.horizon)} (2N = {self.rule.least}, "
                f"rule {self.rule.steps}), condition number {self.condition:.3g}",
                f"speed                peak {self.peak:.6g} ({limit}), rms {self.rms_speed:.6g}",
                f"energy               {self.energy:.6g}, {self.energy_ratio:.4g} × the least "
                f"without a limit",
                f"turn-rate tolerance  {self.turn_rate_tolerance:.2g} relative "
                f"({self.lam_tolerance:.2g} rad per step): then the rms error is "
                f"{TOLERATED_SHARE:.0%} of the height",
            ]
        return "\n".join(lines)

    def _ending(self) -> SwarmEnd:
        if self._end is None:
            raise self.error()
        return self._end


def _certificate_data(
    certificate: OptimalityCertificate | InfeasibilityCertificate,
) -> dict[str, Any]:
    if isinstance(certificate, InfeasibilityCertificate):
        return {
            "kind": "infeasibility",
            "eta": certificate.eta,
            "margin": certificate.margin,
            "error_bound": certificate.error_bound,
            "arithmetic": certificate.arithmetic,
            "verified": certificate.verified,
        }
    return {
        "kind": "optimality",
        "primal_residual": certificate.primal_residual,
        "dual_residual": certificate.dual_residual,
        "gap": certificate.gap,
        "complementarity": certificate.complementarity,
        "verified": certificate.verified,
    }
