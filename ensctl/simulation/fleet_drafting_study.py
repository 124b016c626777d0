"""Which depth a fleet should be drafted at: predicted from a few cycles, and measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, as_vector, read_only
from ensctl.display import Plotted, Summarised
from ensctl.drafting.acceptance_positions import PerPosition
from ensctl.drafting.convention import Convention, as_depths
from ensctl.drafting.cost import LinearCost
from ensctl.drafting.estimate import Estimate
from ensctl.drafting.optimum import optimal_depth
from ensctl.drafting.optimum_result import DepthOptimum
from ensctl.ensemble.thermostat_parameters import ThermostatFleet
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned
from ensctl.simulation.fleet_drafting_cost import FleetCostFit
from ensctl.simulation.fleet_drafting_result import FleetDraftingRun, FleetLoopRun
from ensctl.simulation.fleet_drafting_run import drafted_run, fleet_task, stepped_run

Array = NDArray[Any]

# Deep drafts of the probe for each shallow one, which is there for the cost alone.
_DEEP = 3


@dataclass(frozen=True, eq=False)
class FleetDepthStudy(Plotted, Summarised):
    """Result of :func:`fleet_depth_study`.

    Attributes
    ----------
    loop : FleetLoopRun
        The loop that checks every step.
    runs : tuple of FleetDraftingRun
        One for each depth.
    depths : (n,) array of int, read-only
        K of each run, increasing.
    probe : FleetDraftingRun
        The run with one shallow draft for every three deep ones.
    survival : PerPosition
        S measured by the deep drafts of the probe.
    fit : FleetCostFit
        a + b K + c J from the probe.
    predicted : DepthOptimum
        Best depth by the two, against the loop.
    flat : DepthOptimum
        The same if a pass over K inputs cost what a pass over one does, and only drafts cost more.
    """

    _plot_function: ClassVar[str] = "fleet_depth_speedup"

    loop: FleetLoopRun
    runs: tuple[FleetDraftingRun, ...]
    depths: Array
    probe: FleetDraftingRun
    survival: PerPosition
    fit: FleetCostFit
    predicted: DepthOptimum
    flat: DepthOptimum

    @property
    def speedup(self) -> Array:
        """Measured: time per step of the loop over that of each run, (n,)."""
        return read_only(np.array([self.loop.ms_per_step / run.ms_per_step for run in self.runs]))

    @property
    def predicted_speedup(self) -> Array:
        """From the probe, (n,)."""
        return read_only(self.predicted.curve[self.depths] / self.predicted.curve[0])

    @property
    def flat_speedup(self) -> Array:
        """From the probe's survival and a flat cost, (n,)."""
        return read_only(self.flat.curve[self.depths] / self.flat.curve[0])

    @property
    def lengths(self) -> tuple[Estimate, ...]:
        """E[L] measured at each depth."""
        return tuple(run.mean_length() for run in self.runs)

    @property
    def predicted_lengths(self) -> Array:
        """E[L] at each depth by cutting the survival curve of the probe short, (n,)."""
        lengths = self.survival.expected_lengths(
            int(self.depths[-1]), convention=Convention.COMMITTED
        )
        return read_only(lengths[self.depths])

    @property
    def measured_depth(self) -> int:
        """The depth of largest measured speed-up."""
        return int(self.depths[np.argmax(self.speedup)])

    @property
    def given_away(self) -> float:
        """1 − measured speed-up at the predicted depth (1 for K = 0) over the largest, ≥ 0."""
        speedup = np.append(1.0, self.speedup)
        chosen = np.append(0, self.depths) == self.predicted.depth
        return float(1.0 - speedup[chosen][0] / speedup.max())

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        content = {
            "depths": self.depths,
            "speedup": self.speedup,
            "predicted_speedup": self.predicted_speedup,
            "flat_speedup": self.flat_speedup,
            "lengths": [length.to_dict() for length in self.lengths],
            "predicted_lengths": self.predicted_lengths,
            "rms_errors": [run.rms_error for run in self.runs],
            "loop_rms_error": self.loop.rms_error,
            "loop_ms_per_step": self.loop.ms_per_step,
            "fit": self.fit.to_dict(),
            "predicted": self.predicted.to_dict(),
            "given_away": self.given_away,
        }
        return versioned("fleet_depth_study", content)

    def __str__(self) -> str:
        best = self.measured_depth
        place = int(np.argmax(self.speedup))
        return "\n".join(
            [
                f"K = {self.predicted.depth} predicted, K = {best} measured best: "
                f"{self.speedup[place]:.3g} times the loop; the prediction gives away "
                f"{100 * self.given_away:.2g} %",
                str(self.fit),
                f"      K {_row(self.depths, 'd')}",
                f"E[L]    {_row([length.value for length in self.lengths])}",
                f"  cut S {_row(self.predicted_lengths)}",
                f"speedup {_row(self.speedup)}",
                f"  model {_row(self.predicted_speedup)}",
                f"  flat  {_row(self.flat_speedup)}",
                f"rms, %  {_row([100 * run.rms_error for run in self.runs], '.3f')}"
                f" (loop {100 * self.loop.rms_error:.3f})",
            ]
        )


