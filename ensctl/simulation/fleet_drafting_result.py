"""What came of steering a fleet by drafts, and of the loop that checks every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import read_only
from ensctl.display import Plotted, Summarised
from ensctl.drafting.acceptance_positions import PerPosition
from ensctl.drafting.convention import Convention
from ensctl.drafting.counters import Counters
from ensctl.drafting.estimate import Estimate
from ensctl.serialization import versioned
from ensctl.simulation.draft_verify.run import DraftRun
from ensctl.simulation.fleet_drafting_cost import FleetCostFit, fit_fleet_cost
from ensctl.simulation.thermostat_model import DutyModel
from ensctl.simulation.thermostat_rivals import InputPlan
from ensctl.simulation.thermostat_runs import FleetRun, run_fleet

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class FleetDraftingRun(Plotted, Summarised):
    """Result of :func:`fleet_drafting_run`.

    Attributes
    ----------
    tracking : FleetRun
        Reference, true power and inputs of every step.
    cycles : DraftRun
        Depth, accepted and committed inputs of every cycle.
    expected : (T,) float64, read-only
        ŷ of the committed inputs, kW.
    tolerance : float
        In kW.
    reapplied : (n,) array of int, read-only
        J, inputs that the pass of each cycle applied again.
    pass_ms, draft_ms : (n,) float64, read-only
        Processor time of the pass and of the drafter in each cycle, ms.
    engine : str
        What computed the passes.
    """

    _plot_function: ClassVar[str] = "fleet_drafting_cycles"

    tracking: FleetRun
    cycles: DraftRun
    expected: Array
    tolerance: float
    reapplied: Array
    pass_ms: Array
    draft_ms: Array
    engine: str

    @property
    def steps(self) -> int:
        """T, the inputs that were committed."""
        return int(self.expected.size)

    @property
    def cycle_ms(self) -> Array:
        """Draft and pass of every cycle, ms, (n,)."""
        return read_only(self.pass_ms + self.draft_ms)

    @property
    def ms_per_step(self) -> float:
        """Processor time of all cycles over committed inputs, ms."""
        return float(self.cycle_ms.sum()) / self.steps

    @property
    def rms_error(self) -> float:
        """Root mean square of (y − r)/nominal."""
        return self.tracking.rms_error

    def counters(self) -> Counters:
        """The cycles as a serving engine would count them; accepted are powers in tolerance."""
        return self.cycles.counters()

    def mean_length(self) -> Estimate:
        """E[L] in committed inputs per cycle."""
        return self.cycles.mean_length(Convention.COMMITTED)

    def acceptance(self) -> PerPosition:
        """S(j) as measured: the j-th power was within tolerance and all before it.

        Returns
        -------
        PerPosition
            The last hazard is continued beyond the depth of the run.
        """
        found = self.counters().hazards()
        pairs = zip(found.hazards, found.tested, strict=True)
        hazards = [estimate.value for estimate, tested in pairs if tested > 0]
        return PerPosition(hazards, tail=hazards[-1])

    def cost(self) -> FleetCostFit:
        """a + b K + c J from the cycles of this run; its depth must vary."""
        return fit_fleet_cost(self.cycles.drafted, self.reapplied, self.cycle_ms)

    def replay_error(self, model: DutyModel, *, z0: ArrayLike = 0.0) -> float:
        """Apply the committed inputs one by one to the fleet and compare the powers.

        Parameters
        ----------
        model : DutyModel
            The N members, from :func:`duty_model`.
        z0 : scalar or (N,)
            Temperatures at t = 0, as in the run.

        Returns
        -------
        float
            Largest |difference| relative to nominal power.
        """
        shown = self.tracking
        again = run_fleet(
            model, InputPlan(shown.inputs), shown.reference, ambient=shown.ambient, z0=z0
        )
        return float(np.abs(again.power - shown.power).max() / shown.nominal)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        names = ("expected", "tolerance", "reapplied", "pass_ms", "draft_ms", "engine")
        content = {name: getattr(self, name) for name in names}
        content["tracking"] = self.tracking.to_dict()
        content["cycles"] = self.cycles.to_dict()
        return versioned("fleet_drafting_run", content)

    def __str__(self) -> str:
        length = self.mean_length()
        alpha = self.counters().alpha()
        share = 100.0 / self.tracking.nominal
        return "\n".join(
            [
                f"{self.steps} inputs committed in {self.cycles.cycles} passes: "
                f"E[L] = {length.value:.3g} ± {length.std_error:.2g} of K = "
                f"{self.cycles.drafted.max()} (committed)",
                f"α = {alpha.value:.3f} ± {alpha.std_error:.2g}, tolerance "
                f"{share * self.tolerance:.3g} % of nominal power",
                f"rms error {100 * self.rms_error:.3g} %, worst "
                f"{100 * self.tracking.worst_error:.3g} % of {self.tracking.nominal:.6g} kW",
                f"{self.ms_per_step:.3g} ms of processor time per input: passes "
                f"{self.pass_ms.sum() / self.steps:.3g}, drafts "
                f"{self.draft_ms.sum() / self.steps:.3g} (engine {self.engine})",
                self.tracking.message,
            ]
        )


@dataclass(frozen=True, eq=False)
class FleetLoopRun(Summarised):
    """Result of :func:`fleet_one_step_run`.

    Attributes
    ----------
    tracking : FleetRun
        Reference, true power and inputs of every step.
    pass_ms, draft_ms : (T,) float64, read-only
        Processor time of the fleet and of the controller in each step, ms.
    """

    tracking: FleetRun
    pass_ms: Array
    draft_ms: Array

    @property
    def ms_per_step(self) -> float:
        """Processor time per step, ms."""
        return float(np.mean(self.pass_ms + self.draft_ms))

    @property
    def rms_error(self) -> float:
        """Root mean square of (y − r)/nominal."""
        return self.tracking.rms_error

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        content = {
            "pass_ms": self.pass_ms,
            "draft_ms": self.draft_ms,
            "tracking": self.tracking.to_dict(),
        }
        return versioned("fleet_loop_run", content)

    def __str__(self) -> str:
        return (
            f"{self.pass_ms.size} steps one by one: rms error {100 * self.rms_error:.3g} %, "
            f"{self.ms_per_step:.3g} ms of processor time per step"
        )
