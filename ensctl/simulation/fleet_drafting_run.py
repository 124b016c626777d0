"""Steer a saturating fleet by draft and verification, or step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, as_scalar, as_vector, read_only
from ensctl.ensemble.thermostat_parameters import ThermostatFleet
from ensctl.errors import InvalidInputError
from ensctl.simulation.draft_verify.loop import draft_then_verify
from ensctl.simulation.draft_verify.units import Block, Proposer
from ensctl.simulation.fleet_drafting_drafter import FleetDrafter, FleetMoment
from ensctl.simulation.fleet_drafting_pass import FleetArrays, step_in_place
from ensctl.simulation.fleet_drafting_result import FleetDraftingRun, FleetLoopRun
from ensctl.simulation.fleet_drafting_verifier import FleetVerifier, clock
from ensctl.simulation.thermostat_model import (
    DutyModel,
    duty_model,
    initial_fleet_state,
    reduced_duty_model,
)
from ensctl.simulation.thermostat_runs import FleetRun

Array = NDArray[Any]


@dataclass(eq=False)
class _Timed:
    """A proposer whose time is taken."""

    proposer: Proposer[FleetMoment]
    milliseconds: list[float] = field(default_factory=list)

    def propose(self, state: FleetMoment, depth: int) -> Block:
        begin = clock()
        block = self.proposer.propose(state, depth)
        self.milliseconds.append(1e3 * (clock() - begin))
        return block


def fleet_drafting_run(
    fleet: ThermostatFleet,
    reference: ArrayLike,
    depth: Any = 8,
    *,
    tolerance: float = 4e-3,
    ambient: ArrayLike = 0.0,
    z0: ArrayLike = 0.0,
    u_max: float = 0.5,
    groups: int = 16,
    skip: int = 0,
    engine: str = "auto",
    drafter: Proposer[FleetMoment] | None = None,
) -> FleetDraftingRun:
    """Follow a power reference with K inputs per pass over all members.

    M mean houses draft K set-point shifts and predict the powers; all N members are computed over
    the K steps in one pass; input k commits if and only if the powers of all inputs before it came
    within the tolerance of the prediction.  Then the drafter is corrected by the true powers and
    drafts again.  With α the acceptance of a test, E[L] = (1 − α^K)/(1 − α).

    Parameters
    ----------
    fleet : ThermostatFleet
        N houses.
    reference : (T,) array_like
        r in kW.
    depth : int, sequence of int, callable, or policy
        K ≥ 1, as in :func:`draft_then_verify`; K = 1 checks every step.
    tolerance : float
        Share of nominal power, > 0.
    ambient : scalar or (T,)
        Ambient counted from its nominal value, °C; the drafter does not know it.
    z0 : scalar or (N,)
        Temperatures at t = 0 counted from the set-points, °C; the drafter starts from 0.
    u_max : float
        Largest shift of the set-points in °C, > 0.
    groups : int
        M ≥ 1 mean houses.
    skip : int
        First steps that errors do not count, less than T.
    engine : str
        "numba", "numpy", or "auto": numba where it is installed.
    drafter : Proposer, optional
        Drafts from a :class:`FleetMoment` in place of the mean houses; its blocks carry a
        :class:`FleetDraft`.

    Returns
    -------
    FleetDraftingRun
        Tracking, cycles, acceptance and costs.

    Raises
    ------
    InvalidInputError
        A tolerance that is not > 0, K = 0, a drafter that returns too many or no inputs, shapes
        that do not match.
    MissingDependencyError
        engine="numba" without numba.

    Notes
    -----
    It pays where the members have to be computed one by one, because they saturate or switch, and
    where a pass is bound by memory: N ≳ 5·10⁵.  A linear ensemble needs none of it: its aggregate
    is that of a few hundred members exactly, see :meth:`Ensemble.compress`.  With numba a cycle of
    10⁶ members costs about 3 + 0.4 K + 0.3 J ms on one core, so it doubles at K ≈ 10 and is never
    flat; with numpy alone it is 4 + 3.5 K + 3.7 J ms, doubles at K ≈ 3, and gains 1.4 to 1.6 at
    best where numba gains 5.  The price is tracking: the rms error grows from that of the loop to
    about half the tolerance.  Costs are processor time of one thread.

    Examples
    --------
    >>> import numpy as np
    >>> import ensctl as ec
    >>> fleet = ec.ThermostatFleet.draw(2000, seed=1)
    >>> wanted = fleet.nominal_power * (1 + 0.05 * np.sin(0.1 * np.arange(80)))
    >>> run = ec.fleet_drafting_run(fleet, wanted, 8, skip=10, engine="numpy")
    >>> run.steps, run.mean_length().value > 6, run.rms_error < 2e-3
    (80, True, True)
    >>> run.replay_error(ec.duty_model(fleet)) < 1e-12
    True
    """
    task = fleet_task(fleet, reference, ambient, z0, u_max, groups, skip)
    return drafted_run(task, depth, tolerance, engine, drafter)


def fleet_one_step_run(
    fleet: ThermostatFleet,
    reference: ArrayLike,
    *,
    ambient: ArrayLike = 0.0,
    z0: ArrayLike = 0.0,
    u_max: float = 0.5,
    groups: int = 16,
    skip: int = 0,
) -> FleetLoopRun:
    """The loop to compare with: choose one input, compute all members, correct, repeat.

    The same mean houses choose the input; the members are computed by numpy in whole-array
    operations that write into arrays made once.

    Parameters
    ----------
    fleet : ThermostatFleet
        N houses.
    reference : (T,) array_like
        r in kW.
    ambient : scalar or (T,)
        Ambient counted from its nominal value, °C; the controller does not know it.
    z0 : scalar or (N,)
        Temperatures at t = 0 counted from the set-points, °C.
    u_max : float
        Largest shift of the set-points in °C, > 0.
    groups : int
        M ≥ 1 mean houses.
    skip : int
        First steps that errors do not count, less than T.

    Returns
    -------
    FleetLoopRun
        Tracking and costs.

    Raises
    ------
    InvalidInputError
        Shapes that do not match, or numbers out of range.

    Examples
    --------
    >>> import ensctl as ec
    >>> from ensctl.simulation import fleet_one_step_run
    >>> fleet = ec.ThermostatFleet.draw(2000, seed=1)
    >>> run = fleet_one_step_run(fleet, [0.95 * fleet.nominal_power] * 60, skip=20)
    >>> run.rms_error < 1e-3
    True
    """
    return stepped_run(fleet_task(fleet, reference, ambient, z0, u_max, groups, skip))


@dataclass(frozen=True, eq=False)
class FleetTask:
    """What is to be followed, by whom, and the mean houses that choose the inputs."""

    plant: DutyModel
    controller: FleetDrafter
    z0: Array
    ambient: Array
    skip: int

    def tracking(self, name: str, power: Array, inputs: Array) -> FleetRun:
        """A run of this task."""
        return FleetRun(
            name=name,
            dt=self.plant.dt,
            nominal=self.plant.nominal_power,
            reference=np.asarray(self.controller.reference),
            power=read_only(power),
            inputs=read_only(inputs),
            ambient=self.ambient,
            u_max=self.controller.u_max,
            skip=self.skip,
            residual=np.nan,
            unsettled=0,
        )


def fleet_task(
    fleet: ThermostatFleet,
    reference: ArrayLike,
    ambient: ArrayLike,
    z0: ArrayLike,
    u_max: float,
    groups: int,
    skip: int,
) -> FleetTask:
    """Check the arguments that all runs share, and make the mean houses once."""
    plant = duty_model(fleet)
    controller = FleetDrafter(reduced_duty_model(fleet, groups), reference, u_max)
    outside = as_vector(ambient, "ambient", size=controller.steps, real=True)
    dropped = as_count(skip, "skip", minimum=0)
    if dropped >= controller.steps:
        raise InvalidInputError(
            f"skip must be less than the {controller.steps} steps, got {dropped}"
        )
    start = initial_fleet_state(plant, z0).z
    return FleetTask(plant, controller, start, read_only(outside), dropped)


def drafted_run(
    task: FleetTask,
    depth: Any,
    tolerance: float,
    engine: str,
    drafter: Proposer[FleetMoment] | None = None,
) -> FleetDraftingRun:
    """Draft and verify through the whole reference."""
    allowed = as_scalar(tolerance, "tolerance", above=0.0) * task.plant.nominal_power
    if drafter is not None and not hasattr(drafter, "propose"):
        raise InvalidInputError(
            f"drafter must have propose(state, depth), got {type(drafter).__name__}"
        )
    timed = _Timed(task.controller if drafter is None else drafter)
    verifier = FleetVerifier(task.plant, allowed, ambient=task.ambient, z0=task.z0, engine=engine)
    steps = task.controller.steps
    cycles = draft_then_verify(task.controller.first(), timed, verifier, depth, units=steps)
    costs = verifier.costs
    # Drafters of other makes may run past the end of the reference.
    kept = slice(steps)
    return FleetDraftingRun(
        tracking=task.tracking(
            f"drafts of {int(cycles.drafted.max())}",
            verifier.power[kept],
            np.array(cycles.committed[kept], dtype=np.float64),
        ),
        cycles=cycles,
        expected=read_only(verifier.expected[kept]),
        tolerance=allowed,
        reapplied=read_only(costs[:, 1].astype(np.int64)),
        pass_ms=read_only(costs[:, 2].copy()),
        draft_ms=read_only(np.array(timed.milliseconds)),
        engine=verifier.engine,
    )


def stepped_run(task: FleetTask) -> FleetLoopRun:
    """One input, one step of all members, one correction, through the whole reference."""
    controller, steps = task.controller, task.controller.steps
    arrays, moment = FleetArrays.of(task.plant), controller.first()
    air = np.append(task.ambient, task.ambient[-1])
    z = task.z0 - air[0]
    work = np.empty_like(z)
    times = np.empty((2, steps))
    power, inputs = np.empty(steps), np.empty(steps)
    for t in range(steps):
        begin = clock()
        block = controller.propose(moment, 1)
        inputs[t] = block.units[0]
        chosen = clock()
        power[t] = step_in_place(arrays, z, work, inputs[t] - air[t], air[t] - air[t + 1])
        times[:, t] = chosen - begin, clock() - chosen
        now = slice(t, t + 1)
        moment = FleetMoment(t + 1, inputs[now], power[now], block.evidence.drafter)
    tracking = task.tracking("step by step", power, inputs)
    return FleetLoopRun(tracking, read_only(1e3 * times[1]), read_only(1e3 * times[0]))
