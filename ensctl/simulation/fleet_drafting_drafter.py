"""A few mean houses that draft inputs for a whole fleet, and the powers they expect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_scalar, as_vector, read_only
from ensctl.errors import InvalidInputError
from ensctl.simulation.draft_verify.units import Block
from ensctl.simulation.thermostat_bias import BiasState, OutputBias
from ensctl.simulation.thermostat_model import DutyModel

Array = NDArray[Any]

# Of nominal power: what the bias of 16 mean houses does from step to step while the fleet is
# computed exactly.
_LEVEL, _TREND, _READING, _INITIAL = 5e-4, 2e-4, 2e-5, 0.05
_MOST_GAINS, _SETTLED = 500, 1e-9


@dataclass(frozen=True, eq=False)
class DrafterState:
    """The mean houses at one step.

    Attributes
    ----------
    z : (M,) float64
        Temperatures counted from the set-points, °C.
    level, trend : float
        What the mean houses miss at this step, kW, and its change per step.
    readings : int
        True powers that this rests on.
    """

    z: Array
    level: float
    trend: float
    readings: int


@dataclass(frozen=True, eq=False)
class FleetMoment:
    """Where a drafted run stands: what the last cycle committed, and the drafter before it.

    Attributes
    ----------
    step : int
        t, the number of inputs committed so far.
    inputs : (L,) float64
        Inputs of the last cycle, °C; empty before the first.
    power : (L,) float64
        What they gave, computed with every member, kW.
    drafter : DrafterState
        The drafter before these inputs; a proposer brings it up to ``step``.
    """

    step: int
    inputs: Array
    power: Array
    drafter: DrafterState


@dataclass(frozen=True, eq=False)
class FleetDraft:
    """The evidence that comes with drafted inputs.

    Attributes
    ----------
    power : (K,) float64
        ŷ in kW.
    drafter : DrafterState
        The drafter at the first of these inputs.
    """

    power: Array
    drafter: DrafterState


@dataclass(frozen=True, eq=False)
class FleetDrafter:
    """Drafts K inputs with M mean houses and a bias of level and trend.

    At every cycle the mean houses first follow the inputs that were committed, and the difference
    to the true powers corrects the bias b.  Then for each step ahead u solves

    Σ P clip(D + g (z − u), 0, 1) + b = r,  |u| ≤ u_max,

    exactly, since the left side is piecewise linear in u; that sum is the predicted power ŷ.

    Parameters
    ----------
    model : DutyModel
        M groups, from :func:`reduced_duty_model`.
    reference : (T,) array_like
        r in kW.
    u_max : float
        Largest shift of the set-points in °C, > 0.
    bias : OutputBias, optional
        How fast the bias is believed to move; by default 0.05 % of nominal power per step for the
        level and 0.02 % for the trend.

    Raises
    ------
    InvalidInputError
        A value is out of range.

    Examples
    --------
    >>> import ensctl as ec
    >>> from ensctl.simulation import FleetDrafter
    >>> fleet = ec.ThermostatFleet.draw(1000, seed=1)
    >>> model = ec.reduced_duty_model(fleet)
    >>> drafter = FleetDrafter(model, [0.97 * fleet.nominal_power] * 10)
    >>> block = drafter.propose(drafter.first(), 4)
    >>> len(block.units), (block.evidence.power / fleet.nominal_power).round(9)
    (4, array([0.97, 0.97, 0.97, 0.97]))
    """

    model: DutyModel
    reference: ArrayLike
    u_max: float = 0.5
    bias: OutputBias | None = field(default=None, kw_only=True)
    _gains: tuple[tuple[float, float], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.model, DutyModel):
            raise InvalidInputError(
                f"model must be a DutyModel, got {type(self.model).__name__}; "
                f"make one with ec.reduced_duty_model(fleet)"
            )
        wanted = as_vector(self.reference, "reference", real=True)
        object.__setattr__(self, "reference", read_only(wanted))
        object.__setattr__(self, "u_max", as_scalar(self.u_max, "u_max", above=0.0))
        nominal = self.model.nominal_power
        if not nominal > 0.0:
            raise InvalidInputError(
                "model must have a nominal power > 0; its set-points are above the ambient"
            )
        bias = self.bias
        if bias is None:
            bias = OutputBias(
                _LEVEL * nominal, _TREND * nominal, _READING * nominal, _INITIAL * nominal
            )
        elif not isinstance(bias, OutputBias):
            raise InvalidInputError(f"bias must be an OutputBias, got {type(bias).__name__}")
        object.__setattr__(self, "_gains", _gains(bias))

    @property
    def steps(self) -> int:
        """T, the steps that the reference covers."""
        return int(np.size(self.reference))

    def first(self, z: ArrayLike = 0.0) -> FleetMoment:
        """The moment before the first cycle.

        Parameters
        ----------
        z : scalar or (M,)
            Temperatures of the groups counted from their set-points, °C.

        Returns
        -------
        FleetMoment
        """
        start = as_vector(z, "z", size=self.model.size, real=True)
        state = DrafterState(read_only(start), 0.0, 0.0, 0)
        return FleetMoment(0, np.empty(0), np.empty(0), state)

    def synchronised(self, moment: FleetMoment) -> DrafterState:
        """The drafter after the inputs of the last cycle, corrected by their true powers.

        Parameters
        ----------
        moment : FleetMoment

        Returns
        -------
        DrafterState
        """
        before = moment.drafter
        z, level, trend = before.z, before.level, before.trend
        last = len(self._gains) - 1
        pairs = zip(moment.inputs.tolist(), moment.power.tolist(), strict=True)
        for k, (u, power) in enumerate(pairs, start=before.readings):
            z, expected = self.model.step(z, u)
            surprise = power - expected - level
            of_level, of_trend = self._gains[min(k, last)]
            trend += of_trend * surprise
            level += of_level * surprise + trend
        return DrafterState(z, level, trend, before.readings + moment.power.size)

    def propose(self, state: FleetMoment, depth: int) -> Block:
        """Draft K inputs; fewer where the reference ends.

        Parameters
        ----------
        state : FleetMoment
            Left as it is.
        depth : int
            K ≥ 1.

        Returns
        -------
        Block
            Inputs in °C, with a :class:`FleetDraft` as evidence.
        """
        wanted = np.asarray(self.reference)[state.step : state.step + depth]
        now = self.synchronised(state)
        missing = now.level + now.trend * np.arange(wanted.size)
        inputs, power, z = np.empty(wanted.size), np.empty(wanted.size), now.z
        for k, target in enumerate((wanted - missing).tolist()):
            inputs[k] = self._solved(z, target)
            z, power[k] = self.model.step(z, inputs[k])
        power += missing
        draft = FleetDraft(read_only(power), now)
        return Block(inputs.tolist(), draft, stopped=wanted.size < depth)

    def _solved(self, z: Array, target: float) -> float:
        """u with Σ P clip(D + g (z − u)) = target, by the breakpoints of the left side."""
        model = self.model
        idle = model.duty / model.slope + z
        breaks = np.concatenate([idle, idle - 1.0 / model.slope])
        breaks.sort()
        shares = np.clip((idle - breaks[:, None]) * model.slope, 0.0, 1.0)
        # Power falls with u, and interp wants it to rise.
        u = np.interp(target, (shares @ model.power)[::-1], breaks[::-1])
        return float(min(max(u, -self.u_max), self.u_max))


def _gains(bias: OutputBias) -> tuple[tuple[float, float], ...]:
    """Gains of level and trend at every reading until they stay; they depend on no reading."""
    state, gains = bias.init(), [(0.0, 0.0)]
    while len(gains) <= _MOST_GAINS:
        # From a mean of zero, a difference of one moves level and trend by their gains.
        after = bias.update(BiasState(np.zeros(2), state.covariance), 1.0)
        gains.append((float(after.mean[0]), float(after.mean[1])))
        state = bias.predict(after)
        if np.allclose(gains[-1], gains[-2], rtol=_SETTLED, atol=0.0):
            break
    return tuple(gains[1:])
