"""The result of robust steering: one input, and what it leaves in every population considered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.infeasibility import InfeasibilityCertificate
from ensctl.convex.optimality import OptimalityCertificate
from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import (
    EnsctlError,
    InfeasibleError,
    NotReachableError,
    PrecisionError,
    SolverError,
)
from ensctl.formatting import horizon_text
from ensctl.serialization import versioned
from ensctl.status import Status
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.robust_scenarios import Scenarios

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class RobustPlan(Summarised):
    """Result of :func:`robust`.

    Attributes
    ----------
    ensemble : Ensemble
        The nominal population.
    scenarios : Scenarios
        The populations it was fitted to: ``lam`` (S, N), ``gains`` (S, N, m).
    target, x0 : (N,)
        State asked for and initial state.
    horizon : int
        Number of steps H.
    objective : str
        "energy", "fuel" or "peak".
    limits : Limits
        What is respected.
    tol : (N,) or None
        Tolerance that was asked for; None: the worst error was minimised.
    status : Status
        How it ended.
    message : str
        The outcome in words.
    certificate : OptimalityCertificate, InfeasibilityCertificate or None
        Of the cost at this worst error or tolerance, or of infeasibility; None when the worst error
        is proved least but its cost was not settled.
    proof : InfeasibilityCertificate or None
        That no input has a worst error below ``worst_error_bound``.
    worst_error : float
        max |x_{i,H} − target_i| over members and the scenarios fitted; inf without inputs.
    worst_error_bound : float
        No input within the limits has a smaller worst error over these scenarios (proved); 0 when
        ``tol`` was given.
    fresh_error : float
        The same over scenarios that were not fitted.
    fresh_count : int
        How many those are.
    guaranteed_error : float
        Upper bound of the error over the whole intervals; inf when scenarios were given.
    nominal_error : float
        The error of the nominal population.
    lam_tolerance : float
        Largest common error of λ that keeps the nominal end state within 1 % of max|d|, to first
        order: .01 max|d| / max_i |∂x_{i,H}/∂λ_i|; 0 without inputs.
    """

    ensemble: Ensemble
    scenarios: Scenarios
    target: Array
    x0: Array
    horizon: int
    objective: str
    limits: Limits
    tol: Array | None
    status: Status
    message: str
    certificate: OptimalityCertificate | InfeasibilityCertificate | None
    proof: InfeasibilityCertificate | None
    worst_error: float
    worst_error_bound: float
    fresh_error: float
    fresh_count: int
    guaranteed_error: float
    nominal_error: float
    lam_tolerance: float
    _inputs: Array | None

    @property
    def success(self) -> bool:
        """Whether there is an input, with its proof."""
        return self.status.success

    @property
    def inputs(self) -> Array:
        """u_0 … u_{H−1}, (H,) for one channel and (m, H) for several.

        Raises
        ------
        InfeasibleError, NotReachableError, PrecisionError, SolverError
            There are none; the message says why.
        """
        if self._inputs is None:
            raise self.error()
        return self._inputs

    @property
    def energy(self) -> float:
        """Σ |u|²."""
        return float(np.sum(np.abs(self.inputs) ** 2))

    @property
    def fuel(self) -> float:
        """Σ |u|."""
        return float(np.sum(np.abs(self.inputs)))

    @property
    def peak(self) -> float:
        """max |u|."""
        return float(np.max(np.abs(self.inputs)))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        found = self._inputs is not None
        return versioned(
            "robust_plan",
            {
                "status": self.status,
                "success": self.success,
                "message": self.message,
                "objective": self.objective,
                "limits": self.limits,
                "horizon": self.horizon,
                "dt": self.ensemble.dt,
                "target": self.target,
                "x0": self.x0,
                "tol": self.tol,
                "inputs": self._inputs,
                "energy": self.energy if found else None,
                "fuel": self.fuel if found else None,
                "peak": self.peak if found else None,
                "scenarios": self.scenarios.count,
                "worst_error": self.worst_error,
                "worst_error_bound": self.worst_error_bound,
                "fresh_error": self.fresh_error,
                "fresh_count": self.fresh_count,
                "guaranteed_error": self.guaranteed_error,
                "nominal_error": self.nominal_error,
                "lam_tolerance": self.lam_tolerance,
            },
        )

    def error(self) -> EnsctlError:
        """The error that this outcome raises when ``throw`` is True."""
        if self.status is Status.NOT_REACHABLE:
            return NotReachableError(self.message)
        if self.status is Status.INFEASIBLE:
            return InfeasibleError(self.message, self.certificate)
        if self.status is Status.PRECISION_LIMITED:
            return PrecisionError(self.message)
        return SolverError(self.message)

    def __str__(self) -> str:
        lines = [self.message]
        if self._inputs is not None:
            whole = (
                ""
                if np.isinf(self.guaranteed_error)
                else f"; at most {self.guaranteed_error:.4g} in the whole intervals"
            )
            lines += [
                f"{horizon_text(self.horizon)}: energy {self.energy:.6g}, fuel {self.fuel:.6g}, "
                f"peak {self.peak:.6g}",
                f"worst error {self.worst_error:.4g} over {self.scenarios.count} scenarios fitted",
                f"{self.fresh_error:.4g} over {self.fresh_count} fresh ones{whole}",
                f"nominal error {self.nominal_error:.4g}; λ may be off by "
                f"{self.lam_tolerance:.2g} for 1 % of the displacement",
            ]
        return "\n".join(lines)