def fleet_depth_study(
    fleet: ThermostatFleet,
    reference: ArrayLike,
    depths: Sequence[int] = (1, 2, 4, 6, 8, 10, 12, 16),
    *,
    tolerance: float = 4e-3,
    ambient: ArrayLike = 0.0,
    skip: int = 0,
    repeats: int = 3,
    engine: str = "auto",
) -> FleetDepthStudy:
    """Predict the best depth from one probing run, and measure all of them beside the loop.

    The probe drafts K = 2 once and the greatest depth three times, in turn.  Its drafts give the
    survival curve S, its cycles the cost a + b K + c J; then K maximises E[L_K]/C(K) with
    E[L_K] = Σ_{j<K} S(j) and E[J] = E[L_K] − K S(K − 1).

    Parameters
    ----------
    fleet : ThermostatFleet
        N houses.
    reference : (T,) array_like
        r in kW.
    depths : sequence of int
        Depths K ≥ 1 to measure; the predicted one is added.
    tolerance : float
        Share of nominal power, > 0.
    ambient : scalar or (T,)
        Ambient counted from its nominal value, °C.
    skip : int
        First steps that errors do not count, less than T.
    repeats : int
        Runs of each kind, ≥ 1, which take turns; they are equal, and every cycle is counted at its
        fastest.
    engine : str
        "numba", "numpy" or "auto".

    Returns
    -------
    FleetDepthStudy
        Measured and predicted lengths and speed-ups.

    Raises
    ------
    InvalidInputError
        An argument is out of range; no depth above 2.

    Notes
    -----
    Here one survival curve serves all depths: cycles are nearly independent, since each begins
    with a drafter that has just been corrected.  Token traces do not behave so.

    Examples
    --------
    >>> import numpy as np
    >>> import ensctl as ec
    >>> from ensctl.simulation import fleet_depth_study
    >>> fleet = ec.ThermostatFleet.draw(2000, seed=1)
    >>> wanted = fleet.nominal_power * (1 + 0.05 * np.sin(0.1 * np.arange(120)))
    >>> study = fleet_depth_study(fleet, wanted, (1, 2, 4), repeats=1, engine="numpy")
    >>> study.lengths[2].value <= 4, study.predicted.depth in (1, 2, 4)
    (True, True)
    """
    tried = as_depths(as_vector(depths, "depths", real=True)).astype(np.int64)
    if tried.min() < 1 or tried.max() < 3:
        raise InvalidInputError(
            f"depths must be ≥ 1 with at least one above 2, got {tried.tolist()}; two depths are "
            "needed to see what an input costs"
        )
    times, deepest = as_count(repeats, "repeats"), int(tried.max())

    task = fleet_task(fleet, reference, ambient, 0.0, 0.5, 16, skip)
    alternating = [2, *[deepest] * _DEEP]
    probes = [
        (stepped_run(task), drafted_run(task, alternating, tolerance, engine)) for _ in range(times)
    ]
    first, probe = (_fastest(runs) for runs in zip(*probes, strict=True))
    survival, fit = probe.acceptance(), probe.cost()
    draft = min(fit.per_input, _slope(probe.cycles.drafted, probe.draft_ms))
    flat = LinearCost(draft, fit.fixed + fit.per_input - draft, off=first.ms_per_step, unit="ms")
    predicted, over = (
        optimal_depth(survival, cost, deepest, convention=Convention.COMMITTED)
        for cost in (fit.cost(survival, off=first.ms_per_step), flat)
    )
    tried = np.unique(np.append(tried, max(1, predicted.depth)))
    rounds = [
        (stepped_run(task), *(drafted_run(task, int(k), tolerance, engine) for k in tried))
        for _ in range(times)
    ]
    loop, *runs = (_fastest(kind) for kind in zip(*rounds, strict=True))
    return FleetDepthStudy(
        loop, tuple(runs), read_only(tried), probe, survival, fit, predicted, over
    )


def _fastest(runs: Any) -> Any:
    """Equal runs as one, with every cycle at its fastest: what else ran then does not count."""
    times = {
        name: read_only(np.min([getattr(run, name) for run in runs], axis=0))
        for name in ("pass_ms", "draft_ms")
    }
    return replace(runs[0], **times)


def _slope(depths: Array, milliseconds: Array) -> float:
    """What one more drafted input costs the drafter, ms, ≥ 0."""
    centred = depths - depths.mean()
    return max(0.0, float(centred @ milliseconds / (centred @ centred)))


def _row(values: Any, form: str = ".2f") -> str:
    return " ".join(format(value, form).rjust(6) for value in values)
