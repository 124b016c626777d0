"""A fleet of air-conditioned houses: what each house is, and the duty cycle that follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import Array, as_count, as_scalar, as_vector, read_only
from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned

_SECONDS_PER_HOUR = 3600.0
# Products of four of them stay in the float64 range.
_LARGEST = 1e75


@dataclass(frozen=True, eq=False)
class ThermostatFleet(Summarised):
    """Houses with a relaxed (duty-cycle) thermostat that all hear one shift u of their set-points.

    With z the temperature counted from the set-point and v the ambient counted from ``ambient``,

    p = clip(D + g (z − u), 0, 1),  z ← a z + (1 − a) v + q (D − p),  y = Σ P p,

    D = (ambient − setpoint)/(R P COP), g = 1/deadband, a = e^{−dt/(RC)}, q = (1 − a) R P COP.
    While nobody is at 0 or 100 % duty this is the broadcast ensemble λ = a − q g, b = q g,
    c = P g, d = −Σ c, counted from the nominal power.

    Parameters
    ----------
    resistance : scalar or (N,)
        Thermal resistance R in °C/kW, > 0.
    capacitance : scalar or (N,)
        Thermal capacitance C in kWh/°C, > 0.
    power : (N,)
        Electric power P when on, in kW, > 0.
    deadband : scalar or (N,)
        Width of the dead band in °C, > 0.
    setpoint : scalar or (N,)
        Set-point in °C.
    ambient : float
        Nominal ambient temperature in °C.
    cop : float
        Coefficient of performance, > 0.
    dt : float
        Length of a step in seconds, > 0.

    Raises
    ------
    InvalidInputError
        A value is out of range or shapes do not match.

    Examples
    --------
    >>> import ensctl as ec
    >>> fleet = ec.ThermostatFleet(2.0, 2.0, [5.0, 6.0], 0.5, [22.0, 24.0])
    >>> fleet.size, fleet.duty.round(3), round(fleet.nominal_power, 3)
    (2, array([0.4  , 0.267]), 3.6)
    """

    resistance: ArrayLike
    capacitance: ArrayLike
    power: ArrayLike
    deadband: ArrayLike
    setpoint: ArrayLike
    ambient: float = field(default=32.0, kw_only=True)
    cop: float = field(default=2.5, kw_only=True)
    dt: float = field(default=30.0, kw_only=True)

    def __post_init__(self) -> None:
        power = as_vector(self.power, "power", real=True)
        values: dict[str, Any] = {"power": power}
        for name in ("resistance", "capacitance", "deadband", "setpoint"):
            values[name] = as_vector(getattr(self, name), name, size=power.size, real=True)
        for name in ("resistance", "capacitance", "power", "deadband"):
            if np.any(values[name] <= 0.0):
                raise InvalidInputError(
                    f"{name} must be > 0 for every house, got {values[name].min():g}"
                )
        values = {name: read_only(value) for name, value in values.items()}
        values["ambient"] = as_scalar(self.ambient, "ambient")
        values["cop"] = as_scalar(self.cop, "cop", above=0.0)
        values["dt"] = as_scalar(self.dt, "dt", above=0.0)
        for name, value in values.items():
            if not np.max(np.abs(value)) < _LARGEST:
                raise InvalidInputError(f"{name} must be below {_LARGEST:g}, got {np.max(value):g}")
            object.__setattr__(self, name, value)
        with np.errstate(all="ignore"):
            derived = (self.decay, self.cooling, self.slope, self.duty)
        if not all(np.all(np.abs(value) < _LARGEST) for value in derived):
            raise InvalidInputError(
                "resistance, capacitance, power, deadband and cop must be of moderate size: "
                "the duty cycle that follows leaves the float64 range"
            )

    @classmethod
    def draw(
        cls,
        n: int,
        seed: int = 0,
        *,
        dt: float = 30.0,
        resistance: ArrayLike = (1.5, 2.5),
        capacitance: ArrayLike = (1.5, 2.5),
        power: ArrayLike = (4.0, 7.2),
        deadband: ArrayLike = (0.25, 1.0),
        setpoint: ArrayLike = (18.0, 27.0),
        ambient: float = 32.0,
        cop: float = 2.5,
    ) -> ThermostatFleet:
        """Houses drawn uniformly and independently from ranges.

        Parameters
        ----------
        n : int
            Number of houses, ≥ 1.
        seed : int
            Of the random numbers, ≥ 0.
        dt : float
            Length of a step in seconds, > 0.
        resistance, capacitance, power, deadband : (low, high)
            Ranges, 0 < low ≤ high, in °C/kW, kWh/°C, kW (electric, when on) and °C.
        setpoint : (low, high)
            Range of set-points in °C; they shift the duty D, not the linear part.
        ambient : float
            Nominal ambient temperature in °C.
        cop : float
            Coefficient of performance, > 0.

        Returns
        -------
        ThermostatFleet
            With the default ranges the mean duty is near 0.35.

        Raises
        ------
        InvalidInputError
            An argument is out of its range.

        Notes
        -----
        The ranges are illustrative, not measured: they are those that studies of demand response
        use for residential air conditioners.  Source: for fleets of this kind, J. L. Mathieu,
        S. Koch, D. S. Callaway, "State estimation and control of electric loads to manage
        real-time energy imbalance", IEEE Trans. Power Systems 28 (2013) 430–440.

        Examples
        --------
        >>> import ensctl as ec
        >>> round(float(ec.ThermostatFleet.draw(2000, seed=1).duty.mean()), 2)
        0.36
        """
        size = as_count(n, "n")
        step = as_scalar(dt, "dt", above=0.0)
        rng = np.random.default_rng(as_count(seed, "seed", minimum=0))
        R = _drawn(rng, size, resistance, "resistance")
        C = _drawn(rng, size, capacitance, "capacitance")
        P = _drawn(rng, size, power, "power")
        width = _drawn(rng, size, deadband, "deadband")
        low, high = as_vector(setpoint, "setpoint", size=2, real=True)
        if not low <= high:
            raise InvalidInputError(
                f"setpoint must be a range low ≤ high, got ({low:g}, {high:g}); exchange them"
            )
        temperature = rng.uniform(low, high, size)
        return cls(R, C, P, width, temperature, ambient=ambient, cop=cop, dt=step)

    @property
    def size(self) -> int:
        """N, the number of houses."""
        return int(np.size(self.power))

    @cached_property
    def decay(self) -> Array:
        """a = e^{−dt/(RC)}, (N,)."""
        return read_only(np.exp(self._exponent))

    @cached_property
    def cooling(self) -> Array:
        """q = (1 − a) R P COP, (N,): °C that a step at full duty cools."""
        share = -np.expm1(self._exponent)
        return read_only(share * np.asarray(self.resistance) * np.asarray(self.power) * self.cop)

    @cached_property
    def slope(self) -> Array:
        """g = 1/deadband, (N,): duty per °C."""
        return read_only(1.0 / np.asarray(self.deadband))

    @cached_property
    def duty(self) -> Array:
        """D, (N,): the duty that holds the set-point at the nominal ambient (if in 0 … 1)."""
        heat = np.asarray(self.resistance) * np.asarray(self.power) * self.cop
        return read_only((self.ambient - np.asarray(self.setpoint)) / heat)

    @property
    def nominal_power(self) -> float:
        """Σ P clip(D, 0, 1) in kW."""
        return float(np.asarray(self.power) @ np.clip(self.duty, 0.0, 1.0))

    def linear(self) -> Ensemble:
        """The broadcast ensemble of the unsaturated fleet; names "house 0", "house 1", ….

        Returns
        -------
        Ensemble
            Its states are z, its aggregate the change of power in kW.
        """
        q, g = self.cooling, self.slope
        c = np.asarray(self.power) * g
        names = [f"house {i}" for i in range(self.size)]
        return Ensemble(self.decay - q * g, q * g, c, -float(c.sum()), dt=self.dt, names=names)

    def to_dict(self) -> dict[str, Any]:
        """Return the fleet as JSON-safe data (``"schema": 1``)."""
        names = ("resistance", "capacitance", "power", "deadband", "setpoint")
        content = {name: getattr(self, name) for name in (*names, "ambient", "cop", "dt")}
        return versioned("thermostat_fleet", content)

    def __str__(self) -> str:
        return (
            f"ThermostatFleet of {self.size} houses, {self.nominal_power:.6g} kW at "
            f"{self.ambient:g} °C, mean duty {float(self.duty.mean()):.3f}, dt = {self.dt:g} s"
        )

    @property
    def _exponent(self) -> Array:
        hours = self.dt / _SECONDS_PER_HOUR
        return np.asarray(-hours / (np.asarray(self.resistance) * np.asarray(self.capacitance)))


def _drawn(rng: np.random.Generator, size: int, bounds: ArrayLike, name: str) -> Array:
    low, high = as_vector(bounds, name, size=2, real=True)
    if not 0.0 < low <= high:
        raise InvalidInputError(
            f"{name} must be a range 0 < low ≤ high, got ({low:g}, {high:g}); exchange or mend it"
        )
    return rng.uniform(low, high, size)
