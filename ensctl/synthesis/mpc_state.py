"""Where a receding-horizon controller is: the last input, the plan behind it, and its proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensctl.display import Plotted, Summarised
from ensctl.serialization import versioned
from ensctl.status import Status

if TYPE_CHECKING:
    from ensctl.estimation.estimator_state import EstimatorState

Array = NDArray[Any]

# An input limit counts as felt when it worsens the predicted error by this much.
_FELT = 1e-6


@dataclass(frozen=True, eq=False)
class MPCState(Plotted, Summarised):
    """State of :class:`MPC` between two steps.

    Attributes
    ----------
    step : int
        t, the number of inputs chosen so far.
    u : (m,) float64
        The last input u_{t−1}; before the first step the one given to :meth:`MPC.init`.
    estimate : EstimatorState or None
        What the estimator knows, when states come from the aggregate.
    plan : (m, H) float64
        The inputs planned at the last step, of which the first was applied; (m, 0) before.
    outputs : (p, H) float64
        The aggregate they were predicted to give; (p, 0) before.
    lower, upper : (m,) float64
        The input limits; ±inf is free.
    status : Status
        ``OPTIMAL``, or ``INACCURATE`` when the optimality conditions hold less well than 1e-9;
        the input limits hold either way.
    residual : float
        Relative residual of the optimality conditions, recomputed from the data.
    iterations : int
        Linear systems solved at the last step.
    at_limits : bool
        Whether a limit bends the plan.
    tracking_error : float
        Predicted rms distance from the reference over the horizon, weighted as in the cost; 0
        where only states have a target.
    unlimited_error : float
        The same for the best plan without any limits.
    output_excess : float
        Largest predicted violation of the soft output limits.
    """

    _plot_function: ClassVar[str] = "mpc_plan"

    step: int
    u: Array
    estimate: EstimatorState | None
    plan: Array
    outputs: Array
    lower: Array
    upper: Array
    status: Status
    residual: float
    iterations: int
    at_limits: bool
    tracking_error: float
    unlimited_error: float
    output_excess: float
    _multipliers: Array | None
    _acted: Array

    @property
    def out_of_reach(self) -> bool:
        """Whether the limits keep the outputs further from the reference than they would be."""
        felt = self.tracking_error - self.unlimited_error > _FELT * (1.0 + self.unlimited_error)
        return self.at_limits and felt

    @property
    def message(self) -> str:
        """The outcome of the last step in words."""
        if not self.plan.size:
            return "No step was made yet."
        if not self.status.success:
            return self.status.sentence
        if self.out_of_reach:
            return (
                f"The limits keep the outputs from the reference: predicted rms error "
                f"{self.tracking_error:.3g} instead of {self.unlimited_error:.3g}; it is tracked "
                f"as near as they allow."
            )
        return "The plan is optimal and was checked against the data."

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON-safe data (``"schema": 1``), without the estimate."""
        names = ("step", "u", "plan", "outputs", "lower", "upper", "status", "residual")
        more = ("at_limits", "tracking_error", "unlimited_error", "output_excess", "out_of_reach")
        content = {name: getattr(self, name) for name in (*names, *more)}
        return versioned("mpc_state", {**content, "message": self.message})

    def __str__(self) -> str:
        lines = [f"MPC after {self.step} steps: {self.message}"]
        if self.plan.size:
            inputs = ", ".join(f"{value:.6g}" for value in np.atleast_1d(self.u))
            lines += [
                f"  u                {inputs}{' (a limit bends the plan)' * self.at_limits}",
                f"  rms error ahead  {self.tracking_error:.3g}, without limits "
                f"{self.unlimited_error:.3g}",
                f"  soft limits      exceeded by {self.output_excess:.3g} at most",
                f"  optimality       residual {self.residual:.1e}, {self.iterations} systems",
            ]
        return "\n".join(lines)
