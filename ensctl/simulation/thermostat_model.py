"""The saturating duty-cycle model of a thermostat fleet: one step, and its reduction to groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, as_scalar, as_vector, read_only
from ensctl.ensemble.thermostat_parameters import ThermostatFleet
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class DutyModel:
    """M houses, or groups of houses, with saturating duty cycles.

    p = clip(D + g (z − u), 0, 1),  z ← a z + (1 − a) v + q (D − p),  y = Σ P p.

    Attributes
    ----------
    decay, cooling, slope, duty, power : (M,) float64, read-only
        a, q in °C, g in 1/°C, D, and P in kW.
    dt : float
        Length of a step in seconds.
    """

    decay: Array
    cooling: Array
    slope: Array
    duty: Array
    power: Array
    dt: float

    @property
    def size(self) -> int:
        """M, the number of houses or groups."""
        return int(self.duty.size)

    @property
    def nominal_power(self) -> float:
        """Σ P clip(D, 0, 1) in kW: every house at its set-point."""
        return float(self.power @ np.clip(self.duty, 0.0, 1.0))

    def step(self, z: Array, u: float, disturbance: float = 0.0) -> tuple[Array, float]:
        """Apply u_t: the temperatures z_{t+1} and the power y_t that this very u_t gives.

        Parameters
        ----------
        z : (M,) float64
            Temperatures counted from the set-points, °C; left as they are.
        u : float
            Shift of all set-points, °C.
        disturbance : float
            Ambient counted from its nominal value, °C.

        Returns
        -------
        z : (M,) float64
        power : float
            kW.

        Notes
        -----
        Nothing is checked: it is the inner loop.  Below 1 ms for 10⁵ houses.
        """
        share = z - u
        share *= self.slope
        share += self.duty
        np.clip(share, 0.0, 1.0, out=share)
        power = float(self.power @ share)
        np.subtract(self.duty, share, out=share)
        share *= self.cooling
        # (1 − a) v + a z = v + a (z − v).
        after = z - disturbance
        after *= self.decay
        after += share
        after += disturbance
        return after, power


@dataclass(frozen=True, eq=False)
class FleetState:
    """A fleet at one instant.

    Attributes
    ----------
    step : int
        t, the number of inputs so far.
    z : (N,) float64, read-only
        Temperatures counted from the set-points, °C.
    """

    step: int
    z: Array


def duty_model(fleet: ThermostatFleet) -> DutyModel:
    """Every house of a fleet by itself.

    Parameters
    ----------
    fleet : ThermostatFleet

    Returns
    -------
    DutyModel
        N members.

    Raises
    ------
    InvalidInputError
        Not a ThermostatFleet.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.duty_model(ec.ThermostatFleet.draw(100, seed=1)).size
    100
    """
    fleet = _require_fleet(fleet)
    power = read_only(np.array(fleet.power))
    return DutyModel(fleet.decay, fleet.cooling, fleet.slope, fleet.duty, power, fleet.dt)


def reduced_duty_model(fleet: ThermostatFleet, groups: int = 16) -> DutyModel:
    """Groups of like houses, each replaced by its mean house.

    Houses are halved by slope g, the halves by cooling q, the quarters by duty D, and so on in
    turn: these decide who saturates and how fast.  a, q, g and D are means weighted by P.

    Parameters
    ----------
    fleet : ThermostatFleet
    groups : int
        M ≥ 1; at most the number of houses.

    Returns
    -------
    DutyModel
        M members; their total power is that of the fleet, and so is their response to a sudden u
        while nobody saturates.

    Raises
    ------
    InvalidInputError
        Not a fleet, or groups out of range.

    Examples
    --------
    >>> import ensctl as ec
    >>> fleet = ec.ThermostatFleet.draw(5000, seed=1)
    >>> small = ec.reduced_duty_model(fleet)
    >>> small.size, round(small.nominal_power / fleet.nominal_power, 3)
    (16, 1.0)
    """
    fleet = _require_fleet(fleet)
    count = as_count(groups, "groups")
    if count > fleet.size:
        raise InvalidInputError(
            f"groups must be at most the {fleet.size} houses, got {count}; ask for fewer"
        )
    keys = (fleet.slope, fleet.cooling, fleet.duty)
    power = np.asarray(fleet.power)
    parts = _halved(np.arange(fleet.size), count, keys, 0)
    total = np.array([power[part].sum() for part in parts])

    def mean(values: Array) -> Array:
        return read_only(np.array([power[part] @ values[part] for part in parts]) / total)

    return DutyModel(
        mean(fleet.decay),
        mean(fleet.cooling),
        mean(fleet.slope),
        mean(fleet.duty),
        read_only(total),
        fleet.dt,
    )


def initial_fleet_state(model: DutyModel, z0: ArrayLike = 0.0) -> FleetState:
    """The state at t = 0.

    Parameters
    ----------
    model : DutyModel
    z0 : scalar or (M,)
        Temperatures counted from the set-points, °C; 0 is rest at the nominal ambient.

    Returns
    -------
    FleetState

    Raises
    ------
    InvalidInputError
        z0 is not finite or has the wrong shape.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.initial_fleet_state(ec.duty_model(ec.ThermostatFleet.draw(2))).z
    array([0., 0.])
    """
    require_duty_model(model)
    start = as_vector(z0, "z0", size=model.size, real=True)
    if not np.max(np.abs(start)) < _LARGEST:
        raise InvalidInputError(f"z0 must be below {_LARGEST:g} °C, got {np.max(start):g}")
    return FleetState(0, read_only(start))


def fleet_step(
    model: DutyModel, state: FleetState, u: float, disturbance: float = 0.0
) -> tuple[FleetState, float]:
    """Apply one input, checked: the state at t + 1 and the power y_t in kW.

    Parameters
    ----------
    model : DutyModel
    state : FleetState
        Left as it is.
    u : float
        Shift of all set-points, °C.
    disturbance : float
        Ambient counted from its nominal value, °C.

    Returns
    -------
    state : FleetState
    power : float

    Raises
    ------
    InvalidInputError
        A number is not finite, or the state belongs to another fleet.

    Examples
    --------
    >>> import ensctl as ec
    >>> model = ec.duty_model(ec.ThermostatFleet(2.0, 2.0, [5.0], 0.5, 22.0))
    >>> after, power = ec.fleet_step(model, ec.initial_fleet_state(model), -0.1)
    >>> power, after.z.round(4)
    (3.0, array([-0.0104]))
    """
    require_duty_model(model)
    if not isinstance(state, FleetState):
        raise InvalidInputError(
            f"state must be a FleetState, got {type(state).__name__}; start with "
            f"ec.initial_fleet_state(model)"
        )
    if state.z.shape != (model.size,):
        raise InvalidInputError(
            f"state must have one entry for each of the {model.size} houses, got {state.z.shape}"
        )
    shift = as_scalar(u, "u", at_least=-_LARGEST, at_most=_LARGEST)
    ambient = as_scalar(disturbance, "disturbance", at_least=-_LARGEST, at_most=_LARGEST)
    z, power = model.step(state.z, shift, ambient)
    return FleetState(state.step + 1, read_only(z)), power


def require_duty_model(model: Any) -> DutyModel:
    """Refuse what is not a model of a fleet.

    Raises
    ------
    InvalidInputError
        Another type.
    """
    if isinstance(model, DutyModel):
        return model
    raise InvalidInputError(
        f"model must be a DutyModel, got {type(model).__name__}; make one with "
        f"ec.duty_model(fleet) or ec.reduced_duty_model(fleet)"
    )


def _halved(members: Array, count: int, keys: tuple[Array, ...], depth: int) -> list[Array]:
    """Split members into ``count`` parts of like size, by one key after the other."""
    if count == 1:
        return [members]
    ordered = members[np.argsort(keys[depth % len(keys)][members], kind="stable")]
    left = count // 2
    cut = round(members.size * left / count)
    return [
        *_halved(ordered[:cut], left, keys, depth + 1),
        *_halved(ordered[cut:], count - left, keys, depth + 1),
    ]


def _require_fleet(fleet: Any) -> ThermostatFleet:
    if isinstance(fleet, ThermostatFleet):
        return fleet
    raise InvalidInputError(
        f"fleet must be a ThermostatFleet, got {type(fleet).__name__}; "
        f"make one with ec.ThermostatFleet.draw(n)"
    )
