"""Families from practice: houses, oscillators and lags that hear one signal."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import Array, as_count, as_scalar
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.intervals import as_interval
from ensctl.ensemble.thermostat_parameters import ThermostatFleet
from ensctl.errors import InvalidInputError


def thermostats(
    n: int,
    seed: int = 0,
    *,
    dt: float = 30.0,
    resistance: ArrayLike = (1.5, 2.5),
    capacitance: ArrayLike = (1.5, 2.5),
    power: ArrayLike = (4.0, 7.2),
    deadband: ArrayLike = (0.25, 1.0),
    cop: float = 2.5,
) -> Ensemble:
    """Air-conditioned houses that all hear one shift u of their set-points.

    A house i holds its temperature z, counted from its set-point, with a duty cycle that rises by
    g = 1/deadband per °C.  With a = e^{−dt/(RC)} and q = (1 − a) R P·COP,

    λ = a − q g,  b = q g,  c = P g,  d = −Σ c:

    u in °C moves z in °C, and y is the change of the fleet's electric power in kW.

    Parameters
    ----------
    n : int
        Number of houses, ≥ 1.
    seed : int
        Of the random numbers, ≥ 0.
    dt : float
        Length of a step in seconds, > 0.
    resistance, capacitance, power, deadband : (low, high)
        Ranges, 0 < low ≤ high, from which each house draws uniformly and independently: thermal
        resistance R in °C/kW, thermal capacitance C in kWh/°C, electric power P in kW when on,
        width of the dead band in °C.
    cop : float
        Coefficient of performance: heat moved per electric energy, > 0.

    Returns
    -------
    Ensemble
        Names "house 0", "house 1", ….  With the default ranges λ is in [0.59, 0.97], its median
        near 0.90.

    Raises
    ------
    InvalidInputError
        An argument is out of its range.

    Notes
    -----
    The linear part of a duty-cycle model: it holds while no house is at 0 or 100 % duty.  The
    ranges are illustrative, not measured: they are those that studies of demand response use for
    residential air conditioners.

    Source: for fleets of this kind, J. L. Mathieu, S. Koch, D. S. Callaway, "State estimation and
    control of electric loads to manage real-time energy imbalance", IEEE Trans. Power Systems 28
    (2013) 430–440.

    See Also
    --------
    ensctl.ThermostatFleet : the same houses with their set-points, for the saturating model.

    Examples
    --------
    >>> import ensctl as ec
    >>> fleet = ec.families.thermostats(1000, seed=1)
    >>> fleet.label(0), round(float(sorted(fleet.lam)[500]), 2)
    ('house 0', 0.9)
    """
    fleet = ThermostatFleet.draw(
        n,
        seed,
        dt=dt,
        resistance=resistance,
        capacitance=capacitance,
        power=power,
        deadband=deadband,
        cop=cop,
    )
    return fleet.linear()


def oscillators(
    n: int,
    slowest: float = 0.1,
    fastest: float = 1.0,
    *,
    damping: float = 0.0,
    dt: float = 1.0,
) -> Ensemble:
    """n oscillators z'' + 2ζω z' + ω² z = ω² u under one force, as 2n conjugate members.

    Each oscillator is z = x + x̄ with x' = a x + g u, sampled with a zero-order hold, where

    a = −ζω + jω√(1 − ζ²),  g = ω²/(2j Im a) = −jω/(2√(1 − ζ²)).

    Parameters
    ----------
    n : int
        Number of oscillators, ≥ 1; there are twice as many members.
    slowest, fastest : float
        Range of the angular frequencies ω, equispaced, in radians per unit of time:
        0 < slowest < fastest, and fastest · dt < π.  One oscillator has ω = slowest.
    damping : float
        Damping ratio ζ, 0 ≤ ζ < 1.
    dt : float
        Length of a step, > 0.

    Returns
    -------
    Ensemble
        Members 2k and 2k + 1 are oscillator k and its conjugate.  The aggregate is the mean
        position (1/n) Σ z.

    Raises
    ------
    InvalidInputError
        An argument is out of its range; beyond fastest · dt = π oscillators are mistaken for
        slower ones.

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.families.oscillators(3)
    >>> ens.size, ens.is_conjugate_closed
    (6, True)
    >>> ens.lam[:2]
    array([0.99500417+0.09983342j, 0.99500417-0.09983342j])
    """
    size = as_count(n, "n")
    low, high = as_interval(slowest, fastest, ("slowest", "fastest"), above=0.0)
    step = as_scalar(dt, "dt", above=0.0)
    zeta = as_scalar(damping, "damping", at_least=0.0, below=1.0)
    if not high * step < math.pi:
        raise InvalidInputError(
            f"fastest must be below π/dt = {math.pi / step:g}, got {high:g}; shorten dt"
        )
    omega = np.linspace(low, high, size)
    swing = math.sqrt((1.0 - zeta) * (1.0 + zeta))
    rates = omega * complex(-zeta, swing)
    gains = omega * complex(0.0, -0.5 / swing)
    names = [name for k in range(size) for name in (f"oscillator {k}", f"oscillator {k} conjugate")]
    return Ensemble.from_continuous(
        _with_conjugates(rates), _with_conjugates(gains), step, c=1.0 / size, names=names
    )


def time_constants(n: int, fastest: float, slowest: float, dt: float) -> Ensemble:
    """First-order lags τ x' = u − x with logarithmically spaced time constants τ.

    λ = e^{−dt/τ},  b = 1 − λ: a constant input u is reached by every member.

    Parameters
    ----------
    n : int
        Number of members, ≥ 1.
    fastest, slowest : float
        Shortest and longest time constant, 0 < fastest < slowest, in the unit of dt; both are
        taken.  One member has τ = fastest.
    dt : float
        Length of a step, > 0.

    Returns
    -------
    Ensemble
        From the fastest to the slowest.

    Raises
    ------
    InvalidInputError
        An argument is out of its range.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.families.time_constants(3, 1.0, 100.0, 1.0).lam
    array([0.36787944, 0.90483742, 0.99004983])
    """
    size = as_count(n, "n")
    low, high = as_interval(fastest, slowest, ("fastest", "slowest"), above=0.0)
    rates = 1.0 / np.geomspace(low, high, size)
    return Ensemble.from_continuous(-rates, rates, dt)


def _with_conjugates(values: Array) -> Array:
    """v_0, v̄_0, v_1, v̄_1, …"""
    return np.column_stack([values, values.conj()]).ravel()
